// Holds back the failure of a call that the library itself made, so that the caller's report tells it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/acl_base.h"
#include "base/text.h"

namespace portacl {

enum class MessageClass;

// While it lives, the calling thread's messages are not pending: the latest one is held. It becomes pending
// at the end, unless it was taken.
class HeldFailure {
 public:
  HeldFailure() noexcept;
  ~HeldFailure();
  HeldFailure(const HeldFailure&) = delete;
  HeldFailure& operator=(const HeldFailure&) = delete;

  // Returns the text, empty if nothing failed, and makes the failure unhappened: LastError is what it was.
  Text Take() noexcept;

  void Hold(MessageClass message_class, const Text& message) noexcept;

 private:
  HeldFailure* const outer_;
  const aclError last_error_;
  bool holds_ = false;
  MessageClass class_{};
  Text text_;
};

}  // namespace portacl
