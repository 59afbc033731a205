// Asinh, Acosh and Atanh.
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/unary/inverse_hyperbolic.cc"
#include "base/foreach_target.h"

#include "aclnnop/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace inverse_hyperbolic {

PORTACL_UNARY_FORMULA(Asinh, FloatingLanes)
PORTACL_UNARY_FORMULA(Acosh, FloatingLanes)
PORTACL_UNARY_FORMULA(Atanh, FloatingLanes)

}  // namespace inverse_hyperbolic
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/unary/inverse_hyperbolic_functions.h"
#include "aclnnop/unary/unary.h"

namespace portacl {
namespace {

using Out = UnaryRules::Out;
using Formats = UnaryRules::Formats;

constexpr auto kAsinhKernels = PORTACL_VALUE_KERNELS(inverse_hyperbolic::Asinh);
constexpr UnaryRules kAsinh{.kernels = kAsinhKernels,
                            .self = kArithmeticDtypes,
                            .out = Out::kListed,
                            .listed = kFloatingAndBf16,
                            .formats = Formats::kNotPrivate,
                            .formats_on = products::kAscend950};

constexpr auto kAcoshKernels = PORTACL_VALUE_KERNELS(inverse_hyperbolic::Acosh);
constexpr UnaryRules kAcosh{.kernels = kAcoshKernels,
                            .self = kArithmeticDtypes,
                            .out = Out::kListedFromSelf,
                            .listed = kFloatingAndBf16,
                            .formats = Formats::kNotPrivate,
                            .formats_on = products::kAscend950};

constexpr auto kAtanhKernels = PORTACL_VALUE_KERNELS(inverse_hyperbolic::Atanh);
constexpr UnaryRules kAtanh{
    .kernels = kAtanhKernels, .self = kArithmeticDtypes, .out = Out::kListed, .listed = kFloatingAndBf16};

}  // namespace

PORTACL_UNARY_KERNELS(asinh, kAsinh)
PORTACL_UNARY_KERNELS(acosh, kAcosh)
PORTACL_UNARY_KERNELS(atanh, kAtanh)

}  // namespace portacl

using namespace portacl;

PORTACL_UNARY(Asinh, kAsinh)
PORTACL_UNARY(Acosh, kAcosh)
PORTACL_UNARY(Atanh, kAtanh)

#endif  // HWY_ONCE
