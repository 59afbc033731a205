// aclnnLSTM and aclnnLstmBackward: long short-term memory over sequences.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_lstm.h"

#include <algorithm>

#include "acl/data_type.h"
#include "acl/errors.h"
#include "acl/stream/thread_limit.h"
#include "aclnnop/aclnn_lstm_backward.h"
#include "aclnnop/operator_facts.h"
#include "aclnnop/phase1.h"
#include "contract/arguments.h"
#include "engine/recurrent/lstm.h"

namespace portacl {

// Defined beside the functions of tensors (aclnnop/pointwise/unary.h).
namespace unary_kernels {
// NOLINTBEGIN(readability-identifier-naming): named as the operators' headers
const engine::KernelTable& sigmoid() noexcept;
const engine::KernelTable& tanh() noexcept;
// NOLINTEND(readability-identifier-naming)
}  // namespace unary_kernels

namespace {

constexpr DtypeRule kDtypes = Everywhere(kFloatAndHalf);

enum Attributes { kHasBias, kLayers, kDropout, kTrain, kBidirectional, kBatchFirst };

// The tensor arguments of both, where each has them.
struct Places {
  bool is_forward;
  int input, params, hx, lengths;
  int saved;     // the first of seven lists
  int output;    // or its gradient
  int after[2];  // the states after the last step, or their gradients
};
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
constexpr Places kForward{true, kInput, kParams, kHx, kLengths, kSaved, kOutput, {kHy, kCy}};
constexpr Places kBackward{false,        kGradInput, kGradParams, kGradHx,
                           kGradLengths, kGradSaved, kOfOutput,   {kOfHy, kOfCy}};

bool Has(const OperatorCall& call, int attribute) {
  return call.attributes[static_cast<size_t>(attribute)].integer != 0;
}
int64_t Cells(const OperatorCall& call) {
  return call.attributes[kLayers].integer * (Has(call, kBidirectional) ? 2 : 1);
}
bool IsPacked(const OperatorCall& call, const Places& at) { return call.IsGiven(at.lengths); }

aclnnStatus Refuse(const Check& check, const OperatorCall& call, int tensor, const char* wrong) {
  return FailAclnn(check.code, StartMessage(call).Add("parameter ").Add(call.Name(tensor)).Add(wrong));
}

// ---- checks that both have ----

bool Trains(const OperatorCall& call) noexcept { return Has(call, kTrain); }

template <int first, int last>
aclnnStatus ListsGiven(const Check& check, OperatorCall& call) noexcept {
  for (int tensor = first; tensor <= last; ++tensor) {
    const TensorArgument& argument = call.tensors[static_cast<size_t>(tensor)];
    if (argument.list == nullptr)
      return Refuse(check, call, tensor, " is a null pointer, accepted: a list of tensors.");
    for (int entry = 0; entry < call.Count(tensor); ++entry) {
      if (call.Entry(tensor, entry) != nullptr) continue;
      Text message = StartMessage(call);
      AddArgument(message.Add("parameter "), call, tensor, entry);
      return FailAclnn(check.code, message.Add(" is a null pointer, accepted: a tensor."));
    }
  }
  return ACL_SUCCESS;
}

// Every tensor and entry from `first` to `last` that is there has input's dtype.
template <int first, int last>
aclnnStatus DtypesAreInputs(const Check& check, OperatorCall& call) noexcept {
  const aclDataType dtype = call.Tensor(0).dtype;
  for (int tensor = first; tensor <= last; ++tensor) {
    for (int entry = 0; entry < call.Count(tensor); ++entry) {
      const aclTensor* const given = call.Entry(tensor, entry);
      if (given == nullptr || given->dtype == dtype) continue;
      Text message = StartMessage(call);
      AddArgumentDtype(message.Add("parameter "), call, tensor, entry);
      return FailAclnn(check.code, message.Add(", accepted: that of input."));
    }
  }
  return ACL_SUCCESS;
}

template <const Places& at>
aclnnStatus LengthsAreInt64(const Check& check, OperatorCall& call) noexcept {
  if (!IsPacked(call, at) || call.Tensor(at.lengths).dtype == ACL_INT64) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, at.lengths);
  return FailAclnn(check.code, message.Add(", accepted: DT_INT64."));
}

aclnnStatus CountIs(const Check& check, const OperatorCall& call, int list, int64_t count) {
  if (call.Count(list) == count) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter ")
                                   .Add(call.Name(list))
                                   .Add(" has ")
                                   .Add(call.Count(list))
                                   .Add(" tensors, accepted: ")
                                   .Add(count)
                                   .Add("."));
}

