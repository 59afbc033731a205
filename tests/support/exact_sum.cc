// Exact sums: see exact_sum.h.
// SPDX-License-Identifier: Apache-2.0
#include "exact_sum.h"

#include <bit>
#include <cmath>

namespace portacl::testing {

void ExactSum::Add(float term) {
  const uint32_t bits = std::bit_cast<uint32_t>(term);
  const uint32_t exponent_field = bits >> 23 & 0xFF;
  const uint64_t significand = (bits & 0x7FFFFF) | (exponent_field == 0 ? 0u : 0x800000u);
  const uint32_t shift = exponent_field == 0 ? 0 : exponent_field - 1;  // above bit 0
  const size_t word = shift / 64;
  const uint32_t within = shift % 64;
  const uint64_t low = significand << within;
  const uint64_t high = within == 0 ? 0 : significand >> (64 - within);

  uint64_t carry = 0;
  for (size_t i = word; i < words_.size(); ++i) {
    const uint64_t part = i == word ? low : i == word + 1 ? high : 0;
    if (i > word + 1 && carry == 0) {
      break;
    }
    const uint64_t before = words_[i];
    if (bits >> 31 == 0) {
      const uint64_t sum = before + part;
      words_[i] = sum + carry;
      carry = (sum < before ? 1u : 0u) + (words_[i] < sum ? 1u : 0u);
    } else {
      const uint64_t difference = before - part;
      words_[i] = difference - carry;
      carry = (difference > before ? 1u : 0u) + (words_[i] > difference ? 1u : 0u);
    }
  }
}

ExactSum::Magnitude ExactSum::Top() const {
  Magnitude top;
  std::array<uint64_t, kWords> words = words_;
  top.negative = words.back() >> 63 != 0;
  if (top.negative) {
    uint64_t carry = 1;
    for (uint64_t& word : words) {
      word = ~word + carry;
      carry = carry != 0 && word == 0 ? 1 : 0;
    }
  }
  size_t highest = words.size() - 1;
  while (highest > 0 && words[highest] == 0) {
    --highest;
  }
  const int spare = words[highest] == 0 ? 0 : std::countl_zero(words[highest]);
  top.significand = words[highest];
  top.exponent = static_cast<int>(highest) * 64 + kLowestExponent;
  if (highest == 0) {
    return top;
  }
  bool sticky = false;
  if (spare > 0) {
    top.significand = words[highest] << spare | words[highest - 1] >> (64 - spare);
    sticky = words[highest - 1] << spare != 0;
    top.exponent -= spare;
  } else {
    sticky = words[highest - 1] != 0;
  }
  for (size_t i = 0; i + 1 < highest; ++i) {
    sticky = sticky || words[i] != 0;
  }
  top.significand |= sticky ? 1 : 0;
  return top;
}

uint32_t ExactSum::RoundedTo(FloatFormat format) const {
  const Magnitude top = Top();
  return RoundToFormat(format, top.negative, top.significand, top.exponent);
}

double ExactSum::ToDouble() const {
  const Magnitude top = Top();
  const double magnitude = std::ldexp(static_cast<double>(top.significand), top.exponent);
  return top.negative ? -magnitude : magnitude;
}

}  // namespace portacl::testing
