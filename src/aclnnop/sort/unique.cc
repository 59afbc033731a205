// aclnnUnique, aclnnUnique2, aclnnUniqueConsecutive and aclnnUniqueDim: return the distinct elements or slices.
// Only the work finds their number: phase 2 waits for it and sets the outputs' shapes.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/sort/unique_functions.h"

#include "aclnnop/jobs/op_list.h"
#include "base/errors.h"
#include "engine/sort/slices.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kValues, kInverse, kCounts };  // aclnnUnique has no counts
enum Attributes { kGivesInverse, kGivesCounts, kDim };
constexpr int64_t kWithoutDim = 1000;

constexpr DtypeRule kUniqueDtypes = WithBf16SinceAtlasA2(kRealArithmetic | kUnsignedSince16Bits);
constexpr DtypeRule kConsecutiveDtypes = WithBf16SinceAtlasA2(kArithmetic | kUnsignedSince16Bits);
constexpr DtypeSet kIndexDtypes{ACL_INT64};

bool GivesInverse(const OperatorCall& call) noexcept { return call.attributes[kGivesInverse].integer != 0; }
bool GivesCounts(const OperatorCall& call) noexcept { return call.attributes[kGivesCounts].integer != 0; }
bool GivesEither(const OperatorCall& call) noexcept { return GivesInverse(call) || GivesCounts(call); }
bool HasDim(const OperatorCall& call) noexcept {
  return call.attributes.size() > kDim && call.attributes[kDim].integer != kWithoutDim;
}

// CANN does not check the dtype of the values, but nothing could convert them.
constexpr Check kValuesHaveDtype = WithCode(ACLNN_ERR_INNER_NULLPTR, SameDtype(kSelf, kValues));

constexpr Check kUniqueChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kValues),
    NotNull(kInverse),
    DtypesIn(kUniqueDtypes, {kSelf}),
    DtypesIn(kIndexDtypes, {kInverse}),
    RankAtMost(8, {kSelf}),
    If(GivesInverse, SameShape(kSelf, kInverse)),
    SizesRepresentable({kValues, kInverse}),
    DoneIfEmpty({kSelf}),
    kValuesHaveDtype,
    InsideStorage({kSelf}),
};

constexpr Check kUnique2Checks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kValues),
    NotNull(kInverse),
    NotNull(kCounts),
    DtypesIn(kUniqueDtypes, {kSelf}),
    DtypesIn(kIndexDtypes, {kInverse, kCounts}),
    RankAtMost(8, {kSelf}),
    If(GivesEither, SameShape(kSelf, kInverse)),
    If(GivesCounts, SameShape(kValues, kCounts)),
    SizesRepresentable({kValues, kInverse, kCounts}),
    DoneIfEmpty({kSelf}),
    kValuesHaveDtype,
    InsideStorage({kSelf}),
};

constexpr Check kConsecutiveChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kValues),
    NotNull(kInverse),
    NotNull(kCounts),
    DtypesIn(kConsecutiveDtypes, {kSelf}),
    DtypesIn(kIndexDtypes, {kInverse, kCounts}),
    SameDtype(kSelf, kValues),
    RankAtMost(8, {kSelf}),
    If(HasDim, DimIn(kDim, kSelf)),
    SizesRepresentable({kValues, kInverse, kCounts}),
    DoneIfEmpty({kSelf}),
    InsideStorage({kSelf}),
};

void SetUnique(const OperatorCall& call, aclTensor* values, aclTensor* counts, bool sorts,
               Executor& executor) {
  StridedView self = PlainView(call.Tensor(kSelf));
  const auto size = static_cast<int64_t>(aclDataTypeSize(self.dtype));
  OpList ops(executor, 4);
  engine::BufferRef buffer{kSelf, ByteOffset(self)};
  if (!IsContiguous(self)) {
    const StridedView dense = DenseTensor(self.shape, self.dtype);
    buffer = ops.Workspace(self.numel * size);
    ops.Copy(self, OperandBuffer(kSelf), dense, buffer);
  }
  // The inverse indices may have any strides. Values and counts are written densely.
  const StridedView inverse = PlainView(call.Tensor(kInverse));
  const bool gives_inverse = GivesInverse(call) && !inverse.shape.IsEmpty();
  engine::BufferRef inverse_buffer{kInverse, ByteOffset(inverse)};
  const bool is_copied = gives_inverse && !IsContiguous(inverse);
  const StridedView dense_inverse = DenseTensor(inverse.shape, ACL_INT64);
  if (is_copied) {
    inverse_buffer = ops.Workspace(inverse.numel * int64_t{sizeof(int64_t)});
    ops.Copy(inverse, OperandBuffer(kInverse), dense_inverse, inverse_buffer);
  }
  const bool has_dim = HasDim(call) && self.shape.rank > 0;
  const int dim = has_dim ? WrappedDim(call.attributes[kDim].integer, self.shape.rank) : -1;
  engine::Unique* const unique = ops.Unique(self, buffer, sorts, dim, values, kValues);
  if (unique != nullptr && gives_inverse) {
    unique->inverse = inverse_buffer;
    unique->most_inverse = inverse.numel;
  }
  if (unique != nullptr && counts != nullptr && GivesCounts(call) && !counts->shape.IsEmpty()) {
    unique->counts = {kCounts, counts->offset * int64_t{sizeof(int64_t)}};
    unique->most_counts = counts->numel;
    unique->sets_counts = true;
    executor.ShapeLater(engine::Unique::kCountsShape, counts);
  }
  if (is_copied) ops.Copy(dense_inverse, inverse_buffer, inverse, OperandBuffer(kInverse));
  ops.SetJob();
}

