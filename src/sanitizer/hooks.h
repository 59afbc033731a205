// The checks as the runtime sees them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sanitizer/settings.h"

namespace portacl::sanitizer {

// Puts the parts and their hooks in force: at the library's first call, before any other thread uses it. With no part in force there
// are no hooks.
void PutInForce(const Settings& settings) noexcept;

}  // namespace portacl::sanitizer
