// Functions of one number on every instruction set and every product.
// SPDX-License-Identifier: Apache-2.0
#include "support/map_suite.h"

namespace portacl::testing {
namespace {

PORTACL_MAP_NUMERICS(UnaryNumerics, UnaryOperators());
PORTACL_MAP_CONTRACT(UnaryContract, UnaryOperators());

}  // namespace
}  // namespace portacl::testing
