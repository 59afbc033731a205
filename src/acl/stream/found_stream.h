// The stream of a handle as the calling thread sees it, for functions that work on one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/acl_base.h"
#include "acl/queue/stream.h"
#include "acl/queue/task.h"

namespace portacl {

// The result of looking up a handle.
struct FoundStream {
  Stream* stream = nullptr;
  aclrtStream handle = nullptr;  // of the stream
  aclrtStream asked = nullptr;   // as the program gave it: null for the default stream

  explicit operator bool() const noexcept { return stream != nullptr; }
  Stream::Submission Submit(Task* task, Stream::Wait wait = Stream::Wait::kNo) const noexcept {
    return stream->Submit(handle, task, wait);
  }
  // For the functions of the runtime: submits a task, and reports why if it was not queued.
  aclError SubmitFor(const char* api, Task* task, Stream::Wait wait = Stream::Wait::kNo) const noexcept;
  // For the functions of the runtime: calls f(stream) under the stream's lock, or reports that the stream is
  // gone.
  template <class F>
  aclError With(const char* api, F f) const noexcept {
    return stream->IfStill(handle, [&] { f(*stream); }) ? ACL_SUCCESS : FailGone(api);
  }
  // Whether the stream's life has not ended.
  bool IsLive() const noexcept;
  // Reports, as FindStreamFor does, that there is none.
  aclError FailGone(const char* api) const noexcept;
};

// Looks up a stream; null is the current context's default stream.
FoundStream FindStream(aclrtStream handle) noexcept;

// Like FindStream, for a function of the runtime: if there is none, reports it and sets *status to 107002 or
// 107003.
FoundStream FindStreamFor(const char* api, aclrtStream handle, aclError* status) noexcept;

}  // namespace portacl
