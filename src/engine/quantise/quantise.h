// Rows that are worked out in float32, tile by tile, and leave as codes of few bits: a source of rows, then one quantiser or two. Each is a
// step of a job (StepList::Compute), trivially copyable; its operands are dense.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "acl/isa.h"
#include "engine/codes.h"
#include "engine/place.h"

namespace portacl::engine {

// Numbers of any dtype that becomes float32, where they are read.
struct Numbers {
  Place place{Place::kWorkspace, 0};
  aclDataType dtype = ACL_FLOAT;
  bool is_there = false;
};

// Numbers that rows, columns or groups of rows have, or one for all.
struct Factors {
  Numbers numbers;
  bool by_column = false;
  bool by_group = false;  // the row's group says which of `rows`, else its number modulo that
  int64_t rows = 1;
};

// y = round(x * scale + offset), of a scale that is given, or of the greatest numbers of each row.
struct Quantiser {
  enum class Kind : uint8_t {
    kNone,        // nothing is written
    kMultiply,    // x * scale + offset
    kDivide,      // x / scale + offset
    kReciprocal,  // x * (1 / scale) + offset
    kGreatest,    // t = x * scale; by the greatest size of a row's t
    kRange        // the same by its least and its greatest number
  };
  // The step between codes, of the greatest size g and the most that a code may be, m.
  enum class Step : uint8_t {
    kReciprocal,  // r = m / g, the step 1 / r; t * r
    kProduct,     // g * (1 / m); t divided by that
    kQuotient,    // g / m; t divided by that
    kInverse      // m / g is what is written; t * that
  };
  Kind kind = Kind::kNone;
  Step step = Step::kReciprocal;
  Rounding rounding = Rounding::kNearestEven;
  aclDataType dtype = ACL_INT8;   // of the codes
  bool squares_scale = false;     // x * (scale * scale)
  bool multiplies_twice = false;  // x * scale * scale
  bool passes_zero = false;       // a scale of 0 is 1
  bool half_before = false;       // rounded to FLOAT16 before it is a code
  float most = 127;               // kRange: the greatest number's code
  float span = 255;               // kRange: codes from the least to the greatest number
  float least_step = 0;           // kRange
  Place codes;
  Factors scale;
  Factors offset;
  Numbers row_step;    // FLOAT, written
  Numbers row_offset;  // FLOAT, written
  Numbers
      tensor_step;  // FLOAT: of kGreatest and kRange, the least and the greatest number of all rows instead of each
};

// The groups of rows, in their order. Rows behind the last one are passed over.
struct RowGroups {
  Numbers ends;  // INT64: where each ends; without them there is one group
  int64_t count = 0;
  bool are_counts = false;  // how many rows each has
  bool are_pairs = false;   // which group, and how many rows it has
};

struct QuantisedRows {
  int64_t rows = 0;
  int64_t columns = 0;
  RowGroups groups;
  Isa isa = Isa::kPortable;
  int threads = 1;
};

// Rows as they are.
struct QuantisePlain : QuantisedRows {
  Quantiser quantiser[1];
  Numbers x;
  void Run(const JobContext& context) const noexcept;
};

// Rows of a sum, divided by the root of the mean of their squares.
struct QuantiseNormed : QuantisedRows {
  Quantiser quantiser[2];
  Numbers x1, x2;  // x2 may be left out
  Numbers gamma, beta;
  Numbers sum;                // written: x1 + x2
  Numbers normed;             // written: without beta
  Numbers rstd;               // written
  bool rounds_sum = false;    // the norm is that of the rounded sum
  bool rounds_steps = false;  // the sum divided, and that times gamma, are rounded to x1's dtype
  double eps = 0;
  void Run(const JobContext& context) const noexcept;
};

// Rows of 2 * columns: an activation of one half, or of every second column, times the other.
struct QuantiseGated : QuantisedRows {
  Quantiser quantiser[1];
  enum class Form : uint8_t { kSilu, kClampedPairs, kClampedHalves, kClampedSilu };
  Numbers x;
  Factors weight_scale;      // of 2 * columns
  Factors activation_scale;  // of rows
  Factors first_bias;        // added before the scales
  Factors bias;              // added behind them
  Form form = Form::kSilu;
  bool activates_left = false;
  float limit = 0, alpha = 1, shift = 0;
  void Run(const JobContext& context) const noexcept;
};

// x of codes: (x + offset) * scale, or with the scale twice; or (x + first_bias) * weight_scale * activation_scale + bias.
struct Dequantise {
  Numbers x;
  Numbers to;
  int64_t rows = 0, columns = 0;
  Factors first, scale, second_scale, last;
  bool multiplies_twice = false;
  bool squares_scale = false;
  Isa isa = Isa::kPortable;
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

// The least and the greatest number of all rows times their factors: two FLOAT, and a pair for each block of rows.
struct TensorExtremes {
  Numbers x;
  Factors factor;
  RowGroups groups;
  Place pairs;
  Place to;
  int64_t rows, columns;
  Isa isa = Isa::kPortable;
  int threads = 1;
  static int64_t Blocks(int64_t rows, int64_t columns) noexcept;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
