// aclnnInplaceCopy for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "determinism/described.h"

namespace portacl::testing {
namespace {

const DescribedSubject kCopy([] { return MoveSubject("aclnnInplaceCopy", 0xC0B1); });

}  // namespace
}  // namespace portacl::testing
