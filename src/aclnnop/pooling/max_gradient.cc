// The gradient of max pools (see max_gradient.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/pooling/max_gradient.h"

#include <algorithm>

#include "aclnnop/pooling/pool_windows.h"
#include "plan/views.h"

namespace portacl {
namespace {

// Sums of this many elements are computed together, so that they stay in a cache. The number of parts is
// limited.
constexpr int64_t kSumsTogether = int64_t{1} << 18;
constexpr int64_t kMostParts = 64;

// Ranges of indices along the two batch dims.
struct Part {
  int64_t first[2];
  int64_t count[2];
};

class Parts {
 public:
  explicit Parts(const Shape& view) : batch_{view[0], view[1]} {
    const int64_t plane = view[2] * view[3] * view[4];
    const int64_t planes = batch_[0] * batch_[1];
    const int64_t together =
        std::max({int64_t{1}, kSumsTogether / plane, (planes + kMostParts / 2 - 1) / (kMostParts / 2)});
    step_[1] = std::min(together, batch_[1]);
    step_[0] = step_[1] < batch_[1] ? 1 : std::clamp<int64_t>(together / batch_[1], 1, batch_[0]);
    for (int dim = 0; dim < 2; ++dim) parts_[dim] = (batch_[dim] + step_[dim] - 1) / step_[dim];
    if (parts_[0] * parts_[1] <= kMostParts) return;
    std::copy_n(batch_, 2, step_);
    parts_[0] = parts_[1] = 1;
  }

  int count() const { return static_cast<int>(parts_[0] * parts_[1]); }
  int64_t planes() const { return step_[0] * step_[1]; }
  Part At(int i) const {
    const int64_t at[2] = {i / parts_[1], i % parts_[1]};
    Part part;
    for (int dim = 0; dim < 2; ++dim) {
      part.first[dim] = at[dim] * step_[dim];
      part.count[dim] = std::min(step_[dim], batch_[dim] - part.first[dim]);
    }
    return part;
  }

 private:
  int64_t batch_[2];
  int64_t step_[2];
  int64_t parts_[2];
};

StridedView Of(const StridedView& whole, const Part& part) {
  StridedView view = whole;
  for (int dim = 0; dim < 2; ++dim) Narrow(view, dim, part.first[dim], part.count[dim]);
  return view;
}

}  // namespace

void SetMaxGradient(const OperatorCall& call, const MaxGradientOperands& operands, const StridedView& indices,
                    Executor& executor) {
  const StridedView gradient = PoolView(call.Tensor(operands.gradient), operands.axes);
  const StridedView result = PoolView(call.Tensor(operands.result), operands.axes);
  const Parts parts(result.shape);
  OpList ops(executor, 3 * parts.count());
  // An index counts elements across all axes, which therefore have to be contiguous.
  const int64_t of_rows = result.shape[4] * result.strides[4];
  const bool is_direct = result.dtype == ACL_FLOAT &&
                         (result.shape[3] == 1 || result.strides[3] == of_rows) &&
                         (result.shape[2] == 1 || result.strides[2] == result.shape[3] * of_rows);
  const int64_t plane = result.shape[2] * result.shape[3] * result.shape[4];
  const engine::BufferRef zero = ops.Value({});
  const engine::BufferRef sums_buffer = is_direct
                                            ? OperandBuffer(operands.result)
                                            : ops.Workspace(parts.planes() * plane * int64_t{sizeof(float)});
  int64_t before = 0;
  for (int i = 0; i < parts.count(); ++i) {
    const Part part = parts.At(i);
    const StridedView part_result = Of(result, part);
    const StridedView part_gradient = Of(gradient, part);
    const StridedView part_indices = Of(indices, part);
    const StridedView sums = is_direct ? part_result : DenseTensor(part_result.shape, ACL_FLOAT);
    ops.Fill(sums, sums_buffer, zero);
    StridedView target = sums;
    target.shape = part_gradient.shape;
    for (int dim = 2; dim < 5; ++dim) target.strides.dim[dim] = 0;
    const engine::IndexView named{&part_indices, operands.indices, call.Name(operands.indices), -1, false,
                                  plane,         sums.strides[4]};
    engine::IndexedMove* const move =
        ops.Indexed(engine::IndexedAction::kAdd, part_gradient, OperandBuffer(operands.gradient), target,
                    sums_buffer, &named, 1);
    if (move != nullptr) move->before = before;
    before += move == nullptr ? 0 : move->count;
    if (!is_direct) ops.Copy(sums, sums_buffer, part_result, OperandBuffer(operands.result));
  }
  ops.SetJob();
}

void SetGradientOfElements(const OperatorCall& call, const MaxGradientOperands& operands,
                           const int64_t* steps, Executor& executor) {
  const StridedView gradient = PoolView(call.Tensor(operands.gradient), operands.axes);
  const StridedView result = PoolView(call.Tensor(operands.result), operands.axes);
  OpList list(executor, 2);
  list.Fill(result, OperandBuffer(operands.result), list.Value({}));
  StridedView target = result;
  for (int axis = 0; axis < 2; ++axis) Narrow(target, 3 + axis, 0, gradient.shape[3 + axis], steps[axis]);
  list.Copy(gradient, OperandBuffer(operands.gradient), target, OperandBuffer(operands.result));
  list.SetJob();
}

}  // namespace portacl
