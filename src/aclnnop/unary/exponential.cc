// Exp, Exp2, Expm1 and Sigmoid.
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/unary/exponential.cc"
#include "base/foreach_target.h"

#include "aclnnop/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace exponential {

PORTACL_UNARY_FORMULA(Exp, FloatingLanes, /*kWith16BitFloats=*/true)
PORTACL_UNARY_FORMULA(Exp2, RealLanes)
PORTACL_UNARY_FORMULA(Expm1, RealLanes)

struct Sigmoid : Unary<Sigmoid, FloatingLanes, /*kWith16BitFloats=*/true> {
  static constexpr int kFunctionOf = 0;
  using Unary::Unary;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return functions::Sigmoid(d, x);
  }
  template <class D, class V>
  HWY_INLINE V Function(D d, const V& x) const {
    return functions::SigmoidOfUsual(d, x);
  }
  template <class D, class V>
  HWY_INLINE V WithFunction(D d, V x, V usual) const {
    return functions::SigmoidFrom(d, usual, x);
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D d, V x, V y, V& real, V& imaginary) const {
    functions::Sigmoid(d, x, y, real, imaginary);
  }
};

}  // namespace exponential
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/unary/exponential_functions.h"
#include "aclnnop/unary/unary.h"

namespace portacl {
namespace {

using Out = UnaryRules::Out;
using IntegersAs = UnaryRules::IntegersAs;

constexpr DtypeRule kExpDtypes = WithBf16SinceAtlasA2(kFloating | DtypeSet(ACL_INT64, ACL_BOOL));
constexpr DtypeRule kExpm1Dtypes = WithBf16SinceAtlasA2(kFloatAndHalf | DtypeSet(ACL_INT64, ACL_BOOL));

constexpr auto kExpKernels = PORTACL_VALUE_KERNELS(exponential::Exp);
constexpr UnaryRules kExp{.kernels = kExpKernels, .self = kExpDtypes, .out = Out::kCastsComputed};

constexpr auto kExp2Kernels = PORTACL_VALUE_KERNELS(exponential::Exp2);
constexpr UnaryRules kExp2{
    .kernels = kExp2Kernels, .self = kRealArithmeticDtypes, .out = Out::kCastsComputed};

constexpr auto kExpm1Kernels = PORTACL_VALUE_KERNELS(exponential::Expm1);
constexpr UnaryRules kExpm1{.kernels = kExpm1Kernels, .self = kExpm1Dtypes, .out = Out::kCastsComputed};

constexpr auto kSigmoidKernels = PORTACL_VALUE_KERNELS(exponential::Sigmoid);
constexpr UnaryRules kSigmoid{.kernels = kSigmoidKernels,
                              .self = kArithmeticDtypes,
                              .out = Out::kListed,
                              .listed = kFloatingAndBf16,
                              .integers = IntegersAs::kOut};

}  // namespace

PORTACL_UNARY_KERNELS(exp, kExp)
PORTACL_UNARY_KERNELS(exp2, kExp2)
PORTACL_UNARY_KERNELS(expm1, kExpm1)

// CANN's page of aclnnSigmoid lists only floats.
PORTACL_UNARY_KERNELS(sigmoid, kSigmoid)

}  // namespace portacl

using namespace portacl;

PORTACL_UNARY(Exp, kExp)
PORTACL_UNARY(Exp2, kExp2)
PORTACL_UNARY(Expm1, kExpm1)
PORTACL_UNARY(Sigmoid, kSigmoid)

#endif  // HWY_ONCE
