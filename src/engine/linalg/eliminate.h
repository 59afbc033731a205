// Triangular systems, LU and Cholesky factors of a matrix in memory, by halves: products of blocks make most of the
// terms. Each number's terms are subtracted in one order, whatever the blocks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/linalg/number_rows.h"

namespace portacl::engine {

// Solves columns [from, to) of the right-hand sides in place. The rows that become known first are subtracted first.
// `ascends`: the first row has no term besides its diagonal element.
template <class T>
void SolveTriangle(const RowKernels<T>& kernels, const LeftNumbers<T>& matrix, Rows<T> right, int64_t rows,
                   bool ascends, bool is_unit, int64_t from, int64_t to);

// Columns that FactorGeneral copies at a time.
inline constexpr int64_t kFactoredTogether = 16;

// Replaces a square matrix by its LU factors. The pivot is the first largest element of a column. Rows of `right` are
// exchanged like those of the matrix. Returns the sign of the permutation. `panel` is memory for kFactoredTogether rows.
template <class T>
T FactorGeneral(const RowKernels<T>& kernels, Rows<T> matrix, int64_t n, Rows<T> right, T* panel,
                int threads);

// Replaces the upper triangle of a real matrix by its factor U, matrix = U^T U. What is below it becomes anything.
template <class T>
void FactorSymmetric(const RowKernels<T>& kernels, Rows<T> matrix, int64_t n, int threads);

}  // namespace portacl::engine
