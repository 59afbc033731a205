// aclnnScatterNd, aclnnScatterNdUpdate, aclnnTfScatterAdd, aclnnScatterMax, aclnnScatterMin, aclnnScatterMul and
// aclnnScatterDiv: write to or combine with the slices of a tensor that indices name. aclnnGatherNd takes them.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/indexing/scatter_nd_functions.h"

#include "aclnnop/indexing/accumulate.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kData, kIndices, kUpdates, kOut };  // in place there is no out; aclnnGatherNd's is updates
enum GatherNdAttributes { kCountsFromEnd };

constexpr DtypeRule kNdDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kBool);
constexpr DtypeSet kUpdateOld = kFloatAndHalf | kBool;
constexpr DtypeSet kUpdateA2 = kUpdateOld | kBf16 | DtypeSet{ACL_INT16, ACL_INT64, ACL_INT8, ACL_INT32};
constexpr DtypeSet kUpdate950 =
    kUpdateOld | kBf16 |
    DtypeSet{ACL_INT64, ACL_INT8, ACL_UINT8, ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};
constexpr DtypeRule kUpdateDtypes = ByGeneration(kUpdateOld, kUpdateA2, kUpdate950);
constexpr DtypeRule kTakenDtypes = kArithmeticDtypes;
constexpr DtypeRule kAddedDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kIntegers);
constexpr DtypeRule kCombinedDtypes =
    WithBf16SinceAtlasA2(kFloatAndHalf | DtypeSet{ACL_INT8, ACL_UINT8, ACL_INT32});
constexpr DtypeSet kIndexDtypes{ACL_INT32, ACL_INT64};

// How indices name slices: the dims of indices that lead those of the updates, and the number of data's dims that
// they name. An index names a slice, or a row of them does.
struct Naming {
  int rows;
  int named;
};

// Naming by rows of indices: one index for each of the first dims.
Naming ByRows(const OperatorCall& call) {
  const Shape& indices = call.Tensor(kIndices).shape;
  return {indices.rank - 1, static_cast<int>(indices[indices.rank - 1])};
}
Naming ByEach(const OperatorCall& call) { return {call.Tensor(kIndices).shape.rank, 1}; }

// Returns the shape of the slices that indices name.
Shape SlicesShape(const OperatorCall& call, const Naming& naming) {
  const Shape& data = call.Tensor(kData).shape;
  Shape shape = call.Tensor(kIndices).shape;
  shape.rank = naming.rows;
  // No tensor has more than kMaxDims, so longer shapes are cut.
  for (int i = naming.named; i < data.rank && shape.rank < kMaxDims; ++i) shape.dim[shape.rank++] = data[i];
  return shape;
}

aclnnStatus IndicesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& data = call.Tensor(kData).shape;
  const Shape& indices = call.Tensor(kIndices).shape;
  const int64_t named = indices.rank == 0 ? 0 : indices[indices.rank - 1];
  if (indices.rank > 0 && named <= data.rank && named <= engine::kMostIndices) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kIndices)
      .Add(" names more dims with its last one than there are in ");
  return FailAclnn(check.code, AddArgumentShape(message, call, kData).Add(", accepted: at most as many."));
}

aclnnStatus UpdatesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted = SlicesShape(call, ByRows(call));
  if (call.Tensor(kUpdates).shape == accepted) return ACL_SUCCESS;
  return RefuseShape(check, call, kUpdates, accepted);
}

aclnnStatus EachUpdateFits(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted = SlicesShape(call, ByEach(call));
  if (call.Tensor(kUpdates).shape == accepted) return ACL_SUCCESS;
  return RefuseShape(check, call, kUpdates, accepted);
}

// Tells whether the updates have a slice for each index. Otherwise they have one for each row of indices.
bool IsByEach(const OperatorCall& call) {
  return call.Tensor(kData).shape.rank > 0 && call.Tensor(kUpdates).shape == SlicesShape(call, ByEach(call));
}
aclnnStatus AddedFit(const Check& check, OperatorCall& call) noexcept {
  if (IsByEach(call)) return ACL_SUCCESS;
  if (const aclnnStatus status = IndicesFit(check, call)) return status;
  return UpdatesFit(check, call);
}

