// aclnnIndexSelect, aclnnGather, aclnnGatherV2, aclnnGatherV3, aclnnTake and aclnnEmbedding: copy the elements of a
// tensor that an index tensor names.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/indexing/gather_functions.h"

#include <algorithm>

#include "aclnnop/jobs/op_list.h"
#include "base/errors.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kIndex, kOut };
enum Attributes { kDim };

constexpr DtypeSet kNumbers = kArithmetic | kUnsignedSince16Bits;
constexpr DtypeSet kFloat8{ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E8M0};
constexpr DtypeSet kIndexDtypes{ACL_INT32, ACL_INT64};
constexpr DtypeRule kNumberDtypes = WithBf16SinceAtlasA2(kNumbers);
constexpr DtypeSet kGatherSet = kRealArithmetic | kUnsignedSince16Bits;
constexpr DtypeRule kGatherDtypes =
    ByGeneration(kGatherSet, kGatherSet | kBf16, kGatherSet | kBf16 | kFloat8);
constexpr DtypeRule kGatherV2Dtypes =
    ByGeneration(kArithmetic, kArithmetic | kBf16, kArithmetic | kBf16 | DtypeSet{ACL_UINT16});
constexpr DtypeRule kEmbeddingDtypes = WithBf16SinceAtlasA2(kArithmetic);

int DimOf(const OperatorCall& call) {
  return call.attributes.empty() ? 0
                                 : WrappedDim(call.attributes[kDim].integer, call.Tensor(kSelf).shape.rank);
}
int64_t LengthAt(const StridedView& tensor, int dim) {
  return dim < tensor.shape.rank ? tensor.shape[dim] : 1;
}
int64_t StrideAt(const StridedView& tensor, int dim) {
  return dim < tensor.shape.rank ? tensor.strides[dim] : 0;
}

// Views for a loop over the output's elements.
struct Views {
  StridedView self;
  StridedView index;
  engine::IndexView named;
};

// Views self with the index tensor's dims in place of `dim`, and the index with self's other dims around its
// own. The first `shared` dims are of both.
Views Around(const OperatorCall& call, bool wraps, int shared = 0) {
  Views views;
  const StridedView self = PlainView(call.Tensor(kSelf));
  const StridedView index = PlainView(call.Tensor(kIndex));
  const int dim = DimOf(call);
  views.self = self;
  views.index = index;
  uint32_t around = 0;
  if (self.shape.rank == 0) {
    views.index.shape.rank = views.index.strides.rank = 0;
  } else {
    Select(views.self, dim, 0);
    if (index.shape.rank == 0 && !call.attributes.empty()) {  // not in Embedding
      InsertDim(views.self, dim, 1, 0);
      InsertDim(views.index, 0, 1, 0);
    } else {
      for (int i = shared; i < index.shape.rank; ++i)
        InsertDim(views.self, dim + i - shared, index.shape[i], 0);
    }
    for (int i = shared; i < dim; ++i) InsertDim(views.index, i, self.shape[i], 0);
    for (int i = dim + 1; i < self.shape.rank; ++i)
      InsertDim(views.index, views.index.shape.rank, self.shape[i], 0);
    around = ~(engine::DimBits(dim, index.shape.rank - shared) | engine::DimBits(0, shared));
  }
  views.named = {&views.index,        kIndex, call.Name(kIndex), -1, wraps, LengthAt(self, dim),
                 StrideAt(self, dim), around};
  return views;
}

void SetTake(const Views& views, engine::BufferRef self, const OperatorCall& call, OpList& ops) {
  engine::IndexView named = views.named;
  named.view = &views.index;
  ops.Indexed(engine::IndexedAction::kTake, PlainView(call.Tensor(kOut)), OperandBuffer(kOut), views.self,
              self, &named, 1);
}

template <bool kWraps>
void SetAround(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 1);
  SetTake(Around(call, kWraps), OperandBuffer(kSelf), call, ops);
  ops.SetJob();
}

// 561103 when the views' dims do not merge to a loop.
aclnnStatus LoopOf(const Check& check, const OperatorCall& call, const Views& views) noexcept {
  engine::IndexView named = views.named;
  named.view = &views.index;
  engine::IndexedMove move;
  if (engine::PlanIndexed(PlainView(call.Tensor(kOut)), views.self, &named, 1, move)) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kOut)
      .Add(" has more than 8 dims that cannot be taken together");
  return FailAclnn(check.code, message.Add(", accepted: at most 8, or dense tensors."));
}
aclnnStatus LoopFits(const Check& check, OperatorCall& call) noexcept {
  return LoopOf(check, call, Around(call, false));
}

