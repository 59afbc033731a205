// Log, Log2, Log10 and Log1p.
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/unary/logarithmic.cc"
#include "base/foreach_target.h"

#include "aclnnop/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace logarithmic {

PORTACL_UNARY_FORMULA(Log, FloatingLanes, /*kWith16BitFloats=*/true)
PORTACL_UNARY_FORMULA(Log2, FloatingLanes, /*kWith16BitFloats=*/true)
PORTACL_UNARY_FORMULA(Log10, FloatingLanes, /*kWith16BitFloats=*/true)
PORTACL_UNARY_FORMULA(Log1p, RealLanes)

}  // namespace logarithmic
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/unary/logarithmic_functions.h"
#include "aclnnop/unary/unary.h"

namespace portacl {
namespace {

using Out = UnaryRules::Out;
using IntegersAs = UnaryRules::IntegersAs;

constexpr DtypeRule kLog10Dtypes = Everywhere(kArithmetic | kBf16);

constexpr auto kLogKernels = PORTACL_VALUE_KERNELS(logarithmic::Log);
constexpr UnaryRules kLog{.kernels = kLogKernels,
                          .self = kArithmeticDtypes,
                          .out = Out::kListedFromSelf,
                          .listed = kFloatingDtypes};

constexpr auto kLog2Kernels = PORTACL_VALUE_KERNELS(logarithmic::Log2);
constexpr UnaryRules kLog2{.kernels = kLog2Kernels,
                           .self = kArithmeticDtypes,
                           .out = Out::kListedFromSelf,
                           .listed = kFloatingDtypes};

constexpr auto kLog10Kernels = PORTACL_VALUE_KERNELS(logarithmic::Log10);
constexpr UnaryRules kLog10{
    .kernels = kLog10Kernels, .self = kLog10Dtypes, .out = Out::kComputed, .in_place = kFloatingDtypes};

constexpr auto kLog1pKernels = PORTACL_VALUE_KERNELS(logarithmic::Log1p);
constexpr UnaryRules kLog1p{.kernels = kLog1pKernels,
                            .self = kRealArithmeticDtypes,
                            .out = Out::kListed,
                            .listed = kRealFloatingDtypes,
                            .integers = IntegersAs::kOut};

}  // namespace

PORTACL_UNARY_KERNELS(log, kLog)
PORTACL_UNARY_KERNELS(log2, kLog2)
PORTACL_UNARY_KERNELS(log10, kLog10)
PORTACL_UNARY_KERNELS(log1p, kLog1p)

}  // namespace portacl

using namespace portacl;

PORTACL_UNARY(Log, kLog)
PORTACL_UNARY(Log2, kLog2)
PORTACL_UNARY(Log10, kLog10)
PORTACL_UNARY(Log1p, kLog1p)

#endif  // HWY_ONCE
