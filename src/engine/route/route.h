// Sends rows to experts and back: positions of entries, rows taken there, sums of the returned rows, and
// their gradients. Each is a listed op (OpList::Compute) and trivially copyable. Operands are dense; index
// operands are INT64 unless stated.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "base/isa.h"
#include "engine/buffer_ref.h"
#include "engine/conversions.h"

namespace portacl::engine {

// Rows of numbers, converted to float32 when read and rounded once when written.
struct NumberRows {
  BufferRef buffer{BufferRef::kWorkspace, 0};
  int32_t size = 4;  // bytes of a number
  LoadFunction load = nullptr;
  StoreFunction store = nullptr;
  bool is_there = false;
};
NumberRows NumberRowsOf(Isa isa, BufferRef buffer, aclDataType dtype) noexcept;

// An optional operand.
struct OptionalBuffer {
  BufferRef buffer{BufferRef::kWorkspace, 0};
  bool is_there = false;
};

// Assigns rows to entries, in the order of a stable sort by expert. The rows of experts `low` to `high` are
// contiguous; with a capacity each expert has that many rows, whether it needs more or fewer.
struct RankEntries {
  BufferRef expert;  // of each entry, INT32 or INT64
  BufferRef order;   // of all entries
  bool is_wide;
  int64_t entries;
  int64_t low, high;
  int64_t capacity;      // 0: unlimited
  int64_t rows;          // of `entry`
  OptionalBuffer rank;   // the row of each entry, or -1
  OptionalBuffer entry;  // the entry of each row, or -1
  OptionalBuffer count;  // for each expert of the range, before entries are dropped
  OptionalBuffer total;  // for each expert the sum of the counts up to it
  // Tells whether an invalid expert fails the stream, and the name of the operand. Only if the range contains all
  // experts.
  const char* name;
  bool raises;

