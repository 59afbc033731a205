// aclnnArange, aclnnRange and aclnnLinspace: evenly spaced numbers; aclnnEye: ones on a diagonal.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/creation/range_functions.h"

#include <algorithm>
#include <cstring>

#include "aclnnop/binary_checks.h"
#include "aclnnop/phase1.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

constexpr int kOut = 0;
enum ScalarsOfRange { kStart, kEnd, kStep };
enum AttributesOfLinspace { kFirst, kLast, kSteps };
enum AttributesOfEye { kRows, kColumns };

constexpr DtypeRule kBounds = WithBf16SinceAtlasA2(DtypeSet{
    ACL_FLOAT, ACL_INT32, ACL_INT64, ACL_FLOAT16, ACL_INT16, ACL_INT8, ACL_UINT8, ACL_DOUBLE, ACL_BOOL});
constexpr DtypeRule kRanged =
    WithBf16SinceAtlasA2(DtypeSet{ACL_FLOAT16, ACL_FLOAT, ACL_DOUBLE, ACL_INT64, ACL_INT32});
constexpr DtypeSet kEyesOld{ACL_FLOAT, ACL_INT32, ACL_FLOAT16, ACL_INT8,
                            ACL_INT16, ACL_UINT8, ACL_INT64,   ACL_BOOL};
// CANN lists the products without BF16 here, and "no device" is not among them.
constexpr DtypeRule kEyes = WithBf16SinceAtlasA2(kEyesOld).On({Product::kNoDevice}, kEyesOld | kBf16);
constexpr DtypeSet kSpacedOld{ACL_FLOAT, ACL_FLOAT16, ACL_INT32, ACL_INT8, ACL_UINT8, ACL_DOUBLE};
constexpr DtypeSet kSpacedNew{ACL_FLOAT, ACL_FLOAT16, ACL_BF16,  ACL_INT32, ACL_INT16,
                              ACL_INT8,  ACL_UINT8,   ACL_INT64, ACL_DOUBLE};
// The accepted dtypes of each product; none on Atlas 200I/500 A2 and without a device.
constexpr DtypeRule kSpaced{{kSpacedOld, kSpacedNew, kSpacedNew, kSpacedNew, kSpacedOld, kNoDtype, kNoDtype}};

// Converts a scalar to `dtype`, and returns it as a T.
template <class T>
T NumberIn(const aclScalar& scalar, aclDataType dtype) {
  const ScalarValue value = ConvertScalar(scalar, dtype);
  aclScalar converted{dtype, {}};
  std::memcpy(converted.value, value.bytes, sizeof value.bytes);
  constexpr aclDataType kNumber = std::is_same_v<T, float>    ? ACL_FLOAT
                                  : std::is_same_v<T, double> ? ACL_DOUBLE
                                                              : ACL_INT64;
  const ScalarValue number = ConvertScalar(converted, kNumber);
  T result;
  std::memcpy(&result, number.bytes, sizeof result);
  return result;
}

// Calls use with a value of the type in which scalars are computed: FLOAT for FLOAT16 and BF16, INT64 for
// integers.
template <class Use>
auto WithNumberType(aclDataType out, const Use& use) {
  if (out == ACL_DOUBLE) return use(double{}, ACL_DOUBLE);
  return IsInteger(out) ? use(int64_t{}, ACL_INT64) : use(float{}, ACL_FLOAT);
}

void AddNumber(Text& text, int64_t number) { text.Add(number); }
void AddNumber(Text& text, double number) { text.Add(static_cast<float>(number)); }

aclnnStatus CheckStep(const Check&, OperatorCall& call) noexcept {
  return WithNumberType(call.Tensor(kOut).dtype, [&](auto zero, aclDataType dtype) -> aclnnStatus {
    using T = decltype(zero);
    const T start = NumberIn<T>(call.Scalar(kStart), dtype);
    const T end = NumberIn<T>(call.Scalar(kEnd), dtype);
    const T step = NumberIn<T>(call.Scalar(kStep), dtype);
    if ((step > 0 && !(start > end)) || (step < 0 && !(start < end))) return ACL_SUCCESS;
    Text message(call.api, ": parameter step with the value ");
    AddNumber(message, step);
    AddNumber(message.Add(" does not lead from start "), start);
    AddNumber(message.Add(" to end "), end);
    AddDtypeName(message.Add(" in out's dtype "), call.Tensor(kOut).dtype);
    return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                     message.Add(", accepted: a number other than 0, positive where end is greater, "
                                 "negative where it is less."));
  });
}

aclnnStatus CheckEyeShape(const Check&, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kOut).shape;
  const int64_t rows = call.attributes[kRows].integer;
  const int64_t columns = call.attributes[kColumns].integer;
  if (rows >= 0 && columns >= 0 && shape[0] == rows && shape[1] == columns) return ACL_SUCCESS;
  Text message(call.api, ": parameter out with shape ");
  AddShape(message, shape);
  message.Add(" and n ").Add(rows).Add(", m ").Add(columns);
  return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                   message.Add(" do not fit, accepted: n and m of at least 0 and the shape [n,m]."));
}

aclnnStatus CheckReal(const Check&, OperatorCall& call) noexcept {
  for (int i : {kFirst, kLast}) {
    if (!IsComplex(call.Scalar(i).dtype) && call.Scalar(i).dtype != ACL_COMPLEX32) continue;
    Text message(call.api, ": parameter ");
    AddDtypeName(message.Add(call.attributes[static_cast<size_t>(i)].name).Add(" with dtype "),
                 call.Scalar(i).dtype);
    return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add(" is not supported, accepted: a real dtype."));
  }
  return ACL_SUCCESS;
}

