// Sums, means or maxima of the rows of a table that the entries of each bag name. A listed op
// (OpList::Compute), trivially copyable. Operands are dense, index operands INT64.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/buffer_ref.h"
#include "engine/route/route.h"

namespace portacl::engine {

// Bag b has the entries from offset b to the next offset, or to the end. It is computed in float32, entries in
// their order, and rounded once; without entries its row is 0.
struct ReduceBags {
  enum class Mode : uint8_t { kSum, kMean, kMost };

  Mode mode;
  NumberRows source;
  NumberRows to;
  NumberRows factor;  // of each entry; if missing, 1
  BufferRef index;    // of each entry, the source row
  BufferRef offset;
  OptionalBuffer bag;    // written: of each entry; -1 if it is in none
  OptionalBuffer count;  // written: the entries of each bag that are not skipped
  OptionalBuffer most;   // written: the source row of each maximum, or 0
  OptionalBuffer none;   // cleared
  int64_t none_words;
  int64_t clears_behind;  // counts behind those of the bags, which become 0
  int64_t bags;
  int64_t offsets;  // bags, or one more
  int64_t entries;
  int64_t columns;
  int64_t source_rows;
  int64_t skipped;  // the source row whose entries are left out; negative: none
  const char* index_name;
  const char* offset_name;
  bool raises;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