constexpr Check kNdChecks[] = {
    NotNull(kData),  // in CANN's order
    NotNull(kIndices),
    NotNull(kUpdates),
    NotNull(kOut),
    DtypesIn(kNdDtypes, {kData}),
    DtypesIn(kIndexDtypes, {kIndices}),
    SameDtype(kData, kUpdates),
    SameDtype(kData, kOut),
    RankAtLeast(1, {kData, kIndices, kUpdates, kOut}),
    RankAtMost(8, {kData, kIndices, kUpdates, kOut}),
    SameShape(kData, kOut),
    Custom(IndicesFit),
    Custom(UpdatesFit),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kData, kIndices, kUpdates}),
    InsideStorage({kData, kIndices, kUpdates}),
};

constexpr Check kUpdateChecks[] = {
    NotNull(kData),  // in CANN's order
    NotNull(kIndices),
    NotNull(kUpdates),
    DtypesIn(kUpdateDtypes, {kData}),
    DtypesIn(kIndexDtypes, {kIndices}),
    SameDtype(kData, kUpdates),
    SizesRepresentable({kData}),
    DoneIfEmpty({kData, kIndices, kUpdates}),
    RankAtMost(8, {kData, kIndices, kUpdates}),
    Custom(IndicesFit),
    Custom(UpdatesFit),
    InsideStorage({kIndices, kUpdates}),
};

constexpr Check kGatherNdChecks[] = {
    NotNull(kData),
    NotNull(kIndices),
    NotNull(kUpdates),
    DtypesIn(kTakenDtypes, {kData}),
    DtypesIn(kIndexDtypes, {kIndices}),
    SameDtype(kData, kUpdates),
    RankAtMost(8, {kData, kIndices, kUpdates}),
    Custom(IndicesFit),
    Custom(UpdatesFit),
    SizesRepresentable({kUpdates}),
    DoneIfEmpty({kData, kIndices}),
    InsideStorage({kData, kIndices}),
};

constexpr Check kAddChecks[] = {
    NotNull(kData),
    NotNull(kIndices),
    NotNull(kUpdates),
    DtypesIn(kAddedDtypes, {kData}),
    DtypesIn(kIndexDtypes, {kIndices}),
    SameDtype(kData, kUpdates),
    RankAtMost(8, {kData, kIndices, kUpdates}),
    Custom(AddedFit),
    SizesRepresentable({kData}),
    DoneIfEmpty({kData, kIndices, kUpdates}),
    InsideStorage({kIndices, kUpdates}),
};

// CANN generates these functions, which check shapes late.
constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;
constexpr Check kCombineChecks[] = {
    NotNull(kData),
    NotNull(kIndices),
    NotNull(kUpdates),
    DtypesIn(kCombinedDtypes, {kData}),
    DtypesIn(kIndexDtypes, {kIndices}),
    SameDtype(kData, kUpdates),
    WithCode(kTiling, RankAtLeast(1, {kData})),
    WithCode(kTiling, RankAtMost(8, {kData, kIndices, kUpdates})),
    Custom(EachUpdateFits, kTiling),
    SizesRepresentable({kData}),
    DoneIfEmpty({kData, kIndices, kUpdates}),
    InsideStorage({kIndices, kUpdates}),
};

// Views the named slices of `whole`, in the dims of `slices`.
TargetViews SlicesOf(const OperatorCall& call, const StridedView& whole, const Shape& slices,
                     const Naming& naming, bool wraps = false) {
  const StridedView indices = PlainView(call.Tensor(kIndices));
  const auto [rows, named] = naming;
  TargetViews views;
  views.count = named;
  views.are_columns = rows < indices.shape.rank;
  views.indexed = whole;
  views.indexed.shape = views.indexed.strides = slices;
  for (int i = 0; i < slices.rank; ++i)
    views.indexed.strides.dim[i] = i < rows ? 0 : whole.strides[named + i - rows];
  for (int k = 0; k < named; ++k) {
    StridedView& view = views.index[k];
    view = indices;
    if (views.are_columns) view.offset += k * indices.strides[rows];
    view.shape = view.strides = slices;
    for (int i = 0; i < slices.rank; ++i) view.strides.dim[i] = i < rows ? indices.strides[i] : 0;
    views.named[k] = {.view = nullptr,
                      .operand = kIndices,
                      .name = call.Name(kIndices),
                      .wraps = wraps,
                      .bound = whole.shape[k],
                      .step = whole.strides[k],
                      .repeated = ~engine::DimBits(0, rows)};
  }
  return views;
}

