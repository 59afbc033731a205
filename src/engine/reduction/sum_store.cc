// Rounds float64 sums once (see sum_store.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/reduction/sum_store.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "engine/buffer_ref.h"

namespace portacl::engine {
namespace {

// Rounds to nearest even, once, to a binary format with kExponentBits and kFractionBits, 16 bits in all.
template <int kExponentBits, int kFractionBits>
uint16_t RoundTo16(double value) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr uint64_t kInfinity = ((uint64_t{1} << kExponentBits) - 1) << kFractionBits;
  const auto bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  const uint64_t magnitude = bits & 0x7FFFFFFFFFFFFFFF;
  if (magnitude > 0x7FF0000000000000)
    return static_cast<uint16_t>(sign | kInfinity | uint64_t{1} << (kFractionBits - 1));
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent > kBias) return static_cast<uint16_t>(sign | kInfinity);
  // Drops more bits below the smallest normal number, and all bits below half of the smallest subnormal one.
  const int below = std::max(0, 1 - kBias - exponent);
  if (below > kFractionBits + 1) return sign;
  const uint64_t significand = (magnitude & 0xFFFFFFFFFFFFF) | uint64_t{1} << 52;
  const int dropped = 52 - kFractionBits + below;
  uint64_t kept = significand >> dropped;
  const uint64_t rest = significand & ((uint64_t{1} << dropped) - 1);
  const uint64_t half = uint64_t{1} << (dropped - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // The hidden bit and a carry add to the exponent field, which also handles rounding up to infinity.
  const uint64_t field = below > 0 ? 0 : static_cast<uint64_t>(exponent + kBias - 1) << kFractionBits;
  return static_cast<uint16_t>(sign | (field + kept));
}

void StoreSumsF32(const double* source, void* destination, size_t n) {
  auto* to = static_cast<char*>(destination);
  for (size_t i = 0; i < n; ++i) Store(to + i * sizeof(float), static_cast<float>(source[i]));
}

template <class Real, int kParts>
void StoreSumsWide(const double* source, void* destination, size_t n) {
  auto* to = static_cast<unsigned char*>(destination);
  for (size_t i = 0; i < n; ++i) {
    const Real parts[2] = {static_cast<Real>(static_cast<float>(source[i])), Real{0}};
    std::memcpy(to + i * sizeof(Real) * kParts, parts, sizeof(Real) * kParts);
  }
}

template <int kExponentBits, int kFractionBits>
void StoreSums16(const double* source, void* destination, size_t n) {
  auto* to = static_cast<char*>(destination);
  for (size_t i = 0; i < n; ++i)
    Store(to + i * sizeof(uint16_t), RoundTo16<kExponentBits, kFractionBits>(source[i]));
}

}  // namespace

SumStoreFunction FindSumStore(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_FLOAT:
      return StoreSumsF32;
    case ACL_FLOAT16:
      return StoreSums16<5, 10>;
    case ACL_BF16:
      return StoreSums16<8, 7>;
    case ACL_DOUBLE:
      return StoreSumsWide<double, 1>;
    case ACL_COMPLEX64:
      return StoreSumsWide<float, 2>;
    case ACL_COMPLEX128:
      return StoreSumsWide<double, 2>;
    default:
      return nullptr;
  }
}

}  // namespace portacl::engine
