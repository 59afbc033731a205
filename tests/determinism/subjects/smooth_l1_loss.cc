// aclnnSmoothL1Loss for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "determinism/described.h"

namespace portacl::testing {
namespace {

const DescribedSubject kElements([] {
  return LossSubject(DescribeSmoothL1Loss(), {{.beta = 1.0f}, {.beta = 0.3f}, {.beta = 0.0f}});
});
const DescribedSubject kReduced([] {
  Subject subject = ReducedLossSubject(
      DescribeReducedSmoothL1Loss(),
      {{.reduction = 1, .beta = 1.0f}, {.reduction = 2, .beta = 0.3f}, {.reduction = 2, .beta = 0.0f}});
  subject.description.output_dtypes = DescribeSmoothL1Loss().output_dtypes;
  return subject;
});

}  // namespace
}  // namespace portacl::testing