template <const Places& at>
aclnnStatus CountsFit(const Check& check, OperatorCall& call) noexcept {
  const int64_t layers = call.attributes[kLayers].integer;
  constexpr int64_t kMostLayers = 1 << 20;
  if (layers < 1 || layers > kMostLayers)
    return RefuseInteger(check, call, "numLayers", layers, 1, kMostLayers);
  const int64_t each = Has(call, kHasBias) ? 4 : 2;
  if (const aclnnStatus status = CountIs(check, call, at.params, Cells(call) * each)) return status;
  if (!at.is_forward || call.Count(at.hx) != 0) {
    if (const aclnnStatus status = CountIs(check, call, at.hx, 2)) return status;
  }
  if (at.is_forward && !Trains(call)) return ACL_SUCCESS;
  for (int which = 0; which < engine::kLstmSaved; ++which) {
    if (const aclnnStatus status = CountIs(check, call, at.saved + which, Cells(call))) return status;
  }
  if (at.is_forward) return ACL_SUCCESS;
  return CountIs(check, call, kOfParams, Cells(call) * each);
}

// ---- shapes ----

// Preconditions: the checks of counts, and of the ranks of input, of the second parameter and of lengths.
template <const Places& at>
engine::LstmSizes SizesOf(const OperatorCall& call) {
  const Shape& input = call.Tensor(at.input).view;
  engine::LstmSizes sizes{};
  sizes.layers = call.attributes[kLayers].integer;
  sizes.directions = Has(call, kBidirectional) ? 2 : 1;
  sizes.has_bias = Has(call, kHasBias);
  sizes.hidden = call.Entry(at.params, 1)->view[1];
  if (IsPacked(call, at)) {
    sizes.steps = call.Tensor(at.lengths).view[0];
    sizes.batch = input[0] / std::max<int64_t>(sizes.steps, 1);
    sizes.inputs = input[1];
  } else {
    const bool batch_first = Has(call, kBatchFirst);
    sizes.steps = input[batch_first ? 1 : 0];
    sizes.batch = input[batch_first ? 0 : 1];
    sizes.inputs = input[2];
  }
  return sizes;
}

Shape SequenceOf(const OperatorCall& call, bool packed, const engine::LstmSizes& sizes, int64_t width) {
  if (!packed && Has(call, kBatchFirst)) return {sizes.batch, sizes.steps, width};
  return {sizes.steps, sizes.batch, width};
}

aclnnStatus ShapeIs(const Check& check, const OperatorCall& call, int tensor, const Shape& shape,
                    int entry = 0) {
  const aclTensor* const given = call.Entry(tensor, entry);
  if (given == nullptr || given->view == shape) return ACL_SUCCESS;
  return RefuseShape(check, call, tensor, shape, entry);
}

// The shape of parameter `which` of a cell: weights of the input, of the hidden state, their biases.
Shape ParameterShape(const engine::LstmSizes& sizes, int64_t index) {
  const int64_t which = index % sizes.parameters();
  const int64_t layer = index / sizes.parameters() / sizes.directions;
  const int64_t gates = 4 * sizes.hidden;
  if (which == 0) return {gates, sizes.InputsOf(layer)};
  if (which == 1) return {gates, sizes.hidden};
  return {gates};
}

template <const Places& at>
aclnnStatus RanksFit(const Check& check, OperatorCall& call) noexcept {
  const bool packed = IsPacked(call, at);
  const Shape& input = call.Tensor(at.input).view;
  if (input.rank != (packed ? 2 : 3))
    return Refuse(check, call, at.input, " has another rank, accepted: 3 dims, with batchSizes 2.");
  if (call.Entry(at.params, 1)->view.rank != 2)
    return Refuse(check, call, at.params, " has an entry of another rank, accepted: weights of 2 dims.");
  if (!packed) return ACL_SUCCESS;
  const Shape& lengths = call.Tensor(at.lengths).view;
  if (lengths.rank != 1 || lengths[0] < 1 || input[0] % lengths[0] != 0)
    return Refuse(check, call, at.lengths,
                  " has another shape, accepted: one dim, whose length divides that of input's first.");
  return ACL_SUCCESS;
}

