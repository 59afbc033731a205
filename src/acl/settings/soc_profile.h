// The products that can be emulated: one table of names and of the properties by which operators select.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace portacl {

// The CANN version whose contract is emulated (CANN's master of August 2026).
inline constexpr std::string_view kEmulatedCannVersion = "9.1.0";

// The index of a product in every per-product table. A thread without a device sees kNoDevice.
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
  std::span<const char* const> prefixes;  // also accepted: a prefix followed by anything
};

// Returns every profile: the product lines in the order of Product, then names that share the lists of one of
// them, then "no device".
std::span<const SocProfile> SocProfiles() noexcept;

// Returns the profile that a full SoC name selects, or nullptr for an unknown name. Note that "Ascend910B"
// (without a digit) is the Atlas training product, not Atlas A2.
const SocProfile* FindSocProfile(std::string_view soc_name) noexcept;

inline constexpr std::string_view kDefaultSocName = "Ascend910B1";

}  // namespace portacl
