// Products of INT8 by an instruction that adds the four products of each word to a sum (see byte_kernel.h). The
// including file defines
//   Words   a vector of words: Vector, kLanes, Zero, Load, Store, Repeat, Add, Flip, Sum and
//           MultiplyAdd(sum, b, a), whose terms of b are as the kernels' panels have them; Keep(sum)
//   kRows   the rows that are multiplied at a time
//   kIsUnsigned   whether b's terms are terms plus 128
// It also defines PORTACL_TILE_TARGET, the target of the functions, and PORTACL_TILE_NAMESPACE. Nothing here
// may be shared with other files.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/gemm/byte_kernel.h"

namespace portacl::engine::PORTACL_TILE_NAMESPACE {
namespace {

inline constexpr int64_t kLanes = Words::kLanes;
inline constexpr int64_t kWidth = 2 * kLanes;
inline constexpr int64_t kVectorBytes = kLanes * kTermsOfWord;
// Lines whose sums are computed at a time, so that no instruction waits for the one before.
inline constexpr int kLines = 4;
// The prefetch distance in lines. Lines are too short, or too far apart, for the processor's own prefetching.
inline constexpr int64_t kLinesAhead = 8;

// Multiplies rows with two vectors of columns.
template <int kCount>
PORTACL_TILE_TARGET void MultiplyByteRows(const uint32_t* a, const uint32_t* b, int64_t b_row, int64_t words,
                                          float* c, int64_t c_row, bool adds) {
  typename Words::Vector sum[kCount][2];
#pragma GCC unroll 16
  for (int r = 0; r < kCount; ++r) {
    const auto first = Words::Repeat(a + r * kPackedRow + kFirstSum);
    sum[r][0] = adds ? Words::Add(first, Words::Load(c + r * c_row)) : first;
    sum[r][1] = adds ? Words::Add(first, Words::Load(c + r * c_row + kLanes)) : first;
  }
  for (int64_t word = 0; word < words; ++word, b += b_row) {
    const auto b0 = Words::Load(b);
    const auto b1 = Words::Load(b + kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kCount; ++r) {
      const auto x = Words::Repeat(a + r * kPackedRow + word);
      sum[r][0] = Words::MultiplyAdd(sum[r][0], b0, x);
      sum[r][1] = Words::MultiplyAdd(sum[r][1], b1, x);
      Words::Keep(sum[r][0]);
      Words::Keep(sum[r][1]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kCount; ++r) {
    Words::Store(sum[r][0], c + r * c_row);
    Words::Store(sum[r][1], c + r * c_row + kLanes);
  }
}

using ByteRowsFunction = void (*)(const uint32_t* a, const uint32_t* b, int64_t b_row, int64_t words,
                                  float* c, int64_t c_row, bool adds);
template <int... kIndices>
struct ByteRowsFunctions {
  static constexpr ByteRowsFunction kOf[] = {MultiplyByteRows<kIndices + 1>...};
};
template <class Sequence>
struct ByteRowsOf;
template <int... kIndices>
struct ByteRowsOf<std::integer_sequence<int, kIndices...>> : ByteRowsFunctions<kIndices...> {};

PORTACL_TILE_TARGET inline void MultiplyBytes(const TileProduct& product) {
  const ByteRowsFunction multiply = ByteRowsOf<std::make_integer_sequence<int, kRows>>::kOf[product.rows - 1];
  const int64_t words = (product.depth + kTermsOfWord - 1) / kTermsOfWord;
  for (int64_t column = 0; column < product.columns; column += kWidth) {
    const int64_t columns = product.columns - column < kWidth ? product.columns - column : kWidth;
    const uint32_t* const b = product.b + column;
    float* const c = product.c + column;
    if (columns == kWidth) {
      multiply(product.a, b, product.width, words, c, product.c_row, product.adds);
      continue;
    }
    alignas(64) float square[kRows * kWidth] = {};
    const auto size = static_cast<size_t>(columns) * sizeof(float);
    for (int64_t r = 0; r < product.rows && product.adds; ++r)
      std::memcpy(square + r * kWidth, c + r * product.c_row, size);
    multiply(product.a, b, product.width, words, square, kWidth, product.adds);
    for (int64_t r = 0; r < product.rows; ++r) std::memcpy(c + r * product.c_row, square + r * kWidth, size);
  }
}

// Returns a vector of a line's terms as panels have them.
PORTACL_TILE_TARGET inline typename Words::Vector TermsOf(const void* line) {
  const auto terms = Words::Load(line);
  return kIsUnsigned ? Words::Flip(terms) : terms;
}

PORTACL_TILE_TARGET inline void MultiplyByteLines(const uint32_t* a, const char* b, int64_t line,
                                                  int64_t depth, int64_t lines, float* c, bool adds) {
  const int64_t whole = depth / kVectorBytes * kVectorBytes;
  // The last terms, and zeros; a packed row may end before them.
  alignas(64) char last_a[kVectorBytes] = {};
  std::memcpy(last_a, reinterpret_cast<const char*>(a) + whole, static_cast<size_t>(depth - whole));
  for (int64_t j = 0; j < lines; j += kLines) {
    const int64_t some = lines - j < kLines ? lines - j : kLines;
    const char* from[kLines];
    // Missing lines repeat the first one.
    for (int64_t i = 0; i < kLines; ++i) from[i] = b + (j + (i < some ? i : 0)) * line;
    typename Words::Vector sum[kLines];
#pragma GCC unroll 4
    for (int i = 0; i < kLines; ++i) sum[i] = Words::Zero();
    for (int64_t k = 0; k < whole; k += kVectorBytes) {
      const auto x = Words::Load(a + k / kTermsOfWord);
#pragma GCC unroll 4
      for (int i = 0; i < kLines; ++i) {
        __builtin_prefetch(from[i] + k + kLinesAhead * line);
        sum[i] = Words::MultiplyAdd(sum[i], TermsOf(from[i] + k), x);
      }
    }
    if (whole < depth) {
      const auto x = Words::Load(last_a);
#pragma GCC unroll 4
      for (int i = 0; i < kLines; ++i) {
        alignas(64) char last[kVectorBytes] = {};
        std::memcpy(last, from[i] + whole, static_cast<size_t>(depth - whole));
        sum[i] = Words::MultiplyAdd(sum[i], TermsOf(last), x);
      }
    }
    for (int64_t i = 0; i < some; ++i) {
      uint32_t before = 0;
      if (adds) std::memcpy(&before, c + j + i, sizeof before);
      const uint32_t after = before + a[kFirstSum] + Words::Sum(sum[i]);
      std::memcpy(c + j + i, &after, sizeof after);
    }
  }
}

inline void DoNothing() {}

constexpr ByteKernels KernelsOfWords(const char* name) {
  return {name,
          kRows,
          static_cast<int>(kWidth),
          kTermsOfWord,
          /*takes_all_rows=*/false,
          kIsUnsigned,
          MultiplyBytes,
          MultiplyByteLines,
          DoNothing,
          DoNothing};
}

}  // namespace
}  // namespace portacl::engine::PORTACL_TILE_NAMESPACE
