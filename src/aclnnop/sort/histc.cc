// aclnnHistc: counts the elements in bins of one width.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/sort/histc_functions.h"

#include <cmath>
#include <limits>

#include "aclnnop/jobs/op_list.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

using engine::Histogram;

enum Tensors { kSelf, kOut };
enum Attributes { kBins, kLow, kHigh };

constexpr DtypeRule kNumbers = Everywhere(kIntegers | kFloatAndHalf);

bool IsFloating(const OperatorCall& call) noexcept {
  return kFloatAndHalf.Contains(call.Tensor(kSelf).dtype);
}

// Returns a bound as FLOAT. It is 0 for a dtype without conversion, which the last check refuses.
float BoundOf(const OperatorCall& call, int attribute) {
  const aclScalar& scalar = call.Scalar(attribute);
  if (!ScalarConverts(scalar.dtype, ACL_FLOAT)) return 0;
  const ScalarValue value = ConvertScalar(scalar, ACL_FLOAT);
  float bound = 0;
  std::memcpy(&bound, value.bytes, sizeof bound);
  return bound;
}

aclnnStatus BoundsAreNumbers(const Check& check, OperatorCall& call) noexcept {
  const float low = BoundOf(call, kLow);
  const float high = BoundOf(call, kHigh);
  if ((std::isfinite(low) && std::isfinite(high)) || low == high) return ACL_SUCCESS;
  const bool is_low = !std::isfinite(low);
  Text message = StartMessage(call);
  message.Add("parameter ").Add(is_low ? "min" : "max").Add(" has the value ").Add(is_low ? low : high);
  return FailAclnn(check.code, message.Add(", accepted: finite numbers, or the same infinity twice."));
}

aclnnStatus BinsArePositive(const Check& check, OperatorCall& call) noexcept {
  const int64_t bins = call.attributes[kBins].integer;
  if (bins > 0) return ACL_SUCCESS;
  return RefuseInteger(check, call, "bins", bins, 1, std::numeric_limits<int64_t>::max());
}

// Converts a bound to INT32 with saturation, for the comparison of integer bounds.
int32_t AsInt32(float bound) {
  if (!(bound > static_cast<float>(std::numeric_limits<int32_t>::min())))
    return std::numeric_limits<int32_t>::min();
  if (bound >= static_cast<float>(std::numeric_limits<int32_t>::max()))
    return std::numeric_limits<int32_t>::max();
  return static_cast<int32_t>(bound);
}
aclnnStatus BoundsAscend(const Check& check, OperatorCall& call) noexcept {
  const float low = BoundOf(call, kLow);
  const float high = BoundOf(call, kHigh);
  if (IsFloating(call) ? !(low > high) : AsInt32(low) <= AsInt32(high)) return ACL_SUCCESS;
  Text message = StartMessage(call);
  message.Add("parameter min has the value ")
      .Add(low)
      .Add(", accepted: at most that of max, which is ")
      .Add(high);
  return FailAclnn(check.code, message.Add("."));
}

aclnnStatus OutHasBins(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted{call.attributes[kBins].integer};
  return call.Tensor(kOut).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, kOut, accepted);
}

aclnnStatus NoneIfEmpty(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kSelf).shape.IsEmpty()) call.work = OperatorCall::Work::kNoTerms;
  return ACL_SUCCESS;
}

constexpr Check kChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kOut),
    ScalarNotNull(kHigh),
    ScalarNotNull(kLow),
    DtypesIn(kNumbers, {kSelf, kOut}),
    Custom(BoundsAreNumbers),
    Custom(BinsArePositive),
    Custom(BoundsAscend),
    CastsTo(kOut, kSelf),
    RankIs(1, {kOut}),
    RankAtMost(8, {kSelf}),
    Custom(OutHasBins),
    SizesRepresentable({kOut}),
    Custom(NoneIfEmpty),
    ScalarsImplemented(kConvertible, {kLow, kHigh}),
    InsideStorage({kSelf}),
};

// Converts a bound to FLOAT, then to `through`, then to self's type.
template <class T>
T ConvertedBound(const OperatorCall& call, int attribute, aclDataType through, aclDataType to) {
  aclScalar bound;
  bound.dtype = ACL_FLOAT;
  const float value = BoundOf(call, attribute);
  std::memcpy(bound.value, &value, sizeof value);
  ScalarValue converted = ConvertScalar(bound, through);
  bound.dtype = through;
  std::memcpy(bound.value, converted.bytes, sizeof bound.value);
  converted = ConvertScalar(bound, to);
  T number{};
  std::memcpy(&number, converted.bytes, sizeof number);
  return number;
}

void SetHistc(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 3);
  const StridedView out = PlainView(call.Tensor(kOut));
  if (call.work == OperatorCall::Work::kNoTerms) {
    ops.Fill(out, OperandBuffer(kOut), ops.Value({}));
    return ops.SetJob();
  }
  StridedView self = PlainView(call.Tensor(kSelf));
  const auto size = static_cast<int64_t>(aclDataTypeSize(self.dtype));
  Histogram histogram{};
  histogram.count = self.numel;
  histogram.bins = call.attributes[kBins].integer;
  const aclDataType computed = IsFloating(call) ? ACL_FLOAT : ACL_INT64;
  engine::BufferRef buffer = ops.Flatten(self, kSelf);
  buffer.offset += ByteOffset(self);
  histogram.numbers = {buffer, self.numel == 1 ? size : ByteStride(self, 0),
                       &engine::ConversionBetween(call.isa, self.dtype, computed)};
  if (IsFloating(call)) {
    constexpr float kSame = 1e-6f;
    histogram.kind = Histogram::Kind::kFloat;
    histogram.low = ConvertedBound<float>(call, kLow, self.dtype, ACL_FLOAT);
    histogram.high = ConvertedBound<float>(call, kHigh, self.dtype, ACL_FLOAT);
    histogram.finds_bounds =
        histogram.low == histogram.high || std::fabs(histogram.high - histogram.low) < kSame;
  } else {
    histogram.kind = Histogram::Kind::kInteger;
    histogram.integer_low = ConvertedBound<int64_t>(call, kLow, self.dtype, ACL_INT64);
    histogram.integer_high = ConvertedBound<int64_t>(call, kHigh, self.dtype, ACL_INT64);
    histogram.finds_bounds = histogram.integer_low == histogram.integer_high;
  }
  const engine::BufferRef counts = ops.Histogram(histogram, call.attributes[kBins].name);
  ops.Copy(DenseTensor(out.shape, ACL_INT64), counts, out, OperandBuffer(kOut));
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnHistc) { return RunPhase1(call, kChecks, workspaceSize, executor, SetHistc); }
