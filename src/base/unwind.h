// Walks the calling thread's stack, at a hundredth of the cost of unwinding if it was walked before.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl {

// Writes at most `most` return addresses, innermost first: of the caller's frame, its caller's, and so on.
// Returns their number. *by_rules, unless it is nullptr, tells whether no frame had to be unwound.
int Unwind(void** addresses, int most, bool* by_rules = nullptr) noexcept;

// Loads and allocates everything that later calls need.
void PrepareUnwinding() noexcept;

}  // namespace portacl
