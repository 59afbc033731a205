// Solves triangular systems and factors matrices by halves (see eliminate.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/linalg/eliminate.h"

#include <utility>

namespace portacl::engine {
namespace {

// Rows that are solved one after the other.
constexpr int64_t kRowsOfTriangle = 8;

int64_t Half(int64_t n, int64_t multiple) { return (n / 2 + multiple - 1) / multiple * multiple; }

template <class T>
class TriangleRun {
 public:
  TriangleRun(const RowKernels<T>& kernels, const LeftNumbers<T>& matrix, Rows<T> right, bool ascends,
              bool is_unit, int64_t from, int64_t to)
      : kernels_(kernels),
        matrix_(matrix),
        right_(right),
        ascends_(ascends),
        is_unit_(is_unit),
        from_(from),
        to_(to) {}

  void Solve(int64_t first, int64_t end) const {
    const int64_t rows = end - first;
    if (rows <= kRowsOfTriangle) return SolveFew(first, end);
    const int64_t half = Half(rows, kRowsOfTriangle);
    if (ascends_) {
      const int64_t middle = first + half;
      Solve(first, middle);
      kernels_.add_product(ProductOfRows(matrix_.From(middle, first), right_, first, right_, middle,
                                         end - middle, half, from_, to_, true));
      return Solve(middle, end);
    }
    const int64_t middle = end - half;
    Solve(middle, end);
    RowsProduct<T> product = ProductOfRows(matrix_.From(first, end - 1).Backwards(), right_, end - 1, right_,
                                           first, middle - first, half, from_, to_, true);
    product.b_term = -product.b_term;
    kernels_.add_product(product);
    Solve(first, middle);
  }

 private:
  Number<T> At(int64_t line, int64_t term) const {
    const T* const at = matrix_.base + line * matrix_.line + term * matrix_.term;
    const Number<T> number = {at[0], right_.parts == 1 ? T{0} : at[matrix_.part]};
    return matrix_.conjugates ? Conjugate(number) : number;
  }
  void SolveFew(int64_t first, int64_t end) const {
    const int64_t step = ascends_ ? 1 : -1;
    const int64_t start = ascends_ ? first : end - 1;
    for (int64_t done = 0; done < end - first; ++done) {
      const int64_t row = start + done * step;
      for (int64_t k = start; k != row; k += step)
        AddRow(kernels_, Negative(At(row, k)), right_, k, right_, row, from_, to_);
      if (!is_unit_) DivideRow(kernels_, right_, row, from_, to_, At(row, row));
    }
  }

  const RowKernels<T>& kernels_;
  const LeftNumbers<T> matrix_;
  const Rows<T> right_;
  const bool ascends_;
  const bool is_unit_;
  const int64_t from_;
  const int64_t to_;
};

template <class T>
class GeneralRun {
 public:
  GeneralRun(const RowKernels<T>& kernels, Rows<T> matrix, int64_t n, Rows<T> right, T* panel, int threads)
      : kernels_(kernels),
        matrix_(matrix),
        right_(right),
        columns_{panel, matrix.parts, n, n},
        n_(n),
        threads_(threads) {}

  // Factors columns [first, end) of rows from `first` on.
  void Factor(int64_t first, int64_t end) {
    if (end - first <= kFactoredTogether) return FactorFew(first, end);
    const int64_t middle = first + Half(end - first, kFactoredTogether);
    Factor(first, middle);
    ForColumns(
        middle, end, (middle - first) * (n_ - first) * (end - middle) * matrix_.parts * matrix_.parts,
        threads_, [&](int64_t from, int64_t to) {
          TriangleRun<T>(kernels_, matrix_.AsLeft(0, 0), matrix_, true, true, from, to).Solve(first, middle);
          kernels_.add_product(ProductOfRows(matrix_.AsLeft(middle, first), matrix_, first, matrix_, middle,
                                             n_ - middle, middle - first, from, to, true));
        });
    Factor(middle, end);
  }
  T Sign() const { return sign_; }

