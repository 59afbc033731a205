// The cross entropy of a linear layer in parts: what phase 1 answers, and every element against float64.
// SPDX-License-Identifier: Apache-2.0
#include "gtest/gtest.h"
#include "operators/norms.h"

namespace portacl::testing {
namespace {

PORTACL_OPERATOR_TESTS(LinearCrossEntropy, LinearCrossEntropyOperators());

}  // namespace
}  // namespace portacl::testing
