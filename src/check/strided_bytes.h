// The bytes of a strided view, and whether two views have one in common: exactly, never by their bounds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace portacl::sanitizer {

// Runs of `width` bytes that lie dim[i].stride bytes apart, dim[i].count of them along each dim, the widest stride first.
// Strides are positive and a dim that continues the runs is merged into them, so equal views look equal.
struct StridedBytes {
  static constexpr int kMostDims = 10;
  struct Dim {
    int64_t count;
    int64_t stride;
    bool operator==(const Dim&) const = default;
  };

  uintptr_t begin = 0;
  int64_t width = 0;  // 0: no bytes
  int dims = 0;
  Dim dim[kMostDims] = {};

  // Behind the last byte.
  uintptr_t End() const noexcept;
  bool IsEmpty() const noexcept { return width == 0; }
  bool IsOneRun() const noexcept { return dims == 0; }
  bool operator==(const StridedBytes& other) const noexcept;

  static StridedBytes Run(const void* address, size_t size) noexcept;
  // `height` runs, a pitch apart.
  static StridedBytes Rows(const void* address, size_t width, size_t height, size_t pitch) noexcept;
  // Elements of `size` bytes of a view whose first element lies at `first`; strides in elements, of any sign, 0 included. Not
  // `is_exact`, with the bytes of a part of the view, when it has more dims than are kept here.
  static StridedBytes View(const void* first, int64_t size, std::span<const int64_t> shape,
                           std::span<const int64_t> strides, bool* is_exact) noexcept;
};

enum class Overlapping {
  kNo,
  kYes,
  kUnknown  // it would take too long to tell
};

// Whether a byte is in both.
Overlapping FindOverlap(const StridedBytes& a, const StridedBytes& b) noexcept;

// Whether every byte of b is in a; false also where that is not seen at once.
bool Covers(const StridedBytes& a, const StridedBytes& b) noexcept;

}  // namespace portacl::sanitizer
