// driver/ascend_hal.h: what profilers of clients ask the driver of a device.
// SPDX-License-Identifier: Apache-2.0
//
// libascend_hal.so is the driver's library. A client that finds it and a driver of 0x071905 or newer measures times in ticks of
// a counter that host and device share; there is none here, so both functions lead it to CLOCK_MONOTONIC_RAW.
#ifndef PORTACL_DRIVER_ASCEND_HAL_H_
#define PORTACL_DRIVER_ASCEND_HAL_H_

#include <stdint.h>

#ifdef FUNC_VISIBILITY
#define DLLEXPORT __attribute__((visibility("default")))
#else
#define DLLEXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  DRV_ERROR_NONE = 0,
  DRV_ERROR_INVALID_VALUE = 3,
  DRV_ERROR_NOT_SUPPORT = 0xfffe,
} drvError_t;

// Would tell a fact of a device, such as the frequency of its counter (moduleType 0, infoType 24). Writes nothing.
// Returns 0xfffe (DRV_ERROR_NOT_SUPPORT).
DLLEXPORT drvError_t halGetDeviceInfo(uint32_t devId, int32_t moduleType, int32_t infoType, int64_t* value);

// Tells the version of the driver's interface: 0x071900. Returns 0, or 3 (DRV_ERROR_INVALID_VALUE) for null.
DLLEXPORT drvError_t halGetAPIVersion(int32_t* halAPIVersion);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_DRIVER_ASCEND_HAL_H_
