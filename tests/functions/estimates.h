// What spares the tests of every float32 the oracle: fast estimates of what it gives, and bounds of errors from them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/isa.h"

namespace portacl::testing {

// truths[i]: what the oracle gives, within 2^-40 of its magnitude, 0 and infinity for what is far beyond float32, or NaN
// where the estimate does not know. y is not read by functions of one argument. `n` is a multiple of 64.
using Estimate = void (*)(const float* x, const float* y, double* truths, size_t n);

// The estimate of the function of that name; null where there is none.
Estimate EstimateOf(const char* name, Isa isa);

// bounds[i]: at least the error of results[i] in ulp at the exact result, given that truths[i] is within 2^-40 of that;
// infinity where that is not decided. `n` is a multiple of 64. Returns the greatest.
float BoundErrors(Isa isa, const float* results, const double* truths, float* bounds, size_t n);

}  // namespace portacl::testing
