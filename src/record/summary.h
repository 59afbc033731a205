// What a recording says of a tensor's elements in one pass over them: a hash, and what they have in common.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTACL_RECORD_SUMMARY_H
#define PORTACL_RECORD_SUMMARY_H

#include <cstddef>
#include <cstdint>

namespace portacl::record {

// The kinds of elements that are summarised; python/portacl/recording/_summary.py has the same numbers.
enum Kind : std::int32_t {
  kBytesAlone = 0,  // a hash, and no statistics
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
  std::uint64_t count;  // of finite elements: minimum, maximum, sum and squares are theirs
  std::uint64_t nans;
  std::uint64_t infinities;
  std::uint64_t zeros;
  std::int64_t
      least;  // of integers (of uint64: the same bits), as minimum and maximum cannot hold all of them
  std::int64_t greatest;
  double minimum;
  double maximum;
  double sum;
  double squares;  // the sum of squares
};

// Elements lie one after the other, at any address. Sums are added in one order on every machine. False for an unknown kind.
bool Summarise(const void* elements, std::uint64_t count, std::int32_t kind, Summary& summary) noexcept;

// Where the elements of a view are: lengths and strides, in elements, of 1 to kMostDims dims, none of which is empty. An element may have two numbers.
inline constexpr std::size_t kMostDims = 64;
struct Layout {
  std::size_t rank;
  const std::int64_t* shape;
  const std::int64_t* strides;
  std::size_t item_size;  // bytes of an element
};

// The same as text, of at most kTextSize bytes: the hash, "xxh64:" and 16 digits, then the statistics as JSON. Returns its size,
// or 0 for an unknown kind, for kBytesAlone, and where sums leave the range of double. `elements` is the first one; without a layout they lie
// one after the other. `count` is that of numbers.
inline constexpr std::size_t kTextSize = 320;
std::size_t SummariseAsText(const void* elements, std::uint64_t count, std::int32_t kind, char* text,
                            const Layout* layout = nullptr) noexcept;

}  // namespace portacl::record

#endif
