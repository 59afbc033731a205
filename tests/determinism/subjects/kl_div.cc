// aclnnKlDiv for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "determinism/described.h"

namespace portacl::testing {
namespace {

const DescribedSubject kElements([] {
  return LossSubject(DescribeKlDiv(), {{.reduction = 0}, {.reduction = 0, .log_target = true}});
});
const DescribedSubject kReduced([] {
  Subject subject = ReducedLossSubject(
      DescribeReducedKlDiv(),
      {{.reduction = 1}, {.reduction = 2}, {.reduction = 3}, {.reduction = 2, .log_target = true}});
  subject.not_negative = {1};  // it has no logarithm otherwise
  return subject;
});

}  // namespace
}  // namespace portacl::testing
