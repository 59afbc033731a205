// Finding streams (see found_stream.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/stream/found_stream.h"

#include "acl/device/device.h"
#include "base/errors.h"

namespace portacl {
namespace {

aclError FailUnknownStream(const char* api, aclrtStream stream) noexcept {
  return Fail(ACL_ERROR_RT_STREAM_CONTEXT, MessageClass::kRuntimeContext,
              Text(api, ": parameter stream has the value ", static_cast<const void*>(stream),
                   ", which is no stream of the current context. Accepted: a stream made by "
                   "aclrtCreateStream and not yet destroyed, "
                   "or a null pointer for the default stream."));
}

}  // namespace

aclError FoundStream::SubmitFor(const char* api, Task* task, Stream::Wait wait) const noexcept {
  switch (Submit(task, wait)) {
    case Stream::Submission::kGone:
      return FailGone(api);
    case Stream::Submission::kWaitsForSelf:
      return FailWaitsForSelf(api);
    default:
      return ACL_SUCCESS;
  }
}

bool FoundStream::IsLive() const noexcept { return LiveStream(handle) == stream; }

aclError FoundStream::FailGone(const char* api) const noexcept {
  return asked == nullptr ? FailNoDevice(api) : FailUnknownStream(api, asked);
}

FoundStream FindStream(aclrtStream handle) noexcept {
  FoundStream found{.handle = handle, .asked = handle};
  if (handle == nullptr) {
    const Context* context = CurrentContext();
    if (context == nullptr) return found;
    found.handle = context->default_stream;
  }
  found.stream = LiveStream(found.handle);
  return found;
}

FoundStream FindStreamFor(const char* api, aclrtStream handle, aclError* status) noexcept {
  const FoundStream found = FindStream(handle);
  if (!found) *status = found.FailGone(api);
  return found;
}

}  // namespace portacl
