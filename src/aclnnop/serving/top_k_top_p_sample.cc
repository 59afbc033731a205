// aclnnTopKTopPSample and V2: draw the next token of each row of logits, among the k greatest, and of these
// among the greatest whose probabilities add up to p.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/serving/paged_rows.h"
#include "aclnnop/serving/top_k_top_p_sample_functions.h"

namespace portacl {
namespace {

using namespace dense;

// Positions of the arguments in the two functions.
struct OperandPositions {
  int least, chosen, kept, kept_buffer, probability;  // tensors; -1: none
  bool has_choice;                                    // attributes of V2
};
enum Tensors { kLogits, kCount, kShare, kWeight };
enum Attributes { kEps, kNeedsLogits, kGuess, kMost, kAreLogits, kListsKept };
constexpr OperandPositions kV1{-1, 4, 5, -1, -1, false};
constexpr OperandPositions kV2{4, 5, 6, 7, 8, true};
constexpr int64_t kMostKept = 1024;

bool NeedsLogits(const OperatorCall& call) { return Integer(call, kNeedsLogits) != 0; }
template <const OperandPositions& positions>
bool ListsKept(const OperatorCall& call) {
  return positions.has_choice && Integer(call, kListsKept) != 0;
}

template <const OperandPositions& positions>
aclnnStatus SampleFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kLogits, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& logits = call.Tensor(kLogits).shape;
  const Shape rows{logits[0]};
  checks.Holds(logits[1] > 0, kLogits, "rows with elements");
  checks.Is(kCount, rows).Is(kShare, rows);
  if (!ListsKept<positions>(call)) checks.Is(positions.chosen, rows);
  if (NeedsLogits(call)) checks.Is(positions.kept, logits);
  return checks.status();
}
// Refusals of the kernel's own tests.
template <const OperandPositions& positions>
aclnnStatus RestFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& logits = call.Tensor(kLogits).shape;
  checks.IsIfGiven(kWeight, logits);
  if (!positions.has_choice) return checks.status();
  checks.IsIfGiven(positions.least, Shape{logits[0]}).Integer(kMost, 1, kMostKept);
  if (ListsKept<positions>(call)) checks.Is(positions.kept_buffer, logits).Is(positions.probability, logits);
  return checks.status();
}
aclnnStatus NoRows(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kLogits).shape.IsEmpty()) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

constexpr DtypeRule kDtypes = ByGeneration({}, serving::kHalves, {});
constexpr DtypeRule kDtypesV2 = kNoneBeforeAtlasA2;

constexpr auto kChecks =
    Join(List(NotNull(kLogits), NotNull(kCount), NotNull(kShare), NotNull(kV1.chosen), NotNull(kV1.kept),
              DtypesIn(kDtypes, {kLogits}), DtypesIn(kInt32, {kCount}), SameDtype(kLogits, kShare),
              IfGiven<kWeight>(DtypesIn(kFloat, {kWeight})), DtypesIn(kInt64, {kV1.chosen}),
              DtypesIn(kFloat, {kV1.kept})),
         List(Custom(SampleFits<kV1>), Custom(RestFits<kV1>, kTiling),
              SizesRepresentable({kV1.chosen, kV1.kept}), Custom(NoRows),
              InsideStorage({kLogits, kCount, kShare}), IfGiven<kWeight>(InsideStorage({kWeight}))));
constexpr auto kChecksV2 = Join(
    List(NotNull(kLogits), NotNull(kCount), NotNull(kShare), NotNull(kV2.chosen), NotNull(kV2.kept),
         NotNull(kV2.kept_buffer), NotNull(kV2.probability), DtypesIn(kDtypesV2, {kLogits}),
         DtypesIn(kInt32, {kCount}), SameDtype(kLogits, kShare),
         IfGiven<kWeight>(DtypesIn(kFloat, {kWeight})), IfGiven<kV2.least>(SameDtype(kLogits, kV2.least)),
         DtypesIn(kInt64, {kV2.chosen, kV2.kept_buffer}), DtypesIn(kFloat, {kV2.kept, kV2.probability})),
    List(Custom(SampleFits<kV2>), Custom(RestFits<kV2>, kTiling),
         SizesRepresentable({kV2.chosen, kV2.kept, kV2.kept_buffer, kV2.probability}), Custom(NoRows),
         InsideStorage({kLogits, kCount, kShare}), IfGiven<kWeight>(InsideStorage({kWeight})),
         IfGiven<kV2.least>(InsideStorage({kV2.least}))));

template <const OperandPositions& positions>
void SetSample(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& shape = call.Tensor(kLogits).shape;
  engine::SampleRows sample{};
  sample.logits = ops.Rows(kLogits);
  sample.k = ops.In(kCount);
  sample.p = ops.Rows(kShare);
  sample.weight = ops.InIfGiven(kWeight);
  sample.epsilon = call.attributes[kEps].wide;
  sample.rows = shape[0];
  sample.columns = shape[1];
  sample.most = kMostKept;
  sample.are_logits = true;
  sample.is_choosing = !ListsKept<positions>(call);
  if (positions.has_choice) {
    sample.least_share = ops.RowsIfGiven(positions.least);
    sample.most = std::min((Integer(call, kMost) + 7) / 8 * 8, kMostKept);
    sample.are_logits = Integer(call, kAreLogits) != 0;
  }
  if (sample.is_choosing) {
    sample.chosen = {ops.Out(positions.chosen), true};
  } else {
    sample.kept_buffer = {ops.Out(positions.kept_buffer), true};
    sample.probability = {ops.Out(positions.probability), true};
  }
  if (NeedsLogits(call)) sample.kept = {ops.Out(positions.kept), true};
  sample.order = ops.Words(shape[0] * shape[1]);
  sample.share = ops.Floats(2 * shape[0] * shape[1]);
  sample.exponential = engine::ServingFunctionsOf(call.isa).exponential;
  sample.threads = call.threads;
  ops.Compute(
      sample,
      {sample.logits.buffer, sample.k, sample.p.buffer, sample.weight.buffer, sample.least_share.buffer,
       sample.chosen.buffer, sample.kept_buffer.buffer, sample.probability.buffer, sample.kept.buffer},
      call.Tensor(kLogits).numel);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnTopKTopPSample) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetSample<kV1>);
}
PORTACL_PHASE_1(aclnnTopKTopPSampleV2) {
  return dense::RunOpList(call, kChecksV2, workspaceSize, executor, SetSample<kV2>);
}
