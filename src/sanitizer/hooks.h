// The checks, as the hooks that the runtime calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sanitizer/settings.h"

namespace portacl::sanitizer {

// Puts the parts and their hooks in force. Called at the library's first call, before any other thread uses it. Without a part there are no
// hooks.
void PutInForce(const Settings& settings) noexcept;

}  // namespace portacl::sanitizer