template <const Places& at>
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  const engine::LstmSizes sizes = SizesOf<at>(call);
  for (int i = 0; i < call.Count(at.params); ++i) {
    if (const aclnnStatus status = ShapeIs(check, call, at.params, ParameterShape(sizes, i), i))
      return status;
  }
  const Shape state{sizes.cells(), sizes.batch, sizes.hidden};
  for (int i = 0; i < call.Count(at.hx); ++i) {
    if (const aclnnStatus status = ShapeIs(check, call, at.hx, state, i)) return status;
  }
  const Shape output = SequenceOf(call, IsPacked(call, at), sizes, sizes.Outputs());
  const int states[] = {at.after[0], at.after[1], kOfH0, kOfC0};
  if (const aclnnStatus status = ShapeIs(check, call, at.output, output)) return status;
  for (int i = 0; i < (at.is_forward ? 2 : 4); ++i) {
    if (const aclnnStatus status = ShapeIs(check, call, states[i], state)) return status;
  }
  if (!at.is_forward || Trains(call)) {
    const Shape saved{sizes.steps, sizes.batch, sizes.hidden};
    for (int list = at.saved; list < at.saved + engine::kLstmSaved; ++list) {
      for (int cell = 0; cell < call.Count(list); ++cell) {
        if (const aclnnStatus status = ShapeIs(check, call, list, saved, cell)) return status;
      }
    }
  }
  if (at.is_forward) return ACL_SUCCESS;
  if (const aclnnStatus status = ShapeIs(check, call, kOfInput, call.Tensor(at.input).view)) return status;
  for (int i = 0; i < call.Count(kOfParams); ++i) {
    if (const aclnnStatus status = ShapeIs(check, call, kOfParams, ParameterShape(sizes, i), i))
      return status;
  }
  return ACL_SUCCESS;
}

// ---- jobs ----

// Where a tensor lies whose dims are the last ones of three; of a sequence, the first two may change places, and of a packed one
// the first is two.
engine::RecurrentOperand OperandOf(const OperatorCall& call, int argument, int entry = 0) {
  engine::RecurrentOperand made;
  const aclTensor* const tensor = call.Count(argument) > entry ? call.Entry(argument, entry) : nullptr;
  if (tensor == nullptr) return made;
  const int rank = tensor->view.rank;
  made.operand = call.OperandOf(argument, entry);
  made.dtype = tensor->dtype;
  made.offset = ByteOffset(*tensor);
  for (int i = 0; i < rank; ++i) made.stride[3 - rank + i] = ByteStride(*tensor, i);
  return made;
}
engine::RecurrentOperand SequenceOperand(const OperatorCall& call, int argument, bool packed, int64_t batch) {
  engine::RecurrentOperand made = OperandOf(call, argument);
  if (packed && made.operand >= 0 && call.Tensor(argument).view.rank == 2) {
    made.stride[0] = made.stride[1] * batch;
  } else if (!packed && Has(call, kBatchFirst)) {
    std::swap(made.stride[0], made.stride[1]);
  }
  return made;
}

template <const Places& at>
void SetBase(const OperatorCall& call, engine::LstmBase& lstm) {
  const Isa isa = JobIsa();
  lstm.sizes = SizesOf<at>(call);
  lstm.input = SequenceOperand(call, at.input, IsPacked(call, at), lstm.sizes.batch);
  lstm.h0 = OperandOf(call, at.hx, 0);
  lstm.c0 = OperandOf(call, at.hx, 1);
  lstm.lengths = OperandOf(call, at.lengths);
  lstm.sigmoid = unary_kernels::sigmoid().values.For(isa);
  lstm.tanh = unary_kernels::tanh().values.For(isa);
  lstm.isa = isa;
  lstm.threads = ThreadLimit();
}

// The operands in the job's memory, and what the job touches. False when there is no memory.
template <const Places& at>
bool SetOperandsOf(const OperatorCall& call, const engine::LstmSizes& sizes, bool saves, bool has_gradients,
                   Executor& executor) {
  const int64_t cells = sizes.cells();
  const int64_t count =
      cells * (sizes.parameters() * (has_gradients ? 2 : 1) + (saves ? engine::kLstmSaved : 0));
  auto* next = reinterpret_cast<engine::RecurrentOperand*>(
      executor.ReserveMemory(static_cast<size_t>(count) * sizeof(engine::RecurrentOperand)));
  if (next == nullptr) return false;
  const auto add = [&](int argument, int entry) { *next++ = OperandOf(call, argument, entry); };
  for (int i = 0; i < call.Count(at.params); ++i) add(at.params, i);
  for (int cell = 0; saves && cell < cells; ++cell) {
    for (int which = 0; which < engine::kLstmSaved; ++which) add(at.saved + which, cell);
  }
  for (int i = 0; has_gradients && i < call.Count(kOfParams); ++i) add(kOfParams, i);
  return true;
}

