// aclnnSilu, aclnnSwish, aclnnFastGelu and their gradients: x times the logistic function of x, or of a
// multiple of x.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/activations/swish.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/activation_formulas-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace swish {

struct Silu : Activation<Silu, 1> {
  static constexpr bool kTakes16BitFloats = true;
  static constexpr int kFunctionOf = 0;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return WithFunction(d, x, Function(d, x));
  }
  template <class D, class V>
  HWY_INLINE V Function(D d, const V& x) const {
    return functions::SigmoidOfUsual(d, x);
  }
  template <class D, class V>
  HWY_INLINE V WithFunction(D d, V x, V sigmoid) const {
    return SiluFrom(d, x, sigmoid);
  }
};

struct SiluSlope : Activation<SiluSlope, 2> {
  static constexpr bool kTakes16BitFloats = true;
  static constexpr int kFunctionOf = 1;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x) const {
    return WithFunction(d, gradient, x, Function(d, x));
  }
  template <class D, class V>
  HWY_INLINE V Function(D d, const V& x) const {
    return Decay(d, x);
  }
  template <class D, class V>
  HWY_INLINE V WithFunction(D d, V gradient, V x, V decay) const {
    return SiluGradientFrom(d, gradient, x, decay);
  }
};

// Number: the multiple.
struct Swish : Activation<Swish, 1> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const auto beta = static_cast<double>(Number(0));
    return functions::InDoubles(d, x, [beta](auto wide, auto t) HWY_ATTR {
      return hn::Mul(t, LogisticInDouble(wide, hn::Mul(hn::Set(wide, beta), t)));
    });
  }
};

struct SwishSlope : Activation<SwishSlope, 2> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x) const {
    const auto beta = static_cast<double>(Number(0));
    return functions::InDoubles(d, gradient, x, [beta](auto wide, auto g, auto t) HWY_ATTR {
      return hn::Mul(g, SwishSlopeInDouble(wide, t, hn::Set(wide, beta)));
    });
  }
};

}  // namespace swish
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>

#include "aclnnop/activations/activation.h"
#include "aclnnop/activations/swish_functions.h"

