// The driver functions that clients' profilers call (driver/ascend_hal.h).
// SPDX-License-Identifier: Apache-2.0
#include "driver/ascend_hal.h"

drvError_t halGetDeviceInfo(uint32_t, int32_t, int32_t, int64_t*) { return DRV_ERROR_NOT_SUPPORT; }

drvError_t halGetAPIVersion(int32_t* halAPIVersion) {
  if (halAPIVersion == nullptr) return DRV_ERROR_INVALID_VALUE;
  *halAPIVersion = 0x071900;
  return DRV_ERROR_NONE;
}
