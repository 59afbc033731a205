// Rows that are computed in float32, tile by tile, and stored as codes of few bits: a source of rows, then
// one quantiser or two. Each is a listed op (OpList::Compute) and trivially copyable; its operands are dense.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "base/isa.h"
#include "engine/buffer_ref.h"
#include "engine/codes.h"

namespace portacl::engine {

// An operand in memory, of any dtype that converts to float32.
struct Numbers {
  BufferRef buffer{BufferRef::kWorkspace, 0};
  aclDataType dtype = ACL_FLOAT;
  bool is_there = false;
};

// Factors for rows, columns or groups of rows, or one for all.
struct Factors {
  Numbers numbers;
  bool by_column = false;
  bool by_group = false;  // the row's group selects one of `rows`; else the row's number modulo that
  int64_t rows = 1;
};

// y = round(x * scale + offset). The scale is given, or computed from the extremes of each row.
struct Quantiser {
  enum class Kind : uint8_t {
    kNone,        // nothing is written
    kMultiply,    // x * scale + offset
    kDivide,      // x / scale + offset
    kReciprocal,  // x * (1 / scale) + offset
    kGreatest,    // t = x * scale; the step comes from the greatest magnitude of a row's t
    kRange        // likewise, from the least and the greatest number
  };
  // The step between codes, from the greatest magnitude g and the greatest code m.
  enum class Step : uint8_t {
    kReciprocal,  // r = m / g, the step 1 / r; t * r
    kProduct,     // g * (1 / m); t divided by that
    kQuotient,    // g / m; t divided by that
    kInverse,     // writes m / g as the step; t * that
    kBoth         // g / m as the step; t * (m / g)
  };
  Kind kind = Kind::kNone;
  Step step = Step::kReciprocal;
  Rounding rounding = Rounding::kNearestEven;
  aclDataType dtype = ACL_INT8;   // of the codes
  bool squares_scale = false;     // x * (scale * scale)
  bool multiplies_twice = false;  // x * scale * scale
  bool passes_zero = false;       // a scale of 0 is 1
  bool half_before = false;       // rounded to FLOAT16 before it becomes a code
  float most = 127;               // kRange: the greatest number's code
  float span = 255;               // codes between the least and the greatest number
  float least_step = 0;           // kRange
  BufferRef codes;
  Factors scale;
  Factors offset;
  Numbers row_step;     // FLOAT, written
  Numbers row_offset;   // FLOAT, written
  Numbers tensor_step;  // FLOAT: with kGreatest and kRange, the extremes of all rows instead of each row's
};

// The groups of rows, in order. Rows behind the last one are skipped.
struct RowGroups {
  Numbers ends;  // INT64: the end of each; without them there is one group
  int64_t count = 0;
  bool are_counts = false;  // `ends` are counts of rows
  bool are_pairs = false;   // `ends` are pairs of a group and its count of rows
};

struct QuantisedRows {
  int64_t rows = 0;
  int64_t columns = 0;
  RowGroups groups;
  Isa isa = Isa::kPortable;
  int threads = 1;
};

// Quantises rows as they are.
struct QuantisePlain : QuantisedRows {
  Quantiser quantiser[1];
  Numbers x;
  void Run(const JobContext& context) const noexcept;
};

// Quantises rows of a sum, divided by the root mean square.
struct QuantiseNormed : QuantisedRows {
  Quantiser quantiser[2];
  Numbers x1, x2;  // x2 is optional
  Numbers gamma, beta;
  Numbers sum;     // written: x1 + x2
  Numbers normed;  // written: without beta, unless `normed_has_beta`
  Numbers rstd;    // written
  bool normed_has_beta = false;
  bool rounds_sum = false;    // normalises the rounded sum
  bool rounds_steps = false;  // rounds the quotient, and its product with gamma, to x1's dtype
  double eps = 0;
  void Run(const JobContext& context) const noexcept;
};

// Gated rows: an activation of one half of 2 * columns numbers (or of every second number), times the other half.
struct GatedRows : QuantisedRows {
  enum class Form : uint8_t { kSilu, kClampedPairs, kClampedHalves, kClampedSilu };
  Numbers x;
  Factors weight_scale;      // of 2 * columns
  Factors activation_scale;  // of rows
  Factors first_bias;        // added before the scales
  Factors bias;              // added behind them
  Factors weight;            // of rows: multiplies the result
  Form form = Form::kSilu;
  bool activates_left = false;
  float limit = 0, alpha = 1, shift = 0;
};
struct QuantiseGated : GatedRows {
  Quantiser quantiser[1];
  void Run(const JobContext& context) const noexcept;
};
// Writes gated rows as numbers.
struct SwigluRows : GatedRows {
  Numbers to;
  void Run(const JobContext& context) const noexcept;
};

// The gradients of silu(a) * b, where a and b are the halves of a row. With s the logistic function of a, and
// g = gradient * weight, they are g * b * s * (1 + a * (1 - s)) and g * (a * s). If numbers are limited, they are 0
// where a or b is beyond the limit.
struct SwigluGradient : QuantisedRows {
  Numbers x;
  Numbers gradient;  // of columns
  Numbers weight;    // optional: of rows
  Numbers origin;    // optional, of columns: the products with `gradient` are summed up to weight_gradient
  Numbers to;        // written: 2 * columns
  Numbers weight_gradient;
  bool activates_left = true;
  bool is_limited = false;
  float limit = 0;
  void Run(const JobContext& context) const noexcept;
};

// Quantises GELU of rows.
struct QuantiseGelu : QuantisedRows {
  Quantiser quantiser[1];
  Numbers x;
  bool is_by_tanh = false;
  void Run(const JobContext& context) const noexcept;
};

// Quantises rows of a sum less their mean, divided by the deviation.
struct QuantiseCentred : QuantisedRows {
  Quantiser quantiser[2];
  Numbers x1, x2;
  Numbers bias;  // optional: of columns, or of rows and columns
  bool has_bias_each = false;
  Numbers gamma, beta;
  Numbers sum;  // written, if it is there
  double eps = 0;
  void Run(const JobContext& context) const noexcept;
};

// The gradients of rows that were divided by their root mean square: with h = x * rstd, to = (gradient * gamma - h *
// mean(gradient * gamma * h)) * rstd, and of gamma the sums over rows of gradient * h, in float64.
struct RmsGradient : QuantisedRows {
  Numbers gradient, x, rstd, gamma;
  Numbers to;
  Numbers gamma_gradient;
  void Run(const JobContext& context) const noexcept;
};

// Quantises rows of which each `width` columns are a vector, times a square matrix: element j is the sum of x[i] *
// rotation[i, j], in float32 by ascending i.
struct QuantiseRotated : QuantisedRows {
  Quantiser quantiser[1];
  Numbers x;
  Numbers to;     // optional, FLOAT: written instead of codes
  Numbers limit;  // with `to`, one number: if it is between 0 and 1, blocks of kLimited are cut at it times
                  // their greatest magnitude
  BufferRef rotation;     // FLOAT
  bool has_many = false;  // a matrix for each vector of a row
  int64_t width = 1;      // at most kMostWidth
  static constexpr int64_t kMostWidth = 1024;
  static constexpr int64_t kLimited = 32;
  void Run(const JobContext& context) const noexcept;
};

// Quantises matrices of height * width, each a row: left @ (x @ right), with sums in float32 by ascending index, and
// each of the two products rounded to x's dtype.
struct QuantiseKronecker : QuantisedRows {
  Quantiser quantiser[1];
  Numbers x;
  Numbers to;             // optional, FLOAT: written instead of codes
  BufferRef left, right;  // FLOAT
  bool has_right = true;
  BufferRef memory;  // FLOAT: two matrices for each of Parts()
  int64_t height = 1, width = 1;
  static constexpr int64_t kMostWidth = 256;
  int64_t Parts() const noexcept;
  void Run(const JobContext& context) const noexcept;
};

// Turns codes into numbers: (x + offset) * scale, possibly with the scale twice; or (x + first_bias) *
// weight_scale * activation_scale + bias.
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

// Finds the least and the greatest of all rows' numbers times their factors: two FLOAT, and a pair for each
// block of rows.
struct TensorExtremes {
  Numbers x;
  Factors factor;
  RowGroups groups;
  BufferRef pairs;
  BufferRef to;
  int64_t rows, columns;
  Isa isa = Isa::kPortable;
  int threads = 1;
  static int64_t Blocks(int64_t rows, int64_t columns) noexcept;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
