// aclnnRepeatInterleaveGrad: sums the parts of a gradient that aclnnRepeatInterleaveWithDim made of one part.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/indexing/repeat_interleave_grad_functions.h"

#include "aclnnop/indexing/accumulate.h"
#include "aclnnop/jobs/dense_op_list.h"
#include "base/errors.h"

namespace portacl {
namespace {

using dense::kTiling;

enum Tensors { kGrad, kRepeats, kOut };
enum Attributes { kAxis };

constexpr DtypeSet kCounts{ACL_INT32, ACL_INT64};

int AxisOf(const OperatorCall& call) {
  return WrappedDim(call.attributes[kAxis].integer, call.Tensor(kGrad).shape.rank);
}

aclnnStatus OutFits(const Check& check, OperatorCall& call) noexcept {
  Shape accepted = call.Tensor(kGrad).shape;
  const Shape& out = call.Tensor(kOut).shape;
  const int axis = AxisOf(call);
  const int64_t counts = call.Tensor(kRepeats).numel;
  // One count is that of every part.
  accepted.dim[axis] = counts == 1 && out.rank == accepted.rank ? out[axis] : counts;
  return out == accepted ? ACL_SUCCESS : RefuseShape(check, call, kOut, accepted);
}

constexpr Check kChecks[] = {
    NotNull(kGrad),
    NotNull(kRepeats),
    NotNull(kOut),
    DtypesIn(kBf16SinceAtlasA2, {kGrad}),
    DtypesIn(kCounts, {kRepeats}),
    SameDtype(kGrad, kOut),
    WithCode(kTiling, RankAtLeast(1, {kGrad})),
    WithCode(kTiling, RankAtMost(8, {kGrad})),
    WithCode(kTiling, RankAtMost(1, {kRepeats})),
    WithCode(kTiling, DimIn(kAxis, kGrad)),
    Custom(OutFits, kTiling),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kOut}),
    InsideStorage({kGrad, kRepeats}),
};

// Starts from zeros, and adds each part of the gradient to the one that it comes from.
void SetGrad(const OperatorCall& call, Executor& executor) {
  const StridedView grad = PlainView(call.Tensor(kGrad));
  const StridedView out = PlainView(call.Tensor(kOut));
  const int axis = AxisOf(call);
  const int64_t length = grad.shape[axis];
  OpList ops(executor, 4);
  StridedView zero;
  zero.dtype = out.dtype;
  const engine::BufferRef zeros = ops.Value(ScalarValue());
  if (grad.shape.IsEmpty()) {
    ops.Fill(out, OperandBuffer(kOut), zeros);
    return ops.SetJob();
  }
  const engine::BufferRef offsets = ops.Workspace(length * int64_t{sizeof(int64_t)});
  const auto derive = [&](const StridedView& whole) {
    engine::RepeatInterleave* const interleave = ops.RepeatInterleave(
        PlainView(call.Tensor(kRepeats)), kRepeats, call.Name(kRepeats), out.shape[axis], length, offsets);
    if (interleave != nullptr) {
      interleave->step = ByteStride(whole, axis);
      interleave->missing = engine::IndexedMove::kNoOffset;
    }
    TargetViews views;
    views.count = 1;
    views.indexed = whole;
    views.indexed.shape = grad.shape;
    views.indexed.strides.dim[axis] = 0;
    views.index[0] = DenseTensor(grad.shape, ACL_INT64);
    views.index[0].offset = offsets.offset / int64_t{sizeof(int64_t)};
    for (int i = 0; i < grad.shape.rank; ++i) views.index[0].strides.dim[i] = i == axis ? 1 : 0;
    views.named[0] = {.view = nullptr,
                      .operand = engine::BufferRef::kWorkspace,
                      .name = call.Name(kRepeats),
                      .bound = engine::IndexedMove::kOffsets};
    return views;
  };
  ScatterInto(ops, engine::IndexedAction::kAdd, grad, OperandBuffer(kGrad), &zero, zeros, out,
              OperandBuffer(kOut), derive, /*scale=*/nullptr, /*may_be_rows=*/false);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnRepeatInterleaveGrad) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetGrad);
}
