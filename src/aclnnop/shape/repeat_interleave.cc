// aclnnRepeatInterleave in its forms: repeats each element in place, by a number or by a tensor of counts.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/repeat_interleave_functions.h"

#include <limits>

#include "aclnnop/jobs/moves.h"
#include "aclnnop/jobs/op_list.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum Attributes { kRepeats, kOutputSize, kDim };

constexpr DtypeSet kInterleaveSet = kIntegersAndBool | kFloatAndHalf;
constexpr DtypeRule kInterleaveDtypes =
    ByGeneration(kInterleaveSet, kInterleaveSet | kBf16, kInterleaveSet | kBf16 | kUnsignedSince16Bits);

// ---- by one number ----

bool HasDim(const OperatorCall& call) { return call.attributes.size() > kDim; }

// Returns the dim, or -1 for the flattened tensor.
int DimOf(const OperatorCall& call) {
  return HasDim(call) ? WrappedDim(call.attributes[kDim].integer, call.Tensor(kSelf).shape.rank) : -1;
}

aclnnStatus RepeatsNotNegative(const Check& check, OperatorCall& call) noexcept {
  const int64_t repeats = call.attributes[kRepeats].integer;
  if (repeats >= 0) return ACL_SUCCESS;
  return RefuseInteger(check, call, "repeats", repeats, 0, std::numeric_limits<int64_t>::max());
}

aclnnStatus DoneWithoutOutput(const Check&, OperatorCall& call) noexcept {
  const bool is_done =
      HasDim(call) ? call.attributes[kOutputSize].integer == 0 : call.Tensor(kOut).shape.IsEmpty();
  if (is_done) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

aclnnStatus OutputSizeFits(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& self = call.Tensor(kSelf);
  const int64_t length = HasDim(call) ? self.shape[DimOf(call)] : self.numel;
  int64_t size = 0;
  const bool fits = !__builtin_mul_overflow(length, call.attributes[kRepeats].integer, &size);
  if (!fits || call.attributes[kOutputSize].integer != size)
    return RefuseInteger(check, call, "outputSize", call.attributes[kOutputSize].integer, size, size);
  call.broadcast = self.shape;
  if (HasDim(call)) {
    call.broadcast.dim[DimOf(call)] = size;
  } else {
    call.broadcast = Shape{size};
  }
  return ACL_SUCCESS;
}

// With one repetition CANN copies the tensor, and returns another code.
aclnnStatus InterleavedFitsOut(const Check&, OperatorCall& call) noexcept {
  Check shape = ShapeIsResult(kOut);
  if (call.attributes[kRepeats].integer == 1)
    shape = WithCode(ACLNN_ERR_INNER_NULLPTR, ShapeIsResultOrOne(kOut));
  return shape.run(shape, call);
}

constexpr auto kInterleaveStart =
    List(NotNull(kSelf), NotNull(kOut),  // in CANN's order
         DtypesIn(kInterleaveDtypes, {kSelf}), SameDtype(kSelf, kOut), Custom(RepeatsNotNegative));
constexpr auto kInterleaveEnd =
    List(RankAtMost(8, {kSelf}), SizesRepresentable({kOut}), DoneIfEmpty({kSelf}), Custom(DoneWithoutOutput),
         Custom(OutputSizeFits), Custom(InterleavedFitsOut), InsideStorage({kSelf}));
constexpr auto kInterleaveChecks = Join(kInterleaveStart, kInterleaveEnd);
constexpr auto kInterleaveDimChecks =
    Join(kInterleaveStart, List(DimIn(kDim, kSelf, /*strict=*/true)), kInterleaveEnd);

void SetInterleave(const OperatorCall& call, Executor& executor) {
  StridedView self = PlainView(call.Tensor(kSelf));
  StridedView out = PlainView(call.Tensor(kOut));
  const int64_t repeats = call.attributes[kRepeats].integer;
  MoveList moves(executor, 1);
  if (HasDim(call)) {
    const int dim = DimOf(call);
    if (out.numel != 1) SplitDim(out, dim, repeats);
    InsertDim(self, dim + 1, repeats, 0);
  } else {
    if (out.numel != 1) {
      const int64_t step = out.strides[0];
      FillShape(out, self.shape, step * repeats);
      InsertDim(out, out.shape.rank, repeats, step);
    }
    InsertDim(self, self.shape.rank, repeats, 0);
  }
  moves.Copy(self, kSelf, out, kOut);
  moves.SetJob();
}

aclnnStatus Interleave(OperatorCall& call, uint64_t* workspaceSize, aclOpExecutor** executor) {
  const std::span<const Check> checks =
      HasDim(call) ? std::span<const Check>(kInterleaveDimChecks) : kInterleaveChecks;
  return RunPhase1(call, checks, workspaceSize, executor, SetInterleave);
}

// ---- by a tensor of counts ----

enum CountedTensors { kCounted, kCounts, kCountedOut };
enum CountedAttributes { kLength, kCountedDim };

constexpr DtypeSet kCountDtypes{ACL_INT32, ACL_INT64};

bool IsAlongDim(const OperatorCall& call) { return call.attributes.size() > kCountedDim; }
int CountedDim(const OperatorCall& call) {
  return IsAlongDim(call) ? WrappedDim(call.attributes[kCountedDim].integer, call.Tensor(kCounted).shape.rank)
                          : -1;
}
int64_t CountedLength(const OperatorCall& call) {
  const aclTensor& self = call.Tensor(kCounted);
  return IsAlongDim(call) ? self.shape[CountedDim(call)] : self.numel;
}

aclnnStatus OneCountEach(const Check& check, OperatorCall& call) noexcept {
  const int64_t counts = call.Tensor(kCounts).numel;
  const int64_t length = CountedLength(call);
  if (counts == 1 || counts == length) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kCounts).Add(" does not go with ");
  AddArgumentShape(message, call, kCounted).Add(", accepted: 1 or ").Add(length);
  return FailAclnn(check.code, message.Add(" elements."));
}

