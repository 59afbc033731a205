// Weighted sums of consecutive rows of sequences: the causal convolution that continues from states of
// requests, and windows that are compressed to one row. Each is a listed op (OpList::Compute) with dense
// operands, trivially copyable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/route/route.h"

namespace portacl::engine {

// y[i] = the sum over k of weight[k] * p[i + k] of each sequence, where p is two rows before it and then its
// own. The rows before come from the sequence's line of states, which keeps the last rows for the next call.
struct ConvolveFromStates {
  static constexpr int64_t kTaps = 3;
  static constexpr int64_t kColumns = 128;  // of a block

  NumberRows x, to;   // rows x columns; they may be the same
  NumberRows weight;  // 3 x columns
  NumberRows state;   // lines x slots x columns
  // INT64: where sequences begin and the last one ends; without it each has `steps` rows.
  OptionalBuffer begin;
  OptionalBuffer line;      // INT64 of each sequence; without it lines are sequences
  OptionalBuffer accepted;  // INT64: rows of the last call that count, whose states precede the others
  OptionalBuffer computed;  // INT64: rows before; a sequence without any has zeros before it
  int64_t sequences, steps, rows, columns, lines, slots;
  int64_t skipped;    // a line that means that its sequence is passed over
  bool clears_first;  // the first results are 0, until two rows are before
  bool adds_x;
  BufferRef work;  // FLOAT, WorkOfBlock for each block
  int threads;

  int64_t Blocks() const noexcept { return (columns + kColumns - 1) / kColumns; }
  int64_t WorkOfBlock() const noexcept { return (slots + 1) * kColumns; }
  void Run(const JobContext& context) const noexcept;
};

// Row w of a sequence is the sum over j of weight[j] * row w * stride + j, for windows that lie in the
// sequence.
struct CompressWindows {
  NumberRows x, to;   // rows x heads x width
  NumberRows weight;  // window x heads
  BufferRef end;      // INT64 of each sequence
  int64_t sequences, rows, windows, heads, width, window, stride;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

// Compresses the last window of each sequence whose rows end with one, from pages, to the row of a cache that its
// slot names. Slots below 0 and behind the cache are skipped; if several sequences have one slot, the last counts.
struct CompressLastWindow {
  NumberRows x;       // pages x slots x heads x width
  NumberRows weight;  // window x heads
  NumberRows to;      // targets x heads x width
  BufferRef length;   // INT64 of each sequence: its rows
  BufferRef table;    // INT64, sequences x columns: pages; rows of those that do not exist count as zeros
  BufferRef slot;     // INT64 of each sequence
  int64_t sequences, columns, pages, slots, targets, heads, width, window, stride;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

// The gradients of windows. That of a row is a sum over the windows that contain it. That of a weight is a sum
// over all windows, in float64.
struct CompressGradients {
  NumberRows gradient;   // windows x heads x width
  NumberRows x, of_x;    // rows x heads x width
  NumberRows weight;     // window x heads
  NumberRows of_weight;  // likewise
  BufferRef end;         // INT64 of each sequence
  int64_t sequences, rows, windows, heads, width, window, stride;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
