// aclnnMoeUpdateExpert: one of the copies of each expert, and the choices with a large share of the scales.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/communication/update_expert_functions.h"

#include "aclnnop/communication/rank_products.h"
#include "aclnnop/jobs/dense_op_list.h"
#include "engine/route/dispatch.h"

namespace portacl {
namespace {

using namespace communication;
using dense::DenseOpList;
using dense::IfGiven;
using dense::Integer;
using dense::ShapeChecks;

enum Tensors { kIds, kTable, kScales, kThreshold, kActive, kBalanced, kKept };
enum Attributes { kRank, kRanks, kMode };

constexpr int64_t kLeastRanks = 2;
constexpr int64_t kMostRanks = 768;
constexpr DtypeRule kIdTypes = SinceAtlasA2(DtypeSet(ACL_INT32, ACL_INT64));
constexpr Check Tiling(const Check& check) { return WithCode(dense::kTiling, check); }

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Integer(kMode, 0, 1).Rank(kIds, 2, 2).Rank(kTable, 2, 2);
  if (checks.Passed() && Integer(call, kMode) == 0) {
    checks.Integer(kRanks, kLeastRanks, kMostRanks);
    checks.Integer(kRank, 0, Integer(call, kRanks) - 1);
  }
  if (!checks.Passed()) return checks.status();
  const Shape& ids = call.Tensor(kIds).shape;
  const Shape& table = call.Tensor(kTable).shape;
  checks.Holds(table[0] > 0 && table[1] > 1, kTable, "a row of a count and at least one number for each expert");
  checks.Is(kBalanced, ids).Is(kKept, ids);
  if (call.IsGiven(kScales)) checks.Given(kThreshold, "beside expertScalesOptional");
  if (call.IsGiven(kThreshold)) checks.Given(kScales, "beside pruningThresholdOptional");
  if (call.IsGiven(kActive)) checks.Given(kScales, "beside activeMaskOptional");
  if (!checks.Passed()) return checks.status();
  checks.IsIfGiven(kScales, ids).IsIfGiven(kActive, Shape{ids[0]});
  if (call.IsGiven(kThreshold)) {
    const Shape& shape = call.Tensor(kThreshold).shape;
    checks.Holds(shape == Shape{ids[1]} || shape == Shape{1, ids[1]}, kThreshold, "[K] or [1,K]");
  }
  return checks.status();
}

constexpr auto kChecks = Join(
    List(NotNull(kIds), NotNull(kTable), NotNull(kBalanced), NotNull(kKept), Tiling(DtypesIn(kIdTypes, {kIds})),
         Tiling(SameDtype(kIds, kBalanced)), Tiling(DtypesIn(DtypeSet(ACL_INT32), {kTable})),
         Tiling(DtypesIn(kBool, {kKept})), IfGiven<kScales>(Tiling(DtypesIn(kFloatHalfAndBf16, {kScales}))),
         IfGiven<kThreshold>(Tiling(DtypesIn(DtypeSet(ACL_FLOAT), {kThreshold}))),
         IfGiven<kActive>(Tiling(DtypesIn(kBool, {kActive})))),
    List(SizesRepresentable({kBalanced, kKept}), Custom(ShapesFit, dense::kTiling), DoneIfEmpty({kIds}),
         InsideStorage({kIds, kTable}), IfGiven<kScales>(InsideStorage({kScales})),
         IfGiven<kThreshold>(InsideStorage({kThreshold})), IfGiven<kActive>(InsideStorage({kActive}))));

void SetBalance(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& ids = call.Tensor(kIds).shape;
  const Shape& table = call.Tensor(kTable).shape;
  engine::BalanceExperts balance{};
  balance.expert = ops.In(kIds);
  balance.to = ops.Out(kBalanced);
  balance.is_wide = call.Tensor(kIds).dtype == ACL_INT64;
  balance.table = ops.In(kTable);
  balance.tokens = ids[0];
  balance.choices = ids[1];
  balance.experts = table[0];
  balance.width = table[1];
  balance.by_token = Integer(call, kMode) == 1;
  balance.rank = Integer(call, kRank);
  balance.ranks = Integer(call, kRanks);
  balance.scale = ops.RowsIfGiven(kScales);
  balance.least = ops.InIfGiven(kThreshold);
  balance.active = ops.InIfGiven(kActive);
  balance.kept = balance.scale.is_there ? ops.Out(kKept) : ops.Bytes(1);
  balance.name = call.Name(kIds);
  balance.raises = ops.Raises();
  balance.threads = call.threads;
  ops.Compute(balance,
              {balance.expert, balance.to, balance.table, balance.scale.buffer, balance.least.buffer,
               balance.active.buffer, balance.kept},
              balance.tokens * balance.choices);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMoeUpdateExpert) { return dense::RunOpList(call, kChecks, workspaceSize, executor, SetBalance); }
