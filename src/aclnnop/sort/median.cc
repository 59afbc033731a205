// aclnnMedian, aclnnMedianDim, aclnnNanMedian, aclnnNanMedianDim and aclnnKthvalue: return the element at one
// position of the sorted order.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/sort/median_functions.h"

#include <algorithm>
#include <limits>

#include "aclnnop/sort/ordered.h"
#include "base/errors.h"

namespace portacl {
namespace {

using engine::SortRows;

enum Tensors { kSelf, kValues, kIndices };
enum Attributes { kDim, kKeepsDim, kNumber };

constexpr DtypeRule kMedianDtypes = WithBf16SinceAtlasA2(kOrderedNumbers);

// A median over all elements has no dim.
bool HasDim(const OperatorCall& call) noexcept { return !call.attributes.empty(); }
int RankOf(const OperatorCall& call) noexcept { return call.Tensor(kSelf).shape.rank; }
int DimOf(const OperatorCall& call) noexcept {
  return HasDim(call) ? WrappedDim(call.attributes[kDim].integer, RankOf(call))
                      : std::max(RankOf(call) - 1, 0);
}
bool KeepsDim(const OperatorCall& call) noexcept {
  return call.attributes[kKeepsDim].integer != 0 || RankOf(call) == 0;
}

// ---- checks ----

bool IsBf16OfOne(const OperatorCall& call) noexcept {
  const aclTensor& self = call.Tensor(kSelf);
  return self.dtype == ACL_BF16 && LengthOf(self, DimOf(call)) == 1;
}
aclnnStatus RefuseOneBf16(const Check& check, OperatorCall& call) noexcept {
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, kSelf)
      .Add(" has one element along dim ")
      .Add(DimOf(call));
  return FailAclnn(check.code, message.Add(", accepted: 2 or more of that type."));
}
constexpr Check kNotOneBf16 = If(IsBf16OfOne, Custom(RefuseOneBf16));

aclnnStatus OutputRanks(const Check& check, OperatorCall& call) noexcept {
  const int rank = std::max(RankOf(call) - (KeepsDim(call) ? 0 : 1), 0);
  for (const int tensor : {static_cast<int>(kValues), static_cast<int>(kIndices)}) {
    if (call.Tensor(tensor).shape.rank == rank) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor)
        .Add(" has ")
        .Add(call.Tensor(tensor).shape.rank);
    return FailAclnn(check.code, message.Add(" dims, accepted: ").Add(rank).Add("."));
  }
  return ACL_SUCCESS;
}

aclnnStatus ReducedShape(const Check&, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const int dim = DimOf(call);
  call.broadcast = self;
  if (self.rank == 0) return ACL_SUCCESS;
  call.broadcast.dim[dim] = 1;
  if (KeepsDim(call)) return ACL_SUCCESS;
  std::copy(self.dim + dim + 1, self.dim + self.rank, call.broadcast.dim + dim);
  --call.broadcast.rank;
  return ACL_SUCCESS;
}

aclnnStatus HasRows(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& self = call.Tensor(kSelf);
  if (LengthOf(self, DimOf(call)) != 0) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf)
      .Add(" has no elements along dim ")
      .Add(DimOf(call));
  return FailAclnn(check.code, message.Add(", accepted: 1 or more."));
}

aclnnStatus MayHaveNone(const Check&, OperatorCall&) noexcept { return ACL_SUCCESS; }

// If self is empty, the output is filled with MedianOfNone: NaN, or for integers the number that CANN writes.
aclnnStatus NoneIfEmpty(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kSelf).shape.IsEmpty()) call.work = OperatorCall::Work::kNoTerms;
  return ACL_SUCCESS;
}

constexpr Check kMedianChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kValues),
    DtypesIn(kMedianDtypes, {kSelf, kValues}),
    SameDtype(kSelf, kValues),
    RankAtMost(8, {kSelf, kValues}),
    kNotOneBf16,
    SizesRepresentable({kValues}),
    DoneIfEmpty({kValues}),
    Custom(NoneIfEmpty),
    OneElement(kValues, ACLNN_ERR_PARAM_INVALID),
    InsideStorage({kSelf}),
};

