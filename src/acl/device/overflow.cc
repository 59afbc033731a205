// Overflow: results contain infinities and NaN as in IEEE 754. Nothing saturates, and nothing counts
// overflows.
// SPDX-License-Identifier: Apache-2.0
#include "acl/acl_rt.h"
#include "acl/device/device.h"
#include "base/errors.h"

using namespace portacl;

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  const char* const api = "aclrtSetDeviceSatMode";
  if (CurrentContext() == nullptr) return FailNoDevice(api);
  if (mode == ACL_RT_OVERFLOW_MODE_INFNAN) return ACL_SUCCESS;
  if (mode == ACL_RT_OVERFLOW_MODE_SATURATION) {
    return FailUnsupported(api,
                           "operators do not saturate; only 1 (ACL_RT_OVERFLOW_MODE_INFNAN) is accepted");
  }
  return FailValue(api, "mode", static_cast<int>(mode), "1 (ACL_RT_OVERFLOW_MODE_INFNAN)",
                   ACL_ERROR_INVALID_PARAM);
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
  const char* const api = "aclrtGetDeviceSatMode";
  if (mode == nullptr) return FailNullPointer(api, "mode", "the address of an aclrtFloatOverflowMode");
  if (CurrentContext() == nullptr) return FailNoDevice(api);
  *mode = ACL_RT_OVERFLOW_MODE_INFNAN;
  return ACL_SUCCESS;
}

aclError aclrtGetOverflowStatus(void*, size_t, aclrtStream) {
  return FailUnsupported(
      "aclrtGetOverflowStatus",
      "no operator here notes an overflow beside its results; look for infinities and NaN in them");
}

aclError aclrtResetOverflowStatus(aclrtStream) {
  return FailUnsupported("aclrtResetOverflowStatus",
                         "there is no overflow status, see aclrtGetOverflowStatus");
}
