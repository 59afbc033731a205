// PORTACL_PROFILE=FILE: a trace of the whole process, written when it ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/text.h"

namespace portacl::profile {

// Reads the environment, once, and begins to record. False where the file cannot be written; *value and *why say which and why
// then, at every call.
bool StartFile(Text* value, Text* why) noexcept;

}  // namespace portacl::profile
