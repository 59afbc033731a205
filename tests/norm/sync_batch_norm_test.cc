// The parts of a batch norm whose batch lies on several devices, from their descriptions; and that parts put together are the whole.
// SPDX-License-Identifier: Apache-2.0
#include "gtest/gtest.h"
#include "operators/norms.h"

namespace portacl::testing {
namespace {

PORTACL_OPERATOR_TESTS(SyncBatchNorm, SyncBatchNormOperators());

}  // namespace
}  // namespace portacl::testing