void MarkTouched(const OperatorCall& call, bool saves, Executor& executor) {
  for (int argument = 0; argument < static_cast<int>(call.tensors.size()); ++argument) {
    const bool is_saved =
        call.IsList(argument) && call.tensors.size() == kForwardTensors && argument >= kSaved;
    for (int entry = 0; entry < call.Count(argument); ++entry) {
      const aclTensor* const tensor = call.Entry(argument, entry);
      executor.touched[call.OperandOf(argument, entry)] =
          tensor != nullptr && !tensor->view.IsEmpty() && (saves || !is_saved);
    }
  }
}

void SetForward(const OperatorCall& call, Executor& executor) {
  engine::Lstm lstm{};
  SetBase<kForward>(call, lstm);
  lstm.saves = Trains(call);
  lstm.output = SequenceOperand(call, kOutput, IsPacked(call, kForward), lstm.sizes.batch);
  lstm.hy = OperandOf(call, kHy);
  lstm.cy = OperandOf(call, kCy);
  if (!SetOperandsOf<kForward>(call, lstm.sizes, lstm.saves, false, executor)) return;
  executor.workspace_size = lstm.WorkspaceBytes();
  executor.SetJob([&] { return lstm; });
  MarkTouched(call, lstm.saves, executor);
}

void SetBackward(const OperatorCall& call, Executor& executor) {
  engine::LstmGradient lstm{};
  SetBase<kBackward>(call, lstm);
  const bool packed = IsPacked(call, kBackward);
  lstm.of_output = SequenceOperand(call, kOfOutput, packed, lstm.sizes.batch);
  lstm.of_hy = OperandOf(call, kOfHy);
  lstm.of_cy = OperandOf(call, kOfCy);
  lstm.of_input = SequenceOperand(call, kOfInput, packed, lstm.sizes.batch);
  lstm.of_h0 = OperandOf(call, kOfH0);
  lstm.of_c0 = OperandOf(call, kOfC0);
  if (!SetOperandsOf<kBackward>(call, lstm.sizes, true, true, executor)) return;
  executor.workspace_size = lstm.WorkspaceBytes();
  executor.SetJob([&] { return lstm; });
  MarkTouched(call, /*saves=*/true, executor);
}

// Nothing is written where there is nothing: no batch, or no hidden state.
template <const Places& at>
aclnnStatus DoneIfNoStates(const Check&, OperatorCall& call) noexcept {
  const engine::LstmSizes sizes = SizesOf<at>(call);
  if (sizes.hidden == 0 || (at.is_forward && sizes.batch == 0)) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

constexpr auto kForwardChecks =
    Join(List(NotNull(kInput), Own(ListsGiven<kParams, kParams>, ACLNN_ERR_PARAM_NULLPTR), NotNull(kOutput),
              NotNull(kHy), NotNull(kCy)),
         List(If(Trains, Own(ListsGiven<kSaved, kSaved + 6>, ACLNN_ERR_PARAM_NULLPTR)),
              DtypesIn(kDtypes, {kInput}), Own(DtypesAreInputs<kParams, kHx>),
              Own(DtypesAreInputs<kOutput, kCy>), If(Trains, Own(DtypesAreInputs<kSaved, kSaved + 6>)),
              Own(LengthsAreInt64<kForward>), Own(CountsFit<kForward>), Own(RanksFit<kForward>),
              Own(ShapesFit<kForward>), SizesRepresentable({kOutput, kHy, kCy}),
              If(Trains, SizesRepresentable({kSaved, kSaved + 1, kSaved + 2})),
              If(Trains, SizesRepresentable({kSaved + 3, kSaved + 4, kSaved + 5, kSaved + 6})),
              Own(DoneIfNoStates<kForward>), InsideStorage({kInput, kParams, kHx, kLengths})));

constexpr auto kBackwardChecks =
    Join(List(NotNull(kGradInput), Own(ListsGiven<kGradHx, kGradParams>, ACLNN_ERR_PARAM_NULLPTR),
              Own(ListsGiven<kGradSaved, kGradSaved + 6>, ACLNN_ERR_PARAM_NULLPTR), NotNull(kOfInput),
              NotNull(kOfH0), NotNull(kOfC0), Own(ListsGiven<kOfParams, kOfParams>, ACLNN_ERR_PARAM_NULLPTR)),
         List(DtypesIn(kDtypes, {kGradInput}), Own(DtypesAreInputs<kGradHx, kGradSaved + 6>),
              Own(DtypesAreInputs<kOfInput, kOfParams>), Own(LengthsAreInt64<kBackward>),
              Own(CountsFit<kBackward>), Own(RanksFit<kBackward>), Own(ShapesFit<kBackward>),
              SizesRepresentable({kOfInput, kOfH0, kOfC0, kOfParams}), Own(DoneIfNoStates<kBackward>),
              InsideStorage({kGradInput, kGradHx, kGradParams, kOfOutput, kOfHy}),
              InsideStorage({kOfCy, kGradLengths, kGradSaved, kGradSaved + 1, kGradSaved + 2}),
              InsideStorage({kGradSaved + 3, kGradSaved + 4, kGradSaved + 5, kGradSaved + 6})));

}  // namespace

