// Sinh, Cosh and Tanh.
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/unary/hyperbolic.cc"
#include "base/foreach_target.h"

#include "aclnnop/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace hyperbolic {

PORTACL_UNARY_FORMULA(Sinh, FloatingLanes)
PORTACL_UNARY_FORMULA(Cosh, FloatingLanes)
PORTACL_UNARY_FORMULA(Tanh, LaneTypes<float>, /*kWith16BitFloats=*/true)

}  // namespace hyperbolic
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/unary/hyperbolic_functions.h"
#include "aclnnop/unary/unary.h"

namespace portacl {
namespace {

using Out = UnaryRules::Out;
using IntegersAs = UnaryRules::IntegersAs;
using Formats = UnaryRules::Formats;

constexpr DtypeRule kTanhDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kIntegersAndBool);

constexpr auto kSinhKernels = PORTACL_VALUE_KERNELS(hyperbolic::Sinh);
constexpr UnaryRules kSinh{.kernels = kSinhKernels,
                           .self = kArithmeticDtypes,
                           .out = Out::kListed,
                           .listed = kFloatingDtypes,
                           .integers = IntegersAs::kOut};

constexpr auto kCoshKernels = PORTACL_VALUE_KERNELS(hyperbolic::Cosh);
constexpr UnaryRules kCosh{.kernels = kCoshKernels,
                           .self = kArithmeticDtypes,
                           .out = Out::kListed,
                           .listed = kFloatingAndBf16,
                           .formats = Formats::kNotPrivate,
                           .formats_on = products::kAscend950};

constexpr auto kTanhKernels = PORTACL_VALUE_KERNELS(hyperbolic::Tanh);
constexpr UnaryRules kTanh{.kernels = kTanhKernels,
                           .self = kTanhDtypes,
                           .out = Out::kListedComputed,
                           .listed = kTanhDtypes,
                           .formats = Formats::kEqualAndNotPrivate};

}  // namespace

PORTACL_UNARY_KERNELS(sinh, kSinh)
PORTACL_UNARY_KERNELS(cosh, kCosh)
PORTACL_UNARY_KERNELS(tanh, kTanh)

}  // namespace portacl

using namespace portacl;

PORTACL_UNARY(Sinh, kSinh)
PORTACL_UNARY(Cosh, kCosh)
PORTACL_UNARY(Tanh, kTanh)

#endif  // HWY_ONCE
