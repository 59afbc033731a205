// aclnnInplaceScatterUpdate and aclnnScatterList: write a part of every row of a batch, from the position on that an index
// tensor names, as caches of keys and values are filled.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/indexing/scatter_update_functions.h"

#include <algorithm>
#include <string_view>

#include "aclnnop/jobs/dense_op_list.h"
#include "base/data_type.h"
#include "engine/move/row_spans.h"

namespace portacl {
namespace {

using namespace dense;

constexpr DtypeSet kFloat8{ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};

// ---- InplaceScatterUpdate ----

namespace update {

enum Tensors { kData, kIndices, kUpdates };
enum Attributes { kAxis };

constexpr DtypeSet kOld = kFloatAndHalf | DtypeSet{ACL_INT8, ACL_INT32};
constexpr DtypeRule kDtypes = ByGeneration(kOld, kOld | kBf16, kOld | kBf16 | kFloat8 | DtypeSet{ACL_UINT8});

int AxisOf(const OperatorCall& call) {
  return WrappedDim(Integer(call, kAxis), call.Tensor(kData).shape.rank);
}

aclnnStatus HaveElements(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kData, kIndices, kUpdates})
    checks.Holds(!call.Tensor(tensor).shape.IsEmpty(), tensor, "at least one element");
  return checks.status();
}
aclnnStatus RanksFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& updates = call.Tensor(kUpdates).shape;
  const int rank = call.Tensor(kData).shape.rank;
  checks.Rank(kUpdates, rank, rank).Rank(kIndices, 0, 2);
  const bool is_one = call.Tensor(kIndices).shape.rank == 0;
  checks.Holds(!is_one || DimOr(updates, 0, 1) == 1, kUpdates, "a first dim of 1 with indices without dims");
  return checks.status();
}
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& data = call.Tensor(kData).shape;
  const Shape& updates = call.Tensor(kUpdates).shape;
  const Shape& indices = call.Tensor(kIndices).shape;
  checks.Rank(kData, 2, 8);
  if (!checks.Passed()) return checks.status();
  checks.HoldsOf(IsDim(Integer(call, kAxis), data.rank) && AxisOf(call) != 0, kAxis,
                 "a dim of data but the first one");
  if (!checks.Passed()) return checks.status();
  Shape accepted = data;
  accepted.dim[0] = updates[0];
  accepted.dim[AxisOf(call)] = updates[AxisOf(call)];
  checks.Is(kUpdates, accepted);
  checks.Holds(updates[AxisOf(call)] <= data[AxisOf(call)], kUpdates,
               "no more positions along axis than data has");
  if (indices.rank == 1) checks.Is(kIndices, Shape{updates[0]});
  if (indices.rank == 2) checks.Is(kIndices, Shape{updates[0], 2});
  return checks
      .Holds(indices.rank == 2 || updates[0] <= data[0], kUpdates, "a first dim no longer than data's")
      .status();
}

constexpr auto kChecks =
    List(NotNull(kData), NotNull(kIndices), NotNull(kUpdates), DtypesIn(kDtypes, {kData}),
         SameDtype(kData, kUpdates), DtypesIn(kInt32Or64, {kIndices}), Custom(HaveElements), Custom(RanksFit),
         Custom(ShapesFit, kTiling), SizesRepresentable({kData}), InsideStorage({kData, kIndices, kUpdates}));