namespace portacl {
namespace {

constexpr auto kSilu = PORTACL_VALUE_KERNELS(swish::Silu);
constexpr auto kSiluSlope = PORTACL_VALUE_KERNELS(swish::SiluSlope);
constexpr auto kSwish = PORTACL_VALUE_KERNELS(swish::Swish);
constexpr auto kSwishSlope = PORTACL_VALUE_KERNELS(swish::SwishSlope);

enum Unary { kSelf, kOut };
enum Gradient { kGradOutput, kInput, kGradInput };

// The multiple of aclnnFastGelu, in float32 as on the NPU.
constexpr float kFast = 1.702f;

engine::Scalars Multiple(float beta) {
  engine::Scalars scalars;
  std::memcpy(scalars.bytes[0], &beta, sizeof beta);
  return scalars;
}
// Returns aclnnSwish's beta, which may be null.
engine::Scalars BetaOf(const OperatorCall& call) {
  return call.attributes[0].scalar == nullptr ? Multiple(1.0f) : FloatsOf(call);
}

constexpr auto kOfF3 =
    List(NotNull(kSelf), NotNull(kOut), DtypesIn(kBf16SinceAtlasA2, {kSelf}), SameDtype(kSelf, kOut));

constexpr auto kSiluChecks = Join(kOfF3, OfOneTensorOfAnyRank(kSelf, kOut));
constexpr auto kSwishChecks = Join(kOfF3, List(RankAtMost(8, {kSelf, kOut})), ScalarsCastToFloat({0}),
                                   OfOneTensorOfAnyRank(kSelf, kOut, {0}));
constexpr auto kFastGeluChecks = Join(
    List(NotNull(kSelf), NotNull(kOut), DtypesIn(kNoneBeforeAtlasA2, {kSelf}), SameFormat({kSelf, kOut})),
    OfOneTensor(kSelf, kOut, OutDtype::kSame));

// Checks of a gradient whose three tensors have one dtype and one shape.
constexpr auto SameThree(const DtypeRule& rule) {
  return List(DtypesIn(rule, {kGradOutput}), SameDtype(kGradOutput, kInput), SameDtype(kInput, kGradInput),
              PromotesToDtypeOf(kInput));
}
constexpr auto kSameThreeShapes =
    List(RankAtMost(8, {kGradOutput, kInput}), SameShape(kGradOutput, kInput), SameShape(kInput, kGradInput));
constexpr auto kNoneOfThreeIsNull = List(NotNull(kGradOutput), NotNull(kInput), NotNull(kGradInput));

constexpr auto kSwishBackwardChecks =
    Join(kNoneOfThreeIsNull, SameThree(kBf16SinceAtlasA2), kSameThreeShapes, ScalarsCastToFloat({0}),
         List(PromotesToDtypeOf(kInput)), ComputableChecks({kGradOutput, kInput}, kGradInput, {0}));
constexpr auto kFastGeluBackwardChecks = Join(
    kNoneOfThreeIsNull, SameThree(kNoneBeforeAtlasA2), kSameThreeShapes,
    List(SameFormat({kGradOutput, kInput, kGradInput})), ComputableChecks({kGradOutput, kInput}, kGradInput));

// On Ascend 950 gradOutput and self may differ, in dtype and in shape.
bool DtypesDiffer(const OperatorCall& call) noexcept {
  return call.product == Product::kAscend950 && call.Tensor(kGradOutput).dtype != call.Tensor(kInput).dtype;
}
bool DtypesAreOne(const OperatorCall& call) noexcept { return !DtypesDiffer(call); }

constexpr auto kSiluBackwardChecks = Join(
    kNoneOfThreeIsNull,
    List(DtypesIn(kBf16SinceAtlasA2, {kGradOutput, kInput}), DtypesIn(kFloatHalfAndBf16, {kGradInput}),
         PromotesToDtypeOf(kInput), If(DtypesDiffer, PromotesTo(ACL_FLOAT)),
         If(DtypesDiffer, PromotedIs(kGradInput)), If(DtypesAreOne, SameDtype(kGradOutput, kInput)),
         If(DtypesAreOne, SameDtype(kInput, kGradInput)), RankAtMost(8, {kGradOutput, kInput}),
         OnProducts(products::kBeforeAscend950, SameShape(kGradOutput, kInput)),
         OnProducts(products::kBeforeAscend950, SameShape(kInput, kGradInput))),
    BroadcastsInto({kGradOutput, kInput}, kGradInput), ComputableChecks({kGradOutput, kInput}, kGradInput));

void SetSwish(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kSelf}, kOut, kSwish, BetaOf(call), executor);
}
void SetSwishBackward(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kGradOutput, kInput}, kGradInput, kSwishSlope, BetaOf(call), executor);
}
void SetSiluBackward(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kGradOutput, kInput}, kGradInput, kSiluSlope, {}, executor);
}
void SetFastGelu(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kSelf}, kOut, kSwish, Multiple(kFast), executor);
}
void SetFastGeluBackward(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kGradOutput, kInput}, kGradInput, kSwishSlope, Multiple(kFast), executor);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSilu) {
  return RunPhase1(call, kSiluChecks, workspaceSize, executor, SetActivation<kSilu, kSelf>);
}

PORTACL_PHASE_1(aclnnSiluBackward) {
  return RunPhase1(call, kSiluBackwardChecks, workspaceSize, executor, SetSiluBackward);
}

PORTACL_PHASE_1(aclnnSwish) { return RunPhase1(call, kSwishChecks, workspaceSize, executor, SetSwish); }

PORTACL_PHASE_1(aclnnSwishBackward) {
  return RunPhase1(call, kSwishBackwardChecks, workspaceSize, executor, SetSwishBackward);
}

PORTACL_PHASE_1(aclnnFastGelu) {
  return RunPhase1(call, kFastGeluChecks, workspaceSize, executor, SetFastGelu);
}

PORTACL_PHASE_1(aclnnFastGeluBackward) {
  return RunPhase1(call, kFastGeluBackwardChecks, workspaceSize, executor, SetFastGeluBackward);
}

#endif  // HWY_ONCE
