// The gradient of distances (distance.h) to the rows of the left matrix: a listed op (OpList::Compute), trivially
// copyable. Each element of it is one chain of terms in the order of the right rows, whatever the shape,
// thread count and instruction set (docs/numerics.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/buffer_ref.h"
#include "engine/conversions.h"
#include "engine/gemm/distance.h"

namespace portacl::engine {

// Right rows, `count` of them `pitch` numbers apart, and what each adds: factor * f(difference). Vectors may be
// read and written up to the pitch.
struct GradientTerms {
  const float* left;  // one row
  const float* right;
  const float* factor;  // of each right row, as the next two
  const float* least;   // of kMost: the numbers that round to the row's distance
  const float* most;
  float* sum;
  int64_t count;
  int64_t pitch;
  int64_t columns;
  float power;
};

struct DistanceGradientKernels {
  Isa isa;
  // factor = what the distance's gradient is multiplied by, 0 where the distance is 0
  void (*factors)(DistanceNorm norm, float power, const float* gradient, const float* distance, float* factor,
                  int64_t n);
  void (*add)(DistanceNorm norm, const GradientTerms& terms);
};
DistanceGradientKernels DistanceGradientKernelsOf(Isa isa) noexcept;

// A row of the left matrix has a gradient in each batch that it takes part in; they are added in the order of
// the batches. Numbers are dense.
struct DistanceGradient {
  static constexpr int64_t kColumns = 256;  // of a row, computed at a time
  static constexpr int64_t kLanes = 16;     // the pitch of right rows is a multiple of it

  DistanceNorm norm;
  float power;
  int64_t batch[kDistanceBatchDims];  // of the distances
  bool repeats_left[kDistanceBatchDims];
  bool repeats_right[kDistanceBatchDims];
  int64_t rows;
  int64_t columns;  // right rows
  int64_t depth;
  BufferRef left;
  BufferRef to;
  int32_t size;  // bytes of a number of both
  LoadFunction load;
  StoreFunction store;
  BufferRef right;      // FLOAT, rows `pitch` apart
  BufferRef gradient;   // FLOAT, of each distance
  BufferRef distance;   // FLOAT
  aclDataType rounded;  // the dtype to which distances were rounded
  DistanceGradientKernels kernels;
  int threads;

  int64_t Pitch() const noexcept { return (depth + kLanes - 1) / kLanes * kLanes; }
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