// Moves elements between the slices and a tensor of their shape.
void MoveSlices(const OperatorCall& call, OpList& ops, engine::IndexedAction action, int plain_tensor,
                int sliced_tensor, bool wraps) {
  const StridedView plain = PlainView(call.Tensor(plain_tensor));
  TargetViews views = SlicesOf(call, PlainView(call.Tensor(sliced_tensor)), plain.shape, ByRows(call), wraps);
  for (int k = 0; k < views.count; ++k) views.named[k].view = &views.index[k];
  engine::IndexedMove* const move = ops.Indexed(action, plain, OperandBuffer(plain_tensor), views.indexed,
                                                OperandBuffer(sliced_tensor), views.named, views.count);
  if (move != nullptr) move->are_columns = true;
}

void SetScatterNd(const OperatorCall& call, Executor& executor) {
  const int output = call.Output();
  OpList ops(executor, 2);
  if (!call.in_place) {
    ops.Copy(PlainView(call.Tensor(kData)), OperandBuffer(kData), PlainView(call.Tensor(output)),
             OperandBuffer(output));
  }
  MoveSlices(call, ops, engine::IndexedAction::kPut, kUpdates, output, /*wraps=*/false);
  ops.SetJob();
}

void SetGatherNd(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 1);
  MoveSlices(call, ops, engine::IndexedAction::kTake, kUpdates, kData,
             call.attributes[kCountsFromEnd].integer != 0);
  ops.SetJob();
}

void Combine(const OperatorCall& call, Executor& executor, engine::IndexedAction action,
             const Naming& naming) {
  OpList ops(executor, 3);
  const StridedView updates = PlainView(call.Tensor(kUpdates));
  ScatterInto(ops, action, updates, OperandBuffer(kUpdates), nullptr, {}, PlainView(call.Tensor(kData)),
              OperandBuffer(kData),
              [&](const StridedView& whole) { return SlicesOf(call, whole, updates.shape, naming); });
  ops.SetJob();
}
void SetAdd(const OperatorCall& call, Executor& executor) {
  Combine(call, executor, engine::IndexedAction::kAdd, IsByEach(call) ? ByEach(call) : ByRows(call));
}
template <engine::IndexedAction kAction>
void SetCombine(const OperatorCall& call, Executor& executor) {
  Combine(call, executor, kAction, ByEach(call));
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnScatterNd) { return RunPhase1(call, kNdChecks, workspaceSize, executor, SetScatterNd); }

PORTACL_PHASE_1(aclnnScatterNdUpdate) {
  return RunPhase1(call, kUpdateChecks, workspaceSize, executor, SetScatterNd);
}

PORTACL_PHASE_1(aclnnGatherNd) {
  return RunPhase1(call, kGatherNdChecks, workspaceSize, executor, SetGatherNd);
}

PORTACL_PHASE_1(aclnnTfScatterAdd) { return RunPhase1(call, kAddChecks, workspaceSize, executor, SetAdd); }

PORTACL_PHASE_1(aclnnScatterMax) {
  return RunPhase1(call, kCombineChecks, workspaceSize, executor,
                   SetCombine<engine::IndexedAction::kMaximum>);
}

PORTACL_PHASE_1(aclnnScatterMin) {
  return RunPhase1(call, kCombineChecks, workspaceSize, executor,
                   SetCombine<engine::IndexedAction::kMinimum>);
}

PORTACL_PHASE_1(aclnnScatterMul) {
  return RunPhase1(call, kCombineChecks, workspaceSize, executor,
                   SetCombine<engine::IndexedAction::kMultiply>);
}

PORTACL_PHASE_1(aclnnScatterDiv) {
  return RunPhase1(call, kCombineChecks, workspaceSize, executor, SetCombine<engine::IndexedAction::kDivide>);
}
