// Walks the calling thread's stack, at a hundredth of what unwinding costs where it was walked before.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl::sanitizer {

// Writes the return addresses of the caller's frame, its caller's, and so on: at most `most`, innermost first. Returns how many.
// *by_rules, where it is asked for, says whether no frame had to be unwound.
int Unwind(void** addresses, int most, bool* by_rules = nullptr) noexcept;

// Loads what it needs, with memory: later calls take none.
void PrepareUnwinding() noexcept;

}  // namespace portacl::sanitizer
