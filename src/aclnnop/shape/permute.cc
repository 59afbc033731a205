// aclnnPermute, aclnnFlip and aclnnRoll: reorder the elements of a tensor.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/permute_functions.h"

#include "aclnnop/jobs/moves.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum Attributes { kDims, kShifts };

constexpr DtypeSet kFloat8{ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E8M0};
constexpr DtypeRule kPermuteDtypes = WithBf16SinceAtlasA2(kArithmetic | kUnsignedSince16Bits | kFloat8);
constexpr DtypeSet kFlipOld{ACL_FLOAT, ACL_INT32, ACL_INT64,  ACL_FLOAT16,   ACL_INT16,     ACL_INT8,
                            ACL_UINT8, ACL_BOOL,  ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};
constexpr DtypeRule kFlipDtypes =
    ByGeneration(kFlipOld, kFlipOld | kBf16, kFlipOld | kBf16 | kUnsignedSince16Bits);
constexpr DtypeSet kRollOld{ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_UINT8,
                            ACL_INT32, ACL_UINT32,  ACL_BOOL, ACL_INT64};
constexpr DtypeSet kRollA2 = kRollOld | DtypeSet{ACL_BF16, ACL_INT16};
constexpr DtypeRule kRollDtypes = ByGeneration(kRollOld, kRollA2, kRollA2 | DtypeSet{ACL_COMPLEX64});

aclnnStatus SameRank(const Check& check, OperatorCall& call) noexcept {
  const int rank = call.Tensor(kSelf).shape.rank;
  if (call.Tensor(kOut).shape.rank == rank) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kOut).Add(" has another rank than ");
  AddArgumentShape(message, call, kSelf).Add(", accepted: ").Add(rank);
  return FailAclnn(check.code, message.Add(" dims."));
}

aclnnStatus OneDimEach(const Check& check, OperatorCall& call) noexcept {
  if (call.Array(kDims).size() == static_cast<size_t>(call.Tensor(kSelf).shape.rank)) return ACL_SUCCESS;
  return RefuseArray(check, call, kDims, " does not name every dim of self",
                     "as many values as self has dims");
}

aclnnStatus NoValueTwice(const Check& check, OperatorCall& call) noexcept {
  const auto& dims = call.Array(kDims);
  for (size_t i = 0; i < dims.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (dims[i] == dims[k]) return RefuseArray(check, call, kDims, " names a dim twice", "each dim once");
    }
  }
  return ACL_SUCCESS;
}

aclnnStatus PermutedShape(const Check&, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  call.broadcast.rank = self.rank;
  for (int i = 0; i < self.rank; ++i)
    call.broadcast.dim[i] = self[WrappedDim(call.Array(kDims)[static_cast<size_t>(i)], self.rank)];
  return ACL_SUCCESS;
}

// CANN checks the shape of a tensor with elements. That of an empty tensor is checked when it is copied.
aclnnStatus PermutedFitsOut(const Check&, OperatorCall& call) noexcept {
  const bool is_empty = call.Tensor(kSelf).shape.IsEmpty();
  if (is_empty && call.Tensor(kOut).shape.IsEmpty()) {
    call.work = OperatorCall::Work::kNothing;
    return ACL_SUCCESS;
  }
  Check shape = ShapeIsResultOrOne(kOut);
  if (is_empty) shape.code = ACLNN_ERR_INNER_NULLPTR;
  return shape.run(shape, call);
}

constexpr Check kPermuteChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kDims),
    NotNull(kOut),
    DtypesIn(kPermuteDtypes, {kSelf, kOut}),
    SameDtype(kSelf, kOut),
    Custom(SameRank),
    Custom(OneDimEach),
    Custom(NoValueTwice),
    RankAtMost(8, {kSelf}),
    DimsIn(kDims, kSelf),
    DimsDistinct(kDims, kSelf),
    SizesRepresentable({kOut}),
    Custom(PermutedShape),
    Custom(PermutedFitsOut),
    InsideStorage({kSelf}),
};

constexpr Check kFlipChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kDims),
    NotNull(kOut),
    SameDtype(kSelf, kOut),
    DtypesIn(kFlipDtypes, {kSelf}),
    SameShape(kSelf, kOut),
    RankAtMost(8, {kSelf}),
    DimsIn(kDims, kSelf),
    DimsDistinct(kDims, kSelf),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf}),
    InsideStorage({kSelf}),
};

// ---- Roll ----

aclnnStatus ShiftsGoWithDims(const Check& check, OperatorCall& call) noexcept {
  const size_t dims = call.Array(kDims).size();
  const size_t shifts = call.Array(kShifts).size();
  if (dims == 0 ? shifts == 1 : shifts == dims) return ACL_SUCCESS;
  return RefuseArray(check, call, kShifts, " has another number of values than dims",
                     "as many as dims has, or one without dims");
}

