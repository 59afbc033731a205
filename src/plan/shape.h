// Shapes and strides: bounded arrays of int64, and the arithmetic on them that can overflow.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "base/text.h"

namespace portacl {

// No CANN container holds more dims.
inline constexpr int kMaxDims = 25;
// Most dims that operators accept.
inline constexpr int kFewDims = 8;

// The dims of a view or a storage, outermost first. Rank 0 is a scalar: one element. Dims past the rank are
// undefined: every call makes and copies several shapes, so these dims are neither cleared nor, as a rule,
// copied.
struct Shape {
  int rank = 0;
  int64_t dim[kMaxDims];

  Shape() noexcept {}  // NOLINT(*-member-init): see above
  Shape(std::initializer_list<int64_t> dims) noexcept
      : rank(static_cast<int>(dims.size())) {  // NOLINT(*-member-init)
    std::copy(dims.begin(), dims.end(), dim);
  }
  Shape(const Shape& other) noexcept { *this = other; }  // NOLINT(*-member-init)
  Shape& operator=(const Shape& other) noexcept {
    rank = other.rank;
    std::memmove(dim, other.dim, kFewDims * sizeof dim[0]);
    if (rank > kFewDims) std::memmove(dim, other.dim, sizeof dim);
    return *this;
  }
  ~Shape() = default;

  int64_t operator[](int axis) const { return dim[axis]; }
  bool operator==(const Shape& other) const {
    if (rank != other.rank) return false;
    for (int i = 0; i < rank; ++i) {
      if (dim[i] != other.dim[i]) return false;
    }
    return true;
  }

  // Tells whether any dim is 0.
  bool IsEmpty() const {
    for (int i = 0; i < rank; ++i) {
      if (dim[i] == 0) return true;
    }
    return false;
  }

  // Computes the number of elements. Returns false when a dim is negative or the product does not fit int64.
  bool Numel(int64_t* numel) const {
    const bool empty = IsEmpty();
    *numel = empty ? 0 : 1;
    for (int i = 0; i < rank; ++i) {
      if (dim[i] < 0) return false;
      if (!empty && __builtin_mul_overflow(*numel, dim[i], numel)) return false;
    }
    return true;
  }
};

// Returns the number of elements of a shape whose Numel is known to succeed.
inline int64_t NumelOf(const Shape& shape) {
  int64_t numel = 0;
  shape.Numel(&numel);
  return numel;
}

// Prints a shape as [2, 3], and a scalar as [].
inline void AddShape(Text& text, const Shape& shape) {
  text.Add('[');
  for (int i = 0; i < shape.rank; ++i) text.Add(i == 0 ? "" : ", ").Add(shape[i]);
  text.Add(']');
}

// Returns the row-major strides of a shape, in elements. They wrap where the shape itself is not
// representable.
inline Shape RowMajorStrides(const Shape& shape) {
  Shape strides;
  strides.rank = shape.rank;
  uint64_t step = 1;
  for (int i = shape.rank - 1; i >= 0; --i) {
    strides.dim[i] = static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(shape[i]);
  }
  return strides;
}

}  // namespace portacl
