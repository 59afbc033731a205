// aclnnMseLoss: out = (self - target)^2, or the sum of all of it times c; c = 1 / numel(R) for mean, else 1.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_mse_loss.h"

#include "acl/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/mse_loss.cc"
#include <hwy/foreach_target.h>

#include "engine/sum_loop-inl.h"
#include "engine/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct MseLoss {
  using Parameters = engine::NoParameters;
  static constexpr int kInputs = 2;

  explicit MseLoss(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V self, V target) const {
    const V difference = hn::Sub(self, target);
    return hn::Mul(difference, difference);
  }
};

Isa RunMseLoss(engine::ElementType type, const void* parameters, const void* const* in, const size_t* step,
               void* out, size_t n, bool stream) {
  return engine::HWY_NAMESPACE::RunVectorLoop<MseLoss>(type, parameters, in, step, out, n, stream);
}

Isa SumMseLoss(engine::ElementType type, const void* parameters, engine::SumWork& work) {
  return engine::HWY_NAMESPACE::RunSumLoop<MseLoss>(type, parameters, work);
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

enum Tensors { kSelf, kTarget, kOut };
enum Attributes { kReduction };

constexpr Check kChecks[] = {
    NotNull(kSelf),
    NotNull(kTarget),
    NotNull(kOut),
    Promotes({kSelf, kTarget}),
    PromotedIn(kBf16SinceAtlasA2, {kSelf, kTarget}),
    DtypesIn(kBf16SinceAtlasA2, {kSelf, kTarget, kOut}),
    IntegerIn(kReduction, 0, 2),
    RankAtMost(8, {kSelf, kTarget}),
    Broadcasts({kSelf, kTarget}),
    IfNone(kReduction, ShapeIsBroadcast(kOut)),
    IfReduced(kReduction, IsScalar(kOut)),
    SizesRepresentable({kOut}),
    IfNone(kReduction, DoneIfEmpty({kSelf, kTarget})),
    IfReduced(kReduction, NoTermsIfEmpty({kSelf, kTarget, kOut})),
    InsideStorage({kSelf, kTarget}),
};

constexpr auto kFunction = PORTACL_ISA_TABLE(RunMseLoss);
constexpr auto kSums = PORTACL_ISA_TABLE(SumMseLoss);

}  // namespace

const OperatorFacts facts::mse_loss = {"aclnnMseLoss", "aclnnop/aclnn_mse_loss.h", kDocumentedWithout200I,
                                       kBf16SinceAtlasA2, /*by_promotion=*/false};

}  // namespace portacl

using namespace portacl;

aclnnStatus aclnnMseLossGetWorkspaceSize(const aclTensor* self, const aclTensor* target, int64_t reduction,
                                         aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"self", self}, {"target", target}, {"out", out}};
  const Attribute attributes[] = {{"reduction", reduction}};
  OperatorCall call{"aclnnMseLoss", tensors, attributes};
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    const Shape scalar;
    const float c = reduction == kReductionMean ? MeanFactor(NumelOf(checked.broadcast)) : 1.0f;
    SetJob(checked, reduction == kReductionNone ? nullptr : &scalar, {kSelf, kTarget}, kOut, c,
           {kFunction.For(JobIsa()), kSums.For(JobIsa())}, engine::NoParameters{}, fresh);
  });
}

aclnnStatus aclnnMseLoss(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                         aclrtStream stream) {
  return RunExecutor("aclnnMseLoss", workspace, workspaceSize, executor, stream);
}

#endif  // HWY_ONCE
