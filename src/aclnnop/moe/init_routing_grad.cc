// aclnnMoeInitRoutingV2Grad: the gradients of tokens are sums over the rows of their experts.
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/moe/init_routing_grad_functions.h"

namespace portacl {
namespace {

using namespace dense;

constexpr DtypeRule kFloats = kNoneBeforeAtlasA2;
constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

enum GradTensors { kGrad, kGradRow, kGradOut };
enum GradAttributes { kTopK, kGradDropPad, kGradActive };

aclnnStatus GradFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Integer(kTopK, 1, kMost).Integer(kGradDropPad, 0, 1);
  checks.Integer(kGradActive, 0, std::numeric_limits<int64_t>::max()).Rank(kGradRow, 1, 1);
  const int rank = Integer(call, kGradDropPad) == 1 ? 3 : 2;
  checks.Rank(kGrad, rank, rank);
  if (!checks.Passed()) return checks.status();
  const Shape& grad = call.Tensor(kGrad).shape;
  const int64_t entries = call.Tensor(kGradRow).numel;
  const int64_t active = Integer(call, kGradActive);
  const int64_t k = Integer(call, kTopK);
  if (rank == 2) checks.Is(kGrad, Shape{active > 0 ? active : entries, grad[1]});
  checks.Holds(!grad.IsEmpty(), kGrad, "at least one element");
  checks.Holds(entries > 0 && entries % k == 0, kGradRow, "topK elements for each token, at least one");
  if (!checks.Passed()) return checks.status();
  return checks.Is(kGradOut, Shape{entries / k, grad[rank - 1]}).status();
}

constexpr Check kGradChecks[] = {
    NotNull(kGrad),
    NotNull(kGradRow),
    NotNull(kGradOut),
    DtypesIn(kFloats, {kGrad}),
    DtypesIn(kInt32, {kGradRow}),
    SameDtype(kGrad, kGradOut),
    Custom(GradFits, kTiling),
    SizesRepresentable({kGradOut}),
    InsideStorage({kGrad, kGradRow}),
};

void SetGrad(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::CombineRows combine{};
  combine.source = ops.Rows(kGrad);
  combine.to = ops.RowsOut(kGradOut);
  combine.index = ops.InIfGiven(kGradRow, ACL_INT64);
  combine.rows = call.Tensor(kGradOut).shape[0];
  combine.columns = call.Tensor(kGradOut).shape[1];
  combine.entries_of_row = Integer(call, kTopK);
  combine.source_rows = call.Tensor(kGrad).numel / combine.columns;
  const bool drops = Integer(call, kGradDropPad) == 1;
  combine.least = drops ? -1 : 0;
  combine.may_exceed = !drops && Integer(call, kGradActive) > 0;
  combine.name = call.Name(kGradRow);
  combine.raises = ops.Raises();
  combine.threads = call.threads;
  ops.Compute(combine, {combine.source.buffer, combine.to.buffer, combine.index.buffer},
              call.Tensor(kGrad).numel);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMoeInitRoutingV2Grad) {
  return dense::RunOpList(call, kGradChecks, workspaceSize, executor, SetGrad);
}
