// The loops of matrix products that are compiled for each instruction set: products of packed panels, and packing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/isa.h"

namespace portacl::engine {

// Terms of a block. An element of a product is the sum of its blocks, each one chain of fused multiply-adds that begins at +0, in
// ascending order: bits depend on this number and on nothing else here.
inline constexpr int64_t kGemmDepth = 256;
// Of products of two operands of 16 bits bits depend on this number instead: the terms of a block at even places are one chain of fused
// multiply-adds, those at odd places another one, both begin at +0, and sum = sum + (even + odd), from +0. That is the order of the
// processors' tile instructions.
inline constexpr int64_t kEvenOddDepth = 32;
static_assert(kGemmDepth % kEvenOddDepth == 0);
// Packed rows lie so many numbers apart: one cache set after the other.
inline constexpr int64_t kPackedRow = kGemmDepth + 16;
// The widest panel that any instruction set has (SVE's vectors are of up to 2048 bits).
inline constexpr int64_t kMostPanelColumns = 128;

// c = a * b, or c += a * b, over at most kGemmDepth terms.
struct PackedProduct {
  const float* a;  // rows x depth, kPackedRow apart
  const float* b;  // a panel of columns behind the other: depth x width
  float* c;
  int64_t c_row;  // numbers from one row of c to the next
  int64_t rows;
  int64_t columns;
  int64_t depth;
  bool adds;
  bool is_integer =
      false;  // c is int32, modulo 2^32: sums of one block of products of int8 are exact in float32
};

// Elements of `from` that lie side by side along the columns, and rows of them `row` bytes apart, to panels; the last panel is
// filled up with 0.
using PackColumnsFunction = void (*)(const char* from, int64_t row, int64_t depth, int64_t columns,
                                     float* to);

// to[c][r] = from[r][c], whose rows of elements lie `row` bytes apart and those of `to` `to_row` numbers. As many numbers as the widest
// vector has may be written behind the last one of a row of `to`, as 0.
using TransposeFunction = void (*)(const char* from, int64_t row, int64_t rows, int64_t columns, float* to,
                                   int64_t to_row);

// Sums of one row over a block, c[j] = the sum of a[k] * b(k, j), where b lies side by side along the columns and is read as it is.
using MultiplyRowFunction = void (*)(const float* a, const char* b, int64_t row, int64_t depth,
                                     int64_t columns, float* c);

// The same where b lies side by side along the terms, and columns are `column` bytes apart.
using MultiplyAcrossFunction = void (*)(const float* a, const char* b, int64_t column, int64_t depth,
                                        int64_t columns, float* c);

// Sums of lines of both operands, c[j] = the sum of a(j, k) * b(j, k), where both lie side by side along the terms, lines so many bytes
// apart.
using MultiplyLinesFunction = void (*)(const char* a, int64_t a_line, const char* b, int64_t b_line,
                                       int64_t depth, int64_t lines, float* c);

// The same sums in the order of products of 16 bits. Over more than a block of terms they are added to what c holds where `adds`, else to
// +0: c begins at the first term of a block. Sums of lines are of one block, at most kEvenOddDepth terms, and are not added to +0.
using AddRowFunction = void (*)(const float* a, const char* b, int64_t row, int64_t depth, int64_t columns,
                                float* c, bool adds);
using AddAcrossFunction = void (*)(const float* a, const char* b, int64_t column, int64_t depth,
                                   int64_t columns, float* c, bool adds);

// Elements of 16 bits in the order of products of such: whatever an operand is in memory, its numbers have 16 bits.
struct EvenOddKernels {
  void (*multiply)(const PackedProduct& product);
  // Of an element, as GemmElement numbers them, and none of integers.
  AddRowFunction add_row[3];
  AddAcrossFunction add_across[3];
  MultiplyLinesFunction multiply_lines[3];
  void (*multiply_panels)(const float* a, const float* b, int64_t depth, float* c);
};

enum class GemmElement : uint8_t { kF32, kF16, kBf16, kI8 };
inline constexpr int kGemmElements = 4;

struct GemmKernels {
  Isa isa;
  int rows;     // that are multiplied at a time
  int columns;  // of a panel
  void (*multiply)(const PackedProduct& product);
  PackColumnsFunction pack_columns[kGemmElements];
  TransposeFunction transpose[kGemmElements];
  MultiplyRowFunction multiply_row[kGemmElements];
  MultiplyAcrossFunction multiply_across[kGemmElements];
  MultiplyLinesFunction multiply_lines[kGemmElements];
  // Sums of the columns of two packed panels: c[j] = the sum of a[k][j] * b[k][j].
  void (*multiply_panels)(const float* a, const float* b, int64_t depth, float* c);
  // A product of integers whose packed rows and panels are pairs of terms, of 16 bits each, and what makes pairs of them in place; nullptr
  // where that is no gain.
  void (*multiply_pairs)(const PackedProduct& product);
  void (*pair_rows)(float* rows, int64_t count, int64_t depth);
  void (*pair_panels)(float* panels, int64_t count, int64_t depth);
  EvenOddKernels even_odd;
};

// They last as long as the process.
const GemmKernels& FindGemmKernels(Isa isa) noexcept;

}  // namespace portacl::engine
