// aclnnFlatten: the dims before an axis become one, and those from it on another.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/flatten_functions.h"

#include "aclnnop/jobs/moves.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum Attributes { kAxis };

int AxisOf(const OperatorCall& call) noexcept {
  const int64_t axis = call.attributes[kAxis].integer;
  return static_cast<int>(axis < 0 ? axis + call.Tensor(kSelf).shape.rank : axis);
}

aclnnStatus ShapeFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  Shape result{1, 1};
  for (int dim = 0; dim < self.rank; ++dim) {
    int64_t& length = result.dim[dim < AxisOf(call) ? 0 : 1];
    // A length that does not fit is none of out's.
    if (__builtin_mul_overflow(length, self[dim], &length)) length = -1;
  }
  if (call.Tensor(kOut).shape == result) return ACL_SUCCESS;
  return RefuseShape(check, call, kOut, result);
}

constexpr DtypeRule kDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kIntegersAndBool | kUnsignedSince16Bits);
constexpr Check kChecks[] = {
    NotNull(kSelf),         NotNull(kOut),           DtypesIn(kDtypes, {kSelf}),
    SameDtype(kSelf, kOut), RankAtLeast(1, {kSelf}), RankAtMost(8, {kSelf}),
    DimIn(kAxis, kSelf),    Custom(ShapeFits),       SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf}),   InsideStorage({kSelf}),
};

// Splits a dim into those of `shape` from `first` to `end`, of which there is one at least.
void SplitInto(StridedView& view, int dim, const Shape& shape, int first, int end) noexcept {
  int64_t inner = view.shape[dim];
  for (int i = first; i + 1 < end; ++i, ++dim) {
    inner /= shape[i];
    SplitDim(view, dim, inner);
  }
}

void SetFlatten(const OperatorCall& call, Executor& executor) {
  const Shape& shape = call.Tensor(kSelf).shape;
  const int axis = AxisOf(call);
  StridedView out = PlainView(call.Tensor(kOut));
  if (axis == 0) {
    Select(out, 0, 0);
  } else {
    SplitInto(out, 0, shape, 0, axis);
  }
  SplitInto(out, axis, shape, axis, shape.rank);
  MoveList moves(executor, 1);
  moves.Copy(PlainView(call.Tensor(kSelf)), kSelf, out, kOut);
  moves.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnFlatten) { return RunPhase1(call, kChecks, workspaceSize, executor, SetFlatten); }
