// The table of products (names and versions as CANN's platform configuration lists them).
// SPDX-License-Identifier: Apache-2.0
#include "acl/settings/soc_profile.h"

namespace portacl {
namespace {

constexpr const char* kTrainingNames[] = {"Ascend910A", "Ascend910ProA", "Ascend910PremiumA", "Ascend910B",
                                          "Ascend910ProB"};
constexpr const char* kA2Names[] = {"Ascend910B1", "Ascend910B2", "Ascend910B2C",
                                    "Ascend910B3", "Ascend910B4", "Ascend910B4-1"};
constexpr const char* kA3Names[] = {"Ascend910_9391", "Ascend910_9392", "Ascend910_9381", "Ascend910_9382",
                                    "Ascend910_9372", "Ascend910_9362", "Ascend910_9363"};
constexpr const char* k950Prefixes[] = {"Ascend950PR_", "Ascend950DT_"};
constexpr const char* kInferenceNames[] = {"Ascend310P1", "Ascend310P2", "Ascend310P3", "Ascend310P4",
                                           "Ascend310P5", "Ascend310P6", "Ascend310P7"};
constexpr const char* k200INames[] = {"Ascend310B1", "Ascend310B2", "Ascend310B3", "Ascend310B4"};

constexpr const char* k310Names[] = {"Ascend310"};

constexpr int kNoSocVersion = 99999;

constexpr SocProfile kProfiles[] = {
    {Product::kAtlasTraining, "Atlas training", "Ascend910", 0, 1001, kTrainingNames, {}},
    {Product::kAtlasA2, "Atlas A2", "Ascend910B", 1, 2201, kA2Names, {}},
    {Product::kAtlasA3, "Atlas A3", "Ascend910_93", 2, 2201, kA3Names, {}},
    {Product::kAscend950, "Ascend 950PR/950DT", "Ascend950", 3, 3510, {}, k950Prefixes},
    {Product::kAtlasInference, "Atlas inference", "Ascend310P", 6, 2002, kInferenceNames, {}},
    {Product::kAtlas200I500A2, "Atlas 200I/500 A2", "Ascend310B", 7, 3002, k200INames, {}},
    // Ascend 310 has the dtype lists of Atlas 200I/500 A2 and is not a separate product here.
    {Product::kAtlas200I500A2, "Ascend 310", "Ascend310", 5, 0, k310Names, {}},
    {Product::kNoDevice, "no device", "none", kNoSocVersion, 0, {}, {}},
};

}  // namespace

std::span<const SocProfile> SocProfiles() noexcept { return kProfiles; }

const SocProfile* FindSocProfile(std::string_view soc_name) noexcept {
  for (const SocProfile& profile : kProfiles) {
    for (const char* name : profile.names) {
      if (soc_name == name) return &profile;
    }
    for (const char* prefix : profile.prefixes) {
      if (soc_name.starts_with(prefix) && soc_name.size() > std::string_view(prefix).size()) return &profile;
    }
  }
  return nullptr;
}

}  // namespace portacl
