// aclnnDistributeBarrier: the ranks of a communicator wait for each other.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/communication/distribute_barrier_functions.h"

#include "aclnnop/communication/rank_products.h"
#include "aclnnop/jobs/exchanges.h"

namespace portacl {
namespace {

using namespace communication;
using dense::DenseOpList;
using dense::Integer;
using dense::ShapeChecks;

// The first version has null pointers as kTimeout and kElastic.
enum Tensors { kX, kTimeout, kElastic };
enum Attributes { kGroup, kRanks };

constexpr DtypeRule kTypes = SinceAtlasA2(kFloatHalfAndBf16 | kIntegersAndBool | kUnsignedSince16Bits);

aclnnStatus RanksFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  return checks
      .HoldsOf(Integer(call, kRanks) == exchanges::RanksOf(call, kGroup), kRanks,
               "the number of ranks of the group")
      .status();
}
aclnnStatus HasNoMore(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  return checks.Holds(!call.IsGiven(kTimeout), kTimeout, "null: HCCL_EXEC_TIMEOUT limits the wait")
      .Holds(!call.IsGiven(kElastic), kElastic, "null: portacl leaves no rank out")
      .status();
}

constexpr Check kChecks[] = {NotNull(kX),
                             exchanges::GroupGiven(kGroup),
                             DtypesIn(kTypes, {kX}),
                             exchanges::GroupKnown(kGroup),
                             Custom(RanksFit),
                             Custom(HasNoMore, ACLNN_ERR_INNER_NULLPTR)};

void SetBarrier(const OperatorCall& call, Executor& executor) {
  if (!exchanges::Join(call, kGroup, 1, executor)) return;
  DenseOpList ops(call, executor);
  exchanges::EqualParts nothing{};
  nothing.ranks = exchanges::RanksIn(executor);
  nothing.send = nothing.receive = ops.Bytes(1);
  exchanges::Add(ops, nothing);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnDistributeBarrier) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetBarrier);
}
PORTACL_PHASE_1(aclnnDistributeBarrierV2) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetBarrier);
}
