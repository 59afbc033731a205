// What is there once: the distinct elements of a tensor in ascending order, or its runs of equal parts, where each went and how often.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/isa.h"
#include "engine/place.h"
#include "plan/shape.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// Trivially copyable, so that a job can hold it. The source is dense, [before, count, behind]: of what is sorted, [1, count, 1].
struct Unique {
  static constexpr int kCountsShape = 1;

  aclDataType dtype;
  int32_t size;
  bool sorts;  // else equal neighbours are one
  int64_t before;
  int64_t count;
  int64_t behind;
  Place source;
  Place memory;  // UniqueMemory bytes
  // Dense, from the first element of each output on; no more than `most` of them are written, whatever was found.
  Place values;
  int64_t most_values;  // parts
  Place inverse;
  int64_t most_inverse;  // 0: not asked for
  Place counts;
  int64_t most_counts;
  // The shape of the values: SetShape(0, ..) gets it, with what was found in the place of dim.
  int32_t rank;
  int32_t dim;
  int64_t extent[kMaxDims];
  bool sets_counts;  // SetShape(kCountsShape, ..) gets the shape [found]; else they are not asked for
  int threads;
  Isa isa;

  void Run(const JobContext& context) const noexcept;
};

// What the above needs besides, in bytes; aligned to 8.
int64_t UniqueMemory(aclDataType dtype, int64_t count, bool sorts) noexcept;

}  // namespace portacl::engine
