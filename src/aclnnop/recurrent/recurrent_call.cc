// Shared code of recurrent networks (see recurrent_call.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/recurrent/recurrent_call.h"

#include <algorithm>
#include <utility>

#include "base/data_type.h"
#include "plan/views.h"

namespace portacl {

// Defined beside the operators of single tensors (aclnnop/unary/unary.h).
namespace unary_kernels {
// NOLINTBEGIN(readability-identifier-naming): named as the operators' headers
const engine::KernelTable& sigmoid() noexcept;
const engine::KernelTable& tanh() noexcept;
// NOLINTEND(readability-identifier-naming)
}  // namespace unary_kernels

namespace recurrent {
namespace {

bool Has(const OperatorCall& call, int attribute) {
  return call.attributes[static_cast<size_t>(attribute)].integer != 0;
}
int64_t Layers(const OperatorCall& call, const OperandPositions& at) {
  return call.attributes[static_cast<size_t>(at.layers)].integer;
}
int64_t Cells(const OperatorCall& call, const OperandPositions& at) {
  return Layers(call, at) * (Has(call, at.bidirectional) ? 2 : 1);
}
bool IsPacked(const OperatorCall& call, const OperandPositions& at) { return call.IsGiven(at.lengths); }

aclnnStatus Refuse(const Check& check, const OperatorCall& call, int tensor, const char* wrong) {
  return FailAclnn(check.code, StartMessage(call).Add("parameter ").Add(call.Name(tensor)).Add(wrong));
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

// Preconditions: the checks of counts, and of the ranks of input, of the second parameter and of lengths,
// have passed.
engine::RecurrentSizes SizesOf(const OperatorCall& call, const OperandPositions& at) {
  const Shape& input = call.Tensor(at.input).shape;
  engine::RecurrentSizes sizes{};
  sizes.layers = Layers(call, at);
  sizes.directions = Has(call, at.bidirectional) ? 2 : 1;
  sizes.has_bias = Has(call, at.has_bias);
  sizes.hidden = call.Entry(at.params, 1)->shape[1];
  if (IsPacked(call, at)) {
    sizes.steps = call.Tensor(at.lengths).shape[0];
    sizes.batch = input[0] / std::max<int64_t>(sizes.steps, 1);
    sizes.inputs = input[1];
  } else {
    const bool batch_first = Has(call, at.batch_first);
    sizes.steps = input[batch_first ? 1 : 0];
    sizes.batch = input[batch_first ? 0 : 1];
    sizes.inputs = input[2];
  }
  return sizes;
}

Shape SequenceOf(const OperatorCall& call, const OperandPositions& at, const engine::RecurrentSizes& sizes,
                 int64_t width) {
  if (!IsPacked(call, at) && Has(call, at.batch_first)) return {sizes.batch, sizes.steps, width};
  return {sizes.steps, sizes.batch, width};
}

aclnnStatus ShapeIs(const Check& check, const OperatorCall& call, int tensor, const Shape& shape,
                    int entry = 0) {
  const aclTensor* const given = call.Entry(tensor, entry);
  if (given == nullptr || given->shape == shape) return ACL_SUCCESS;
  return RefuseShape(check, call, tensor, shape, entry);
}

// Returns the shape of a cell's parameter. The order is: weights of the input, weights of the hidden state,
// the biases of both.
Shape ParameterShape(const OperandPositions& at, const engine::RecurrentSizes& sizes, int64_t index) {
  const int64_t which = index % sizes.parameters();
  const int64_t layer = index / sizes.parameters() / sizes.directions;
  const int64_t gates = at.gates * sizes.hidden;
  if (which == 0) return {gates, sizes.InputsOf(layer)};
  if (which == 1) return {gates, sizes.hidden};
  return {gates};
}

aclnnStatus ParametersFit(const Check& check, const OperatorCall& call, const OperandPositions& at,
                          const engine::RecurrentSizes& sizes, int list) {
  for (int i = 0; i < call.Count(list); ++i) {
    if (const aclnnStatus status = ShapeIs(check, call, list, ParameterShape(at, sizes, i), i)) return status;
  }
  return ACL_SUCCESS;
}

}  // namespace

// ---- checks ----

bool Trains(const OperatorCall& call, const OperandPositions& at) noexcept { return Has(call, at.train); }

aclnnStatus ListsGiven(const Check& check, OperatorCall& call, int first, int last) noexcept {
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

aclnnStatus DtypesAreInputs(const Check& check, OperatorCall& call, int first, int last) noexcept {
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

aclnnStatus LengthsAreInt64(const Check& check, OperatorCall& call, const OperandPositions& at) noexcept {
  if (!IsPacked(call, at) || call.Tensor(at.lengths).dtype == ACL_INT64) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, at.lengths);
  return FailAclnn(check.code, message.Add(", accepted: DT_INT64."));
}

aclnnStatus NoLengths(const Check& check, OperatorCall& call, const OperandPositions& at) noexcept {
  if (!IsPacked(call, at)) return ACL_SUCCESS;
  return Refuse(check, call, at.lengths, " is given, accepted: a null pointer.");
}

aclnnStatus CountsFit(const Check& check, OperatorCall& call, const OperandPositions& at) noexcept {
  const int64_t layers = Layers(call, at);
  constexpr int64_t kMostLayers = 1 << 20;
  if (layers < 1 || layers > kMostLayers)
    return RefuseInteger(check, call, "numLayers", layers, 1, kMostLayers);
  const int64_t each = Has(call, at.has_bias) ? 4 : 2;
  if (const aclnnStatus status = CountIs(check, call, at.params, Cells(call, at) * each)) return status;
  if (call.IsList(at.hx) && (!at.is_forward || call.Count(at.hx) != 0)) {
    if (const aclnnStatus status = CountIs(check, call, at.hx, at.states)) return status;
  }
  if (at.is_forward && !Trains(call, at)) return ACL_SUCCESS;
  for (int which = 0; which < at.saved_count; ++which) {
    if (const aclnnStatus status = CountIs(check, call, at.saved + which, Cells(call, at))) return status;
  }
  if (at.is_forward) return ACL_SUCCESS;
  return CountIs(check, call, at.of_params, Cells(call, at) * each);
}

aclnnStatus RanksFit(const Check& check, OperatorCall& call, const OperandPositions& at) noexcept {
  const bool packed = IsPacked(call, at);
  const Shape& input = call.Tensor(at.input).shape;
  if (input.rank != (packed ? 2 : 3))
    return Refuse(check, call, at.input, " has another rank, accepted: 3 dims, with batchSizes 2.");
  if (call.Entry(at.params, 1)->shape.rank != 2)
    return Refuse(check, call, at.params, " has an entry of another rank, accepted: weights of 2 dims.");
  if (!packed) return ACL_SUCCESS;
  const Shape& lengths = call.Tensor(at.lengths).shape;
  if (lengths.rank != 1 || lengths[0] < 1 || input[0] % lengths[0] != 0)
    return Refuse(check, call, at.lengths,
                  " has another shape, accepted: one dim, whose length divides that of input's first.");
  return ACL_SUCCESS;
}

aclnnStatus ShapesFit(const Check& check, OperatorCall& call, const OperandPositions& at) noexcept {
  const engine::RecurrentSizes sizes = SizesOf(call, at);
  if (const aclnnStatus status = ParametersFit(check, call, at, sizes, at.params)) return status;
  const Shape state{sizes.cells(), sizes.batch, sizes.hidden};
  for (int i = 0; i < call.Count(at.hx); ++i) {
    if (const aclnnStatus status = ShapeIs(check, call, at.hx, state, i)) return status;
  }
  const Shape output = SequenceOf(call, at, sizes, sizes.Outputs());
  if (const aclnnStatus status = ShapeIs(check, call, at.output, output)) return status;
  for (const int first : {at.after, at.of_before}) {
    for (int i = 0; first >= 0 && i < at.states; ++i) {
      if (const aclnnStatus status = ShapeIs(check, call, first + i, state)) return status;
    }
  }
  if (!at.is_forward || Trains(call, at)) {
    const Shape saved{sizes.steps, sizes.batch, sizes.hidden};
    for (int list = at.saved; list < at.saved + at.saved_count; ++list) {
      for (int cell = 0; cell < call.Count(list); ++cell) {
        if (const aclnnStatus status = ShapeIs(check, call, list, saved, cell)) return status;
      }
    }
  }
  if (at.is_forward) return ACL_SUCCESS;
  if (const aclnnStatus status = ShapeIs(check, call, at.of_input, call.Tensor(at.input).shape))
    return status;
  return ParametersFit(check, call, at, sizes, at.of_params);
}

aclnnStatus DoneIfNoStates(const Check&, OperatorCall& call, const OperandPositions& at) noexcept {
  const engine::RecurrentSizes sizes = SizesOf(call, at);
  if (sizes.hidden == 0 || (at.is_forward && sizes.batch == 0)) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

// ---- jobs ----

engine::RecurrentOperand OperandOf(const OperatorCall& call, int argument, int entry) noexcept {
  engine::RecurrentOperand made;
  const aclTensor* const tensor = call.Count(argument) > entry ? call.Entry(argument, entry) : nullptr;
  if (tensor == nullptr) return made;
  const StridedView view = PlainView(*tensor);
  const int rank = view.shape.rank;
  made.operand = call.OperandOf(argument, entry);
  made.dtype = view.dtype;
  made.offset = ByteOffset(view);
  for (int i = 0; i < rank; ++i) made.stride[3 - rank + i] = ByteStride(view, i);
  return made;
}

namespace {

// Returns the operand of a sequence. batch_first swaps its first two dims. In a packed sequence both are one
// dim.
engine::RecurrentOperand SequenceOperand(const OperatorCall& call, const OperandPositions& at, int argument,
                                         int64_t batch) {
  engine::RecurrentOperand made = OperandOf(call, argument);
  const bool packed = IsPacked(call, at);
  if (packed && made.operand >= 0 && call.Tensor(argument).shape.rank == 2) {
    made.stride[0] = made.stride[1] * batch;
  } else if (!packed && Has(call, at.batch_first)) {
    std::swap(made.stride[0], made.stride[1]);
  }
  return made;
}

void DescribeShared(const OperatorCall& call, const OperandPositions& at, engine::Recurrent& network) {
  const Isa isa = call.isa;
  network.sizes = SizesOf(call, at);
  network.input = SequenceOperand(call, at, at.input, network.sizes.batch);
  network.h0 = OperandOf(call, at.hx);
  network.lengths = OperandOf(call, at.lengths);
  network.sigmoid = unary_kernels::sigmoid().values.For(isa);
  network.tanh = unary_kernels::tanh().values.For(isa);
  network.isa = isa;
  network.threads = call.threads;
}

}  // namespace

void Describe(const OperatorCall& call, const OperandPositions& at,
              engine::RecurrentForward& network) noexcept {
  DescribeShared(call, at, network);
  network.saves = Trains(call, at);
  network.output = SequenceOperand(call, at, at.output, network.sizes.batch);
  network.hy = OperandOf(call, at.after);
}

void Describe(const OperatorCall& call, const OperandPositions& at,
              engine::RecurrentGradient& network) noexcept {
  DescribeShared(call, at, network);
  network.of_output = SequenceOperand(call, at, at.output, network.sizes.batch);
  network.of_hy = OperandOf(call, at.after);
  network.of_input = SequenceOperand(call, at, at.of_input, network.sizes.batch);
  network.of_h0 = OperandOf(call, at.of_before);
}

bool SetListed(const OperatorCall& call, const OperandPositions& at, Executor& executor) noexcept {
  const int64_t cells = Cells(call, at);
  const bool saves = !at.is_forward || Trains(call, at);
  int64_t count = call.Count(at.params) + (saves ? cells * at.saved_count : 0);
  if (!at.is_forward) count += call.Count(at.of_params);
  auto* next = reinterpret_cast<engine::RecurrentOperand*>(
      executor.ReserveMemory(static_cast<size_t>(count) * sizeof(engine::RecurrentOperand)));
  if (next == nullptr) return false;
  const auto add = [&](int argument, int entry) { *next++ = OperandOf(call, argument, entry); };
  for (int i = 0; i < call.Count(at.params); ++i) add(at.params, i);
  for (int cell = 0; saves && cell < cells; ++cell) {
    for (int which = 0; which < at.saved_count; ++which) add(at.saved + which, cell);
  }
  for (int i = 0; !at.is_forward && i < call.Count(at.of_params); ++i) add(at.of_params, i);
  return true;
}

void MarkTouched(const OperatorCall& call, const OperandPositions& at, Executor& executor) noexcept {
  const bool saves = !at.is_forward || Trains(call, at);
  for (int argument = 0; argument < static_cast<int>(call.tensors.size()); ++argument) {
    const bool is_saved = argument >= at.saved && argument < at.saved + at.saved_count;
    for (int entry = 0; entry < call.Count(argument); ++entry) {
      const aclTensor* const tensor = call.Entry(argument, entry);
      executor.touched[call.OperandOf(argument, entry)] =
          tensor != nullptr && !tensor->shape.IsEmpty() && (saves || !is_saved);
    }
  }
}

}  // namespace recurrent
}  // namespace portacl
