// Queries about memory: the location of an address, and how much a device has allocated.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "acl/acl_rt.h"
#include "acl/device/device.h"
#include "acl/memory/memory.h"
#include "base/errors.h"

namespace portacl {
namespace {

aclrtMemLocationType LocationTypeOf(MemoryKind kind) noexcept {
  switch (kind) {
    case MemoryKind::kDevice:
    case MemoryKind::kMapped:
      return ACL_MEM_LOCATION_TYPE_DEVICE;
    case MemoryKind::kManaged:
      return ACL_MEM_LOCATION_TYPE_MANAGED;
    case MemoryKind::kPinnedHost:
    case MemoryKind::kRegisteredHost:
      return ACL_MEM_LOCATION_TYPE_HOST;
    case MemoryKind::kUnknown:
      break;
  }
  return ACL_MEM_LOCATION_TYPE_UNREGISTERED;
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  const char* const api = "aclrtPointerGetAttributes";
  if (ptr == nullptr) return FailNullPointer(api, "ptr", "an address");
  if (attributes == nullptr)
    return FailNullPointer(api, "attributes", "the address of an aclrtPtrAttributes");
  const MemoryInfo info = InfoOfMemory(ptr);
  *attributes = {};
  attributes->location.type = LocationTypeOf(info.kind);
  attributes->location.id = static_cast<uint32_t>(info.device);
  attributes->pageSize = static_cast<uint32_t>(info.huge_pages ? kHugePage : kNormalPage);
  return ACL_SUCCESS;
}

aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo* memUsageInfo, size_t inputNum,
                              size_t* outputNum) {
  const char* const api = "aclrtGetMemUsageInfo";
  if (memUsageInfo == nullptr) return FailNullPointer(api, "memUsageInfo", "an array of inputNum entries");
  if (outputNum == nullptr) return FailNullPointer(api, "outputNum", "the address of a size_t");
  if (inputNum == 0) return FailValue(api, "inputNum", inputNum, "1 or more", ACL_ERROR_INVALID_PARAM);
  if (aclError status = CheckDevice(api, deviceId)) return status;
  const MemoryUsage usage = UsageOfDevice(deviceId);
  memUsageInfo[0] = {};
  std::strcpy(memUsageInfo[0].name, "APP");  // only the program itself allocates memory
  memUsageInfo[0].curMemSize = usage.current;
  memUsageInfo[0].memPeakSize = usage.peak;
  *outputNum = 1;
  return ACL_SUCCESS;
}