// Computes the shape that Around gives.
aclnnStatus AroundShape(const Check&, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const Shape& index = call.Tensor(kIndex).shape;
  if (self.rank == 0) {
    call.broadcast.rank = 0;
    return ACL_SUCCESS;
  }
  const int dim = DimOf(call);
  int rank = 0;
  for (int i = 0; i < dim; ++i) call.broadcast.dim[rank++] = self[i];
  if (index.rank == 0) call.broadcast.dim[rank++] = 1;
  for (int i = 0; i < index.rank; ++i) call.broadcast.dim[rank++] = index[i];
  for (int i = dim + 1; i < self.rank; ++i) call.broadcast.dim[rank++] = self[i];
  call.broadcast.rank = rank;
  return ACL_SUCCESS;
}

// ---- IndexSelect ----

aclnnStatus ScalarSelectsScalar(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kSelf).shape.rank > 0 || call.Tensor(kOut).shape.rank == 0) return ACL_SUCCESS;
  return RefuseShape(check, call, kOut, Shape{});
}
bool HasElements(const OperatorCall& call) noexcept {
  return !call.Tensor(kSelf).shape.IsEmpty() && !call.Tensor(kIndex).shape.IsEmpty();
}
aclnnStatus ScalarTakesOneIndex(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kSelf).shape.rank > 0 || call.Tensor(kIndex).numel == 1) return ACL_SUCCESS;
  return RefuseShape(check, call, kIndex, Shape{1});
}

constexpr Check kIndexSelectChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kIndex),
    NotNull(kOut),
    DtypesIn(kNumberDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    DtypesIn(kIndexDtypes, {kIndex}),
    NotPrivate({kSelf, kIndex, kOut}),
    Custom(ScalarSelectsScalar),
    RankAtMost(8, {kSelf}),
    DimIn(kDim, kSelf),
    RankAtMost(1, {kIndex}),
    SizesRepresentable({kOut}),
    Custom(
        ScalarTakesOneIndex),  // before success for empty tensors: nothing would write the one element of out
    DoneIfEmpty({kSelf, kIndex}),
    Custom(AroundShape),
    If(HasElements, ShapeIsResult(kOut)),
    InsideStorage({kSelf, kIndex}),
};

constexpr Check kGatherV2Checks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kIndex),
    NotNull(kOut),
    SameDtype(kSelf, kOut),
    DtypesIn(kGatherV2Dtypes, {kSelf}),
    DtypesIn(kIndexDtypes, {kIndex}),
    RankAtMost(8, {kSelf, kIndex}),
    DimIn(kDim, kSelf),
    SizesRepresentable({kOut}),
    Custom(AroundShape),
    ShapeIsResult(kOut),
    DoneIfEmpty({kSelf, kIndex}),
    InsideStorage({kSelf, kIndex}),
    Custom(LoopFits, ACLNN_ERR_INNER_NULLPTR),
};

// ---- GatherV3 ----

enum AttributesOfV3 { kDimOfV3, kShared, kHint };

int SharedDims(const OperatorCall& call) { return static_cast<int>(call.attributes[kShared].integer); }
bool IsOnAscend950(const OperatorCall& call) noexcept { return call.product == Product::kAscend950; }
bool IsBefore950(const OperatorCall& call) noexcept { return !IsOnAscend950(call); }

aclnnStatus DimIsFirst(const Check& check, OperatorCall& call) noexcept {
  if (DimOf(call) == 0) return ACL_SUCCESS;
  return RefuseInteger(check, call, "dim", call.attributes[kDimOfV3].integer, 0, 0);
}
// Both tensors begin with the shared dims, and self has them before dim.
aclnnStatus SharedDimsFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const Shape& index = call.Tensor(kIndex).shape;
  const int64_t shared = call.attributes[kShared].integer;
  const int64_t most = self.rank == 0 ? 0 : std::min(DimOf(call), index.rank);
  if (shared < 0 || shared > most) return RefuseInteger(check, call, "batchDims", shared, 0, most);
  for (int i = 0; i < shared; ++i) {
    if (self[i] == index[i]) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kIndex).Add(" differs from ");
    AddArgumentShape(message, call, kSelf).Add(" in the first ").Add(shared);
    return FailAclnn(check.code, message.Add(" dims, accepted: the same."));
  }
  return ACL_SUCCESS;
}
aclnnStatus ShapeWithShared(const Check& check, OperatorCall& call) noexcept {
  const Shape& index = call.Tensor(kIndex).shape;
  const int shared = SharedDims(call);
  if (shared == 0) return AroundShape(check, call);
  const Shape& self = call.Tensor(kSelf).shape;
  const int dim = DimOf(call);
  int rank = 0;
  for (int i = 0; i < dim; ++i) call.broadcast.dim[rank++] = self[i];
  for (int i = shared; i < index.rank; ++i) call.broadcast.dim[rank++] = index[i];
  for (int i = dim + 1; i < self.rank; ++i) call.broadcast.dim[rank++] = self[i];
  call.broadcast.rank = rank;
  return ACL_SUCCESS;
}
aclnnStatus LoopWithSharedFits(const Check& check, OperatorCall& call) noexcept {
  return LoopOf(check, call, Around(call, false, SharedDims(call)));
}

