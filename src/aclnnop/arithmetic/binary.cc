// Functions of two operands, such as Atan2, with their in-place forms, and XLogY of a tensor and a scalar:
// integers are computed in float32.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/binary.cc"
#include "base/foreach_target.h"

#include "engine/functions/functions-inl.h"
#include "engine/map/scalar_operand-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace binary {

using namespace engine::HWY_NAMESPACE;

struct Angle : Elementwise<Angle> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double>;
  static constexpr int kInputs = 2;
  explicit Angle(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V x) const {
    return functions::Atan2(d, y, x);
  }
};

struct TimesLog : Elementwise<TimesLog> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 2;
  explicit TimesLog(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V y) const {
    const auto is_zero = hn::AndNot(hn::IsNaN(y), hn::Eq(x, hn::Zero(d)));
    return hn::IfThenZeroElse(is_zero, hn::Mul(x, functions::Log(d, y)));
  }
};

struct TimesLog1p : Elementwise<TimesLog1p> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 2;
  explicit TimesLog1p(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V y) const {
    const auto is_zero = hn::AndNot(hn::IsNaN(y), hn::Eq(x, hn::Zero(d)));
    return hn::IfThenZeroElse(is_zero, hn::Mul(x, functions::Log1p(d, y)));
  }
};

struct Heaviside : Elementwise<Heaviside> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 2;
  explicit Heaviside(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V at_zero) const {
    const V zero = hn::Zero(d);
    return hn::IfThenElse(hn::Eq(x, zero), at_zero, hn::IfThenElseZero(hn::Gt(x, zero), hn::Set(d, 1.0f)));
  }
};

using TimesLogWithScalar = WithEitherScalar<TimesLog>;

struct MaskedScale : Elementwise<MaskedScale> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 2;
  explicit MaskedScale(const Parameters& parameters) : scale(parameters.Get<float>(0)) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V mask) const {
    return hn::Mul(hn::Mul(x, mask), hn::Set(d, scale));
  }

  float scale;
};

}  // namespace binary
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/arithmetic/binary_functions.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/float_attributes.h"
#include "aclnnop/phase1.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

constexpr auto kAngle = PORTACL_VALUE_KERNELS(binary::Angle);
constexpr auto kTimesLog = PORTACL_VALUE_KERNELS(binary::TimesLog);
constexpr auto kTimesLogWithScalar = PORTACL_VALUE_KERNELS(binary::TimesLogWithScalar);
constexpr auto kTimesLog1p = PORTACL_VALUE_KERNELS(binary::TimesLog1p);
constexpr auto kHeaviside = PORTACL_VALUE_KERNELS(binary::Heaviside);
constexpr auto kMaskedScale = PORTACL_VALUE_KERNELS(binary::MaskedScale);

enum Tensors { kSelf, kOther, kOut };

// The output may have any dtype to which the result converts.
constexpr auto EndOfChecks(int out) {
  return List(RankAtMost(8, {kSelf, kOther}), Broadcasts({kSelf, kOther}), ShapeIsBroadcast(out),
              SizesRepresentable({out}), DoneIfEmpty({kSelf, kOther}), InsideStorage({kSelf, kOther}),
              Promotes({kSelf, kOther}), ReplacesPromoted(kIntegersAndBool, ACL_FLOAT),
              DtypeImplemented({out}, kConvertible));
}
constexpr auto AngleChecks(int out) {
  return Join(
      List(NotNull(kSelf), NotNull(kOther), NotNull(out), DtypesIn(kRealArithmeticDtypes, {kSelf, kOther})),
      EndOfChecks(out), List(FunctionsThere(kDouble, WhyFunctionsAreMissing)));
}
constexpr DtypeRule kTimesLogDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kIntegersAndBool);
constexpr auto TimesLogChecks(int out) {
  return Join(
      List(NotNull(kSelf), NotNull(kOther), NotNull(out), DtypesIn(kTimesLogDtypes, {kSelf, kOther, out})),
      EndOfChecks(out));
}

constexpr auto TimesLog1pChecks(int out) {
  return Join(List(NotNull(kSelf), NotNull(kOther), NotNull(out), DtypesIn(kBf16SinceAtlasA2, {kSelf}),
                   SameDtype(kSelf, kOther), SameDtype(kSelf, out)),
              EndOfChecks(out));
}

// CANN compares only the numbers of elements.
aclnnStatus CountsAgree(const Check& check, OperatorCall& call) noexcept {
  int64_t count = 0;
  if (call.broadcast.Numel(&count) && count == call.Tensor(kOut).numel) return ACL_SUCCESS;
  return RefuseShape(check, call, kOut, call.broadcast);
}
constexpr auto HeavisideChecks(int out) {
  return Join(
      List(NotNull(kSelf), NotNull(kOther), NotNull(out), DtypesIn(kBf16SinceAtlasA2, {kSelf, kOther, out}),
           RankAtMost(8, {kSelf, kOther}), Broadcasts({kSelf, kOther}), Custom(CountsAgree),
           WithCode(ACLNN_ERR_INNER_NULLPTR, SameDtype(kSelf, out)),
           WithCode(ACLNN_ERR_INNER_NULLPTR, ShapeIsBroadcast(out)), PromotesTo(ACL_FLOAT)),
      ComputableChecks({kSelf, kOther}, out));
}

