// Pools: the largest element, or the mean, of a window along up to three axes of a tensor, and the gradient of a mean.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/isa.h"
#include "engine/job.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// How the windows of one axis lie: position i begins at i * stride - before, or, adaptive, spans from floor(i * length / positions)
// to the ceiling of (i + 1) * length / positions. Windows end with the elements; what they count ends at length + after.
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

// What a mean is divided by: the elements of the window, those with the padding, or a number.
enum class PoolDivisor : uint8_t { kElements, kWithPadding, kGiven };

// Views of five dims: two of a batch, which are the same, and the axes. Of a gradient, the source has the windows.
struct PoolOperands {
  const StridedView* source;
  int source_operand;
  const StridedView* destination;
  int destination_operand;
  const StridedView* places = nullptr;  // INT32 or INT64: where in the flat axes a maximum lies
  int places_operand = -1;
};

struct Pool {
  PoolKind kind = PoolKind::kMaximum;
  PoolDivisor divisor = PoolDivisor::kElements;
  int64_t given_divisor = 1;
  PoolAxis axis[3];
};

// A maximum is the first of the largest elements, or the last NaN; of DOUBLE and integers as they are, of the other floats by
// float32. A mean is a float32 sum from +0 on over the window's elements in row-major order, divided; a gradient such a sum of
// gradient / divisor over the windows that an element is in, in their order; one rounding to a 16-bit type. No dim is 0.
AnyJob MakePoolJob(JobMemory& memory, const Pool& pool, const PoolOperands& operands, Isa isa,
                   int threads) noexcept;

// What places can be: the elements of a plane are fewer than 2^31.
inline constexpr int64_t kMostPooled = (int64_t{1} << 31) - 1;

}  // namespace portacl::engine
