// aclnnSearchSorted, aclnnSearchSorteds and aclnnBucketize: return the positions at which numbers, or one
// number, would be inserted into ascending sequences.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/sort/search_sorted_functions.h"

#include <limits>

#include "aclnnop/jobs/op_list.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "contract/promotion.h"

namespace portacl {
namespace {

// aclnnSearchSorteds has a scalar in place of self, and otherwise the same tensors.
enum Tensors { kSequence, kSelf, kSorter, kOut };
enum OneTensors { kOneSequence, kOneSorter, kOneOut };
// aclnnBucketize has them in another order, and no sorter.
enum BucketTensors { kBucketed, kBoundaries, kBucket };
enum Attributes { kIsInt32, kIsRight, kNumber };

constexpr DtypeSet kNumbers = kIntegers | kFloatAndHalf | kDouble;
constexpr DtypeSet kNarrowIndices{ACL_INT32};
constexpr DtypeSet kWideIndices{ACL_INT64};
constexpr DtypeRule kSearched = Everywhere(kNumbers);
constexpr DtypeRule kBuckets = Everywhere(kIntegers | kFloatHalfAndBf16);

// ---- checks ----

template <int kTensor>
bool IsGiven(const OperatorCall& call) noexcept {
  return call.IsGiven(kTensor);
}

aclnnStatus RefuseSequence(const Check& check, const OperatorCall& call, const char* accepted) {
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSequence);
  return FailAclnn(check.code, message.Add(" is refused, accepted: ").Add(accepted).Add("."));
}

aclnnStatus SequenceFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& sequence = call.Tensor(kSequence).shape;
  const Shape& self = call.Tensor(kSelf).shape;
  if (sequence.rank == 1) return ACL_SUCCESS;
  if (self.rank == 1 && self[0] == 1) return RefuseSequence(check, call, "one dim, as self is [1]");
  bool fits = sequence.rank > 0 && sequence.rank == self.rank;
  for (int i = 0; fits && i + 1 < sequence.rank; ++i) fits = sequence[i] == self[i];
  if (fits) return ACL_SUCCESS;
  return RefuseSequence(check, call, "one dim, or self's dims, all but the last of the same length");
}
aclnnStatus SequenceHasOneDim(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kOneSequence).shape.rank == 1) return ACL_SUCCESS;
  return RefuseSequence(check, call, "one dim");
}

aclnnStatus OutHasElements(const Check& check, OperatorCall& call) noexcept {
  if (!call.Tensor(kOneOut).shape.IsEmpty()) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kOneOut);
  return FailAclnn(check.code, message.Add(" is empty, accepted: a tensor with elements."));
}

// Checks that out's dtype can hold every position in a sequence, including the one past its end.
template <int sequence>
aclnnStatus IndexDtypesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(sequence).shape;
  if (call.work == OperatorCall::Work::kNoTerms || call.attributes[kIsInt32].integer == 0 ||
      shape[shape.rank - 1] <= std::numeric_limits<int32_t>::max())
    return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, sequence);
  return FailAclnn(check.code,
                   message.Add(" has places that INT32 does not hold, accepted: at most 2147483647 "
                               "elements in the last dim where outInt32 is true."));
}

// Searches nothing if any tensor is empty.
aclnnStatus NoneIfEmpty(const Check&, OperatorCall& call) noexcept {
  for (size_t i = 0; i < call.tensors.size(); ++i) {
    const auto tensor = static_cast<int>(i);
    if (call.IsGiven(tensor) && call.Tensor(tensor).shape.IsEmpty()) call.work = OperatorCall::Work::kNoTerms;
  }
  return ACL_SUCCESS;
}

