// aclnnScatter, aclnnScatterValue, their in-place forms and aclnnScatterAdd: one element written, or added and so on, for each element
// of an index tensor.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_scatter.h"

#include <algorithm>

#include "acl/data_type.h"
#include "acl/errors.h"
#include "aclnnop/aclnn_scatter_add.h"
#include "aclnnop/indexing/accumulate.h"
#include "aclnnop/operator_facts.h"

namespace portacl {
namespace {

// Of the forms with a value, what comes after the index is the output; in place there is none.
enum Tensors { kSelf, kIndex, kSrc };
enum Attributes { kDim, kReduce, kValue };

constexpr DtypeRule kScatterDtypes = WithBf16SinceAtlasA2(kArithmetic);
constexpr DtypeSet kIndexDtypes{ACL_INT32, ACL_INT64};

bool HasValue(const OperatorCall& call) noexcept { return call.attributes.size() > kValue; }
bool HasSrc(const OperatorCall& call) noexcept { return !HasValue(call); }
bool HasIndices(const OperatorCall& call) noexcept { return !call.Tensor(kIndex).view.IsEmpty(); }
int RankOrOne(const Shape& shape) { return std::max(shape.rank, 1); }
int64_t LengthAt(const aclTensor& tensor, int dim) { return dim < tensor.view.rank ? tensor.view[dim] : 1; }
int64_t StrideAt(const aclTensor& tensor, int dim) {
  return dim < tensor.view.rank ? tensor.strides[dim] : 0;
}

aclnnStatus OtherTensors(const Check& check, OperatorCall& call) noexcept {
  for (int i = kSrc; i < static_cast<int>(call.tensors.size()); ++i) {
    const Check given = check.code == ACLNN_ERR_PARAM_NULLPTR ? NotNull(i) : SameDtype(kSelf, i);
    if (const aclnnStatus status = given.run(given, call)) return status;
  }
  return ACL_SUCCESS;
}

aclnnStatus ValueIsReal(const Check& check, OperatorCall& call) noexcept {
  const aclDataType value = call.Scalar(kValue).dtype;
  if (!IsComplex(value) || IsComplex(call.Tensor(kSelf).dtype)) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter value with dtype ");
  AddDtypeName(message, value);
  return FailAclnn(check.code, message.Add(" is complex and self is not, accepted: a real value."));
}

aclnnStatus SameRanks(const Check& check, OperatorCall& call) noexcept {
  const int last = HasValue(call) ? kIndex : kSrc;
  const auto rank = [&](int tensor) {
    const Shape& shape = call.Tensor(tensor).view;
    return call.product == Product::kAscend950 ? RankOrOne(shape) : shape.rank;
  };
  for (int i = kIndex; i <= last; ++i) {
    if (rank(i) == rank(kSelf)) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, i).Add(" has another rank than ");
    AddArgumentShape(message, call, kSelf);
    return FailAclnn(check.code, message.Add(", accepted: the same number of dims."));
  }
  return ACL_SUCCESS;
}

aclnnStatus OutLikeSelf(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& out = call.Tensor(call.Output());
  const aclTensor& self = call.Tensor(kSelf);
  if (out.view == self.view) return ACL_SUCCESS;
  // The first time, an out without dims is let pass; the copy to it then fails.
  const bool passes =
      check.code == ACLNN_ERR_PARAM_INVALID ? out.view.rank == 0 : out.numel == 1 && self.numel == 1;
  return passes ? ACL_SUCCESS : RefuseShape(check, call, call.Output(), self.view);
}

aclnnStatus IndexFits(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& index = call.Tensor(kIndex);
  const int64_t dim = call.attributes[kDim].integer;
  const int rank = call.Tensor(kSelf).view.rank;
  const int along = IsDim(dim, rank) ? WrappedDim(dim, rank) : -1;
  for (const int tensor : {static_cast<int>(kSrc), static_cast<int>(kSelf)}) {
    if (tensor == kSrc && HasValue(call)) continue;
    for (int i = 0; i < RankOrOne(index.view); ++i) {
      if ((tensor == kSelf && i == along) || LengthAt(index, i) <= LengthAt(call.Tensor(tensor), i)) continue;
      Text message = StartMessage(call);
      AddArgumentShape(message.Add("parameter "), call, kIndex).Add(" does not fit into ");
      AddArgumentShape(message, call, tensor).Add(", accepted: dims no longer than its");
      return FailAclnn(check.code, message.Add(tensor == kSelf ? ", but for dim." : "."));
    }
  }
  return ACL_SUCCESS;
}

engine::IndexedAction ActionOf(const OperatorCall& call) {
  switch (call.attributes[kReduce].integer) {
    case 1:
      return engine::IndexedAction::kAdd;
    case 2:
      return engine::IndexedAction::kMultiply;
    case 3:
      return engine::IndexedAction::kMaximum;
    case 4:
      return engine::IndexedAction::kMinimum;
    default:
      return engine::IndexedAction::kPut;
  }
}

aclnnStatus ReduceIsThere(const Check& check, OperatorCall& call) noexcept {
  const int64_t reduce = call.attributes[kReduce].integer;
  const bool is_ordered = reduce == 3 || reduce == 4;
  if (reduce != 5 && !(is_ordered && IsComplex(call.Tensor(kSelf).dtype))) return ACL_SUCCESS;
  return RefuseInteger(check, call, "reduce", reduce, 0, is_ordered ? 2 : 4);
}

aclnnStatus ValueConverts(const Check& check, OperatorCall& call) noexcept {
  if (ScalarConverts(call.Scalar(kValue).dtype, call.Tensor(kSelf).dtype)) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter value with dtype ");
  AddDtypeName(message, call.Scalar(kValue).dtype);
  return FailAclnn(check.code, message.Add(" is not converted, accepted: a number or bool."));
}

// An index without elements changes nothing, whatever the other shapes.
bool WalksIndices(const OperatorCall& call) noexcept { return HasIndices(call); }

constexpr Check kScatterChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kIndex),
    If(HasValue, ScalarNotNull(kValue)),
    Own(OtherTensors, ACLNN_ERR_PARAM_NULLPTR),
    If(HasValue, Own(ValueIsReal)),
    DtypesIn(kScatterDtypes, {kSelf}),
    Own(OtherTensors),
    If(HasIndices, DtypesIn(kIndexDtypes, {kIndex})),
    If(WalksIndices, Own(SameRanks)),
    If(WalksIndices, Own(OutLikeSelf)),
    If(WalksIndices, Own(IndexFits)),
    If(WalksIndices, RankAtMost(8, {kSelf})),
    If(WalksIndices, DimIn(kDim, kSelf)),
    SizesRepresentable({kSelf}),
    Own(OutLikeSelf, ACLNN_ERR_INNER_NULLPTR),
    DoneIfEmpty({kSelf}),
    If(HasSrc, InsideStorage({kSelf, kIndex, kSrc})),
    If(HasValue, InsideStorage({kSelf, kIndex})),
    Own(ReduceIsThere, ACLNN_ERR_INNER_NULLPTR),
    If(HasValue, Own(ValueConverts, ACLNN_ERR_INNER_NULLPTR)),
};

