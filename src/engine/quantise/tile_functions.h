// The loops over a tile of numbers that quantising takes, for each instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/isa.h"

namespace portacl::engine::quantise {

inline constexpr size_t kSquareLanes = 16;

// Operations on float32 numbers of a tile. `count` of a second operand is 1 if one number serves all.
struct TileFunctions {
  Isa isa;                                                                    // for which they are compiled
  void (*extremes)(const float* x, size_t n, float* least, float* greatest);  // ignores NaN
  void (*multiply)(float* x, const float* factor, size_t count, size_t n);
  void (*divide)(float* x, const float* divisor, size_t count, size_t n);
  void (*add)(float* x, const float* term, size_t count, size_t n);
  // Adds squares to kSquareLanes sums; number i goes to sum i % kSquareLanes.
  void (*add_squares)(const float* x, size_t n, double* sums);
  void (*activate)(float* x, float alpha, size_t n);  // x times the logistic function of alpha x
  void (*logistic)(float* x, size_t n);
  void (*gelu)(float* x, bool is_by_tanh, size_t n);
};

// Returns the functions of an instruction set, and reports that it ran.
TileFunctions FunctionsFor(Isa isa);

}  // namespace portacl::engine::quantise
