// aclnnGer: the outer product of two vectors, computed as a map over a column and a row.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/ger_functions.h"

#include "aclnnop/binary_checks.h"
#include "aclnnop/jobs/mul.h"
#include "aclnnop/phase1.h"
#include "contract/arguments.h"
#include "plan/views.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kVec2, kOut };

constexpr DtypeRule kGerDtypes = Everywhere(kArithmetic).On(products::kAscend950, kArithmetic | kBf16);

aclnnStatus SetResultOfGer(const Check&, OperatorCall& call) noexcept {
  call.broadcast = Shape{call.Tensor(kSelf).shape[0], call.Tensor(kVec2).shape[0]};
  return ACL_SUCCESS;
}

constexpr auto kGerChecks =
    Join(List(NotNull(kSelf), NotNull(kVec2), NotNull(kOut), DtypesIn(kGerDtypes, {kSelf, kVec2, kOut}),
              Promotes({kSelf, kVec2}), PromotedCastsTo(kOut), RankIs(1, {kSelf, kVec2}), RankIs(2, {kOut}),
              Custom(SetResultOfGer), ShapeIsResult(kOut)),
         ComputableChecks({kSelf, kVec2}, kOut));

void SetGer(const OperatorCall& call, Executor& executor) {
  aclTensor column = call.Tensor(kSelf);
  InsertDim(column, 1, 1, 0);
  const TensorArgument views[] = {
      {"self", &column}, {"vec2", &call.Tensor(kVec2)}, {"out", &call.Tensor(kOut)}};
  OperatorCall of_views = call;
  of_views.tensors = views;
  SetMapJob(of_views, {kSelf, kVec2}, kOut, ProductKernels(call.promoted), engine::Scalars(), executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGer) { return RunPhase1(call, kGerChecks, workspaceSize, executor, SetGer); }
