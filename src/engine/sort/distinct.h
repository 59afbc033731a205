// Unique: the distinct elements of a tensor in ascending order, or its runs of equal parts, with inverse
// indices and counts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/buffer_ref.h"
#include "plan/shape.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// Trivially copyable, so that a job can hold it. The source is dense, [before, count, behind]; for sorting it
// is [1, count, 1].
struct Unique {
  static constexpr int kCountsShape = 1;

  aclDataType dtype;
  int32_t size;
  bool sorts;  // else only adjacent equal ones are merged
  int64_t before;
  int64_t count;
  int64_t behind;
  BufferRef source;
  BufferRef memory;  // UniqueMemory bytes
  // The outputs are dense from their first element on. At most `most` elements of each are written, however
  // many are found.
  BufferRef values;
  int64_t most_values;  // parts
  BufferRef inverse;
  int64_t most_inverse;  // 0: not wanted
  BufferRef counts;
  int64_t most_counts;
  // The shape of the values, which SetShape(0, ..) receives with the number found as dim `dim`.
  int32_t rank;
  int32_t dim;
  int64_t extent[kMaxDims];
  bool sets_counts;  // SetShape(kCountsShape, ..) receives the shape [found]; else counts are not wanted
  int threads;
  Isa isa;

  void Run(const JobContext& context) const noexcept;
};

// Returns the bytes that `Unique::memory` needs. Its address must be aligned to 8 bytes.
int64_t UniqueMemory(aclDataType dtype, int64_t count, bool sorts) noexcept;

}  // namespace portacl::engine
