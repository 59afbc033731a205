// The bytes of a strided view, and an exact test for overlap of two views, which does not only compare
// bounds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace portacl {

// Runs of `width` bytes: dim[i].count of them along each dim, dim[i].stride bytes apart, the largest stride
// first. Strides are positive, and a dim that continues the runs is merged into them, so that equal views
// look equal.
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

  // Returns the end of the last byte.
  uintptr_t End() const noexcept;
  bool IsEmpty() const noexcept { return width == 0; }
  bool IsOneRun() const noexcept { return dims == 0; }
  bool operator==(const StridedBytes& other) const noexcept;

  static StridedBytes Run(const void* address, size_t size) noexcept;
  // Describes `height` rows that are `pitch` bytes apart.
  static StridedBytes Rows(const void* address, size_t width, size_t height, size_t pitch) noexcept;
  // Describes a view of elements of `size` bytes, the first at `first`; strides are in elements, of any sign
  // or 0. If it has more dims than fit here, *is_exact becomes false and the bytes are those of a part of the
  // view.
  static StridedBytes View(const void* first, int64_t size, std::span<const int64_t> shape,
                           std::span<const int64_t> strides, bool* is_exact) noexcept;
};

enum class Overlapping {
  kNo,
  kYes,
  kUnknown  // deciding would take too long
};

// Tells whether any byte is in both.
Overlapping FindOverlap(const StridedBytes& a, const StridedBytes& b) noexcept;

// Tells whether every byte of b is in a. False also if that is not obvious.
bool Covers(const StridedBytes& a, const StridedBytes& b) noexcept;

// Calls visit(begin, bytes) for each run, from low addresses to high ones where runs do not overlap; a byte may be in several. Stops
// when it returns false.
template <class Visit>
void ForEachRun(const StridedBytes& bytes, const Visit& visit) {
  if (bytes.IsEmpty()) return;
  uintptr_t begin = bytes.begin;
  int64_t index[StridedBytes::kMostDims] = {};
  while (true) {
    if (!visit(begin, static_cast<size_t>(bytes.width))) return;
    int i = bytes.dims - 1;
    for (; i >= 0; --i) {
      begin += static_cast<uintptr_t>(bytes.dim[i].stride);
      if (++index[i] < bytes.dim[i].count) break;
      begin -= static_cast<uintptr_t>(bytes.dim[i].count * bytes.dim[i].stride);
      index[i] = 0;
    }
    if (i < 0) return;
  }
}

}  // namespace portacl
