// Rows of logits of one device's range of classes, when several devices divide a vocabulary: the numbers from which the
// loss is computed, and its gradient. Listed ops (OpList::Compute, StageList::Compute), trivially copyable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/buffer_ref.h"
#include "engine/conversions.h"

namespace portacl::engine {

// Writes exp(x - less) of n numbers. Both arrays have room for whole vectors.
using ExponentialsFunction = void (*)(const float* x, float less, float* to, int64_t n);
ExponentialsFunction ExponentialsOf(Isa isa) noexcept;

// Elements at equal distances, in bytes.
struct StridedElements {
  BufferRef buffer;
  int64_t step = 0;

  char* At(const JobContext& context, int64_t i) const noexcept { return buffer.Address(context) + i * step; }
};

// Reduces rows [first, first + rows) of logits.
struct ReduceClassPart {
  int64_t first;
  int64_t rows;
  int64_t all_rows;
  int64_t classes;
  bool has_terms;    // else logits count as 0
  BufferRef logits;  // FLOAT, dense, of these rows alone
  StridedElements target;
  bool is_wide;               // targets are INT64, else INT32
  int64_t begin, end;         // of the classes, among all
  StridedElements most;       // FLOAT, written, as the next two
  StridedElements sum;        // of exp(logit - most)
  StridedElements predicted;  // the target's logit - most, or 0
  StridedElements mask;       // bytes; bit r % 8 of byte r / 8: whether row r's target is elsewhere
  StridedElements index;      // the target's index in this range, or 0
  bool gives_logits;
  StridedElements copy;  // a row; written
  int64_t copy_column;
  int32_t copy_size;
  StoreFunction store;
  ExponentialsFunction exponentials;
  const char* name;  // of targets
  bool raises;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

// The gradient of the loss to logits: gradient * (share - 1 for the target's class, unless it is elsewhere).
struct ShareClassPart {
  int64_t rows;
  int64_t classes;
  bool has_terms;         // else logits count as 0
  BufferRef logits;       // FLOAT, dense; overwritten by the result
  bool has_shares;        // shares are given, else computed
  StridedElements share;  // a row
  int64_t share_column;
  StridedElements most;
  StridedElements sum;
  StridedElements gradient;  // FLOAT
  StridedElements mask;
  bool has_bits;  // of mask; else it has a byte for each row
  StridedElements index;
  bool is_wide;
  ExponentialsFunction exponentials;
  const char* name;  // of indices
  bool raises;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