void SetScatter(const OperatorCall& call, Executor& executor) {
  const aclTensor self = PlainView(call.Tensor(kSelf));
  const aclTensor out = PlainView(call.Tensor(call.Output()));
  const aclTensor index = PlainView(call.Tensor(kIndex));
  StepList steps(executor, 4);
  if (!HasIndices(call)) {
    if (!call.in_place) steps.Copy(self, OperandPlace(kSelf), out, OperandPlace(call.Output()));
    return steps.SetJob();
  }
  const int dim = WrappedDim(call.attributes[kDim].integer, self.view.rank);
  aclTensor plain;
  engine::Place plain_place = OperandPlace(kSrc);
  if (HasValue(call)) {
    plain.dtype = self.dtype;
    plain.strides.rank = index.view.rank;
    std::fill(plain.strides.dim, plain.strides.dim + index.view.rank, 0);
    plain_place = steps.Value(ConvertScalar(call.Scalar(kValue), self.dtype));
  } else {
    plain = PlainView(call.Tensor(kSrc));
    for (int i = plain.view.rank; i < index.view.rank; ++i) plain.strides.dim[i] = 0;
  }
  plain.view = index.view;
  plain.strides.rank = index.view.rank;
  const auto derive = [&](const aclTensor& whole) {
    TargetViews views;
    views.indexed.dtype = whole.dtype;
    views.indexed.offset = whole.offset;
    views.indexed.view = index.view;
    views.indexed.strides.rank = index.view.rank;
    for (int i = 0; i < index.view.rank; ++i)
      views.indexed.strides.dim[i] = i == dim ? 0 : StrideAt(whole, i);
    views.index[0] = index;
    views.named[0] = {
        nullptr, kIndex, call.Name(kIndex), -1, true, LengthAt(self, dim), StrideAt(whole, dim)};
    views.count = 1;
    return views;
  };
  ScatterInto(steps, ActionOf(call), plain, plain_place, call.in_place ? nullptr : &self, OperandPlace(kSelf),
              out, OperandPlace(call.Output()), derive);
  steps.SetJob();
}

