// Real and complex numbers of one floating-point type, and rows of them in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace portacl::engine {

template <class T>
struct Number {
  T real;
  T imaginary;
};

// Rows of numbers in memory. A row of complex numbers has all real parts, then all imaginary parts.
template <class T>
struct Rows {
  T* base;
  int64_t parts;
  int64_t columns;

  T* Part(int64_t row, int64_t part) const { return base + (row * parts + part) * columns; }
  Number<T> At(int64_t row, int64_t column) const {
    return {Part(row, 0)[column], parts == 1 ? T{0} : Part(row, 1)[column]};
  }
  void Set(int64_t row, int64_t column, Number<T> number) const {
    Part(row, 0)[column] = number.real;
    if (parts == 2) Part(row, 1)[column] = number.imaginary;
  }
};

template <class T>
Number<T> Negative(Number<T> x) {
  return {-x.real, -x.imaginary};
}
template <class T>
Number<T> Conjugate(Number<T> x) {
  return {x.real, -x.imaginary};
}
template <class T>
Number<T> Product(Number<T> x, Number<T> y) {
  return {x.real * y.real - x.imaginary * y.imaginary, x.real * y.imaginary + x.imaginary * y.real};
}
// Scales by the divisor's larger part, so that squares neither overflow nor vanish.
template <class T>
Number<T> Quotient(Number<T> x, Number<T> y, int64_t parts) {
  if (parts == 1) return {x.real / y.real, T{0}};
  if (std::fabs(y.real) >= std::fabs(y.imaginary)) {
    const T ratio = y.imaginary / y.real;
    const T scale = y.real + y.imaginary * ratio;
    return {(x.real + x.imaginary * ratio) / scale, (x.imaginary - x.real * ratio) / scale};
  }
  const T ratio = y.real / y.imaginary;
  const T scale = y.real * ratio + y.imaginary;
  return {(x.real * ratio + x.imaginary) / scale, (x.imaginary * ratio - x.real) / scale};
}

// The length of a number, without squares that overflow or vanish.
template <class T>
T SizeOf(Number<T> x, int64_t parts) {
  if (parts == 1) return std::fabs(x.real);
  const T greater = std::max(std::fabs(x.real), std::fabs(x.imaginary));
  if (std::isnan(x.real) || std::isnan(x.imaginary)) return x.real + x.imaginary;
  if (greater == 0 || std::isinf(greater)) return greater;
  const T a = x.real / greater;
  const T b = x.imaginary / greater;
  return greater * std::sqrt(a * a + b * b);
}

}  // namespace portacl::engine
