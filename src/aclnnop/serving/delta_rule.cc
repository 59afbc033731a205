// aclnnRecurrentGatedDeltaRule, aclnnChunkGatedDeltaRule: linear attention with a state that each token
// decays and corrects. aclnnMaskedCausalConv1d: the short convolution in front of it.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/serving/delta_rule_functions.h"
#include "aclnnop/serving/paged_rows.h"

namespace portacl {
namespace {

using namespace dense;

// Positions of the arguments in the two functions; -1: the function lacks it.
struct OperandPositions {
  int state, lengths, indices, decay, each_decay, accepted, out, final_state;
};
enum Tensors { kQuery, kKey, kValue, kBeta };
enum Attributes { kScale };
constexpr OperandPositions kRecurrent{4, 5, 6, 7, 8, 9, 10, -1};
constexpr OperandPositions kChunk{4, 5, -1, 6, -1, -1, 7, 8};

template <const OperandPositions& positions>
aclnnStatus RuleFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kQuery, 3, 3).Rank(kValue, 3, 3).Rank(positions.state, 4, 4).Rank(positions.lengths, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& query = call.Tensor(kQuery).shape;
  const Shape& value = call.Tensor(kValue).shape;
  const Shape& lengths = call.Tensor(positions.lengths).shape;
  const int64_t tokens = query[0];
  checks.Holds(query[1] > 0 && query[2] > 0, kQuery, "[T,Nk,Dk], heads with elements");
  checks.Is(kKey, query);
  checks.Holds(
      value[0] == tokens && value[1] > 0 && value[2] > 0 && value[1] % std::max<int64_t>(query[1], 1) == 0,
      kValue, "[T,Nv,Dv], a multiple of query's heads");
  if (!checks.Passed()) return checks.status();
  const int64_t states = positions.indices < 0 ? lengths[0] : call.Tensor(positions.state).shape[0];
  checks.Is(positions.state, Shape{states, value[1], value[2], query[2]});
  checks.IsIfGiven(kBeta, Shape{tokens, value[1]}).IsIfGiven(positions.decay, Shape{tokens, value[1]});
  if (positions.indices >= 0) {
    checks.Is(positions.indices, Shape{tokens});
    checks.IsIfGiven(positions.each_decay, Shape{tokens, value[1], query[2]});
    checks.IsIfGiven(positions.accepted, lengths);
  } else {
    checks.Is(positions.final_state, call.Tensor(positions.state).shape);
  }
  return checks.Is(positions.out, value).status();
}
template <const OperandPositions& positions>
aclnnStatus NothingToAttend(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kQuery).shape.IsEmpty() &&
      (positions.final_state < 0 || call.Tensor(positions.state).shape.IsEmpty()))
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
    Join(Join(List(SizesRepresentable({kRecurrent.state, kRecurrent.out}),
                   Custom(RuleFits<kRecurrent>, kTiling), Custom(NothingToAttend<kRecurrent>),
                   InsideStorage({kRecurrent.indices})),
              kInputs),
         Join(Optional<kRecurrent.decay>(),
              Join(Optional<kRecurrent.each_decay>(), Optional<kRecurrent.accepted>()))));
constexpr auto kChunkChecks = Join(
    Join(Join(kStart, List(NotNull(kChunk.out), NotNull(kChunk.final_state))),
         Join(kFirstDtypes, List(IfGiven<kChunk.decay>(DtypesIn(kFloat, {kChunk.decay})),
                                 DtypesIn(kDtypes, {kChunk.out, kChunk.final_state})))),
    Join(Join(List(SizesRepresentable({kChunk.out, kChunk.final_state}), Custom(RuleFits<kChunk>, kTiling),
                   Custom(NothingToAttend<kChunk>), InsideStorage({kChunk.state})),
              kInputs),
         Optional<kChunk.decay>()));

