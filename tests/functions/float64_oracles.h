// What the functions of src/engine/functions must give for float64, from MPFR.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpfr.h>

#include <span>

namespace portacl::testing {

constexpr mpfr_prec_t kOraclePrecision = 160;

// Into a number of kOraclePrecision bits.
struct Float64Oracle {
  const char* name;
  void (*of)(mpfr_t result, double x, double y);
};

std::span<const Float64Oracle> AllFloat64Oracles();

}  // namespace portacl::testing
