// Packing of INT8 operands (see byte_pack.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/byte_pack.h"

#include <cstring>

namespace portacl::engine {
namespace {

// Terms that are added at a time, two to each of 32 sums.
constexpr int64_t kTogether = 64;

// Returns the sum of the terms of some words.
int32_t SumOf(const uint32_t* words, int64_t count) {
  const auto* const terms = reinterpret_cast<const char*>(words);
  const int64_t bytes = count * kTermsOfWord;
  const int64_t whole = bytes / kTogether * kTogether;
  // Sums of terms plus 128: at most kByteDepth / kTogether steps of 2 * 255 each.
  static_assert(kByteDepth / kTogether * 2 * 255 <= 0xFFFF);
  uint16_t sums[kTogether / 2] = {};
  for (int64_t k = 0; k < whole; k += kTogether) {
    uint16_t halves[kTogether / 2];
    std::memcpy(halves, terms + k, sizeof halves);
    for (int64_t i = 0; i < kTogether / 2; ++i) {
      const auto half = static_cast<uint16_t>(halves[i] ^ 0x8080u);
      sums[i] = static_cast<uint16_t>(sums[i] + (half & 0xFFu) + (half >> 8));
    }
  }
  int32_t sum = static_cast<int32_t>(-128 * whole);
  for (const uint16_t some : sums) sum += some;
  for (int64_t k = whole; k < bytes; ++k) sum += static_cast<int8_t>(terms[k]);
  return sum;
}

}  // namespace

void PackByteRows(const WordSource& source, const ByteKernels& kernels, const char* first, int64_t lines,
                  int64_t depth, uint32_t* to) noexcept {
  PackWordRows(source, first, lines, depth, kernels.WordsOf(depth), kPackedRow, to);
  for (int64_t line = 0; line < lines; ++line) {
    uint32_t* const row = to + line * kPackedRow;
    row[kFirstSum] = kernels.has_unsigned_panels
                         ? static_cast<uint32_t>(-128 * SumOf(row, kernels.WordsOf(depth)))
                         : uint32_t{0};
  }
}

void PackBytePanels(const WordSource& source, const ByteKernels& kernels, const char* first, int64_t lines,
                    int64_t depth, int64_t width, uint32_t* to) noexcept {
  WordSource words = source;
  if (kernels.has_unsigned_panels) words.inverted = kHighBits;
  PackWordPanels(words, first, lines, depth, kernels.WordsOf(depth), width, to);
}

}  // namespace portacl::engine
