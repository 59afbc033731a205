// The functions of acl_rt.h on resource limits (see resource_limits.h). A processor of the host counts as a
// vector core and as a cube core; only vector cores do anything here.
// SPDX-License-Identifier: Apache-2.0
#include "acl/resource_limits.h"

#include <algorithm>

#include "acl/acl_rt.h"
#include "acl/configuration.h"
#include "acl/device.h"
#include "acl/errors.h"
#include "acl/stream.h"

namespace portacl {
namespace {

ResourceLimits of_device[kMostDevices];
// Set once and for all by the first limit: until then phase 1 looks no further.
std::atomic<bool> any_limit{false};
thread_local aclrtStream stream_in_use = nullptr;

uint32_t Most() noexcept { return static_cast<uint32_t>(CurrentConfiguration().num_threads); }

uint32_t LimitOr(const ResourceLimits& limits, int type, uint32_t otherwise) noexcept {
  const uint32_t limit = limits.values[type].load(std::memory_order_relaxed);
  return limit == 0 ? otherwise : std::min(limit, Most());
}

uint32_t OfThisThread(const Context& context, int type) noexcept {
  const uint32_t device_limit = LimitOr(of_device[context.device], type, Most());
  const Stream* stream = stream_in_use == nullptr ? nullptr : FindStream(stream_in_use);
  return stream == nullptr ? device_limit : LimitOr(stream->limits, type, device_limit);
}

aclError CheckType(const char* api, aclrtDevResLimitType type) noexcept {
  if (type == ACL_RT_DEV_RES_CUBE_CORE || type == ACL_RT_DEV_RES_VECTOR_CORE) return ACL_SUCCESS;
  return FailValue(api, "type", static_cast<int>(type), "0 (cube cores) or 1 (vector cores)",
                   ACL_ERROR_INVALID_PARAM);
}

aclError CheckOut(const char* api, const uint32_t* value) noexcept {
  return value != nullptr ? ACL_SUCCESS : FailNullPointer(api, "value", "the address of a uint32_t");
}

aclError Set(const char* api, ResourceLimits& limits, int type, uint32_t value) noexcept {
  if (value == 0 || value > Most()) return FailValue(api, "value", value, Text("1 to ", Most()).view());
  limits.values[type].store(value, std::memory_order_relaxed);
  any_limit.store(true, std::memory_order_relaxed);
  return ACL_SUCCESS;
}

}  // namespace

int ThreadLimit() noexcept {
  if (any_limit.load(std::memory_order_relaxed)) {
    if (const Context* context = CurrentContext()) {
      return static_cast<int>(OfThisThread(*context, ACL_RT_DEV_RES_VECTOR_CORE));
    }
  }
  return CurrentConfiguration().num_threads;
}

void ForgetDeviceLimits(int32_t device) noexcept { of_device[device].Forget(); }

}  // namespace portacl

using namespace portacl;

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
  const char* const api = "aclrtGetDeviceResLimit";
  if (aclError status = CheckDevice(api, deviceId)) return status;
  if (aclError status = CheckType(api, type)) return status;
  if (aclError status = CheckOut(api, value)) return status;
  *value = LimitOr(of_device[deviceId], type, Most());
  return ACL_SUCCESS;
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  const char* const api = "aclrtSetDeviceResLimit";
  if (aclError status = CheckDevice(api, deviceId)) return status;
  if (aclError status = CheckType(api, type)) return status;
  return Set(api, of_device[deviceId], type, value);
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
  if (aclError status = CheckDevice("aclrtResetDeviceResLimit", deviceId)) return status;
  ForgetDeviceLimits(deviceId);
  return ACL_SUCCESS;
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
  const char* const api = "aclrtGetStreamResLimit";
  if (aclError status = CheckType(api, type)) return status;
  if (aclError status = CheckOut(api, value)) return status;
  aclError status = ACL_SUCCESS;
  const Stream* found = FindStreamFor(api, stream, &status);
  if (found == nullptr) return status;
  *value = LimitOr(found->limits, type, LimitOr(of_device[found->device()], type, Most()));
  return ACL_SUCCESS;
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
  const char* const api = "aclrtSetStreamResLimit";
  if (aclError status = CheckType(api, type)) return status;
  aclError status = ACL_SUCCESS;
  Stream* found = FindStreamFor(api, stream, &status);
  return found == nullptr ? status : Set(api, found->limits, type, value);
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
  aclError status = ACL_SUCCESS;
  Stream* found = FindStreamFor("aclrtResetStreamResLimit", stream, &status);
  if (found != nullptr) found->limits.Forget();
  return status;
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
  const char* const api = "aclrtUseStreamResInCurrentThread";
  aclError status = ACL_SUCCESS;
  if (FindStreamFor(api, stream, &status) == nullptr) return status;
  if (stream != nullptr) {
    stream_in_use = stream;
    return ACL_SUCCESS;
  }
  return aclrtCtxGetCurrentDefaultStream(&stream_in_use);
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  aclError status = ACL_SUCCESS;
  if (FindStreamFor("aclrtUnuseStreamResInCurrentThread", stream, &status) == nullptr) return status;
  stream_in_use = nullptr;
  return ACL_SUCCESS;
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  const char* const api = "aclrtGetResInCurrentThread";
  if (aclError status = CheckType(api, type)) return status;
  if (aclError status = CheckOut(api, value)) return status;
  const Context* context = CurrentContext();
  if (context == nullptr) return FailNoDevice(api);
  *value = OfThisThread(*context, type);
  return ACL_SUCCESS;
}
