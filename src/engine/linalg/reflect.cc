// Computes QR factors (see reflect.h). The reflections I - f v v^H of some columns are together I - V F V^H, with an upper
// triangular F.
// SPDX-License-Identifier: Apache-2.0
#include "engine/linalg/reflect.h"

namespace portacl::engine {
namespace {

constexpr int64_t kTogether = kReflectionsTogether;

template <class T>
class ReflectionRun {
 public:
  ReflectionRun(const RowKernels<T>& kernels, const Reflections<T>& all, int threads)
      : kernels_(kernels),
        all_(all),
        matrix_(all.matrix),
        vectors_(all.vectors),
        factors_(all.factors),
        threads_(threads) {}

  void All() const {
    const int64_t count = all_.Count();
    for (int64_t k = 0; k < count; ++k) vectors_.Clear(k, all_.rows, vectors_.pitch);
    for (int64_t first = 0; first < count; first += kTogether) {
      const int64_t end = std::min(count, first + kTogether);
      FactorColumns(first, end);
      if (end < matrix_.columns || all_.q.columns > 0) SetFactors(first, end);
      Apply(first, end, matrix_, end, true);
    }
    if (all_.q.columns == 0) return;
    for (int64_t row = 0; row < all_.rows; ++row) {
      all_.q.Clear(row, 0, all_.q.columns);
      if (row < all_.q.columns) all_.q.Part(row, 0)[row] = 1;
    }
    // Reflections from `first` on change none of the unit matrix's columns before it.
    for (int64_t first = (count - 1) / kTogether * kTogether; count > 0 && first >= 0; first -= kTogether)
      Apply(first, std::min(count, first + kTogether), all_.q, first, false);
  }

 private:
  // Copies columns to rows, in which elements of a column are adjacent, and the results back.
  void FactorColumns(int64_t first, int64_t end) const {
    for (int64_t i = first; i < all_.rows; ++i) {
      for (int64_t part = 0; part < matrix_.parts; ++part) {
        const T* const from = matrix_.Part(i, part);
        for (int64_t k = first; k < end; ++k) vectors_.Part(k, part)[i] = from[k];
      }
    }
    for (int64_t k = first; k < end; ++k) {
      MakeReflection(k);
      const Number<T> factor = Conjugate(factors_.At(k, k % kTogether));
      const int64_t rest = end - k - 1;
      Number<T> sums[kTogether];
      SumColumns(k, k + 1, rest, k, sums);
      for (int64_t j = 0; j < rest; ++j)
        AddRow(kernels_, Negative(Product(factor, sums[j])), vectors_, k, vectors_, k + 1 + j, k, all_.rows);
    }
    for (int64_t k = first; k < end; ++k) {
      for (int64_t i = first; i <= k; ++i)
        matrix_.Set(i, k, i < k ? vectors_.At(k, i) : diagonal_[k - first]);
      vectors_.Clear(k, first, k);
    }
  }

  // sums[j] = v_k^H x_j for rows `column` + j of the vectors, from place `from` on.
  void SumColumns(int64_t k, int64_t column, int64_t count, int64_t from, Number<T>* sums) const {
    T parts[4][kTogether];
    const int64_t step = vectors_.parts * vectors_.pitch;
    const auto sum = [&](int64_t of_vector, int64_t of_column, T* to) {
      kernels_.sums(vectors_.Part(k, of_vector) + from, vectors_.Part(column, of_column) + from, step, count,
                    all_.rows - from, to);
    };
    if (count == 0) return;
    sum(0, 0, parts[0]);
    if (vectors_.parts == 1) {
      for (int64_t j = 0; j < count; ++j) sums[j] = {parts[0][j], T{0}};
      return;
    }
    sum(1, 1, parts[1]);
    sum(0, 1, parts[2]);
    sum(1, 0, parts[3]);
    for (int64_t j = 0; j < count; ++j) sums[j] = {parts[0][j] + parts[1][j], parts[2][j] - parts[3][j]};
  }

