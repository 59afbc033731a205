// aclnnL1LossBackward for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "determinism/described.h"

namespace portacl::testing {
namespace {

const DescribedSubject kGradient([] {
  return GradientSubject(DescribeL1LossBackward(), {{.reduction = 0}, {.reduction = 1}, {.reduction = 2}});
});

}  // namespace
}  // namespace portacl::testing
