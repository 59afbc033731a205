// Streams and the functions of acl_rt.h on them (see stream.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/stream.h"

#include "acl/acl_rt.h"
#include "acl/device.h"
#include "acl/errors.h"
#include "acl/handle_table.h"

namespace portacl {
namespace {

HandleTable<Stream, 0x53> streams;

void FreeStream(Stream* stream) noexcept {
  { std::lock_guard wait_for_work(stream->order); }
  streams.Recycle(stream);
}

aclError FailUnknownStream(const char* api, aclrtStream stream) noexcept {
  return Fail(ACL_ERROR_RT_STREAM_CONTEXT, MessageClass::kRuntimeContext,
              Text(api, ": parameter stream has the value ", static_cast<const void*>(stream),
                   ", which is no stream of the current context. Accepted: a stream made by "
                   "aclrtCreateStream and not yet destroyed, "
                   "or a null pointer for the default stream."));
}

}  // namespace

void Stream::Submit(void (*work)(void*), void* argument) noexcept {
  std::lock_guard lock(order);
  work(argument);
}

Stream* FindStream(aclrtStream handle) noexcept {
  if (handle != nullptr) return streams.Find(handle);
  const Context* context = CurrentContext();
  return context == nullptr ? nullptr : streams.Find(context->default_stream);
}

aclrtStream CreateStream(aclrtContext context, int32_t device, bool is_default) noexcept {
  Stream* stream = streams.Acquire();
  if (stream == nullptr) return nullptr;
  stream->context = context;
  stream->device = device;
  stream->is_default = is_default;
  return streams.Publish(stream);
}

bool DestroyStream(aclrtStream handle) noexcept {
  Stream* stream = streams.Take(handle);
  if (stream == nullptr) return false;
  FreeStream(stream);
  return true;
}

void DestroyStreamsOf(aclrtContext context) noexcept {
  streams.ForEachLive([context](void* handle, Stream& stream) {
    if (stream.context == context) DestroyStream(handle);
  });
}

}  // namespace portacl

using namespace portacl;

aclError aclrtCreateStream(aclrtStream* stream) {
  if (stream == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
                Text("aclrtCreateStream: parameter stream is a null pointer, expected the address of an "
                     "aclrtStream."));
  }
  aclrtContext handle = nullptr;
  const Context* context = CurrentContext(&handle);
  if (context == nullptr) return FailNoDevice("aclrtCreateStream");
  const aclrtStream created = CreateStream(handle, context->device, false);
  if (created == nullptr) {
    return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, MessageClass::kAclInner,
                Text("aclrtCreateStream: no memory or no slot for another stream."));
  }
  *stream = created;
  return ACL_SUCCESS;
}

aclError aclrtDestroyStream(aclrtStream stream) {
  if (stream == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
                Text("aclrtDestroyStream: parameter stream is a null pointer, expected a stream made by "
                     "aclrtCreateStream."));
  }
  aclrtContext current = nullptr;
  if (CurrentContext(&current) == nullptr) return FailNoDevice("aclrtDestroyStream");
  const Stream* found = FindStream(stream);
  if (found == nullptr || found->context != current || found->is_default || !DestroyStream(stream)) {
    return FailUnknownStream("aclrtDestroyStream", stream);
  }
  return ACL_SUCCESS;
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  Stream* found = FindStream(stream);
  if (found == nullptr) {
    return stream == nullptr ? FailNoDevice("aclrtSynchronizeStream")
                             : FailUnknownStream("aclrtSynchronizeStream", stream);
  }
  std::lock_guard wait_for_work(found->order);
  return ACL_SUCCESS;
}
