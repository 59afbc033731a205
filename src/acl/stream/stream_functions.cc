// The functions of acl_rt.h that create, destroy, query and synchronise streams.
// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include "acl/acl_rt.h"
#include "acl/device/device.h"
#include "acl/queue/stream.h"
#include "acl/stream/capture.h"
#include "acl/stream/found_stream.h"
#include "base/call_stack.h"
#include "base/errors.h"
#include "base/sanitizer_hooks.h"
#include "profile/recorder.h"

namespace portacl {
namespace {

constexpr uint32_t kHintFlags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | ACL_STREAM_HUGE;
constexpr uint32_t kDeviceFlags =
    ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;

aclError Synchronize(const char* api, aclrtStream handle, Deadline deadline) noexcept {
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor(api, handle, &status);
  if (found) status = RefuseWaitFor(api, found);
  return status == ACL_SUCCESS ? SynchronizeStream(api, *found.stream, found.handle, deadline) : status;
}

aclError Create(const char* api, aclrtStream* stream, uint32_t priority, uint32_t flags) noexcept {
  if (stream == nullptr) return FailNullPointer(api, "stream", "the address of an aclrtStream");
  if (priority > kLeastPriority) {
    return Fail(
        ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
        Text(api, ": parameter priority has the value ", priority, ", accepted: 0 to ", kLeastPriority, "."));
  }
  if ((flags & ~(kHintFlags | kDeviceFlags)) != 0) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
                Text(api, ": parameter flag has the value ", flags,
                     ", accepted: any combination of the ACL_STREAM_ flags."));
  }
  if ((flags & kDeviceFlags) != 0) {
    return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, MessageClass::kAclUnsupported,
                Text(api, ": parameter flag has the value ", flags,
                     ", which asks for a stream that a device or a captured model drives; not supported. "
                     "Accepted: ACL_STREAM_FAST_LAUNCH, ACL_STREAM_FAST_SYNC, ACL_STREAM_HUGE."));
  }
  aclrtContext handle = nullptr;
  if (CurrentContext(&handle) == nullptr) return FailNoDevice(api);
  const StackTakenAhead here(sanitizer::IsOn(sanitizer::kHandles));
  // Prevents the end of a context between the look-up and the creation: the thread that ends it destroys its
  // streams afterwards and would miss this one.
  const std::unique_lock<std::mutex> no_context_ends = KeepContexts();
  const Context* context = FindContext(handle);
  if (context == nullptr) return FailNoDevice(api);
  const aclrtStream created = CreateStream(handle, context->device, false, priority, flags);
  if (created == nullptr) {
    return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, MessageClass::kAclInner,
                Text(api, ": no memory or no slot for another stream."));
  }
  *stream = created;
  if (sanitizer::IsOn(sanitizer::kHandles)) {
    sanitizer::hooks->HandleMade("a stream", "aclrtDestroyStream", api, created);
  }
  return ACL_SUCCESS;
}

