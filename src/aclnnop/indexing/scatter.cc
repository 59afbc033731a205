// aclnnScatter, aclnnScatterValue, aclnnScatterReduce, their in-place forms and aclnnScatterAdd: write, add
// or reduce one element for each element of an index tensor.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/indexing/scatter_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aclnnop/indexing/accumulate.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

// In the forms with a value, the output follows the index. The in-place forms have no output.
enum Tensors { kSelf, kIndex, kSrc };
enum Attributes { kDim, kReduce, kIncludesSelf, kValue };
enum Reduce : int64_t { kReplace, kAdd, kMultiply, kMaximum, kMinimum, kMean };

constexpr DtypeRule kScatterDtypes = WithBf16SinceAtlasA2(kArithmetic);
constexpr DtypeSet kIndexDtypes{ACL_INT32, ACL_INT64};

bool HasValue(const OperatorCall& call) noexcept { return call.attributes.size() > kValue; }
bool HasSrc(const OperatorCall& call) noexcept { return !HasValue(call); }
bool HasIndices(const OperatorCall& call) noexcept { return !call.Tensor(kIndex).shape.IsEmpty(); }
int RankOrOne(const Shape& shape) { return std::max(shape.rank, 1); }
int64_t LengthAt(const StridedView& tensor, int dim) {
  return dim < tensor.shape.rank ? tensor.shape[dim] : 1;
}
int64_t StrideAt(const StridedView& tensor, int dim) {
  return dim < tensor.shape.rank ? tensor.strides[dim] : 0;
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
    const Shape& shape = call.Tensor(tensor).shape;
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
  if (out.shape == self.shape) return ACL_SUCCESS;
  // The first of two checks accepts an out without dims; the second, of the copy to out, then refuses it.
  const bool passes =
      check.code == ACLNN_ERR_PARAM_INVALID ? out.shape.rank == 0 : out.numel == 1 && self.numel == 1;
  return passes ? ACL_SUCCESS : RefuseShape(check, call, call.Output(), self.shape);
}

