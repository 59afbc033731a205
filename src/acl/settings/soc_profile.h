// The products that can be emulated: one table of names and of the facts that operators select by.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace portacl {

// The contract emulated is that of this CANN version (CANN's master of August 2026).
inline constexpr std::string_view kEmulatedCannVersion = "9.1.0";

// The index of a product in every per-product table. kNoDevice is what a thread without a device sees.
enum class Product : uint8_t {
  kAtlasTraining,
  kAtlasA2,
  kAtlasA3,
  kAscend950,
  kAtlasInference,
  kAtlas200I500A2,
  kNoDevice
};
inline constexpr int kProductCount = 7;

struct SocProfile {
  Product product;
  const char* line;        // the product line as CANN's documents name it
  const char* short_name;  // short SoC name
  int soc_version;         // CANN's op::SocVersion
  int npu_arch;            // the digits of CANN's NpuArch (DAV_2201 -> 2201); 0 when there is none
  std::span<const char* const> names;     // strings that aclrtGetSocName returns
  std::span<const char* const> prefixes;  // accepted beside the names: prefix plus anything
};

// Every profile: the product lines in the order of Product, then names that share the lists of one of them,
// then "no device".
std::span<const SocProfile> SocProfiles() noexcept;

// The profile that a full SoC name selects, nullptr for an unknown name.
// Mind that "Ascend910B" (no digit) is the Atlas training product, not Atlas A2.
const SocProfile* FindSocProfile(std::string_view soc_name) noexcept;

inline constexpr std::string_view kDefaultSocName = "Ascend910B1";

}  // namespace portacl
