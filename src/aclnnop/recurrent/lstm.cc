// aclnnLSTM and aclnnLstmBackward: long short-term memory over sequences.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/recurrent/lstm_functions.h"

#include "aclnnop/recurrent/recurrent_call.h"
#include "engine/recurrent/lstm_cell.h"

namespace portacl {
namespace {

using namespace recurrent;

constexpr DtypeRule kDtypes = Everywhere(kFloatAndHalf);

enum Attributes { kHasBias, kLayers, kDropout, kTrain, kBidirectional, kBatchFirst };
enum Forward { kInput, kParams, kHx, kLengths, kOutput, kHy, kCy, kSaved, kForwardTensors = kSaved + 7 };
enum Backward {
  kGradInput,
  kGradHx,
  kGradParams,
  kOfOutput,
  kOfHy,
  kOfCy,
  kGradSaved,
  kGradLengths = kGradSaved + 7,
  kOfInput,
  kOfH0,
  kOfC0,
  kOfParams,
  kBackwardTensors
};
constexpr OperandPositions kForward{.is_forward = true,
                                    .gates = engine::kLstmGates,
                                    .states = 2,
                                    .input = kInput,
                                    .params = kParams,
                                    .hx = kHx,
                                    .lengths = kLengths,
                                    .saved = kSaved,
                                    .saved_count = engine::kLstmSaved,
                                    .output = kOutput,
                                    .after = kHy,
                                    .has_bias = kHasBias,
                                    .layers = kLayers,
                                    .train = kTrain,
                                    .bidirectional = kBidirectional,
                                    .batch_first = kBatchFirst};
constexpr OperandPositions kBackward{.is_forward = false,
                                     .gates = engine::kLstmGates,
                                     .states = 2,
                                     .input = kGradInput,
                                     .params = kGradParams,
                                     .hx = kGradHx,
                                     .lengths = kGradLengths,
                                     .saved = kGradSaved,
                                     .saved_count = engine::kLstmSaved,
                                     .output = kOfOutput,
                                     .after = kOfHy,
                                     .of_input = kOfInput,
                                     .of_before = kOfH0,
                                     .of_params = kOfParams,
                                     .has_bias = kHasBias,
                                     .layers = kLayers,
                                     .bidirectional = kBidirectional,
                                     .batch_first = kBatchFirst};

void SetForward(const OperatorCall& call, Executor& executor) {
  engine::Lstm lstm{};
  Describe(call, kForward, lstm);
  lstm.c0 = OperandOf(call, kHx, 1);
  lstm.cy = OperandOf(call, kCy);
  SetNetworkJob(call, kForward, lstm, executor);
}

void SetBackward(const OperatorCall& call, Executor& executor) {
  engine::LstmGradient lstm{};
  Describe(call, kBackward, lstm);
  lstm.c0 = OperandOf(call, kGradHx, 1);
  lstm.of_cy = OperandOf(call, kOfCy);
  lstm.of_c0 = OperandOf(call, kOfC0);
  SetNetworkJob(call, kBackward, lstm, executor);
}

constexpr auto kForwardChecks =
    Join(List(NotNull(kInput), Custom(ListsGiven<kParams, kParams>, ACLNN_ERR_PARAM_NULLPTR),
              NotNull(kOutput), NotNull(kHy), NotNull(kCy)),
         List(If(Trains<kForward>, Custom(ListsGiven<kSaved, kSaved + 6>, ACLNN_ERR_PARAM_NULLPTR)),
              DtypesIn(kDtypes, {kInput}), Custom(DtypesAreInputs<kParams, kHx>),
              Custom(DtypesAreInputs<kOutput, kCy>),
              If(Trains<kForward>, Custom(DtypesAreInputs<kSaved, kSaved + 6>)),
              Custom(BoundTo<LengthsAreInt64, kForward>), Custom(BoundTo<CountsFit, kForward>),
              Custom(BoundTo<RanksFit, kForward>), Custom(BoundTo<ShapesFit, kForward>),
              SizesRepresentable({kOutput, kHy, kCy}),
              If(Trains<kForward>, SizesRepresentable({kSaved, kSaved + 1, kSaved + 2})),
              If(Trains<kForward>, SizesRepresentable({kSaved + 3, kSaved + 4, kSaved + 5, kSaved + 6})),
              Custom(BoundTo<DoneIfNoStates, kForward>), InsideStorage({kInput, kParams, kHx, kLengths})));

constexpr auto kBackwardChecks = Join(
    List(NotNull(kGradInput), Custom(ListsGiven<kGradHx, kGradParams>, ACLNN_ERR_PARAM_NULLPTR),
         Custom(ListsGiven<kGradSaved, kGradSaved + 6>, ACLNN_ERR_PARAM_NULLPTR), NotNull(kOfInput),
         NotNull(kOfH0), NotNull(kOfC0), Custom(ListsGiven<kOfParams, kOfParams>, ACLNN_ERR_PARAM_NULLPTR)),
    List(DtypesIn(kDtypes, {kGradInput}), Custom(DtypesAreInputs<kGradHx, kGradSaved + 6>),
         Custom(DtypesAreInputs<kOfInput, kOfParams>), Custom(BoundTo<LengthsAreInt64, kBackward>),
         Custom(BoundTo<CountsFit, kBackward>), Custom(BoundTo<RanksFit, kBackward>),
         Custom(BoundTo<ShapesFit, kBackward>), SizesRepresentable({kOfInput, kOfH0, kOfC0, kOfParams}),
         Custom(BoundTo<DoneIfNoStates, kBackward>),
         InsideStorage({kGradInput, kGradHx, kGradParams, kOfOutput, kOfHy}),
         InsideStorage({kOfCy, kGradLengths, kGradSaved, kGradSaved + 1, kGradSaved + 2}),
         InsideStorage({kGradSaved + 3, kGradSaved + 4, kGradSaved + 5, kGradSaved + 6})));

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnLSTM) { return RunPhase1(call, kForwardChecks, workspaceSize, executor, SetForward); }

PORTACL_PHASE_1(aclnnLstmBackward) {
  return RunPhase1(call, kBackwardChecks, workspaceSize, executor, SetBackward);
}