aclnnStatus CheckSteps(const Check&, OperatorCall& call) noexcept {
  const int64_t steps = call.attributes[kSteps].integer;
  if (steps >= 0 && call.Tensor(kOut).countable && call.Tensor(kOut).numel == steps) return ACL_SUCCESS;
  Text message(call.api, ": parameter out with shape ");
  AddShape(message, call.Tensor(kOut).shape);
  message.Add(" does not have the elements of parameter steps with the value ").Add(steps);
  return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                   message.Add(", accepted: at least 0, and an out of as many elements."));
}

bool IsLong(const OperatorCall& call) noexcept { return call.attributes[kSteps].integer > 1; }

constexpr auto LastChecks() {
  return List(SizesRepresentable({kOut}), DoneIfEmpty({kOut}),
              WithCode(ACLNN_ERR_INNER_NULLPTR, RankAtMost(8, {kOut})));
}
constexpr auto RangeChecks(aclnnStatus of_null) {
  return List(WithCode(of_null, ScalarNotNull(kStart)), WithCode(of_null, ScalarNotNull(kEnd)),
              WithCode(of_null, ScalarNotNull(kStep)), WithCode(of_null, NotNull(kOut)),
              ScalarDtypesIn(kBounds, {kStart, kEnd, kStep}), DtypesIn(kRanged, {kOut}));
}
constexpr auto kArangeChecks =
    Join(RangeChecks(ACLNN_ERR_PARAM_NULLPTR), List(Check{.run = CheckStep}), LastChecks());
constexpr auto kRangeChecks = Join(RangeChecks(ACLNN_ERR_INNER_NULLPTR),
                                   List(RankAtLeast(1, {kOut}), Check{.run = CheckStep}), LastChecks());
constexpr auto kEyeChecks =
    Join(List(NotNull(kOut), DtypesIn(kEyes, {kOut}), RankIs(2, {kOut}), Check{.run = CheckEyeShape}),
         LastChecks());
constexpr auto kLinspaceChecks =
    Join(List(WithCode(ACLNN_ERR_INNER_NULLPTR, ScalarNotNull(kFirst)),
              WithCode(ACLNN_ERR_INNER_NULLPTR, ScalarNotNull(kLast)),
              WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kOut)), Check{.run = CheckReal},
              DtypesIn(kSpaced, {kOut}), Check{.run = CheckSteps}),
         LastChecks(),
         List(If(IsLong, WithCode(ACLNN_ERR_INNER_NULLPTR, RankIs(1, {kOut}))),
              ScalarsImplemented(kConvertible, {kFirst, kLast})));

// Computes in float64, as CANN's kernels do, except for an INT64 output.
void SetClosedRange(const OperatorCall& call, Executor& executor) {
  const auto set = [&](auto zero, aclDataType dtype) {
    using T = decltype(zero);
    SetSequenceJob(call,
                   engine::EvenlySpaced<T>{NumberIn<T>(call.Scalar(kStart), dtype),
                                           NumberIn<T>(call.Scalar(kStep), dtype)},
                   executor);
  };
  if (call.Tensor(kOut).dtype == ACL_INT64) return set(int64_t{}, ACL_INT64);
  set(double{}, ACL_DOUBLE);
}

void SetRange(const OperatorCall& call, Executor& executor) {
  WithNumberType(call.Tensor(kOut).dtype, [&](auto zero, aclDataType dtype) {
    using T = decltype(zero);
    const engine::EvenlySpaced<T> numbers{NumberIn<T>(call.Scalar(kStart), dtype),
                                          NumberIn<T>(call.Scalar(kStep), dtype)};
    SetSequenceJob(call, numbers, executor);
  });
}

// Computes from both ends, as CANN's kernels and PyTorch do.
template <class T>
void SetSpaced(const OperatorCall& call, aclDataType dtype, Executor& executor) {
  const int64_t last = call.attributes[kSteps].integer - 1;
  engine::EvenlySpaced<T> numbers{NumberIn<T>(call.Scalar(kFirst), dtype), 0,
                                  NumberIn<T>(call.Scalar(kLast), dtype), last, 1};
  if (last > 0) {
    numbers.step = (numbers.end - numbers.start) / static_cast<T>(last);
    numbers.half = (last + 1) / 2;
  }
  SetSequenceJob(call, numbers, executor);
}

// Converts the bounds of integers to their dtype first. Truncates the numbers between them to integers.
void SetLinspace(const OperatorCall& call, Executor& executor) {
  const aclDataType out = call.Tensor(kOut).dtype;
  if (out == ACL_DOUBLE || IsInteger(out)) return SetSpaced<double>(call, out, executor);
  SetSpaced<float>(call, ACL_FLOAT, executor);
}

void SetEye(const OperatorCall& call, Executor& executor) {
  const aclTensor& out = call.Tensor(kOut);
  engine::Periodic ones{};
  ones.size = static_cast<int32_t>(StorageBits(out.dtype) / 8);
  ones.period = out.shape[1] + 1;
  ones.count = std::min(out.shape[0], out.shape[1]);
  aclScalar one{ACL_BOOL, {1}};
  std::memcpy(ones.value, ConvertScalar(one, out.dtype).bytes, sizeof ones.value);
  SetSequenceJob(call, ones, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnArange) { return RunPhase1(call, kArangeChecks, workspaceSize, executor, SetRange); }

PORTACL_PHASE_1(aclnnRange) { return RunPhase1(call, kRangeChecks, workspaceSize, executor, SetClosedRange); }

PORTACL_PHASE_1(aclnnLinspace) {
  return RunPhase1(call, kLinspaceChecks, workspaceSize, executor, SetLinspace);
}

PORTACL_PHASE_1(aclnnEye) { return RunPhase1(call, kEyeChecks, workspaceSize, executor, SetEye); }
