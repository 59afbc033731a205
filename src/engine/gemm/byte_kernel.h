// Products of INT8 by instructions that multiply words of four terms. Their sums are exact modulo 2^32, in any
// order. One table says which instructions are used (byte_kernel.cc); without any of them products take pairs
// of 16 bits or float32 (gemm_kernel.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "base/term_pairs.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/gemm/tile_kernel.h"

namespace portacl::engine {

inline constexpr int64_t kTermsOfWord = 4;
// Terms that are packed at a time. They take the words of kGemmDepth numbers.
inline constexpr int64_t kByteDepth = kGemmDepth * kTermsOfWord;
// The word of a packed row, behind its terms, with which its sums begin: 0, or with unsigned panels -128 times
// the sum of its terms.
inline constexpr int64_t kFirstSum = kGemmDepth;
static_assert(kFirstSum < kPackedRow);
// Inverts the highest bits of a word's terms. Unsigned panels hold these: the terms plus 128.
inline constexpr uint32_t kHighBits = 0x80808080;

// Computes the sums of one packed row and of lines that are contiguous along the terms, `line` bytes apart:
// c[j] = the sum, or c[j] += the sum.
using MultiplyByteLinesFunction = void (*)(const uint32_t* a, const char* b, int64_t line, int64_t depth,
                                           int64_t lines, float* c, bool adds);

struct ByteKernels {
  const char* name;
  int rows;             // that are multiplied at a time
  int columns;          // a panel's columns are a multiple of this
  int64_t terms;        // packed lines have a multiple of this many terms; those of rows are padded with 0
  bool takes_all_rows;  // `a` has all of the kernel's rows, those from `rows` on are anything
  bool has_unsigned_panels;  // panels hold terms plus 128
  // c = a * b, or c += a * b. Rows are kPackedRow words apart, c is int32 and `adds_apart` false.
  void (*multiply)(const TileProduct& product);
  MultiplyByteLinesFunction multiply_lines;  // nullptr: there is none
  // Called before and after a thread's products.
  void (*begin)();
  void (*end)();

  int64_t WordsOf(int64_t depth) const { return (depth + terms - 1) / terms * (terms / kTermsOfWord); }
};

// Returns the best kernels for a product of `rows` rows that instruction set, processor, operating system and
// a test of their sums allow, or nullptr. `most` names the best instructions for BF16 that may be used, which
// says whether tiles may be.
const ByteKernels* FindByteKernels(Isa isa, TermPairs most, int64_t rows) noexcept;
// Returns those of the configuration in force.
const ByteKernels* ByteKernelsInUse(Isa isa, int64_t rows) noexcept;
// Computes as AMX does, by the steps of the processor's manual.
const ByteKernels& AmxByteModel() noexcept;

// Tells whether kernels give the sums of scalars modulo 2^32.
bool HaveTheSums(const ByteKernels& kernels) noexcept;

}  // namespace portacl::engine
