// Versions of the emulated interface, and its capabilities.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstring>
#include <string_view>

#include "acl/acl_rt.h"
#include "acl/settings/configuration.h"
#include "acl/settings/soc_profile.h"
#include "base/errors.h"

namespace portacl {
namespace {

// The packages of the emulated CANN, by the names of aclsysGetVersionStr; the first ones have a number in
// aclCANNPackageName, too. All have one version. This library replaces each of them, or makes it unnecessary
// (nothing is compiled, and no driver is needed), and a client that asks wants to know the version of the
// interface.
constexpr std::string_view kPackages[] = {
    "cann",   "runtime", "compiler",        "hccl",   "toolkit",  "opp",        "opp_kernel",
    "driver", "ops_cv",  "ops_transformer", "ops_nn", "ops_math", "ops_legacy",
};
static_assert(kPackages[ACL_PKG_NAME_CANN] == "cann" && kPackages[ACL_PKG_NAME_DRIVER] == "driver");

static_assert(kEmulatedCannVersion.size() < ACL_PKG_VERSION_PARTS_MAX_SIZE);

// Returns part 0, 1 or 2 of the version.
std::string_view Part(int part) noexcept {
  std::string_view rest = kEmulatedCannVersion;
  for (; part > 0; --part) rest.remove_prefix(rest.find('.') + 1);
  return rest.substr(0, rest.find('.'));
}

int32_t Number(std::string_view part) noexcept {
  int32_t number = 0;
  std::from_chars(part.data(), part.data() + part.size(), number);
  return number;
}

void Store(std::string_view text, char* room) noexcept {
  std::memcpy(room, text.data(), text.size());
  room[text.size()] = '\0';
}

aclError CheckPackage(const char* api, const char* name) noexcept {
  if (name == nullptr) return FailNullPointer(api, "pkgName", "the name of a package");
  Text known;
  for (const std::string_view package : kPackages) {
    if (package == name) return ACL_SUCCESS;
    if (package != kPackages[0]) known.Add(", ");
    known.Add(package);
  }
  return FailValue(api, "pkgName", name, known.view(), ACL_ERROR_INVALID_FILE);
}

bool HasBf16() noexcept {
  const Product product = CurrentConfiguration().soc->product;
  return product == Product::kAtlasA2 || product == Product::kAtlasA3 || product == Product::kAscend950;
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  const char* const api = "aclrtGetVersion";
  if (majorVersion == nullptr) return FailNullPointer(api, "majorVersion", "the address of an int32_t");
  if (minorVersion == nullptr) return FailNullPointer(api, "minorVersion", "the address of an int32_t");
  if (patchVersion == nullptr) return FailNullPointer(api, "patchVersion", "the address of an int32_t");
  *majorVersion = ACL_MAJOR_VERSION;
  *minorVersion = ACL_MINOR_VERSION;
  *patchVersion = ACL_PATCH_VERSION;
  return ACL_SUCCESS;
}

aclError aclsysGetVersionStr(char* pkgName, char* versionStr) {
  const char* const api = "aclsysGetVersionStr";
  if (versionStr == nullptr)
    return FailNullPointer(api, "versionStr", "room for ACL_PKG_VERSION_MAX_SIZE bytes");
  if (aclError status = CheckPackage(api, pkgName)) return status;
  Store(kEmulatedCannVersion, versionStr);
  return ACL_SUCCESS;
}

aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum) {
  const char* const api = "aclsysGetVersionNum";
  if (versionNum == nullptr) return FailNullPointer(api, "versionNum", "the address of an int32_t");
  if (aclError status = CheckPackage(api, pkgName)) return status;
  *versionNum = Number(Part(0)) * 10'000'000 + Number(Part(1)) * 100'000 + Number(Part(2)) * 1000;
  return ACL_SUCCESS;
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version) {
  const char* const api = "aclsysGetCANNVersion";
  if (version == nullptr) return FailNullPointer(api, "version", "the address of an aclCANNPackageVersion");
  int number = 0;  // any number may come through the C interface
  std::memcpy(&number, &name, sizeof number);
  if (number < ACL_PKG_NAME_CANN || number > ACL_PKG_NAME_DRIVER) {
    return FailValue(api, "name", number, "0 to 7", ACL_ERROR_INVALID_PARAM);
  }
  *version = {};
  Store(kEmulatedCannVersion, version->version);
  Store(Part(0), version->majorVersion);
  Store(Part(1), version->minorVersion);
  Store(Part(2), version->releaseVersion);
  return ACL_SUCCESS;
}

aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
  const char* const api = "aclGetCannAttributeList";
  if (cannAttrList == nullptr) return FailNullPointer(api, "cannAttrList", "the address of a pointer");
  if (num == nullptr) return FailNullPointer(api, "num", "the address of a size_t");
  static constexpr aclCannAttr kAttributes[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16};
  *cannAttrList = kAttributes;
  *num = HasBf16() ? 2 : 1;
  return ACL_SUCCESS;
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
  const char* const api = "aclGetCannAttribute";
  if (value == nullptr) return FailNullPointer(api, "value", "the address of an int32_t");
  switch (cannAttr) {
    case ACL_CANN_ATTR_INF_NAN:
      *value = 1;
      return ACL_SUCCESS;
    case ACL_CANN_ATTR_BF16:
      *value = HasBf16() ? 1 : 0;
      return ACL_SUCCESS;
    case ACL_CANN_ATTR_JIT_COMPILE:
      *value = 0;
      return ACL_SUCCESS;
    case ACL_CANN_ATTR_UNDEFINED:
      break;
  }
  return FailValue(api, "cannAttr", static_cast<int>(cannAttr), "0 to 2", ACL_ERROR_INVALID_PARAM);
}
