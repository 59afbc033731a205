// Scales of quantised matrix products as 64-bit words in CANN's layout.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/float_environment.h"
#include "engine/buffer_ref.h"

namespace portacl::engine {

// Says what becomes of a scale's low 13 bits.
enum class ScaleBits : uint8_t {
  kAll,     // they stay
  kHigh,    // they are cleared
  kNearest  // the scale is rounded to nearest even at these, and a subnormal one becomes 0
};

// The low half is the scale. Bit 46 is 1. Bits 37 to 45 are the offset in 9-bit two's complement, rounded to nearest
// even and saturated; NaN is 0.
inline uint64_t ScaleWord(float scale, float offset, ScaleBits kept) noexcept {
  constexpr uint32_t kUpperBits = 0xFFFFE000;
  constexpr int kOffsetAt = 37;
  constexpr int kOneAt = 46;
  uint32_t bits;
  std::memcpy(&bits, &scale, sizeof bits);
  if (kept == ScaleBits::kNearest && !std::isnan(scale))
    bits = std::fabs(scale) < 0x1p-126f ? bits & 0x80000000u : bits + 0xFFFu + (bits >> 13 & 1u);
  if (kept != ScaleBits::kAll) bits &= kUpperBits;
  const float rounded =
      std::isnan(offset) ? 0.0f : std::fmin(std::fmax(std::nearbyint(offset), -256.0f), 255.0f);
  const auto low = static_cast<uint64_t>(static_cast<int64_t>(rounded)) & 511u;
  return bits | low << kOffsetAt | uint64_t{1} << kOneAt;
}
inline float OffsetOfScaleWord(uint64_t word) noexcept {
  const auto low = static_cast<int32_t>(word >> 37 & 511u);
  return static_cast<float>((low ^ 256) - 256);
}

// Makes words from scales and offsets, row by row. Steps are in bytes, and 0 for what repeats. Trivially copyable.
struct ScaleWordsJob {
  struct Operand {
    int8_t argument;  // -1: 0
    int64_t first;
    int64_t step;
    int64_t row_step;
  };
  Operand scale;
  Operand offset;
  Operand out;
  int64_t count;    // of all rows
  int64_t columns;  // of a row
  ScaleBits kept;

  bool Touches(int operand) const noexcept {
    return operand == scale.argument || operand == offset.argument || operand == out.argument;
  }
  int64_t Elements() const noexcept { return count; }
  void Run(void* const* addresses, void*) const noexcept {
    const DefaultFloatEnvironment environment;
    for (int64_t i = 0; i < count; ++i) {
      const auto at = [&](const Operand& operand) {
        return static_cast<char*>(addresses[operand.argument]) + operand.first +
               i / columns * operand.row_step + i % columns * operand.step;
      };
      const float given = offset.argument < 0 ? 0 : Load<float>(at(offset));
      Store(at(out), ScaleWord(Load<float>(at(scale)), given, kept));
    }
  }
};

}  // namespace portacl::engine
