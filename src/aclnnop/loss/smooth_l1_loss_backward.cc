// aclnnSmoothL1LossBackward: gradInput = (f * gradOut) * c, with d = self - target, f = sign(d) where |d| >=
// beta, else d / beta; c = 1 / numel(self) for mean, else 1.
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/loss/smooth_l1_loss_backward.cc"
#include "base/foreach_target.h"

#include "engine/map/vector_loop-inl.h"

#ifndef PORTACL_SMOOTH_L1_LOSS_BACKWARD_PARAMETERS
#define PORTACL_SMOOTH_L1_LOSS_BACKWARD_PARAMETERS
namespace portacl {
struct SmoothL1LossBackwardParameters {
  float beta;
  float inverse;  // 1 / beta if beta is a power of two and the inverse is thus exact; else 0
  float c;
};
}  // namespace portacl
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The comparison includes the boundary: |d| == beta gives exactly +-1, beta = 0 with d = 0 gives 0, and beta
// = inf with an infinite d gives +-1. A NaN d compares false and stays NaN through the division.
struct SmoothL1LossBackward : engine::HWY_NAMESPACE::Elementwise<SmoothL1LossBackward> {
  using Parameters = SmoothL1LossBackwardParameters;
  static constexpr int kInputs = 3;
  static constexpr bool kHasFastPath = true;

  explicit SmoothL1LossBackward(const Parameters& parameters)
      : beta(parameters.beta), inverse(parameters.inverse), c(parameters.c) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradOut, V self, V target) const {
    const V difference = hn::Sub(self, target);
    const V one = hn::Set(d, 1.0f);
    V factor;
    if (inverse != 0.0f) {
      // Multiplying by the exact inverse gives the same quotient, bit for bit, and is cheaper. It is 1 or
      // more exactly where |d| is beta or more.
      const V quotient = hn::Mul(difference, hn::Set(d, inverse));
      factor = hn::IfThenElse(hn::Ge(hn::Abs(quotient), one), hn::CopySignToAbs(one, quotient), quotient);
    } else {
      const V zero = hn::Zero(d);
      const V sign = hn::IfThenElse(hn::Gt(difference, zero), one,
                                    hn::IfThenElse(hn::Lt(difference, zero), hn::Set(d, -1.0f), zero));
      const auto outside = hn::Ge(hn::Abs(difference), hn::Set(d, beta));
      factor = hn::IfThenElse(outside, sign, hn::Div(difference, hn::Set(d, beta)));
    }
    return hn::Mul(hn::Mul(factor, gradOut), hn::Set(d, c));
  }

  float beta;
  float inverse;
  float c;
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cmath>

#include "aclnnop/loss/smooth_l1_loss_backward_functions.h"
#include "aclnnop/phase1.h"
#include "engine/map/dispatch.h"

namespace portacl {
namespace {

enum Tensors { kGradOut, kSelf, kTarget, kGradInput };
enum Attributes { kReduction, kBeta };

constexpr Check kChecks[] = {
    NotNull(kGradOut),
    NotNull(kSelf),
    NotNull(kTarget),
    NotNull(kGradInput),
    DtypesIn(kBf16SinceAtlasA2, {kGradOut, kSelf, kTarget, kGradInput}),
    RankAtMost(8, {kGradOut, kSelf, kTarget}),
    IntegerIn(kReduction, kReductionNone, kReductionSum),
    NotNegative(kBeta),
    Promotes({kGradOut, kSelf, kTarget}),
    PromotedIn(kBf16SinceAtlasA2, {kGradOut, kSelf, kTarget}),
    PromotedCastsTo(kGradInput),
    Broadcasts({kGradOut, kSelf, kTarget}),
    ShapeIsBroadcast(kGradInput),
    SizesRepresentable({kGradInput}),
    DoneIfEmpty({kGradOut, kSelf, kTarget}),
    InsideStorage({kGradOut, kSelf, kTarget}),
};

constexpr auto kKernels = PORTACL_VALUE_KERNELS(SmoothL1LossBackward);

// Returns 1 / beta where that is exact and normal, so that multiplying by it equals dividing by beta. Else 0.
float ExactInverse(float beta) {
  int exponent = 0;
  const bool is_power_of_two = std::frexp(beta, &exponent) == 0.5f;
  return is_power_of_two && exponent >= -125 && exponent <= 126 ? 1.0f / beta : 0.0f;
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSmoothL1LossBackward) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    const float c = ReductionFactor(given.reduction, given.self->shape);
    SetElementwiseJob(checked, {kGradOut, kSelf, kTarget}, kGradInput, kKernels.For(checked.isa),
                      SmoothL1LossBackwardParameters{given.beta, ExactInverse(given.beta), c}, fresh);
  });
}

#endif  // HWY_ONCE
