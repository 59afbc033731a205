// One row times quantised weights, as in a step of a language model. Weights are widened in registers, so that
// memory is read once, at the size that they have in it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"

namespace portacl::engine {

// Terms of each column's chain that share its scale. c is the chain, or begins as +0.
struct WeightedTerms {
  const float* a;
  int64_t terms;
  int64_t columns;
  const float* scales;
  const float* offsets;  // nullptr: there are none
  float* c;
  bool begins;
};

// Indexed by whether weights have 4 bits. Each column's chain takes its terms in ascending order:
// c = fma(a, (w + offset) * scale, c).
struct QuantisedRowKernels {
  // Weights are contiguous along the columns, two columns in a byte of 4-bit weights, the lower half first.
  // Terms are `step` bytes apart.
  void (*add_columns[2])(const WeightedTerms& some, const char* weights, int64_t step);
  // A word has four or eight adjacent terms of a column, the lowest bits first. Words of the columns lie side by
  // side, and those of the following terms `step` words further. There are whole vectors of columns.
  void (*add_words[2])(const WeightedTerms& some, const uint32_t* words, int64_t step);
};

// Returns the kernels, which last as long as the process.
const QuantisedRowKernels& FindQuantisedRowKernels(Isa isa) noexcept;

}  // namespace portacl::engine
