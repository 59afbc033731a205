// Matrix products in groups. Each group has rows, or a part of the inner (K) axis, of one left operand and a
// right operand of its own. A list that is read when the job runs says how many. One loop covers the tiles of
// all groups, so that no thread waits for a group's end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "base/isa.h"
#include "engine/buffer_ref.h"

namespace portacl::engine {

// Numbers anywhere in memory. Steps are in bytes, for 4-bit weights in elements.
struct GroupedOperand {
  bool is_there;
  BufferRef buffer;
  aclDataType dtype;
  int64_t row;
  int64_t column;
  int64_t step;  // from a group's to the next one's
};

// The common part of all groups' products: out = left @ right + added. Groups cut rows, or the inner (K)
// axis, or nothing.
struct GroupedPart {
  enum class Kind : uint8_t {
    kFloats,
    kIntegers,  // INT8: exact sums, then ((sum + added) * scale) * factor + added; see IntegerResult
    kWeights    // right has 8-bit integers or floats, or 4 bits: (w + offset) * scale, see QuantisedWeights
  };
  Kind kind;
  bool is_int4;          // weights are two of a byte, the lower half first
  bool rounds_weights;   // to the dtype of scales
  int64_t first_weight;  // of weights: the number of elements before them
  int64_t rows, columns, depth;
  GroupedOperand left, right, out, added;
  GroupedOperand scale;   // of weights: a row for each group of terms
  GroupedOperand factor;  // of integers
  GroupedOperand offset;  // of weights
  int64_t group_terms;    // weights that share one scale
};

// Trivially copyable.
struct GroupedProducts {
  enum class Cut : uint8_t { kNone, kRows, kTerms };
  enum class List : uint8_t { kEnds, kSizes, kPairs };

  Cut cut;
  List list_kind;
  bool raises;          // the stream fails if the list exceeds what there is or names a missing group
  const char* name;     // of the list
  GroupedOperand list;  // INT64: an element for each group, with kPairs a row of group and size
  int64_t groups;       // right operands; uncut, products
  int64_t entries;      // of the list
  // The position of the parts: one for all groups, or one for each.
  BufferRef parts;
  bool has_part_each;
  GroupedPart part;  // the only one, unless `parts` is set
  BufferRef
      schedule;  // ScheduleWords() words of the workspace; the first counts the rows or terms of all groups
  Isa isa;
  int threads;

  // The most groups in a schedule: a list that cuts may name a few of very many groups.
  int64_t MostScheduled() const noexcept { return cut == Cut::kNone ? groups : entries; }
  int64_t ScheduleWords() const noexcept { return 2 + 4 * MostScheduled(); }
  int64_t Elements() const noexcept;
  void Run(const JobContext& context) const noexcept;
};

// Returns the group of a row that is covered. `schedule` is the memory of products whose rows are cut, and `scheduled`
// their MostScheduled().
int64_t GroupOfRow(const char* schedule, int64_t scheduled, int64_t row) noexcept;

// Turns float32 sums of a grouped matrix product into results, row by row. Rows that belong to no group stay
// as they are.
struct GroupedRows {
  enum class Function : uint8_t { kNone, kRelu, kGelu, kGeluTanh, kFastGelu, kSilu, kSwigluQuant };
  Function function;
  BufferRef sums;     // rows x columns
  BufferRef covered;  // a word that counts the rows
  int64_t rows, columns;
  GroupedOperand factor;     // FLOAT, by which rows are multiplied first
  GroupedOperand out;        // of kSwigluQuant INT8, half as many columns
  GroupedOperand row_scale;  // of kSwigluQuant: FLOAT, the step of each row
  GroupedOperand
      smooth;  // of kSwigluQuant: FLOAT, `step` from a group's to the next one's; multiplies gated rows
  int64_t scheduled;  // with `smooth`: MostScheduled() of the products, whose schedule `covered` then is
  Isa isa;
  int threads;
  void (*apply)(Function function, float* values, int64_t n);
  void Run(const JobContext& context) const noexcept;
};
void SetFunction(GroupedRows& rows, Isa isa) noexcept;

// Converts rows of a left operand for a matrix product.
struct GroupedInput {
  enum class Kind : uint8_t {
    kUnpackNibbles,  // 4-bit elements to INT8
    kLess8,          // INT8 minus 8, as BF16; with `adds_up` also the sum of each row, before 8 is subtracted
    kQuantise        // FLOAT16 to INT8, by steps of rows: given, or a row's greatest magnitude / 127
  };
  Kind kind;
  GroupedOperand from;  // with kUnpackNibbles, steps are in elements
  int64_t first;        // with kUnpackNibbles: the number of elements before them
  BufferRef to;         // dense
  int64_t rows, columns;
  GroupedOperand smooth;  // FLOAT16 of columns
  GroupedOperand step;    // FLOAT or FLOAT16 of rows; if missing, computed from the row
  BufferRef made;         // FLOAT of rows: the computed steps or sums
  bool adds_up;
  Isa isa;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// Adds to sums of rows that are cut into groups a number of the row, times a number of its group and column.
struct GroupedOffsets {
  BufferRef sums;         // FLOAT, rows x columns
  BufferRef of_rows;      // FLOAT
  GroupedOperand offset;  // FLOAT: columns, `step` from a group's to the next one's
  BufferRef schedule;     // of the products
  int64_t scheduled;      // MostScheduled() of these
  int64_t rows, columns;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// Adds rows of sums at the positions that an index gives, in their order: to[index] += sum * factor * logit.
// `to` starts as 0, or as shared rows times a weight.
struct GroupedCombine {
  BufferRef sums;     // FLOAT, rows x columns
  BufferRef covered;  // a word that counts the rows
  BufferRef words;    // to_rows + rows numbers of the workspace
  int64_t rows, columns, to_rows;
  GroupedOperand to;      // FLOAT
  GroupedOperand index;   // INT32 or INT64
  GroupedOperand factor;  // FLOAT of rows
  GroupedOperand logit;   // FLOAT of rows; if missing, the last of rows with one index counts
  GroupedOperand shared;
  float weight;
  int64_t first, shared_rows;  // the shared rows' position
  const char* name;            // of the index
  bool raises;
  Isa isa;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
