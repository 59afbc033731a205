// aclnnEmbeddingDenseBackward: adds each row of a gradient to the row of a table that an index names.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/indexing/embedding_dense_backward_functions.h"

#include <algorithm>

#include "aclnnop/indexing/accumulate.h"
#include "base/errors.h"

namespace portacl {
namespace {

enum Tensors { kGrad, kIndices, kOut };
enum Attributes { kNumWeights, kPaddingIdx, kScale };

constexpr DtypeSet kIndexDtypes = kIntegersAndBool | DtypeSet{ACL_FLOAT16, ACL_FLOAT, ACL_DOUBLE};

aclnnStatus OneRowEach(const Check& check, OperatorCall& call) noexcept {
  const Shape& grad = call.Tensor(kGrad).shape;
  bool fits = grad.rank > 0;
  if (fits && grad[grad.rank - 1] != 0) {
    int64_t rows = 1;
    for (int i = 0; i + 1 < grad.rank; ++i) rows *= grad[i];
    fits = rows == call.Tensor(kIndices).numel;
  }
  if (fits) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kGrad).Add(" has not a row for each element of ");
  AddArgumentShape(message, call, kIndices);
  return FailAclnn(check.code, message.Add(", accepted: as many rows as indices."));
}

aclnnStatus TableShape(const Check&, OperatorCall& call) noexcept {
  const Shape& grad = call.Tensor(kGrad).shape;
  call.broadcast = Shape{call.attributes[kNumWeights].integer, grad[grad.rank - 1]};
  return ACL_SUCCESS;
}

constexpr Check kChecks[] = {
    NotNull(kGrad),  // in CANN's order
    NotNull(kIndices),
    NotNull(kOut),
    DtypesIn(kBf16SinceAtlasA2, {kGrad}),
    DtypesIn(kIndexDtypes, {kIndices}),
    DtypesIn(kBf16SinceAtlasA2, {kOut}),
    RankAtMost(8, {kGrad, kIndices, kOut}),
    SizesRepresentable({kOut}),
    Custom(OneRowEach),
    Custom(TableShape),
    ShapeIsResult(kOut),
    NotPrivate({kGrad, kIndices, kOut}),
    InsideStorage({kGrad, kIndices}),
};

// The indices as INT32 or INT64, and where they are.
StridedView IntegerIndices(const OperatorCall& call, OpList& ops, engine::BufferRef* buffer) {
  const StridedView& indices = call.Tensor(kIndices);
  *buffer = OperandBuffer(kIndices);
  if (indices.dtype == ACL_INT32 || indices.dtype == ACL_INT64) return indices;
  StridedView integers = DenseTensor(indices.shape, ACL_INT64);
  *buffer = ops.Workspace(integers.numel * int64_t{sizeof(int64_t)});
  ops.Copy(indices, OperandBuffer(kIndices), integers, *buffer);
  integers.offset = buffer->offset / int64_t{sizeof(int64_t)};
  return integers;
}

// Views integers in another shape with as many elements, in row-major order. Copies them if their strides do not allow it.
StridedView InShape(const Shape& shape, const StridedView& integers, OpList& ops, engine::BufferRef* buffer) {
  if (integers.shape == shape) return integers;
  StridedView dense = DenseTensor(shape, integers.dtype);
  dense.offset = integers.offset;
  if (IsContiguous(integers)) return dense;
  const StridedView copied = DenseTensor(integers.shape, integers.dtype);
  const engine::BufferRef copy = ops.Workspace(copied.numel * int64_t{sizeof(int64_t)});
  ops.Copy(integers, *buffer, copied, copy);
  *buffer = copy;
  dense.offset = copy.offset / static_cast<int64_t>(aclDataTypeSize(integers.dtype));
  return dense;
}

void SetBackward(const OperatorCall& call, Executor& executor) {
  const StridedView grad = call.Tensor(kGrad);
  const StridedView out = call.Tensor(kOut);
  OpList ops(executor, 8);
  const engine::BufferRef zero = ops.Value({});
  if (out.numel == 0) return;
  if (grad.numel == 0 || call.Tensor(kIndices).numel == 0) {
    ops.Fill(out, OperandBuffer(kOut), zero);
    return ops.SetJob();
  }
  const int64_t rows = out.shape[0];
  const int64_t columns = out.shape[1];
  // grad's leading dims are those of the indices, in row-major order, maybe as another shape.
  Shape leading = grad.shape;
  --leading.rank;
  engine::BufferRef index_buffer;
  const StridedView indices = IntegerIndices(call, ops, &index_buffer);
  StridedView index = InShape(leading, indices, ops, &index_buffer);
  InsertDim(index, index.shape.rank, columns, 0);
  const int64_t padding = call.attributes[kPaddingIdx].integer;
  const bool is_scaled = call.attributes[kScale].integer != 0;
  const auto rows_of = [&](const StridedView& table) {
    StridedView target = table;
    target.shape = grad.shape;
    target.strides.rank = grad.shape.rank;
    for (int i = 0; i + 1 < grad.shape.rank; ++i) target.strides.dim[i] = 0;
    target.strides.dim[grad.shape.rank - 1] = table.strides[1];
    return target;
  };
  constexpr auto kAdd = engine::IndexedAction::kAdd;
  const uint32_t across = engine::DimBits(index.shape.rank - 1, 1);
  engine::IndexView named{&index, index_buffer.operand, call.Name(kIndices), -1, false, rows, out.strides[0],
                          across};
  if (!is_scaled && out.dtype != ACL_FLOAT && ops.SumsRows(kAdd, grad, rows_of(out), &named, 1)) {
    ops.Fill(out, OperandBuffer(kOut), zero);
    engine::IndexedMove* const move =
        ops.SumRows(kAdd, grad, OperandBuffer(kGrad), rows_of(out), OperandBuffer(kOut), &named, 1);
    if (move != nullptr && padding >= 0) move->ignored = padding;
    return ops.SetJob();
  }
  // Sums in float32, directly in the output where that is a dense FLOAT tensor.
  const bool is_direct = out.dtype == ACL_FLOAT && IsContiguous(out);
  const StridedView sums = is_direct ? out : DenseTensor(out.shape, ACL_FLOAT);
  const engine::BufferRef sums_buffer =
      is_direct ? OperandBuffer(kOut) : ops.Workspace(out.numel * int64_t{sizeof(float)});
  ops.Fill(sums, sums_buffer, zero);
  named.step = sums.strides[0];
  const auto add = [&](const StridedView& plain, engine::BufferRef plain_buffer, const StridedView& indexed,
                       engine::BufferRef buffer) {
    engine::IndexedMove* const move = ops.Indexed(kAdd, plain, plain_buffer, indexed, buffer, &named, 1);
    if (move != nullptr && padding >= 0) move->ignored = padding;
    return move;
  };
  add(grad, OperandBuffer(kGrad), rows_of(sums), sums_buffer);
  if (is_scaled) {
    const StridedView counts = DenseTensor(Shape{rows}, ACL_INT64);
    const engine::BufferRef counts_buffer = ops.Workspace(rows * int64_t{sizeof(int64_t)});
    ops.Fill(counts, counts_buffer, zero);
    ScalarValue one;
    one.bytes[0] = 1;
    StridedView ones = DenseTensor(Shape{}, ACL_INT64);
    StridedView counted = counts;
    Select(index, index.shape.rank - 1, 0);
    ones.shape = counted.shape = index.shape;
    ones.strides.rank = counted.strides.rank = index.shape.rank;
    std::fill(ones.strides.dim, ones.strides.dim + index.shape.rank, 0);
    std::fill(counted.strides.dim, counted.strides.dim + index.shape.rank, 0);
    named.step = 1;
    if (engine::IndexedMove* const move = add(ones, ops.Value(one), counted, counts_buffer))
      move->raises = false;
    ops.DivideRows({sums_buffer.operand, sums_buffer.offset + ByteOffset(sums)}, counts_buffer, rows,
                   columns);
  }
  if (!is_direct) ops.Copy(sums, sums_buffer, out, OperandBuffer(kOut));
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnEmbeddingDenseBackward) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetBackward);
}
