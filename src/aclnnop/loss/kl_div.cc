// aclnnKlDiv: l = target * (log(target) - self), 0 for a zero target, or exp(target) * (target - self) with
// logTarget; out = l, or the sum of all of it times c; c = 1 / numel(R) for mean, 1 / R[0] for batchmean, else 1.
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/loss/kl_div.cc"
#include "base/foreach_target.h"

#include "engine/functions/exp-inl.h"
#include "engine/functions/log-inl.h"
#include "engine/reduction/sum_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The other form of target: its exponential where it is a logarithm, else its logarithm. The logarithm of a
// negative target is NaN. That of zero does not matter, and is set to 0.
template <bool kLogTarget>
struct OtherForm : engine::HWY_NAMESPACE::Elementwise<OtherForm<kLogTarget>> {
  using Parameters = engine::NoParameters;
  static constexpr int kInputs = 1;

  explicit OtherForm(const Parameters&) {}

  // V may be Unrolled where target is a logarithm.
  template <class D, class V>
  HWY_INLINE V operator()(D d, V target) const {
    if constexpr (kLogTarget) {
      return engine::HWY_NAMESPACE::Exp(d, target);
    } else {
      const V positive = hn::IfThenElse(hn::Eq(target, hn::Zero(d)), hn::Set(d, 1.0f), target);
      return engine::HWY_NAMESPACE::Log(d, positive);
    }
  }
};

// Computes the divergence, given target in both forms. A zero target still multiplies: its term is a zero, or
// NaN where self is infinite or NaN.
template <bool kLogTarget>
struct KlDivOfForms : engine::HWY_NAMESPACE::Summable<KlDivOfForms<kLogTarget>> {
  using Parameters = engine::NoParameters;
  static constexpr int kInputs = 3;

  explicit KlDivOfForms(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V self, V target, V other) const {
    if constexpr (kLogTarget) return hn::Mul(other, hn::Sub(target, self));
    return hn::Mul(target, hn::Sub(other, self));
  }
};

template <bool kLogTarget>
struct KlDiv : engine::HWY_NAMESPACE::Summable<KlDiv<kLogTarget>> {
  using Parameters = engine::NoParameters;
  static constexpr int kInputs = 2;
  static constexpr bool kTakes16BitFloats = true;

  static constexpr int kFunctionOf = kLogTarget ? 1 : -1;

  explicit KlDiv(const Parameters& parameters) : other_form(parameters), of_forms(parameters) {}

  template <class D, class V>
  HWY_INLINE V Function(D d, V target) const {
    return other_form(d, target);
  }
  template <class D, class V>
  HWY_INLINE V WithFunction(D d, V self, V target, V value) const {
    return of_forms(d, self, target, value);
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V self, V target) const {
    return WithFunction(d, self, target, other_form(d, target));
  }

  OtherForm<kLogTarget> other_form;
  KlDivOfForms<kLogTarget> of_forms;
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnn/opdev/op_errno.h"
#include "aclnnop/loss/kl_div_functions.h"
#include "aclnnop/phase1.h"
#include "engine/map/dispatch.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kTarget, kOut };
enum Attributes { kReduction };

// Two scalars are computed as tensors of one element, which out may be too.
aclnnStatus CheckUnreducedShape(const Check&, OperatorCall& call) noexcept {
  const Shape one_element{1};
  if (call.broadcast.rank == 0 && call.Tensor(kOut).shape == one_element) call.broadcast = one_element;
  const Check check = ShapeIsBroadcast(kOut);
  return check.run(check, call);
}

// Empty inputs return before they are broadcast, so they need not broadcast.
constexpr Check kChecks[] = {
    NotNull(kSelf),
    NotNull(kTarget),
    NotNull(kOut),
    DtypesIn(kBf16SinceAtlasA2, {kSelf, kTarget, kOut}),
    Promotes({kSelf, kTarget}),
    PromotedCastsTo(kOut),
    RankAtMost(8, {kSelf, kTarget}),
    IntegerIn(kReduction, 0, 3),
    SizesRepresentable({kOut}),
    IfNone(kReduction, DoneIfEmpty({kSelf, kTarget})),
    IfReduced(kReduction, NoTermsIfEmpty({kSelf, kTarget, kOut})),
    InsideStorage({kSelf, kTarget}),
    Broadcasts({kSelf, kTarget}),
    SizesRepresentable({kOut}),
    IfNone(kReduction, {.run = CheckUnreducedShape}),
    IfReduced(kReduction, OneElement(kOut, ACLNN_ERR_PARAM_INVALID)),
};

template <bool kLogTarget>
constexpr engine::PrecomputedKernelTable kKernels(PORTACL_KERNELS(KlDiv<kLogTarget>),
                                                  PORTACL_VALUE_KERNELS(OtherForm<kLogTarget>),
                                                  PORTACL_KERNELS(KlDivOfForms<kLogTarget>), /*input=*/1,
                                                  /*value=*/2);

// Without terms, R is unknown, and batchmean counts self's first dim.
float Factor(int64_t reduction, const OperatorCall& call) {
  const bool no_batches = reduction == kReductionBatchMean && call.work == OperatorCall::Work::kNoTerms;
  return ReductionFactor(reduction, no_batches ? call.Tensor(kSelf).shape : call.broadcast);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnKlDiv) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    const Shape scalar;
    const engine::PrecomputedKernelTable& kernels = given.logTarget ? kKernels<true> : kKernels<false>;
    SetJob(checked, given.reduction == kReductionNone ? nullptr : &scalar, {kSelf, kTarget}, kOut,
           Factor(given.reduction, checked), kernels.For(checked.isa), engine::NoParameters{}, fresh);
  });
}

#endif  // HWY_ONCE
