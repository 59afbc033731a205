// What serving does with the rows of tokens around attention: rows made for caches and put into their pages, rows taken from them, tokens
// sampled, requests advanced, states of linear attention. Each is a step of a job (StepList::Compute), trivially copyable; its operands are
// dense. Slots that a cache has not are passed over; of rows with one slot the last one counts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/isa.h"
#include "engine/route/route.h"

namespace portacl::engine {

// A cache of rows: pages of so many slots, in each of them groups of columns that lie slot by slot. One group is a row as it is.
struct PagedRows {
  Place place{Place::kWorkspace, 0};
  int64_t pages = 0;
  int64_t slots = 0;  // of a page
  int64_t columns = 0;
  int64_t group = 0;  // columns of one
  int32_t size = 0;   // bytes of an element
  bool is_there = false;

  bool Has(int64_t slot) const noexcept { return slots > 0 && slot >= 0 && slot / slots < pages; }
  char* At(const JobContext& context, int64_t slot, int64_t column) const noexcept {
    const int64_t row = (slot / slots * (columns / group) + column / group) * slots + slot % slots;
    return place.Address(context) + row * group * size;
  }
};

// The slot that each row of a batch's keys is in, one behind the other; kClearedRow where its page is none, kLeftRow behind the last.
inline constexpr int64_t kClearedRow = -1;
inline constexpr int64_t kLeftRow = -2;
struct ListSlots {
  Place table;  // INT64, batches x columns: pages
  Place length;
  OptionalPlace skipped;  // slots that a batch begins behind; whole pages alone count
  Place slot;             // written, INT64
  int64_t batches, columns, rows;
  int64_t pages, slots;
  bool is_summed;  // `length` is where batches begin, and where the last one ends
  void Run(const JobContext& context) const noexcept;
};
struct TakeFromPages {
  PagedRows from;
  Place to;
  Place slot;
  int64_t rows;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// How INT8 comes from a number: RINT(x * scale + offset), or with a quotient.
struct CacheQuantiser {
  OptionalPlace scale, offset;      // FLOAT
  int64_t scales = 1, offsets = 1;  // one, or one for each of so many columns, which repeat
  bool divides = false;
};

// Rows of heads that are normed, turned, and stored.
struct MakeRows {
  // Where rows are, and what of them is meant.
  NumberRows source;
  int64_t rows, pitch, first;
  int64_t heads, width;
  // x * gamma / sqrt(mean(x * x) + epsilon) of each head.
  NumberRows gamma;
  double epsilon;
  // The first `turned` elements of a head, by the angles of row / angle_rows.
  int64_t turned = 0;
  int64_t angle_rows = 1;
  NumberRows cos, sin;
  bool is_interleaved = false;  // pairs lie side by side, and leave one half after the other
  bool rounds_steps = false;    // each product and sum becomes FLOAT16
  // What is written, unless it is missing, and how: rows x heads x width.
  NumberRows to;
  OptionalPlace quantised;
  NumberRows element;  // of a cache that takes numbers
  CacheQuantiser quantiser;
  LoadFunction load_half;
  StoreFunction store_half;
  Place work;  // WorkBytes
  int threads;

  int64_t Blocks() const noexcept;
  int64_t WorkBytes() const noexcept { return Blocks() * 2 * width * int64_t{sizeof(float)}; }
  void Run(const JobContext& context) const noexcept;
};

// Rows to the slots of a cache.
struct PutInPages {
  Place from;
  PagedRows to;
  // What leads to a slot: one of each row; of each page of rows, which begin anew after rows_of_batch; or a place in the page of the row's
  // batch, of the first of its rows or of each.
  enum class Slots : uint8_t { kEach, kPages, kFirstInBatch, kEachInBatch };
  Slots slots;
  Place slot;  // INT64
  int64_t rows, rows_of_batch;

