// Complex numbers and their parts, and outer products that are added to, for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/arithmetic.h"
#include "determinism/calls.h"

namespace portacl::testing {
namespace {

const Shape kCube = {7, 61, 53};
const Shape kPlane = {61, 53};
const Traits kElementwise = {.sums_everything = false, .cuts_freely = true};

const auto kComplex = Register(PORTACL_PHASES(aclnnComplex, c[0], c[1], c[2]),
                               Cases({ACL_FLOAT}, {kCube, kPlane}, {{kCube, ACL_COMPLEX64}}) +
                                   Cases({ACL_DOUBLE}, {kCube, kPlane}, {{kCube, ACL_COMPLEX128}}),
                               {.is_plain_code = true, .sums_everything = false, .cuts_freely = true});
const auto kPolar = Register(PORTACL_PHASES(aclnnPolar, c[0], c[1], c[2]),
                             Cases({ACL_FLOAT}, {kCube, kPlane}, {{kCube, ACL_COMPLEX64}}), kElementwise);
const auto kAngle = Register(PORTACL_PHASES(aclnnAngleV2, c[0], c[1]),
                             {{{ACL_COMPLEX64}, {kCube}, ACL_FLOAT, kCube, 0},
                              {{ACL_FLOAT16}, {kCube}, ACL_FLOAT16, kCube, 0},
                              {{ACL_INT32}, {kCube}, ACL_FLOAT, kCube, 0}},
                             kElementwise);
const auto kAddr =
    Register(PORTACL_PHASES(aclnnAddr, c[0], c[1], c[2], nullptr, nullptr, c[3]),
             Cases({ACL_FLOAT, ACL_BF16, ACL_INT64}, {kPlane, {61}, {53}}, {kPlane}), kElementwise);

}  // namespace
}  // namespace portacl::testing
