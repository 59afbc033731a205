// Reductions and scans: their checks, and every element against loops over logical indices, with values whose results are exact.
// SPDX-License-Identifier: Apache-2.0
#include "operators/reductions.h"
#include "gtest/gtest.h"

namespace portacl::testing {
namespace {

PORTACL_OPERATOR_TESTS(Reductions, ReductionOperators());

}  // namespace
}  // namespace portacl::testing
