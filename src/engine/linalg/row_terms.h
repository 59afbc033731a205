// Sums of rows times numbers that are added to other rows: the inner loop of systems and factors of matrices.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"

namespace portacl::engine {

// Row r of `to` gets its terms factor(r, k) * row k of `from`, k ascending, one fused multiply-add each. Pitches
// and strides are in numbers. The rows of `to` and `from` differ.
template <class T>
struct RowTerms {
  T* to;
  int64_t to_pitch;
  const T* from;
  int64_t from_pitch;
  const T* factors;
  int64_t factor_row;   // from the factor of a row to that of the next one
  int64_t factor_term;  // from the factor of a term to that of the next one
  int64_t rows;
  int64_t terms;
  int64_t columns;
  bool subtracts;  // each factor is negated
};

struct RowTermsKernels {
  Isa isa;
  void (*of_float)(const RowTerms<float>& work);
  void (*of_double)(const RowTerms<double>& work);
};
RowTermsKernels RowTermsKernelsOf(Isa isa) noexcept;

}  // namespace portacl::engine
