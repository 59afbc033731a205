// Functions of other components that are called when the library starts and when it ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "acl/acl_base.h"

namespace portacl {

// Calls what was registered for the start, in the order of registration, each function once until the next
// end. Stops at the first that does not return 0 and returns its code.
aclError CallInitCallbacks(const std::string& configuration);

// Calls what was registered for the end, the last one first, all of them; the first code that is not 0.
aclError CallFinalizeCallbacks();

}  // namespace portacl
