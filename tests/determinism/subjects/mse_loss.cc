// aclnnMseLoss for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "determinism/described.h"

namespace portacl::testing {
namespace {

const DescribedSubject kElements([] { return LossSubject(DescribeMseLoss(), {{.reduction = 0}}); });
const DescribedSubject kReduced([] {
  return ReducedLossSubject(DescribeReducedMseLoss(), {{.reduction = 1}, {.reduction = 2}});
});

}  // namespace
}  // namespace portacl::testing
