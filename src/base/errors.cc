// The store of pending error messages, and their rendering in CANN's form.
// SPDX-License-Identifier: Apache-2.0
#include "base/errors.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/held_failure.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "base/process/thread_end.h"

namespace portacl {
namespace {

struct MessageClassInfo {
  const char* code;
  const char* title;
};

constexpr MessageClassInfo kClasses[] = {
    {"EZ1001", "AclNN_Parameter_Error"},
    {"EZ9903", "AclNN_Runtime_Error"},
    {"EZ9999", "AclNN_Inner_Error"},
    {"EZ1006", "Not_Supported_Data_Type"},
    {"EZ1013", "Config_Error"},
    {"EH0007", "Invalid_Argument"},
    {"EH0008", "Invalid_Argument_Null_Pointer"},
    {"EH0009", "Invalid_Argument"},
    {"EH0011", "Not_Supported"},
    {"EE1003", "Invalid_Argument"},
    {"EE1010", "Invalid_Context"},
    {"EE1013", "Memory_Error"},
    {"EH9999", "Inner_Error"},
};

struct Message {
  MessageClass message_class;
  std::string text;
  std::string solution;
  std::string time;
};

// CANN keeps as many internal messages. It limits what a program accumulates that never asks for them.
constexpr size_t kMaxPending = 1000;

bool IsInternal(MessageClass c) { return c == MessageClass::kAclnnInner || c == MessageClass::kAclInner; }

class MessageStore {
 public:
  // Newest first. A message that is already stored keeps its position: identical messages are stored once.
  void Add(MessageClass c, std::string_view text, std::string_view solution) {
    for (const Message& m : messages_) {
      if (m.message_class == c && m.text == text) return;
    }
    if (messages_.size() >= kMaxPending) messages_.pop_back();
    messages_.insert(messages_.begin(),
                     Message{c, std::string(text), std::string(solution), std::string(LogTime().view())});
  }

  bool empty() const { return messages_.empty(); }

  std::string TakeRendered() {
    auto head = std::find_if(messages_.begin(), messages_.end(),
                             [](const Message& m) { return !IsInternal(m.message_class); });
    if (head == messages_.end()) head = messages_.begin();
    std::string out = Headline(*head);
    const char* indent = IsInternal(head->message_class) ? "       " : "        ";
    if (!head->solution.empty()) out += std::string(indent) + "Solution: " + head->solution + "\n";
    if (messages_.size() > 1) {
      out += std::string(indent) + "TraceBack (most recent call last):\n";
      for (auto it = messages_.begin(); it != messages_.end(); ++it) {
        if (it != head) out += indent + it->text + "\n";
      }
    }
    messages_.clear();
    return out;
  }

 private:
  static std::string Headline(const Message& m) {
    const MessageClassInfo& info = kClasses[static_cast<size_t>(m.message_class)];
    const std::string pid = std::to_string(getpid());
    if (IsInternal(m.message_class)) {
      return std::string(info.code) + ": Internal error!\n" + info.code + "[PID: " + pid + "] " + m.time +
             " " + info.title + "(" + info.code + "):  " + m.text + "\n";
    }
    return "[PID: " + pid + "] " + m.time + " " + info.title + "(" + info.code + "): " + m.text + "\n";
  }

