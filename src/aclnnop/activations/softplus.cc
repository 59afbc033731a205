// aclnnSoftplus, aclnnMish, aclnnLogSigmoid and their gradients: log(1 + exp(x)) and functions of it.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/activations/softplus.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/activation_formulas-inl.h"
#include "engine/functions/logarithmic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace softplus {

// Numbers: beta, threshold. The result overflows where float32's exponential does, as on the NPU.
struct Softplus : Activation<Softplus, 1> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const auto beta = static_cast<double>(Number(0));
    const auto threshold = static_cast<double>(Number(1));
    return functions::InDoubles(d, x, [=](auto wide, auto t) HWY_ATTR {
      const auto factor = hn::Set(wide, beta);
      const auto z = hn::Mul(factor, t);
      const auto limited = hn::Min(z, hn::Set(wide, 89.0));
      auto logarithm = functions::Log1pInDouble(wide, functions::ExpInDouble(wide, limited));
      logarithm = hn::IfThenElse(hn::Gt(z, hn::Set(wide, 0x1.62e42fefa39efp+6)),  // log(2^128)
                                 functions::Infinity(wide), logarithm);
      logarithm = functions::OrNan(logarithm, z);
      return hn::IfThenElse(hn::Gt(z, hn::Set(wide, threshold)), t, hn::Div(logarithm, factor));
    });
  }
};

struct SoftplusSlope : Activation<SoftplusSlope, 2> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x) const {
    const auto beta = static_cast<double>(Number(0));
    const auto threshold = static_cast<double>(Number(1));
    return functions::InDoubles(d, gradient, x, [=](auto wide, auto g, auto t) HWY_ATTR {
      const auto z = hn::Mul(hn::Set(wide, beta), t);
      return hn::IfThenElse(hn::Gt(z, hn::Set(wide, threshold)), g, hn::Mul(g, LogisticInDouble(wide, z)));
    });
  }
};

// Returns n = e^2x + 2 e^x. Then tanh(log(1 + e^x)) = n / (n + 2), and 1 minus its square is 4 (n + 1) / (n +
// 2)^2. The exponential no longer matters above 100 and below -700.
template <class D, class V>
HWY_INLINE V MishPower(D d, V x) {
  const V e = functions::ExpInDouble(d, hn::Min(x, hn::Set(d, 100.0)));
  const V n = hn::Mul(e, hn::Add(e, hn::Set(d, 2.0)));
  return functions::OrNan(hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -700.0)), n), x);
}

struct Mish : Activation<Mish, 1> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return functions::InDoubles(d, x, [](auto wide, auto t) HWY_ATTR {
      const auto n = MishPower(wide, t);
      return hn::Mul(t, hn::Div(n, hn::Add(n, hn::Set(wide, 2.0))));
    });
  }
};

struct MishSlope : Activation<MishSlope, 2> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x) const {
    return functions::InDoubles(d, gradient, x, [](auto wide, auto g, auto t) HWY_ATTR {
      const auto n = MishPower(wide, t);
      const auto two = hn::Set(wide, 2.0);
      const auto inverse = hn::Div(hn::Set(wide, 1.0), hn::Add(n, two));
      const auto bend =
          hn::Mul(hn::Mul(hn::Set(wide, 4.0), hn::Add(n, hn::Set(wide, 1.0))), hn::Mul(inverse, inverse));
      const auto rest = hn::IfThenZeroElse(hn::Gt(t, hn::Set(wide, 100.0)), bend);
      const auto more = hn::Mul(hn::Mul(t, LogisticInDouble(wide, t)), rest);
      return hn::Mul(g, functions::Fma(wide, n, inverse, more));
    });
  }
};

// Computes min(x, 0) - log(1 + exp(-|x|)).
struct LogSigmoid : Activation<LogSigmoid, 1> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V result = functions::InDoubles(d, x, [](auto wide, auto t) HWY_ATTR {
      const auto e = functions::ExpInDouble(wide, hn::Neg(hn::Abs(t)));
      const auto zero = hn::Zero(wide);
      return hn::Sub(hn::IfThenElse(hn::Lt(t, zero), t, zero), functions::Log1pInDouble(wide, e));
    });
    return functions::OrNan(result, x);
  }
};

struct LogSigmoidSlope : Activation<LogSigmoidSlope, 2> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x) const {
    return functions::InDoubles(d, gradient, x, [](auto wide, auto g, auto t) HWY_ATTR {
      return hn::Mul(g, LogisticInDouble(wide, hn::Neg(t)));
    });
  }
};

}  // namespace softplus
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/activations/activation.h"
#include "aclnnop/activations/softplus_functions.h"

