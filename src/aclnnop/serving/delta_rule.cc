// aclnnRecurrentGatedDeltaRule, aclnnChunkGatedDeltaRule: linear attention with a state that each token
// decays and corrects. aclnnMaskedCausalConv1d: the short convolution in front of it.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/serving/delta_rule_functions.h"
#include "aclnnop/serving/paged_rows.h"

namespace portacl {
namespace {

using namespace dense;

// Positions of the arguments in the two functions; -1: the function lacks it.
struct Places {
  int state, lengths, indices, decay, each_decay, accepted, out, final_state;
};
enum Tensors { kQuery, kKey, kValue, kBeta };
enum Attributes { kScale };
constexpr Places kRecurrent{4, 5, 6, 7, 8, 9, 10, -1};
constexpr Places kChunk{4, 5, -1, 6, -1, -1, 7, 8};

template <const Places& places>
aclnnStatus RuleFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kQuery, 3, 3).Rank(kValue, 3, 3).Rank(places.state, 4, 4).Rank(places.lengths, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& query = call.Tensor(kQuery).view;
  const Shape& value = call.Tensor(kValue).view;
  const Shape& lengths = call.Tensor(places.lengths).view;
  const int64_t tokens = query[0];
  checks.Holds(query[1] > 0 && query[2] > 0, kQuery, "[T,Nk,Dk], heads with elements");
  checks.Is(kKey, query);
  checks.Holds(
      value[0] == tokens && value[1] > 0 && value[2] > 0 && value[1] % std::max<int64_t>(query[1], 1) == 0,
      kValue, "[T,Nv,Dv], a multiple of query's heads");
  if (!checks.Passed()) return checks.status();
  const int64_t states = places.indices < 0 ? lengths[0] : call.Tensor(places.state).view[0];
  checks.Is(places.state, Shape{states, value[1], value[2], query[2]});
  checks.IsIfGiven(kBeta, Shape{tokens, value[1]}).IsIfGiven(places.decay, Shape{tokens, value[1]});
  if (places.indices >= 0) {
    checks.Is(places.indices, Shape{tokens});
    checks.IsIfGiven(places.each_decay, Shape{tokens, value[1], query[2]});
    checks.IsIfGiven(places.accepted, lengths);
  } else {
    checks.Is(places.final_state, call.Tensor(places.state).view);
  }
  return checks.Is(places.out, value).status();
}
template <const Places& places>
aclnnStatus NothingToAttend(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kQuery).view.IsEmpty() &&
      (places.final_state < 0 || call.Tensor(places.state).view.IsEmpty()))
    call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

constexpr DtypeRule kDtypes = SinceAtlasA2(kBf16);
constexpr auto kStart = List(NotNull(kQuery), NotNull(kKey), NotNull(kValue), NotNull(kRecurrent.state),
                             NotNull(kRecurrent.lengths));
constexpr auto kFirstDtypes =
    List(DtypesIn(kDtypes, {kQuery, kKey, kValue, kRecurrent.state}),
         IfGiven<kBeta>(DtypesIn(kDtypes, {kBeta})), DtypesIn(kInt32Or64, {kRecurrent.lengths}));
constexpr auto kInputs = List(InsideStorage({kQuery, kKey, kValue}), InsideStorage({kRecurrent.lengths}),
                              IfGiven<kBeta>(InsideStorage({kBeta})));
template <int tensor>
constexpr auto Optional() {
  return List(IfGiven<tensor>(InsideStorage({tensor})));
}
constexpr auto kRecurrentChecks = Join(
    Join(Join(kStart, List(NotNull(kRecurrent.indices), NotNull(kRecurrent.out))),
         Join(kFirstDtypes, List(DtypesIn(kInt32Or64, {kRecurrent.indices}),
                                 IfGiven<kRecurrent.decay>(DtypesIn(kFloat, {kRecurrent.decay})),
                                 IfGiven<kRecurrent.each_decay>(DtypesIn(kFloat, {kRecurrent.each_decay})),
                                 IfGiven<kRecurrent.accepted>(DtypesIn(kInt32Or64, {kRecurrent.accepted})),
                                 DtypesIn(kDtypes, {kRecurrent.out})))),
    Join(Join(List(SizesRepresentable({kRecurrent.state, kRecurrent.out}), Own(RuleFits<kRecurrent>, kTiling),
                   Own(NothingToAttend<kRecurrent>), InsideStorage({kRecurrent.indices})),
              kInputs),
         Join(Optional<kRecurrent.decay>(),
              Join(Optional<kRecurrent.each_decay>(), Optional<kRecurrent.accepted>()))));