namespace facts {
extern const OperatorFacts lstm, lstm_backward;
}
const OperatorFacts facts::lstm = {"aclnnLSTM", "aclnnop/aclnn_lstm.h",
                                   kDtypes.OnlyOn(products::kWithout200I500A2), kDtypes,
                                   /*by_promotion=*/false};
const OperatorFacts facts::lstm_backward = {"aclnnLstmBackward", "aclnnop/aclnn_lstm_backward.h",
                                            kDtypes.OnlyOn(products::kWithout200I500A2), kDtypes,
                                            /*by_promotion=*/false};

}  // namespace portacl

using namespace portacl;

aclnnStatus aclnnLSTMGetWorkspaceSize(const aclTensor* input, const aclTensorList* params,
                                      const aclTensorList* hx, const aclTensor* batchSizes, bool hasBias,
                                      int64_t numLayers, double dropout, bool train, bool bidirectional,
                                      bool batchFirst, aclTensor* output, aclTensor* hy, aclTensor* cy,
                                      aclTensorList* iOut, aclTensorList* jOut, aclTensorList* fOut,
                                      aclTensorList* oOut, aclTensorList* hOut, aclTensorList* cOut,
                                      aclTensorList* tanhCOut, uint64_t* workspaceSize,
                                      aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"input", input},   {"params", params},
                                    {"hx", hx},         {"batchSizes", batchSizes},
                                    {"output", output}, {"hy", hy},
                                    {"cy", cy},         {"iOut", iOut},
                                    {"jOut", jOut},     {"fOut", fOut},
                                    {"oOut", oOut},     {"hOut", hOut},
                                    {"cOut", cOut},     {"tanhCOut", tanhCOut}};
  const Attribute attributes[] = {
      {"hasBias", hasBias}, {"numLayers", numLayers},         {"dropout", dropout},
      {"train", train},     {"bidirectional", bidirectional}, {"batchFirst", batchFirst}};
  OperatorCall call{"aclnnLSTM", tensors, attributes};
  call.output_count = 10;
  return RunPhase1(call, kForwardChecks, workspaceSize, executor, SetForward);
}
PORTACL_PHASE_2(aclnnLSTM)

aclnnStatus aclnnLstmBackwardGetWorkspaceSize(
    const aclTensor* input, const aclTensorList* hx, const aclTensorList* params, const aclTensor* dy,
    const aclTensor* dh, const aclTensor* dc, const aclTensorList* i, const aclTensorList* g,
    const aclTensorList* f, const aclTensorList* o, const aclTensorList* h, const aclTensorList* c,
    const aclTensorList* tanhc, const aclTensor* batchSizesOptional, bool hasBias, int64_t numLayers,
    double dropout, bool train, bool bidirectional, bool batchFirst, const aclBoolArray*, aclTensor* dxOut,
    aclTensor* dhPrevOut, aclTensor* dcPrevOut, aclTensorList* dparamsOut, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"input", input},
                                    {"hx", hx},
                                    {"params", params},
                                    {"dy", dy},
                                    {"dh", dh},
                                    {"dc", dc},
                                    {"i", i},
                                    {"g", g},
                                    {"f", f},
                                    {"o", o},
                                    {"h", h},
                                    {"c", c},
                                    {"tanhc", tanhc},
                                    {"batchSizesOptional", batchSizesOptional},
                                    {"dxOut", dxOut},
                                    {"dhPrevOut", dhPrevOut},
                                    {"dcPrevOut", dcPrevOut},
                                    {"dparamsOut", dparamsOut}};
  const Attribute attributes[] = {
      {"hasBias", hasBias}, {"numLayers", numLayers},         {"dropout", dropout},
      {"train", train},     {"bidirectional", bidirectional}, {"batchFirst", batchFirst}};
  OperatorCall call{"aclnnLstmBackward", tensors, attributes};
  call.output_count = 4;
  return RunPhase1(call, kBackwardChecks, workspaceSize, executor, SetBackward);
}
PORTACL_PHASE_2(aclnnLstmBackward)
