// The lexicographic order of a tensor's slices along a dim, and the slices in that order. Listed ops
// (OpList::Compute), trivially copyable; operands are dense.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "engine/buffer_ref.h"

namespace portacl::engine {

// The source is [before, count, behind]; a slice has `before` times `behind` elements, compared in that order.
// -0 equals 0, and NaN is greater than every number. Equal slices keep their order.
struct OrderSlices {
  aclDataType dtype;
  int32_t size;  // bytes of an element: 1, 2, 4 or 8
  int64_t before;
  int64_t count;
  int64_t behind;
  BufferRef source;
  BufferRef keys;    // as many bytes as the source has
  BufferRef order;   // INT64, written: the slices in ascending order
  BufferRef spare;   // as `order`
  BufferRef sorted;  // written: the source with its slices in that order
  int threads;

  void Run(const JobContext& context) const noexcept;
};

// Puts word i of the source where the order says. All are INT64.
struct PutWordsInOrder {
  BufferRef source;
  BufferRef order;
  BufferRef to;
  int64_t count;

  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
