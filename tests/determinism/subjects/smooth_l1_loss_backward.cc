// aclnnSmoothL1LossBackward for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "determinism/described.h"

namespace portacl::testing {
namespace {

const DescribedSubject kGradient([] {
  return GradientSubject(
      DescribeSmoothL1LossBackward(),
      {{.reduction = 0, .beta = 1.0f}, {.reduction = 1, .beta = 0.7f}, {.reduction = 2, .beta = 0.0f}});
});

}  // namespace
}  // namespace portacl::testing
