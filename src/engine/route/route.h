// Rows that are sent to experts and back: which entry goes where, rows taken there, sums of what comes back, and their gradients. Each
// is a step of a job (StepList::Compute), trivially copyable; its operands are dense, index operands INT64 unless they say otherwise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "acl/isa.h"
#include "engine/conversions.h"
#include "engine/place.h"

namespace portacl::engine {

// Rows of numbers that become float32 where they are read, and are rounded once where they are written.
struct NumberRows {
  Place place{Place::kWorkspace, 0};
  int32_t size = 4;  // bytes of a number
  LoadFunction load = nullptr;
  StoreFunction store = nullptr;
  bool is_there = false;
};
NumberRows NumberRowsOf(Isa isa, Place place, aclDataType dtype) noexcept;

// A place that may be left out.
struct OptionalPlace {
  Place place{Place::kWorkspace, 0};
  bool is_there = false;
};

// Entries in the order of their experts, as a stable sort of all of them gives it, become places of rows: those of the experts `low`
// to `high` one behind the other, or, with a capacity, so many places for each expert, of which it may need fewer or more.
struct RankEntries {
  Place expert;  // of each entry, INT32 or INT64
  Place order;   // of all entries
  bool is_wide;
  int64_t entries;
  int64_t low, high;
  int64_t capacity;     // 0: as many as there are
  int64_t rows;         // of `entry`
  OptionalPlace rank;   // of each entry, -1: nowhere
  OptionalPlace entry;  // of each row, -1: none
  OptionalPlace count;  // for each expert of the range, before any is dropped
  OptionalPlace total;  // for each the sum of the counts up to it
  // Experts that are none fail the stream where the range is all there are.
  const char* name;
  bool raises;

