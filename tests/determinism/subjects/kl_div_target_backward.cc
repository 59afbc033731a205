// aclnnKlDivTargetBackward for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "determinism/described.h"

namespace portacl::testing {
namespace {

const std::vector<Attributes> kAttributes = {{.reduction = 0},
                                             {.reduction = 1},
                                             {.reduction = 0, .log_target = true},
                                             {.reduction = 3, .log_target = true}};

const DescribedSubject kElements([] {
  Subject subject = LossSubject(DescribeKlDivTargetBackward(), kAttributes);
  subject.description.accepts = [accepts = subject.description.accepts](std::span<const Shape> shapes) {
    return accepts(shapes) && Broadcast(shapes) == shapes[2];
  };
  return subject;
});
// Where target is broadcast, the terms are summed back to its shape.
const DescribedSubject kSummed([] {
  Subject subject = LossSubject(DescribeKlDivTargetBackward(), kAttributes, "_summed");
  subject.sums_everything = true;
  subject.not_negative = {2};  // it has no logarithm otherwise
  return subject;
});

}  // namespace
}  // namespace portacl::testing
