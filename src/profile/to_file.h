// PORTACL_PROFILE=FILE: a trace of the whole process, written when it ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/text.h"

namespace portacl::profile {

// Reads the environment once and begins to record. If the file cannot be written, every call returns false
// with the path in *value and the reason in *why.
bool StartFile(Text* value, Text* why) noexcept;

}  // namespace portacl::profile
