// Products of BF16 by processors' instructions that multiply pairs of terms. They give the bits of the order of 16 bits (kEvenOddDepth) where
// nothing between can be subnormal, which the least exponents of what is packed decide; what may be is multiplied by the other kernels, from
// the same packing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/isa.h"
#include "acl/term_pairs.h"
#include "engine/gemm/gemm_kernel.h"

namespace portacl::engine {

// Packed pairs of a row lie so many words apart: one cache set after the other.
inline constexpr int64_t kPairedRow = kGemmDepth / 2 + 8;
inline constexpr int64_t PairsOf(int64_t depth) {
  return (depth + kEvenOddDepth - 1) / kEvenOddDepth * (kEvenOddDepth / 2);
}

// The biased exponent of the least number that is not 0; 0 where one is subnormal, kNoExponent where all are 0.
using LeastExponent = int32_t;
inline constexpr LeastExponent kNoExponent = 255;

// Products of numbers from these on, and all sums of such, are multiples of 2^-126, so that none is subnormal: a number is a multiple of
// its power of two times 2^-7.
inline bool AreMultiplesOfNormals(LeastExponent a, LeastExponent b) {
  constexpr LeastExponent kBias = 127, kFractionBits = 7, kLeast = -126;
  return a >= 1 && b >= 1 && (a - kBias - kFractionBits) + (b - kBias - kFractionBits) >= kLeast;
}

// c = a * b, or c += a * b, of rows, of which there are at most those of a kernel, and a panel.
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
  bool adds_apart;  // what c holds may be subnormal
};

struct TileKernels {
  const char* name;
  int rows;     // that are multiplied at a time
  int columns;  // a panel's columns are a multiple of this
  // `c` is a register that takes subnormal numbers for 0.
  bool flushes_sums;
  // Numbers of BF16 as pairs of terms, PairsOf(depth) of a row, what is not there 0, and back.
  LeastExponent (*pair_rows)(const float* rows, int64_t count, int64_t depth, uint32_t* to);
  LeastExponent (*pair_panel)(const float* panel, int64_t width, int64_t depth, uint32_t* to);
  void (*widen_rows)(const uint32_t* rows, int64_t count, int64_t depth, float* to);
  void (*widen_panel)(const uint32_t* panel, int64_t width, int64_t depth, float* to);
  // All rows of `a` are there, those from `rows` on as 0.
  void (*multiply)(const TileProduct& product);
  // Around products of a thread.
  void (*begin)();
  void (*end)();
};

// The best, up to some, that processor, operating system and a test of their bits allow; nullptr where there are none. They last as long as
// the process.
const TileKernels* FindTileKernels(Isa isa, TermPairs most) noexcept;
// Those of the configuration in force.
const TileKernels* TileKernelsInUse(Isa isa) noexcept;
// Each by itself, for tests.
const TileKernels* FindDotKernels() noexcept;
const TileKernels* FindAmxKernels() noexcept;
// What AMX computes, by steps of the processor's manual.
const TileKernels& AmxModel() noexcept;

// Whether kernels have the bits of scalar fused multiply-adds where AreMultiplesOfNormals holds.
bool HaveTheBits(const TileKernels& kernels) noexcept;

}  // namespace portacl::engine
