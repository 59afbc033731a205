// aclnnCtcLoss and aclnnCtcLossBackward: connectionist temporal classification, the negative logarithm of the probability of all alignments
// of a sequence with its targets, and its gradient.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/loss/ctc_loss_functions.h"

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>

#include "acl/stream/thread_limit.h"
#include "aclnnop/jobs/dense_op_list.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "engine/align/alignments.h"
#include "plan/views.h"

namespace portacl {
namespace {

using dense::ShapeChecks;

enum Attributes { kInputLengths, kTargetLengths, kBlank, kZeroInfinity };

constexpr DtypeSet kOfAll = kDouble | DtypeSet{ACL_FLOAT};
constexpr DtypeRule kDtypes = SinceAtlasA2(kOfAll | kFloatHalfAndBf16, kOfAll);
constexpr DtypeSet kTargets{ACL_INT32, ACL_INT64, ACL_BOOL, ACL_FLOAT, ACL_FLOAT16};

int64_t Longest(const OperatorCall& call) {
  const auto& lengths = call.Array(kTargetLengths);
  return lengths.empty() ? 0 : std::max<int64_t>(0, *std::max_element(lengths.begin(), lengths.end()));
}

// Checks an array that has a value of at most `most` for each sequence.
aclnnStatus LengthsFit(const Check& check, const OperatorCall& call, int attribute, int64_t sequences,
                       int64_t most, const char* accepted) {
  const auto& lengths = call.Array(attribute);
  if (static_cast<int64_t>(lengths.size()) != sequences)
    return RefuseArray(check, call, attribute, " has another number of values", "one for each sequence");
  if (std::any_of(lengths.begin(), lengths.end(), [most](int64_t length) { return length > most; }))
    return RefuseArray(check, call, attribute, " has a value that is too large", accepted);
  return ACL_SUCCESS;
}

// Checks the targets: those of all sequences concatenated, or a row for each sequence.
aclnnStatus TargetsFit(const Check& check, const OperatorCall& call, int tensor, int64_t sequences,
                       int64_t longest) {
  const Shape& shape = call.Tensor(tensor).shape;
  ShapeChecks checks(check, call);
  checks.Rank(tensor, 1, 2);
  if (!checks.Passed()) return checks.status();
  if (shape.rank == 2) {
    const bool fits = shape[0] == sequences && shape[1] >= longest;
    return checks.Holds(fits, tensor, "a row for each sequence, as long as the longest targetLengths")
        .status();
  }
  const auto& lengths = call.Array(kTargetLengths);
  int64_t sum = 0;
  for (const int64_t length : lengths) {
    if (__builtin_add_overflow(sum, length, &sum)) sum = -1;
  }
  return checks.Holds(shape[0] == sum, tensor, "as many elements as targetLengths together").status();
}

// Puts inputLengths and then targetLengths into one array. Returns false if there is no memory.
bool AllLengths(const OperatorCall& call, std::vector<int64_t>* lengths) noexcept {
  const auto& ops = call.Array(kInputLengths);
  const auto& targets = call.Array(kTargetLengths);
  try {
    lengths->reserve(ops.size() + targets.size());
    lengths->insert(lengths->end(), ops.begin(), ops.end());
    lengths->insert(lengths->end(), targets.begin(), targets.end());
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

// Provides dense operands of one dtype, or of a given one. A tensor that is dense and of that dtype is used directly.
// Otherwise an input is copied to the workspace before the computation, an output from the workspace after it.
class Operands {
 public:
  Operands(const OperatorCall& call, OpList& ops, aclDataType dtype)
      : call_(call), ops_(ops), dtype_(dtype) {}

  engine::BufferRef In(int tensor) { return In(tensor, dtype_); }
  engine::BufferRef In(int tensor, aclDataType dtype) {
    const StridedView view = PlainView(call_.Tensor(tensor));
    if (view.dtype == dtype && IsContiguous(view)) return {tensor, ByteOffset(view)};
    const StridedView dense = DenseTensor(view.shape, dtype);
    const engine::BufferRef buffer =
        ops_.Workspace(dense.numel * static_cast<int64_t>(aclDataTypeSize(dtype)));
    if (dense.numel > 0) ops_.Copy(view, OperandBuffer(tensor), dense, buffer);
    return buffer;
  }
  engine::BufferRef Out(int tensor) {
    const StridedView view = PlainView(call_.Tensor(tensor));
    if (view.dtype == dtype_ && IsContiguous(view)) return {tensor, ByteOffset(view)};
    const StridedView dense = DenseTensor(view.shape, dtype_);
    const engine::BufferRef buffer =
        ops_.Workspace(dense.numel * static_cast<int64_t>(aclDataTypeSize(dtype_)));
    outputs_[count_++] = {view, dense, buffer, tensor};
    return buffer;
  }
  void CopyOutputs() {
    for (const Output* output = outputs_; output < outputs_ + count_; ++output)
      ops_.Copy(output->dense, output->buffer, output->view, OperandBuffer(output->tensor));
  }

 private:
  struct Output {
    StridedView view;
    StridedView dense;
    engine::BufferRef buffer;
    int tensor;
  };
  const OperatorCall& call_;
  OpList& ops_;
  aclDataType dtype_;
  Output outputs_[2];
  int count_ = 0;
};

aclDataType ComputedIn(aclDataType dtype) { return dtype == ACL_DOUBLE ? ACL_DOUBLE : ACL_FLOAT; }

// Sets the members of a job that both directions have.
void Describe(const OperatorCall& call, int log_probabilities, int targets, engine::Alignments& job) {
  const Shape& shape = call.Tensor(log_probabilities).shape;
  const Shape& target = call.Tensor(targets).shape;
  job.steps = shape[0];
  job.sequences = shape.rank == 3 ? shape[1] : 1;
  job.classes = shape[shape.rank - 1];
  job.targets = call.Tensor(targets).numel;
  job.target_stride = target.rank == 2 ? target[1] : 0;
  job.blank = call.attributes[kBlank].integer;
  job.threads = call.threads;
}

// Makes the job of one direction, Count<float> or Count<double>. `set_own` sets the members that only this direction
// has, and calls add(buffers) with all buffers of the job. `largest` is the tensor with the most elements.
template <template <class> class Count, class F>
void SetAlignments(const OperatorCall& call, Executor& executor, int log_probabilities, int targets,
                   int largest, const F& set_own) {
  constexpr int kMostOps = 12;
  std::vector<int64_t> lengths;
  if (!AllLengths(call, &lengths))
    return executor.RefuseSize("inputLengths", call.Tensor(log_probabilities).numel);
  const aclDataType dtype = ComputedIn(call.Tensor(log_probabilities).dtype);
  OpList ops(executor, kMostOps, &lengths);
  Operands operands(call, ops, dtype);
  const auto set = [&]<class T>(Count<T> count) {
    Describe(call, log_probabilities, targets, count);
    count.log_probability = operands.In(log_probabilities);
    count.target = operands.In(targets, ACL_INT64);
    count.lengths = ops.Array();
    count.functions = engine::AlignmentFunctionsOf<T>(call.isa);
    set_own(operands, count, [&](std::initializer_list<engine::BufferRef> buffers) {
      count.work = ops.Workspace(count.WorkOfSequence() * count.sequences);
      ops.Compute(count, buffers, call.Tensor(largest).numel);
    });
  };
  if (dtype == ACL_DOUBLE) {
    set(Count<double>{});
  } else {
    set(Count<float>{});
  }
  operands.CopyOutputs();
  ops.SetJob();
}

// ---- forwards ----

namespace forwards {
enum Tensors { kLogProbs, kTargetsOf, kLoss, kLogAlpha };

bool IsOn950(const OperatorCall& call) { return call.product == Product::kAscend950; }
// Returns the last dim of logAlpha: the states of the longest targets, rounded up to 8 except on Ascend 950.
int64_t RoomOfStates(const OperatorCall& call) {
  const int64_t states = 2 * Longest(call) + 1;
  return IsOn950(call) ? states : (states + 7) / 8 * 8;
}
bool IsNarrow(const OperatorCall& call) {
  const aclDataType dtype = call.Tensor(kLogProbs).dtype;
  return dtype == ACL_FLOAT16 || dtype == ACL_BF16;
}

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kLogProbs).shape;
  ShapeChecks checks(check, call);
  checks.Holds(shape.rank == 0 || shape[0] > 0, kLogProbs, "at least 1 step").Rank(kLogProbs, 2, 3);
  if (!checks.Passed()) return checks.status();
  const int64_t sequences = shape.rank == 3 ? shape[1] : 1;
  const int64_t classes = shape[shape.rank - 1];
  const int64_t blank = call.attributes[kBlank].integer;
  if (blank < 0 || blank >= classes) return RefuseInteger(check, call, "blank", blank, 0, classes - 1);
  constexpr int64_t kAny = int64_t{1} << 40;
  if (const aclnnStatus status =
          LengthsFit(check, call, kInputLengths, sequences, shape[0], "at most the number of steps"))
    return status;
  if (const aclnnStatus status = LengthsFit(check, call, kTargetLengths, sequences, kAny, "at most 2^40"))
    return status;
  if (const aclnnStatus status = TargetsFit(check, call, kTargetsOf, sequences, Longest(call))) return status;
  return checks.Is(kLoss, shape.rank == 3 ? Shape{sequences} : Shape{})
      .Is(kLogAlpha, Shape{sequences, shape[0], RoomOfStates(call)})
      .status();
}

// Checks the limits of Atlas A2's kernel for 16-bit floats. It reads dim 1 as the sequences, also of a single sequence, whose dim 1 is
// classes.
aclnnStatus FitsA2(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kLogProbs).shape;
  const bool fits = shape[shape.rank - 1] <= 200000 && shape[1] <= 8180 && Longest(call) <= 1000;
  return ShapeChecks(check, call)
      .Holds(fits, kLogProbs, "at most 200000 classes, 8180 sequences and targets of 1000, of 16 bits")
      .status();
}

constexpr auto kChecks = Join(
    List(NotNull(kLogProbs), NotNull(kTargetsOf), ArrayNotNull(kInputLengths), ArrayNotNull(kTargetLengths),
         NotNull(kLoss), NotNull(kLogAlpha), Custom(Fits), DtypesIn(kDtypes, {kLogProbs}),
         SameDtype(kLogProbs, kLoss), SameDtype(kLogProbs, kLogAlpha), DtypesIn(kTargets, {kTargetsOf})),
    List(OnProducts(products::kAtlasA2AndA3,
                    If([](const OperatorCall& call) noexcept { return IsNarrow(call); }, Custom(FitsA2))),
         SizesRepresentable({kLoss, kLogAlpha}), DoneIfEmpty({kLoss}), InsideStorage({kLogProbs, kTargetsOf}),
         PromotesToDtypeOf(kLogProbs), FunctionsThere(kDouble, WhyFunctionsAreMissing)));

void Set(const OperatorCall& call, Executor& executor) {
  SetAlignments<engine::CountAlignments>(
      call, executor, kLogProbs, kTargetsOf, kLogAlpha,
      [&](Operands& operands, auto& count, const auto& add) {
        count.alpha = operands.Out(kLogAlpha);
        count.loss = operands.Out(kLoss);
        count.states = RoomOfStates(call);
        count.zeroes_losses = call.attributes[kZeroInfinity].integer != 0 && !IsOn950(call);
        add({count.log_probability, count.target, count.alpha, count.loss});
      });
}
}  // namespace forwards

// ---- backwards ----

namespace backwards {
enum Tensors { kGradOut, kLogProbs, kTargetsOf, kLoss, kLogAlpha, kOut };

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kLogProbs).shape;
  ShapeChecks checks(check, call);
  checks.Holds(shape.rank == 0 || shape[0] > 0, kLogProbs, "at least 1 step")
      .Rank(kGradOut, 1, 1)
      .Rank(kLoss, 1, 1);
  checks.Rank(kLogProbs, 3, 3).Rank(kLogAlpha, 3, 3).Rank(kTargetsOf, 1, 2).Rank(kOut, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& alpha = call.Tensor(kLogAlpha).shape;
  const int64_t blank = call.attributes[kBlank].integer;
  if (blank < 0 || blank >= shape[2]) return RefuseInteger(check, call, "blank", blank, 0, shape[2] - 1);
  if ((alpha[2] < 1 && shape[1] > 0) || Longest(call) > (alpha[2] - 1) / 2)
    return RefuseArray(check, call, kTargetLengths, " has a value that is too large",
                       "what logAlpha has states for");
  if (const aclnnStatus status =
          LengthsFit(check, call, kInputLengths, shape[1], shape[0], "at most the number of steps"))
    return status;
  constexpr int64_t kAny = int64_t{1} << 40;
  if (const aclnnStatus status = LengthsFit(check, call, kTargetLengths, shape[1], kAny, "at most 2^40"))
    return status;
  checks.Is(kGradOut, Shape{shape[1]})
      .Is(kLoss, Shape{shape[1]})
      .Is(kLogAlpha, Shape{shape[1], shape[0], alpha[2]});
  if (!checks.Passed()) return checks.status();
  if (const aclnnStatus status = TargetsFit(check, call, kTargetsOf, shape[1], Longest(call))) return status;
  return checks.Is(kOut, shape).status();
}

constexpr auto kChecks =
    Join(List(NotNull(kGradOut), NotNull(kLogProbs), NotNull(kTargetsOf), ArrayNotNull(kInputLengths),
              ArrayNotNull(kTargetLengths), NotNull(kLoss), NotNull(kLogAlpha), NotNull(kOut), Custom(Fits),
              DtypesIn(kDtypes, {kLogProbs}), SameDtype(kLogProbs, kGradOut), SameDtype(kLogProbs, kLoss)),
         List(SameDtype(kLogProbs, kLogAlpha), SameDtype(kLogProbs, kOut), DtypesIn(kTargets, {kTargetsOf}),
              SizesRepresentable({kOut}), DoneIfEmpty({kOut}),
              InsideStorage({kGradOut, kLogProbs, kTargetsOf, kLoss, kLogAlpha}),
              PromotesToDtypeOf(kLogProbs), FunctionsThere(kDouble, WhyFunctionsAreMissing)));

void Set(const OperatorCall& call, Executor& executor) {
  SetAlignments<engine::CountAlignmentsBackwards>(
      call, executor, kLogProbs, kTargetsOf, kOut, [&](Operands& operands, auto& count, const auto& add) {
        count.loss = operands.In(kLoss);
        count.gradient = operands.In(kGradOut);
        count.to = operands.Out(kOut);
        count.states = call.Tensor(kLogAlpha).shape[2];
        count.zeroes = call.attributes[kZeroInfinity].integer != 0;
        add({count.log_probability, count.target, count.loss, count.gradient, count.to});
      });
}
}  // namespace backwards

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnCtcLoss) {
  return dense::RunOpList(call, forwards::kChecks, workspaceSize, executor, forwards::Set);
}
PORTACL_PHASE_1(aclnnCtcLossBackward) {
  return dense::RunOpList(call, backwards::kChecks, workspaceSize, executor, backwards::Set);
}
