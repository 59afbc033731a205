// QR factors of a matrix in memory by reflections. Those of a few columns are applied to the others together, as
// products (docs/numerics.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/linalg/number_rows.h"

namespace portacl::engine {

// Columns whose reflections are applied together. This number defines the bits.
inline constexpr int64_t kReflectionsTogether = 32;

// The distance of reflections' rows, each of which zeros follow.
inline constexpr int64_t VectorPitch(int64_t rows) {
  return (rows + kSumChains - 1) / kSumChains * kSumChains + kSumChains;
}

// A matrix of `rows` rows and its factors.
template <class T>
struct Reflections {
  Rows<T> matrix;  // becomes r, with anything below the diagonal
  Rows<T> q;       // without columns if there is none
  int64_t rows;
  Rows<T> vectors;  // row k is reflection k, as long as a column; of VectorPitch
  Rows<T> factors;  // as many rows as there are reflections, of kReflectionsTogether numbers
  Rows<T> sums;     // 2 * kReflectionsTogether rows, as long as the longer rows of matrix and q

  int64_t Count() const { return std::min(rows, matrix.columns); }
};

template <class T>
void Reflect(const RowKernels<T>& kernels, const Reflections<T>& reflections, int threads);

}  // namespace portacl::engine
