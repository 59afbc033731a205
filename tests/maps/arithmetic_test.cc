// Arithmetic on every instruction set and every product.
// SPDX-License-Identifier: Apache-2.0
#include "support/map_suite.h"

namespace portacl::testing {
namespace {

PORTACL_MAP_NUMERICS(ArithmeticNumerics, ArithmeticOperators());
PORTACL_MAP_CONTRACT(ArithmeticContract, ArithmeticOperators());

}  // namespace
}  // namespace portacl::testing
