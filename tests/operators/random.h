// Operators that draw random numbers, described once: phase 1's answers and how they are called.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "support/operator_spec.h"

namespace portacl::testing {

// Uniform, normal, exponential numbers and integers, Bernoulli, permutations, multinomial draws, dropout and its masks.
std::vector<const OperatorSpec*> RandomOperators();

}  // namespace portacl::testing
