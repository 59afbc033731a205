// Devices and contexts: their number, the default context of each device, and the current context of each
// thread.
// SPDX-License-Identifier: Apache-2.0
#include "acl/device/device.h"

#include <map>
#include <mutex>
#include <utility>

#include "acl/acl_rt.h"
#include "acl/queue/stream.h"
#include "acl/settings/configuration.h"
#include "acl/settings/resource_limits.h"
#include "base/errors.h"
#include "base/handle_table.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "base/sanitizer_hooks.h"
#include "profile/recorder.h"

namespace portacl {
namespace {

struct Device {
  uint64_t set_count = 0;
  aclrtContext default_context = nullptr;
};

struct Devices {
  std::mutex mutex;
  std::map<int32_t, Device> by_id;
};

Devices& AllDevices() {
  static NoDestructor<Devices> devices;
  static const bool guarded = GuardAcrossFork(devices->mutex, ForkRank::kDevices);
  (void)guarded;
  return *devices;
}

HandleTable<Context, 0x43> contexts;
thread_local aclrtContext current_context = nullptr;

// Returns a new context's handle, or nullptr if memory is exhausted.
aclrtContext NewContext(int32_t device, bool is_default) noexcept {
  Context* context = contexts.Acquire();
  if (context == nullptr) return nullptr;
  context->device = device;
  context->is_default = is_default;
  context->default_stream = nullptr;
  context->system_parameters.Forget();
  const aclrtContext handle = contexts.Publish(context);
  context->default_stream = CreateStream(handle, device, true);
  if (context->default_stream != nullptr) return handle;
  contexts.Recycle(contexts.Take(handle));
  return nullptr;
}

// Takes a context, which KeepContexts prevents.
Context* TakeContext(aclrtContext handle) noexcept {
  std::lock_guard lock(AllDevices().mutex);
  return contexts.Take(handle);
}

void FreeContext(aclrtContext handle) noexcept {
  Context* context = TakeContext(handle);
  if (context == nullptr) return;
  DestroyStreamsOf(handle);
  contexts.Recycle(context);
}

aclError FailMemory(const char* api) noexcept {
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
              Text(api, ": not enough memory."));
}

// Returns the default context of a device, creating it if necessary, or nullptr if memory is exhausted.
aclrtContext DefaultContextLocked(Device& device, int32_t id) noexcept {
  if (device.default_context == nullptr) device.default_context = NewContext(id, true);
  return device.default_context;
}

// Undoes one aclrtSetDevice, or all of them. The last one frees the device's default context.
aclError Reset(const char* api, int32_t id, bool all) noexcept {
  if (aclError status = CheckDevice(api, id)) return status;
  aclrtContext to_free = nullptr;
  try {
    Devices& devices = AllDevices();
    std::lock_guard lock(devices.mutex);
    Device& device = devices.by_id[id];
    if (device.set_count == 0) {
      return Fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, MessageClass::kAclInner,
                  Text(api, ": device ", id,
                       " is not set (any more); expected an aclrtSetDevice before each aclrtResetDevice."));
    }
    const uint64_t left = all ? 0 : device.set_count - 1;
    if (left == 0 && HostFunctionScope::HoldsOneOf(device.default_context)) return FailWaitsForSelf(api);
    device.set_count = left;
    if (device.set_count == 0) {
      to_free = std::exchange(device.default_context, nullptr);
      LimitsOfDevice(id).Forget();
    }
  } catch (...) {
    return FailMemory(api);
  }
  // Frees outside the lock: it waits for the context's streams, whose work may itself ask for the device.
  if (to_free != nullptr) FreeContext(to_free);
  return ACL_SUCCESS;
}

}  // namespace

aclError CheckDevice(const char* api, int64_t device) noexcept {
  aclError status = ACL_SUCCESS;
  const int count = CurrentConfiguration(&status).device_count();
  if (status != ACL_SUCCESS) {
    return Fail(
        status, MessageClass::kConfiguration,
        Text(api, ": the environment's configuration is not accepted; call aclInit to see which variable."));
  }
  if (device >= 0 && device < count) return ACL_SUCCESS;
  Text message(api, ": parameter deviceId has the value ", device);
  if (count == 0) {
    message.Add(", but ASCEND_RT_VISIBLE_DEVICES leaves no device.");
  } else {
    message.Add(", accepted: 0 to ").Add(count - 1).Add(".");
  }
  // A program that starts more processes than there are devices gets this message first.
  if (device >= 0) {
    message.Add(
        " PORTACL_DEVICE_COUNT says how many devices there are (1 unless it is set), "
        "ASCEND_RT_VISIBLE_DEVICES which of them are seen (all unless it is set).");
  }
  return Fail(ACL_ERROR_RT_INVALID_DEVICEID, MessageClass::kRuntimeValue, message);
}

Context* FindContext(aclrtContext handle) noexcept { return contexts.Find(handle); }

std::unique_lock<std::mutex> KeepContexts() noexcept {
  return std::unique_lock<std::mutex>(AllDevices().mutex);
}

Context* CurrentContext(aclrtContext* handle) noexcept {
  Context* context = contexts.Find(current_context);
  if (context == nullptr) {
    const int32_t default_device = CurrentConfiguration().default_device;
    if (default_device < 0) return nullptr;
    // The configuration file may name a device for threads that set none.
    try {
      Devices& devices = AllDevices();
      std::lock_guard lock(devices.mutex);
      current_context = DefaultContextLocked(devices.by_id[default_device], default_device);
    } catch (...) {
      return nullptr;
    }
    context = contexts.Find(current_context);
  }
  if (handle != nullptr) *handle = current_context;
  return context;
}

