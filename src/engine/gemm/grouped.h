// Products of matrices in groups: each group has rows, or terms, of one left operand and a right operand of its own. A list that is read when
// the job runs says how many. The tiles of all groups are one loop, so no thread waits for a group's end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "acl/isa.h"
#include "engine/place.h"

namespace portacl::engine {

// Numbers wherever they lie. Steps are in bytes, of weights of 4 bits in elements.
struct GroupedOperand {
  bool is_there;
  Place place;
  aclDataType dtype;
  int64_t row;
  int64_t column;
  int64_t step;  // from a group's to the next one's
};

// A product as all of its groups have it: out = left @ right + added, where groups cut rows, or terms, or nothing.
struct GroupedPart {
  enum class Kind : uint8_t {
    kFloats,
    kIntegers,  // INT8: exact sums, then ((sum + added) * scale) * factor + added; see IntegerResult
    kWeights    // right is made of INT8 or of 4 bits: (w + offset) * scale, see QuantisedWeights
  };
  Kind kind;
  bool is_int4;          // weights are two of a byte, the lower half first
  bool rounds_weights;   // to the dtype of scales
  int64_t first_weight;  // of weights: how many elements come before
  int64_t rows, columns, depth;
  GroupedOperand left, right, out, added;
  GroupedOperand scale;   // of weights: a row for each group of terms
  GroupedOperand factor;  // of integers
  GroupedOperand offset;  // of weights
  int64_t group_terms;    // weights that have one scale
};

// Trivially copyable.
struct GroupedProducts {
  enum class Cut : uint8_t { kNone, kRows, kTerms };
  enum class List : uint8_t { kEnds, kSizes, kPairs };

  Cut cut;
  List list_kind;
  bool raises;  // a list that reaches beyond what there is, or names a group that is none, fails the stream
  const char* name;     // of the list
  GroupedOperand list;  // INT64: an element for each group, of kPairs a row of group and size
  int64_t groups;       // of right operands; uncut, products
  int64_t entries;      // of the list
  // Where the parts lie: one for all groups, or one for each.
  Place parts;
  bool has_part_each;
  GroupedPart part;  // the one, where `parts` is not there
  Place schedule;  // ScheduleWords() words of the workspace: the first is how many rows or terms groups have
  Isa isa;
  int threads;

  // What is scheduled at most: a list that cuts may name few of very many groups.
  int64_t MostScheduled() const noexcept { return cut == Cut::kNone ? groups : entries; }
  int64_t ScheduleWords() const noexcept { return 2 + 4 * MostScheduled(); }
  int64_t Elements() const noexcept;
  void Run(const JobContext& context) const noexcept;
};

// What is left to do with float32 sums of a grouped product, row by row; rows that no group has stay as they are.
struct GroupedRows {
  enum class Function : uint8_t { kNone, kRelu, kGeluTanh, kFastGelu, kSilu, kSwigluQuant };
  Function function;
  Place sums;     // rows x columns
  Place covered;  // how many rows there are: a word
  int64_t rows, columns;
  GroupedOperand factor;     // FLOAT, by which rows are multiplied first
  GroupedOperand out;        // of kSwigluQuant INT8, half as many columns
  GroupedOperand row_scale;  // of kSwigluQuant: FLOAT, the step of each row
  Isa isa;
  int threads;
  void (*apply)(Function function, float* values, int64_t n);
  void Run(const JobContext& context) const noexcept;
};
void SetFunction(GroupedRows& rows, Isa isa) noexcept;

// Rows of a left operand as a product takes them.
struct GroupedInput {
  enum class Kind : uint8_t {
    kSpread,   // halves of bytes as INT8
    kLess8,    // INT8 less 8, as BF16
    kQuantise  // FLOAT16 as INT8, by steps of rows: given, or the greatest size of a row by 127
  };
  Kind kind;
  GroupedOperand from;  // of kSpread steps are in elements
  int64_t first;        // of kSpread: how many elements come before
  Place to;             // dense
  int64_t rows, columns;
  GroupedOperand smooth;  // FLOAT16 of columns
  GroupedOperand step;    // FLOAT or FLOAT16 of rows; not there: made of the row
  Place made;             // FLOAT of rows: the steps
  Isa isa;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// Rows of sums to where an index says, in their order: to[index] += sum * factor * logit. What is there before is 0, or shared rows times a
// weight.
struct GroupedCombine {
  Place sums;     // FLOAT, rows x columns
  Place covered;  // how many rows there are: a word
  Place words;    // to_rows + rows numbers of the workspace
  int64_t rows, columns, to_rows;
  GroupedOperand to;      // FLOAT
  GroupedOperand index;   // INT32 or INT64
  GroupedOperand factor;  // FLOAT of rows
  GroupedOperand logit;   // FLOAT of rows; not there: of rows with one index the last counts
  GroupedOperand shared;
  float weight;
  int64_t first, shared_rows;  // where they lie
  const char* name;            // of the index
  bool raises;
  Isa isa;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