constexpr Check kGatherV3Checks[] = {
    NotNull(kSelf),
    NotNull(kIndex),
    NotNull(kOut),
    SameDtype(kSelf, kOut),
    DtypesIn(kGatherV2Dtypes, {kSelf}),
    DtypesIn(kIndexDtypes, {kIndex}),
    RankAtMost(8, {kSelf, kIndex}),
    DimIn(kDimOfV3, kSelf),
    If(IsBefore950, Custom(DimIsFirst)),
    If(IsBefore950, IntegerIn(kShared, 0, 0)),
    If(IsBefore950, IntegerIn(kHint, 1, 1)),
    Custom(SharedDimsFit),
    SizesRepresentable({kOut}),
    Custom(ShapeWithShared),
    ShapeIsResult(kOut),
    DoneIfEmpty({kSelf, kIndex}),
    InsideStorage({kSelf, kIndex}),
    Custom(LoopWithSharedFits, ACLNN_ERR_INNER_NULLPTR),
};

void SetAroundShared(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 1);
  SetTake(Around(call, /*wraps=*/true, SharedDims(call)), OperandBuffer(kSelf), call, ops);
  ops.SetJob();
}

aclnnStatus LeadingDims(const Check& check, OperatorCall& call) noexcept {
  const Shape& out = call.Tensor(kOut).shape;
  Shape expected = call.Tensor(kIndex).shape;
  const int rank = expected.rank;
  expected.dim[rank] = out.rank == rank + 1 ? out[rank] : LengthAt(call.Tensor(kSelf), 1);
  expected.rank = rank + 1;
  return out == expected ? ACL_SUCCESS : RefuseShape(check, call, kOut, expected);
}

aclnnStatus RowsFitOut(const Check& check, OperatorCall& call) noexcept {
  const Shape& weight = call.Tensor(kSelf).shape;
  const Shape& out = call.Tensor(kOut).shape;
  if (weight.rank == 2 && weight[1] == out[out.rank - 1]) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf).Add(" does not give the rows of ");
  AddArgumentShape(message, call, kOut);
  return FailAclnn(check.code, message.Add(", accepted: two dims, the second one as long as out's last."));
}

constexpr Check kEmbeddingChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kIndex),
    NotNull(kOut),
    DtypesIn(kEmbeddingDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    DtypesIn(kIndexDtypes, {kIndex}),
    RankAtMost(8, {kSelf, kIndex, kOut}),
    Custom(LeadingDims),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf, kIndex}),
    Custom(RowsFitOut, ACLNN_ERR_INNER_NULLPTR),
    InsideStorage({kSelf, kIndex}),
    Custom(LoopFits, ACLNN_ERR_INNER_NULLPTR),
};

// ---- Gather ----

int RankOrOne(const Shape& shape) { return std::max(shape.rank, 1); }

aclnnStatus SameRanks(const Check& check, OperatorCall& call) noexcept {
  if (RankOrOne(call.Tensor(kSelf).shape) == RankOrOne(call.Tensor(kIndex).shape)) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kIndex).Add(" has another rank than ");
  AddArgumentShape(message, call, kSelf);
  return FailAclnn(check.code, message.Add(", accepted: the same number of dims."));
}

aclnnStatus IndexFitsSelf(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& self = call.Tensor(kSelf);
  const aclTensor& index = call.Tensor(kIndex);
  const int dim = DimOf(call);
  bool fits = index.shape.IsEmpty() || LengthAt(self, dim) != 0;
  for (int i = 0; i < RankOrOne(self.shape); ++i)
    fits = fits && (i == dim || LengthAt(index, i) <= LengthAt(self, i));
  if (fits) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kIndex).Add(" does not fit into ");
  AddArgumentShape(message, call, kSelf).Add(", accepted: dims no longer than self's, but for dim ").Add(dim);
  return FailAclnn(check.code, message.Add(", where self has elements."));
}

