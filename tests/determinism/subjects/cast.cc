// aclnnCast for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "determinism/described.h"

namespace portacl::testing {
namespace {

const DescribedSubject kCast([] { return MoveSubject("aclnnCast", 0xCA57); });

}  // namespace
}  // namespace portacl::testing
