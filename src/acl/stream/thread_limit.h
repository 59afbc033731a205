// The number of threads that an operator may use, by the limits of acl_rt.h on cores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl {

// Returns the most threads for an operator whose phase 1 runs on this thread: the configuration's number, or
// less if the thread's current stream, or else its device, has a limit on vector cores.
int ThreadLimit() noexcept;

}  // namespace portacl
