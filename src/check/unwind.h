// Walks the calling thread's stack, at a hundredth of what unwinding costs where it was walked before.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl::sanitizer {

// Writes the return addresses of the caller's frame, its caller's, and so on: at most `most`, innermost first. Returns how many.
int Unwind(void** addresses, int most) noexcept;

// Loads what it needs, with memory: later calls take none.
void PrepareUnwinding() noexcept;

}  // namespace portacl::sanitizer