  void Run(const JobContext& context) const noexcept;
};

// Lists ascending pairs (expert, count) of experts with entries, followed by a pair of zeros if there is
// room.
struct PairCounts {
  BufferRef count;
  BufferRef pairs;
  int64_t experts;
  int64_t first;  // expert
  int64_t rows;   // of pairs
  void Run(const JobContext& context) const noexcept;
};

// Inverts an index: finds for each row the last entry whose index is that row, or -1.
struct InvertIndex {
  BufferRef index;
  BufferRef entry;
  OptionalBuffer element;  // element of the operand from which an entry's index comes
  int64_t entries;
  int64_t rows;
  int64_t least;    // the lowest index that means none, or 0
  bool may_exceed;  // indices beyond the rows mean none, too
  const char* name;
  bool raises;
  void Run(const JobContext& context) const noexcept;
};

// Groups entries of equal index, in the order of a stable sort, and writes the beginning of each group. -1
// belongs to none.
struct GroupIndex {
  BufferRef index;
  BufferRef order;
  BufferRef begin;  // groups + 1
  int64_t entries;
  int64_t groups;
  const char* name;
  bool raises;
  void Run(const JobContext& context) const noexcept;
};

// Copies the source row of each row's entry.
struct TakeRows {
  BufferRef source;
  BufferRef to;
  OptionalBuffer entry;  // if missing, row r has entry r
  int64_t rows;
  int64_t bytes;        // of a row
  int64_t divisor = 1;  // consecutive entries that share a source row
  int64_t modulus = 0;  // or the number of source rows, modulo which entries are taken
  int64_t source_rows;
  bool clears;                // rows without an entry become 0; else they keep their values
  bool refuses_none = false;  // -1 is a bad entry, not a missing one
  const char* name;
  bool raises;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

// Row i is first + second + the sum of the source rows of its entries, each with its factor, in order.
struct CombineRows {
  NumberRows source;
  NumberRows to;
  NumberRows first, second;
  NumberRows bias;        // a row for each expert
  OptionalBuffer index;   // the source row of each entry
  OptionalBuffer expert;  // of each entry, in row order
  OptionalBuffer factor;  // of each entry, in row order; FLOAT
  // The beginnings of each row's group of entries: `index` lists the entries, and factors are theirs.
  OptionalBuffer begin;
  int64_t rows;
  int64_t columns;
  int64_t entries_of_row;
  int64_t source_rows;
  int64_t experts;       // of bias
  bool is_column_order;  // entry j of row i is j * rows + i
  bool skips_zero;       // entries of factor 0 are not read
  int64_t least;         // the lowest index that means none, or 0
  bool may_exceed;       // indices beyond the source mean none, too
  // Experts without source rows: they contribute nothing, the token's own row, or alpha1 times that plus
  // alpha2 times a constant.
  struct Range {
    int64_t low = -1, high = -1;
    bool Contains(int64_t expert) const noexcept { return expert >= low && expert < high; }
  };
  Range zero, copy, constant;
  NumberRows token;
  NumberRows constant_row;
  OptionalBuffer alpha1, alpha2;  // FLOAT
  int64_t alphas, constant_rows;  // 1: one for the whole range
  const char* name;
  const char* expert_name;
  bool raises;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

// Row r is the source row of its entry, times the entry's factor. It is 0 without an entry, or if the entry's
// source row is -1.
struct BroadcastRows {
  NumberRows source;
  NumberRows to;
  OptionalBuffer entry;       // if missing, row r has entry r
  OptionalBuffer factor;      // of each entry, FLOAT
  OptionalBuffer source_row;  // of each entry; if missing, entry / divisor
  int64_t rows;
  int64_t columns;
  int64_t divisor;
  int64_t source_rows;
  const char* name;  // of source_row
  bool raises;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

// The dot product of two rows for each entry: the left row that its index names, and its own right row. 0 if
// the index names none.
struct DotRows {
  NumberRows left;
  NumberRows right;
  NumberRows bias;           // added to the left row
  BufferRef to;              // FLOAT
  OptionalBuffer index;      // of the left row
  OptionalBuffer right_row;  // if missing, entry / divisor
  OptionalBuffer expert;
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

// Quantises rows to INT8: static, with each step in FLOAT16, or dynamic, by the greatest magnitude of a row.
struct QuantiseRows {
  NumberRows source;
  BufferRef to;
  OptionalBuffer entry;
  bool is_dynamic;
  OptionalBuffer scale;      // FLOAT: one, or a row, or a row for each expert
  OptionalBuffer offset;     // FLOAT, one
  OptionalBuffer row_scale;  // FLOAT, written
  OptionalBuffer expert;     // of each entry, INT32 or INT64; selects the row of scale
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

// Lists the ones in a map of tokens and experts, expert by expert. Without padding every token has the same
// number of them.
struct MapEntries {
  BufferRef map;  // BOOL bytes, tokens x experts
  int64_t tokens, experts;
  int64_t capacity;  // rows of each expert, padded with tokens that have none. 0: only the rows that exist
  int64_t rows;      // rows that are listed
  int64_t of_token;  // entries of each token, without padding
  OptionalBuffer token;     // of each row
  OptionalBuffer expert;    // of each row
  OptionalBuffer rank;      // the row of each token's entries, ascending by expert; -1 if there are fewer
  OptionalBuffer ones;      // the index in the map of each token's entries, token by token; or -1
  OptionalBuffer in_order;  // the index in the map of each row
  void Run(const JobContext& context) const noexcept;
};

// Scatters to[index[i]] = from[i], or gathers to[i] = from[index[i]]. Invalid indices are skipped, or give 0.
// A scatter first clears `to`.
struct MoveNumbers {
  BufferRef from;
  BufferRef to;
  BufferRef buffer;  // index
  int64_t count;
  int64_t length;  // the length of the indexed side
  int32_t size;
  bool puts;
  void Run(const JobContext& context) const noexcept;
};

// Computes out[i] = token[i] * experts + position[i] / capacity, or -1 if that is invalid. Without positions i is
// the position.
struct PaddedPositions {
  BufferRef token;
  OptionalBuffer position;
  BufferRef buffer;
  int64_t count, tokens, experts, capacity;
  void Run(const JobContext& context) const noexcept;
};

// Counts, for each e below `experts`, the numbers that are at most e, by bisection.
struct CountUpTo {
  BufferRef sorted;  // INT32
  BufferRef to;      // INT32
  int64_t count;
  int64_t experts;
  void Run(const JobContext& context) const noexcept;
};

// Reorders rows from rank by rank, each with its experts in order, to expert by expert.
struct Reroute {
  BufferRef count;   // ranks x experts, INT64
  BufferRef begin;   // as many numbers, a work buffer
  BufferRef source;  // of each row
  BufferRef total;   // of each expert
  int64_t ranks, experts, rows;
  const char* name;
  bool raises;
  void Run(const JobContext& context) const noexcept;
};

// Chooses the copy of each expert, and the entries that are kept.
struct ChooseCopies {
  BufferRef expert;  // INT64, tokens x entries
  BufferRef table;   // INT32, experts x columns
  BufferRef to;      // INT64
  int64_t tokens, entries, experts, columns;
  int64_t rank, world;
  bool by_token;
  OptionalBuffer score, threshold;  // FLOAT
  OptionalBuffer active;            // BOOL
  OptionalBuffer kept;              // BOOL, written
  const char* name;
  bool raises;
  void Run(const JobContext& context) const noexcept;
};

// Writes element (i, j) = j * rows + i as INT32.
struct NumberColumns {
  BufferRef to;
  int64_t rows, columns;
  void Run(const JobContext& context) const noexcept;
};

// Chooses the k best experts of each row of scores.
struct GateRows {
  enum class Function : uint8_t { kNone, kSoftmax, kSigmoid, kRootOfSoftplus };
  NumberRows x;
  NumberRows bias;             // of each expert, added only for comparisons
  NumberRows y;                // the values of the chosen ones
  OptionalBuffer all;          // FLOAT, rows x experts: all values
  BufferRef chosen;            // INT32
  BufferRef value;             // FLOAT, rows x experts
  BufferRef score;             // FLOAT, rows x (experts + k)
  OptionalBuffer given;        // INT64, rows x k: experts that are chosen whatever the scores
  OptionalBuffer is_finished;  // BOOL of each row: its `chosen` become `experts`
  int64_t rows, experts, k;
  int64_t groups, kept_groups;  // 1: a single group
  bool sums_two;                // a group's score is the sum of its two greatest, else the greatest
  Function function;
  bool softmax_after;  // over the chosen
  bool ranks_half;     // compares the values as FLOAT16
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

// The gradient of chosen values that were divided by their sum, through a sigmoid.
struct GateGradient {
  BufferRef x;         // FLOAT, rows x experts: the sigmoids
  BufferRef gradient;  // FLOAT, rows x k
  BufferRef chosen;    // INT64, rows x k
  NumberRows to;
  BufferRef sums;  // FLOAT, rows x experts
  int64_t rows, experts, k;
  float factor, epsilon;
  const char* name;
  bool raises;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
