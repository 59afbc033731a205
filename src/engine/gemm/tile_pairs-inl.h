// Packing of pairs of terms (see tile_kernel.h). The including file defines their order:
//   Order::kLow[i], Order::kHigh[i]   the terms of pair i of 32 terms
//   Order::Order(a, b)                turns two pairs of adjacent terms into these
//   Order::OrderBlock(pairs)          turns those of 32 terms into these
// It also defines PORTACL_TILE_TARGET, the target of the functions, and PORTACL_TILE_NAMESPACE. Nothing here
// may be shared with other files.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>

#include "engine/gemm/tile_kernel.h"

namespace portacl::engine::PORTACL_TILE_NAMESPACE {
namespace {

inline constexpr int64_t kPairsOfBlock = kEvenOddDepth / 2;

PORTACL_TILE_TARGET inline uint32_t BitsOf(float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}
PORTACL_TILE_TARGET inline float NumberOf(uint32_t bits) {
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

// Returns the magnitude minus 1, which makes 0 the greatest.
PORTACL_TILE_TARGET inline uint32_t BelowMagnitude(uint32_t bits) { return (bits & 0x7FFFFFFFu) - 1; }
PORTACL_TILE_TARGET inline LeastExponent ExponentOf(uint32_t below) {
  return below == 0xFFFFFFFFu ? kNoExponent : static_cast<LeastExponent>((below + 1) >> 23);
}

template <class Order>
PORTACL_TILE_TARGET LeastExponent PairRows(const float* rows, int64_t count, int64_t depth, uint32_t* to) {
  uint32_t least[kEvenOddDepth];
  for (uint32_t& one : least) one = 0xFFFFFFFFu;
  for (int64_t r = 0; r < count; ++r) {
    const float* const row = rows + r * kPackedRow;
    uint32_t* pairs = to + r * kPairedRow;
    for (int64_t block = 0; block < depth; block += kEvenOddDepth, pairs += kPairsOfBlock) {
      uint32_t terms[kEvenOddDepth];
      if (depth - block >= kEvenOddDepth) {
        std::memcpy(terms, row + block, sizeof terms);
      } else {
        for (int64_t k = 0; k < kEvenOddDepth; ++k) terms[k] = block + k < depth ? BitsOf(row[block + k]) : 0;
      }
      for (int64_t k = 0; k < kEvenOddDepth; ++k) {
        const uint32_t below = BelowMagnitude(terms[k]);
        least[k] = below < least[k] ? below : least[k];
      }
      Order::Pair(terms, pairs);
    }
  }
  uint32_t below = 0xFFFFFFFFu;
  for (const uint32_t one : least) below = one < below ? one : below;
  return ExponentOf(below);
}

template <class Order>
PORTACL_TILE_TARGET LeastExponent PairPanel(const float* panel, int64_t width, int64_t depth, uint32_t* to) {
  uint32_t least[kMostPanelColumns];
  for (int64_t j = 0; j < width; ++j) least[j] = 0xFFFFFFFFu;
  for (int64_t block = 0; block < depth; block += kEvenOddDepth) {
    for (int64_t i = 0; i < kPairsOfBlock; ++i, to += width) {
      const int64_t low = block + Order::kLow[i], high = block + Order::kHigh[i];
      const float* const low_row = panel + low * width;
      const float* const high_row = panel + high * width;
      if (low < depth && high < depth) {
        for (int64_t j = 0; j < width; ++j) {
          const uint32_t x = BitsOf(low_row[j]), y = BitsOf(high_row[j]);
          const uint32_t a = BelowMagnitude(x), b = BelowMagnitude(y);
          const uint32_t below = a < b ? a : b;
          least[j] = below < least[j] ? below : least[j];
          to[j] = x >> 16 | (y & 0xFFFF0000u);
        }
        continue;
      }
      for (int64_t j = 0; j < width; ++j) {
        const uint32_t x = low < depth ? BitsOf(low_row[j]) : 0, y = high < depth ? BitsOf(high_row[j]) : 0;
        const uint32_t a = BelowMagnitude(x), b = BelowMagnitude(y);
        const uint32_t below = a < b ? a : b;
        least[j] = below < least[j] ? below : least[j];
        to[j] = x >> 16 | (y & 0xFFFF0000u);
      }
    }
  }
  uint32_t below = 0xFFFFFFFFu;
  for (int64_t j = 0; j < width; ++j) below = least[j] < below ? least[j] : below;
  return ExponentOf(below);
}

// The same of a pair: the lesser of both magnitudes minus 1, of 16 bits.
PORTACL_TILE_TARGET inline uint32_t BelowMagnitudes(uint32_t pair) {
  const uint32_t low = ((pair & 0x7FFFu) - 1) & 0xFFFFu, high = ((pair >> 16 & 0x7FFFu) - 1) & 0xFFFFu;
  return low < high ? low : high;
}
PORTACL_TILE_TARGET inline LeastExponent ExponentOfHalf(uint32_t below) {
  return below == 0xFFFFu ? kNoExponent : static_cast<LeastExponent>((below + 1) >> 7);
}

template <class Order>
PORTACL_TILE_TARGET LeastExponent OrderRows(const void* rows, int64_t row, int64_t count, int64_t depth,
                                            uint32_t* to) {
  uint16_t least[kEvenOddDepth];
  for (uint16_t& one : least) one = 0xFFFF;
  for (int64_t r = 0; r < count; ++r) {
    const char* from = static_cast<const char*>(rows) + r * row;
    uint32_t* pairs = to + r * kPairedRow;
    for (int64_t block = 0; block < depth; block += kEvenOddDepth, pairs += kPairsOfBlock) {
      uint16_t terms[kEvenOddDepth];
      std::memcpy(terms, from, sizeof terms);
      from += sizeof terms;
      for (int64_t k = 0; k < kEvenOddDepth; ++k) {
        const auto below = static_cast<uint16_t>((terms[k] & 0x7FFFu) - 1);
        least[k] = below < least[k] ? below : least[k];
      }
      std::memcpy(pairs, terms, sizeof terms);
      Order::OrderBlock(pairs);
    }
  }
  uint32_t below = 0xFFFFu;
  for (const uint16_t some : least) below = some < below ? some : below;
  return ExponentOfHalf(below);
}

template <class Order>
PORTACL_TILE_TARGET LeastExponent OrderPanel(uint32_t* panel, int64_t width, int64_t depth) {
  uint32_t least[kMostPanelColumns];
  for (int64_t j = 0; j < width; ++j) least[j] = 0xFFFFu;
  for (int64_t block = 0; block < depth; block += kEvenOddDepth) {
    for (int64_t i = 0; i < kPairsOfBlock; i += 2, panel += 2 * width) {
      uint32_t* const next = panel + width;
      for (int64_t j = 0; j < width; ++j) {
        const uint32_t a = BelowMagnitudes(panel[j]), b = BelowMagnitudes(next[j]);
        const uint32_t below = a < b ? a : b;
        least[j] = below < least[j] ? below : least[j];
        Order::Order(panel[j], next[j]);
      }
    }
  }
  uint32_t below = 0xFFFFu;
  for (int64_t j = 0; j < width; ++j) below = least[j] < below ? least[j] : below;
  return ExponentOfHalf(below);
}

template <class Order>
PORTACL_TILE_TARGET void WidenRows(const uint32_t* rows, int64_t count, int64_t depth, float* to) {
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t block = 0; block < depth; block += kEvenOddDepth) {
      for (int64_t i = 0; i < kPairsOfBlock; ++i) {
        const uint32_t pair = rows[r * kPairedRow + block / 2 + i];
        float* const row = to + r * kPackedRow + block;
        row[Order::kLow[i]] = NumberOf(pair << 16);
        row[Order::kHigh[i]] = NumberOf(pair & 0xFFFF0000u);
      }
    }
  }
}

template <class Order>
PORTACL_TILE_TARGET void WidenPanel(const uint32_t* panel, int64_t width, int64_t depth, float* to) {
  for (int64_t block = 0; block < depth; block += kEvenOddDepth) {
    for (int64_t i = 0; i < kPairsOfBlock; ++i, panel += width) {
      const int64_t low = block + Order::kLow[i], high = block + Order::kHigh[i];
      for (int64_t j = 0; j < width && low < depth; ++j) to[low * width + j] = NumberOf(panel[j] << 16);
      for (int64_t j = 0; j < width && high < depth; ++j)
        to[high * width + j] = NumberOf(panel[j] & 0xFFFF0000u);
    }
  }
}

}  // namespace
}  // namespace portacl::engine::PORTACL_TILE_NAMESPACE
