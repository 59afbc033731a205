// The loops of pools over a tile of columns, for each instruction set. Sixteen rows of the output are computed
// together, one in each lane, so that any window is a loop over whole vectors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.h"

namespace portacl::engine {

inline constexpr size_t kPoolLanes = 16;

// The elements of a window along one axis.
struct PoolWindow {
  int32_t first;
  int32_t count;
};

// Columns of sixteen rows, with a column's lanes side by side, and the windows to which they are added.
struct PoolColumns {
  const float* values;
  int64_t first;
  int64_t count;
  const PoolWindow* windows;
  int64_t window_count;
  int64_t dilation;
  const int32_t* row_indices;  // for each lane: the flat index at which its row begins
};

using AddColumns = void (*)(const PoolColumns& columns, float* results, int32_t* indices);

// The loops of one instruction set.
struct PoolLoops {
  AddColumns maxima;
  AddColumns maxima_with_indices;
  AddColumns sums;
  // values[c][lane] /= by_column[c] * by_lane[lane]
  void (*divide)(float* values, size_t count, const float* by_column, const float* by_lane);
};

PoolLoops FindPoolLoops(Isa isa) noexcept;

}  // namespace portacl::engine
