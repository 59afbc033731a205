// aclnnSort, aclnnArgsort, aclnnTopk and aclnnTopkV2: sort the elements along a dim, or select the first
// ones, and return their indices.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/sort/sort_functions.h"

#include <limits>

#include "aclnnop/sort/ordered.h"
#include "base/errors.h"
#include "plan/move_plan.h"

namespace portacl {
namespace {

using engine::SortRows;

enum Tensors { kSelf, kValues, kIndices };
enum Attributes { kDim, kDescends, kCount };  // kDescends of aclnnTopk: the largest come first

constexpr DtypeSet kSortable = kIntegersAndBool | kFloatHalfAndBf16;
constexpr DtypeRule kSortDtypes =
    Everywhere(kSortable).On(products::kAscend950, kSortable | kUnsignedSince16Bits);
constexpr DtypeRule kSortedDtypes =
    Everywhere(kSortable | kDouble).On(products::kAscend950, kSortable | kUnsignedSince16Bits);
constexpr DtypeSet kTopkNumbers = kOrderedNumbers | kDouble;
constexpr DtypeRule kTopkDtypes =
    ByGeneration(kTopkNumbers, kTopkNumbers | kBf16, kTopkNumbers | kBf16 | kUnsignedSince16Bits);

int DimOf(const OperatorCall& call) noexcept {
  return WrappedDim(call.attributes[kDim].integer, call.Tensor(kSelf).shape.rank);
}
int64_t LengthOf(const OperatorCall& call) noexcept {
  return portacl::LengthOf(call.Tensor(kSelf), DimOf(call));
}
bool Descends(const OperatorCall& call) noexcept { return call.attributes[kDescends].integer != 0; }
bool HasOneElementEach(const OperatorCall& call) noexcept { return LengthOf(call) == 1; }
bool Converts(const OperatorCall& call) noexcept {
  return call.Tensor(kSelf).dtype != call.Tensor(kValues).dtype;
}

// ---- Sort ----

aclnnStatus ConvertedDimsMerge(const Check& check, OperatorCall& call) noexcept {
  const StridedView merged = MergedDims(call.Tensor(kValues));
  if (merged.shape.rank <= kMaxLoopRank) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kValues)
      .Add(" has more than ")
      .Add(kMaxLoopRank)
      .Add(" dims that cannot be taken together");
  return FailAclnn(check.code,
                   message.Add(", accepted: at most so many, a dense tensor, or one of self's type."));
}

constexpr Check kSortChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kValues),
    NotNull(kIndices),
    DtypesIn(kSortDtypes, {kSelf}),
    DtypesIn(kSortedDtypes, {kValues}),
    DtypesIn(kIndexDtype, {kIndices}),
    DimIn(kDim, kSelf),
    SameShape(kSelf, kValues),
    SameShape(kSelf, kIndices),
    SizesRepresentable({kValues, kIndices}),
    DoneIfEmpty({kSelf}),
    If(HasOneElementEach, WithCode(ACLNN_ERR_PARAM_NULLPTR, SameDtype(kSelf, kValues))),
    InsideStorage({kSelf}),
    If(Converts, Custom(ConvertedDimsMerge, ACLNN_ERR_INNER_NULLPTR)),
};

SortRows Rows(bool descends, int64_t count) {
  SortRows rows{};
  rows.kind = SortRows::Kind::kFirst;
  rows.descends = descends;
  rows.kept = count;
  return rows;
}

void SetSort(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 2);
  const SortRows rows = Rows(Descends(call), LengthOf(call));
  if (!Converts(call)) {
    AddOrdered(call, DimOf(call), kValues, kIndices, rows, ops);
  } else {
    const StridedView self = PlainView(call.Tensor(kSelf));
    const StridedView indices = PlainView(call.Tensor(kIndices));
    const StridedView values = PlainView(call.Tensor(kValues));
    const StridedView sorted = DenseTensor(self.shape, self.dtype);
    const engine::BufferRef buffer =
        ops.Workspace(sorted.numel * static_cast<int64_t>(aclDataTypeSize(self.dtype)));
    ops.SortRows(self, OperandBuffer(kSelf), &sorted, buffer, &indices, OperandBuffer(kIndices), DimOf(call),
                 rows);
    ops.Copy(sorted, buffer, values, OperandBuffer(kValues));
  }
  ops.SetJob();
}

