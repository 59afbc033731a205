// Serving's operations on the rows of tokens around attention: making rows for caches, putting them into
// pages and taking them out, sampling tokens, advancing requests, and states of linear attention. Each is a
// listed op (OpList::Compute), trivially copyable, with dense operands. Slots outside a cache are skipped. If
// several rows have one slot, the last one counts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/codes.h"
#include "engine/route/route.h"

namespace portacl::engine {

// A cache of rows in pages of `slots` slots. A page holds groups of columns, and each group lies slot by
// slot. With a single group rows are contiguous.
struct PagedRows {
  BufferRef buffer{BufferRef::kWorkspace, 0};
  int64_t pages = 0;
  int64_t slots = 0;  // of a page
  int64_t columns = 0;
  int64_t group = 0;  // columns of a group
  int32_t size = 0;   // bytes of an element
  bool is_there = false;

  bool Has(int64_t slot) const noexcept { return slots > 0 && slot >= 0 && slot / slots < pages; }
  char* At(const JobContext& context, int64_t slot, int64_t column) const noexcept {
    const int64_t row = (slot / slots * (columns / group) + column / group) * slots + slot % slots;
    return buffer.Address(context) + row * group * size;
  }
};

// Lists the slots of the rows of all batches' keys. A row has kClearedRow if its page is invalid, and
// kLeftRow behind the last batch.
inline constexpr int64_t kClearedRow = -1;
inline constexpr int64_t kLeftRow = -2;
struct ListSlots {
  BufferRef table;  // INT64, batches x columns: pages
  BufferRef length;
  OptionalBuffer skipped;  // slots in front of a batch, rounded down to whole pages
  BufferRef slot;          // written, INT64
  int64_t batches, columns, rows;
  int64_t pages, slots;
  bool is_summed;  // `length` has the beginnings of batches and the end of the last one
  void Run(const JobContext& context) const noexcept;
};
struct TakeFromPages {
  PagedRows from;
  BufferRef to;
  BufferRef slot;
  int64_t rows;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// Quantises to INT8: RINT(x * scale + offset), or with a quotient.
struct CacheQuantiser {
  OptionalBuffer scale, offset;     // FLOAT
  int64_t scales = 1, offsets = 1;  // one for all columns, or a list that repeats along the columns
  bool divides = false;
};

// Normalises, rotates and stores rows of heads.
struct MakeRows {
  // The source rows, and the columns that are used.
  NumberRows source;
  int64_t rows, pitch, first;
  int64_t heads, width;
  // x * gamma / sqrt(mean(x * x) + epsilon) of each head.
  NumberRows gamma;
  double epsilon;
  float factor = 1;  // multiplies normalised elements
  // Rotates the first `turned` elements of a head by the angles of row / angle_rows.
  int64_t turned = 0;
  int64_t angle_rows = 1;
  NumberRows cos, sin;
  bool is_interleaved = false;  // pairs are adjacent, and their halves are stored one after the other
  bool rounds_steps = false;    // rounds each product and sum to FLOAT16
  // The results, rows x heads x width; either may be missing.
  NumberRows to;
  OptionalBuffer quantised;
  NumberRows element;  // the type of a cache of numbers
  CacheQuantiser quantiser;
  LoadFunction load_half;
  StoreFunction store_half;
  BufferRef work;  // WorkBytes
  int threads;

  int64_t Blocks() const noexcept;
  int64_t WorkBytes() const noexcept { return Blocks() * 2 * width * int64_t{sizeof(float)}; }
  void Run(const JobContext& context) const noexcept;
};

// Writes rows to the slots of a cache.
struct PutInPages {
  BufferRef from;
  PagedRows to;
  // The list's entries: a slot for each row; a slot for each page of rows, with pages that start anew after
  // rows_of_batch; or a position within the page of a batch, for its first row or for each.
  enum class Slots : uint8_t { kEach, kPages, kFirstInBatch, kEachInBatch };
  Slots slots;
  BufferRef slot;  // INT64
  int64_t rows, rows_of_batch;