// ---- UniqueDim: its slices are sorted first, then they are runs ----

enum AttributesOfDim { kIsSorted, kReturnsInverse, kSliceDim };

constexpr DtypeRule kSliceDtypes = WithBf16SinceAtlasA2(kRealArithmetic | kUnsignedSince16Bits);

constexpr Check kDimChecks[] = {
    NotNull(kSelf),
    NotNull(kValues),
    NotNull(kInverse),
    NotNull(kCounts),
    DtypesIn(kSliceDtypes, {kSelf}),
    DtypesIn(kIndexDtypes, {kInverse, kCounts}),
    SameDtype(kSelf, kValues),
    RankAtMost(8, {kSelf}),
    DimIn(kSliceDim, kSelf),
    SizesRepresentable({kValues, kInverse, kCounts}),
    DoneIfEmpty({kSelf}),
    InsideStorage({kSelf}),
};

void SetUniqueSlices(const OperatorCall& call, aclTensor* values, aclTensor* counts, Executor& executor) {
  const StridedView self = PlainView(call.Tensor(kSelf));
  const StridedView dense = DenseTensor(self.shape, self.dtype);
  const auto size = static_cast<int64_t>(aclDataTypeSize(self.dtype));
  // An expanded tensor takes no memory itself.
  constexpr int64_t kMostElements = int64_t{1} << 48;
  if (self.numel > kMostElements) return executor.RefuseSize(call.Name(kSelf), self.numel);
  OpList ops(executor, 6);
  engine::OrderSlices slices{};
  slices.source = {kSelf, ByteOffset(self)};
  if (!IsContiguous(self)) {
    slices.source = ops.Workspace(self.numel * size);
    ops.Copy(self, OperandBuffer(kSelf), dense, slices.source);
  }
  const int rank = self.shape.rank;
  const int dim = rank > 0 ? WrappedDim(call.attributes[kSliceDim].integer, rank) : -1;
  slices.dtype = self.dtype;
  slices.size = static_cast<int32_t>(size);
  slices.before = slices.behind = slices.count = 1;
  for (int i = 0; i < rank; ++i)
    (i < dim ? slices.before : i == dim ? slices.count : slices.behind) *= self.shape[i];
  const int64_t words = slices.count * int64_t{sizeof(int64_t)};
  slices.keys = ops.Workspace(self.numel * size);
  slices.order = ops.Workspace(words);
  slices.spare = ops.Workspace(words);
  slices.sorted = ops.Workspace(self.numel * size);
  slices.threads = call.threads;
  ops.Compute(slices, {slices.source}, self.numel);

  const StridedView inverse = PlainView(call.Tensor(kInverse));
  const bool gives_inverse = call.attributes[kReturnsInverse].integer != 0 && inverse.numel == slices.count;
  engine::Unique* const unique = ops.Unique(dense, slices.sorted, /*sorts=*/false, dim, values, kValues);
  if (unique == nullptr) return;
  if (gives_inverse) {
    unique->inverse = ops.Workspace(words);
    unique->most_inverse = slices.count;
  }
  if (!counts->shape.IsEmpty()) {
    unique->counts = {kCounts, counts->offset * int64_t{sizeof(int64_t)}};
    unique->most_counts = counts->numel;
    unique->sets_counts = true;
    executor.ShapeLater(engine::Unique::kCountsShape, counts);
  }
  if (gives_inverse) {
    const StridedView indices = DenseTensor(inverse.shape, ACL_INT64);
    engine::PutWordsInOrder put{unique->inverse, slices.order, {kInverse, ByteOffset(inverse)}, slices.count};
    const bool is_copied = !IsContiguous(inverse);
    if (is_copied) put.to = ops.Workspace(words);
    ops.Compute(put, {put.to}, slices.count);
    if (is_copied) ops.Copy(indices, put.to, inverse, OperandBuffer(kInverse));
  }
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

// CANN does not promise an order without `sorted`, so the result is always sorted.
PORTACL_PHASE_1(aclnnUnique) {
  return RunPhase1(call, kUniqueChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetUnique(checked, given.valueOut, nullptr, /*sorts=*/true, fresh);
                   });
}

PORTACL_PHASE_1(aclnnUnique2) {
  return RunPhase1(call, kUnique2Checks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetUnique(checked, given.valueOut, given.countsOut, /*sorts=*/true, fresh);
                   });
}

PORTACL_PHASE_1(aclnnUniqueConsecutive) {
  return RunPhase1(call, kConsecutiveChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetUnique(checked, given.valueOut, given.countsOut, /*sorts=*/false, fresh);
                   });
}

PORTACL_PHASE_1(aclnnUniqueDim) {
  return RunPhase1(call, kDimChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetUniqueSlices(checked, given.valueOut, given.countsOut, fresh);
                   });
}
