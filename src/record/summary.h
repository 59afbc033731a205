// A summary of a tensor's elements in one pass: a hash and statistics.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTACL_RECORD_SUMMARY_H
#define PORTACL_RECORD_SUMMARY_H

#include <cstddef>
#include <cstdint>

namespace portacl::record {

// The kinds of elements. python/portacl/recording/_summary.py has the same numbers.
enum Kind : std::int32_t {
  kBytesAlone = 0,  // only a hash, without statistics
  kBool = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kUint32 = 6,
  kInt32 = 7,
  kUint64 = 8,
  kInt64 = 9,
  kFloat16 = 10,
  kBfloat16 = 11,
  kFloat32 = 12,
  kFloat64 = 13,
};

struct Summary {
  std::uint64_t hash;   // XXH64 with seed 0, of the bytes
  std::uint64_t count;  // of finite elements, to which minimum, maximum, sum and squares apply
  std::uint64_t nans;
  std::uint64_t infinities;
  std::uint64_t zeros;
  std::int64_t
      // For integers (for uint64 the same bits), since minimum and maximum cannot represent all of them.
      least;
  std::int64_t greatest;
  double minimum;
  double maximum;
  double sum;
  double squares;  // the sum of squares
};

// Describes a strided view: lengths and strides, in elements, of 1 to kMostDims dims, none of them empty. A
// complex element has two numbers.
inline constexpr std::size_t kMostDims = 64;
struct Layout {
  std::size_t rank;
  const std::int64_t* shape;
  const std::int64_t* strides;
  std::size_t item_size;  // bytes of an element
};

// Without a layout, elements are contiguous, at any address. Sums are added in one order on every machine. Returns false for an
// unknown kind.
bool Summarise(const void* elements, std::uint64_t count, std::int32_t kind, Summary& summary,
               const Layout* layout = nullptr) noexcept;

// Writes the summary as text of at most kTextSize bytes: the hash as "xxh64:" and 16 digits, then the
// statistics as JSON. Returns its size, or 0 for an unknown kind, for kBytesAlone, and if sums overflow
// double. `elements` is the first element; without a layout, elements are contiguous. `count` counts
// numbers.
inline constexpr std::size_t kTextSize = 320;
std::size_t SummariseAsText(const void* elements, std::uint64_t count, std::int32_t kind, char* text,
                            const Layout* layout = nullptr) noexcept;

}  // namespace portacl::record

#endif