aclnnStatus DoneWithoutLength(const Check&, OperatorCall& call) noexcept {
  const bool is_done =
      IsAlongDim(call) ? call.attributes[kLength].integer == 0 : call.Tensor(kCountedOut).shape.IsEmpty();
  if (is_done) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

aclnnStatus CountedShape(const Check&, OperatorCall& call) noexcept {
  const int64_t length = call.attributes[kLength].integer;
  call.broadcast = IsAlongDim(call) ? call.Tensor(kCounted).shape : Shape{length};
  if (IsAlongDim(call)) call.broadcast.dim[CountedDim(call)] = length;
  return ACL_SUCCESS;
}

constexpr auto kCountedStart =
    List(NotNull(kCounted), NotNull(kCounts), NotNull(kCountedOut),  // in CANN's order
         DtypesIn(kInterleaveDtypes, {kCounted}), DtypesIn(kCountDtypes, {kCounts}),
         SameDtype(kCounted, kCountedOut), RankAtMost(1, {kCounts}));
constexpr auto kCountedEnd =
    List(RankAtMost(8, {kCounted}), SizesRepresentable({kCountedOut}), Custom(OneCountEach),
         DoneIfEmpty({kCounted}), Custom(DoneWithoutLength), Custom(CountedShape), ShapeIsResult(kCountedOut),
         InsideStorage({kCounted, kCounts}));
constexpr auto kCountedChecks = Join(kCountedStart, kCountedEnd);
constexpr auto kCountedDimChecks =
    Join(kCountedStart, List(DimIn(kCountedDim, kCounted, /*strict=*/true)), kCountedEnd);

// Converts counts to indices, and then gathers the elements.
void SetCounted(const OperatorCall& call, Executor& executor) {
  StridedView self = PlainView(call.Tensor(kCounted));
  const StridedView out = PlainView(call.Tensor(kCountedOut));
  const int64_t elements = CountedLength(call);
  const int64_t length = call.attributes[kLength].integer;
  OpList ops(executor, 3);
  engine::BufferRef from = OperandBuffer(kCounted);
  int dim = CountedDim(call);
  if (dim < 0) {
    from = ops.Flatten(self, kCounted);
    dim = 0;
  }
  const engine::BufferRef offsets = ops.Workspace(length * int64_t{sizeof(int64_t)});
  engine::RepeatInterleave* const interleave = ops.RepeatInterleave(
      PlainView(call.Tensor(kCounts)), kCounts, call.Name(kCounts), elements, length, offsets);
  if (interleave != nullptr) {
    interleave->step = ByteStride(self, dim);
    interleave->missing = engine::IndexedMove::kNoOffset;
  }
  self.shape = out.shape;
  self.strides.dim[dim] = 0;
  StridedView index = DenseTensor(out.shape, ACL_INT64);
  index.offset = offsets.offset / int64_t{sizeof(int64_t)};
  for (int i = 0; i < index.shape.rank; ++i) index.strides.dim[i] = i == dim ? 1 : 0;
  const engine::IndexView named{.view = &index,
                                .operand = engine::BufferRef::kWorkspace,
                                .name = call.Name(kCounts),
                                .bound = engine::IndexedMove::kOffsets};
  ops.Indexed(engine::IndexedAction::kTake, out, OperandBuffer(kCountedOut), self, from, &named, 1);
  ops.SetJob();
}

aclnnStatus InterleaveCounted(OperatorCall& call, uint64_t* workspaceSize, aclOpExecutor** executor) {
  const std::span<const Check> checks =
      IsAlongDim(call) ? std::span<const Check>(kCountedDimChecks) : kCountedChecks;
  return RunPhase1(call, checks, workspaceSize, executor, SetCounted);
}

// ---- indices: the source element of each element of the result ----

aclnnStatus OneDimOrEmpty(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& repeats = call.Tensor(kSelf);
  if (repeats.shape.rank == 1 || repeats.shape.IsEmpty()) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf);
  return FailAclnn(check.code, message.Add(" has not one dim, accepted: one dim."));
}

