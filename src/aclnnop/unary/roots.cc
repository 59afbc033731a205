// Sqrt, Rsqrt, Reciprocal and Square: powers with small exponents.
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/unary/roots.cc"
#include "base/foreach_target.h"

#include "aclnnop/unary/unary-inl.h"
#include "engine/map/integers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace roots {

struct Sqrt : Unary<Sqrt, FloatingLanes, /*kWith16BitFloats=*/true> {
  using Unary::Unary;
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Sqrt(x);
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D d, V x, V y, V& real, V& imaginary) const {
    functions::Sqrt(d, x, y, real, imaginary);
  }
};
struct Rsqrt : Unary<Rsqrt, FloatingLanes, /*kWith16BitFloats=*/true> {
  using Unary::Unary;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return functions::Rsqrt(d, x);
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D d, V x, V y, V& real, V& imaginary) const {
    functions::Rsqrt(d, x, y, real, imaginary);
  }
};
struct Reciprocal : Unary<Reciprocal, FloatingLanes, /*kWith16BitFloats=*/true> {
  using Unary::Unary;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(hn::Set(d, hn::TFromD<D>{1}), x);
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D d, V x, V y, V& real, V& imaginary) const {
    functions::Reciprocal(d, x, y, real, imaginary);
  }
};
struct Square : Unary<Square, LaneTypes<float, int32_t, int64_t>, /*kWith16BitFloats=*/true> {
  using Unary::Unary;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return engine::HWY_NAMESPACE::Multiply(d, x, x);
  }
};

}  // namespace roots
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/unary/roots_functions.h"
#include "aclnnop/unary/unary.h"

namespace portacl {
namespace {

using Out = UnaryRules::Out;
using IntegersAs = UnaryRules::IntegersAs;
using Formats = UnaryRules::Formats;

constexpr DtypeRule kSqrtDtypes = Everywhere(kArithmetic | kBf16).On({Product::kAtlasTraining}, kArithmetic);
constexpr DtypeRule kSquareDtypes =
    DtypeRule{}.On(products::kAscend950, kFloatHalfAndBf16 | DtypeSet(ACL_INT32, ACL_INT64));

constexpr auto kSqrtKernels = PORTACL_VALUE_KERNELS(roots::Sqrt);
constexpr UnaryRules kSqrt{.kernels = kSqrtKernels,
                           .self = kSqrtDtypes,
                           .out = Out::kCastsComputed,
                           .integers = IntegersAs::kFloatOrDouble,
                           .in_place = kFloatingDtypes,
                           .needs_sleef = {}};

constexpr auto kRsqrtKernels = PORTACL_VALUE_KERNELS(roots::Rsqrt);
constexpr UnaryRules kRsqrt{.kernels = kRsqrtKernels,
                            .self = kArithmeticDtypes,
                            .out = Out::kListed,
                            .listed = kFloatingAndBf16,
                            .integers = IntegersAs::kOut,
                            .needs_sleef = {}};

constexpr auto kReciprocalKernels = PORTACL_VALUE_KERNELS(roots::Reciprocal);
constexpr UnaryRules kReciprocal{.kernels = kReciprocalKernels,
                                 .self = kArithmeticDtypes,
                                 .out = Out::kListed,
                                 .listed = kFloatingDtypes,
                                 .formats = Formats::kEqual,
                                 .needs_sleef = {}};

constexpr auto kSquareKernels = PORTACL_VALUE_KERNELS(roots::Square);
constexpr UnaryRules kSquare{.kernels = kSquareKernels,
                             .self = kSquareDtypes,
                             .integers = IntegersAs::kThemselves,
                             .formats = Formats::kEqualAndNotPrivate,
                             .needs_sleef = {}};

}  // namespace

PORTACL_UNARY_KERNELS(sqrt, kSqrt)
PORTACL_UNARY_KERNELS(rsqrt, kRsqrt)
PORTACL_UNARY_KERNELS(reciprocal, kReciprocal)
PORTACL_UNARY_KERNELS(square, kSquare)

}  // namespace portacl

using namespace portacl;

PORTACL_UNARY(Sqrt, kSqrt)
PORTACL_UNARY(Rsqrt, kRsqrt)
PORTACL_UNARY(Reciprocal, kReciprocal)
PORTACL_UNARY_OUT(Square, kSquare)

#endif  // HWY_ONCE