  std::vector<Message> messages_;  // a vector makes no allocation before it holds something
};

std::atomic<bool> process_wide_messages{false};

struct ProcessMessages {
  std::mutex mutex;
  MessageStore store;
};

ProcessMessages& OfProcess() {
  static NoDestructor<ProcessMessages> messages;
  static const bool guarded = GuardAcrossFork(messages->mutex, ForkRank::kMessages);
  (void)guarded;
  return *messages;
}

struct ThreadMessages final : Kept {
  MessageStore store;
  std::string rendered;  // the last result of aclGetRecentErrMsg
};

thread_local Kept* thread_messages = nullptr;
thread_local aclError last_error = ACL_SUCCESS;
thread_local HeldFailure* held_failure = nullptr;

// torch_npu queries the last error whenever a call has failed, and uses it instead of the returned code. At
// 207000 it warns and continues as if nothing had failed, with an uninitialised executor or handle. Therefore
// a refusal is stored as 200006, its other name. An operator's failure is stored as well, so that an older
// error is not taken for it.
aclError AsLastError(aclError status) noexcept {
  return status == ACL_ERROR_RT_FEATURE_NOT_SUPPORT ? ACL_ERROR_FEATURE_UNSUPPORTED : status;
}

aclError LogAndReport(aclError status, MessageClass message_class, const Text& message,
                      std::string_view solution, SourceSite site) noexcept {
  // A repeated aclInit may be ignored, so that it is not stored as last error.
  if (status != ACL_ERROR_REPEAT_INITIALIZE) last_error = AsLastError(status);
  LogFailure(status, message.view(), site);
  ReportMessage(message_class, message, solution);
  return status;
}

}  // namespace

void SetProcessWideMessages(bool process_wide) noexcept {
  process_wide_messages.store(process_wide, std::memory_order_relaxed);
}

void ReportMessage(MessageClass message_class, const Text& message, std::string_view solution) noexcept {
  if (held_failure != nullptr) return held_failure->Hold(message_class, message);
  try {
    if (process_wide_messages.load(std::memory_order_relaxed)) {
      Text tagged(message.view(), "[THREAD:", static_cast<long>(syscall(SYS_gettid)), "]");
      ProcessMessages& all = OfProcess();
      std::lock_guard lock(all.mutex);
      all.store.Add(message_class, tagged.view(), solution);
    } else if (auto* const messages = KeptIn<ThreadMessages>(thread_messages)) {
      messages->store.Add(message_class, message.view(), solution);
    }
  } catch (...) {
    // If memory is exhausted, the status code still tells the caller that the call failed.
  }
}

aclError Fail(aclError status, MessageClass message_class, const Text& message, std::string_view solution,
              SourceSite site) noexcept {
  return LogAndReport(status, message_class, message, solution, site);
}

aclError FailNullPointer(const char* api, const char* parameter, const char* expected) noexcept {
  return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
              Text(api, ": parameter ", parameter, " is a null pointer, expected ", expected, "."));
}

aclError FailUnsupported(const char* api, std::string_view why) noexcept {
  return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, MessageClass::kAclUnsupported,
              Text(api, " is not supported: ", why, "."));
}

aclError LastError() noexcept { return last_error; }
void ForgetLastError() noexcept { last_error = ACL_SUCCESS; }

aclError FailAclnn(aclError status, const Text& message, SourceSite site) noexcept {
  const int family = status / 100000;
  const MessageClass c = family == 1   ? MessageClass::kAclnnParameter
                         : family == 3 ? MessageClass::kAclnnRuntime
                                       : MessageClass::kAclnnInner;
  return LogAndReport(status, c, message, {}, site);
}

const char* TakeRecentMessages() noexcept {
  try {
    const bool process_wide = process_wide_messages.load(std::memory_order_relaxed);
    // A thread without stored messages has none of its own.
    if (!process_wide && thread_messages == nullptr) return nullptr;
    auto* const own = KeptIn<ThreadMessages>(thread_messages);
    if (own == nullptr) return nullptr;
    if (process_wide) {
      ProcessMessages& all = OfProcess();
      std::lock_guard lock(all.mutex);
      if (all.store.empty()) return nullptr;
      own->rendered = all.store.TakeRendered();
    } else {
      if (own->store.empty()) return nullptr;
      own->rendered = own->store.TakeRendered();
    }
    return own->rendered.c_str();
  } catch (...) {
    return nullptr;
  }
}

HeldFailure::HeldFailure() noexcept : outer_(held_failure), last_error_(last_error) { held_failure = this; }

HeldFailure::~HeldFailure() {
  held_failure = outer_;
  if (holds_) ReportMessage(class_, text_);
}

Text HeldFailure::Take() noexcept {
  last_error = last_error_;
  holds_ = false;
  return std::exchange(text_, Text());
}

void HeldFailure::Hold(MessageClass message_class, const Text& message) noexcept {
  holds_ = true;
  class_ = message_class;
  text_ = message;
}

}  // namespace portacl