  void Run(const JobContext& context) const noexcept;
};

// The pairs (expert, count) of those that have any, ascending, then a pair of zeros if there is room.
struct PairCounts {
  Place count;
  Place pairs;
  int64_t experts;
  int64_t first;  // expert
  int64_t rows;   // of pairs
  void Run(const JobContext& context) const noexcept;
};

// Which entry each row is for: the last of those whose index names it, -1 where none does.
struct InvertIndex {
  Place index;
  Place entry;
  OptionalPlace element;  // which element of its tensor an entry's index is
  int64_t entries;
  int64_t rows;
  int64_t least;    // the lowest index that means none, or 0
  bool may_exceed;  // so do indices beyond the rows
  const char* name;
  bool raises;
  void Run(const JobContext& context) const noexcept;
};

// The entries whose index is the same, one group after the other, as a stable sort gives them: where each group begins. -1 is of none.
struct GroupIndex {
  Place index;
  Place order;
  Place begin;  // groups + 1
  int64_t entries;
  int64_t groups;
  const char* name;
  bool raises;
  void Run(const JobContext& context) const noexcept;
};

// Row r is the row of the source that its entry belongs to.
struct TakeRows {
  Place source;
  Place to;
  OptionalPlace entry;  // else row r is entry r
  int64_t rows;
  int64_t bytes;        // of a row
  int64_t divisor = 1;  // entries of a source row that follow each other
  int64_t modulus = 0;  // or source rows after which entries begin anew
  int64_t source_rows;
  bool clears;                // rows without an entry become 0, else they stay
  bool refuses_none = false;  // -1 is no entry that there may not be, but a bad one
  const char* name;
  bool raises;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

// Row i is first + second + the sum of what its entries name, each with its factor, in their order.
struct CombineRows {
  NumberRows source;
  NumberRows to;
  NumberRows first, second;
  NumberRows bias;       // a row for each expert
  OptionalPlace index;   // of the source row of each entry
  OptionalPlace expert;  // of each entry, in row order
  OptionalPlace factor;  // of each entry, in row order; FLOAT
  OptionalPlace begin;   // groups of entries for each row: then `index` lists them, and factors are theirs
  int64_t rows;
  int64_t columns;
  int64_t entries_of_row;
  int64_t source_rows;
  int64_t experts;       // of bias
  bool is_column_order;  // entry j of row i is j * rows + i
  bool skips_zero;       // an entry whose factor is 0 is not read
  int64_t least;         // the lowest index that means none, or 0
  bool may_exceed;       // so do indices beyond the source
  // Experts whose rows are not read: nothing, the token's own row, or alpha1 of that and alpha2 of a constant.
  struct Range {
    int64_t low = -1, high = -1;
    bool Contains(int64_t expert) const noexcept { return expert >= low && expert < high; }
  };
  Range zero, copy, constant;
  NumberRows token;
  NumberRows constant_row;
  OptionalPlace alpha1, alpha2;   // FLOAT
  int64_t alphas, constant_rows;  // 1: for all of the range
  const char* name;
  const char* expert_name;
  bool raises;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

// Row r is the row of the source that its entry belongs to, times the entry's factor; 0 without an entry, or where that one's row is -1.
struct SpreadRows {
  NumberRows source;
  NumberRows to;
  OptionalPlace entry;       // else row r is entry r
  OptionalPlace factor;      // of each entry, FLOAT
  OptionalPlace source_row;  // of each entry; else entry / divisor
  int64_t rows;
  int64_t columns;
  int64_t divisor;
  int64_t source_rows;
  const char* name;  // of source_row
  bool raises;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

// For each entry the product of two rows, the one that its index names and the one that it belongs to; 0 where the index names none.
struct DotRows {
  NumberRows left;
  NumberRows right;
  NumberRows bias;          // added to the left one
  Place to;                 // FLOAT
  OptionalPlace index;      // of the left row
  OptionalPlace right_row;  // else entry / divisor
  OptionalPlace expert;
  int64_t entries;
  int64_t columns;
  int64_t divisor;
  int64_t left_rows, right_rows;
  int64_t experts;
  const char* expert_name;
  bool raises;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

// Rows as INT8. Static: each step in FLOAT16. Dynamic: by the greatest size of a row.
struct QuantiseRows {
  NumberRows source;
  Place to;
  OptionalPlace entry;
  bool is_dynamic;
  OptionalPlace scale;      // FLOAT: one, or a row, or a row for each expert
  OptionalPlace offset;     // FLOAT, one
  OptionalPlace row_scale;  // FLOAT, written
  OptionalPlace expert;     // of each entry, INT32 or INT64; picks the row of scale
  bool is_wide;
  int64_t first_expert;
  int64_t scale_rows;
  int64_t rows;
  int64_t columns;
  int64_t divisor;
  bool clears;
  LoadFunction load_half;
  StoreFunction store_half;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

// The ones of a map of tokens and experts, expert by expert. Not padded: each token has as many as every other one.
struct MapEntries {
  Place map;  // BOOL bytes, tokens x experts
  int64_t tokens, experts;
  int64_t
      capacity;  // 0: those that are there; else so many of each expert, filled up with tokens that have none
  int64_t rows;  // of what follows
  int64_t of_token;        // entries of a token, not padded
  OptionalPlace token;     // of each row
  OptionalPlace expert;    // of each row
  OptionalPlace rank;      // of each token's entries, ascending by expert: the row; -1 where there are fewer
  OptionalPlace ones;      // the place in the map of each token's entries, token by token; -1
  OptionalPlace in_order;  // the place in the map of each row
  void Run(const JobContext& context) const noexcept;
};

// Numbers at places: to[place[i]] = from[i], or to[i] = from[place[i]]; a place that is none is passed over, or gives 0. `to` is
// cleared first where numbers are put.
struct MoveNumbers {
  Place from;
  Place to;
  Place place;
  int64_t count;
  int64_t length;  // of what places are in
  int32_t size;
  bool puts;
  void Run(const JobContext& context) const noexcept;
};

// place[i] = token[i] * experts + position[i] / capacity, -1 where that is none; without positions i is one.
struct PaddedPlaces {
  Place token;
  OptionalPlace position;
  Place place;
  int64_t count, tokens, experts, capacity;
  void Run(const JobContext& context) const noexcept;
};

// For each e below `experts` how many of the numbers are at most e, as bisection finds it.
struct CountUpTo {
  Place sorted;  // INT32
  Place to;      // INT32
  int64_t count;
  int64_t experts;
  void Run(const JobContext& context) const noexcept;
};

// Rows that lie rank by rank, each with its experts in order, come to lie expert by expert.
struct Reroute {
  Place count;   // ranks x experts, INT64
  Place begin;   // as many numbers, to work with
  Place source;  // of each row
  Place total;   // of each expert
  int64_t ranks, experts, rows;
  const char* name;
  bool raises;
  void Run(const JobContext& context) const noexcept;
};

// Which copy of an expert is used, and which entries are kept.
struct ChooseCopies {
  Place expert;  // INT64, tokens x entries
  Place table;   // INT32, experts x columns
  Place to;      // INT64
  int64_t tokens, entries, experts, columns;
  int64_t rank, world;
  bool by_token;
  OptionalPlace score, threshold;  // FLOAT
  OptionalPlace active;            // BOOL
  OptionalPlace kept;              // BOOL, written
  const char* name;
  bool raises;
  void Run(const JobContext& context) const noexcept;
};

// Element (i, j) is j * rows + i; INT32.
struct NumberColumns {
  Place to;
  int64_t rows, columns;
  void Run(const JobContext& context) const noexcept;
};

// The k best experts of each row of scores.
struct GateRows {
  enum class Function : uint8_t { kNone, kSoftmax, kSigmoid, kRootOfSoftplus };
  NumberRows x;
  NumberRows bias;            // of each expert, added to what is compared alone
  NumberRows y;               // the values of the chosen
  OptionalPlace all;          // FLOAT, rows x experts: the values of all
  Place chosen;               // INT32
  Place value;                // FLOAT, rows x experts
  Place score;                // FLOAT, rows x (experts + k)
  OptionalPlace given;        // INT64, rows x k: the experts that are chosen whatever the scores
  OptionalPlace is_finished;  // BOOL of each row: chosen becomes `experts`
  int64_t rows, experts, k;
  int64_t groups, kept_groups;  // 1: all are one
  bool sums_two;                // a group's score is the sum of its two greatest, else the greatest
  Function function;
  bool softmax_after;  // over the chosen
  bool ranks_half;     // by the values as FLOAT16
  bool normalises;
  float factor, epsilon;
  LoadFunction load_half;
  StoreFunction store_half;
  void (*activate)(Function function, float* values, int64_t n);
  const char* name;
  bool raises;
  int threads;

  void Run(const JobContext& context) const noexcept;
};
void SetActivation(GateRows& gate, Isa isa) noexcept;

// The gradient of values that were divided by the sum of the chosen, through a sigmoid.
struct GateGradient {
  Place x;         // FLOAT, rows x experts: the sigmoids
  Place gradient;  // FLOAT, rows x k
  Place chosen;    // INT64, rows x k
  NumberRows to;
  Place sums;  // FLOAT, rows x experts
  int64_t rows, experts, k;
  float factor, epsilon;
  const char* name;
  bool raises;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