void SetUpdate(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 1);
  const StridedView data = PlainView(call.Tensor(kData));
  const StridedView updates = PlainView(call.Tensor(kUpdates));
  const StridedView indices = PlainView(call.Tensor(kIndices));
  const int axis = AxisOf(call);
  const bool names_batch = indices.shape.rank == 2;
  StridedView target = data;
  target.shape = updates.shape;
  if (names_batch) target.strides.dim[0] = 0;
  // Every index repeats along all dims but the first one.
  const auto column = [&](int64_t number) {
    StridedView view = indices;
    if (names_batch) view.offset += number * indices.strides[1];
    view.shape = updates.shape;
    view.strides = updates.shape;
    std::fill_n(view.strides.dim, view.strides.rank, 0);
    if (indices.shape.rank > 0) view.strides.dim[0] = indices.strides[0];
    return view;
  };
  const StridedView columns[] = {column(0), column(1)};
  engine::IndexView named[2];
  const int count = names_batch ? 2 : 1;
  for (int i = 0; i < count; ++i) {
    const bool is_batch = names_batch && i == 0;
    const int dim = is_batch ? 0 : axis;
    named[i] = {&columns[i], kIndices, call.Name(kIndices)};
    named[i].bound = data.shape[dim] - (is_batch ? 0 : updates.shape[axis] - 1);
    named[i].step = data.strides[dim];
    named[i].repeated = engine::DimBits(1, updates.shape.rank - 1);
  }
  engine::IndexedMove* const move = ops.Indexed(engine::IndexedAction::kPut, updates, OperandBuffer(kUpdates),
                                                target, OperandBuffer(kData), named, count);
  if (move != nullptr) move->are_columns = names_batch;
  ops.SetJob();
}

}  // namespace update

// ---- ScatterList ----

namespace list {

enum Tensors { kVars, kIndice, kUpdates, kMask };
enum Attributes { kReduce, kAxis };

constexpr DtypeSet kMoved = kFloatAndHalf | kIntegersAndBool | kDouble | kUnsignedSince16Bits;
constexpr DtypeRule kDtypes = ByGeneration(kMoved, kMoved | kBf16, kMoved | kBf16 | kFloat8);
constexpr DtypeSet kMasks{ACL_UINT8};

int AxisOf(const OperatorCall& call) {
  return WrappedDim(Integer(call, kAxis), call.Tensor(kUpdates).shape.rank);
}

aclnnStatus DtypesAgree(const Check& check, OperatorCall& call) noexcept {
  const aclDataType accepted = call.Tensor(kUpdates).dtype;
  for (int entry = 0; entry < call.Count(kVars); ++entry) {
    if (call.Entry(kVars, entry)->dtype == accepted) continue;
    Text message = StartMessage(call);
    AddArgumentDtype(message.Add("parameter "), call, kVars, entry).Add(" differs from updates', accepted: ");
    AddDtypeName(message, accepted);
    return FailAclnn(check.code, message.Add("."));
  }
  return ACL_SUCCESS;
}
aclnnStatus ReduceIsKnown(const Check& check, OperatorCall& call) noexcept {
  const char* const text = call.attributes[kReduce].text;
  ShapeChecks checks(check, call);
  return checks
      .HoldsOf(text == nullptr || std::string_view(text) == "update", kReduce, "update or a null pointer")
      .status();
}
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& updates = call.Tensor(kUpdates).shape;
  const Shape& indice = call.Tensor(kIndice).shape;
  const int count = call.Count(kVars);
  if (count == 0)
    return FailAclnn(check.code,
                     StartMessage(call).Add("parameter varRef has no tensors, accepted: at least one."));
  checks.Rank(kUpdates, 2, 8).Rank(kIndice, 1, 2);
  if (!checks.Passed()) return checks.status();
  checks.HoldsOf(IsDim(Integer(call, kAxis), updates.rank) && AxisOf(call) != 0, kAxis,
                 "a dim of updates but the first one");
  if (!checks.Passed()) return checks.status();
  const int axis = AxisOf(call);
  const Shape& var = call.Entry(kVars, 0)->shape;
  Shape accepted = updates;
  accepted.dim[0] = count;
  for (int dim = 1; dim < updates.rank; ++dim)
    accepted.dim[dim] = dim == axis || var.rank != updates.rank - 1 ? updates[dim] : var[dim - 1];
  checks.Is(kUpdates, accepted);
  checks.Is(kIndice, indice.rank == 2 ? Shape{count, 2} : Shape{count});
  if (call.IsGiven(kMask)) checks.Is(kMask, Shape{count});
  if (!checks.Passed()) return checks.status();
  // Every entry has the shape of a row of updates, and along axis at least its length.
  Shape row;
  row.rank = updates.rank - 1;
  for (int dim = 1; dim < updates.rank; ++dim) row.dim[dim - 1] = updates[dim];
  if (var.rank == row.rank && var[axis - 1] > row[axis - 1]) row.dim[axis - 1] = var[axis - 1];
  for (int entry = 0; entry < count; ++entry) {
    if (call.Entry(kVars, entry)->shape == row) continue;
    return RefuseShape(check, call, kVars, row, entry);
  }
  return ACL_SUCCESS;
}