aclnnStatus IndexFits(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& index = call.Tensor(kIndex);
  const int64_t dim = call.attributes[kDim].integer;
  const int rank = call.Tensor(kSelf).shape.rank;
  const int along = IsDim(dim, rank) ? WrappedDim(dim, rank) : -1;
  for (const int tensor : {static_cast<int>(kSrc), static_cast<int>(kSelf)}) {
    if (tensor == kSrc && HasValue(call)) continue;
    for (int i = 0; i < RankOrOne(index.shape); ++i) {
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
    case kAdd:
    case kMean:
      return engine::IndexedAction::kAdd;
    case kMultiply:
      return engine::IndexedAction::kMultiply;
    case kMaximum:
      return engine::IndexedAction::kMaximum;
    case kMinimum:
      return engine::IndexedAction::kMinimum;
    default:
      return engine::IndexedAction::kPut;
  }
}

// Complex numbers have no maximum or minimum, and bool has no mean.
aclnnStatus ReduceIsThere(const Check& check, OperatorCall& call) noexcept {
  const int64_t reduce = call.attributes[kReduce].integer;
  const aclDataType dtype = call.Tensor(kSelf).dtype;
  const bool is_ordered = reduce == kMaximum || reduce == kMinimum;
  if (!(is_ordered && IsComplex(dtype)) && !(reduce == kMean && dtype == ACL_BOOL)) return ACL_SUCCESS;
  return RefuseInteger(check, call, "reduce", reduce, 0, is_ordered ? kMultiply : kMinimum);
}

// Used by aclnnScatterReduce only; the other forms treat an unknown reduction as replacing.
aclnnStatus ReduceIsKnown(const Check& check, OperatorCall& call) noexcept {
  const int64_t reduce = call.attributes[kReduce].integer;
  if (reduce >= kReplace && reduce <= kMean) return ACL_SUCCESS;
  return RefuseInteger(check, call, "reduce", reduce, kReplace, kMean);
}

aclnnStatus ReducesOnAtlasA2(const Check& check, OperatorCall& call) noexcept {
  const int64_t reduce = call.attributes[kReduce].integer;
  if (reduce != kAdd) return RefuseInteger(check, call, "reduce", reduce, kAdd, kAdd);
  const int64_t includes = call.attributes[kIncludesSelf].integer;
  return includes == 1 ? ACL_SUCCESS : RefuseInteger(check, call, "includeSelf", includes, 1, 1);
}

aclnnStatus ValueConverts(const Check& check, OperatorCall& call) noexcept {
  if (ScalarConverts(call.Scalar(kValue).dtype, call.Tensor(kSelf).dtype)) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter value with dtype ");
  AddDtypeName(message, call.Scalar(kValue).dtype);
  return FailAclnn(check.code, message.Add(" is not converted, accepted: a number or bool."));
}

// An index without elements changes nothing, whatever the other shapes are.
bool WalksIndices(const OperatorCall& call) noexcept { return HasIndices(call); }

// Lists the checks in CANN's order, with those that aclnnScatterReduce adds.
constexpr auto Checks(const DtypeRule& rule, bool only_reduces) {
  constexpr Check kPasses =
      Custom([](const Check&, OperatorCall&) noexcept -> aclnnStatus { return ACL_SUCCESS; });
  return List(NotNull(kSelf), NotNull(kIndex), If(HasValue, ScalarNotNull(kValue)),
              Custom(OtherTensors, ACLNN_ERR_PARAM_NULLPTR), If(HasValue, Custom(ValueIsReal)),
              DtypesIn(rule, {kSelf}), Custom(OtherTensors), If(HasIndices, DtypesIn(kIndexDtypes, {kIndex})),
              only_reduces ? Custom(ReduceIsKnown) : kPasses,
              only_reduces ? OnProducts(products::kAtlasA2AndA3, Custom(ReducesOnAtlasA2)) : kPasses,
              If(WalksIndices, Custom(SameRanks)), If(WalksIndices, Custom(OutLikeSelf)),
              If(WalksIndices, Custom(IndexFits)), If(WalksIndices, RankAtMost(8, {kSelf})),
              If(WalksIndices, DimIn(kDim, kSelf)), If(HasSrc, SizesRepresentable({kSelf, kSrc + 1})),
              If(HasValue, SizesRepresentable({kSelf, kSrc})), Custom(OutLikeSelf, ACLNN_ERR_INNER_NULLPTR),
              DoneIfEmpty({kSelf}), If(HasSrc, InsideStorage({kSelf, kIndex, kSrc})),
              If(HasValue, InsideStorage({kSelf, kIndex})), Custom(ReduceIsThere, ACLNN_ERR_INNER_NULLPTR),
              If(HasValue, Custom(ValueConverts, ACLNN_ERR_INNER_NULLPTR)));
}
constexpr auto kScatterChecks = Checks(kScatterDtypes, false);
constexpr DtypeRule kReduceDtypes = kScatterDtypes.On(products::kAtlasA2AndA3, DtypeSet{ACL_FLOAT});
constexpr auto kReduceChecks = Checks(kReduceDtypes, true);

// Returns the identity element of a reduction.
ScalarValue NeutralValue(int64_t reduce, aclDataType dtype) {
  aclScalar scalar;
  scalar.dtype = ACL_DOUBLE;
  double number = 0;
  if (reduce == kMultiply) number = 1;
  if (reduce == kMaximum) number = -std::numeric_limits<double>::infinity();
  if (reduce == kMinimum) number = std::numeric_limits<double>::infinity();
  std::memcpy(scalar.value, &number, sizeof number);
  if (dtype == ACL_FLOAT || dtype == ACL_DOUBLE || std::isfinite(number)) return ConvertScalar(scalar, dtype);
  // Integers have a least and a greatest value in place of infinities; so does bool.
  const bool is_least = reduce == kMaximum;
  const auto bits = static_cast<int>(aclDataTypeSize(dtype) * 8);
  const bool is_signed = dtype != ACL_UINT8 && dtype != ACL_BOOL;
  const uint64_t largest = dtype == ACL_BOOL ? 1 : ~uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
  const uint64_t least = is_signed ? ~largest : 0;
  ScalarValue value;
  std::memcpy(value.bytes, is_least ? &least : &largest, sizeof least);
  return value;
}

// Adds the ops of reductions that need several passes over the target. The target is a dense copy. Unless
// self is included, the indexed elements are first set to the identity. A mean divides them by their counts
// at the end.
template <class Derive>
void Reduce(OpList& ops, const OperatorCall& call, const StridedView& plain, engine::BufferRef plain_buffer,
            const StridedView& self, const StridedView& out, const Derive& derive) {
  const int64_t reduce = call.attributes[kReduce].integer;
  const bool includes_self = call.attributes[kIncludesSelf].integer != 0;
  const bool is_half = self.dtype == ACL_FLOAT16 || self.dtype == ACL_BF16;
  const StridedView target = DenseTensor(self.shape, is_half ? ACL_FLOAT : self.dtype);
  const engine::BufferRef buffer =
      ops.Workspace(self.numel * static_cast<int64_t>(aclDataTypeSize(target.dtype)));
  ops.Copy(self, OperandBuffer(kSelf), target, buffer);
  const auto combine = [&](engine::IndexedAction action, const StridedView& from,
                           engine::BufferRef from_buffer, const StridedView& whole,
                           engine::BufferRef whole_buffer) {
    TargetViews views = derive(whole);
    views.named[0].view = &views.index[0];
    ops.Indexed(action, from, from_buffer, views.indexed, whole_buffer, views.named, 1);
  };
  const auto repeated = [&](aclDataType dtype) {
    StridedView one = plain;
    one.dtype = dtype;
    one.offset = 0;
    std::fill_n(one.strides.dim, one.shape.rank, 0);
    return one;
  };
  if (!includes_self)
    combine(engine::IndexedAction::kPut, repeated(target.dtype),
            ops.Value(NeutralValue(reduce, target.dtype)), target, buffer);
  combine(ActionOf(call), plain, plain_buffer, target, buffer);
  if (reduce == kMean) {
    const StridedView counts = DenseTensor(self.shape, ACL_INT64);
    const engine::BufferRef counts_buffer = ops.Workspace(self.numel * int64_t{sizeof(int64_t)});
    ScalarValue one;
    one.bytes[0] = 1;
    const engine::BufferRef one_buffer = ops.Value(one);
    ops.Fill(counts, counts_buffer, includes_self ? one_buffer : ops.Value(ScalarValue()));
    combine(engine::IndexedAction::kAdd, repeated(ACL_INT64), one_buffer, counts, counts_buffer);
    ops.DivideRows(buffer, counts_buffer, self.numel, 1, target.dtype);
  }
  ops.Copy(target, buffer, out, OperandBuffer(call.Output()));
}

void SetScatter(const OperatorCall& call, Executor& executor) {
  const StridedView self = PlainView(call.Tensor(kSelf));
  const StridedView out = PlainView(call.Tensor(call.Output()));
  const StridedView index = PlainView(call.Tensor(kIndex));
  OpList ops(executor, 7);
  if (!HasIndices(call)) {
    if (!call.in_place) ops.Copy(self, OperandBuffer(kSelf), out, OperandBuffer(call.Output()));
    return ops.SetJob();
  }
  const int dim = WrappedDim(call.attributes[kDim].integer, self.shape.rank);
  StridedView plain;
  engine::BufferRef plain_buffer = OperandBuffer(kSrc);
  if (HasValue(call)) {
    plain.dtype = self.dtype;
    plain.strides.rank = index.shape.rank;
    std::fill(plain.strides.dim, plain.strides.dim + index.shape.rank, 0);
    plain_buffer = ops.Value(ConvertScalar(call.Scalar(kValue), self.dtype));
  } else {
    plain = PlainView(call.Tensor(kSrc));
    for (int i = plain.shape.rank; i < index.shape.rank; ++i) plain.strides.dim[i] = 0;
  }
  plain.shape = index.shape;
  plain.strides.rank = index.shape.rank;
  const auto derive = [&](const StridedView& whole) {
    TargetViews views;
    views.indexed.dtype = whole.dtype;
    views.indexed.offset = whole.offset;
    views.indexed.shape = index.shape;
    views.indexed.strides.rank = index.shape.rank;
    for (int i = 0; i < index.shape.rank; ++i)
      views.indexed.strides.dim[i] = i == dim ? 0 : StrideAt(whole, i);
    views.index[0] = index;
    views.named[0] = {
        nullptr, kIndex, call.Name(kIndex), -1, true, LengthAt(self, dim), StrideAt(whole, dim)};
    views.count = 1;
    return views;
  };
  // Replaced elements never count, so kPut needs no such pass.
  const bool starts_anew =
      call.attributes[kIncludesSelf].integer == 0 && ActionOf(call) != engine::IndexedAction::kPut;
  if (call.attributes[kReduce].integer == kMean || starts_anew) {
    Reduce(ops, call, plain, plain_buffer, self, out, derive);
    return ops.SetJob();
  }
  ScatterInto(ops, ActionOf(call), plain, plain_buffer, call.in_place ? nullptr : &self, OperandBuffer(kSelf),
              out, OperandBuffer(call.Output()), derive);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnScatter) { return RunPhase1(call, kScatterChecks, workspaceSize, executor, SetScatter); }

PORTACL_PHASE_1(aclnnInplaceScatter) {
  return RunPhase1(call, kScatterChecks, workspaceSize, executor, SetScatter);
}

PORTACL_PHASE_1(aclnnScatterValue) {
  return RunPhase1(call, kScatterChecks, workspaceSize, executor, SetScatter);
}

PORTACL_PHASE_1(aclnnInplaceScatterValue) {
  return RunPhase1(call, kScatterChecks, workspaceSize, executor, SetScatter);
}

PORTACL_PHASE_1(aclnnScatterAdd) {
  return RunPhase1(call, kScatterChecks, workspaceSize, executor, SetScatter);
}

PORTACL_PHASE_1(aclnnScatterReduce) {
  return RunPhase1(call, kReduceChecks, workspaceSize, executor, SetScatter);
}

PORTACL_PHASE_1(aclnnInplaceScatterReduce) {
  return RunPhase1(call, kReduceChecks, workspaceSize, executor, SetScatter);
}