aclnnStatus NumbersShape(const Check&, OperatorCall& call) noexcept {
  call.broadcast = Shape{call.attributes[kLength].integer};
  return ACL_SUCCESS;
}

constexpr Check kNumbersChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kOut),
    DtypesIn(kCountDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    Custom(OneDimOrEmpty),
    RankAtMost(8, {kSelf}),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf, kOut}),
    Custom(NumbersShape),
    ShapeIsResult(kOut),
    InsideStorage({kSelf}),
};

void SetNumbers(const OperatorCall& call, Executor& executor) {
  const StridedView repeats = PlainView(call.Tensor(kSelf));
  const StridedView out = PlainView(call.Tensor(kOut));
  const int64_t length = out.numel;
  OpList ops(executor, 2);
  const engine::BufferRef numbers = ops.Workspace(length * int64_t{sizeof(int64_t)});
  engine::RepeatInterleave* const interleave =
      ops.RepeatInterleave(repeats, kSelf, call.Name(kSelf), repeats.numel, length, numbers);
  if (interleave != nullptr) {
    interleave->step = 1;
    interleave->missing = 0;
  }
  ops.Copy(DenseTensor(out.shape, ACL_INT64), numbers, out, OperandBuffer(kOut));
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnRepeatInterleave) { return InterleaveCounted(call, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnRepeatInterleaveWithDim) { return InterleaveCounted(call, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnRepeatInterleaveTensor) {
  return RunPhase1(call, kNumbersChecks, workspaceSize, executor, SetNumbers);
}

PORTACL_PHASE_1(aclnnRepeatInterleaveInt) { return Interleave(call, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnRepeatInterleaveIntWithDim) { return Interleave(call, workspaceSize, executor); }
