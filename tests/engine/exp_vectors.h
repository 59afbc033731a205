// The library's exp over arrays, on any instruction set, for the tests of exp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "engine/isa_in_use.h"

namespace portacl::testing {

// `n` must be a multiple of 64, which every vector length divides.
void ExpOf(engine::Isa isa, const float* x, float* result, size_t n);

}  // namespace portacl::testing
