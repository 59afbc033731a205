// Sin and Cos.
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/unary/sine.cc"
#include "base/foreach_target.h"

#include "aclnnop/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace sine {

PORTACL_UNARY_FORMULA(Sin, FloatingLanes, /*kWith16BitFloats=*/true)
PORTACL_UNARY_FORMULA(Cos, FloatingLanes, /*kWith16BitFloats=*/true)

}  // namespace sine
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/unary/sine_functions.h"
#include "aclnnop/unary/unary.h"

namespace portacl {
namespace {

using Out = UnaryRules::Out;

constexpr auto kSinKernels = PORTACL_VALUE_KERNELS(sine::Sin);
constexpr UnaryRules kSin{
    .kernels = kSinKernels, .self = kArithmeticDtypes, .out = Out::kListed, .listed = kFloatingAndBf16};

constexpr auto kCosKernels = PORTACL_VALUE_KERNELS(sine::Cos);
constexpr UnaryRules kCos{
    .kernels = kCosKernels, .self = kArithmeticDtypes, .out = Out::kListed, .listed = kFloatingDtypes};

}  // namespace

PORTACL_UNARY_KERNELS(sin, kSin)
PORTACL_UNARY_KERNELS(cos, kCos)

}  // namespace portacl

using namespace portacl;

PORTACL_UNARY(Sin, kSin)
PORTACL_UNARY(Cos, kCos)

#endif  // HWY_ONCE
