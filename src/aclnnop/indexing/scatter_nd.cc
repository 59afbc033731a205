// aclnnScatterNd and aclnnScatterNdUpdate: write the slices of a tensor that rows of indices name.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/indexing/scatter_nd_functions.h"

#include "aclnnop/jobs/op_list.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kData, kIndices, kUpdates, kOut };  // in place there is no out

constexpr DtypeRule kNdDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kBool);
constexpr DtypeSet kUpdateOld = kFloatAndHalf | kBool;
constexpr DtypeSet kUpdateA2 = kUpdateOld | kBf16 | DtypeSet{ACL_INT16, ACL_INT64, ACL_INT8, ACL_INT32};
constexpr DtypeSet kUpdate950 =
    kUpdateOld | kBf16 |
    DtypeSet{ACL_INT64, ACL_INT8, ACL_UINT8, ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};
constexpr DtypeRule kUpdateDtypes = ByGeneration(kUpdateOld, kUpdateA2, kUpdate950);
constexpr DtypeSet kIndexDtypes{ACL_INT32, ACL_INT64};

// Returns the number of data's dims that a row of indices names.
int NamedDims(const OperatorCall& call) {
  const Shape& indices = call.Tensor(kIndices).shape;
  return static_cast<int>(indices[indices.rank - 1]);
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
  const Shape& data = call.Tensor(kData).shape;
  const Shape& indices = call.Tensor(kIndices).shape;
  const int named = NamedDims(call);
  Shape accepted = indices;
  --accepted.rank;
  // No tensor has more than kMaxDims, so longer shapes are cut.
  for (int i = named; i < data.rank && accepted.rank < kMaxDims; ++i) accepted.dim[accepted.rank++] = data[i];
  if (call.Tensor(kUpdates).shape == accepted) return ACL_SUCCESS;
  return RefuseShape(check, call, kUpdates, accepted);
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

void SetScatterNd(const OperatorCall& call, Executor& executor) {
  const int output = call.Output();
  const StridedView out = PlainView(call.Tensor(output));
  const StridedView indices = PlainView(call.Tensor(kIndices));
  const StridedView updates = PlainView(call.Tensor(kUpdates));
  const int named = NamedDims(call);
  const int rows = indices.shape.rank - 1;
  OpList ops(executor, 2);
  if (!call.in_place)
    ops.Copy(PlainView(call.Tensor(kData)), OperandBuffer(kData), out, OperandBuffer(output));
  StridedView indexed = out;
  indexed.shape = indexed.strides = updates.shape;
  for (int i = 0; i < updates.shape.rank; ++i)
    indexed.strides.dim[i] = i < rows ? 0 : out.strides[named + i - rows];
  StridedView views[engine::kMostIndices];
  engine::IndexView of_dim[engine::kMostIndices];
  for (int k = 0; k < named; ++k) {
    StridedView& view = views[k];
    view = indices;
    view.offset += k * indices.strides[rows];
    view.shape = view.strides = updates.shape;
    for (int i = 0; i < updates.shape.rank; ++i) view.strides.dim[i] = i < rows ? indices.strides[i] : 0;
    of_dim[k] = {.view = &view,
                 .operand = kIndices,
                 .name = call.Name(kIndices),
                 .bound = out.shape[k],
                 .step = out.strides[k],
                 .repeated = ~engine::DimBits(0, rows)};
  }
  engine::IndexedMove* const move = ops.Indexed(engine::IndexedAction::kPut, updates, OperandBuffer(kUpdates),
                                                indexed, OperandBuffer(output), of_dim, named);
  if (move != nullptr) move->are_columns = true;
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnScatterNd) { return RunPhase1(call, kNdChecks, workspaceSize, executor, SetScatterNd); }

PORTACL_PHASE_1(aclnnScatterNdUpdate) {
  return RunPhase1(call, kUpdateChecks, workspaceSize, executor, SetScatterNd);
}