aclnnStatus ScalarRollsAsOne(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kSelf).shape.rank > 0 || call.Array(kDims).empty()) return ACL_SUCCESS;
  return RefuseArray(check, call, kDims, " names dims of a tensor that has none", "no values");
}

constexpr Check kRollChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kShifts),
    ArrayNotNull(kDims),
    NotNull(kOut),
    DtypesIn(kRollDtypes, {kSelf, kOut}),
    SameDtype(kSelf, kOut),
    SameShape(kSelf, kOut),
    Custom(ShiftsGoWithDims),
    RankAtMost(8, {kSelf}),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf}),
    Custom(ScalarRollsAsOne),
    DimsIn(kDims, kSelf),
    InsideStorage({kSelf}),
};

int64_t Remainder(int64_t shift, int64_t length) {
  const int64_t rest = shift % length;
  return rest < 0 ? rest + length : rest;
}

// The shift of each dim. Without dims the flattened tensor is rolled: the shifts are then the digits of the
// whole shift in row-major order. An element that passes the end of its dim carries: it shifts the dim before
// by one more.
struct Shifts {
  int64_t by[kMaxDims] = {};
  bool carries = false;
};

Shifts ShiftsOf(const OperatorCall& call) {
  Shifts shifts;
  const Shape& shape = call.Tensor(kSelf).shape;
  if (call.Array(kDims).empty()) {
    shifts.carries = true;
    int64_t rest = Remainder(call.Array(kShifts)[0], call.Tensor(kSelf).numel);
    for (int dim = shape.rank - 1; dim >= 0; --dim) {
      shifts.by[dim] = rest % shape[dim];
      rest /= shape[dim];
    }
    return shifts;
  }
  for (size_t i = 0; i < call.Array(kDims).size(); ++i) {
    const int dim = WrappedDim(call.Array(kDims)[i], shape.rank);
    // Each shift is less than the length, so their sum cannot overflow.
    shifts.by[dim] = Remainder(shifts.by[dim] + Remainder(call.Array(kShifts)[i], shape[dim]), shape[dim]);
  }
  return shifts;
}

// Splits every dim into at most two parts: elements that stay before its end, and elements that wrap around.
void AddRolled(const Shifts& shifts, int dim, bool carry, const StridedView& self, const StridedView& out,
               MoveList& moves) {
  if (dim < 0) return moves.Copy(self, kSelf, out, kOut);
  const int64_t length = self.shape[dim];
  const int64_t shift = shifts.by[dim] + (carry ? 1 : 0);
  for (const bool starts_again : {false, true}) {
    const int64_t part = starts_again ? shift : length - shift;
    if (part <= 0) continue;
    StridedView from = self;
    StridedView to = out;
    Narrow(from, dim, starts_again ? length - shift : 0, part);
    Narrow(to, dim, starts_again ? 0 : shift, part);
    AddRolled(shifts, dim - 1, shifts.carries && starts_again, from, to, moves);
  }
}

void SetRoll(const OperatorCall& call, Executor& executor) {
  const Shifts shifts = ShiftsOf(call);
  const int rank = call.Tensor(kSelf).shape.rank;
  MoveList moves(executor, int64_t{1} << rank);
  AddRolled(shifts, rank - 1, false, PlainView(call.Tensor(kSelf)), PlainView(call.Tensor(kOut)), moves);
  moves.SetJob();
}

void SetPermute(const OperatorCall& call, Executor& executor) {
  StridedView self = PlainView(call.Tensor(kSelf));
  int order[kMaxDims];
  for (int i = 0; i < self.shape.rank; ++i)
    order[i] = WrappedDim(call.Array(kDims)[static_cast<size_t>(i)], self.shape.rank);
  Permute(self, order);
  MoveList moves(executor, 1);
  moves.Copy(self, kSelf, PlainView(call.Tensor(kOut)), kOut);
  moves.SetJob();
}

void SetFlip(const OperatorCall& call, Executor& executor) {
  StridedView self = PlainView(call.Tensor(kSelf));
  for (const int64_t value : call.Array(kDims)) {
    if (self.shape.rank == 0) break;
    const int dim = WrappedDim(value, self.shape.rank);
    Narrow(self, dim, self.shape[dim] - 1, self.shape[dim], -1);
  }
  MoveList moves(executor, 1);
  moves.Copy(self, kSelf, PlainView(call.Tensor(kOut)), kOut);
  moves.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnPermute) { return RunPhase1(call, kPermuteChecks, workspaceSize, executor, SetPermute); }

PORTACL_PHASE_1(aclnnFlip) { return RunPhase1(call, kFlipChecks, workspaceSize, executor, SetFlip); }

PORTACL_PHASE_1(aclnnRoll) { return RunPhase1(call, kRollChecks, workspaceSize, executor, SetRoll); }
