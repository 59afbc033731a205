// The logarithm of one number, as formulas compute it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/isa.h"

namespace portacl::engine {

struct Logarithm {
  float (*of_float)(float x);
  double (*of_double)(double x);
};
Logarithm LogarithmOf(Isa isa) noexcept;

}  // namespace portacl::engine
