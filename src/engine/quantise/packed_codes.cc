// Codes of 4 bits, packed two to a byte (see packed_codes.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/quantise/packed_codes.h"

#include <algorithm>

#include "engine/codes.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kPiece = int64_t{1} << 14;  // numbers that a thread takes
constexpr int64_t kCodes = 16;

uint8_t CodeOf(const char* number, bool is_float) {
  if (!is_float) return static_cast<uint8_t>(Load<int32_t>(number) & 0xF);
  const auto value = Load<float>(number);
  const float* const numbers = NumbersOfCodes(ACL_FLOAT4_E2M1);
  for (int64_t code = 0; code < kCodes; ++code) {
    if (numbers[code] == value) return static_cast<uint8_t>(code);
  }
  return 0;
}

}  // namespace

void PackCodes::Run(const JobContext& context) const noexcept {
  const char* const source = from.Address(context);
  char* const target = to.Address(context);
  ForEachBlock((count + kPiece - 1) / kPiece, threads, [&](int64_t piece) {
    for (int64_t i = piece * kPiece; i < std::min(count, (piece + 1) * kPiece); i += 2) {
      const uint8_t low = CodeOf(source + 4 * i, is_float);
      const uint8_t high = CodeOf(source + 4 * i + 4, is_float);
      target[i / 2] = static_cast<char>(low | high << 4);
    }
  });
}

}  // namespace portacl::engine
