// The limits of devices (see resource_limits.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/settings/resource_limits.h"

#include "acl/settings/configuration.h"

namespace portacl {
namespace {

ResourceLimits of_device[kMostDevices];

}  // namespace

ResourceLimits& LimitsOfDevice(int32_t device) noexcept { return of_device[device]; }

}  // namespace portacl