constexpr auto kChecks = List(
    NotNull(kVars), EntriesNotNull(kVars), NotNull(kIndice), NotNull(kUpdates), DtypesIn(kDtypes, {kVars}),
    DtypesIn(kDtypes, {kUpdates}), Custom(DtypesAgree), DtypesIn(kInt32Or64, {kIndice}),
    IfGiven<kMask>(DtypesIn(kMasks, {kMask})), Custom(ReduceIsKnown, kTiling), Custom(ShapesFit, kTiling),
    SizesRepresentable({kVars}), DoneIfEmpty({kUpdates}), InsideStorage({kVars, kIndice, kUpdates, kMask}));

void SetList(const OperatorCall& call, Executor& executor) {
  const int count = call.Count(kVars);
  OpList ops(executor, count + 3);
  const StridedView updates = PlainView(call.Tensor(kUpdates));
  const int axis = AxisOf(call);
  const auto words = [&](int tensor) {
    const StridedView view = PlainView(call.Tensor(tensor));
    const StridedView to = DenseTensor(view.shape, ACL_INT64);
    const engine::BufferRef buffer = ops.Workspace(call.Tensor(tensor).numel * int64_t{sizeof(int64_t)});
    ops.Copy(view, OperandBuffer(call.OperandOf(tensor)), to, buffer);
    return buffer;
  };
  engine::RowSpans spans{};
  spans.name = call.Name(kIndice);
  spans.has_lengths = call.Tensor(kIndice).shape.rank == 2;
  spans.is_masked = call.IsGiven(kMask);
  spans.raises = CurrentConfiguration().index_errors_raise;
  spans.rows = count;
  spans.steps = updates.shape[axis];
  spans.bound = call.Entry(kVars, 0)->shape[axis - 1];
  spans.spans = words(kIndice);
  if (spans.is_masked) spans.mask = words(kMask);
  spans.positions = ops.Workspace(spans.rows * spans.steps * int64_t{sizeof(int64_t)});
  ops.Compute(spans, {}, spans.rows * spans.steps);
  for (int entry = 0; entry < count; ++entry) {
    const StridedView var = PlainView(*call.Entry(kVars, entry));
    StridedView row = updates;
    Select(row, 0, entry);
    StridedView target = var;
    target.shape = row.shape;
    target.strides.dim[axis - 1] = 0;
    StridedView position = DenseTensor(Shape{1}, ACL_INT64);
    position.shape = row.shape;
    position.strides = row.shape;
    std::fill_n(position.strides.dim, row.shape.rank, 0);
    position.strides.dim[axis - 1] = 1;
    position.offset = spans.positions.offset / int64_t{sizeof(int64_t)} + entry * spans.steps;
    engine::IndexView named = {&position, engine::BufferRef::kWorkspace, call.Name(kIndice)};
    named.bound = spans.bound;
    named.step = var.strides[axis - 1];
    engine::IndexedMove* const move =
        ops.Indexed(engine::IndexedAction::kPut, row, OperandBuffer(call.OperandOf(kUpdates)), target,
                    OperandBuffer(call.OperandOf(kVars, entry)), &named, 1);
    if (move != nullptr) move->ignored = engine::RowSpans::kNoPosition;
  }
  ops.SetJob();
}

}  // namespace list

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnInplaceScatterUpdate) {
  return RunPhase1(call, update::kChecks, workspaceSize, executor, update::SetUpdate);
}
PORTACL_PHASE_1(aclnnScatterList) {
  return RunPhase1(call, list::kChecks, workspaceSize, executor, list::SetList);
}
