// aclnnKlDivBackward: out = -(target * gradOutput) * c, or -(exp(target) * gradOutput) * c with logTarget,
// summed to self's shape where self was broadcast; c = 1 / numel(R) for mean, 1 / R[0] for batchmean, else 1;
// R = broadcast(self, target).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_kl_div_backward.h"

#include "acl/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/kl_div_backward.cc"
#include <hwy/foreach_target.h>

#include "engine/exp-inl.h"
#include "engine/sum_loop-inl.h"
#include "engine/vector_loop-inl.h"

#ifndef PORTACL_KL_DIV_BACKWARD_PARAMETERS
#define PORTACL_KL_DIV_BACKWARD_PARAMETERS
namespace portacl {
struct KlDivBackwardParameters {
  float c;
};
}  // namespace portacl
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Nothing is masked where target <= 0, and self has no influence: its data is not even read (decision N3).
template <bool kLogTarget>
struct KlDivBackward {
  using Parameters = KlDivBackwardParameters;
  static constexpr int kInputs = 2;

  explicit KlDivBackward(const Parameters& parameters) : c(parameters.c) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradOutput, V target) const {
    V weight = target;
    if constexpr (kLogTarget) weight = engine::HWY_NAMESPACE::Exp(d, target);
    return hn::Mul(hn::Neg(hn::Mul(weight, gradOutput)), hn::Set(d, c));
  }

  float c;
};

Isa RunKlDivBackward(engine::ElementType type, const void* parameters, const void* const* in,
                     const size_t* step, void* out, size_t n, bool stream) {
  return engine::HWY_NAMESPACE::RunVectorLoop<KlDivBackward<false>>(type, parameters, in, step, out, n,
                                                                    stream);
}

Isa SumKlDivBackward(engine::ElementType type, const void* parameters, engine::SumWork& work) {
  return engine::HWY_NAMESPACE::RunSumLoop<KlDivBackward<false>>(type, parameters, work);
}

Isa RunKlDivBackwardLogTarget(engine::ElementType type, const void* parameters, const void* const* in,
                              const size_t* step, void* out, size_t n, bool stream) {
  return engine::HWY_NAMESPACE::RunVectorLoop<KlDivBackward<true>>(type, parameters, in, step, out, n,
                                                                   stream);
}

Isa SumKlDivBackwardLogTarget(engine::ElementType type, const void* parameters, engine::SumWork& work) {
  return engine::HWY_NAMESPACE::RunSumLoop<KlDivBackward<true>>(type, parameters, work);
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/operator_facts.h"
#include "aclnnop/phase1.h"
#include "engine/dispatch.h"

namespace portacl {
namespace {

enum Tensors { kGradOutput, kSelf, kTarget, kOut };

// CANN accepts Atlas training and inference although its documents do not list them; on Atlas 200I/500 A2,
// and without a device, its list is empty.
constexpr DtypeRule kDtypes = {{
    /* Atlas training    */ kFloatAndHalf,
    /* Atlas A2          */ kFloatHalfAndBf16,
    /* Atlas A3          */ kFloatHalfAndBf16,
    /* Ascend 950        */ kFloatHalfAndBf16,
    /* Atlas inference   */ kFloatAndHalf,
    /* Atlas 200I/500 A2 */ kNoDtype,
    /* no device         */ kNoDtype,
}};

constexpr DtypeRule kDocumented = {{
    /* Atlas training    */ kNoDtype,
    /* Atlas A2          */ kFloatHalfAndBf16,
    /* Atlas A3          */ kFloatHalfAndBf16,
    /* Ascend 950        */ kFloatHalfAndBf16,
    /* Atlas inference   */ kNoDtype,
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

constexpr auto kFunction = PORTACL_ISA_TABLE(RunKlDivBackward);
constexpr auto kSums = PORTACL_ISA_TABLE(SumKlDivBackward);
constexpr auto kLogTargetFunction = PORTACL_ISA_TABLE(RunKlDivBackwardLogTarget);
constexpr auto kLogTargetSums = PORTACL_ISA_TABLE(SumKlDivBackwardLogTarget);

float Factor(int64_t reduction, const Shape& shape) {
  switch (reduction) {
    case kReductionMean:
      return MeanFactor(NumelOf(shape));
    case kReductionBatchMean:
      return MeanFactor(shape.rank == 0 ? 1 : shape[0]);
    default:
      return 1.0f;
  }
}

}  // namespace

const OperatorFacts facts::kl_div_backward = {"aclnnKlDivBackward", "aclnnop/aclnn_kl_div_backward.h",
                                              kDocumented, kDtypes,
                                              /*by_promotion=*/false};

}  // namespace portacl

using namespace portacl;

aclnnStatus aclnnKlDivBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                               const aclTensor* target, int64_t reduction, bool logTarget,
                                               aclTensor* out, uint64_t* workspaceSize,
                                               aclOpExecutor** executor) {
  const TensorArgument tensors[] = {
      {"gradOutput", gradOutput}, {"self", self}, {"target", target}, {"out", out}};
  OperatorCall call{"aclnnKlDivBackward", tensors, {}};
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    const engine::Kernels kernels{(logTarget ? kLogTargetFunction : kFunction).For(JobIsa()),
                                  (logTarget ? kLogTargetSums : kSums).For(JobIsa())};
    const KlDivBackwardParameters parameters{Factor(reduction, checked.broadcast)};
    const Shape* const kept = checked.broadcast == self->view ? nullptr : &self->view;
    SetJob(checked, kept, {kGradOutput, kTarget}, kOut, /*factor=*/1.0f, kernels, parameters, fresh);
  });
}

aclnnStatus aclnnKlDivBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                               aclrtStream stream) {
  return RunExecutor("aclnnKlDivBackward", workspace, workspaceSize, executor, stream);
}

#endif  // HWY_ONCE