  void Run(const JobContext& context) const noexcept;
  int64_t SlotOf(const char* list, int64_t row) const noexcept;
};

// INT32 products of quantised rows as numbers: ((x + bias) * scale of the column) * that of the row, or with the bias behind them.
struct DequantiseRows {
  Place source;               // INT32
  Place to;                   // FLOAT
  OptionalPlace bias_before;  // INT32
  OptionalPlace bias_behind;  // FLOAT
  Place column;               // FLOAT
  OptionalPlace row;          // FLOAT
  int64_t rows, columns;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// Rows become INT8 and are put where indices lead along one dim of those of the target.
struct QuantiseToPlaces {
  NumberRows source;  // batches x before x positions x between rows of `columns`
  Place to;           // INT8, target_batches x before x target_positions x between
  Place place;        // INT64: of a batch its position; or its batch and position
  bool names_batch;
  int64_t batches, before, positions, between, columns;
  int64_t target_batches, target_positions;
  CacheQuantiser quantiser;
  void Run(const JobContext& context) const noexcept;
};

// The next token of each row of logits.
struct SampleRows {
  NumberRows logits;
  Place k;  // INT32
  NumberRows p;
  NumberRows least_share;  // of the greatest probability
  OptionalPlace weight;    // FLOAT: what probabilities are divided by
  double epsilon;
  int64_t rows, columns;
  int64_t most;               // a k above it means none
  bool are_logits;            // else probabilities
  bool is_choosing;           // else what is kept is listed
  OptionalPlace chosen;       // INT64
  OptionalPlace kept;         // FLOAT: the logits that are
  OptionalPlace kept_place;   // INT64
  OptionalPlace probability;  // FLOAT
  Place order;                // INT64, rows x columns
  Place share;                // FLOAT, two for each
  void (*exponential)(float* values, int64_t n);
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// Requests go on by the token that was sampled, or by those that were accepted. All are INT64.
struct AdvanceRequests {
  Place token, sampled, position, length, slot, table;
  OptionalPlace proposed, accepted;
  int64_t requests;  // rows of what is sampled
  int64_t rows;      // of what is written, those behind the requests are cleared
  int64_t proposals;
  int64_t table_rows, table_columns;
  int64_t page;
  void Run(const JobContext& context) const noexcept;
};

// Linear attention with a state for each head, which is decayed, corrected by each token, and read.
struct DeltaRule {
  NumberRows query, key;     // tokens x key_heads x depth
  NumberRows value, to;      // tokens x heads x width
  NumberRows beta;           // tokens x heads
  OptionalPlace decay;       // FLOAT, tokens x heads: an exponent
  OptionalPlace each_decay;  // FLOAT, tokens x heads x depth
  Place length;              // INT64, of each sequence
  // States of INT64 indices, and how many tokens of the last step stayed; or of each sequence, from `initial` to `state`.
  OptionalPlace index, accepted;
  NumberRows initial, state;  // states x heads x width x depth
  int64_t tokens, sequences, states, key_heads, heads, width, depth;
  float scale;
  Place begin;  // INT64, sequences + 1
  Place work;   // FLOAT, WorkOfHead for each head
  void (*exponential)(float* values, int64_t n);
  void (*step)(float* state, const float* key, const float* query, const float* decay, const float* value,
               float beta, float* to, int64_t width, int64_t depth);
  int threads;
  int64_t Padded() const noexcept { return (depth + 15) / 16 * 16; }
  int64_t WorkOfHead() const noexcept { return (width + 3) * Padded() + 2 * width; }
  void Run(const JobContext& context) const noexcept;
};

// y[s] = the sum over k of weight[k] * x[s - 2 + k], of a batch's own steps; 0 where the mask is.
struct ConvolveCausally {
  NumberRows x, to;    // steps x batches x columns
  NumberRows weight;   // 3 x columns
  OptionalPlace mask;  // BOOL, batches x steps
  int64_t steps, batches, columns;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// silu(min(a, limit)) * clamp(b) * weight of the row, a and b halves of it; rows behind the sum of the counts stay.
struct GateGroups {
  NumberRows x, to;
  OptionalPlace weight;  // FLOAT
  OptionalPlace count;   // INT64
  int64_t counts, rows, columns;
  float limit;  // infinity: none
  void (*gate)(const float* a, const float* b, float limit, float weight, float* to, int64_t n);
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// What is compiled for each instruction set.
struct ServingFunctions {
  void (*exponential)(float* values, int64_t n);
  void (*step)(float* state, const float* key, const float* query, const float* decay, const float* value,
               float beta, float* to, int64_t width, int64_t depth);
  void (*gate)(const float* a, const float* b, float limit, float weight, float* to, int64_t n);
};
ServingFunctions ServingFunctionsOf(Isa isa) noexcept;

}  // namespace portacl::engine