constexpr auto kChunkChecks =
    Join(Join(Join(kStart, List(NotNull(kChunk.out), NotNull(kChunk.final_state))),
              Join(kFirstDtypes, List(IfGiven<kChunk.decay>(DtypesIn(kFloat, {kChunk.decay})),
                                      DtypesIn(kDtypes, {kChunk.out, kChunk.final_state})))),
         Join(Join(List(SizesRepresentable({kChunk.out, kChunk.final_state}), Own(RuleFits<kChunk>, kTiling),
                        Own(NothingToAttend<kChunk>), InsideStorage({kChunk.state})),
                   kInputs),
              Optional<kChunk.decay>()));

template <const Places& places>
void SetRule(const OperatorCall& call, Executor& executor) {
  DenseSteps steps(call, executor);
  const Shape& query = call.Tensor(kQuery).view;
  const Shape& value = call.Tensor(kValue).view;
  const auto kept = [&](int tensor) {
    return engine::NumberRowsOf(call.isa, steps.Out(tensor, ACL_DT_UNDEFINED, /*keeps=*/true),
                                call.Tensor(tensor).dtype);
  };
  engine::DeltaRule rule{};
  rule.query = steps.Rows(kQuery);
  rule.key = steps.Rows(kKey);
  rule.value = steps.Rows(kValue);
  rule.beta = steps.RowsIfGiven(kBeta);
  rule.decay = steps.InIfGiven(places.decay);
  rule.length = steps.In(places.lengths, ACL_INT64);
  rule.to = kept(places.out);
  if (places.indices >= 0) {
    rule.each_decay = steps.InIfGiven(places.each_decay);
    rule.index = {steps.In(places.indices, ACL_INT64), true};
    rule.accepted = steps.InIfGiven(places.accepted, ACL_INT64);
    rule.state = kept(places.state);
    rule.initial = rule.state;
  } else {
    rule.initial = steps.Rows(places.state);
    rule.state = steps.RowsOut(places.final_state);
  }
  rule.tokens = query[0];
  rule.sequences = call.Tensor(places.lengths).view[0];
  rule.states = call.Tensor(places.state).view[0];
  rule.key_heads = query[1];
  rule.heads = value[1];
  rule.width = value[2];
  rule.depth = query[2];
  rule.scale = call.attributes[kScale].real;
  rule.begin = steps.Words(rule.sequences + 1);
  rule.work = steps.Floats(rule.heads * rule.WorkOfHead());
  const engine::ServingFunctions functions = engine::ServingFunctionsOf(call.isa);
  rule.exponential = functions.exponential;
  rule.step = functions.step;
  rule.threads = call.threads;
  steps.Compute(rule,
                {rule.query.place, rule.key.place, rule.value.place, rule.beta.place, rule.decay.place,
                 rule.length, rule.to.place, rule.each_decay.place, rule.index.place, rule.accepted.place,
                 rule.initial.place, rule.state.place},
                call.Tensor(kValue).numel * rule.depth);
  steps.SetJob();
}

// ---- MaskedCausalConv1d ----

enum Convolved { kX, kWeight, kMask, kOut };
constexpr int64_t kTaps = 3;

aclnnStatus ConvolutionFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).view;
  return checks.Is(kWeight, Shape{kTaps, x[2]}).IsIfGiven(kMask, Shape{x[1], x[0]}).Is(kOut, x).status();
}
constexpr auto kConvolutionChecks =
    List(NotNull(kX), NotNull(kWeight), NotNull(kOut), DtypesIn(kNoneBeforeAtlasA2, {kX}),
         SameDtype(kX, kWeight), IfGiven<kMask>(DtypesIn(kBool, {kMask})), SameDtype(kX, kOut),
         SizesRepresentable({kOut}), Own(ConvolutionFits, kTiling), DoneIfEmpty({kX}),
         InsideStorage({kX, kWeight}), IfGiven<kMask>(InsideStorage({kMask})));

void SetConvolution(const OperatorCall& call, Executor& executor) {
  DenseSteps steps(call, executor);
  const Shape& x = call.Tensor(kX).view;
  engine::ConvolveCausally convolve{};
  convolve.x = steps.Rows(kX);
  convolve.weight = steps.Rows(kWeight);
  convolve.mask = steps.InIfGiven(kMask);
  convolve.to = steps.RowsOut(kOut);
  convolve.steps = x[0];
  convolve.batches = x[1];
  convolve.columns = x[2];
  convolve.threads = call.threads;
  steps.Compute(convolve, {convolve.x.place, convolve.weight.place, convolve.mask.place, convolve.to.place},
                call.Tensor(kX).numel);
  steps.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnRecurrentGatedDeltaRule) {
  return dense::RunSteps(call, kRecurrentChecks, workspaceSize, executor, SetRule<kRecurrent>);
}
PORTACL_PHASE_1(aclnnChunkGatedDeltaRule) {
  return dense::RunSteps(call, kChunkChecks, workspaceSize, executor, SetRule<kChunk>);
}
PORTACL_PHASE_1(aclnnMaskedCausalConv1d) {
  return dense::RunSteps(call, kConvolutionChecks, workspaceSize, executor, SetConvolution);
}
