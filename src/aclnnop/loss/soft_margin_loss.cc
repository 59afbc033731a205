// aclnnSoftMarginLoss: log(1 + exp(-target * self)), its sum or its mean. aclnnSoftMarginLossBackward: its
// gradient for self.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/loss/soft_margin_loss.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/activation_formulas-inl.h"
#include "engine/functions/logarithmic-inl.h"
#include "engine/reduction/sum_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace soft_margin {

// Computes in float64, where the product is exact.
struct SoftMargin : engine::HWY_NAMESPACE::Summable<SoftMargin> {
  using Parameters = engine::NoParameters;
  static constexpr int kInputs = 2;
  explicit SoftMargin(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V self, V target) const {
    return functions::InDoubles(d, self, target, [](auto wide, auto x, auto t) HWY_ATTR {
      const auto zero = hn::Zero(wide);
      const auto z = hn::Neg(hn::Mul(t, x));
      const auto rest = functions::Log1pInDouble(wide, functions::ExpInDouble(wide, hn::Neg(hn::Abs(z))));
      return functions::OrNan(hn::Add(hn::IfThenElse(hn::Gt(z, zero), z, zero), rest), z);
    });
  }
};

struct SoftMarginSlope : Elementwise<SoftMarginSlope> {
  using Parameters = engine::Scalars;
  static constexpr int kInputs = 3;
  static constexpr bool kTakes16BitFloats = true;
  explicit SoftMarginSlope(const Parameters& parameters) : c(parameters.Get<float>(0)) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V self, V target) const {
    const V slope = functions::InDoubles(d, self, target, [](auto wide, auto x, auto t) HWY_ATTR {
      return hn::Neg(hn::Mul(t, LogisticInDouble(wide, hn::Neg(hn::Mul(t, x)))));
    });
    return hn::Mul(hn::Mul(slope, hn::Set(d, c)), gradient);
  }

  float c;
};

}  // namespace soft_margin
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>

#include "aclnnop/loss/soft_margin_loss_functions.h"
#include "aclnnop/phase1.h"
#include "engine/map/dispatch.h"

namespace portacl {
namespace {

constexpr auto kSoftMargin = PORTACL_KERNELS(soft_margin::SoftMargin);
constexpr auto kSoftMarginSlope = PORTACL_VALUE_KERNELS(soft_margin::SoftMarginSlope);

enum Attributes { kReduction };
enum Loss { kSelf, kTarget, kOut };
enum Gradient { kGradOutput, kOf, kTrue, kGradient };

// Tells whether the reduction is none of CANN's numbers. Any other number means a sum, too, but one that
// writes nothing for empty tensors.
bool IsNoNumberOfCann(const OperatorCall& call) noexcept {
  const int64_t reduction = call.attributes[kReduction].integer;
  return reduction < kReductionNone || reduction > kReductionSum;
}

constexpr auto kChecks = Join(List(
    PromotesTo(ACL_FLOAT), NotNull(kSelf), NotNull(kTarget), NotNull(kOut),
    DtypesIn(kBf16SinceAtlasA2, {kSelf, kTarget, kOut}), RankAtMost(8, {kSelf, kTarget, kOut}),
    Broadcasts({kSelf, kTarget}), IfNone(kReduction, ShapeIsBroadcast(kOut)),
    IfReduced(kReduction, IsScalar(kOut)), SizesRepresentable({kOut}),
    IfNone(kReduction, DoneIfEmpty({kSelf, kTarget})), If(IsNoNumberOfCann, DoneIfEmpty({kSelf, kTarget})),
    IfReduced(kReduction, NoTermsIfEmpty({kSelf, kTarget, kOut})), InsideStorage({kSelf, kTarget})));

constexpr auto kGradientChecks =
    List(PromotesTo(ACL_FLOAT), NotNull(kGradOutput), NotNull(kOf), NotNull(kTrue), NotNull(kGradient),
         DtypesIn(kBf16SinceAtlasA2, {kGradOutput, kOf, kTrue, kGradient}),
         RankAtMost(8, {kGradOutput, kOf, kTrue, kGradient}), Broadcasts({kOf, kTrue, kGradOutput}),
         ShapeIsBroadcast(kGradient), IntegerIn(kReduction, 0, 2), SizesRepresentable({kGradient}),
         DoneIfEmpty({kOf, kTrue, kGradOutput}), InsideStorage({kGradOutput, kOf, kTrue}));

void SetLoss(const OperatorCall& call, Executor& executor) {
  const int64_t reduction = call.attributes[kReduction].integer;
  const Shape scalar;
  const float c = reduction == kReductionMean ? ReductionFactor(reduction, call.broadcast) : 1.0f;
  SetJob(call, reduction == kReductionNone ? nullptr : &scalar, {kSelf, kTarget}, kOut, c,
         kSoftMargin.For(call.isa), engine::NoParameters{}, executor);
}

void SetGradient(const OperatorCall& call, Executor& executor) {
  engine::Scalars scalars;
  const float c = ReductionFactor(call.attributes[kReduction].integer, call.broadcast);
  std::memcpy(scalars.bytes[0], &c, sizeof c);
  SetMapJob(call, {kGradOutput, kOf, kTrue}, kGradient, kSoftMarginSlope, scalars, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSoftMarginLoss) { return RunPhase1(call, kChecks, workspaceSize, executor, SetLoss); }

PORTACL_PHASE_1(aclnnSoftMarginLossBackward) {
  return RunPhase1(call, kGradientChecks, workspaceSize, executor, SetGradient);
}

#endif  // HWY_ONCE
