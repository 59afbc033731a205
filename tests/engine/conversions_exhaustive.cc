// Every one of the 2^32 float32 values, rounded to a 16-bit format on every instruction set.
// Usage: conversions_exhaustive float16|bfloat16
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string_view>
#include <vector>

#include "engine/conversions.h"
#include "engine/half_formats.h"
#include "engine/isa_in_use.h"

namespace portacl::testing {
namespace {

constexpr uint32_t kChunk = 1u << 16;
constexpr uint32_t kFloatInfinity = 0x7F800000;

// Rounds the chunk of floats that starts at the bit pattern `first` and compares; prints the first difference.
bool CheckChunk(const HalfFormat& half, Isa isa, uint32_t first, const std::vector<uint16_t>& expected) {
  std::vector<float> values(kChunk);
  std::vector<uint16_t> found(kChunk);
  for (uint32_t i = 0; i < kChunk; ++i) values[i] = std::bit_cast<float>(first + i);
  engine::FindStore(isa, half.dtype)(values.data(), found.data(), kChunk, false);
  const auto sign = static_cast<uint16_t>(first >> 31 << 15);
  for (uint32_t i = 0; i < kChunk; ++i) {
    const bool is_nan = ((first + i) & 0x7FFFFFFF) > kFloatInfinity;
    const bool right = is_nan ? half.IsNan(found[i]) : found[i] == (expected[i] | sign);
    if (!right) {
      std::printf("%s, %s: float32 0x%08X gives 0x%04X, expected %s0x%04X\n", half.name, IsaName(isa),
                  first + i, found[i], is_nan ? "NaN, not " : "", is_nan ? found[i] : expected[i] | sign);
      return false;
    }
  }
  return true;
}

int Run(const HalfFormat& half) {
  int wrong_chunks = 0;
  AscendingRounding rounding(half);
  std::vector<uint16_t> expected(kChunk);
  for (uint32_t first = 0; first < 0x80000000u; first += kChunk) {
    for (uint32_t i = 0; i < kChunk; ++i) {
      if (first + i <= kFloatInfinity) expected[i] = rounding.Of(first + i);
    }
    for (const Isa isa : SupportedIsas()) {
      for (const uint32_t sign : {0u, 0x80000000u})
        wrong_chunks += CheckChunk(half, isa, first | sign, expected) ? 0 : 1;
    }
    if (wrong_chunks >= 20) break;  // the first differences say enough
  }
  std::printf("%s: %s\n", half.name, wrong_chunks == 0 ? "all 2^32 values are right" : "differences found");
  return wrong_chunks == 0 ? 0 : 1;
}

}  // namespace
}  // namespace portacl::testing

int main(int argc, char** argv) {
  for (const auto& half : portacl::testing::kHalfFormats) {
    if (argc == 2 && std::string_view(argv[1]) == half.name) return portacl::testing::Run(half);
  }
  std::printf("usage: %s float16|bfloat16\n", argv[0]);
  return 2;
}
