// aclnnKlDivBackward: out = -(target * gradOutput) * c, or -(exp(target) * gradOutput) * c with logTarget,
// summed to self's shape where self was broadcast; c = 1 / numel(R) for mean, 1 / R[0] for batchmean, else 1;
// R = broadcast(self, target).
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/loss/kl_div_backward.cc"
#include "base/foreach_target.h"

#include "engine/functions/exp-inl.h"
#include "engine/reduction/sum_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Does not mask targets <= 0. self has no influence and is not read.
template <bool kLogTarget>
struct KlDivBackward : engine::HWY_NAMESPACE::Summable<KlDivBackward<kLogTarget>> {
  using Parameters = engine::FactorAlone;
  static constexpr int kInputs = 2;
  static constexpr bool kHasFastPath = true;

  explicit KlDivBackward(const Parameters& parameters) : c(parameters.c) {}

  static constexpr int kFunctionOf = kLogTarget ? 1 : -1;

  template <class D, class V>
  HWY_INLINE V Function(D d, V target) const {
    return engine::HWY_NAMESPACE::Exp(d, target);
  }
  template <class D, class V>
  HWY_INLINE V WithFunction(D d, V gradOutput, V, V weight) const {
    return hn::Mul(hn::Mul(weight, gradOutput), hn::Set(d, -c));  // the sign costs nothing in c
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradOutput, V target) const {
    V weight = target;
    if constexpr (kLogTarget) weight = Function(d, target);
    return WithFunction(d, gradOutput, target, weight);
  }

  float c;
};

// Computes exp(target), once for all repetitions of a broadcast target.
struct Exponential : engine::HWY_NAMESPACE::Elementwise<Exponential> {
  using Parameters = engine::NoParameters;
  static constexpr int kInputs = 1;

  explicit Exponential(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V target) const {
    return engine::HWY_NAMESPACE::Exp(d, target);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/loss/kl_div_backward_functions.h"
#include "aclnnop/phase1.h"
#include "engine/map/dispatch.h"

namespace portacl {
namespace {

enum Tensors { kGradOutput, kSelf, kTarget, kOut };

// CANN accepts Atlas training and inference products, although its documents do not list them. On Atlas
// 200I/500 A2 and without a device its list is empty.
constexpr DtypeRule kDtypes = {{
    /* Atlas training    */ kFloatAndHalf,
    /* Atlas A2          */ kFloatHalfAndBf16,
    /* Atlas A3          */ kFloatHalfAndBf16,
    /* Ascend 950        */ kFloatHalfAndBf16,
    /* Atlas inference   */ kFloatAndHalf,
    /* Atlas 200I/500 A2 */ kNoDtype,
    /* no device         */ kNoDtype,
}};

// reduction is not checked: values outside 0..3 act as none, as in CANN.
constexpr Check kChecks[] = {
    NotNull(kGradOutput),
    NotNull(kSelf),
    NotNull(kTarget),
    NotNull(kOut),
    CastsTo(kSelf, kOut),
    DtypesIn(kDtypes, {kGradOutput, kSelf, kTarget, kOut}),
    RankAtMost(8, {kGradOutput, kSelf, kTarget, kOut}),
    Broadcasts({kSelf, kTarget}),
    ExpandsToBroadcast(kGradOutput),
    SameShape(kSelf, kOut),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf}),
    InsideStorage({kGradOutput, kSelf, kTarget}),
    FormatKept(kSelf, kOut),
};

constexpr auto kKernels = PORTACL_KERNELS(KlDivBackward<false>);
// With e^target precomputed, the formula is the one without logTarget.
constexpr engine::PrecomputedKernelTable kLogTargetKernels(PORTACL_KERNELS(KlDivBackward<true>),
                                                           PORTACL_VALUE_KERNELS(Exponential), kKernels,
                                                           /*input=*/1, /*value=*/1);

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnKlDivBackward) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    const engine::Kernels kernels =
        given.logTarget ? kLogTargetKernels.For(checked.isa) : kKernels.For(checked.isa);
    const Shape* const kept = checked.broadcast == given.self->shape ? nullptr : &given.self->shape;
    SetJob(checked, kept, {kGradOutput, kTarget}, kOut, /*factor=*/1.0f, kernels,
           engine::FactorAlone{ReductionFactor(given.reduction, checked.broadcast)}, fresh);
  });
}

#endif  // HWY_ONCE
