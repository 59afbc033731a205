// Losses of two classes and their gradients, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "gtest/gtest.h"
#include "operators/norms.h"

namespace portacl::testing {
namespace {

PORTACL_OPERATOR_TESTS(BinaryLosses, BinaryLossOperators());

}  // namespace
}  // namespace portacl::testing