constexpr Check kChecks[] = {
    NotNull(kSequence),  // in CANN's order
    NotNull(kSelf),
    NotNull(kOut),
    DtypesIn(kSearched, {kSequence, kSelf}),
    IfEqual(kIsInt32, 1, DtypesIn(kNarrowIndices, {kOut})),
    IfEqual(kIsInt32, 0, DtypesIn(kWideIndices, {kOut})),
    If(IsGiven<kSorter>, DtypesIn(kWideIndices, {kSorter})),
    RankAtMost(8, {kSequence, kSelf}),
    SameShape(kSelf, kOut),
    If(IsGiven<kSorter>, SameShape(kSequence, kSorter)),
    Custom(SequenceFits),
    Promotes({kSequence, kSelf}),
    PromotedIn(kSearched, {kSequence, kSelf}),
    SizesRepresentable({kOut}),
    Custom(NoneIfEmpty),
    Custom(IndexDtypesFit<kSequence>),
    InsideStorage({kSequence, kSelf}),
    If(IsGiven<kSorter>, InsideStorage({kSorter})),
};

constexpr Check kOneChecks[] = {
    NotNull(kOneSequence),  // in CANN's order
    ScalarNotNull(kNumber),
    NotNull(kOneOut),
    Custom(OutHasElements),
    DtypesIn(kSearched, {kOneSequence}),
    IfEqual(kIsInt32, 1, DtypesIn(kNarrowIndices, {kOneOut})),
    IfEqual(kIsInt32, 0, DtypesIn(kWideIndices, {kOneOut})),
    If(IsGiven<kOneSorter>, DtypesIn(kWideIndices, {kOneSorter})),
    RankAtMost(8, {kOneSequence}),
    If(IsGiven<kOneSorter>, SameShape(kOneSequence, kOneSorter)),
    Custom(SequenceHasOneDim),
    PromotesToDtypeOf(kOneSequence),
    SizesRepresentable({kOneOut}),
    Custom(NoneIfEmpty),
    Custom(IndexDtypesFit<kOneSequence>),
    InsideStorage({kOneSequence}),
    If(IsGiven<kOneSorter>, InsideStorage({kOneSorter})),
    ScalarsImplemented(kConvertible, {kNumber}),
};

// Ascend 950 alone has aclnnBucketize.
aclnnStatus IsOnAscend950(const Check& check, OperatorCall& call) noexcept {
  if (call.product == Product::kAscend950) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   Text(call.api, ": the operator is not on this product, accepted: Ascend 950."));
}
// A tensor without dims does not lift the other one's dtype within its category.
constexpr Check kBucketChecks[] = {
    Custom(IsOnAscend950, ACLNN_ERR_INNER),
    NotNull(kBucketed),
    NotNull(kBoundaries),
    NotNull(kBucket),
    DtypesIn(kBuckets, {kBucketed, kBoundaries}),
    IfEqual(kIsInt32, 1, DtypesIn(kNarrowIndices, {kBucket})),
    IfEqual(kIsInt32, 0, DtypesIn(kWideIndices, {kBucket})),
    RankAtMost(8, {kBucketed}),
    RankIs(1, {kBoundaries}),
    SameShape(kBucketed, kBucket),
    PromotesByRank(kBucketed, kBoundaries),
    PromotedIn(kBuckets, {kBucketed, kBoundaries}),
    SizesRepresentable({kBucket}),
    DoneIfEmpty({kBucketed}),
    Custom(NoneIfEmpty),
    Custom(IndexDtypesFit<kBoundaries>),
    InsideStorage({kBucketed, kBoundaries}),
};

// ---- jobs ----

// Returns a tensor's numbers, dense and in the type of the comparison: directly, or as a copy in the workspace. Results
// that are written to the same storage (`is_written`) need a copy. The numbers are converted to `promoted`, and 16-bit
// floats then to float.
engine::BufferRef Compared(const StridedView& tensor, engine::BufferRef buffer, aclDataType promoted,
                           bool is_written, OpList& ops) {
  StridedView view = tensor;
  const auto convert = [&](aclDataType dtype) {
    const StridedView dense = DenseTensor(view.shape, dtype);
    const engine::BufferRef copy = ops.Workspace(dense.numel * static_cast<int64_t>(aclDataTypeSize(dtype)));
    ops.Copy(view, buffer, dense, copy);
    view = dense;
    buffer = copy;
  };
  if (view.dtype != promoted) convert(promoted);
  if (promoted == ACL_FLOAT16 || promoted == ACL_BF16) convert(ACL_FLOAT);
  if (!IsContiguous(view) || is_written) convert(view.dtype);
  buffer.offset += ByteOffset(view);
  return buffer;
}

