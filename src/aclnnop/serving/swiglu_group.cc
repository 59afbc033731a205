// aclnnSwigluGroup: silu of one half of rows times the other half, for the rows that belong to groups.
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "aclnnop/serving/paged_rows.h"
#include "aclnnop/serving/swiglu_group_functions.h"

namespace portacl {
namespace {

using namespace dense;

enum Tensors { kX, kWeight, kCounts, kOut };
enum Attributes { kLimit };

aclnnStatus GateFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 2, 8);
  if (!checks.Passed()) return checks.status();
  const aclTensor& x = call.Tensor(kX);
  const int64_t columns = x.shape[x.shape.rank - 1];
  checks.Holds(x.numel > 0 && columns % 2 == 0, kX, "an even last dim, and no dim of 0");
  if (!checks.Passed()) return checks.status();
  const double limit = call.attributes[kLimit].wide;
  checks.HoldsOf(limit > 0 || limit == -1, kLimit, "a number above 0, or -1");
  if (call.IsGiven(kWeight))
    checks.Holds(call.Tensor(kWeight).numel == x.numel / columns, kWeight, "an element for each row");
  if (call.IsGiven(kCounts)) checks.Rank(kCounts, 1, 1).Holds(call.Tensor(kCounts).numel > 0, kCounts, "[G]");
  Shape accepted = x.shape;
  accepted.dim[x.shape.rank - 1] = columns / 2;
  return checks.Is(kOut, accepted).status();
}

constexpr DtypeRule kDtypes = ByGeneration({}, {}, kFloatHalfAndBf16);
constexpr auto kChecks = Join(
    List(NotNull(kX), NotNull(kOut), DtypesIn(kDtypes, {kX}), IfGiven<kWeight>(DtypesIn(kFloat, {kWeight})),
         IfGiven<kCounts>(DtypesIn(kInt64, {kCounts})), SameDtype(kX, kOut)),
    List(SizesRepresentable({kOut}), Custom(GateFits, kTiling), InsideStorage({kX}),
         IfGiven<kWeight>(InsideStorage({kWeight})), IfGiven<kCounts>(InsideStorage({kCounts}))));

void SetGate(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const aclTensor& x = call.Tensor(kX);
  const double limit = call.attributes[kLimit].wide;
  engine::GateGroups gate{};
  gate.x = ops.Rows(kX);
  gate.to = engine::NumberRowsOf(call.isa, ops.Out(kOut, ACL_DT_UNDEFINED, /*keeps=*/true), x.dtype);
  gate.weight = ops.InIfGiven(kWeight);
  gate.count = ops.InIfGiven(kCounts);
  gate.counts = call.IsGiven(kCounts) ? call.Tensor(kCounts).numel : 0;
  gate.columns = x.shape[x.shape.rank - 1] / 2;
  gate.rows = x.numel / x.shape[x.shape.rank - 1];
  gate.limit = limit > 0 ? static_cast<float>(limit) : std::numeric_limits<float>::infinity();
  gate.gate = engine::ServingFunctionsOf(call.isa).gate;
  gate.threads = call.threads;
  ops.Compute(gate, {gate.x.buffer, gate.to.buffer, gate.weight.buffer, gate.count.buffer}, x.numel);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSwigluGroup) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetGate);
}
