// aclnnKlDivTargetBackward: with G = gradOutput * c, gradTarget = (G * log(target) - G * self) + (G * target) / target,
// or (G * (target - self)) * exp(target) + G * exp(target) with logTarget, summed to target's shape where target was
// broadcast; c = 1 / numel(R) for mean, 1 / R[0] for batchmean, else 1; R = broadcast(self, target).
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/loss/kl_div_target_backward.cc"
#include "base/foreach_target.h"

#include "engine/functions/exp-inl.h"
#include "engine/functions/log-inl.h"
#include "engine/reduction/sum_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The last quotient is G for any target but zero. It is NaN for a zero target, as in CANN and PyTorch.
template <bool kLogTarget>
struct KlDivTargetBackward : engine::HWY_NAMESPACE::Summable<KlDivTargetBackward<kLogTarget>> {
  using Parameters = engine::FactorAlone;
  static constexpr int kInputs = 3;
  static constexpr bool kTakes16BitFloats = true;

  explicit KlDivTargetBackward(const Parameters& parameters) : c(parameters.c) {}

  static constexpr int kFunctionOf = kLogTarget ? 2 : -1;

  template <class D, class V>
  HWY_INLINE V Function(D d, V target) const {
    return engine::HWY_NAMESPACE::Exp(d, target);
  }
  template <class D, class V>
  HWY_INLINE V WithFunction(D d, V gradOutput, V self, V target, V weight) const {
    const V gradient = Gradient(d, gradOutput);
    return hn::Add(hn::Mul(hn::Mul(gradient, hn::Sub(target, self)), weight), hn::Mul(gradient, weight));
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradOutput, V self, V target) const {
    if constexpr (kLogTarget) {
      return WithFunction(d, gradOutput, self, target, Function(d, target));
    } else {
      const V gradient = Gradient(d, gradOutput);
      const V log = engine::HWY_NAMESPACE::Log(d, target);
      return hn::Add(hn::Sub(hn::Mul(gradient, log), hn::Mul(gradient, self)),
                     hn::Div(hn::Mul(gradient, target), target));
    }
  }

  template <class D, class V>
  HWY_INLINE V Gradient(D d, V gradOutput) const {
    return hn::Mul(gradOutput, hn::Set(d, c));
  }

  float c;
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnn/opdev/op_errno.h"
#include "aclnnop/loss/kl_div_target_backward_functions.h"
#include "aclnnop/phase1.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "engine/map/dispatch.h"

namespace portacl {
namespace {

enum Tensors { kGradOutput, kSelf, kTarget, kGradTarget };

// 161002 for a tensor in a private format.
aclnnStatus CheckFormats(const Check&, OperatorCall& call) noexcept {
  for (int tensor : {kGradOutput, kSelf, kTarget, kGradTarget}) {
    const aclFormat format = call.Tensor(tensor).format;
    if (!IsPrivateFormat(format)) continue;
    Text message(call.api, ": parameter ", call.Name(tensor), " has the format ");
    AddFormatName(message, format);
    return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                     message.Add(", accepted: ND, NCHW and other formats that are not private."));
  }
  return ACL_SUCCESS;
}

// reduction is not checked: values outside 0..3 act as none, as in CANN. Returns early for an empty target,
// which leaves nothing to write; CANN does so only for an empty self.
constexpr Check kChecks[] = {
    NotNull(kGradOutput),
    NotNull(kSelf),
    NotNull(kTarget),
    NotNull(kGradTarget),
    CastsTo(kSelf, kGradTarget),
    DtypesIn(kNoneBeforeAtlasA2, {kGradOutput, kSelf, kTarget, kGradTarget}),
    SameDtype(kTarget, kGradTarget),
    RankAtMost(8, {kGradOutput, kSelf, kTarget, kGradTarget}),
    Broadcasts({kSelf, kTarget}),
    ExpandsToBroadcast(kGradOutput),
    SameShape(kTarget, kGradTarget),
    {.run = CheckFormats},
    SizesRepresentable({kGradTarget}),
    DoneIfEmpty({kSelf}),
    InsideStorage({kGradOutput, kSelf, kTarget}),
    DoneIfEmpty({kTarget}),
};

constexpr auto kKernels = PORTACL_KERNELS(KlDivTargetBackward<false>);
constexpr auto kLogTargetKernels = PORTACL_KERNELS(KlDivTargetBackward<true>);

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnKlDivTargetBackward) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    const engine::KernelTable& kernels = given.logTarget ? kLogTargetKernels : kKernels;
    const Shape* const kept = checked.broadcast == given.target->shape ? nullptr : &given.target->shape;
    SetJob(checked, kept, {kGradOutput, kSelf, kTarget}, kGradTarget, /*factor=*/1.0f,
           kernels.For(checked.isa), engine::FactorAlone{ReductionFactor(given.reduction, checked.broadcast)},
           fresh);
  });
}

#endif  // HWY_ONCE
