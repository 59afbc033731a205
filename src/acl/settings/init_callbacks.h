// Functions of other components that run when the library starts and when it ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "acl/acl_base.h"

namespace portacl {

// Calls the functions registered for the start, in the order of registration, each once until the next end.
// Stops at the first that does not return 0 and returns its code.
aclError CallInitCallbacks(const std::string& configuration);

// Calls all functions registered for the end, the last one first; returns the first code that is not 0.
aclError CallFinalizeCallbacks();

}  // namespace portacl
