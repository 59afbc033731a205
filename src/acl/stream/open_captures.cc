// Captures and updates in progress (see open_captures.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/stream/open_captures.h"

#include "base/errors.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"

namespace portacl {

constinit std::atomic<int> captured_streams{0};

namespace captures {

Captures& TheCaptures() noexcept {
  static NoDestructor<Captures> captures;
  static const bool guarded = GuardAcrossFork(captures->mutex, ForkRank::kCaptures);
  (void)guarded;
  return *captures;
}

aclError Refuse(const char* api, aclError status, std::string_view why) noexcept {
  return Fail(status, MessageClass::kAclReason, Text(api, ": ", why, "."));
}

void Invalidate(Capture& capture, const char* api, std::string_view why) noexcept {
  if (!capture.is_invalid) capture.reason = Text(api, ": ", why, ".");
  capture.is_invalid = true;
}

aclError FailInvalidated(const char* api) noexcept {
  return Refuse(
      api, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
      "the capture of the stream was invalidated by an earlier call that it does not allow; end it with "
      "aclmdlRICaptureEnd and begin anew");
}

aclError FailNotCaptured(const char* api) noexcept {
  return Refuse(
      api, ACL_ERROR_RT_STREAM_NOT_CAPTURED,
      "the stream is not captured, expected one between aclmdlRICaptureBegin and aclmdlRICaptureEnd");
}

aclError FailNoMemory(const char* api) noexcept {
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
              Text(api, ": not enough memory to record the work."));
}

aclError FailNoMemory(const char* api, const FoundStream& stream, Locked& captures) noexcept {
  if (Capture* const capture = captures.CaptureOf(stream.handle)) {
    Invalidate(*capture, api, "not enough memory to record the work");
  }
  return FailNoMemory(api);
}

}  // namespace captures
}  // namespace portacl
