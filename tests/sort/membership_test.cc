// Whether numbers are among elements, and between which boundaries: checks, and every element against the definitions.
// SPDX-License-Identifier: Apache-2.0
#include "gtest/gtest.h"
#include "operators/sorts.h"

namespace portacl::testing {
namespace {

PORTACL_OPERATOR_TESTS(Membership, MembershipOperators());

}  // namespace
}  // namespace portacl::testing