namespace portacl {
namespace {

constexpr auto kSoftplus = PORTACL_VALUE_KERNELS(softplus::Softplus);
constexpr auto kSoftplusSlope = PORTACL_VALUE_KERNELS(softplus::SoftplusSlope);
constexpr auto kMish = PORTACL_VALUE_KERNELS(softplus::Mish);
constexpr auto kMishSlope = PORTACL_VALUE_KERNELS(softplus::MishSlope);
constexpr auto kLogSigmoid = PORTACL_VALUE_KERNELS(softplus::LogSigmoid);
constexpr auto kLogSigmoidSlope = PORTACL_VALUE_KERNELS(softplus::LogSigmoidSlope);

enum Unary { kSelf, kOut };
enum Gradient { kGradOutput, kInput, kGradInput };
enum SoftplusAttributes { kBeta, kThreshold };

constexpr auto kSoftplusChecks = Join(List(NotNull(kSelf), ScalarNotNull(kBeta), ScalarNotNull(kThreshold),
                                           NotNull(kOut), DtypesIn(kBf16SinceAtlasA2, {kSelf})),
                                      ScalarsCastToFloat({kBeta, kThreshold}),
                                      OfOneTensor(kSelf, kOut, OutDtype::kCast, {kBeta, kThreshold}));

constexpr DtypeRule kSoftplusOperand = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble | kIntegersAndBool);

// Computes in FLOAT, even DOUBLE, unless both tensors have the same floating dtype.
bool ComputedInFloat(const OperatorCall& call) noexcept {
  const aclDataType dtype = call.Tensor(kInput).dtype;
  return dtype != call.Tensor(kGradOutput).dtype || !kFloatHalfAndBf16.Contains(dtype);
}

// CANN does not check the scalars for null.
constexpr auto kSoftplusBackwardChecks =
    Join(List(NotNull(kGradOutput), NotNull(kInput), NotNull(kGradInput), ScalarNotNull(kBeta),
              ScalarNotNull(kThreshold), DtypesIn(kActivatedAndDouble, {kGradOutput}),
              DtypesIn(kSoftplusOperand, {kInput}), DtypesIn(kActivatedAndDouble, {kGradInput}),
              RankAtMost(8, {kGradOutput, kInput, kGradInput}), SameShape(kGradOutput, kInput),
              SameShape(kInput, kGradInput), PromotesToDtypeOf(kInput),
              If(ComputedInFloat, PromotesTo(ACL_FLOAT))),
         ComputableChecks({kGradOutput, kInput}, kGradInput, {kBeta, kThreshold}));

constexpr auto MishChecks(int out) {
  return Join(List(NotNull(kSelf), NotNull(out), DtypesIn(kBf16SinceAtlasA2, {kSelf})),
              OfOneTensor(kSelf, out, OutDtype::kSame));
}
constexpr auto kMishChecks = MishChecks(kOut);
constexpr auto kInplaceMishChecks = MishChecks(kSelf);

constexpr auto kMishBackwardChecks = Join(
    List(NotNull(kGradOutput), NotNull(kInput), NotNull(kGradInput),
         DtypesIn(kBf16SinceAtlasA2, {kGradOutput, kInput, kGradInput}), Promotes({kGradOutput, kInput})),
    BroadcastChecks(kGradOutput, kInput, kGradInput), ComputableChecks({kGradOutput, kInput}, kGradInput));

// Accepts any rank. The buffer is only checked to lie inside its storage.
constexpr auto kLogSigmoidChecks =
    List(NotNull(kSelf), NotNull(kOut), DtypesIn(kBf16SinceAtlasA2, {kSelf}), SameDtype(kSelf, kOut),
         SameShape(kSelf, kOut), PromotesToDtypeOf(kSelf), SizesRepresentable({kOut}), DoneIfEmpty({kSelf}),
         InsideStorage({kSelf}), LoopRankFits({kSelf, kOut}));

enum GradientWithBuffer { kGivenGradient, kGivenSelf, kBuffer, kResult };
constexpr auto kLogSigmoidBackwardChecks =
    List(NotNull(kGivenGradient), NotNull(kGivenSelf), NotNull(kBuffer), NotNull(kResult),
         DtypesIn(kBf16SinceAtlasA2, {kGivenGradient}), SameDtype(kGivenGradient, kGivenSelf),
         SameDtype(kGivenSelf, kResult), SameShape(kGivenGradient, kResult), SameShape(kGivenSelf, kResult),
         PromotesToDtypeOf(kGivenSelf), SizesRepresentable({kResult}),
         DoneIfEmpty({kGivenGradient, kGivenSelf}), InsideStorage({kGivenGradient, kGivenSelf, kBuffer}),
         LoopRankFits({kGivenGradient, kGivenSelf, kResult}));

void SetLogSigmoidBackward(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kGivenGradient, kGivenSelf}, kResult, kLogSigmoidSlope, {}, executor);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSoftplus) {
  return RunPhase1(call, kSoftplusChecks, workspaceSize, executor, SetActivation<kSoftplus, kSelf>);
}

PORTACL_PHASE_1(aclnnSoftplusBackward) {
  return RunPhase1(call, kSoftplusBackwardChecks, workspaceSize, executor,
                   SetActivation<kSoftplusSlope, kGradOutput, kInput>);
}

PORTACL_PHASE_1(aclnnMish) {
  return RunPhase1(call, kMishChecks, workspaceSize, executor, SetActivation<kMish, kSelf>);
}

PORTACL_PHASE_1(aclnnInplaceMish) {
  return RunPhase1(call, kInplaceMishChecks, workspaceSize, executor, SetActivation<kMish, kSelf>);
}

PORTACL_PHASE_1(aclnnMishBackward) {
  return RunPhase1(call, kMishBackwardChecks, workspaceSize, executor,
                   SetActivation<kMishSlope, kGradOutput, kInput>);
}

PORTACL_PHASE_1(aclnnLogSigmoid) {
  return RunPhase1(call, kLogSigmoidChecks, workspaceSize, executor, SetActivation<kLogSigmoid, kSelf>);
}

PORTACL_PHASE_1(aclnnLogSigmoidBackward) {
  return RunPhase1(call, kLogSigmoidBackwardChecks, workspaceSize, executor, SetLogSigmoidBackward);
}

// The buffer, which may be null, is an operand that the job does not touch.
PORTACL_PHASE_1(aclnnLogSigmoidForward) {
  return RunPhase1(call, kLogSigmoidChecks, workspaceSize, executor, SetActivation<kLogSigmoid, kSelf>);
}

#endif  // HWY_ONCE
