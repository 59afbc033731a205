// aclnnIndexAdd, aclnnIndexAddV2, aclnnIndexCopy and aclnnInplaceIndexCopy: add or copy slices of one tensor along a
// dim to the slices of another that an index tensor names.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/indexing/index_add_functions.h"

#include <algorithm>

#include "aclnnop/indexing/accumulate.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kIndex, kSource, kOut };
enum Attributes { kDim, kAlpha, kMode };

constexpr DtypeRule kAddDtypes = WithBf16SinceAtlasA2(kRealArithmetic);
constexpr DtypeSet kCopyOld = kArithmetic;
constexpr DtypeRule kCopyDtypes =
    ByGeneration(kCopyOld, kCopyOld | kBf16, kCopyOld | kBf16 | DtypeSet{ACL_UINT32, ACL_UINT64});
constexpr DtypeSet kIndexDtypes{ACL_INT32, ACL_INT64};

int RankOrOne(const Shape& shape) { return std::max(shape.rank, 1); }
int64_t LengthAt(const StridedView& tensor, int dim) {
  return dim < tensor.shape.rank ? tensor.shape[dim] : 1;
}
int64_t StrideAt(const StridedView& tensor, int dim) {
  return dim < tensor.shape.rank ? tensor.strides[dim] : 0;
}

aclnnStatus Refuse(const Check& check, const OperatorCall& call, int tensor, const char* accepted) {
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor).Add(" does not go with ");
  AddArgumentShape(message, call, kSelf).Add(", accepted: ");
  return FailAclnn(check.code, message.Add(accepted).Add("."));
}

// A tensor without dims counts as having one dim. That dim cannot be given as -1.
aclnnStatus ScalarDimIsZero(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kSelf).shape.rank > 0 || call.attributes[kDim].integer == 0) return ACL_SUCCESS;
  return RefuseInteger(check, call, "dim", call.attributes[kDim].integer, 0, 0);
}

// Checks that source has self's dims, except along dim.
aclnnStatus OtherDims(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& self = call.Tensor(kSelf);
  const aclTensor& source = call.Tensor(kSource);
  const int dim = WrappedDim(call.attributes[kDim].integer, self.shape.rank);
  if (self.shape.rank > 0 && RankOrOne(source.shape) != self.shape.rank)
    return Refuse(check, call, kSource, "the same number of dims");
  for (int i = 0; i < self.shape.rank; ++i) {
    if (i != dim && LengthAt(source, i) != self.shape[i])
      return Refuse(check, call, kSource, "self's dims but for dim");
  }
  return ACL_SUCCESS;
}

aclnnStatus OneIndexEach(const Check& check, OperatorCall& call) noexcept {
  const int dim = WrappedDim(call.attributes[kDim].integer, call.Tensor(kSelf).shape.rank);
  if (call.Tensor(kIndex).numel == LengthAt(call.Tensor(kSource), dim)) return ACL_SUCCESS;
  return Refuse(check, call, kIndex, "one index for each part of source along dim");
}

aclnnStatus AlphaConverts(const Check& check, OperatorCall& call) noexcept {
  if (ScalarConverts(call.Scalar(kAlpha).dtype, call.Tensor(kSelf).dtype)) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter alpha with dtype ");
  AddDtypeName(message, call.Scalar(kAlpha).dtype);
  return FailAclnn(check.code, message.Add(" is not converted, accepted: a number or bool."));
}

constexpr auto kAddChecks = List(
    NotNull(kSelf),  // in CANN's order
    NotNull(kIndex), NotNull(kSource), ScalarNotNull(kAlpha), NotNull(kOut), DtypesIn(kAddDtypes, {kSelf}),
    DtypesIn(kIndexDtypes, {kIndex}), DtypesIn(kAddDtypes, {kSource, kOut}), SameDtype(kSelf, kSource),
    SameDtype(kSelf, kOut), RankAtMost(8, {kSelf, kSource}), DimIn(kDim, kSelf), Custom(ScalarDimIsZero),
    Custom(OtherDims), RankAtMost(1, {kIndex}), Custom(OneIndexEach), SameShape(kSelf, kOut),
    SizesRepresentable({kOut}), DoneIfEmpty({kSelf, kSource}), InsideStorage({kSelf, kIndex, kSource}),
    Custom(AlphaConverts, ACLNN_ERR_INNER_NULLPTR));

// ---- IndexAddV2 ----

// Mode 0 is of rows of a matrix, and leaves alpha out.
constexpr DtypeSet kRowDtypes{ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32, ACL_INT16};

bool AddsRows(const OperatorCall& call) noexcept { return call.attributes[kMode].integer == 0; }

aclnnStatus AreRows(const Check& check, OperatorCall& call) noexcept {
  const int64_t dim = call.attributes[kDim].integer;
  if (call.Tensor(kSelf).shape.rank != 2) return Refuse(check, call, kSelf, "with mode 0 two dims");
  if (call.Tensor(kIndex).shape.rank != 1) return Refuse(check, call, kIndex, "with mode 0 one dim");
  return dim == 0 || dim == -2 ? ACL_SUCCESS : RefuseInteger(check, call, "dim", dim, 0, 0);
}

constexpr auto kAddV2Checks =
    Join(kAddChecks, List(If(AddsRows, WithCode(ACLNN_ERR_INNER_NULLPTR, DtypesIn(kRowDtypes, {kSelf}))),
                          If(AddsRows, Custom(AreRows, ACLNN_ERR_INNER_NULLPTR))));

// ---- IndexCopy ----

