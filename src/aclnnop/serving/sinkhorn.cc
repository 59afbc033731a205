// aclnnSinkhorn: a plan that spreads rows evenly over columns, from costs.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/serving/sinkhorn_functions.h"

#include "aclnnop/float_attributes.h"
#include "aclnnop/jobs/dense_op_list.h"
#include "base/data_type.h"
#include "engine/serve/transport_plan.h"

namespace portacl {
namespace {

using namespace dense;

enum Tensors { kCost, kPlan };
enum Attributes { kTolerance };

constexpr int64_t kMostColumns = 4096;
constexpr double kUsualTolerance = 1e-4;

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kCost, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& cost = call.Tensor(kCost).shape;
  return checks.Holds(cost[1] <= kMostColumns, kCost, "at most 4096 columns").Is(kPlan, cost).status();
}
aclnnStatus ToleranceIsReal(const Check& check, OperatorCall& call) noexcept {
  const aclScalar* const tolerance = call.attributes[kTolerance].scalar;
  if (tolerance == nullptr || ScalarConverts(tolerance->dtype, ACL_FLOAT)) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter tol with dtype ");
  AddDtypeName(message, tolerance->dtype);
  return FailAclnn(check.code, message.Add(" is not converted, accepted: a number or bool."));
}

constexpr auto kChecks = List(NotNull(kCost), NotNull(kPlan), DtypesIn(kBf16SinceAtlasA2, {kCost}),
                              SameDtype(kCost, kPlan), Custom(Fits), Custom(ToleranceIsReal),
                              SizesRepresentable({kPlan}), DoneIfEmpty({kCost}), InsideStorage({kCost}));

void SetPlan(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& cost = call.Tensor(kCost).shape;
  const aclScalar* const tolerance = call.attributes[kTolerance].scalar;
  engine::PlanTransport plan{};
  plan.rows = cost[0];
  plan.columns = cost[1];
  plan.cost = ops.Rows(kCost);
  plan.to = ops.RowsOut(kPlan);
  plan.powers = ops.Floats(plan.rows * plan.columns);
  plan.of_rows = ops.Floats(plan.rows);
  plan.of_columns = ops.Floats(plan.columns);
  plan.differences = ops.Words(plan.columns);
  plan.tolerance = tolerance == nullptr ? kUsualTolerance : static_cast<double>(FloatOf(*tolerance));
  plan.exponentials = engine::ExponentialsOf(ops.isa());
  plan.threads = ops.threads();
  ops.Compute(plan, {plan.cost.buffer, plan.to.buffer}, call.Tensor(kCost).numel);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSinkhorn) { return dense::RunOpList(call, kChecks, workspaceSize, executor, SetPlan); }
