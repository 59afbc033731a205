// aclnnL1Loss: out = |self - target|, or the sum of all of it times c; c = 1 / numel(R) for mean, else 1.
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/loss/l1_loss.cc"
#include "base/foreach_target.h"

#include "engine/reduction/sum_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct L1Loss : engine::HWY_NAMESPACE::Summable<L1Loss> {
  using Parameters = engine::NoParameters;
  static constexpr int kInputs = 2;
  static constexpr bool kHasFastPath = true;

  explicit L1Loss(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V self, V target) const {
    return hn::Abs(hn::Sub(self, target));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnn/opdev/op_errno.h"
#include "aclnnop/loss/l1_loss_functions.h"
#include "aclnnop/phase1.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "engine/map/dispatch.h"
#include "engine/reduction/integer_distance.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kTarget, kOut };
enum Attributes { kReduction };

constexpr DtypeSet kFloatHalfAndInt64{ACL_FLOAT, ACL_FLOAT16, ACL_INT64};
constexpr DtypeSet kFloatHalfInt64AndBf16{ACL_FLOAT, ACL_FLOAT16, ACL_INT64, ACL_BF16};

constexpr DtypeRule kDtypes = SinceAtlasA2(kFloatHalfInt64AndBf16, kFloatHalfAndInt64);

// Dtypes that the 64-bit integer path can write.
constexpr DtypeSet kIntegerWritable{ACL_FLOAT,  ACL_FLOAT16, ACL_INT8,      ACL_INT32,     ACL_UINT8,
                                    ACL_INT16,  ACL_UINT16,  ACL_UINT32,    ACL_INT64,     ACL_UINT64,
                                    ACL_DOUBLE, ACL_BF16,    ACL_COMPLEX64, ACL_COMPLEX128};

// 161002 for reduction none where target is floating and self is not, and for mean without any floating
// input. Complex does not count as floating here.
aclnnStatus CheckFloating(const Check&, OperatorCall& call) noexcept {
  const bool self = IsFloating(call.Tensor(kSelf).dtype);
  const bool target = IsFloating(call.Tensor(kTarget).dtype);
  const int64_t reduction = call.attributes[kReduction].integer;
  const bool refused =
      reduction == kReductionNone ? target && !self : reduction == kReductionMean && !target && !self;
  if (!refused) return ACL_SUCCESS;
  Text message(call.api, ": parameter self with dtype ");
  AddDtypeName(message, call.Tensor(kSelf).dtype);
  message.Add(" and target with dtype ");
  AddDtypeName(message, call.Tensor(kTarget).dtype);
  message.Add(" do not go with the reduction ").Add(reduction);
  return FailAclnn(
      ACLNN_ERR_PARAM_INVALID,
      message.Add(reduction == kReductionNone ? "; accepted: a floating self, or no floating target."
                                              : "; accepted: a floating self or target."));
}

aclnnStatus CheckOutImplemented(const Check&, OperatorCall& call) noexcept {
  const Check check = DtypeImplemented({kOut}, call.promoted == ACL_INT64 ? kIntegerWritable : kWritable);
  return check.run(check, call);
}

constexpr Check kChecks[] = {
    NotNull(kSelf),
    NotNull(kTarget),
    NotNull(kOut),
    IntegerIn(kReduction, 0, 2),
    {.run = CheckFloating},
    Promotes({kSelf, kTarget}),
    PromotedIn(kDtypes, {kSelf, kTarget}),
    PromotedCastsTo(kOut),
    RankAtMost(8, {kSelf, kTarget}),
    Broadcasts({kSelf, kTarget}),
    IfNone(kReduction, ShapeIsBroadcast(kOut)),
    IfReduced(kReduction, IsScalar(kOut)),
    SizesRepresentable({kOut}),
    IfNone(kReduction, DoneIfEmpty({kSelf, kTarget})),
    {.run = CheckOutImplemented},
    IfReduced(kReduction, NoTermsIfEmpty({kSelf, kTarget, kOut})),
    InsideStorage({kSelf, kTarget}),
    DtypeImplemented({kSelf, kTarget}, kReadable),
};

constexpr auto kKernels = PORTACL_KERNELS(L1Loss);

engine::IntegerDistanceJob MakeIntegerJob(const OperatorCall& call, bool summed) {
  engine::IntegerDistanceJob job;
  const StridedView* const tensors[] = {&call.Tensor(kSelf), &call.Tensor(kTarget), &call.Tensor(kOut)};
  if (call.work == OperatorCall::Work::kNoTerms) {
    job.plan.count = 0;
  } else {
    job.plan = PlanElementwise(call.broadcast, {tensors, summed ? size_t{2} : size_t{3}});
  }
  for (int8_t k : {kSelf, kTarget}) {
    job.load[k] = engine::FindIntegerLoad(tensors[k]->dtype);
    job.argument[k] = k;
  }
  const StridedView& out = *tensors[kOut];
  job.store = engine::FindIntegerStore(out.dtype);
  job.output_argument = kOut;
  job.summed = summed;
  job.sum_offset = ByteOffset(out);
  job.threads = call.threads;
  return job;
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnL1Loss) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    const bool summed = given.reduction != kReductionNone;
    if (checked.promoted == ACL_INT64) {
      fresh.SetJob([&] { return MakeIntegerJob(checked, summed); });
      return;
    }
    const Shape scalar;
    const float c = ReductionFactor(given.reduction, checked.broadcast);
    SetJob(checked, summed ? &scalar : nullptr, {kSelf, kTarget}, kOut, c, kKernels.For(checked.isa),
           engine::NoParameters{}, fresh);
  });
}

#endif  // HWY_ONCE