aclnnStatus OutLikeSelf(const Check& check, OperatorCall& call) noexcept {
  if (call.in_place) return ACL_SUCCESS;
  const Check same = check.low == 0   ? SameDtype(kSelf, kOut)
                     : check.low == 1 ? SameShape(kSelf, kOut)
                                      : SameFormat({kSelf, kOut});
  return same.run(same, call);
}

aclnnStatus OutNotNull(const Check&, OperatorCall& call) noexcept {
  const Check given = NotNull(kOut);
  return call.in_place ? ACL_SUCCESS : given.run(given, call);
}

aclnnStatus SourceFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const Shape& source = call.Tensor(kSource).shape;
  if (source.rank == 0 && call.Tensor(kIndex).numel != 1)
    return Refuse(check, call, kIndex, "one index for a source without dims");
  if (source.rank != self.rank && source.rank != 0 && self.rank != 0)
    return Refuse(check, call, kSource, "the same number of dims");
  return ACL_SUCCESS;
}

aclnnStatus CopiedDims(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const aclTensor& source = call.Tensor(kSource);
  if (source.shape.rank == 0) {
    // The source is one element and replaces one slice, so a slice must have one element.
    for (int i = 0; i < self.rank; ++i) {
      if (i != WrappedDim(call.attributes[kDim].integer, self.rank) && self[i] != 1)
        return Refuse(check, call, kSource, "self's dims but for dim");
    }
    return ACL_SUCCESS;
  }
  const int dim = WrappedDim(call.attributes[kDim].integer, self.rank);
  for (int i = 0; i < source.shape.rank; ++i) {
    const int64_t length = i < self.rank ? self[i] : 1;
    if (i != dim && source.shape[i] != length) return Refuse(check, call, kSource, "self's dims but for dim");
  }
  return OneIndexEach(check, call);
}

constexpr Check kCopyChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kIndex),
    NotNull(kSource),
    Custom(OutNotNull),
    DtypesIn(kCopyDtypes, {kSelf}),
    DtypesIn(kIndexDtypes, {kIndex}),
    SameDtype(kSelf, kSource),
    Custom(OutLikeSelf),
    RankAtMost(8, {kSelf, kSource}),
    RankAtMost(1, {kIndex}),
    {.run = OutLikeSelf, .low = 1},
    Custom(SourceFits),
    DimIn(kDim, kSelf),
    Custom(CopiedDims),
    {.run = OutLikeSelf, .low = 2},
    SizesRepresentable({kSelf}),
    DoneIfEmpty({kSelf, kIndex}),
    InsideStorage({kSelf, kIndex, kSource}),
};

void SetByIndex(const OperatorCall& call, engine::IndexedAction action, const aclScalar* alpha,
                Executor& executor) {
  const int output = call.Output();
  const StridedView self = PlainView(call.Tensor(kSelf));
  const StridedView out = PlainView(call.Tensor(output));
  StridedView index = PlainView(call.Tensor(kIndex));
  StridedView source = PlainView(call.Tensor(kSource));
  const int dim = WrappedDim(call.attributes[kDim].integer, self.shape.rank);
  const int64_t count = index.numel;
  const int64_t step = index.shape.rank > 0 ? index.strides[0] : 0;
  // The loop has self's shape, with as many slices as there are indices. A source without dims is one element
  // of it.
  Shape shape = self.shape;
  if (shape.rank == 0) shape = Shape{count};
  shape.dim[dim] = count;
  Shape strides;
  strides.rank = index.strides.rank = source.strides.rank = shape.rank;
  for (int i = 0; i < shape.rank; ++i) {
    strides.dim[i] = i < source.shape.rank ? source.strides[i] : 0;
    index.strides.dim[i] = i == dim ? step : 0;
  }
  source.strides = strides;
  source.shape = index.shape = shape;
  OpList ops(executor, 3);
  const auto derive = [&](const StridedView& whole) {
    TargetViews views;
    views.indexed.dtype = whole.dtype;
    views.indexed.offset = whole.offset;
    views.indexed.shape = shape;
    views.indexed.strides.rank = shape.rank;
    for (int i = 0; i < shape.rank; ++i) views.indexed.strides.dim[i] = i == dim ? 0 : StrideAt(whole, i);
    views.index[0] = index;
    views.named[0] = {nullptr,
                      kIndex,
                      call.Name(kIndex),
                      -1,
                      false,
                      LengthAt(self, dim),
                      StrideAt(whole, dim),
                      ~engine::DimBits(dim, 1)};
    views.count = 1;
    return views;
  };
  ScatterInto(ops, action, source, OperandBuffer(kSource), call.in_place ? nullptr : &self,
              OperandBuffer(kSelf), out, OperandBuffer(output), derive, alpha);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnIndexAdd) {
  return RunPhase1(call, kAddChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetByIndex(checked, engine::IndexedAction::kAdd, given.alpha, fresh);
                   });
}

PORTACL_PHASE_1(aclnnIndexAddV2) {
  return RunPhase1(
      call, kAddV2Checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
        SetByIndex(checked, engine::IndexedAction::kAdd, AddsRows(checked) ? nullptr : given.alpha, fresh);
      });
}

PORTACL_PHASE_1(aclnnIndexCopy) {
  return RunPhase1(call, kCopyChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetByIndex(checked, engine::IndexedAction::kPut, nullptr, fresh);
                   });
}

PORTACL_PHASE_1(aclnnInplaceIndexCopy) {
  return RunPhase1(call, kCopyChecks, workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetByIndex(checked, engine::IndexedAction::kPut, nullptr, fresh);
                   });
}