template <const OperandPositions& positions>
void SetRule(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& query = call.Tensor(kQuery).shape;
  const Shape& value = call.Tensor(kValue).shape;
  const auto kept = [&](int tensor) {
    return engine::NumberRowsOf(call.isa, ops.Out(tensor, ACL_DT_UNDEFINED, /*keeps=*/true),
                                call.Tensor(tensor).dtype);
  };
  engine::DeltaRule rule{};
  rule.query = ops.Rows(kQuery);
  rule.key = ops.Rows(kKey);
  rule.value = ops.Rows(kValue);
  rule.beta = ops.RowsIfGiven(kBeta);
  rule.decay = ops.InIfGiven(positions.decay);
  rule.length = ops.In(positions.lengths, ACL_INT64);
  rule.to = kept(positions.out);
  if (positions.indices >= 0) {
    rule.each_decay = ops.InIfGiven(positions.each_decay);
    rule.index = {ops.In(positions.indices, ACL_INT64), true};
    rule.accepted = ops.InIfGiven(positions.accepted, ACL_INT64);
    rule.state = kept(positions.state);
    rule.initial = rule.state;
  } else {
    rule.initial = ops.Rows(positions.state);
    rule.state = ops.RowsOut(positions.final_state);
  }
  rule.tokens = query[0];
  rule.sequences = call.Tensor(positions.lengths).shape[0];
  rule.states = call.Tensor(positions.state).shape[0];
  rule.key_heads = query[1];
  rule.heads = value[1];
  rule.width = value[2];
  rule.depth = query[2];
  rule.scale = call.attributes[kScale].real;
  rule.begin = ops.Words(rule.sequences + 1);
  rule.work = ops.Floats(rule.heads * rule.WorkOfHead());
  const engine::ServingFunctions functions = engine::ServingFunctionsOf(call.isa);
  rule.exponential = functions.exponential;
  rule.step = functions.step;
  rule.threads = call.threads;
  ops.Compute(rule,
              {rule.query.buffer, rule.key.buffer, rule.value.buffer, rule.beta.buffer, rule.decay.buffer,
               rule.length, rule.to.buffer, rule.each_decay.buffer, rule.index.buffer, rule.accepted.buffer,
               rule.initial.buffer, rule.state.buffer},
              call.Tensor(kValue).numel * rule.depth);
  ops.SetJob();
}

// ---- MaskedCausalConv1d ----

enum Convolved { kX, kWeight, kMask, kOut };
constexpr int64_t kTaps = 3;

aclnnStatus ConvolutionFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  return checks.Is(kWeight, Shape{kTaps, x[2]}).IsIfGiven(kMask, Shape{x[1], x[0]}).Is(kOut, x).status();
}
constexpr auto kConvolutionChecks =
    List(NotNull(kX), NotNull(kWeight), NotNull(kOut), DtypesIn(kNoneBeforeAtlasA2, {kX}),
         SameDtype(kX, kWeight), IfGiven<kMask>(DtypesIn(kBool, {kMask})), SameDtype(kX, kOut),
         SizesRepresentable({kOut}), Custom(ConvolutionFits, kTiling), DoneIfEmpty({kX}),
         InsideStorage({kX, kWeight}), IfGiven<kMask>(InsideStorage({kMask})));

void SetConvolution(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kX).shape;
  engine::ConvolveCausally convolve{};
  convolve.x = ops.Rows(kX);
  convolve.weight = ops.Rows(kWeight);
  convolve.mask = ops.InIfGiven(kMask);
  convolve.to = ops.RowsOut(kOut);
  convolve.steps = x[0];
  convolve.batches = x[1];
  convolve.columns = x[2];
  convolve.threads = call.threads;
  ops.Compute(convolve, {convolve.x.buffer, convolve.weight.buffer, convolve.mask.buffer, convolve.to.buffer},
              call.Tensor(kX).numel);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnRecurrentGatedDeltaRule) {
  return dense::RunOpList(call, kRecurrentChecks, workspaceSize, executor, SetRule<kRecurrent>);
}
PORTACL_PHASE_1(aclnnChunkGatedDeltaRule) {
  return dense::RunOpList(call, kChunkChecks, workspaceSize, executor, SetRule<kChunk>);
}
PORTACL_PHASE_1(aclnnMaskedCausalConv1d) {
  return dense::RunOpList(call, kConvolutionChecks, workspaceSize, executor, SetConvolution);
}
