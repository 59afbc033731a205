// aclnnMseLossOut for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "determinism/described.h"

namespace portacl::testing {
namespace {

constexpr uint64_t kSeed = 0x35E;

const DescribedSubject kElements([] {
  Subject subject = LossSubject(DescribeMseLossOut(), {{.reduction = 0}});
  subject.seed = kSeed;
  return subject;
});
const DescribedSubject kReduced([] {
  Subject subject = ReducedLossSubject(DescribeReducedMseLossOut(), {{.reduction = 1}, {.reduction = 2}});
  subject.seed = kSeed;
  return subject;
});

}  // namespace
}  // namespace portacl::testing
