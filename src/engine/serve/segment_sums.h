// Exponentials of the sums of all segments of vectors, and their gradients. Each is a listed op (OpList::Compute) with dense operands,
// trivially copyable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/route/class_part.h"
#include "engine/route/route.h"

namespace portacl::engine {

// Element [i][j] of a vector's matrix is the exponential of the sum of its elements j + 1 to i, which are added in
// float32 in their order from 0 on. It is 0 where j is above i.
struct SumSegments {
  NumberRows from;  // vectors x length
  NumberRows to;    // vectors x length x length
  int64_t vectors, length;
  ExponentialsFunction exponentials;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

// Element k is the sum over i >= k > j of gradient[i][j] * result[i][j], in float64, rounded to float32 and to the type.
struct SegmentGradients {
  NumberRows gradient, result;  // vectors x length x length
  NumberRows to;                // vectors x length
  BufferRef sums;               // float64, vectors x length: written
  int64_t vectors, length;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
