// aclnnStridedSliceAssignV2: writes a tensor to the parts of another that lie between bounds, by steps.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/slice_assign_functions.h"

#include <algorithm>

#include "aclnnop/jobs/moves.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kVar, kValue };
enum Attributes { kBegin, kEnd, kStrides, kAxes };

constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;
constexpr DtypeRule kDtypes = WithBf16SinceAtlasA2(kRealArithmetic);

bool HasAxes(const OperatorCall& call) noexcept { return call.attributes[kAxes].array != nullptr; }
int AxisOf(const OperatorCall& call, size_t entry) {
  const int64_t axis = HasAxes(call) ? call.Array(kAxes)[entry] : static_cast<int64_t>(entry);
  return WrappedDim(axis, call.Tensor(kVar).shape.rank);
}

aclnnStatus EntriesFit(const Check& check, OperatorCall& call) noexcept {
  const int rank = call.Tensor(kVar).shape.rank;
  const size_t entries = call.Array(kBegin).size();
  if (entries > static_cast<size_t>(rank))
    return RefuseArray(check, call, kBegin, " has more entries than varRef has dims", "at most one for each");
  if (!HasAxes(call)) return ACL_SUCCESS;
  uint32_t seen = 0;
  for (size_t entry = 0; entry < entries; ++entry) {
    if (!IsDim(call.Array(kAxes)[entry], rank))
      return RefuseArray(check, call, kAxes, " has a value that is no dim of varRef", "dims of it");
    const uint32_t bit = uint32_t{1} << AxisOf(call, entry);
    if ((seen & bit) != 0) return RefuseArray(check, call, kAxes, " names a dim twice", "distinct dims");
    seen |= bit;
  }
  return ACL_SUCCESS;
}

aclnnStatus StepsGoUp(const Check& check, OperatorCall& call) noexcept {
  for (const int64_t step : call.Array(kStrides)) {
    if (step < 1) return RefuseArray(check, call, kStrides, " has a value below 1", "at least 1");
  }
  return ACL_SUCCESS;
}

// Returns the part of varRef that is written. Bounds below 0 count from the end; those outside are moved to the ends.
StridedView PartOf(const OperatorCall& call) {
  StridedView view = PlainView(call.Tensor(kVar));
  for (size_t entry = 0; entry < call.Array(kBegin).size(); ++entry) {
    const int axis = AxisOf(call, entry);
    const int64_t length = view.shape[axis];
    const auto bound = [&](int64_t given) {
      return std::clamp<int64_t>(given < 0 ? given + length : given, 0, length);
    };
    const int64_t begin = bound(call.Array(kBegin)[entry]);
    const int64_t distance = bound(call.Array(kEnd)[entry]) - begin;
    const int64_t step = call.Array(kStrides)[entry];
    Narrow(view, axis, begin, distance <= 0 ? 0 : (distance - 1) / step + 1, step);
  }
  return view;
}

aclnnStatus ValueFits(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted = PartOf(call).shape;
  if (call.Tensor(kValue).shape == accepted) return ACL_SUCCESS;
  return RefuseShape(check, call, kValue, accepted);
}

constexpr Check kChecks[] = {
    NotNull(kVar),
    NotNull(kValue),
    ArrayNotNull(kBegin),
    ArrayNotNull(kEnd),
    ArrayNotNull(kStrides),
    DtypesIn(kDtypes, {kVar}),
    SameDtype(kVar, kValue),
    WithCode(kTiling, RankAtMost(8, {kVar, kValue})),
    WithCode(kTiling, ArraySizeIs(kEnd, kBegin)),
    WithCode(kTiling, ArraySizeIs(kStrides, kBegin)),
    If(HasAxes, WithCode(kTiling, ArraySizeIs(kAxes, kBegin))),
    Custom(EntriesFit, kTiling),
    Custom(StepsGoUp, kTiling),
    SizesRepresentable({kVar}),
    Custom(ValueFits, kTiling),
    DoneIfEmpty({kVar, kValue}),
    InsideStorage({kValue}),
};

void SetAssign(const OperatorCall& call, Executor& executor) {
  MoveList moves(executor, 1);
  moves.Copy(PlainView(call.Tensor(kValue)), kValue, PartOf(call), kVar);
  moves.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnStridedSliceAssignV2) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetAssign);
}
