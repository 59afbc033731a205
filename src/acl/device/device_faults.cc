// Faults of a device's memory and processors. A host with such a fault does not report it here.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "acl/acl_rt.h"
#include "acl/device/device.h"
#include "base/errors.h"

using namespace portacl;

aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t, size_t* retSize) {
  const char* const api = "aclrtGetMemUceInfo";
  if (memUceInfoArray == nullptr)
    return FailNullPointer(api, "memUceInfoArray", "an array of aclrtMemUceInfo");
  if (retSize == nullptr) return FailNullPointer(api, "retSize", "the address of a size_t");
  if (aclError status = CheckDevice(api, deviceId)) return status;
  *retSize = 0;
  return ACL_SUCCESS;
}

aclError aclrtMemUceRepair(int32_t, aclrtMemUceInfo*, size_t) {
  return FailUnsupported("aclrtMemUceRepair", "no memory is ever known to be lost, so none can be repaired");
}

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo* errorInfo) {
  const char* const api = "aclrtGetErrorVerbose";
  if (errorInfo == nullptr) return FailNullPointer(api, "errorInfo", "the address of an aclrtErrorInfo");
  if (aclError status = CheckDevice(api, deviceId)) return status;
  *errorInfo = {};
  errorInfo->errorType = ACL_RT_NO_ERROR;
  return ACL_SUCCESS;
}

aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo* errorInfo) {
  const char* const api = "aclrtRepairError";
  if (errorInfo == nullptr) return FailNullPointer(api, "errorInfo", "what aclrtGetErrorVerbose stored");
  if (aclError status = CheckDevice(api, deviceId)) return status;
  int fault = 0;  // any number may stand there
  std::memcpy(&fault, &errorInfo->errorType, sizeof fault);
  if (fault == ACL_RT_NO_ERROR) return ACL_SUCCESS;
  return FailUnsupported(api, "no fault is ever reported, so none can be repaired");
}