  void Run(const JobContext& context) const noexcept;
  int64_t SlotOf(const char* list, int64_t row) const noexcept;
};

// Converts INT32 matrix products of quantised rows to numbers: ((x + bias) * the column's scale) * the row's
// scale, or with the bias added last.
struct DequantiseRows {
  BufferRef source;            // INT32
  BufferRef to;                // FLOAT
  OptionalBuffer bias_before;  // INT32
  OptionalBuffer bias_behind;  // FLOAT
  BufferRef column;            // FLOAT
  OptionalBuffer row;          // FLOAT
  int64_t rows, columns;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// Quantises rows to INT8 by steps of their own: a row's greatest magnitude / 127. Elements are divided by it and
// rounded to the nearest, halfway cases to even. A row of zeros has the step 0.
struct QuantiseByRow {
  NumberRows source;      // rows x columns
  OptionalBuffer smooth;  // FLOAT of columns, multiplies first
  BufferRef to;           // INT8
  BufferRef step;         // FLOAT of rows, written
  int64_t rows, columns;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// Multiplies rows by one factor and divides each by its own step.
struct RescaleRows {
  NumberRows source, to;  // rows x columns
  BufferRef factor;       // FLOAT, one
  BufferRef step;         // FLOAT of rows
  int64_t rows, columns;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// Quantises rows to INT8 and writes them to the target's rows that indices name along one dim.
struct QuantiseToIndices {
  NumberRows source;  // batches x before x positions x between rows of `columns`
  BufferRef to;       // INT8, or what `encode` makes, target_batches x before x target_positions x between
  BufferRef buffer;   // INT64: a batch's position; or its batch and position
  bool names_batch;
  int64_t batches, before, positions, between, columns;
  int64_t target_batches, target_positions;
  CacheQuantiser quantiser;
  EncodeFunction encode = nullptr;  // of a dtype of 8-bit floats
  void Run(const JobContext& context) const noexcept;
};

// Samples the next token of each row of logits.
struct SampleRows {
  NumberRows logits;
  BufferRef k;  // INT32
  NumberRows p;
  NumberRows least_share;  // as a fraction of the greatest probability
  OptionalBuffer weight;   // FLOAT, divides probabilities
  double epsilon;
  int64_t rows, columns;
  int64_t most;                // a k above it means no limit
  bool are_logits;             // else probabilities
  bool is_choosing;            // chooses a token; else lists the kept ones
  OptionalBuffer chosen;       // INT64
  OptionalBuffer kept;         // FLOAT: the logits of the kept ones
  OptionalBuffer kept_buffer;  // INT64
  OptionalBuffer probability;  // FLOAT
  BufferRef order;             // INT64, rows x columns
  BufferRef share;             // FLOAT, two for each
  void (*exponential)(float* values, int64_t n);
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// Advances requests by the sampled token, or by the accepted ones. All operands are INT64.
struct AdvanceRequests {
  BufferRef token, sampled, position, length, slot, table;
  OptionalBuffer proposed, accepted;
  int64_t requests;  // rows of `sampled`
  int64_t rows;      // rows of the results; those behind the requests are cleared
  int64_t proposals;
  int64_t table_rows, table_columns;
  int64_t page;
  void Run(const JobContext& context) const noexcept;
};

// Linear attention. Each head's state is decayed, corrected by each token, and read.
struct DeltaRule {
  NumberRows query, key;      // tokens x key_heads x depth
  NumberRows value, to;       // tokens x heads x width
  NumberRows beta;            // tokens x heads
  OptionalBuffer decay;       // FLOAT, tokens x heads: an exponent
  OptionalBuffer each_decay;  // FLOAT, tokens x heads x depth
  BufferRef length;           // INT64, of each sequence
  // The states that INT64 indices name, with the number of tokens kept from the last step; or a state for
  // each sequence, from `initial` to `state`.
  OptionalBuffer index, accepted;
  NumberRows initial, state;  // states x heads x width x depth
  int64_t tokens, sequences, states, key_heads, heads, width, depth;
  float scale;
  BufferRef begin;  // INT64, sequences + 1
  BufferRef work;   // FLOAT, WorkOfHead for each head
  void (*exponential)(float* values, int64_t n);
  void (*step)(float* state, const float* key, const float* query, const float* decay, const float* value,
               float beta, float* to, int64_t width, int64_t depth);
  int threads;
  int64_t Padded() const noexcept { return (depth + 15) / 16 * 16; }
  int64_t WorkOfHead() const noexcept { return (width + 3) * Padded() + 2 * width; }
  void Run(const JobContext& context) const noexcept;
};

// y[s] = the sum over k of weight[k] * x[s - 2 + k], within a batch's steps; 0 if masked.
struct ConvolveCausally {
  NumberRows x, to;     // steps x batches x columns
  NumberRows weight;    // 3 x columns
  OptionalBuffer mask;  // BOOL, batches x steps
  int64_t steps, batches, columns;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// silu(min(a, limit)) * clamp(b) * the row's weight, where a and b are its halves. Rows behind the sum of the
// counts stay unchanged.
struct GateGroups {
  NumberRows x, to;
  OptionalBuffer weight;  // FLOAT
  OptionalBuffer count;   // INT64
  int64_t counts, rows, columns;
  float limit;  // infinity: none
  void (*gate)(const float* a, const float* b, float limit, float weight, float* to, int64_t n);
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// Functions that are compiled for each instruction set.
struct ServingFunctions {
  void (*exponential)(float* values, int64_t n);
  void (*step)(float* state, const float* key, const float* query, const float* decay, const float* value,
               float beta, float* to, int64_t width, int64_t depth);
  void (*gate)(const float* a, const float* b, float limit, float weight, float* to, int64_t n);
};
ServingFunctions ServingFunctionsOf(Isa isa) noexcept;

}  // namespace portacl::engine
