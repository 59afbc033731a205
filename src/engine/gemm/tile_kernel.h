// Products of BF16 by instructions that multiply pairs of terms. They give the bits of the 16-bit order
// (kEvenOddDepth) if no intermediate result can be subnormal, which the least exponents of the packed numbers
// decide. Other matrix products use the other kernels on the same packing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "base/term_pairs.h"
#include "engine/gemm/gemm_kernel.h"

namespace portacl::engine {

// The distance of packed pairs' rows in words, which makes them start in different cache sets.
inline constexpr int64_t kPairedRow = kGemmDepth / 2 + 8;
inline constexpr int64_t PairsOf(int64_t depth) {
  return (depth + kEvenOddDepth - 1) / kEvenOddDepth * (kEvenOddDepth / 2);
}

// The biased exponent of the least magnitude other than 0. It is 0 if a number is subnormal, kNoExponent if
// all are 0.
using LeastExponent = int32_t;
inline constexpr LeastExponent kNoExponent = 255;

// Tells whether products of numbers with at least these exponents, and all their sums, are multiples of 2^-126 and
// so never subnormal. A number is a multiple of its power of two times 2^-7.
inline bool AreMultiplesOfNormals(LeastExponent a, LeastExponent b) {
  constexpr LeastExponent kBias = 127, kFractionBits = 7, kLeast = -126;
  return a >= 1 && b >= 1 && (a - kBias - kFractionBits) + (b - kBias - kFractionBits) >= kLeast;
}

// c = a * b, or c += a * b, for at most a kernel's rows and one panel.
struct TileProduct {
  const uint32_t* a;
  const uint32_t* b;
  float* c;
  int64_t c_row;
  int64_t rows;
  int64_t columns;  // of the panel, of which `width` are packed
  int64_t width;
  int64_t depth;
  bool adds;
  bool adds_apart;  // c may hold subnormal numbers
};

struct TileKernels {
  const char* name;
  int rows;     // that are multiplied at a time
  int columns;  // a panel's columns are a multiple of this
  // Tells whether `c` passes through registers that flush subnormal numbers to 0.
  bool flushes_sums;
  // Tells whether fewer rows take as long. Then `a` has all rows, of which those behind the product's are 0.
  bool takes_all_rows;
  // Convert BF16 numbers to pairs of terms, PairsOf(depth) a row, padded with 0 (pair_), or back (widen_).
  LeastExponent (*pair_rows)(const float* rows, int64_t count, int64_t depth, uint32_t* to);
  LeastExponent (*pair_panel)(const float* panel, int64_t width, int64_t depth, uint32_t* to);
  void (*widen_rows)(const uint32_t* rows, int64_t count, int64_t depth, float* to);
  void (*widen_panel)(const uint32_t* panel, int64_t width, int64_t depth, float* to);
  // Put pairs of adjacent terms, padded with 0, into the order of the instruction: rows that are `row` bytes apart, or a
  // panel in place. Rows may be their own result.
  LeastExponent (*order_rows)(const void* rows, int64_t row, int64_t count, int64_t depth, uint32_t* to);
  LeastExponent (*order_panel)(uint32_t* panel, int64_t width, int64_t depth);
  void (*multiply)(const TileProduct& product);
  // Called before and after a thread's products.
  void (*begin)();
  void (*end)();
};

// Returns the best kernels, up to `most`, that processor, operating system and a test of their bits allow, or
// nullptr. They last as long as the process.
const TileKernels* FindTileKernels(Isa isa, TermPairs most) noexcept;
// Returns those of the configuration in force.
const TileKernels* TileKernelsInUse(Isa isa) noexcept;
// Return each kind by itself, for tests.
const TileKernels* FindDotKernels() noexcept;
const TileKernels* FindAmxKernels() noexcept;
// Tells whether the operating system grants this process the tile registers. Linux does on request.
bool GetsTiles() noexcept;
// Computes as AMX does, by the steps of the processor's manual.
const TileKernels& AmxModel() noexcept;

// Tells whether kernels give the bits of scalar fused multiply-adds if AreMultiplesOfNormals.
bool HaveTheBits(const TileKernels& kernels) noexcept;

}  // namespace portacl::engine
