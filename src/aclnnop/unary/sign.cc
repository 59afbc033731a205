// Abs, Neg and Sign.
// SPDX-License-Identifier: Apache-2.0

#include <type_traits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/unary/sign.cc"
#include "base/foreach_target.h"

#include "aclnnop/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace sign {

using AbsLanes = LaneTypes<float, double, int8_t, int16_t, int32_t, int64_t, Complex<double>>;
using NegLanes = LaneTypes<float, double, int8_t, int32_t, int64_t, Complex<float>, Complex<double>>;
using SignLanes = LaneTypes<float, double, int32_t, int64_t, Complex<double>>;

// Integers wrap modulo 2^n.
struct Abs : Unary<Abs, AbsLanes, /*kWith16BitFloats=*/true> {
  using Unary::Unary;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    if constexpr (sizeof(hn::TFromD<D>) == 8 && std::is_integral_v<hn::TFromD<D>>) {
      return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Zero(d), x), x);
    } else {
      return hn::Abs(x);
    }
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D d, V x, V y, V& real, V& imaginary) const {
    real = functions::Modulus(d, x, y);
    imaginary = hn::Zero(d);
  }
};

struct Neg : Unary<Neg, NegLanes, /*kWith16BitFloats=*/true> {
  using Unary::Unary;
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Neg(x);
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D, V x, V y, V& real, V& imaginary) const {
    real = hn::Neg(x);
    imaginary = hn::Neg(y);
  }
};

// Returns 0 for NaN, too.
struct Sign : Unary<Sign, SignLanes> {
  using Unary::Unary;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    const V zero = hn::Zero(d);
    const V above = hn::IfThenElseZero(hn::Gt(x, zero), hn::Set(d, T{1}));
    return hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, static_cast<T>(-1)), above);
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D d, V x, V y, V& real, V& imaginary) const {
    functions::Sign(d, x, y, real, imaginary);
  }
};

}  // namespace sign
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/unary/sign_functions.h"
#include "aclnnop/unary/unary.h"

namespace portacl {
namespace {

using Out = UnaryRules::Out;
using IntegersAs = UnaryRules::IntegersAs;
using Formats = UnaryRules::Formats;

constexpr DtypeRule kAbsDtypes =
    kRealArithmeticDtypes.On(products::kAtlasA2AndA3, kRealArithmetic | kBf16 | DtypeSet(ACL_COMPLEX64))
        .On(products::kAscend950, kRealArithmetic | kBf16 | DtypeSet(ACL_COMPLEX64, ACL_COMPLEX32));
constexpr DtypeRule kNegDtypes = WithBf16SinceAtlasA2(kFloating | DtypeSet(ACL_INT8, ACL_INT32, ACL_INT64));
constexpr DtypeRule kSignDtypes = WithBf16SinceAtlasA2(kFloating | kBool | DtypeSet(ACL_INT32, ACL_INT64));

constexpr auto kAbsKernels = PORTACL_VALUE_KERNELS(sign::Abs);
constexpr UnaryRules kAbs{.kernels = kAbsKernels,
                          .self = kAbsDtypes,
                          .out = Out::kReal,
                          .integers = IntegersAs::kThemselves,
                          .formats = Formats::kEqualAndNotPrivate,
                          .copied = DtypeSet(ACL_UINT8, ACL_BOOL),
                          .needs_sleef = {}};

constexpr auto kNegKernels = PORTACL_VALUE_KERNELS(sign::Neg);
constexpr UnaryRules kNeg{.kernels = kNegKernels,
                          .self = kNegDtypes,
                          .out = Out::kCastsFromSelf,
                          .integers = IntegersAs::kThemselves,
                          .in_place = kNegDtypes,
                          .needs_sleef = {}};

constexpr auto kSignKernels = PORTACL_VALUE_KERNELS(sign::Sign);
constexpr UnaryRules kSign{.kernels = kSignKernels,
                           .self = kSignDtypes,
                           .out = Out::kSign,
                           .integers = IntegersAs::kThemselves,
                           .copied = kBool,
                           .needs_sleef = {}};

}  // namespace

PORTACL_UNARY_KERNELS(abs, kAbs)
PORTACL_UNARY_KERNELS(sign, kSign)

// COMPLEX32 is in the list, but cannot be computed.
PORTACL_UNARY_KERNELS(neg, kNeg)
// Some products do not check dtypes outside the list.

}  // namespace portacl

using namespace portacl;

PORTACL_UNARY_OUT(Abs, kAbs)
PORTACL_UNARY(Neg, kNeg)
PORTACL_UNARY_OUT(Sign, kSign)

#endif  // HWY_ONCE