// XLogY of a tensor and a scalar, whose dtype counts as a tensor's.
enum ScalarTensors { kTensor, kResult };
enum Attributes { kScalar };
constexpr DtypeRule kTimesLogScalars = WithBf16SinceAtlasA2(kFloatAndHalf | kIntegersAndBool | kDouble);
constexpr auto ScalarChecks(const Check& first_null, const Check& second_null, int out) {
  return List(first_null, second_null, NotNull(out), DtypesIn(kTimesLogDtypes, {kTensor, out}),
              ScalarDtypesIn(kTimesLogScalars, {kScalar}), PromotesScalar(kTensor, kScalar),
              ReplacesPromoted(kIntegersAndBool | kDouble, ACL_FLOAT), PromotedCastsTo(out),
              RankAtMost(8, {kTensor}), SameShape(kTensor, out), SizesRepresentable({out}),
              DoneIfEmpty({kTensor}), InsideStorage({kTensor}), DtypeImplemented({out}, kConvertible));
}
constexpr auto kScalarOtherChecks = ScalarChecks(NotNull(kTensor), ScalarNotNull(kScalar), kResult);
constexpr auto kInPlaceScalarOtherChecks = ScalarChecks(NotNull(kTensor), ScalarNotNull(kScalar), kTensor);
constexpr auto kScalarSelfChecks = ScalarChecks(ScalarNotNull(kScalar), NotNull(kTensor), kResult);

template <bool kScalarIsFirst>
void SetWithScalar(const OperatorCall& call, Executor& executor) {
  engine::Scalars scalars;
  SetMapScalar(call, kTimesLogWithScalar, call.Scalar(kScalar), scalars, 0);
  if (kScalarIsFirst) scalars.SetScalarIsFirst();
  SetMapJob(call, {kTensor}, call.Output(), kTimesLogWithScalar, scalars, executor);
}

constexpr DtypeRule kScaledDtypes = ByGeneration(kNoDtype, kNoDtype, kFloatHalfAndBf16);
constexpr DtypeRule kMaskDtypes = Everywhere(DtypeSet{ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_UINT8});
constexpr auto MaskedScaleChecks(int out) {
  return Join(
      List(NotNull(kSelf), NotNull(kOther), NotNull(out), DtypesIn(kScaledDtypes, {kSelf}),
           DtypesIn(kMaskDtypes, {kOther}), SameDtype(kSelf, out), RankAtMost(8, {kSelf}),
           SameShape(kSelf, kOther), SameShape(kSelf, out), SameFormat({kSelf, out}), PromotesTo(ACL_FLOAT)),
      ComputableChecks({kSelf, kOther}, out));
}

template <const engine::KernelTable& kKernels>
void SetBinary(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kSelf, kOther}, call.Output(), kKernels, FloatScalars(call), executor);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

// Defines phase 1 of a function, and that of aclnnNAME and aclnnInplaceNAME.
#define PORTACL_OF_TWO(api, kernels, checks, out)                                 \
  PORTACL_PHASE_1(api) {                                                          \
    static constexpr auto kChecks = checks(out);                                  \
    return RunPhase1(call, kChecks, workspaceSize, executor, SetBinary<kernels>); \
  }
#define PORTACL_BINARY(name, kernels, checks)        \
  PORTACL_OF_TWO(aclnn##name, kernels, checks, kOut) \
  PORTACL_OF_TWO(aclnnInplace##name, kernels, checks, kSelf)

PORTACL_BINARY(Atan2, kAngle, AngleChecks)
PORTACL_BINARY(XLogYTensor, kTimesLog, TimesLogChecks)
PORTACL_OF_TWO(aclnnHeaviside, kHeaviside, HeavisideChecks, kOut)
PORTACL_OF_TWO(aclnnXlog1py, kTimesLog1p, TimesLog1pChecks, kOut)
PORTACL_OF_TWO(aclnnMaskedScale, kMaskedScale, MaskedScaleChecks, kOut)

PORTACL_PHASE_1(aclnnXLogYScalarOther) {
  return RunPhase1(call, kScalarOtherChecks, workspaceSize, executor, SetWithScalar<false>);
}
PORTACL_PHASE_1(aclnnInplaceXLogYScalarOther) {
  return RunPhase1(call, kInPlaceScalarOtherChecks, workspaceSize, executor, SetWithScalar<false>);
}
PORTACL_PHASE_1(aclnnXLogYScalarSelf) {
  return RunPhase1(call, kScalarSelfChecks, workspaceSize, executor, SetWithScalar<true>);
}

#endif  // HWY_ONCE
