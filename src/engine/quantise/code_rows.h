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

// A row that is fetched into the caches while another one is read, since memory would be idle otherwise.
struct FetchedRow {
  const void* numbers = nullptr;  // null: none
  bool is_far = false;     // into the second-level cache: the first-level one does not hold two such rows
  bool is_shared = false;  // two passes over the current row fetch every second line each
};

// Functions for numbers of one dtype and codes of another. NaN takes no part in extremes, and becomes code 0.
struct CodeRowFunctions {
  Isa isa = Isa::kPortable;  // for which they are compiled
  // Returns the greatest magnitude of x, or of x times factors unless these are null; 0 if there is none. `has_nan`
  // becomes false only if no number is NaN. Without factors it fetches odd lines of a shared `next`, of n numbers.
  float (*greatest)(const void* x, const float* factors, size_t n, const FetchedRow& next,
                    bool* has_nan) = nullptr;
  // Extends a range by the numbers.
  void (*range)(const void* x, const float* factors, size_t n, float* least, float* greatest) = nullptr;
  // Rounds to nearest as FindEncode does, and stores whole bytes: an even n of 4-bit codes. Fetches `next`, of n
  // numbers; even lines if it is shared. With `stream`, whole cache lines go past the caches if the
  // instruction set can; the caller then ends with a fence.
  void (*encode)(const void* x, const CodeSteps& steps, size_t n, const FetchedRow& next, void* codes,
                 bool stream) = nullptr;
};

// Returns functions that are nullptr for dtypes which have none: numbers other than f32, f16 and bf16, codes
// other than INT8, UINT8, INT4 and the 8-bit floats.
CodeRowFunctions FindCodeRows(Isa isa, aclDataType numbers, aclDataType codes) noexcept;

}  // namespace portacl::engine
