// aclnnGRU and aclnnGRUBackward: gated recurrent units over sequences.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/recurrent/gru_functions.h"

#include "aclnnop/recurrent/recurrent_call.h"
#include "engine/recurrent/gru_cell.h"

namespace portacl {
namespace {

using namespace recurrent;

constexpr DtypeRule kDtypes = Everywhere(kNoDtype).On(products::kAtlasA2AndA3, kFloatAndHalf);

enum Attributes { kHasBias, kLayers, kDropout, kTrain, kBidirection, kBatchFirst };
enum GradientAttributes { kGradHasBias, kGradLayers, kGradBidirection, kGradBatchFirst };
enum Forward { kInput, kParams, kHx, kLengths, kOutput, kHy, kSaved, kLastSaved = kSaved + 4 };
enum Backward {
  kGradInput,
  kGradParams,
  kGradHx,
  kOfOutput,
  kOfHy,
  kGradSaved,
  kGradLastSaved = kGradSaved + 4,
  kGradLengths,
  kOfInput,
  kOfH0,
  kOfParams
};
constexpr OperandPositions kForward{.is_forward = true,
                                    .gates = engine::kGruGates,
                                    .states = 1,
                                    .input = kInput,
                                    .params = kParams,
                                    .hx = kHx,
                                    .lengths = kLengths,
                                    .saved = kSaved,
                                    .saved_count = engine::kGruSaved,
                                    .output = kOutput,
                                    .after = kHy,
                                    .has_bias = kHasBias,
                                    .layers = kLayers,
                                    .train = kTrain,
                                    .bidirectional = kBidirection,
                                    .batch_first = kBatchFirst};
constexpr OperandPositions kBackward{.is_forward = false,
                                     .gates = engine::kGruGates,
                                     .states = 1,
                                     .input = kGradInput,
                                     .params = kGradParams,
                                     .hx = kGradHx,
                                     .lengths = kGradLengths,
                                     .saved = kGradSaved,
                                     .saved_count = engine::kGruSaved,
                                     .output = kOfOutput,
                                     .after = kOfHy,
                                     .of_input = kOfInput,
                                     .of_before = kOfH0,
                                     .of_params = kOfParams,
                                     .has_bias = kGradHasBias,
                                     .layers = kGradLayers,
                                     .bidirectional = kGradBidirection,
                                     .batch_first = kGradBatchFirst};

void SetForward(const OperatorCall& call, Executor& executor) {
  engine::Gru gru{};
  Describe(call, kForward, gru);
  SetNetworkJob(call, kForward, gru, executor);
}

void SetBackward(const OperatorCall& call, Executor& executor) {
  engine::GruGradient gru{};
  Describe(call, kBackward, gru);
  SetNetworkJob(call, kBackward, gru, executor);
}

constexpr auto kForwardChecks = Join(
    List(NotNull(kInput), Custom(ListsGiven<kParams, kParams>, ACLNN_ERR_PARAM_NULLPTR), NotNull(kOutput),
         NotNull(kHy)),
    List(If(Trains<kForward>, Custom(ListsGiven<kSaved, kLastSaved>, ACLNN_ERR_PARAM_NULLPTR)),
         DtypesIn(kDtypes, {kInput}), Custom(DtypesAreInputs<kParams, kHx>),
         Custom(DtypesAreInputs<kOutput, kHy>),
         If(Trains<kForward>, Custom(DtypesAreInputs<kSaved, kLastSaved>)),
         Custom(BoundTo<NoLengths, kForward>), Custom(BoundTo<CountsFit, kForward>),
         Custom(BoundTo<RanksFit, kForward>), Custom(BoundTo<ShapesFit, kForward>),
         SizesRepresentable({kOutput, kHy}),
         If(Trains<kForward>, SizesRepresentable({kSaved, kSaved + 1, kSaved + 2, kSaved + 3, kLastSaved})),
         Custom(BoundTo<DoneIfNoStates, kForward>), InsideStorage({kInput, kParams, kHx})));

constexpr auto kBackwardChecks =
    Join(List(NotNull(kGradInput), Custom(ListsGiven<kGradParams, kGradParams>, ACLNN_ERR_PARAM_NULLPTR),
              NotNull(kGradHx), NotNull(kOfOutput), NotNull(kOfHy),
              Custom(ListsGiven<kGradSaved, kGradLastSaved>, ACLNN_ERR_PARAM_NULLPTR), NotNull(kOfInput),
              NotNull(kOfH0), Custom(ListsGiven<kOfParams, kOfParams>, ACLNN_ERR_PARAM_NULLPTR)),
         List(DtypesIn(kDtypes, {kGradInput}), Custom(DtypesAreInputs<kGradParams, kGradLastSaved>),
              Custom(DtypesAreInputs<kOfInput, kOfParams>), Custom(BoundTo<NoLengths, kBackward>),
              Custom(BoundTo<CountsFit, kBackward>), Custom(BoundTo<RanksFit, kBackward>),
              Custom(BoundTo<ShapesFit, kBackward>), SizesRepresentable({kOfInput, kOfH0, kOfParams}),
              Custom(BoundTo<DoneIfNoStates, kBackward>),
              InsideStorage({kGradInput, kGradParams, kGradHx, kOfOutput, kOfHy}),
              InsideStorage({kGradSaved, kGradSaved + 1, kGradSaved + 2, kGradSaved + 3, kGradLastSaved})));

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGRU) { return RunPhase1(call, kForwardChecks, workspaceSize, executor, SetForward); }

PORTACL_PHASE_1(aclnnGRUBackward) {
  return RunPhase1(call, kBackwardChecks, workspaceSize, executor, SetBackward);
}
