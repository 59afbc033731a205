// Erf, Erfc, Erfinv, Lgamma, Digamma and Sinc: special functions.
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/unary/special.cc"
#include "base/foreach_target.h"

#include "aclnnop/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace special {

struct Erf : Unary<Erf, RealLanes, /*kWith16BitFloats=*/true> {
  static constexpr int kFunctionOf = 0;
  using Unary::Unary;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return functions::Erf(d, x);
  }
  template <class D, class V>
  HWY_INLINE V Function(D d, const V& x) const {
    return functions::Erf(d, x);
  }
  template <class D, class V>
  HWY_INLINE V WithFunction(D, V, V value) const {
    return value;
  }
};

PORTACL_UNARY_FORMULA(Erfc, RealLanes)
PORTACL_UNARY_FORMULA(Erfinv, LaneTypes<float>)
PORTACL_UNARY_FORMULA(Lgamma, RealLanes)
PORTACL_UNARY_FORMULA(Digamma, RealLanes)
PORTACL_UNARY_FORMULA(Sinc, RealLanes)

}  // namespace special
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/unary/special_functions.h"
#include "aclnnop/unary/unary.h"

namespace portacl {
namespace {

using Out = UnaryRules::Out;

constexpr DtypeRule kErfDtypes = WithBf16SinceAtlasA2(kRealFloating | DtypeSet(ACL_INT64, ACL_BOOL));
constexpr DtypeRule kErfinvDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kIntegersAndBool);

constexpr auto kErfKernels = PORTACL_VALUE_KERNELS(special::Erf);
constexpr UnaryRules kErf{.kernels = kErfKernels, .self = kErfDtypes, .out = Out::kCastsComputed};

constexpr auto kErfcKernels = PORTACL_VALUE_KERNELS(special::Erfc);
constexpr UnaryRules kErfc{.kernels = kErfcKernels, .self = kErfDtypes, .out = Out::kCastsComputed};

constexpr auto kErfinvKernels = PORTACL_VALUE_KERNELS(special::Erfinv);
constexpr UnaryRules kErfinv{.kernels = kErfinvKernels, .self = kErfinvDtypes, .out = Out::kCastsComputed};

// CANN has no BF16 kernels of the gamma functions on any product.
constexpr DtypeRule kGammaDtypes = Everywhere(kRealFloating);

constexpr auto kLgammaKernels = PORTACL_VALUE_KERNELS(special::Lgamma);
constexpr UnaryRules kLgamma{
    .kernels = kLgammaKernels, .self = kGammaDtypes, .formats = UnaryRules::Formats::kEqual};

constexpr auto kDigammaKernels = PORTACL_VALUE_KERNELS(special::Digamma);
constexpr UnaryRules kDigamma{
    .kernels = kDigammaKernels, .self = kGammaDtypes, .formats = UnaryRules::Formats::kEqual};

constexpr auto kSincKernels = PORTACL_VALUE_KERNELS(special::Sinc);
constexpr UnaryRules kSinc{.kernels = kSincKernels,
                           .self = kRealArithmeticDtypes,
                           .out = Out::kListed,
                           .listed = kRealFloatingAndBf16,
                           .null_code = ACLNN_ERR_INNER_NULLPTR};

}  // namespace

PORTACL_UNARY_KERNELS(erf, kErf)
PORTACL_UNARY_KERNELS(erfc, kErfc)
PORTACL_UNARY_KERNELS(erfinv, kErfinv)
PORTACL_UNARY_KERNELS(lgamma, kLgamma)
PORTACL_UNARY_KERNELS(digamma, kDigamma)
PORTACL_UNARY_KERNELS(sinc, kSinc)

}  // namespace portacl

using namespace portacl;

PORTACL_UNARY(Erf, kErf)
PORTACL_UNARY(Erfc, kErfc)
PORTACL_UNARY(Erfinv, kErfinv)
PORTACL_UNARY(Lgamma, kLgamma)
PORTACL_UNARY(Digamma, kDigamma)
PORTACL_UNARY(Sinc, kSinc)

#endif  // HWY_ONCE
