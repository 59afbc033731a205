// Attention to compressed keys, which also ranks the blocks of keys that were compressed, and the gradients of
// attention to selected blocks. Each is a listed op (OpList::Compute) with dense operands, trivially copyable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/serve/selected_keys.h"

namespace portacl::engine {

// Attends to all keys of a sequence that a mask leaves. Lists, for each query and head of keys, the blocks with
// the greatest shares. The share of block j is the sum over m below `block_steps` and n below `window_steps` of
// the weights of key block_steps * j - m - n, in all heads that share the head of keys.
struct AttendAndRank {
  SequenceRows queries, keys;
  NumberRows query, key, value;  // rows x heads x depth
  OptionalBuffer mask;           // bytes, positions of queries x `mask_columns`: 0 leaves a key
  int64_t mask_columns;
  NumberRows to;
  OptionalBuffer greatest, sum;  // FLOAT, rows x heads x copies
  int64_t copies;
  BufferRef index;  // INT32, rows x key_heads x count: -1 behind the last block
  int64_t count, block_steps, window_steps;
  int64_t rows, heads, key_heads, depth, value_depth;
  float scale;
  SelectedKeysFunctions functions;
  BufferRef work;  // WorkBytes
  int threads;

  int64_t Depth() const noexcept { return (depth + 15) / 16 * 16; }
  int64_t ValueDepth() const noexcept { return (value_depth + 15) / 16 * 16; }
  int64_t Blocks() const noexcept;
  int64_t NumbersOfBlock() const noexcept;
  int64_t WorkBytes() const noexcept { return Blocks() * NumbersOfBlock() * int64_t{sizeof(float)}; }
  // Lists the blocks with the greatest shares, which `shares` has for each key.
  void Rank(const JobContext& context, int64_t item, int64_t visible, const float* shares,
            double* of_blocks) const noexcept;
  void Run(const JobContext& context) const noexcept;
};

// The gradients of attention to the blocks that are listed for each query and head of keys, from the statistics of
// its rows. Numbers have one type; the gradients are FLOAT sums.
struct SelectedGradients {
  SequenceRows queries, keys;  // packed
  LoadFunction load;
  int32_t size;                 // bytes of a number
  BufferRef query, key, value;  // rows x heads x depth
  BufferRef out, of_out;        // rows x heads x value_depth
  BufferRef greatest, sum;      // FLOAT, rows x heads x copies
  BufferRef index;              // INT32, rows x key_heads x count
  BufferRef of_query, of_key, of_value;
  int64_t copies, count, block;
  int64_t heads, key_heads, depth, value_depth;
  float scale;
  bool is_causal;
  SelectedKeysFunctions functions;
  BufferRef work;  // WorkBytes
  int threads;

  int64_t Depth() const noexcept { return (depth + 15) / 16 * 16; }
  int64_t ValueDepth() const noexcept { return (value_depth + 15) / 16 * 16; }
  int64_t Items() const noexcept { return queries.batches * key_heads; }
  // A query, a key, a value, a result and its gradient.
  int64_t NumbersOfItem() const noexcept { return 2 * Depth() + 3 * ValueDepth(); }
  int64_t WorkBytes() const noexcept { return Items() * NumbersOfItem() * int64_t{sizeof(float)}; }
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
