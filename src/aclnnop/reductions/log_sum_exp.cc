// aclnnLogSumExp: log(sum(exp(x))) over dims, computed relative to the maximum.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/reductions/log_sum_exp_functions.h"

#include <limits>

#include "aclnnop/jobs/reduction_call.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };

constexpr DtypeRule kDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kIntegersAndBool);

constexpr auto kChecks =
    Join(List(NotNull(kSelf), ArrayNotNull(kReducedDims), NotNull(kOut), DtypesIn(kDtypes, {kSelf}),
              DtypesIn(kBf16SinceAtlasA2, {kOut}), CastsTo(kSelf, kOut)),
         DimsChecks(),
         List(RankAtMost(8, {kSelf, kOut}), SizesRepresentable({kOut}), kSetsReducedShape,
              ShapeIsResult(kOut), GivesValueIfEmpty(kSelf),
              OnProducts(products::kAscend950, NotPrivate({kSelf})), InsideStorage({kSelf})));

void SetLogSumExp(const OperatorCall& call, Executor& executor) {
  const aclTensor& self = call.Tensor(kSelf);
  if (self.shape.IsEmpty())
    return SetReductionValue(call, -std::numeric_limits<double>::infinity(), executor);
  const aclDataType cast = kFloatHalfAndBf16.Contains(self.dtype) ? self.dtype : ACL_FLOAT;
  // An infinite maximum counts as 0, so that no difference is NaN.
  SetAxisReductionJob(call,
                      {ReducedDims(call),
                       cast,
                       {{.operation = engine::ReductionOperation::kExtreme,
                         .ending = engine::ReductionEpilogue::kFiniteOrZero,
                         .is_kept = true},
                        {.operation = engine::ReductionOperation::kSumOfExponentials,
                         .ending = engine::ReductionEpilogue::kLogAndAdd,
                         .output = kOut}}},
                      executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnLogSumExp) { return RunPhase1(call, kChecks, workspaceSize, executor, SetLogSumExp); }
