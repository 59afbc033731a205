// The loops of reductions over dense terms: sums, products, extremes, any/all. Compiled once per instruction
// set for each operation and type of terms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.h"
#include "engine/map/formula.h"

namespace portacl::engine {

// Operations on the terms x of an output; m is a parameter of each output. Sums and products of floating
// terms are float64 in 16 lanes, in the order of plan/reduction_plan.h. Those of integers, modulo 2^64, and
// all others need no order.
enum class ReductionOperation : uint8_t {
  kSum,
  kSumOfNumbers,       // NaN counts as 0
  kSumOfMagnitudes,    // |x|
  kSumOfSquares,       // x^2
  kSumOfDeviations,    // (x - m)^2
  kSumOfPowers,        // |x|^power
  kSumOfExponentials,  // exp(x - m)
  kCount,              // of terms other than 0
  kProduct,
  kExtreme,       // of the keys described below
  kFirstExtreme,  // also the index of the first one; -0 and +0 are equal
  kAny,           // whether any term has a bit of `bits`
  kAll            // whether all terms have one
};

// An extreme is the largest key. Keys of floats order as the numbers do, with -0 below +0 and NaN above all.
struct ReductionConstants {
  uint64_t bits = ~uint64_t{0};  // mask of a term's bits; a magnitude excludes the sign
  uint64_t flip = 0;             // all bits: inverts the key, to find the least
  double power = 0;
};

// A bfloat16 number.
struct Bf16Word {
  uint16_t bits;
};

// An extreme and its index.
struct IndexedKey {
  int64_t key;
  int64_t index;
};

inline constexpr size_t kWidestAccumulator = 16;
// The bytes of a partial block's accumulators.
inline constexpr size_t kBytesOfLanes = 512;

// Outputs one after the other, of `length` terms each. The work has n terms, the first of which is number
// `at` of its output. A block ends after kLaneBlock terms or with its output, and writes an accumulator.
// `lanes` holds the state of a partial block.
struct ReductionWork {
  const void* terms;
  size_t n;
  size_t at;
  size_t length;
  int64_t first;  // index of an output's term 0
  void* lanes;
  void* out;                // advances with each accumulator
  const double* parameter;  // m of the current output; advances with each output
  bool from_memory;         // the terms fit no cache
};

// Rows of columns; each column belongs to its own output.
struct ReductionRows {
  const void* terms;
  int64_t pitch;  // in terms, the distance of rows
  size_t rows;
  size_t columns;
  int64_t first;  // index of the first row
  void* out;      // accumulators, which are continued
  const double* parameter;
};

struct ReductionKernels {
  Isa isa;
  uint8_t size;  // of an accumulator
  bool has_order;
  ElementType terms;
  ElementType results;
  void (*along)(const ReductionConstants& constants, ReductionWork& work);
  void (*across)(const ReductionConstants& constants, const ReductionRows& rows);
  // Initialises accumulators without terms.
  void (*clear)(void* accumulators, size_t n);
  // Combines: later = earlier with later.
  void (*merge)(const void* earlier, void* later, size_t n);
  // Converts accumulators to elements of the type `results`; indices only for kFirstExtreme.
  void (*finish)(const ReductionConstants& constants, const void* accumulators, size_t n, void* results,
                 int64_t* indices);
};

// Returns the kernels of a reduction, or nullptr if it is not supported. Sums and products take terms of
// kF32, kF64, kI64 and kC128. Extremes take kF32, kF64, kI32 and kI64. Any and all take kU8, kU16, kU32 and
// kU64. kBf16 has sums, those of squares, deviations and magnitudes, and extremes: these read its words
// (kU16) and give the results of kF32.
const ReductionKernels* FindReduction(Isa isa, ReductionOperation operation, ElementType terms) noexcept;

// Computes log(x) + m or x^power in place, for float64 results that are or become float32 numbers. `wide`
// selects float64 functions.
enum class EpilogueFunction : uint8_t { kLog, kPower };
using EpilogueFunctionLoop = void (*)(EpilogueFunction function, double power, bool wide, double* values,
                                      const double* parameter, size_t n);
EpilogueFunctionLoop FindEpilogueFunction(Isa isa) noexcept;

}  // namespace portacl::engine
