// Settings of the collective library, which are only stored for queries (hccl/hccl.h).
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <cstring>

#include "base/errors.h"
#include "hccl/hccl.h"

namespace portacl {
namespace {

std::atomic<int32_t> settings[HCCL_CONFIG_RESERVED];

// Returns the number of the setting, or reports an invalid one and returns -1. The C interface accepts any
// number.
int NumberOf(const char* api, HcclConfig config) noexcept {
  int number = 0;
  std::memcpy(&number, &config, sizeof number);
  if (number >= 0 && number < HCCL_CONFIG_RESERVED) return number;
  ReportMessage(MessageClass::kAclValue,
                Text(api, ": parameter config has the value ", number, ", accepted: 0 and 1."));
  return -1;
}

}  // namespace
}  // namespace portacl

using namespace portacl;

HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue) {
  const int number = NumberOf("HcclSetConfig", config);
  if (number < 0) return HCCL_E_PARA;
  settings[number] = configValue.value;
  return HCCL_SUCCESS;
}

HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue) {
  const char* const api = "HcclGetConfig";
  const int number = NumberOf(api, config);
  if (number < 0) return HCCL_E_PARA;
  if (configValue == nullptr) {
    ReportMessage(
        MessageClass::kAclNullPointer,
        Text(api, ": parameter configValue is a null pointer, expected the address of an HcclConfigValue."));
    return HCCL_E_PTR;
  }
  configValue->value = settings[number];
  return HCCL_SUCCESS;
}