 private:
  // Copies columns to rows, in which elements of a column are adjacent, and back.
  void FactorFew(int64_t first, int64_t end) {
    const int64_t count = end - first;
    const int64_t length = n_ - first;
    for (int64_t i = 0; i < length; ++i) {
      for (int64_t part = 0; part < matrix_.parts; ++part) {
        const T* const from = matrix_.Part(first + i, part) + first;
        for (int64_t j = 0; j < count; ++j) columns_.Part(j, part)[i] = from[j];
      }
    }
    for (int64_t k = 0; k < count; ++k) FactorColumn(first, count, k, length);
    for (int64_t i = 0; i < length; ++i) {
      for (int64_t part = 0; part < matrix_.parts; ++part) {
        T* const to = matrix_.Part(first + i, part) + first;
        for (int64_t j = 0; j < count; ++j) to[j] = columns_.Part(j, part)[i];
      }
    }
  }
  void FactorColumn(int64_t first, int64_t count, int64_t k, int64_t length) {
    int64_t pivot = 0;
    T* const imaginary = columns_.parts == 2 ? columns_.Part(k, 1) + k : nullptr;
    kernels_.greatest(columns_.Part(k, 0) + k, imaginary, length - k, &pivot);
    if (pivot != 0) {
      for (int64_t j = 0; j < count * columns_.parts; ++j) {
        T* const column = columns_.base + j * columns_.pitch;
        std::swap(column[k], column[k + pivot]);
      }
      SwapRows(matrix_, first + k, first + k + pivot, 0, first);
      SwapRows(matrix_, first + k, first + k + pivot, first + count, n_);
      SwapRows(right_, first + k, first + k + pivot, 0, right_.columns);
      sign_ = -sign_;
    }
    DivideRow(kernels_, columns_, k, k + 1, length, columns_.At(k, k));
    for (int64_t j = k + 1; j < count; ++j) {
      const Number<T> above = Negative(columns_.At(j, k));
      const int64_t n = length - k - 1;
      const auto add = [&](T a, int64_t x_part, int64_t y_part) {
        kernels_.add(a, columns_.Part(k, x_part) + k + 1, columns_.Part(j, y_part) + k + 1, n);
      };
      add(above.real, 0, 0);
      if (columns_.parts == 1) continue;
      add(-above.imaginary, 1, 0);
      // The factor is the left operand, so its real part comes first.
      add(above.imaginary, 0, 1);
      add(above.real, 1, 1);
    }
  }
  static void SwapRows(Rows<T> rows, int64_t a, int64_t b, int64_t from, int64_t to) {
    for (int64_t part = 0; part < rows.parts; ++part)
      std::swap_ranges(rows.Part(a, part) + from, rows.Part(a, part) + to, rows.Part(b, part) + from);
  }

  const RowKernels<T>& kernels_;
  const Rows<T> matrix_;
  const Rows<T> right_;
  const Rows<T> columns_;
  const int64_t n_;
  const int threads_;
  T sign_ = 1;
};

template <class T>
void FactorSymmetricPart(const RowKernels<T>& kernels, Rows<T> matrix, int64_t first, int64_t end,
                         int threads) {
  const int64_t n = end - first;
  if (n <= kRowsOfTriangle) {
    for (int64_t row = first; row < end; ++row) {
      for (int64_t above = first; above < row; ++above)
        AddRow(kernels, Negative(matrix.At(above, row)), matrix, above, matrix, row, row, end);
      T* const numbers = matrix.Part(row, 0);
      numbers[row] = std::sqrt(numbers[row]);
      kernels.divide(numbers + row + 1, nullptr, numbers[row], T{0}, end - row - 1);
    }
    return;
  }
  constexpr int64_t kRowsTogether = 56;
  const int64_t half = Half(n, kRowsOfTriangle);
  const int64_t middle = first + half;
  FactorSymmetricPart(kernels, matrix, first, middle, threads);
  const int64_t rest = end - middle;
  ForColumns(middle, end, half * half * rest / 2, threads, [&](int64_t from, int64_t to) {
    TriangleRun<T>(kernels, matrix.AsTurnedLeft(0, 0), matrix, true, false, from, to).Solve(first, middle);
  });
  ForColumns(middle, end, half * rest * rest / 2, threads, [&](int64_t from, int64_t to) {
    for (int64_t row = middle; row < to; row += kRowsTogether) {
      kernels.add_product(ProductOfRows(matrix.AsTurnedLeft(first, row), matrix, first, matrix, row,
                                        std::min(kRowsTogether, to - row), half, std::max(from, row), to,
                                        true));
    }
  });
  FactorSymmetricPart(kernels, matrix, middle, end, threads);
}

}  // namespace

template <class T>
void SolveTriangle(const RowKernels<T>& kernels, const LeftNumbers<T>& matrix, Rows<T> right, int64_t rows,
                   bool ascends, bool is_unit, int64_t from, int64_t to) {
  TriangleRun<T>(kernels, matrix, right, ascends, is_unit, from, to).Solve(0, rows);
}

template <class T>
T FactorGeneral(const RowKernels<T>& kernels, Rows<T> matrix, int64_t n, Rows<T> right, T* panel,
                int threads) {
  GeneralRun<T> run(kernels, matrix, n, right, panel, threads);
  run.Factor(0, n);
  return run.Sign();
}

template <class T>
void FactorSymmetric(const RowKernels<T>& kernels, Rows<T> matrix, int64_t n, int threads) {
  FactorSymmetricPart(kernels, matrix, 0, n, threads);
}

template void SolveTriangle<float>(const RowKernels<float>&, const LeftNumbers<float>&, Rows<float>, int64_t,
                                   bool, bool, int64_t, int64_t);
template float FactorGeneral<float>(const RowKernels<float>&, Rows<float>, int64_t, Rows<float>, float*, int);
template void FactorSymmetric<float>(const RowKernels<float>&, Rows<float>, int64_t, int);
template void SolveTriangle<double>(const RowKernels<double>&, const LeftNumbers<double>&, Rows<double>,
                                    int64_t, bool, bool, int64_t, int64_t);
template double FactorGeneral<double>(const RowKernels<double>&, Rows<double>, int64_t, Rows<double>, double*,
                                      int);
template void FactorSymmetric<double>(const RowKernels<double>&, Rows<double>, int64_t, int);

}  // namespace portacl::engine
