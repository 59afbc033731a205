// The older interface to streams and memory (runtime/rt.h): each function calls the corresponding aclrt
// function.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/rt.h"

#include <cstring>
#include <string_view>

#include "acl/acl_rt.h"
#include "base/errors.h"

using namespace portacl;

rtError_t rtGetSocVersion(char* version, uint32_t maxLen) {
  const char* const api = "rtGetSocVersion";
  if (version == nullptr) return FailNullPointer(api, "version", "a buffer of maxLen bytes");
  const char* const product = aclrtGetSocName();
  if (product == nullptr) return ACL_ERROR_RT_INTERNAL_ERROR;  // the configuration is refused, with a message
  const std::string_view name = product;
  if (maxLen <= name.size()) {
    return FailValue(api, "maxLen", maxLen, "more than the length of the product's name",
                     ACL_ERROR_RT_PARAM_INVALID);
  }
  std::memcpy(version, name.data(), name.size());
  version[name.size()] = '\0';
  return ACL_SUCCESS;
}

rtError_t rtGetAiCoreCount(uint32_t* aiCoreCnt) {
  if (aiCoreCnt == nullptr)
    return FailNullPointer("rtGetAiCoreCount", "aiCoreCnt", "the address of a uint32_t");
  int32_t device = 0;
  if (aclrtGetDevice(&device) != ACL_SUCCESS) device = 0;
  int64_t count = 0;
  if (aclError status =
          aclrtGetDeviceInfo(static_cast<uint32_t>(device), ACL_DEV_ATTR_AICORE_CORE_NUM, &count))
    return status;
  *aiCoreCnt = static_cast<uint32_t>(count);
  return ACL_SUCCESS;
}

rtError_t rtSetDevice(int32_t devId) { return aclrtSetDevice(devId); }

// The limits apply to a device's kernels, of which there are none.
rtError_t rtDeviceSetLimit(int32_t devId, rtLimitType_t, uint32_t) {
  int64_t ignored = 0;
  if (devId < 0)
    return FailValue("rtDeviceSetLimit", "devId", devId, "the number of a device",
                     ACL_ERROR_RT_INVALID_DEVICEID);
  return aclrtGetDeviceInfo(static_cast<uint32_t>(devId), ACL_DEV_ATTR_AICORE_CORE_NUM, &ignored);
}

rtError_t rtStreamCreate(rtStream_t* stream, int32_t) { return aclrtCreateStream(stream); }
rtError_t rtStreamDestroy(rtStream_t stream) { return aclrtDestroyStream(stream); }

rtError_t rtMalloc(void** devPtr, uint64_t size, rtMemType_t, uint16_t) {
  return aclrtMalloc(devPtr, size, ACL_MEM_MALLOC_HUGE_FIRST);
}
rtError_t rtFree(void* devPtr) { return aclrtFree(devPtr); }
rtError_t rtMallocHost(void** hostPtr, uint64_t size, uint16_t) { return aclrtMallocHost(hostPtr, size); }
rtError_t rtFreeHost(void* hostPtr) { return aclrtFreeHost(hostPtr); }

rtError_t rtMemcpy(void* dst, uint64_t destMax, const void* src, uint64_t cnt, rtMemcpyKind_t kind) {
  return aclrtMemcpy(dst, destMax, src, cnt, static_cast<aclrtMemcpyKind>(kind));
}
