// An elementwise loop in blocks, which threads may run concurrently and in any order; the results are the
// same.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::engine {

struct ElementwiseLoop;

// Counts the blocks, each of some 64 KiB of float32 per operand.
int64_t BlocksOf(const ElementwiseLoop& loop) noexcept;

// Runs the blocks [first, last) in the default floating-point environment. `base` holds the addresses of the
// plan's operands at its first element.
void RunBlocks(const ElementwiseLoop& loop, char* const* base, int64_t first, int64_t last) noexcept;

}  // namespace portacl::engine
