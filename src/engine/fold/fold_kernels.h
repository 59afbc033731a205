// The loops of folds: sums, products, extremes, truth, over terms that lie dense in memory. Compiled once per instruction set
// for each operation and type of terms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/isa.h"
#include "engine/map/formula.h"

namespace portacl::engine {

// What becomes of the terms x of an output; m is a number of each output's own. Sums and products of floating terms are float64
// in 16 lanes, in the order of plan/reduction_plan.h; those of integers, modulo 2^64, and all others have no order.
enum class FoldOperation : uint8_t {
  kSum,
  kSumOfNumbers,       // NaN counts as 0
  kSumOfMagnitudes,    // |x|
  kSumOfSquares,       // x^2
  kSumOfDeviations,    // (x - m)^2
  kSumOfPowers,        // |x|^power
  kSumOfExponentials,  // exp(x - m)
  kCount,              // of those that are not 0
  kProduct,
  kExtreme,       // of the keys below
  kFirstExtreme,  // and the place of the first of them; -0 and +0 are alike
  kAny,           // whether one has a bit of `bits`
  kAll            // whether all have one
};

// An extreme is the largest key. A float's key orders as the number does, -0 below +0; NaN is above all.
struct FoldConstants {
  uint64_t bits = ~uint64_t{0};  // of a term, that are looked at: without the sign's for a magnitude
  uint64_t flip = 0;             // all bits: the key is turned around, for the least
  double power = 0;
};

// A bfloat16 number.
struct Bf16Word {
  uint16_t bits;
};

// An extreme with its place.
struct PlacedKey {
  int64_t key;
  int64_t place;
};

inline constexpr size_t kWidestAccumulator = 16;
// Accumulators of a block that is underway.
inline constexpr size_t kBytesOfLanes = 512;

// Outputs one after the other, of `length` terms each: n terms, the first of which is number `at` of its output. Each block of
// kLaneBlock terms that ends, or ends with its output, writes an accumulator. For a block that has begun, `lanes` has been kept.
struct FoldWork {
  const void* terms;
  size_t n;
  size_t at;
  size_t length;
  int64_t first;  // place of an output's term 0
  void* lanes;
  void* out;                // moves on with each accumulator
  const double* parameter;  // m of the current output; moves on with each output
  bool from_memory;         // no cache has the terms
};

// Rows of columns, each of an output of its own.
struct FoldRows {
  const void* terms;
  int64_t pitch;  // in terms, from row to row
  size_t rows;
  size_t columns;
  int64_t first;  // place of the first row
  void* out;      // accumulators, which are continued
  const double* parameter;
};

struct FoldKernels {
  Isa isa;
  uint8_t size;  // of an accumulator
  bool has_order;
  ElementType terms;
  ElementType results;
  void (*along)(const FoldConstants& constants, FoldWork& work);
  void (*across)(const FoldConstants& constants, const FoldRows& rows);
  // Accumulators without terms.
  void (*clear)(void* accumulators, size_t n);
  // later = earlier with later.
  void (*merge)(const void* earlier, void* later, size_t n);
  // To elements of the type `results`; places only for kFirstExtreme.
  void (*finish)(const FoldConstants& constants, const void* accumulators, size_t n, void* results,
                 int64_t* places);
};

// nullptr where there is no such fold. Terms of kF32, kF64, kI64 and kC128 are summed and multiplied; extremes are of kF32, kF64, kI32
// and kI64; truth of kU8, kU16, kU32 and kU64. For kBf16 there are sums, those of squares, deviations and magnitudes, and extremes:
// they take its words (kU16) and give what those of kF32 give.
const FoldKernels* FindFold(Isa isa, FoldOperation operation, ElementType terms) noexcept;

// In place, of float64 results that are float32 numbers or about to become ones: log(x) + m, or x^power. With `wide` in float64.
enum class FoldFunction : uint8_t { kLog, kPower };
using FoldFunctionLoop = void (*)(FoldFunction function, double power, bool wide, double* values,
                                  const double* parameter, size_t n);
FoldFunctionLoop FindFoldFunction(Isa isa) noexcept;

}  // namespace portacl::engine
