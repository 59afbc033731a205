// Access of one device to another's memory. All devices share the host's memory, so that it always works.
// Enabling is only recorded, so that a program sees its mistakes.
// SPDX-License-Identifier: Apache-2.0
#include "acl/device/peer_access.h"

#include <atomic>

#include "acl/acl_rt.h"
#include "acl/device/device.h"
#include "acl/settings/configuration.h"
#include "base/errors.h"

namespace portacl {
namespace {

// At [a * kMostDevices + b]: whether a may use b's memory.
std::atomic<bool> enabled[kMostDevices * kMostDevices];

// Returns the flag of the current device's access to `peer`, or nullptr with *status set if it has none.
std::atomic<bool>* FlagOfPeer(const char* api, int32_t peer, aclError* status) noexcept {
  const Context* context = CurrentContext();
  if (context == nullptr) {
    *status = FailNoDevice(api);
    return nullptr;
  }
  *status = CheckDevice(api, peer);
  if (*status != ACL_SUCCESS) return nullptr;
  const int32_t device = context->device;
  if (peer == device) {
    *status =
        FailValue(api, "peerDeviceId", peer, "another device than the current one", ACL_ERROR_INVALID_PARAM);
    return nullptr;
  }
  return &enabled[static_cast<size_t>(device) * kMostDevices + static_cast<size_t>(peer)];
}

}  // namespace

bool HasPeerAccess(int32_t device, int32_t peer) noexcept {
  return enabled[static_cast<size_t>(device) * kMostDevices + static_cast<size_t>(peer)].load();
}

}  // namespace portacl

using namespace portacl;

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  const char* const api = "aclrtDeviceCanAccessPeer";
  if (canAccessPeer == nullptr) return FailNullPointer(api, "canAccessPeer", "the address of an int32_t");
  if (aclError status = CheckDevice(api, deviceId)) return status;
  if (aclError status = CheckDevice(api, peerDeviceId)) return status;
  if (deviceId == peerDeviceId) {
    return FailValue(api, "peerDeviceId", peerDeviceId, "another device than deviceId",
                     ACL_ERROR_INVALID_PARAM);
  }
  *canAccessPeer = 1;
  return ACL_SUCCESS;
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  const char* const api = "aclrtDeviceEnablePeerAccess";
  if (flags != 0) return FailValue(api, "flags", flags, "0", ACL_ERROR_INVALID_PARAM);
  aclError status = ACL_SUCCESS;
  if (std::atomic<bool>* flag = FlagOfPeer(api, peerDeviceId, &status))
    flag->store(true, std::memory_order_relaxed);
  return status;
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  const char* const api = "aclrtDeviceDisablePeerAccess";
  aclError status = ACL_SUCCESS;
  std::atomic<bool>* flag = FlagOfPeer(api, peerDeviceId, &status);
  if (flag == nullptr) return status;
  if (flag->exchange(false, std::memory_order_relaxed)) return ACL_SUCCESS;
  return FailValue(api, "peerDeviceId", peerDeviceId,
                   "a device for which aclrtDeviceEnablePeerAccess was called");
}
