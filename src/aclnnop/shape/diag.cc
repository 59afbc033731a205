// aclnnDiag and aclnnDiagFlat: return a matrix with the elements on one of its diagonals, or that diagonal of
// a matrix.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/diag_functions.h"

#include <algorithm>

#include "aclnnop/jobs/moves.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "plan/move_plan.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum Attributes { kDiagonal };

constexpr DtypeRule kDiagDtypes = WithBf16SinceAtlasA2(kRealArithmetic | DtypeSet{ACL_COMPLEX64});

// Returns the distance of the diagonal from the main one.
int64_t Distance(int64_t diagonal) {
  if (diagonal == std::numeric_limits<int64_t>::min()) return std::numeric_limits<int64_t>::max();
  return diagonal < 0 ? -diagonal : diagonal;
}

// Tells whether self is a matrix whose diagonal is returned. Any other self is flattened and becomes a
// diagonal.
bool IsTaken(const OperatorCall& call) { return call.Tensor(kSelf).shape.rank == 2; }

aclnnStatus RefuseDiagonal(const Check& check, const OperatorCall& call, int64_t low, int64_t high) {
  return RefuseInteger(check, call, "diagonal", call.attributes[kDiagonal].integer, low, high);
}

// Computes the shape of the square result.
aclnnStatus MatrixShape(const Check& check, OperatorCall& call) noexcept {
  int64_t side = 0;
  int64_t elements = 0;
  const int64_t n = call.Tensor(kSelf).numel;
  if (__builtin_add_overflow(n, Distance(call.attributes[kDiagonal].integer), &side) ||
      __builtin_mul_overflow(side, side, &elements)) {
    return RefuseDiagonal(check, call, -(int64_t{1} << 31), int64_t{1} << 31);
  }
  call.broadcast = Shape{side, side};
  return ACL_SUCCESS;
}

aclnnStatus DiagShape(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const int64_t diagonal = call.attributes[kDiagonal].integer;
  if ((self.IsEmpty() && diagonal == 0) ||
      (self.rank == 2 && (diagonal == self[1] || diagonal == -self[0]))) {
    call.work = OperatorCall::Work::kNothing;
    return ACL_SUCCESS;
  }
  if (self.IsEmpty()) {
    // CANN fills the shape that out has.
    call.broadcast = call.Tensor(kOut).shape;
    return ACL_SUCCESS;
  }
  if (self.rank < 2) return MatrixShape(check, call);
  if (diagonal < -self[0] || diagonal > self[1]) return RefuseDiagonal(check, call, -self[0], self[1]);
  call.broadcast =
      Shape{diagonal < 0 ? std::min(self[0] + diagonal, self[1]) : std::min(self[0], self[1] - diagonal)};
  return ACL_SUCCESS;
}

bool IsEmpty(const OperatorCall& call) noexcept { return call.Tensor(kSelf).shape.IsEmpty(); }

aclnnStatus FillHasLoop(const Check& check, OperatorCall& call) noexcept {
  if (MergedDims(PlainView(call.Tensor(kOut))).shape.rank <= kMaxLoopRank) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kOut);
  return FailAclnn(check.code,
                   message.Add(" has too many dims that cannot be taken together, accepted: at most 8."));
}

constexpr Check kDiagChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kOut),
    DtypesIn(kDiagDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    RankAtMost(2, {kSelf}),
    SizesRepresentable({kOut}),
    Custom(DiagShape),
    If(IsEmpty, DtypesIn(kRealArithmetic | kBf16, {kSelf})),
    ShapeIsResultOrOne(kOut),
    If(IsEmpty, DoneIfEmpty({kOut})),
    If(IsEmpty, Custom(FillHasLoop, ACLNN_ERR_INNER_NULLPTR)),
    InsideStorage({kSelf}),
};

constexpr Check kDiagFlatChecks[] = {
    WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kSelf)),  // in CANN's order
    WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kOut)),
    DtypesIn(kDiagDtypes, {kSelf, kOut}),
    RankAtMost(8, {kSelf}),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf}),
    Custom(MatrixShape, ACLNN_ERR_INNER_NULLPTR),
    WithCode(ACLNN_ERR_INNER_NULLPTR, ShapeIsResultOrOne(kOut)),
    InsideStorage({kSelf}),
};

// Views a diagonal of a matrix as one dim.
StridedView DiagonalOf(const StridedView& matrix, int64_t diagonal, int64_t length) {
  StridedView view = matrix;
  Narrow(view, diagonal < 0 ? 0 : 1, Distance(diagonal), length);
  Narrow(view, diagonal < 0 ? 1 : 0, 0, length);
  const int64_t step = view.strides[0] + view.strides[1];
  Select(view, 1, 0);
  view.strides.dim[0] = step;
  view.Describe();
  return view;
}

void SetMatrix(const OperatorCall& call, Executor& executor) {
  const StridedView self = PlainView(call.Tensor(kSelf));
  const StridedView out = PlainView(call.Tensor(kOut));
  MoveList moves(executor, 2);
  if (out.numel == 1) {
    moves.Copy(self, kSelf, out, kOut);
    return moves.SetJob();
  }
  moves.Fill(out, kOut);
  moves.Barrier();
  if (self.numel > 0) {
    StridedView line = DiagonalOf(out, call.attributes[kDiagonal].integer, self.numel);
    FillShape(line, self.shape, line.strides[0]);
    moves.Copy(self, kSelf, line, kOut);
  }
  moves.SetJob();
}

void SetDiag(const OperatorCall& call, Executor& executor) {
  if (!IsEmpty(call) && !IsTaken(call)) return SetMatrix(call, executor);
  MoveList moves(executor, 1);
  if (IsEmpty(call)) {
    moves.Fill(MergedDims(PlainView(call.Tensor(kOut))), kOut);
    return moves.SetJob();
  }
  const StridedView self = PlainView(call.Tensor(kSelf));
  moves.Copy(DiagonalOf(self, call.attributes[kDiagonal].integer, call.broadcast[0]), kSelf,
             PlainView(call.Tensor(kOut)), kOut);
  moves.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnDiag) { return RunPhase1(call, kDiagChecks, workspaceSize, executor, SetDiag); }

PORTACL_PHASE_1(aclnnDiagFlat) {
  return RunPhase1(call, kDiagFlatChecks, workspaceSize, executor, SetMatrix);
}
