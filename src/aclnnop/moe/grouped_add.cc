// aclnnGroupedMatmulAdd and V2: compute the gradients of weights for each group of rows, and add them to a
// tensor.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/moe/grouped_add_functions.h"

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "base/data_type.h"

namespace portacl {
namespace {

using namespace dense;
using engine::GroupedProducts;

enum Tensors { kY, kX, kWeight, kGroups };
enum Attributes { kListType };

constexpr DtypeSet kHalves{ACL_FLOAT16, ACL_BF16};
constexpr DtypeRule kSummed = SinceAtlasA2(kHalves);

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 2, 2).Rank(kWeight, 2, 2).Rank(kGroups, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  const Shape& y = call.Tensor(kY).shape;
  const int64_t groups = call.Tensor(kGroups).shape[0];
  checks.Holds(x[1] > 0, kX, "at least one column");
  checks.Holds(weight[0] == x[0], kWeight, "as many rows as x has");
  const bool is_flat = y.rank == 2 && call.product != Product::kAscend950;
  int64_t rows = 0;
  const bool fits = y == Shape{groups, x[1], weight[1]} ||
                    (is_flat && !__builtin_mul_overflow(groups, x[1], &rows) && y == Shape{rows, weight[1]});
  checks.Holds(fits, kY,
               "groups by columns of x by columns of weight, before Ascend 950 the first two as one dim");
  checks.Holds(groups > 0, kGroups, "at least one group");
  return checks.status();
}

aclnnStatus ListTypeFits(const Check& check, OperatorCall& call) noexcept {
  return ShapeChecks(check, call).Integer(kListType, 0, 1).status();
}
aclnnStatus Lies(const Check&, OperatorCall& call) noexcept { return grouped::CheckLies(call, kX, kGroups); }

constexpr auto kRest = List(SizesRepresentable({kY}), DoneIfEmpty({kY}), Custom(Lies));
constexpr auto kChecks =
    Join(List(NotNull(kX), NotNull(kWeight), NotNull(kGroups), NotNull(kY), DtypesIn(kSummed, {kX}),
              SameDtype(kX, kWeight), DtypesIn(kInt64, {kGroups}), DtypesIn(kFloat, {kY}),
              Custom(ShapesFit, kTiling)),
         kRest);
// V2 returns 161002 for every refusal.
constexpr auto kChecksOfV2 = Join(
    List(WithCode(ACLNN_ERR_PARAM_INVALID, NotNull(kX)), WithCode(ACLNN_ERR_PARAM_INVALID, NotNull(kWeight)),
         WithCode(ACLNN_ERR_PARAM_INVALID, NotNull(kGroups)), WithCode(ACLNN_ERR_PARAM_INVALID, NotNull(kY)),
         Custom(ListTypeFits), NotPrivate({kX, kWeight, kGroups, kY}), Custom(ShapesFit),
         DtypesIn(kSummed, {kX}), SameDtype(kX, kWeight), DtypesIn(kInt64, {kGroups}),
         DtypesIn(kFloat, {kY})),
    kRest);

void SetSums(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 1);
  GroupedProducts products{};
  grouped::SetList(
      products, call, kGroups,
      Integer(call, kListType) == 0 ? GroupedProducts::List::kEnds : GroupedProducts::List::kSizes);
  products.cut = GroupedProducts::Cut::kTerms;
  products.groups = products.entries;
  products.schedule = ops.Workspace(8 * products.ScheduleWords());
  engine::GroupedPart& part = products.part;
  const Shape& x = call.Tensor(kX).shape;
  part.rows = x[1];
  part.depth = x[0];
  part.columns = call.Tensor(kWeight).shape[1];
  part.left = grouped::OperandOf(call, kX, 0, true, false);
  std::swap(part.left.row, part.left.column);
  part.right = grouped::OperandOf(call, kWeight, 0, true, false);
  part.out = grouped::OperandOf(call, kY, 0, true, true);
  if (call.Tensor(kY).shape.rank == 2) part.out.step = part.rows * part.out.row;
  part.added = part.out;
  ops.Compute(products, {part.left.buffer, part.right.buffer, part.out.buffer, products.list.buffer},
              products.Elements());
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGroupedMatmulAdd) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetSums);
}
PORTACL_PHASE_1(aclnnGroupedMatmulAddV2) {
  return dense::RunOpList(call, kChecksOfV2, workspaceSize, executor, SetSums);
}
