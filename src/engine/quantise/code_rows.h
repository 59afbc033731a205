// Rows of numbers in memory that become codes in two passes: one finds a row's extremes, the other loads,
// multiplies, rounds and stores, while the row is in the first-level cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"
#include "base/isa.h"

namespace portacl::engine {

// Operations on numbers before they are rounded, in this order. A row has a number for each column; null
// leaves the step out.
struct CodeSteps {
  const float* factors = nullptr;
  float factor = 1;
  const float* divisors = nullptr;
  float divisor = 1;
  const float* terms = nullptr;
  float term = 0;
  bool multiplies = false;  // by `factor`
  bool divides = false;     // by `divisor`
  bool adds = false;        // `term`
  bool is_within = false;   // all results round to codes: none is NaN or needs to be saturated
};

// Functions for numbers of one dtype and codes of another. NaN takes no part in extremes, and becomes code 0.
struct CodeRowFunctions {
  Isa isa = Isa::kPortable;  // for which they are compiled
  // Returns the greatest magnitude of x, or of x times factors unless these are null; 0 if there is none. `has_nan`
  // becomes false only if no number is NaN.
  float (*greatest)(const void* x, const float* factors, size_t n, bool* has_nan) = nullptr;
  // Extends a range by the numbers.
  void (*range)(const void* x, const float* factors, size_t n, float* least, float* greatest) = nullptr;
  // Rounds to nearest as FindEncode does, and stores whole bytes: an even n of 4-bit codes. Fetches n numbers
  // at `next`, unless null, into the cache. With `stream`, whole cache lines go past the caches if the
  // instruction set can; the caller then ends with a fence.
  void (*encode)(const void* x, const CodeSteps& steps, size_t n, const void* next, void* codes,
                 bool stream) = nullptr;
};

// Returns functions that are nullptr for dtypes which have none: numbers other than f32, f16 and bf16, codes
// other than INT8, UINT8, INT4 and the 8-bit floats.
CodeRowFunctions FindCodeRows(Isa isa, aclDataType numbers, aclDataType codes) noexcept;

}  // namespace portacl::engine
