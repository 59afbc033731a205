// aclnnSlice and aclnnSliceV2: take every step-th element between two positions, of one dim or of several.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/slice_functions.h"

#include <algorithm>

#include "aclnnop/jobs/moves.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum Attributes { kDim, kStart, kEnd, kStep };           // aclnnSlice
enum ArrayAttributes { kStarts, kEnds, kAxes, kSteps };  // aclnnSliceV2

constexpr DtypeRule kSliceDtypes = WithBf16SinceAtlasA2(
    DtypeSet{ACL_FLOAT, ACL_FLOAT16, ACL_INT64, ACL_INT8, ACL_INT32, ACL_UINT8, ACL_BOOL});

// A part of a dim: `length` elements from `start` on.
struct Cut {
  int64_t start;
  int64_t length;
};

Cut CutOf(int64_t length, int64_t start, int64_t end, int64_t step) {
  if (start < 0) start += length;
  if (end < 0) end += length;
  start = std::clamp<int64_t>(start, 0, length);
  end = std::clamp(end, start, length);
  return {start, (end - start) / step + ((end - start) % step != 0 ? 1 : 0)};
}

aclnnStatus StepIsPositive(const Check& check, OperatorCall& call) noexcept {
  const int64_t step = call.attributes[kStep].integer;
  if (step > 0) return ACL_SUCCESS;
  return RefuseInteger(check, call, "step", step, 1, std::numeric_limits<int64_t>::max());
}

aclnnStatus StepsArePositive(const Check& check, OperatorCall& call) noexcept {
  for (const int64_t step : call.Array(kSteps)) {
    if (step <= 0)
      return RefuseArray(check, call, kSteps, " has a value that is not positive", "at least 1 each");
  }
  return ACL_SUCCESS;
}

// Calls f(dim, cut, step) for each sliced dim. CANN uses as many axes as there are steps.
template <class F>
void ForEachCut(const OperatorCall& call, const F& f) {
  const Shape& shape = call.Tensor(kSelf).shape;
  if (call.attributes[0].array == nullptr) {
    const int dim = WrappedDim(call.attributes[kDim].integer, shape.rank);
    const int64_t step = call.attributes[kStep].integer;
    return f(dim, CutOf(shape[dim], call.attributes[kStart].integer, call.attributes[kEnd].integer, step),
             step);
  }
  const size_t cuts = std::min(call.Array(kAxes).size(), call.Array(kSteps).size());
  for (size_t i = 0; i < cuts && shape.rank > 0; ++i) {
    const int dim = WrappedDim(call.Array(kAxes)[i], shape.rank);
    const int64_t step = call.Array(kSteps)[i];
    f(dim, CutOf(shape[dim], call.Array(kStarts)[i], call.Array(kEnds)[i], step), step);
  }
}

aclnnStatus CutShape(const Check&, OperatorCall& call) noexcept {
  call.broadcast = call.Tensor(kSelf).shape;
  ForEachCut(call, [&](int dim, const Cut& cut, int64_t) { call.broadcast.dim[dim] = cut.length; });
  return ACL_SUCCESS;
}

constexpr Check kSliceChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kOut),           SameDtype(kSelf, kOut),     DtypesIn(kSliceDtypes, {kSelf}),
    RankAtLeast(1, {kSelf}), RankAtMost(8, {kSelf}),     DimIn(kDim, kSelf),
    Custom(StepIsPositive),  SizesRepresentable({kOut}), Custom(CutShape),
    ShapeIsResult(kOut),     DoneIfEmpty({kSelf, kOut}), InsideStorage({kSelf}),
};

constexpr Check kSliceV2Checks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kOut),
    ArrayNotNull(kStarts),
    ArrayNotNull(kEnds),
    ArrayNotNull(kAxes),
    ArrayNotNull(kSteps),
    SameDtype(kSelf, kOut),
    DtypesIn(kSliceDtypes, {kSelf}),
    RankAtMost(8, {kSelf}),
    DimsIn(kAxes, kSelf),
    DimsDistinct(kAxes, kSelf),
    ArraySizeIs(kStarts, kAxes),
    ArraySizeIs(kEnds, kAxes),
    Custom(StepsArePositive),
    SizesRepresentable({kOut}),
    Custom(CutShape),
    ShapeIsResult(kOut),
    DoneIfEmpty({kSelf}),
    InsideStorage({kSelf}),
};

void SetSlice(const OperatorCall& call, Executor& executor) {
  StridedView self = PlainView(call.Tensor(kSelf));
  ForEachCut(call,
             [&](int dim, const Cut& cut, int64_t step) { Narrow(self, dim, cut.start, cut.length, step); });
  MoveList moves(executor, 1);
  moves.Copy(self, kSelf, PlainView(call.Tensor(kOut)), kOut);
  moves.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSlice) { return RunPhase1(call, kSliceChecks, workspaceSize, executor, SetSlice); }

PORTACL_PHASE_1(aclnnSliceV2) { return RunPhase1(call, kSliceV2Checks, workspaceSize, executor, SetSlice); }
