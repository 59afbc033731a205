// Pools: the maximum or the mean of a window along up to three axes of a tensor, and the gradient of a mean.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/job.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// The windows of one axis. Position i begins at i * stride - before; if adaptive, it spans from floor(i *
// length / positions) to ceil((i + 1) * length / positions). Windows end with the elements; their counts
// include padding up to length + after.
struct PoolAxis {
  int64_t length = 1;     // of what is pooled
  int64_t positions = 1;  // of windows
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t before = 0;
  int64_t after = 0;
  int64_t dilation = 1;
  bool is_adaptive = false;
};

enum class PoolKind : uint8_t { kMaximum, kMean, kMeanGradient };

// The divisor of a mean: the window's elements, those with the padding, or a given number.
enum class PoolDivisor : uint8_t { kElements, kWithPadding, kGiven };

// Views of five dims: two of a batch, the same in all operands, and the axes. For a gradient, the source has
// the windows.
struct PoolOperands {
  const StridedView* source;
  int source_operand;
  const StridedView* destination;
  int destination_operand;
  const StridedView* indices = nullptr;  // INT32 or INT64: the flat index of each maximum
  int indices_operand = -1;
};

struct Pool {
  PoolKind kind = PoolKind::kMaximum;
  PoolDivisor divisor = PoolDivisor::kElements;
  int64_t given_divisor = 1;
  PoolAxis axis[3];
};

// Sets the job. A maximum is the first of the largest elements, or the last NaN. DOUBLE and integers are
// compared as they are, other floats as float32. A mean is a float32 sum from +0 on over the window's
// elements in row-major order, divided. A gradient is such a sum of gradient / divisor over the windows that
// contain an element, in their order. Results are rounded once to a 16-bit type. No dim is 0.
AnyJob MakePoolJob(JobMemory& memory, const Pool& pool, const PoolOperands& operands, Isa isa,
                   int threads) noexcept;

// The most elements of a plane, so that flat indices fit INT32.
inline constexpr int64_t kMostPooled = (int64_t{1} << 31) - 1;

}  // namespace portacl::engine