aclnnStatus Run(const char* api, std::span<const TensorArgument> tensors,
                std::span<const Attribute> attributes, bool in_place, uint64_t* workspaceSize,
                aclOpExecutor** executor) {
  OperatorCall call{api, tensors, attributes};
  call.in_place = in_place;
  return RunPhase1(call, kScatterChecks, workspaceSize, executor, SetScatter);
}

}  // namespace

namespace facts {
extern const OperatorFacts scatter, scatter_add;
}

const OperatorFacts facts::scatter = {"aclnnScatter", "aclnnop/aclnn_scatter.h", kScatterDtypes,
                                      kScatterDtypes,
                                      /*by_promotion=*/false};
const OperatorFacts facts::scatter_add = {"aclnnScatterAdd", "aclnnop/aclnn_scatter_add.h", kScatterDtypes,
                                          kScatterDtypes, /*by_promotion=*/false};

}  // namespace portacl

using namespace portacl;

aclnnStatus aclnnScatterGetWorkspaceSize(const aclTensor* self, int64_t dim, const aclTensor* index,
                                         const aclTensor* src, int64_t reduce, aclTensor* out,
                                         uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"self", self}, {"index", index}, {"src", src}, {"out", out}};
  const Attribute attributes[] = {{"dim", dim}, {"reduce", reduce}};
  return Run("aclnnScatter", tensors, attributes, false, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnScatter)

aclnnStatus aclnnInplaceScatterGetWorkspaceSize(aclTensor* selfRef, int64_t dim, const aclTensor* index,
                                                const aclTensor* src, int64_t reduce, uint64_t* workspaceSize,
                                                aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"selfRef", selfRef}, {"index", index}, {"src", src}};
  const Attribute attributes[] = {{"dim", dim}, {"reduce", reduce}};
  return Run("aclnnInplaceScatter", tensors, attributes, true, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnInplaceScatter)

aclnnStatus aclnnScatterValueGetWorkspaceSize(const aclTensor* self, int64_t dim, const aclTensor* index,
                                              const aclScalar* value, int64_t reduce, aclTensor* out,
                                              uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"self", self}, {"index", index}, {"out", out}};
  const Attribute attributes[] = {{"dim", dim}, {"reduce", reduce}, {"value", value}};
  return Run("aclnnScatterValue", tensors, attributes, false, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnScatterValue)

aclnnStatus aclnnInplaceScatterValueGetWorkspaceSize(aclTensor* selfRef, int64_t dim, const aclTensor* index,
                                                     const aclScalar* value, int64_t reduce,
                                                     uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"selfRef", selfRef}, {"index", index}};
  const Attribute attributes[] = {{"dim", dim}, {"reduce", reduce}, {"value", value}};
  return Run("aclnnInplaceScatterValue", tensors, attributes, true, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnInplaceScatterValue)

aclnnStatus aclnnScatterAddGetWorkspaceSize(const aclTensor* self, int64_t dim, const aclTensor* index,
                                            const aclTensor* src, aclTensor* out, uint64_t* workspaceSize,
                                            aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"self", self}, {"index", index}, {"src", src}, {"out", out}};
  const Attribute attributes[] = {{"dim", dim}, {"reduce", 1}};
  return Run("aclnnScatterAdd", tensors, attributes, false, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnScatterAdd)
