// The functions of acl_rt.h on resource limits (see thread_limit.h). A processor of the host counts as a
// vector core and as a cube core; only limits on vector cores have an effect.
// SPDX-License-Identifier: Apache-2.0
#include "acl/stream/thread_limit.h"

#include <algorithm>
#include <atomic>

#include "acl/acl_rt.h"
#include "acl/device/device.h"
#include "acl/queue/stream.h"
#include "acl/settings/configuration.h"
#include "acl/settings/resource_limits.h"
#include "acl/stream/found_stream.h"
#include "base/errors.h"

namespace portacl {
namespace {

// Set permanently by the first limit; before that phase 1 looks no further.
std::atomic<bool> any_limit{false};
thread_local aclrtStream stream_in_use = nullptr;

uint32_t Most() noexcept { return static_cast<uint32_t>(CurrentConfiguration().num_threads); }

uint32_t LimitOr(const ResourceLimits& limits, int type, uint32_t otherwise) noexcept {
  const uint32_t limit = limits.values[type].load(std::memory_order_relaxed);
  return limit == 0 ? otherwise : std::min(limit, Most());
}

uint32_t OfThisThread(const Context& context, int type) noexcept {
  const uint32_t device_limit = LimitOr(LimitsOfDevice(context.device), type, Most());
  const Stream* stream = stream_in_use == nullptr ? nullptr : FindStream(stream_in_use).stream;
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

aclError CheckValue(const char* api, uint32_t value) noexcept {
  return value > 0 && value <= Most() ? ACL_SUCCESS
                                      : FailValue(api, "value", value, Text("1 to ", Most()).view());
}

void Set(ResourceLimits& limits, int type, uint32_t value) noexcept {
  limits.values[type].store(value, std::memory_order_relaxed);
  any_limit.store(true, std::memory_order_relaxed);
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

}  // namespace portacl

using namespace portacl;

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
  const char* const api = "aclrtGetDeviceResLimit";
  if (aclError status = CheckDevice(api, deviceId)) return status;
  if (aclError status = CheckType(api, type)) return status;
  if (aclError status = CheckOut(api, value)) return status;
  *value = LimitOr(LimitsOfDevice(deviceId), type, Most());
  return ACL_SUCCESS;
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  const char* const api = "aclrtSetDeviceResLimit";
  if (aclError status = CheckDevice(api, deviceId)) return status;
  if (aclError status = CheckType(api, type)) return status;
  if (aclError status = CheckValue(api, value)) return status;
  Set(LimitsOfDevice(deviceId), type, value);
  return ACL_SUCCESS;
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
  if (aclError status = CheckDevice("aclrtResetDeviceResLimit", deviceId)) return status;
  LimitsOfDevice(deviceId).Forget();
  return ACL_SUCCESS;
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
  const char* const api = "aclrtGetStreamResLimit";
  if (aclError status = CheckType(api, type)) return status;
  if (aclError status = CheckOut(api, value)) return status;
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor(api, stream, &status);
  if (!found) return status;
  return found.With(api, [&](const Stream& one) {
    *value = LimitOr(one.limits, type, LimitOr(LimitsOfDevice(one.device()), type, Most()));
  });
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
  const char* const api = "aclrtSetStreamResLimit";
  if (aclError status = CheckType(api, type)) return status;
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor(api, stream, &status);
  if (!found) return status;
  if (aclError of_value = CheckValue(api, value)) return of_value;
  return found.With(api, [&](Stream& one) { Set(one.limits, type, value); });
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor("aclrtResetStreamResLimit", stream, &status);
  if (!found) return status;
  return found.With("aclrtResetStreamResLimit", [](Stream& one) { one.limits.Forget(); });
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
  const char* const api = "aclrtUseStreamResInCurrentThread";
  aclError status = ACL_SUCCESS;
  if (!FindStreamFor(api, stream, &status)) return status;
  if (stream != nullptr) {
    stream_in_use = stream;
    return ACL_SUCCESS;
  }
  return aclrtCtxGetCurrentDefaultStream(&stream_in_use);
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  aclError status = ACL_SUCCESS;
  if (!FindStreamFor("aclrtUnuseStreamResInCurrentThread", stream, &status)) return status;
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
