// Matrices as rows of numbers in a workspace, and the arithmetic of their numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/float_environment.h"
#include "engine/linalg/row_kernels.h"
#include "engine/parallel.h"

namespace portacl::engine {

template <class T>
struct Number {
  T real;
  T imaginary;
};

// The distance of rows. That of long ones makes them start in different cache sets.
inline constexpr int64_t PitchOf(int64_t columns) {
  constexpr int64_t kShortRow = 64, kLine = 16;
  return columns <= kShortRow ? columns : (columns + kLine - 1) / kLine * kLine + kLine;
}

// A row of complex numbers has all real parts, then all imaginary parts.
template <class T>
struct Rows {
  T* base;
  int64_t parts;
  int64_t columns;
  int64_t pitch = PitchOf(columns);

  // Numbers that rows take in memory.
  static int64_t Numbers(int64_t rows, int64_t parts, int64_t columns) {
    return rows * parts * PitchOf(columns);
  }

  T* Part(int64_t row, int64_t part) const { return base + (row * parts + part) * pitch; }
  T* Imaginary(int64_t row) const { return parts == 2 ? Part(row, 1) : nullptr; }
  Number<T> At(int64_t row, int64_t column) const {
    return {Part(row, 0)[column], parts == 1 ? T{0} : Part(row, 1)[column]};
  }
  void Set(int64_t row, int64_t column, Number<T> number) const {
    Part(row, 0)[column] = number.real;
    if (parts == 2) Part(row, 1)[column] = number.imaginary;
  }
  void Clear(int64_t row, int64_t from, int64_t to) const {
    for (int64_t part = 0; part < parts; ++part)
      std::fill(Part(row, part) + from, Part(row, part) + to, T{0});
  }

  // As the left operand of a product: lines are rows, or, turned, columns.
  LeftNumbers<T> AsLeft(int64_t row, int64_t column) const {
    return {Part(row, 0) + column, parts * pitch, 1, pitch, false};
  }
  LeftNumbers<T> AsTurnedLeft(int64_t row, int64_t column) const {
    return {Part(row, 0) + column, 1, parts * pitch, pitch, false};
  }
};

// Columns [from, to) of rows from `c_row` on become those plus or minus a times rows from `b_row` on.
template <class T>
RowsProduct<T> ProductOfRows(const LeftNumbers<T>& a, Rows<T> b, int64_t b_row, Rows<T> c, int64_t c_row,
                             int64_t rows, int64_t depth, int64_t from, int64_t to, bool subtracts) {
  return {a,
          b.Part(b_row, 0) + from,
          b.parts * b.pitch,
          b.pitch,
          c.Part(c_row, 0) + from,
          c.parts * c.pitch,
          c.pitch,
          c.parts,
          rows,
          to - from,
          depth,
          subtracts};
}

template <class T>
Number<T> Negative(Number<T> x) {
  return {-x.real, -x.imaginary};
}
template <class T>
Number<T> Conjugate(Number<T> x) {
  return {x.real, -x.imaginary};
}
template <class T>
Number<T> Sum(Number<T> x, Number<T> y) {
  return {x.real + y.real, x.imaginary + y.imaginary};
}
template <class T>
Number<T> Product(Number<T> x, Number<T> y) {
  return {x.real * y.real - x.imaginary * y.imaginary, x.real * y.imaginary + x.imaginary * y.real};
}

// Adds a * x for columns [from, to) of a row.
template <class T>
void AddRow(const RowKernels<T>& kernels, Number<T> a, Rows<T> x, int64_t x_row, Rows<T> y, int64_t y_row,
            int64_t from, int64_t to) {
  const int64_t n = to - from;
  kernels.add(a.real, x.Part(x_row, 0) + from, y.Part(y_row, 0) + from, n);
  if (x.parts == 1) return;
  kernels.add(-a.imaginary, x.Part(x_row, 1) + from, y.Part(y_row, 0) + from, n);
  kernels.add(a.real, x.Part(x_row, 1) + from, y.Part(y_row, 1) + from, n);
  kernels.add(a.imaginary, x.Part(x_row, 0) + from, y.Part(y_row, 1) + from, n);
}

template <class T>
void DivideRow(const RowKernels<T>& kernels, Rows<T> rows, int64_t row, int64_t from, int64_t to,
               Number<T> by) {
  T* const imaginary = rows.parts == 2 ? rows.Part(row, 1) + from : nullptr;
  kernels.divide(rows.Part(row, 0) + from, imaginary, by.real, by.imaginary, to - from);
}

// Calls body(first column, end) for parts of the columns, which threads share if `work`, in multiplications, pays for
// them.
template <class Body>
void ForColumns(int64_t from, int64_t to, int64_t work, int threads, const Body& body) {
  constexpr int64_t kWorkOfThread = 1 << 18, kLongWork = 1 << 20, kMost = 512, kLeast = 64;
  const int64_t columns = to - from;
  if (columns <= 0) return;
  if (work < kWorkOfThread) threads = 1;
  const int64_t shared = (columns + threads - 1) / threads;
  const int64_t together = std::clamp((shared + kLeast - 1) / kLeast * kLeast, kLeast, kMost);
  const int64_t blocks = (columns + together - 1) / together;
  ForEachBlock(
      blocks, threads,
      [&](int64_t block) {
        const DefaultFloatEnvironment environment;
        const int64_t first = from + block * together;
        body(first, std::min(to, first + together));
      },
      work / blocks >= kLongWork ? BlockLength::kLong : BlockLength::kShort);
}

}  // namespace portacl::engine
