// aclnnAdvanceStep and V2: advance requests by the sampled token, or by the accepted ones.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/serving/advance_step_functions.h"
#include "aclnnop/serving/paged_rows.h"

namespace portacl {
namespace {

using namespace dense;

enum Tensors { kTokens, kSampled, kPositions, kLengths, kSlots, kTable, kProposed, kAccepted };
enum Attributes { kSequences, kQueries, kPage };

int64_t Proposals(const OperatorCall& call) {
  return call.tensors.size() > kProposed && call.IsGiven(kProposed) ? call.Tensor(kProposed).shape[1] : 0;
}

aclnnStatus StepFits(const Check& check, OperatorCall& call) noexcept {
  constexpr int64_t kMost = int64_t{1} << 31;
  const bool proposes = call.tensors.size() > kProposed && call.IsGiven(kProposed);
  ShapeChecks checks(check, call);
  checks.Integer(kSequences, 1, kMost).Integer(kPage, 1, kMost);
  if (!checks.Passed()) return checks.status();
  const int64_t sequences = Integer(call, kSequences);
  if (proposes) {
    checks.Integer(kQueries, sequences, sequences);
    checks.Rank(kProposed, 2, 2).Given(kAccepted, "with specToken");
  } else {
    checks.Integer(kQueries, 1, sequences - 1);
    if (call.tensors.size() > kAccepted)
      checks.Holds(!call.IsGiven(kAccepted), kAccepted, "none without specToken");
  }
  if (!checks.Passed()) return checks.status();
  const int64_t queries = Integer(call, kQueries);
  const int64_t each = Proposals(call) + 1;
  checks.Is(kSampled, Shape{queries, each});
  if (proposes) checks.Is(kProposed, Shape{queries, each - 1}).Is(kAccepted, Shape{queries});
  for (const int tensor : {kTokens, kPositions, kLengths, kSlots}) {
    checks.Rank(tensor, 1, 2);
    checks.Holds(call.Tensor(tensor).numel == sequences * each, tensor, "as many elements as steps");
  }
  checks.Rank(kTable, 2, 2);
  if (!checks.Passed()) return checks.status();
  return checks.Holds(call.Tensor(kTable).shape[0] >= queries, kTable, "a row for each sequence").status();
}

constexpr DtypeRule kDtypes = SinceAtlasA2(kInt64);
constexpr auto kShared =
    List(NotNull(kTokens), NotNull(kSampled), NotNull(kPositions), NotNull(kLengths), NotNull(kSlots),
         NotNull(kTable), DtypesIn(kDtypes, {kTokens, kSampled, kPositions, kLengths}),
         DtypesIn(kDtypes, {kSlots, kTable}));
constexpr auto kEnd = List(SizesRepresentable({kTokens, kPositions, kLengths, kSlots}),
                           Custom(StepFits, kTiling), InsideStorage({kSampled, kTable}));
constexpr auto kChecks = Join(kShared, kEnd);
constexpr auto kChecksV2 =
    Join(kShared, Join(List(IfGiven<kProposed>(DtypesIn(kDtypes, {kProposed})),
                            IfGiven<kAccepted>(DtypesIn(kDtypes, {kAccepted}))),
                       Join(kEnd, List(IfGiven<kProposed>(InsideStorage({kProposed})),
                                       IfGiven<kAccepted>(InsideStorage({kAccepted}))))));

void SetStep(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const auto written = [&](int tensor) { return ops.Out(tensor, ACL_DT_UNDEFINED, /*keeps=*/true); };
  engine::AdvanceRequests advance{};
  advance.token = written(kTokens);
  advance.position = written(kPositions);
  advance.length = written(kLengths);
  advance.slot = written(kSlots);
  advance.sampled = ops.In(kSampled);
  advance.table = ops.In(kTable);
  if (call.tensors.size() > kProposed) {
    advance.proposed = ops.InIfGiven(kProposed);
    advance.accepted = ops.InIfGiven(kAccepted);
  }
  advance.proposals = Proposals(call);
  advance.requests = Integer(call, kQueries);
  advance.rows = Integer(call, kSequences);
  advance.table_rows = call.Tensor(kTable).shape[0];
  advance.table_columns = call.Tensor(kTable).shape[1];
  advance.page = Integer(call, kPage);
  ops.Compute(advance,
              {advance.token, advance.position, advance.length, advance.slot, advance.sampled, advance.table,
               advance.proposed.buffer, advance.accepted.buffer},
              call.Tensor(kTokens).numel);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAdvanceStep) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetStep);
}
PORTACL_PHASE_1(aclnnAdvanceStepV2) {
  return dense::RunOpList(call, kChecksV2, workspaceSize, executor, SetStep);
}
