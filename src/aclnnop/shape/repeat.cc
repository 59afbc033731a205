// aclnnRepeat and aclnnExpand: repeat tensors along dims.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/repeat_functions.h"

#include <algorithm>

#include "aclnnop/jobs/moves.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum Attributes { kRepeats };  // aclnnExpand: size

constexpr DtypeSet kFloat8{ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E8M0};
constexpr DtypeSet kRepeatSet = kArithmetic | kBf16 | DtypeSet{ACL_UINT32, ACL_UINT64};
constexpr DtypeSet kRepeatU16 = kRepeatSet | DtypeSet{ACL_UINT16};
constexpr DtypeRule kRepeatDtypes =
    ByGeneration(kRepeatSet, kRepeatU16, kRepeatU16 | kFloat8).On({Product::kAtlasInference}, kRepeatU16);
constexpr DtypeRule kExpandDtypes = WithBf16SinceAtlasA2(
    DtypeSet{ACL_FLOAT16, ACL_FLOAT, ACL_UINT8, ACL_INT8, ACL_INT32, ACL_INT64, ACL_BOOL});

// ---- Repeat ----

aclnnStatus RepeatsFit(const Check& check, OperatorCall& call) noexcept {
  const auto& repeats = call.Array(kRepeats);
  if (repeats.size() < static_cast<size_t>(call.Tensor(kSelf).shape.rank))
    return RefuseArray(check, call, kRepeats, " has fewer values than self has dims", "at least as many");
  if (std::any_of(repeats.begin(), repeats.end(), [](int64_t value) { return value < 0; }))
    return RefuseArray(check, call, kRepeats, " has a negative value", "at least 0 each");
  return ACL_SUCCESS;
}

aclnnStatus RepeatsAtMost8(const Check& check, OperatorCall& call) noexcept {
  if (call.Array(kRepeats).size() <= 8) return ACL_SUCCESS;
  return RefuseArray(check, call, kRepeats, " has more than 8 values", "at most 8");
}

aclnnStatus DoneWithoutRepeats(const Check&, OperatorCall& call) noexcept {
  const auto& repeats = call.Array(kRepeats);
  if (std::find(repeats.begin(), repeats.end(), 0) != repeats.end()) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

aclnnStatus RefuseLength(const Check& check, const OperatorCall& call, int attribute) {
  return RefuseArray(check, call, attribute, " gives more elements than there can be", "fewer");
}

aclnnStatus RepeatedShape(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const auto& repeats = call.Array(kRepeats);
  const int rank = static_cast<int>(repeats.size());
  call.broadcast.rank = rank;
  for (int i = 0; i < rank; ++i) {
    const int own = i - (rank - self.rank);
    if (__builtin_mul_overflow(repeats[static_cast<size_t>(i)], own < 0 ? 1 : self[own],
                               &call.broadcast.dim[i]))
      return RefuseLength(check, call, kRepeats);
  }
  return ACL_SUCCESS;
}

constexpr Check kRepeatChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kRepeats),
    NotNull(kOut),
    DtypesIn(kRepeatDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    Custom(RepeatsFit),
    RankAtMost(8, {kSelf}),
    Custom(RepeatsAtMost8),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf, kOut}),
    Custom(DoneWithoutRepeats),
    Custom(RepeatedShape),
    ShapeIsResult(kOut),
    InsideStorage({kSelf}),
};

