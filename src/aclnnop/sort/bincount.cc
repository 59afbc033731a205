// aclnnBincount: counts each number, or sums its weights.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/sort/bincount_functions.h"

#include <algorithm>
#include <limits>

#include "aclnnop/jobs/op_list.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

using engine::Histogram;

enum Tensors { kSelf, kWeights, kOut };
enum Attributes { kLeast };

constexpr DtypeRule kCounted = Everywhere(kIntegers);
constexpr DtypeSet kWeightDtypes = kIntegersAndBool | kFloatAndHalf | kDouble;
constexpr DtypeSet kSums{ACL_FLOAT, ACL_DOUBLE, ACL_INT32, ACL_INT64};

bool IsWeighed(const OperatorCall& call) noexcept { return call.IsGiven(kWeights); }
int64_t OutLength(const OperatorCall& call) noexcept {
  const aclTensor& out = call.Tensor(kOut);
  return out.shape.rank == 0 ? 1 : out.shape[0];
}
int64_t Bins(const OperatorCall& call) noexcept {
  return std::max(OutLength(call), call.attributes[kLeast].integer);
}

// An empty self has nothing to count.
aclnnStatus NoneIfEmpty(const Check&, OperatorCall& call) noexcept {
  if (!call.Tensor(kSelf).shape.IsEmpty()) return ACL_SUCCESS;
  call.work =
      call.attributes[kLeast].integer > 0 ? OperatorCall::Work::kNoTerms : OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

aclnnStatus BinsFitInt32(const Check& check, OperatorCall& call) noexcept {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const int64_t bins = Bins(call);
  if (bins <= kMost) return ACL_SUCCESS;
  if (bins == call.attributes[kLeast].integer) return RefuseInteger(check, call, "minlength", bins, 0, kMost);
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kOut);
  return FailAclnn(check.code, message.Add(" is too long, accepted: at most ").Add(kMost).Add(" elements."));
}

aclnnStatus BinsFitOut(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& out = call.Tensor(kOut);
  const int64_t bins = Bins(call);
  if ((out.shape.rank == 1 && out.shape[0] == bins) || (out.numel == 1 && bins == 1)) return ACL_SUCCESS;
  return RefuseShape(check, call, kOut, Shape{bins});
}

constexpr Check kChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kOut),
    DtypesIn(kCounted, {kSelf}),
    DtypesIn(kSums, {kOut}),
    If(IsWeighed, DtypesIn(kWeightDtypes, {kWeights})),
    NotPrivate({kSelf, kOut}),
    RankIs(1, {kSelf}),
    If(IsWeighed, SameFormat({kSelf, kWeights})),
    If(IsWeighed, SameShape(kSelf, kWeights)),
    SizesRepresentable({kOut}),
    Custom(NoneIfEmpty),
    Custom(BinsFitInt32),
    Custom(BinsFitOut, ACLNN_ERR_INNER_NULLPTR),
    DoneIfEmpty({kOut}),
    InsideStorage({kSelf}),
    If(IsWeighed, InsideStorage({kWeights})),
};

Histogram::Stream StreamOf(const OperatorCall& call, int tensor, aclDataType dtype) {
  const StridedView view = PlainView(call.Tensor(tensor));
  const auto size = static_cast<int64_t>(aclDataTypeSize(view.dtype));
  return {{tensor, ByteOffset(view)},
          view.numel == 1 ? size : ByteStride(view, 0),
          &engine::ConversionBetween(call.isa, view.dtype, dtype)};
}

void SetBincount(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 2);
  const StridedView out = PlainView(call.Tensor(kOut));
  if (call.work == OperatorCall::Work::kNoTerms) {
    if (!out.shape.IsEmpty()) ops.Fill(out, OperandBuffer(kOut), ops.Value({}));
    return ops.SetJob();
  }
  Histogram histogram{};
  histogram.kind = Histogram::Kind::kIntegers;
  histogram.name = call.Name(kSelf);
  histogram.count = call.Tensor(kSelf).numel;
  histogram.bins = Bins(call);
  histogram.numbers = StreamOf(call, kSelf, ACL_INT64);
  aclDataType sums = ACL_INT64;
  histogram.is_weighed = IsWeighed(call);
  if (histogram.is_weighed) {
    histogram.is_weight_float = call.Tensor(kWeights).dtype == ACL_FLOAT;
    sums = histogram.is_weight_float ? ACL_FLOAT : ACL_DOUBLE;
    histogram.weights = StreamOf(call, kWeights, sums);
  }
  const engine::BufferRef buffer = ops.Histogram(histogram, call.Name(kOut));
  ops.Copy(DenseTensor(out.shape, sums), buffer, out, OperandBuffer(kOut));
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnBincount) { return RunPhase1(call, kChecks, workspaceSize, executor, SetBincount); }
