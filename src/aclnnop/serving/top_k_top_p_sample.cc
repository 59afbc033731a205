// aclnnTopKTopPSample and V2: draw the next token of each row of logits, among the k greatest whose
// probabilities add up to p.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/serving/paged_rows.h"
#include "aclnnop/serving/top_k_top_p_sample_functions.h"

namespace portacl {
namespace {

using namespace dense;

// Positions of the arguments in the two functions.
struct Places {
  int least, chosen, kept, kept_place, probability;  // tensors; -1: none
  bool has_choice;                                   // attributes of V2
};
enum Tensors { kLogits, kCount, kShare, kWeight };
enum Attributes { kEps, kNeedsLogits, kGuess, kMost, kAreLogits, kListsKept };
constexpr Places kV1{-1, 4, 5, -1, -1, false};
constexpr Places kV2{4, 5, 6, 7, 8, true};
constexpr int64_t kMostKept = 1024;

bool NeedsLogits(const OperatorCall& call) { return Integer(call, kNeedsLogits) != 0; }
template <const Places& places>
bool ListsKept(const OperatorCall& call) {
  return places.has_choice && Integer(call, kListsKept) != 0;
}

template <const Places& places>
aclnnStatus SampleFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kLogits, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& logits = call.Tensor(kLogits).view;
  const Shape rows{logits[0]};
  checks.Holds(logits[1] > 0, kLogits, "rows with elements");
  checks.Is(kCount, rows).Is(kShare, rows);
  if (!ListsKept<places>(call)) checks.Is(places.chosen, rows);
  if (NeedsLogits(call)) checks.Is(places.kept, logits);
  return checks.status();
}
// Refusals of the kernel's own tests.
template <const Places& places>
aclnnStatus RestFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& logits = call.Tensor(kLogits).view;
  checks.IsIfGiven(kWeight, logits);
  if (!places.has_choice) return checks.status();
  checks.IsIfGiven(places.least, Shape{logits[0]}).Integer(kMost, 1, kMostKept);
  if (ListsKept<places>(call)) checks.Is(places.kept_place, logits).Is(places.probability, logits);
  return checks.status();
}
aclnnStatus NoRows(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kLogits).view.IsEmpty()) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

constexpr DtypeRule kDtypes = ByGeneration({}, serving::kHalves, {});
constexpr DtypeRule kDtypesV2 = kNoneBeforeAtlasA2;

constexpr auto kChecks = Join(
    List(NotNull(kLogits), NotNull(kCount), NotNull(kShare), NotNull(kV1.chosen), NotNull(kV1.kept),
         DtypesIn(kDtypes, {kLogits}), DtypesIn(kInt32, {kCount}), SameDtype(kLogits, kShare),
         IfGiven<kWeight>(DtypesIn(kFloat, {kWeight})), DtypesIn(kInt64, {kV1.chosen}),
         DtypesIn(kFloat, {kV1.kept})),
    List(Own(SampleFits<kV1>), Own(RestFits<kV1>, kTiling), SizesRepresentable({kV1.chosen, kV1.kept}),
         Own(NoRows), InsideStorage({kLogits, kCount, kShare}), IfGiven<kWeight>(InsideStorage({kWeight}))));
constexpr auto kChecksV2 = Join(
    List(NotNull(kLogits), NotNull(kCount), NotNull(kShare), NotNull(kV2.chosen), NotNull(kV2.kept),
         NotNull(kV2.kept_place), NotNull(kV2.probability), DtypesIn(kDtypesV2, {kLogits}),
         DtypesIn(kInt32, {kCount}), SameDtype(kLogits, kShare),
         IfGiven<kWeight>(DtypesIn(kFloat, {kWeight})), IfGiven<kV2.least>(SameDtype(kLogits, kV2.least)),
         DtypesIn(kInt64, {kV2.chosen, kV2.kept_place}), DtypesIn(kFloat, {kV2.kept, kV2.probability})),
    List(Own(SampleFits<kV2>), Own(RestFits<kV2>, kTiling),
         SizesRepresentable({kV2.chosen, kV2.kept, kV2.kept_place, kV2.probability}), Own(NoRows),
         InsideStorage({kLogits, kCount, kShare}), IfGiven<kWeight>(InsideStorage({kWeight})),
         IfGiven<kV2.least>(InsideStorage({kV2.least}))));

template <const Places& places>
void SetSample(const OperatorCall& call, Executor& executor) {
  DenseSteps steps(call, executor);
  const Shape& shape = call.Tensor(kLogits).view;
  engine::SampleRows sample{};
  sample.logits = steps.Rows(kLogits);
  sample.k = steps.In(kCount);
  sample.p = steps.Rows(kShare);
  sample.weight = steps.InIfGiven(kWeight);
  sample.epsilon = call.attributes[kEps].wide;
  sample.rows = shape[0];
  sample.columns = shape[1];
  sample.most = kMostKept;
  sample.are_logits = true;
  sample.is_choosing = !ListsKept<places>(call);
  if (places.has_choice) {
    sample.least_share = steps.RowsIfGiven(places.least);
    sample.most = std::min((Integer(call, kMost) + 7) / 8 * 8, kMostKept);
    sample.are_logits = Integer(call, kAreLogits) != 0;
  }
  if (sample.is_choosing) {
    sample.chosen = {steps.Out(places.chosen), true};
  } else {
    sample.kept_place = {steps.Out(places.kept_place), true};
    sample.probability = {steps.Out(places.probability), true};
  }
  if (NeedsLogits(call)) sample.kept = {steps.Out(places.kept), true};
  sample.order = steps.Words(shape[0] * shape[1]);
  sample.share = steps.Floats(2 * shape[0] * shape[1]);
  sample.exponential = engine::ServingFunctionsOf(call.isa).exponential;
  sample.threads = call.threads;
  steps.Compute(sample,
                {sample.logits.place, sample.k, sample.p.place, sample.weight.place, sample.least_share.place,
                 sample.chosen.place, sample.kept_place.place, sample.probability.place, sample.kept.place},
                call.Tensor(kLogits).numel);
  steps.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnTopKTopPSample) {
  return dense::RunSteps(call, kChecks, workspaceSize, executor, SetSample<kV1>);
}
PORTACL_PHASE_1(aclnnTopKTopPSampleV2) {
  return dense::RunSteps(call, kChecksV2, workspaceSize, executor, SetSample<kV2>);
}