// ---- Argsort ----

enum ArgsortTensors { kArgsortOut = 1 };

bool IsBf16OfOne(const OperatorCall& call) noexcept {
  return call.Tensor(kSelf).dtype == ACL_BF16 && LengthOf(call) == 1;
}
aclnnStatus LengthFitsInt32(const Check& check, OperatorCall& call) noexcept {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const int64_t length = LengthOf(call);
  if (length <= kMost) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf)
      .Add(" has ")
      .Add(length)
      .Add(" elements along dim ");
  return FailAclnn(check.code, message.Add(DimOf(call)).Add(", accepted: at most ").Add(kMost).Add("."));
}
aclnnStatus RefuseOneBf16(const Check& check, OperatorCall& call) noexcept {
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, kSelf)
      .Add(" has one element along dim ")
      .Add(DimOf(call));
  return FailAclnn(check.code, message.Add(", accepted: 2 or more of that type."));
}

constexpr Check kArgsortChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kArgsortOut),
    DimIn(kDim, kSelf),
    Custom(LengthFitsInt32),
    OnProducts(products::kBeforeAscend950, If(IsBf16OfOne, Custom(RefuseOneBf16))),
    DtypesIn(kOrderedDtypes, {kSelf}),
    DtypesIn(kIndexDtype, {kArgsortOut}),
    NotPrivate({kSelf, kArgsortOut}),
    RankAtMost(8, {kSelf}),
    SameShape(kSelf, kArgsortOut),
    SizesRepresentable({kArgsortOut}),
    DoneIfEmpty({kSelf}),
    InsideStorage({kSelf}),
};

void SetArgsort(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 1);
  AddOrdered(call, DimOf(call), -1, kArgsortOut, Rows(Descends(call), LengthOf(call)), ops);
  ops.SetJob();
}

// ---- Topk ----

aclnnStatus CountFits(const Check& check, OperatorCall& call) noexcept {
  return FitsDim(check, call, kCount, kDim, 0);
}
aclnnStatus TopkShape(const Check&, OperatorCall& call) noexcept {
  call.broadcast = call.Tensor(kSelf).shape;
  if (call.broadcast.rank > 0) call.broadcast.dim[DimOf(call)] = call.attributes[kCount].integer;
  return ACL_SUCCESS;
}

constexpr Check kTopkChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kValues),
    NotNull(kIndices),
    DimIn(kDim, kSelf),
    Custom(CountFits),
    DtypesIn(kTopkDtypes, {kSelf}),
    SameDtype(kSelf, kValues),
    DtypesIn(kIndexDtype, {kIndices}),
    RankAtMost(8, {kSelf}),
    SizesRepresentable({kValues, kIndices}),
    DoneIfEmpty({kSelf, kValues, kIndices}),
    Custom(TopkShape),
    ShapeIsResultOrOne(kValues),
    ShapeIsResultOrOne(kIndices),
    InsideStorage({kSelf}),
};

void SetTopk(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 1);
  AddOrdered(call, DimOf(call), kValues, kIndices, Rows(Descends(call), call.attributes[kCount].integer),
             ops);
  ops.SetJob();
}

// Top-k without `sorted` may return any order, so the result is sorted.
}  // namespace

}  // namespace portacl

using namespace portacl;

// A stable sort also satisfies callers that do not ask for stability.
PORTACL_PHASE_1(aclnnSort) { return RunPhase1(call, kSortChecks, workspaceSize, executor, SetSort); }

PORTACL_PHASE_1(aclnnArgsort) { return RunPhase1(call, kArgsortChecks, workspaceSize, executor, SetArgsort); }

PORTACL_PHASE_1(aclnnTopk) { return RunPhase1(call, kTopkChecks, workspaceSize, executor, SetTopk); }

PORTACL_PHASE_1(aclnnTopkV2) { return RunPhase1(call, kTopkChecks, workspaceSize, executor, SetTopk); }
