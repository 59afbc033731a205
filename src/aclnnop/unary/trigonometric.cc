// Tan, Asin, Acos and Atan.
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/unary/trigonometric.cc"
#include "base/foreach_target.h"

#include "aclnnop/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace trigonometric {

PORTACL_UNARY_FORMULA(Tan, FloatingLanes)
PORTACL_UNARY_FORMULA(Asin, RealLanes)
PORTACL_UNARY_FORMULA(Acos, RealLanes)
PORTACL_UNARY_FORMULA(Atan, RealLanes)

}  // namespace trigonometric
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/unary/trigonometric_functions.h"
#include "aclnnop/unary/unary.h"

namespace portacl {
namespace {

using Out = UnaryRules::Out;

constexpr auto kTanKernels = PORTACL_VALUE_KERNELS(trigonometric::Tan);
constexpr UnaryRules kTan{.kernels = kTanKernels, .self = kArithmeticDtypes, .out = Out::kCastsComputed};

constexpr auto kAsinKernels = PORTACL_VALUE_KERNELS(trigonometric::Asin);
constexpr UnaryRules kAsin{.kernels = kAsinKernels,
                           .self = kRealArithmeticDtypes,
                           .out = Out::kListed,
                           .listed = kRealFloatingDtypes};

constexpr auto kAcosKernels = PORTACL_VALUE_KERNELS(trigonometric::Acos);
constexpr UnaryRules kAcos{.kernels = kAcosKernels,
                           .self = kRealArithmeticDtypes,
                           .out = Out::kListed,
                           .listed = kRealFloatingAndBf16};

constexpr auto kAtanKernels = PORTACL_VALUE_KERNELS(trigonometric::Atan);
constexpr UnaryRules kAtan{.kernels = kAtanKernels,
                           .self = kRealArithmeticDtypes,
                           .out = Out::kListed,
                           .listed = kRealFloatingAndBf16};

}  // namespace

PORTACL_UNARY_KERNELS(tan, kTan)
PORTACL_UNARY_KERNELS(asin, kAsin)
PORTACL_UNARY_KERNELS(acos, kAcos)
PORTACL_UNARY_KERNELS(atan, kAtan)

}  // namespace portacl

using namespace portacl;

PORTACL_UNARY(Tan, kTan)
PORTACL_UNARY(Asin, kAsin)
PORTACL_UNARY(Acos, kAcos)
PORTACL_UNARY(Atan, kAtan)

#endif  // HWY_ONCE
