// aclnnKlDivBackward for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "determinism/described.h"

namespace portacl::testing {
namespace {

const DescribedSubject kGradient([] {
  return LossSubject(DescribeKlDivBackward(),
                     {{.reduction = 0}, {.reduction = 1}, {.reduction = 3, .log_target = true}});
});

}  // namespace
}  // namespace portacl::testing