struct Operand {
  StridedView view;
  engine::BufferRef buffer;
};

constexpr int kNoSorter = -1;

void SetSearch(const OperatorCall& call, int sequence_index, const Operand& number, int sorter_index,
               const StridedView& out, int out_index, OpList& ops) {
  if (call.work == OperatorCall::Work::kNoTerms) {
    if (!out.shape.IsEmpty()) ops.Fill(out, OperandBuffer(out_index), ops.Value({}));
    return ops.SetJob();
  }
  const StridedView sequence = PlainView(call.Tensor(sequence_index));
  const auto is_written = [&](int tensor) { return call.Tensor(tensor).data == call.Tensor(out_index).data; };
  engine::Search search{};
  search.dtype = call.promoted == ACL_FLOAT16 || call.promoted == ACL_BF16 ? ACL_FLOAT : call.promoted;
  search.length = sequence.shape[sequence.shape.rank - 1];
  search.rows = sequence.numel / search.length;
  search.numbers = number.view.numel / search.rows;
  search.is_right = call.attributes[kIsRight].integer != 0;
  search.is_wide = call.attributes[kIsInt32].integer == 0;
  search.sequence =
      Compared(sequence, OperandBuffer(sequence_index), call.promoted, is_written(sequence_index), ops);
  search.number = Compared(number.view, number.buffer, call.promoted, /*is_written=*/false, ops);
  search.has_order = sorter_index != kNoSorter && call.IsGiven(sorter_index);
  if (search.has_order) {
    search.order = Compared(PlainView(call.Tensor(sorter_index)), OperandBuffer(sorter_index), ACL_INT64,
                            is_written(sorter_index), ops);
    search.order_name = call.Name(sorter_index);
  }
  const bool is_dense = IsContiguous(out);
  const auto size = static_cast<int64_t>(aclDataTypeSize(out.dtype));
  search.positions =
      is_dense ? engine::BufferRef{out_index, ByteOffset(out)} : ops.Workspace(out.numel * size);
  ops.Search(search);
  if (!is_dense) ops.Copy(DenseTensor(out.shape, out.dtype), search.positions, out, OperandBuffer(out_index));
  ops.SetJob();
}

// The search, and the copies around it.
constexpr int kMostOps = 8;

void SetNumbers(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, kMostOps);
  SetSearch(call, kSequence, {PlainView(call.Tensor(kSelf)), OperandBuffer(kSelf)}, kSorter,
            PlainView(call.Tensor(kOut)), kOut, ops);
}

void SetBuckets(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, kMostOps);
  SetSearch(call, kBoundaries, {PlainView(call.Tensor(kBucketed)), OperandBuffer(kBucketed)}, kNoSorter,
            PlainView(call.Tensor(kBucket)), kBucket, ops);
}

// Converts the number to FLOAT first, and then to the sequence's dtype.
void SetOneNumber(const OperatorCall& call, aclTensor& out, Executor& executor) {
  out.shape = Shape{1};
  out.strides = Shape{1};
  out.Describe();
  OpList ops(executor, kMostOps);
  aclScalar rounded;
  rounded.dtype = ACL_FLOAT;
  const ScalarValue value = ConvertScalar(call.Scalar(kNumber), ACL_FLOAT);
  std::memcpy(rounded.value, value.bytes, sizeof(float));
  Operand number{DenseTensor(Shape{1}, call.promoted), ops.Value(ConvertScalar(rounded, call.promoted))};
  SetSearch(call, kOneSequence, number, kOneSorter, PlainView(out), kOneOut, ops);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSearchSorted) { return RunPhase1(call, kChecks, workspaceSize, executor, SetNumbers); }

PORTACL_PHASE_1(aclnnSearchSorteds) {
  return RunPhase1(
      call, kOneChecks, workspaceSize, executor,
      [&given](const OperatorCall& checked, Executor& fresh) { SetOneNumber(checked, *given.out, fresh); });
}

PORTACL_PHASE_1(aclnnBucketize) {
  return RunPhase1(call, kBucketChecks, workspaceSize, executor, SetBuckets);
}
