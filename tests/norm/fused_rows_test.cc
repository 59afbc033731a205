// Norms and softmax fused with what serving puts around them, and their gradients, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "gtest/gtest.h"
#include "operators/norms.h"

namespace portacl::testing {
namespace {

PORTACL_OPERATOR_TESTS(FusedRows, FusedRowOperators());

}  // namespace
}  // namespace portacl::testing