constexpr auto MedianDimChecks(bool refuses_no_rows) {
  const Check rows = Custom(refuses_no_rows ? HasRows : MayHaveNone);
  return List(
      NotNull(kSelf), NotNull(kValues), NotNull(kIndices),  // in CANN's order
      DtypesIn(kMedianDtypes, {kSelf, kValues}), SameDtype(kSelf, kValues), DtypesIn(kIndexDtype, {kIndices}),
      DimIn(kDim, kSelf), RankAtMost(8, {kSelf, kValues, kIndices}), Custom(OutputRanks), kNotOneBf16, rows,
      SizesRepresentable({kValues, kIndices}), DoneIfEmpty({kSelf, kValues, kIndices}), Custom(ReducedShape),
      ShapeIsResultOrOne(kValues), ShapeIsResultOrOne(kIndices), InsideStorage({kSelf}));
}
constexpr auto kMedianDimChecks = MedianDimChecks(false);
constexpr auto kNanMedianDimChecks = MedianDimChecks(true);

aclnnStatus NumberFits(const Check& check, OperatorCall& call) noexcept {
  return FitsDim(check, call, kNumber, kDim, 1);
}

constexpr Check kKthvalueChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kValues),
    NotNull(kIndices),
    DimIn(kDim, kSelf),
    Custom(NumberFits),
    DtypesIn(kOrderedDtypes, {kSelf}),
    SameDtype(kSelf, kValues),
    DtypesIn(kIndexDtype, {kIndices}),
    RankAtMost(8, {kSelf}),
    SizesRepresentable({kValues, kIndices}),
    DoneIfEmpty({kSelf}),
    Custom(ReducedShape),
    ShapeIsResultOrOne(kValues),
    ShapeIsResultOrOne(kIndices),
    InsideStorage({kSelf}),
};

// ---- jobs ----

void SetAlongDim(const OperatorCall& call, SortRows::Kind kind, Executor& executor) {
  OpList ops(executor, 1);
  SortRows rows{};
  rows.kind = kind;
  rows.kept = 1;
  if (kind == SortRows::Kind::kOne) rows.nth = call.attributes[kNumber].integer - 1;
  AddOrdered(call, DimOf(call), kValues, kIndices, rows, ops);
  ops.SetJob();
}

// Returns the median of an empty self: NaN, or for integers the number that CANN writes.
ScalarValue MedianOfNone(aclDataType dtype) {
  aclScalar value;
  if (dtype == ACL_INT64 || dtype == ACL_INT32) {
    const int64_t least =
        dtype == ACL_INT64 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int32_t>::min();
    value.dtype = ACL_INT64;
    std::memcpy(value.value, &least, sizeof least);
  } else {
    const float none = std::numeric_limits<float>::quiet_NaN();
    value.dtype = ACL_FLOAT;
    if (kFloatHalfAndBf16.Contains(dtype)) std::memcpy(value.value, &none, sizeof none);
  }
  return ConvertScalar(value, dtype);
}

void SetOfAll(const OperatorCall& call, SortRows::Kind kind, Executor& executor) {
  OpList ops(executor, 2);
  const StridedView values = PlainView(call.Tensor(kValues));
  if (call.work == OperatorCall::Work::kNoTerms) {
    ops.Fill(values, OperandBuffer(kValues), ops.Value(MedianOfNone(values.dtype)));
    return ops.SetJob();
  }
  StridedView self = PlainView(call.Tensor(kSelf));
  const engine::BufferRef buffer = ops.Flatten(self, kSelf);
  StridedView one = values;
  one.shape.rank = one.strides.rank = 1;
  one.shape.dim[0] = 1;
  one.strides.dim[0] = 0;
  SortRows rows{};
  rows.kind = kind;
  rows.kept = 1;
  ops.SortRows(self, buffer, &one, OperandBuffer(kValues), nullptr, {}, 0, rows);
  ops.SetJob();
}

aclnnStatus OfAll(OperatorCall& call, SortRows::Kind kind, uint64_t* workspaceSize,
                  aclOpExecutor** executor) {
  return RunPhase1(call, kMedianChecks, workspaceSize, executor,
                   [kind](const OperatorCall& checked, Executor& fresh) { SetOfAll(checked, kind, fresh); });
}

aclnnStatus AlongDim(OperatorCall& call, std::span<const Check> checks, SortRows::Kind kind,
                     uint64_t* workspaceSize, aclOpExecutor** executor) {
  return RunPhase1(
      call, checks, workspaceSize, executor,
      [kind](const OperatorCall& checked, Executor& fresh) { SetAlongDim(checked, kind, fresh); });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMedian) { return OfAll(call, SortRows::Kind::kMedian, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnNanMedian) { return OfAll(call, SortRows::Kind::kNanMedian, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnMedianDim) {
  return AlongDim(call, kMedianDimChecks, SortRows::Kind::kMedian, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnNanMedianDim) {
  return AlongDim(call, kNanMedianDimChecks, SortRows::Kind::kNanMedian, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnKthvalue) {
  return AlongDim(call, kKthvalueChecks, SortRows::Kind::kOne, workspaceSize, executor);
}
