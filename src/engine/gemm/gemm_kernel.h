// The loops of matrix products that are compiled for each instruction set: products of packed panels, and
// packing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"

namespace portacl::engine {

// Indices of the inner (K) axis that a block of terms has. An element of a matrix product is the sum of its
// blocks in ascending order. Each block is one chain of fused multiply-adds that begins at +0. This number
// defines the bits; nothing else here does.
inline constexpr int64_t kGemmDepth = 256;
// Indices of the inner (K) axis that a block has if both operands have 16 bits; this number defines the bits.
// The even terms of a block are one chain of fused multiply-adds, the odd ones another; both begin at +0.
// Then sum = sum + (even + odd), starting from +0. That is the order of the processors' tile instructions.
inline constexpr int64_t kEvenOddDepth = 32;
static_assert(kGemmDepth % kEvenOddDepth == 0);
// The distance of packed rows in numbers, which makes them start in different cache sets.
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

// The most rows, columns and terms of a product whose packing would cost as much as it gains.
inline constexpr int64_t kSmallSide = 64;
// c = a * b of float32, not packed, with at most kSmallSide terms. Elements of b are contiguous along the
// columns, and those of c. Steps are in numbers.
struct SmallProduct {
  const float* a;
  int64_t a_row;
  int64_t a_term;
  const float* b;
  int64_t b_term;
  float* c;
  int64_t c_row;
  int64_t rows;
  int64_t columns;
  int64_t depth;
};

// Packs elements that are contiguous along the columns into panels. Rows lie `row` bytes apart. The last
// panel is padded with 0.
using PackColumnsFunction = void (*)(const char* from, int64_t row, int64_t depth, int64_t columns,
                                     float* to);

// Makes words of elements of 1 or 2 bytes that lie `row` bytes apart, for columns that are contiguous: element
// k of to[j] is that of row k and column j, and 0 from `terms` on. A word has four or two of them.
using PackWordsFunction = void (*)(const char* from, int64_t row, int64_t terms, int64_t columns,
                                   uint32_t* to);

// to[c][r] = from[r][c]. Rows of `from` lie `row` bytes apart, those of `to` `to_row` numbers. As many zeros
// as the widest vector has numbers may be written behind a row of `to`.
using TransposeFunction = void (*)(const char* from, int64_t row, int64_t rows, int64_t columns, float* to,
                                   int64_t to_row);

// Computes the sums of one row over a block: c[j] = the sum of a[k] * b(k, j). b is contiguous along the
// columns and is read directly.
using MultiplyRowFunction = void (*)(const float* a, const char* b, int64_t row, int64_t depth,
                                     int64_t columns, float* c);

// Computes the same for a b that is contiguous along the terms; its columns are `column` bytes apart. Each
// has `rest` bytes from b on, of which those behind the terms may be prefetched.
using MultiplyAcrossFunction = void (*)(const float* a, const char* b, int64_t column, int64_t rest,
                                        int64_t depth, int64_t columns, float* c);

// Computes sums of lines of both operands: c[j] = the sum of a(j, k) * b(j, k). Both are contiguous along
// the terms; a_line and b_line are the distances of lines in bytes.
using MultiplyLinesFunction = void (*)(const char* a, int64_t a_line, const char* b, int64_t b_line,
                                       int64_t depth, int64_t lines, float* c);

// Computes the same sums in the order of products of two 16-bit operands. AddRow, AddHeads and AddAcross take any
// number of terms and add to c if `adds`, else to +0; c starts with the first term of a block. Sums of lines
// have at most kEvenOddDepth terms and start with the block itself instead of +0.
using AddRowFunction = void (*)(const float* a, const char* b, int64_t row, int64_t depth, int64_t columns,
                                float* c, bool adds);

// Lines of a cache in rows of `bytes` bytes that lie `step` bytes apart. They are prefetched in the order of memory.
struct LinesAhead {
  const char* row;
  int64_t step;
  int64_t bytes;
  int64_t at = 0;  // of the row's bytes
};

// One row for each of several heads. `group` heads share columns of b, and the next ones' columns are adjacent to theirs.
struct HeadsProduct {
  const float* a;  // a_head numbers from one head to the next
  int64_t a_head;
  const char* b;
  int64_t row;  // bytes
  float* c;
  int64_t c_head;
  int64_t heads;
  int64_t group;
  int64_t first;  // heads before the first one that share its columns
  int64_t depth;
  int64_t columns;  // of a head
  bool adds;
  const char* next;  // rows that are read after these and lie as they do: they are prefetched; nullptr: none
};
using AddHeadsFunction = void (*)(const HeadsProduct& product);

// Some rows times columns that are contiguous along the terms and `column` bytes apart. What is prefetched are the
// columns at `next`, which are read after these and lie as they do, or, if that is nullptr, bytes that follow (see
// MultiplyAcrossFunction for `rest`).
struct AcrossProduct {
  const float* a;
  int64_t a_row;  // numbers
  const char* b;
  int64_t column;
  int64_t rest;
  float* c;
  int64_t c_row;
  int64_t rows;
  int64_t depth;
  int64_t columns;
  bool adds;
  const char* next = nullptr;
};
using AddAcrossFunction = void (*)(const AcrossProduct& product);

// A query times as many keys of BF16 as a vector has lanes, as AddAcross computes it for one row.
struct KeysProduct {
  // Each term of a block for the blocks of a lane's place: kKeyBlocks numbers, then those of the next term. So for the
  // first `blocks` blocks of terms, which repeat up to kKeyBlocks, then for the next ones.
  const float* a;
  const char* b;
  int64_t column;
  int64_t blocks;  // that are multiplied at a time: 2 or 4
  int64_t depth;   // a multiple of their terms
  float* c;
  LinesAhead ahead;  // as many lines as the keys have
  const char* next;  // keys that are read after these and lie as they do; nullptr: none
};
using MultiplyKeysFunction = void (*)(const KeysProduct& product);
inline constexpr int64_t kKeyBlocks = 4;

// Kernels for the order of products of two 16-bit operands. The operands' numbers have 16 bits, whatever they
// are in memory.
struct EvenOddKernels {
  void (*multiply)(const PackedProduct& product);
  // Indexed by the element type, as GemmElement numbers it; not for integers.
  AddRowFunction add_row[3];
  AddHeadsFunction add_heads[3];
  AddAcrossFunction add_across[3];
  MultiplyLinesFunction multiply_lines[3];
  void (*multiply_panels)(const float* a, const float* b, int64_t depth, float* c);
  MultiplyKeysFunction multiply_keys;  // nullptr: there is none
};

enum class GemmElement : uint8_t { kF32, kF16, kBf16, kI8 };
inline constexpr int kGemmElements = 4;

struct GemmKernels {
  Isa isa;
  int rows;     // that are multiplied at a time
  int columns;  // of a panel
  void (*multiply)(const PackedProduct& product);
  void (*multiply_small)(const SmallProduct& product);  // nullptr: there is none
  PackColumnsFunction pack_columns[kGemmElements];
  TransposeFunction transpose[kGemmElements];
  PackWordsFunction pack_words[2];  // indexed by an element's size minus 1
  MultiplyRowFunction multiply_row[kGemmElements];
  MultiplyAcrossFunction multiply_across[kGemmElements];
  MultiplyLinesFunction multiply_lines[kGemmElements];
  // Sums the columns of two packed panels: c[j] = the sum of a[k][j] * b[k][j].
  void (*multiply_panels)(const float* a, const float* b, int64_t depth, float* c);
  // Multiplies integers whose packed rows and panels are pairs of 16-bit terms, and makes such pairs in
  // place. nullptr if that does not pay.
  void (*multiply_pairs)(const PackedProduct& product);
  void (*pair_rows)(float* rows, int64_t count, int64_t depth);
  void (*pair_panels)(float* panels, int64_t count, int64_t depth);
  EvenOddKernels even_odd;
};

// Returns the kernels, which last as long as the process.
const GemmKernels& FindGemmKernels(Isa isa) noexcept;

}  // namespace portacl::engine
