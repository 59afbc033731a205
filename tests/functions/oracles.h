// What the functions of src/engine/functions must give, from the C library: float64, for float32 arguments.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace portacl::testing {

struct Oracle {
  const char* name;
  double (*of_one)(double);
  double (*of_two)(double, double);
};

std::span<const Oracle> AllOracles();

}  // namespace portacl::testing