// Copies self to out. out's dims come in pairs: the number of repetitions, and the repeated dim. A loop has
// at most kMaxLoopRank dims. If the pairs do not merge to as many, adds one copy for each step of the
// shortest repetition.
void AddRepeated(const StridedView& self, const StridedView& out, MoveList& moves) {
  const StridedView* const operands[] = {&self, &out};
  if (MergeLoop(out.shape, operands).shape.rank <= kMaxLoopRank) return moves.Copy(self, kSelf, out, kOut);
  int shortest = -1;
  for (int dim = 0; dim < out.shape.rank; ++dim) {
    const bool is_repeated = self.strides[dim] == 0 && out.shape[dim] > 1;
    if (is_repeated && (shortest < 0 || out.shape[dim] < out.shape[shortest])) shortest = dim;
  }
  for (int64_t i = 0; i < out.shape[shortest]; ++i) {
    StridedView from = self;
    StridedView to = out;
    Select(from, shortest, 0);
    Select(to, shortest, i);
    AddRepeated(from, to, moves);
  }
}

int64_t MovesRepeated(const StridedView& self, const StridedView& out) {
  const StridedView* const operands[] = {&self, &out};
  if (MergeLoop(out.shape, operands).shape.rank <= kMaxLoopRank) return 1;
  int shortest = -1;
  for (int dim = 0; dim < out.shape.rank; ++dim) {
    const bool is_repeated = self.strides[dim] == 0 && out.shape[dim] > 1;
    if (is_repeated && (shortest < 0 || out.shape[dim] < out.shape[shortest])) shortest = dim;
  }
  StridedView from = self;
  StridedView to = out;
  Select(from, shortest, 0);
  Select(to, shortest, 0);
  return out.shape[shortest] * MovesRepeated(from, to);
}

void SetRepeat(const OperatorCall& call, Executor& executor) {
  StridedView self = PlainView(call.Tensor(kSelf));
  StridedView out = PlainView(call.Tensor(kOut));
  const auto& repeats = call.Array(kRepeats);
  const int rank = static_cast<int>(repeats.size());
  while (self.shape.rank < rank) InsertDim(self, 0, 1, 0);
  // Goes from the last dim to the first, so that the positions of earlier dims stay.
  for (int dim = rank - 1; dim >= 0; --dim) {
    const int64_t times = repeats[static_cast<size_t>(dim)];
    SplitDim(out, dim, self.shape[dim]);
    InsertDim(self, dim, times, 0);
  }
  MoveList moves(executor, MovesRepeated(self, out));
  AddRepeated(self, out, moves);
  moves.SetJob();
}

// ---- Expand ----

aclnnStatus ExpandedShape(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const auto& size = call.Array(kRepeats);
  if (size.size() < static_cast<size_t>(self.rank))
    return RefuseArray(check, call, kRepeats, " has fewer values than self has dims", "at least as many");
  const size_t missing = size.size() - static_cast<size_t>(self.rank);
  for (int i = 0; i < self.rank; ++i) {
    if (self[i] == size[missing + static_cast<size_t>(i)] || self[i] == 1) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kSelf).Add(" does not expand to size in dim ").Add(i);
    return FailAclnn(check.code, message.Add(", accepted: the same length there, or 1."));
  }
  const Shape& out = call.Tensor(kOut).shape;
  if (static_cast<size_t>(out.rank) == size.size() && std::equal(size.begin(), size.end(), out.dim))
    return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kOut)
      .Add(" differs from size, accepted: the shape that size gives");
  return FailAclnn(check.code, message.Add("."));
}

constexpr Check kExpandChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kRepeats),
    NotNull(kOut),
    SameDtype(kSelf, kOut),
    DtypesIn(kExpandDtypes, {kSelf}),
    Custom(ExpandedShape),
    RankAtMost(8, {kSelf, kOut}),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf, kOut}),
    InsideStorage({kSelf}),
};

void SetExpand(const OperatorCall& call, Executor& executor) {
  MoveList moves(executor, 1);
  moves.Copy(PlainView(call.Tensor(kSelf)), kSelf, PlainView(call.Tensor(kOut)), kOut);
  moves.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnRepeat) { return RunPhase1(call, kRepeatChecks, workspaceSize, executor, SetRepeat); }

PORTACL_PHASE_1(aclnnExpand) { return RunPhase1(call, kExpandChecks, workspaceSize, executor, SetExpand); }
