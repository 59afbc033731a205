// Blocks of numbers that share a scale: a power of two along one dim (MX), or a float32 number for a rectangle.
// Each is a listed op (OpList::Compute), trivially copyable; its operands are dense.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/quantise/quantise.h"

namespace portacl::engine {

// How a block's greatest magnitude becomes a power of two.
struct PowerRule {
  enum class Kind : uint8_t {
    kFloor,     // floor(log2(greatest)) - greatest_exponent
    kQuotient,  // the power of two not below greatest / most
    kBfloat16  // the exponent of greatest as bf16 - greatest_exponent, one more where the fraction is above `fraction`
  };
  Kind kind = Kind::kFloor;
  int greatest_exponent = 0;  // of the codes
  float most = 1;
  float inverse = 0;              // kQuotient: not 0: the quotient is greatest * inverse
  float least_greatest = 0;       // kQuotient: the greatest magnitude counts as this at least
  bool rounds_subnormals = true;  // kQuotient: quotients below the normal numbers are rounded up above half
  bool cuts_to_bfloat16 = false;  // the greatest magnitude is cut to BF16 first
  int least_exponent = -127;
  uint32_t fraction = 0x40;  // of 7 bits
};
// Returns the code of FLOAT8_E8M0; infinity and NaN have 0xFF. `bits` are those of a float32 magnitude.
uint8_t PowerCode(const PowerRule& rule, uint32_t bits) noexcept;

// Quantises blocks along the second of three dims. Scales lie in pairs of consecutive blocks: [outer, pairs, inner,
// 2]; the second of a pair that has one block alone is 0. A block with infinity or NaN has codes 0.
struct QuantiseMx {
  Numbers x;
  BufferRef codes;
  aclDataType dtype = ACL_FLOAT8_E4M3FN;
  BufferRef scales;
  int64_t outer = 1, length = 0, inner = 1;
  int64_t block = 32;
  PowerRule rule;
  Rounding rounding = Rounding::kNearestEven;
  // Ends of groups of rows, with outer == 1: blocks begin anew in each. Group g's pairs begin at
  // floor(first row / (2 * block)) + g.
  RowGroups groups;
  RowGroups covered;  // with inner == 1: rows that no group has are not quantised
  Isa isa = Isa::kPortable;
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

// Quantises squares of block * block numbers of matrices. Both tensors of scales have a square's power for each of
// its rows, or of its columns, in the layouts of QuantiseMx.
struct QuantiseMxSquares {
  Numbers x;
  BufferRef codes;
  aclDataType dtype = ACL_FLOAT8_E4M3FN;
  BufferRef row_scales;     // [batches, rows, pairs of squares, 2]
  BufferRef column_scales;  // [batches, pairs of squares, columns, 2]
  int64_t batches = 1, rows = 0, columns = 0;
  int64_t block = 32;
  PowerRule rule;
  Rounding rounding = Rounding::kNearestEven;
  Isa isa = Isa::kPortable;
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

// Turns MX codes into numbers. The scale 0xFF gives NaN.
struct DequantiseMx {
  Numbers codes;
  BufferRef scales;
  Numbers to;
  int64_t outer = 1, length = 0, inner = 1;
  int64_t block = 32;
  Isa isa = Isa::kPortable;
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

// Divides blocks of rows by a scale, their greatest magnitude / most, in float32, and rounds the quotients to a dtype.
// Numbers of a block of zeros stay 0.
struct DivideBlocks {
  Numbers x;
  Numbers smooth;    // optional: a factor for each column
  BufferRef scales;  // FLOAT [rows, blocks]
  Numbers to;
  int64_t rows = 0, columns = 0;
  int64_t block = 512;
  float most = 6;
  Isa isa = Isa::kPortable;
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

// Quantises blocks of rows by their greatest finite magnitude g, which counts as `least` at least: the scale is g *
// (1 / most), in float32. Numbers are multiplied by most / g; with `rounds_up` the scale becomes the power of two not
// below it, and numbers are multiplied by its reciprocal. If a product is not finite, the number itself is encoded.
struct QuantiseRowBlocks {
  Numbers x;
  BufferRef codes;
  aclDataType dtype = ACL_FLOAT8_E4M3FN;
  BufferRef scales;  // FLOAT [rows, blocks]
  int64_t rows = 0, columns = 0;
  int64_t block = 128;
  float most = 448;
  float least = 0;
  bool rounds_up = false;
  RowGroups covered;  // rows that no group has are not quantised
  Isa isa = Isa::kPortable;
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

// Finds the greatest magnitude of each group of rows, divided by `most`.
struct GroupScales {
  Numbers x;
  BufferRef scales;  // FLOAT, one for each group
  RowGroups groups;
  int64_t rows = 0, columns = 0;
  float most = 1;
  Isa isa = Isa::kPortable;
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

// Quantises rectangles of matrices by x / scale, where the scale is the greatest finite magnitude, which counts as
// `least` at least, divided by `most`, at most `greatest_scale`. With `rounds_up` it becomes the power of two not below
// it, 2^-126 at least unless it is 0.
struct QuantiseRectangles {
  Numbers x;
  BufferRef codes;
  aclDataType dtype = ACL_INT8;
  BufferRef scales;  // FLOAT: [batches, row blocks, column blocks], with groups those of scale_rows rows
  int64_t more_scales = 0;  // in a row of scales, behind those of the blocks; they become 0
  int64_t batches = 1, rows = 0, columns = 0;
  int64_t row_block = 1, column_block = 128;
  float most = 127;
  float least = 0;
  float greatest_scale = -1;  // negative: no limit
  bool rounds_up = false;
  RowGroups groups;  // with batches == 1; group g's scales begin at floor(first row / row_block) + g
  Isa isa = Isa::kPortable;
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

// Quantises rows times the scale of their group, and finds the greatest magnitude of each group, in x's dtype.
struct QuantiseGroups {
  Numbers x;
  BufferRef codes;
  aclDataType dtype = ACL_FLOAT8_E4M3FN;
  Numbers scale;  // one for each group
  Numbers greatest;
  RowGroups groups;
  int64_t rows = 0, columns = 0;
  Isa isa = Isa::kPortable;
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

// Replaces each number by the nearest one that has a code (fake quantisation): (clamp(q) - zero) * scale with
// q = nearest(x / scale) + zero. Also writes whether q was within the limits.
struct FakeQuantise {
  Numbers x;
  Numbers to;
  BufferRef mask;
  Factors scale;
  Factors zero;
  float least = 0, greatest = 0;
  bool is_enabled = true;  // else copies, and all are within
  int64_t rows = 0, columns = 0;
  Isa isa = Isa::kPortable;
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
