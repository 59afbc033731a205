// Enabled accesses of devices to others' memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl {

// Tells whether aclrtDeviceEnablePeerAccess lets `device` use the memory of `peer`.
bool HasPeerAccess(int32_t device, int32_t peer) noexcept;

}  // namespace portacl
