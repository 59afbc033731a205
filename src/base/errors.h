// The traces of a failing call: its status code, and the messages that aclGetRecentErrMsg returns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "acl/acl_base.h"
#include "base/log.h"
#include "base/text.h"

namespace portacl {

// CANN's message classes that this library uses: a code, and the title printed before it.
enum class MessageClass {
  kAclnnParameter,    // EZ1001
  kAclnnRuntime,      // EZ9903
  kAclnnInner,        // EZ9999
  kUnsupportedDtype,  // EZ1006
  kConfiguration,     // EZ1013
  kAclValue,          // EH0007: a bad value, with what is expected
  kAclNullPointer,    // EH0008
  kAclReason,         // EH0009: a bad value, with the reason
  kAclUnsupported,    // EH0011
  kRuntimeValue,      // EE1003
  kRuntimeContext,    // EE1010
  kRuntimeMemory,     // EE1013
  kAclInner,          // EH9999
};

// Adds `message` to the calling thread's pending messages, or to the process's if err_msg_mode says so.
// `solution` may be empty. Never throws: if memory is exhausted the message is dropped, but the status stays.
void ReportMessage(MessageClass message_class, const Text& message, std::string_view solution = {}) noexcept;

// Reports and returns `status`, so that a check reads `return Fail(...)`.
aclError Fail(aclError status, MessageClass message_class, const Text& message,
              std::string_view solution = {}, SourceSite site = SourceSite::Current()) noexcept;

// Like Fail; chooses the class from the status as CANN does: 1xxxxx parameter, 3xxxxx runtime, else inner.
aclError FailAclnn(aclError status, const Text& message, SourceSite site = SourceSite::Current()) noexcept;

// Report an error for an API and return its status: a null pointer where `expected` should be (100000), a
// value that is not accepted, or something that is unsupported or meaningless on a CPU (207000).
aclError FailNullPointer(const char* api, const char* parameter, const char* expected) noexcept;
aclError FailUnsupported(const char* api, std::string_view why) noexcept;
template <class Value>
aclError FailValue(const char* api, const char* parameter, const Value& value, std::string_view accepted,
                   aclError status = ACL_ERROR_RT_PARAM_INVALID) noexcept {
  return Fail(status,
              status < ACL_ERROR_RT_PARAM_INVALID ? MessageClass::kAclValue : MessageClass::kRuntimeValue,
              Text(api, ": parameter ", parameter, " has the value ", value, ", accepted: ", accepted, "."));
}

// Returns the status of the calling thread's latest failing call, operators' excepted; 0 if there is none, or
// after ForgetLastError.
aclError LastError() noexcept;
void ForgetLastError() noexcept;

// Renders the pending messages as aclGetRecentErrMsg returns them and clears them. Returns nullptr if there
// are none. The text belongs to the calling thread and lives until its next call.
const char* TakeRecentMessages() noexcept;

// Selects whether messages are kept per process instead of per thread (err_msg_mode "1").
void SetProcessWideMessages(bool process_wide) noexcept;

}  // namespace portacl