aclError Destroy(const char* api, aclrtStream handle, bool by_force) noexcept {
  if (handle == nullptr) return FailNullPointer(api, "stream", "a stream made by aclrtCreateStream");
  aclrtContext current = nullptr;
  if (CurrentContext(&current) == nullptr) return FailNoDevice(api);
  const FoundStream found{.stream = LiveStream(handle), .handle = handle, .asked = handle};
  if (!found || found.stream->context() != current || found.stream->is_default()) return found.FailGone(api);
  if (HostFunctionScope::Holds(*found.stream)) return FailWaitsForSelf(api);
  return DestroyStream(handle, by_force) ? ACL_SUCCESS : found.FailGone(api);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclrtCreateStream(aclrtStream* stream) {
  const profile::Call profiled("aclrtCreateStream");
  return Create("aclrtCreateStream", stream, 0, 0);
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  const profile::Call profiled("aclrtCreateStreamWithConfig");
  return Create("aclrtCreateStreamWithConfig", stream, priority, flag);
}

aclError aclrtDestroyStream(aclrtStream stream) {
  const profile::Call profiled("aclrtDestroyStream");
  return Destroy("aclrtDestroyStream", stream, false);
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  const profile::Call profiled("aclrtDestroyStreamForce");
  return Destroy("aclrtDestroyStreamForce", stream, true);
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  const profile::Call profiled("aclrtSynchronizeStream");
  return Synchronize("aclrtSynchronizeStream", stream, kForever);
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  const profile::Call profiled("aclrtSynchronizeStreamWithTimeout");
  if (aclError status = CheckTimeout("aclrtSynchronizeStreamWithTimeout", timeout)) return status;
  return Synchronize("aclrtSynchronizeStreamWithTimeout", stream, DeadlineIn(timeout));
}

aclError aclrtSynchronizeDevice(void) {
  const profile::Call profiled("aclrtSynchronizeDevice");
  aclrtContext context = nullptr;
  if (CurrentContext(&context) == nullptr) return FailNoDevice("aclrtSynchronizeDevice");
  if (aclError status = RefuseWaitForContext("aclrtSynchronizeDevice", context)) return status;
  return SynchronizeStreamsOf("aclrtSynchronizeDevice", context, kForever);
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  const profile::Call profiled("aclrtSynchronizeDeviceWithTimeout");
  if (aclError status = CheckTimeout("aclrtSynchronizeDeviceWithTimeout", timeout)) return status;
  aclrtContext context = nullptr;
  if (CurrentContext(&context) == nullptr) return FailNoDevice("aclrtSynchronizeDeviceWithTimeout");
  if (aclError status = RefuseWaitForContext("aclrtSynchronizeDeviceWithTimeout", context)) return status;
  return SynchronizeStreamsOf("aclrtSynchronizeDeviceWithTimeout", context, DeadlineIn(timeout));
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  if (status == nullptr) {
    return FailNullPointer("aclrtStreamQuery", "status", "the address of an aclrtStreamStatus");
  }
  aclError failure = ACL_SUCCESS;
  const FoundStream found = FindStreamFor("aclrtStreamQuery", stream, &failure);
  if (!found) return failure;
  if (aclError refused = RefuseWaitFor("aclrtStreamQuery", found)) return refused;
  if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->Want(found.stream);
  return found.With("aclrtStreamQuery", [&](const Stream& one) {
    *status = one.IsCompleteLocked() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    if (*status == ACL_STREAM_STATUS_COMPLETE && sanitizer::IsOn(sanitizer::kSync))
      sanitizer::hooks->HostWaited(&one);
  });
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  if (streamId == nullptr) {
    return FailNullPointer("aclrtStreamGetId", "streamId", "the address of an int32_t");
  }
  aclError failure = ACL_SUCCESS;
  const FoundStream found = FindStreamFor("aclrtStreamGetId", stream, &failure);
  if (!found) return failure;
  return found.With("aclrtStreamGetId", [&](const Stream& one) { *streamId = one.id(); });
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
  if (priority == nullptr) {
    return FailNullPointer("aclrtStreamGetPriority", "priority", "the address of a uint32_t");
  }
  aclError failure = ACL_SUCCESS;
  const FoundStream found = FindStreamFor("aclrtStreamGetPriority", stream, &failure);
  if (!found) return failure;
  return found.With("aclrtStreamGetPriority", [&](const Stream& one) { *priority = one.priority(); });
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
  if (flags == nullptr) {
    return FailNullPointer("aclrtStreamGetFlags", "flags", "the address of a uint32_t");
  }
  aclError failure = ACL_SUCCESS;
  const FoundStream found = FindStreamFor("aclrtStreamGetFlags", stream, &failure);
  if (!found) return failure;
  return found.With("aclrtStreamGetFlags", [&](const Stream& one) { *flags = one.flags(); });
}
