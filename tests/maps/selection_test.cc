// Comparisons, logic, bits, bounds and choices on every instruction set and every product.
// SPDX-License-Identifier: Apache-2.0
#include "support/map_suite.h"

namespace portacl::testing {
namespace {

PORTACL_MAP_NUMERICS(SelectionNumerics, SelectionOperators());
PORTACL_MAP_CONTRACT(SelectionContract, SelectionOperators());

}  // namespace
}  // namespace portacl::testing
