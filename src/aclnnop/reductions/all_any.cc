// aclnnAny and aclnnAll: tell whether any element over dims is not 0, or whether all are.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/reductions/all_any_functions.h"

#include "aclnnop/jobs/reduction_call.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };

constexpr DtypeRule kDtypes = WithBf16SinceAtlasA2(kRealNumbers | kBool);
constexpr DtypeSet kOutDtypes{ACL_UINT8, ACL_BOOL};
constexpr auto kFirst = List(NotNull(kSelf), ArrayNotNull(kReducedDims), NotNull(kOut),
                             DtypesIn(kDtypes, {kSelf}), DtypesIn(kOutDtypes, {kOut}));

// A dim may occur twice.
constexpr auto kAnyChecks =
    Join(kFirst,
         List(DimsIn(kReducedDims, kSelf), RankAtMost(8, {kSelf, kOut}), SizesRepresentable({kOut}),
              GivesValueIfEmpty(kSelf), kSetsReducedShape, ShapeIsResultOrOne(kOut), InsideStorage({kSelf})));
constexpr auto kAllChecks =
    Join(kFirst, List(NotPrivate({kSelf})), DimsChecks(),
         List(RankAtMost(8, {kSelf, kOut}), SizesRepresentable({kOut}), kSetsReducedShape,
              ShapeIsResult(kOut), GivesValueIfEmpty(kSelf), InsideStorage({kSelf})));

template <bool kIsAll>
void SetAllAny(const OperatorCall& call, Executor& executor) {
  const aclTensor& self = call.Tensor(kSelf);
  if (self.shape.IsEmpty()) return SetReductionValue(call, kIsAll ? 1 : 0, executor);
  const auto operation = kIsAll ? engine::ReductionOperation::kAll : engine::ReductionOperation::kAny;
  SetAxisReductionJob(call, {ReducedDims(call), self.dtype, {{.operation = operation, .output = kOut}}},
                      executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAll) { return RunPhase1(call, kAllChecks, workspaceSize, executor, SetAllAny<true>); }

PORTACL_PHASE_1(aclnnAny) { return RunPhase1(call, kAnyChecks, workspaceSize, executor, SetAllAny<false>); }
