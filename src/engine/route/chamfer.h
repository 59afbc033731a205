// The gradients of the chamfer distance of points in the plane. A listed op (OpList::Compute) with dense operands,
// trivially copyable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/buffer_ref.h"

namespace portacl::engine {

// One of the two sets of points, in each batch.
struct PointSet {
  BufferRef points;    // FLOAT, batches x count x 2
  BufferRef nearest;   // INT32 of each point: the point of the other set
  BufferRef distance;  // FLOAT of each point: its gradient
  BufferRef gradient;  // FLOAT, batches x count x 2: written
  int64_t count;
  const char* name;  // of `nearest`
};

// The point i of a set and its nearest one, j of the other, get 2 * distance[i] * (point[i] - point[j]), added to i's
// gradient and subtracted from j's: in float32, the first set's points in their order, then the second's.
struct ChamferGradients {
  PointSet sets[2];
  int64_t batches;
  bool raises;  // a nearest point that does not exist fails the stream; it is left out
  int threads;

  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
