// The gradient of max pools (see max_gradient.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/pooling/max_gradient.h"

#include <algorithm>

#include "aclnnop/pooling/pool_windows.h"
#include "plan/views.h"

namespace portacl {
namespace {

// Sums of this many elements are computed together, so that they stay in a cache. The number of tiles is
// limited.
constexpr int64_t kSumsTogether = int64_t{1} << 18;
constexpr int64_t kMostTiles = 64;

// Ranges of indices along the two batch dims.
struct Tile {
  int64_t first[2];
  int64_t count[2];
};

class Tiles {
 public:
  explicit Tiles(const Shape& view) : batch_{view[0], view[1]} {
    const int64_t plane = view[2] * view[3] * view[4];
    const int64_t planes = batch_[0] * batch_[1];
    const int64_t together =
        std::max({int64_t{1}, kSumsTogether / plane, (planes + kMostTiles / 2 - 1) / (kMostTiles / 2)});
    step_[1] = std::min(together, batch_[1]);
    step_[0] = step_[1] < batch_[1] ? 1 : std::clamp<int64_t>(together / batch_[1], 1, batch_[0]);
    for (int dim = 0; dim < 2; ++dim) tiles_[dim] = (batch_[dim] + step_[dim] - 1) / step_[dim];
    if (tiles_[0] * tiles_[1] <= kMostTiles) return;
    std::copy_n(batch_, 2, step_);
    tiles_[0] = tiles_[1] = 1;
  }

  int count() const { return static_cast<int>(tiles_[0] * tiles_[1]); }
  int64_t planes() const { return step_[0] * step_[1]; }
  Tile At(int i) const {
    const int64_t at[2] = {i / tiles_[1], i % tiles_[1]};
    Tile tile;
    for (int dim = 0; dim < 2; ++dim) {
      tile.first[dim] = at[dim] * step_[dim];
      tile.count[dim] = std::min(step_[dim], batch_[dim] - tile.first[dim]);
    }
    return tile;
  }

 private:
  int64_t batch_[2];
  int64_t step_[2];
  int64_t tiles_[2];
};

StridedView Of(const StridedView& whole, const Tile& tile) {
  StridedView view = whole;
  for (int dim = 0; dim < 2; ++dim) Narrow(view, dim, tile.first[dim], tile.count[dim]);
  return view;
}

}  // namespace

void SetMaxGradient(const OperatorCall& call, const MaxGradientOperands& operands, const StridedView& indices,
                    Executor& executor) {
  const StridedView gradient = PoolView(call.Tensor(operands.gradient), operands.axes);
  const StridedView result = PoolView(call.Tensor(operands.result), operands.axes);
  const Tiles tiles(result.shape);
  OpList ops(executor, 3 * tiles.count());
  // An index counts elements across all axes, which therefore have to be contiguous.
  const int64_t of_rows = result.shape[4] * result.strides[4];
  const bool is_direct = result.dtype == ACL_FLOAT &&
                         (result.shape[3] == 1 || result.strides[3] == of_rows) &&
                         (result.shape[2] == 1 || result.strides[2] == result.shape[3] * of_rows);
  const int64_t plane = result.shape[2] * result.shape[3] * result.shape[4];
  const engine::BufferRef zero = ops.Value({});
  const engine::BufferRef sums_buffer = is_direct
                                            ? OperandBuffer(operands.result)
                                            : ops.Workspace(tiles.planes() * plane * int64_t{sizeof(float)});
  int64_t before = 0;
  for (int i = 0; i < tiles.count(); ++i) {
    const Tile tile = tiles.At(i);
    const StridedView tile_result = Of(result, tile);
    const StridedView tile_gradient = Of(gradient, tile);
    const StridedView tile_indices = Of(indices, tile);
    const StridedView sums = is_direct ? tile_result : DenseTensor(tile_result.shape, ACL_FLOAT);
    ops.Fill(sums, sums_buffer, zero);
    StridedView target = sums;
    target.shape = tile_gradient.shape;
    for (int dim = 2; dim < 5; ++dim) target.strides.dim[dim] = 0;
    const engine::IndexView named{&tile_indices, operands.indices, call.Name(operands.indices), -1, false,
                                  plane,         sums.strides[4]};
    engine::IndexedMove* const move =
        ops.Indexed(engine::IndexedAction::kAdd, tile_gradient, OperandBuffer(operands.gradient), target,
                    sums_buffer, &named, 1);
    if (move != nullptr) move->before = before;
    before += move == nullptr ? 0 : move->count;
    if (!is_direct) ops.Copy(sums, sums_buffer, tile_result, OperandBuffer(operands.result));
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
