// Sums of groups of consecutive rows. A listed op (OpList::Compute) with dense operands, trivially copyable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/buffer_ref.h"
#include "engine/route/route.h"

namespace portacl::engine {

// Row g of `to` is the sum of group g's rows, in float32 in their order from +0 on, rounded once. Without `group` all
// groups have as many rows. Rows behind the last group are left out.
struct SumRowGroups {
  NumberRows from;
  NumberRows to;
  OptionalBuffer group;  // INT64 of each group: where it ends, or how many rows it has
  bool are_counts;
  BufferRef begin;  // INT64, groups + 1: written
  int64_t groups;
  int64_t rows;
  int64_t columns;
  const char* name;  // of `group`
  bool raises;       // an end before the one before it or behind the last row fails the stream
  int threads;

  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
