// The loops over rows of numbers that solutions and factors of matrices consist of, for each instruction set. Results
// do not depend on how a caller divides rows, columns and terms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"

namespace portacl::engine {

// Chains of a sum of products, to which its terms go in turn. This number defines the bits.
inline constexpr int64_t kSumChains = 16;

// The left operand of a product: the number of a line and a term. Distances are in numbers. `part` is the distance of
// an imaginary part from its real part.
template <class T>
struct LeftNumbers {
  const T* base;
  int64_t line;
  int64_t term;
  int64_t part;
  bool conjugates;

  LeftNumbers From(int64_t first_line, int64_t first_term) const {
    LeftNumbers moved = *this;
    moved.base += first_line * line + first_term * term;
    return moved;
  }
  LeftNumbers Backwards() const {
    LeftNumbers turned = *this;
    turned.term = -term;
    return turned;
  }
};

// c = c + a * b, or c - a * b: each number is one chain of fused multiply-adds that begins with c's, terms ascending.
// Complex numbers are parts: real ones fma(-a_i, b_i, fma(a_r, b_r, c_r)), imaginary ones fma(a_i, b_r, fma(a_r, b_i,
// c_i)), a negated beforehand for a difference. Columns are adjacent, `b_part` and `c_part` as in LeftNumbers.
template <class T>
struct RowsProduct {
  LeftNumbers<T> a;
  const T* b;
  int64_t b_term;
  int64_t b_part;
  T* c;
  int64_t c_row;
  int64_t c_part;
  int64_t parts;
  int64_t rows;
  int64_t columns;
  int64_t depth;
  bool subtracts;
};

template <class T>
struct RowKernels {
  void (*add_product)(const RowsProduct<T>& product);
  // y = y + a * x, fused.
  void (*add)(T a, const T* x, T* y, int64_t n);
  void (*scale)(T* x, T by, int64_t n);
  // Divides by a number. `imaginary` is nullptr for real numbers. Quotients of complex numbers are scaled by the
  // greater part of the divisor.
  void (*divide)(T* real, T* imaginary, T by_real, T by_imaginary, int64_t n);
  // sums[j] = the sum of x * (y + j * y_row), in kSumChains chains that are added in pairs: i and i + 8, then i + 4 ...
  // Up to a multiple of kSumChains, zeros follow both rows.
  void (*sums)(const T* x, const T* y, int64_t y_row, int64_t count, int64_t n, T* sums);
  // Returns the greatest |real| + |imaginary|, or 0, and the first index that has it. A NaN is not greater.
  T (*greatest)(const T* real, const T* imaginary, int64_t n, int64_t* first);
};

struct LinalgKernels {
  Isa isa;
  RowKernels<float> of_floats;
  RowKernels<double> of_doubles;
};

template <class T>
const RowKernels<T>& KernelsOf(const LinalgKernels& kernels) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return kernels.of_floats;
  } else {
    return kernels.of_doubles;
  }
}

// Returns the kernels, which last as long as the process.
const LinalgKernels& LinalgKernelsOf(Isa isa) noexcept;

}  // namespace portacl::engine
