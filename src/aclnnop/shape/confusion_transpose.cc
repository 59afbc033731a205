// aclnnConfusionTranspose: permutes the dims of a tensor that is given another shape before, or behind it.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/confusion_transpose_functions.h"

#include "aclnnop/jobs/op_list.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kX, kOut };
enum Attributes { kPerm, kShape, kTransposesFirst };

constexpr size_t kMostDims = 8;
constexpr DtypeRule kDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kIntegers | kUnsignedSince16Bits);

bool TransposesFirst(const OperatorCall& call) noexcept {
  return call.attributes[kTransposesFirst].integer != 0;
}
// The shape whose dims are permuted.
Shape Permuted(const OperatorCall& call) noexcept {
  if (TransposesFirst(call)) return call.Tensor(kX).shape;
  Shape shape;
  for (const int64_t length : call.Array(kShape)) shape.dim[shape.rank++] = length;
  return shape;
}

aclnnStatus ShapeHoldsX(const Check& check, OperatorCall& call) noexcept {
  const std::vector<int64_t>& lengths = call.Array(kShape);
  int64_t count = 1;
  bool fits = lengths.size() <= kMostDims;
  for (const int64_t length : lengths)
    fits = fits && length >= 0 && !__builtin_mul_overflow(count, length, &count);
  if (fits && count == call.Tensor(kX).numel) return ACL_SUCCESS;
  return RefuseArray(check, call, kShape, " is no shape of x's elements",
                     "up to 8 lengths with as many elements");
}
aclnnStatus PermIsOrder(const Check& check, OperatorCall& call) noexcept {
  const std::vector<int64_t>& perm = call.Array(kPerm);
  const int rank = Permuted(call).rank;
  unsigned seen = 0;
  for (const int64_t dim : perm) {
    if (dim >= 0 && dim < rank) seen |= 1U << dim;
  }
  if (perm.size() == static_cast<size_t>(rank) && seen + 1 == 1U << rank) return ACL_SUCCESS;
  return RefuseArray(check, call, kPerm, " is no order of the dims that are permuted",
                     "each dim once, from 0 on");
}
aclnnStatus OutFits(const Check& check, OperatorCall& call) noexcept {
  Shape result;
  if (TransposesFirst(call)) {
    for (const int64_t length : call.Array(kShape)) result.dim[result.rank++] = length;
  } else {
    const Shape shape = Permuted(call);
    for (const int64_t dim : call.Array(kPerm)) result.dim[result.rank++] = shape[static_cast<int>(dim)];
  }
  return call.Tensor(kOut).shape == result ? ACL_SUCCESS : RefuseShape(check, call, kOut, result);
}

constexpr auto kChecks =
    List(NotNull(kX), ArrayNotNull(kPerm), ArrayNotNull(kShape), NotNull(kOut), DtypesIn(kDtypes, {kX}),
         SameDtype(kX, kOut), SizesRepresentable({kOut}), DoneIfEmpty({kX}),
         WithCode(ACLNN_ERR_INNER_NULLPTR, RankAtMost(kMostDims, {kX})),
         Custom(ShapeHoldsX, ACLNN_ERR_INNER_NULLPTR), Custom(PermIsOrder, ACLNN_ERR_INNER_NULLPTR),
         Custom(OutFits, ACLNN_ERR_INNER_NULLPTR), InsideStorage({kX}));

// A view of dense elements, and where they lie.
struct Dense {
  StridedView view;
  engine::BufferRef buffer;
};
// Sees the elements of a tensor as another shape. Where they do not follow each other, room in the workspace stands for it.
Dense Reshaped(OpList& ops, const aclTensor& tensor, int operand, const Shape& shape) {
  Dense dense{DenseTensor(shape, tensor.dtype), OperandBuffer(operand)};
  if (IsContiguous(tensor)) {
    dense.view.offset = PlainView(tensor).offset;
  } else {
    dense.buffer = ops.Workspace(tensor.numel * static_cast<int64_t>(aclDataTypeSize(tensor.dtype)));
  }
  return dense;
}

void SetCopies(const OperatorCall& call, Executor& executor) {
  const aclTensor& x = call.Tensor(kX);
  const aclTensor& out = call.Tensor(kOut);
  const engine::BufferRef from = OperandBuffer(call.OperandOf(kX));
  const engine::BufferRef to = OperandBuffer(call.OperandOf(kOut));
  int order[kMostDims];
  for (size_t i = 0; i < call.Array(kPerm).size(); ++i) order[i] = static_cast<int>(call.Array(kPerm)[i]);
  OpList ops(executor, 2);
  if (TransposesFirst(call)) {
    StridedView source = PlainView(x);
    Permute(source, order);
    const Dense result = Reshaped(ops, out, call.OperandOf(kOut), source.shape);
    ops.Copy(source, from, result.view, result.buffer);
    if (!IsContiguous(out)) ops.Copy(DenseTensor(out.shape, out.dtype), result.buffer, PlainView(out), to);
  } else {
    Dense source = Reshaped(ops, x, call.OperandOf(kX), Permuted(call));
    if (!IsContiguous(x)) ops.Copy(PlainView(x), from, DenseTensor(x.shape, x.dtype), source.buffer);
    Permute(source.view, order);
    ops.Copy(source.view, source.buffer, PlainView(out), to);
  }
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnConfusionTranspose) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetCopies);
}