aclError FailNoDevice(const char* api) noexcept {
  if (sanitizer::IsOn(sanitizer::kHandles)) {
    bool is_set_elsewhere = false;
    contexts.ForEachLive([&](void*, Context&) { is_set_elsewhere = true; });
    sanitizer::hooks->NoDevice(api, is_set_elsewhere);
  }
  return Fail(ACL_ERROR_RT_CONTEXT_NULL, MessageClass::kRuntimeContext,
              Text(api,
                   ": no device is set on this thread, expected an earlier aclrtSetDevice on it (or its "
                   "device was reset since)."));
}

Product CurrentProduct() noexcept {
  return CurrentContext() == nullptr ? Product::kNoDevice : CurrentConfiguration().soc->product;
}

}  // namespace portacl

using namespace portacl;

aclError aclrtSetDevice(int32_t deviceId) {
  const profile::Call profiled("aclrtSetDevice");
  if (aclError status = CheckDevice("aclrtSetDevice", deviceId)) return status;
  try {
    Devices& devices = AllDevices();
    std::lock_guard lock(devices.mutex);
    Device& device = devices.by_id[deviceId];
    const aclrtContext context = DefaultContextLocked(device, deviceId);
    if (context == nullptr) return FailMemory("aclrtSetDevice");
    ++device.set_count;
    current_context = context;
    return ACL_SUCCESS;
  } catch (...) {
    return FailMemory("aclrtSetDevice");
  }
}

aclError aclrtResetDevice(int32_t deviceId) {
  const profile::Call profiled("aclrtResetDevice");
  return Reset("aclrtResetDevice", deviceId, false);
}
aclError aclrtResetDeviceForce(int32_t deviceId) {
  const profile::Call profiled("aclrtResetDeviceForce");
  return Reset("aclrtResetDeviceForce", deviceId, true);
}

aclError aclrtGetDevice(int32_t* deviceId) {
  if (deviceId == nullptr) {
    return Fail(
        ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
        Text("aclrtGetDevice: parameter deviceId is a null pointer, expected the address of an int32_t."));
  }
  const Context* context = CurrentContext();
  if (context == nullptr) return FailNoDevice("aclrtGetDevice");
  *deviceId = context->device;
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  if (count == nullptr) {
    return Fail(
        ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
        Text("aclrtGetDeviceCount: parameter count is a null pointer, expected the address of a uint32_t."));
  }
  *count = static_cast<uint32_t>(CurrentConfiguration().device_count());
  return ACL_SUCCESS;
}

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  if (context == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
                Text("aclrtCreateContext: parameter context is a null pointer, expected the address of an "
                     "aclrtContext."));
  }
  if (aclError status = CheckDevice("aclrtCreateContext", deviceId)) return status;
  const aclrtContext created = NewContext(deviceId, false);
  if (created == nullptr) return FailMemory("aclrtCreateContext");
  current_context = created;
  *context = created;
  return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context) {
  if (context == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
                Text("aclrtDestroyContext: parameter context is a null pointer, expected a context made by "
                     "aclrtCreateContext."));
  }
  const Context* found = contexts.Find(context);
  if (found == nullptr || found->is_default) {
    return Fail(
        ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
        Text("aclrtDestroyContext: parameter context has the value ", static_cast<const void*>(context),
             found == nullptr ? ", which is no context." : ", which is a device's default context.",
             " Accepted: a context made by aclrtCreateContext and not yet destroyed."));
  }
  if (HostFunctionScope::HoldsOneOf(context)) return FailWaitsForSelf("aclrtDestroyContext");
  FreeContext(context);
  return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  if (context == nullptr) {
    return Fail(
        ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
        Text("aclrtSetCurrentContext: parameter context is a null pointer, expected a live context."));
  }
  if (contexts.Find(context) == nullptr) {
    return Fail(
        ACL_ERROR_RT_CONTEXT_NULL, MessageClass::kRuntimeContext,
        Text("aclrtSetCurrentContext: parameter context has the value ", static_cast<const void*>(context),
             ", which is no context (any more). Accepted: a live context."));
  }
  current_context = context;
  return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  if (context == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
                Text("aclrtGetCurrentContext: parameter context is a null pointer, expected the address of "
                     "an aclrtContext."));
  }
  aclrtContext handle = nullptr;
  if (CurrentContext(&handle) == nullptr) return FailNoDevice("aclrtGetCurrentContext");
  *context = handle;
  return ACL_SUCCESS;
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
  if (stream == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
                Text("aclrtCtxGetCurrentDefaultStream: parameter stream is a null pointer, expected the "
                     "address of an aclrtStream."));
  }
  const Context* context = CurrentContext();
  if (context == nullptr) return FailNoDevice("aclrtCtxGetCurrentDefaultStream");
  *stream = context->default_stream;
  return ACL_SUCCESS;
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active) {
  const char* const api = "aclrtGetPrimaryCtxState";
  if (active == nullptr) return FailNullPointer(api, "active", "the address of an int32_t");
  if (aclError status = CheckDevice(api, deviceId)) return status;
  Devices& devices = AllDevices();
  std::lock_guard lock(devices.mutex);
  const auto found = devices.by_id.find(deviceId);
  if (flags != nullptr) *flags = 0;
  *active = found != devices.by_id.end() && found->second.default_context != nullptr ? 1 : 0;
  return ACL_SUCCESS;
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  if (runMode == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
                Text("aclrtGetRunMode: parameter runMode is a null pointer, expected the address of an "
                     "aclrtRunMode."));
  }
  *runMode = ACL_HOST;
  return ACL_SUCCESS;
}

const char* aclrtGetSocName() {
  aclError status = ACL_SUCCESS;
  const Configuration& configuration = CurrentConfiguration(&status);
  return status == ACL_SUCCESS ? configuration.soc_name : nullptr;
}