bool IndexHasElements(const OperatorCall& call) noexcept { return !call.Tensor(kIndex).shape.IsEmpty(); }

constexpr Check kGatherChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kIndex),
    NotNull(kOut),
    DtypesIn(kGatherDtypes, {kSelf}),
    If(IndexHasElements, DtypesIn(kIndexDtypes, {kIndex})),
    SameDtype(kSelf, kOut),
    Custom(SameRanks),
    RankAtMost(8, {kSelf, kIndex}),
    SameShape(kIndex, kOut),
    DimIn(kDim, kSelf),
    SizesRepresentable({kOut}),
    Custom(IndexFitsSelf),
    DoneIfEmpty({kIndex, kSelf}),
    InsideStorage({kSelf, kIndex}),
};

void SetGather(const OperatorCall& call, Executor& executor) {
  const StridedView self = PlainView(call.Tensor(kSelf));
  const int dim = DimOf(call);
  Views views;
  views.index = PlainView(call.Tensor(kIndex));
  views.self = self;
  views.self.shape = views.index.shape;
  views.self.strides.rank = views.index.shape.rank;
  for (int i = 0; i < views.index.shape.rank; ++i)
    views.self.strides.dim[i] = i == dim ? 0 : StrideAt(self, i);
  views.named = {&views.index, kIndex, call.Name(kIndex), -1, true, LengthAt(self, dim), StrideAt(self, dim)};
  OpList ops(executor, 1);
  SetTake(views, OperandBuffer(kSelf), call, ops);
  ops.SetJob();
}

// ---- Take ----

aclnnStatus SelfHasWhatIsTaken(const Check& check, OperatorCall& call) noexcept {
  if (!call.Tensor(kSelf).shape.IsEmpty() || call.Tensor(kIndex).shape.IsEmpty()) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf);
  return FailAclnn(check.code,
                   message.Add(" is empty, accepted: a tensor with elements, or an empty index."));
}

constexpr Check kTakeChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kIndex),
    NotNull(kOut),
    DtypesIn(kNumberDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    DtypesIn(kIndexDtypes, {kIndex}),
    RankAtMost(8, {kIndex}),
    SameShape(kIndex, kOut),
    Custom(SelfHasWhatIsTaken),
    NotPrivate({kSelf, kIndex, kOut}),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kIndex}),
    InsideStorage({kSelf, kIndex}),
};

void SetTakeFlat(const OperatorCall& call, Executor& executor) {
  const StridedView self = MergedDims(call.Tensor(kSelf));
  Views views;
  views.index = PlainView(call.Tensor(kIndex));
  views.self.dtype = self.dtype;
  views.self.shape = views.index.shape;
  views.self.strides = views.index.strides;
  std::fill(views.self.strides.dim, views.self.strides.dim + views.index.shape.rank, 0);
  views.named = {&views.index, kIndex, call.Name(kIndex), -1, true, call.Tensor(kSelf).numel, 1};
  OpList ops(executor, 2);
  engine::BufferRef buffer = OperandBuffer(kSelf);
  if (self.shape.rank <= 1) {
    views.self.offset = self.offset;
    views.named.step = self.shape.rank == 1 ? self.strides[0] : 1;
  } else {
    // With several dims, an element's number does not determine its address by one stride, so a dense copy is
    // indexed.
    const StridedView dense = DenseTensor(self.shape, self.dtype);
    buffer = ops.Workspace(dense.numel * static_cast<int64_t>(aclDataTypeSize(self.dtype)));
    ops.Copy(self, OperandBuffer(kSelf), dense, buffer);
  }
  SetTake(views, buffer, call, ops);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnIndexSelect) {
  return RunPhase1(call, kIndexSelectChecks, workspaceSize, executor, SetAround<false>);
}

PORTACL_PHASE_1(aclnnGather) { return RunPhase1(call, kGatherChecks, workspaceSize, executor, SetGather); }

PORTACL_PHASE_1(aclnnGatherV2) {
  return RunPhase1(call, kGatherV2Checks, workspaceSize, executor, SetAround<true>);
}

PORTACL_PHASE_1(aclnnGatherV3) {
  return RunPhase1(call, kGatherV3Checks, workspaceSize, executor, SetAroundShared);
}

PORTACL_PHASE_1(aclnnTake) { return RunPhase1(call, kTakeChecks, workspaceSize, executor, SetTakeFlat); }

PORTACL_PHASE_1(aclnnEmbedding) {
  return RunPhase1(call, kEmbeddingChecks, workspaceSize, executor, SetAround<false>);
}
