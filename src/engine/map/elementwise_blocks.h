// An elementwise loop in parts, which threads may run at the same time and in any order: its elements' bits depend on none.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::engine {

struct ElementwiseLoop;

// How many parts there are, of some 64 KiB of float32 for each operand.
int64_t BlocksOf(const ElementwiseLoop& loop) noexcept;

// Runs the parts [first, last), with the addresses of the plan's operands at its first element. In the default floating-point
// environment.
void RunBlocks(const ElementwiseLoop& loop, char* const* base, int64_t first, int64_t last) noexcept;

}  // namespace portacl::engine