  // Replaces column k from the diagonal on by the vector of the reflection that zeroes what follows, in LAPACK's form: 1
  // and the numbers after it. Numbers are scaled by a power of two, so that squares neither overflow nor vanish.
  void MakeReflection(int64_t k) const {
    const int64_t n = all_.rows - k;
    const Number<T> alpha = vectors_.At(k, k);
    bool is_zero = alpha.imaginary == 0;
    T size = 0;
    for (int64_t part = 0; part < vectors_.parts; ++part) {
      size = std::max(size, kernels_.greatest(vectors_.Part(k, part) + k, nullptr, n, nullptr));
      for (int64_t i = k + 1; is_zero && i < all_.rows; ++i) is_zero = vectors_.Part(k, part)[i] == 0;
    }
    const auto finish = [&](Number<T> diagonal, Number<T> factor) {
      vectors_.Set(k, k, {1, 0});
      diagonal_[k % kTogether] = diagonal;
      factors_.Set(k, k % kTogether, factor);
    };
    if (is_zero) return finish(alpha, {0, 0});
    int exponent = 0;
    if (size > 0 && std::isfinite(size))
      exponent = std::clamp(std::ilogb(size), -kMostExponent, kMostExponent);
    const T by = std::ldexp(T{1}, -exponent);
    T sum = 0;
    for (int64_t part = 0; part < vectors_.parts; ++part) {
      T* const numbers = vectors_.Part(k, part) + k;
      T squares;
      kernels_.scale(numbers, by, n);
      kernels_.sums(numbers, numbers, 0, 1, n, &squares);
      sum += squares;
    }
    const Number<T> scaled = vectors_.At(k, k);
    const T beta = -std::copysign(std::sqrt(sum), scaled.real);
    DivideRow(kernels_, vectors_, k, k + 1, all_.rows, {scaled.real - beta, scaled.imaginary});
    finish({std::ldexp(beta, exponent), 0}, {(beta - scaled.real) / beta, -scaled.imaginary / beta});
  }

  // F's column k is -f_k F (V^H v_k), with f_k on the diagonal.
  void SetFactors(int64_t first, int64_t end) const {
    for (int64_t k = first; k < end; ++k) {
      const int64_t column = k - first;
      const Number<T> factor = factors_.At(k, column);
      Number<T> sums[kTogether];
      SumColumns(k, first, column, k, sums);
      for (int64_t i = 0; i < column; ++i) {
        factors_.Set(k, i, {0, 0});
        Number<T> sum = {0, 0};
        for (int64_t j = i; j < column; ++j)
          sum = Sum(sum, Product(factors_.At(first + i, j), Conjugate(sums[j])));
        factors_.Set(first + i, column, Negative(Product(factor, sum)));
      }
    }
  }

  // Subtracts V F V^H, or V F^H V^H, times the matrix, from columns [from, ...) of the matrix.
  void Apply(int64_t first, int64_t end, Rows<T> to, int64_t from, bool is_conjugate) const {
    const int64_t count = end - first;
    const int64_t depth = all_.rows - first;
    const Rows<T> sums{all_.sums.base, to.parts, to.columns};
    LeftNumbers<T> conjugate = vectors_.AsLeft(first, first);
    conjugate.conjugates = true;
    LeftNumbers<T> factor = is_conjugate ? factors_.AsTurnedLeft(first, 0) : factors_.AsLeft(first, 0);
    factor.conjugates = is_conjugate;
    const int64_t work = 2 * count * depth * (to.columns - from) * to.parts * to.parts;
    ForColumns(from, to.columns, work, threads_, [&](int64_t column, int64_t column_end) {
      for (int64_t i = 0; i < 2 * count; ++i) sums.Clear(i, column, column_end);
      kernels_.add_product(
          ProductOfRows(conjugate, to, first, sums, 0, count, depth, column, column_end, false));
      kernels_.add_product(
          ProductOfRows(factor, sums, 0, sums, count, count, count, column, column_end, false));
      kernels_.add_product(ProductOfRows(vectors_.AsTurnedLeft(first, first), sums, count, to, first, depth,
                                         count, column, column_end, true));
    });
  }

  static constexpr int kMostExponent = sizeof(T) == sizeof(float) ? 126 : 1022;

  const RowKernels<T>& kernels_;
  const Reflections<T>& all_;
  const Rows<T> matrix_;
  const Rows<T> vectors_;
  const Rows<T> factors_;
  const int threads_;
  mutable Number<T> diagonal_[kTogether];
};

}  // namespace

template <class T>
void Reflect(const RowKernels<T>& kernels, const Reflections<T>& reflections, int threads) {
  ReflectionRun<T>(kernels, reflections, threads).All();
}
template void Reflect<float>(const RowKernels<float>&, const Reflections<float>&, int);
template void Reflect<double>(const RowKernels<double>&, const Reflections<double>&, int);

}  // namespace portacl::engine
