// aclnnGroupedBiasAddGrad and V2: the gradients of biases of groups of rows, which are sums over each group's rows.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/moe/grouped_bias_functions.h"

#include "aclnnop/jobs/dense_op_list.h"
#include "engine/route/row_groups.h"

namespace portacl {
namespace {

using namespace dense;

enum Tensors { kGrad, kGroups, kOut };
enum Attributes { kListType };

bool HasListType(const OperatorCall& call) noexcept { return !call.attributes.empty(); }
bool AreCounts(const OperatorCall& call) { return HasListType(call) && Integer(call, kListType) == 1; }

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const int rank = call.IsGiven(kGroups) ? 2 : 3;
  checks.Rank(kGrad, rank, rank);
  if (call.IsGiven(kGroups)) checks.Rank(kGroups, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& grad = call.Tensor(kGrad).shape;
  const int64_t groups = call.IsGiven(kGroups) ? call.Tensor(kGroups).shape[0] : grad[0];
  return checks.Is(kOut, Shape{groups, grad[rank - 1]}).status();
}

constexpr auto kChecks =
    List(NotNull(kGrad), NotNull(kOut), DtypesIn(kBf16SinceAtlasA2, {kGrad}),
         IfGiven<kGroups>(DtypesIn(kInt32Or64, {kGroups})), SameDtype(kGrad, kOut),
         If(HasListType, IntegerIn(kListType, 0, 1)), Custom(Fits), SizesRepresentable({kOut}),
         DoneIfEmpty({kGrad, kOut}), InsideStorage({kGrad}), IfGiven<kGroups>(InsideStorage({kGroups})));

void SetSums(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& grad = call.Tensor(kGrad).shape;
  engine::SumRowGroups sums{};
  sums.columns = grad[grad.rank - 1];
  sums.rows = call.Tensor(kGrad).numel / sums.columns;
  sums.groups = call.Tensor(kOut).shape[0];
  sums.from = ops.Rows(kGrad);
  sums.to = ops.RowsOut(kOut);
  sums.group = ops.InIfGiven(kGroups, ACL_INT64);
  sums.are_counts = AreCounts(call);
  sums.begin = ops.Words(sums.groups + 1);
  sums.name = call.Name(kGroups);
  sums.raises = ops.Raises();
  sums.threads = ops.threads();
  ops.Compute(sums,
              {sums.from.buffer, sums.to.buffer, sums.group.is_there ? sums.group.buffer : sums.from.buffer},
              call.Tensor(kGrad).numel);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGroupedBiasAddGrad) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetSums);
}

PORTACL_PHASE_1(aclnnGroupedBiasAddGradV2) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetSums);
}
