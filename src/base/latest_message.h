// Takes back the message of a call that the library itself made, so that the caller's report tells it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/text.h"

namespace portacl {

// Removes the newest pending message and returns its text, without class and time. Returns an empty text if
// none is pending.
Text TakeLatestMessage() noexcept;

}  // namespace portacl
