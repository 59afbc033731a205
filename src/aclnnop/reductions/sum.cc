// aclnnReduceSum, aclnnReduceNansum, aclnnReduceLogSum, aclnnMean, aclnnMeanV2 and aclnnTrace: sums over
// dims, and results derived from sums.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/reductions/sum_functions.h"

#include <algorithm>
#include <limits>

#include "aclnnop/jobs/reduction_call.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/promotion.h"
#include "plan/views.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum Attributes { kDims, kKeep, kDtype };
constexpr int kNoop = kDtype;  // in operators without a dtype
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr DtypeRule kSumDtypes = WithBf16SinceAtlasA2(kRealNumbers | kBool | kComplex);
constexpr DtypeRule kMeanDtypes = WithBf16SinceAtlasA2(kRealNumbers | kComplex);
constexpr DtypeRule kNansumDtypes = ByGeneration({}, kFloatHalfAndBf16 | kIntegersAndBool, kFloatHalfAndBf16);
constexpr DtypeRule kLogSumDtypes = ByGeneration(kFloatAndHalf, kFloatAndHalf, kFloatHalfAndBf16);

bool HasNoDims(const OperatorCall& call) noexcept { return call.Tensor(kSelf).shape.rank == 0; }
bool HasDims(const OperatorCall& call) noexcept { return !HasNoDims(call); }
bool IsEmpty(const OperatorCall& call) noexcept { return call.Tensor(kSelf).shape.IsEmpty(); }
bool IsLeftAlone(const OperatorCall& call) noexcept {
  return call.Array(kDims).empty() && call.attributes[kNoop].integer != 0;
}
bool IsReduced(const OperatorCall& call) noexcept { return !IsLeftAlone(call); }

aclnnStatus CastsToDtype(const Check& check, OperatorCall& call) noexcept {
  const aclDataType dtype = call.attributes[kDtype].dtype();
  if (CanCast(call.Tensor(kSelf).dtype, dtype)) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, kSelf).Add(" does not cast to dtype, which is ");
  AddDtypeName(message, dtype);
  AddCannotCast(message, call.Tensor(kSelf).dtype, dtype);
  return FailAclnn(check.code, message.Add(", accepted: a dtype that it casts to."));
}
aclnnStatus DtypeCastsToOut(const Check& check, OperatorCall& call) noexcept {
  const aclDataType dtype = call.attributes[kDtype].dtype();
  if (CanCast(dtype, call.Tensor(kOut).dtype)) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, kOut).Add(" is not one that dtype casts to, which is ");
  AddDtypeName(message, dtype);
  AddCannotCast(message, dtype, call.Tensor(kOut).dtype);
  return FailAclnn(check.code, message.Add(", accepted: a dtype that it casts to."));
}
aclnnStatus SumsReals(const Check& check, OperatorCall& call) noexcept {
  if (!call.Tensor(kSelf).shape.IsEmpty()) return ACL_SUCCESS;
  if (!kComplex.Contains(call.Tensor(kOut).dtype)) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, kOut);
  return FailAclnn(check.code,
                   message.Add(" is complex while self has no elements, accepted: a real dtype."));
}
aclnnStatus ShapeStays(const Check&, OperatorCall& call) noexcept {
  call.broadcast = call.Tensor(kSelf).shape;
  return ACL_SUCCESS;
}

constexpr auto kNotNulls = List(NotNull(kSelf), ArrayNotNull(kDims), NotNull(kOut));
constexpr auto kEmptyIsReal =
    List(SizesRepresentable({kOut}), Custom(SumsReals), GivesValueIfEmpty(kSelf), kSetsReducedShape);
constexpr auto kShapeOfOut =
    List(If(HasDims, ShapeIsResultOrOne(kOut)),
         If(HasNoDims, WithCode(ACLNN_ERR_INNER_NULLPTR, ShapeIsResultOrOne(kOut))), InsideStorage({kSelf}));

constexpr auto kSumChecks =
    Join(kNotNulls,
         List(DtypesIn(kSumDtypes, {kSelf}), DtypesIn(kSumDtypes, {kOut}), DtypeIn(kSumDtypes, kDtype),
              DtypeIs(kOut, kDtype), RankAtMost(8, {kSelf})),
         DimsChecks(), kEmptyIsReal, kShapeOfOut);

constexpr auto kMeanChecks =
    Join(kNotNulls,
         List(DtypesIn(kMeanDtypes, {kSelf}), DtypeIn(kMeanDtypes, kDtype), DtypesIn(kMeanDtypes, {kOut}),
              Custom(CastsToDtype), Custom(DtypeCastsToOut)),
         DimsChecks(), List(RankAtMost(8, {kSelf, kOut})), kEmptyIsReal,
         List(ShapeIsResultOrOne(kOut), InsideStorage({kSelf})));

constexpr auto kMeanV2Checks = Join(
    kNotNulls, List(DtypesIn(kMeanDtypes, {kSelf}), DtypesIn(kMeanDtypes, {kOut}), SameDtype(kSelf, kOut)),
    DimsChecks(), List(RankAtMost(8, {kSelf, kOut})), kEmptyIsReal,
    List(If(IsLeftAlone, Custom(ShapeStays)), ShapeIsResultOrOne(kOut), InsideStorage({kSelf})));

aclnnStatus HasNansum(const Check& check, OperatorCall& call) noexcept {
  if (products::kSinceAtlasA2.Contains(call.product)) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("parameter self is not supported by this product, accepted: "
                                          "Atlas A2, Atlas A3 and Ascend 950."));
}
constexpr auto kNansumChecks =
    Join(kNotNulls,
         List(Custom(HasNansum), DtypesIn(kNansumDtypes, {kSelf}), DtypeIn(kNansumDtypes, kDtype),
              DtypesIn(kNansumDtypes, {kOut}), DtypeIs(kOut, kDtype), CastsTo(kSelf, kOut)),
         DimsChecks(), List(RankAtMost(8, {kSelf, kOut})),
         List(SizesRepresentable({kOut}), GivesValueIfEmpty(kSelf), kSetsReducedShape,
              ShapeIsResultOrOne(kOut), InsideStorage({kSelf})));

constexpr auto kLogSumChecks =
    Join(kNotNulls,
         List(DtypesIn(kLogSumDtypes, {kSelf}), DtypesIn(kLogSumDtypes, {kOut}), RankAtMost(8, {kSelf})),
         DimsChecks(),
         List(SizesRepresentable({kOut}), GivesValueIfEmpty(kSelf), kSetsReducedShape,
              If(IsLeftAlone, Custom(ShapeStays)), If(IsReduced, ShapeIsResultOrOne(kOut)),
              If(IsLeftAlone, WithCode(ACLNN_ERR_INNER_NULLPTR, ShapeIsResultOrOne(kOut))),
              WithCode(ACLNN_ERR_INNER_NULLPTR, SameDtype(kSelf, kOut)), InsideStorage({kSelf})));

void SetSum(const OperatorCall& call, Executor& executor) {
  if (IsEmpty(call)) return SetReductionValue(call, 0, executor);
  SetSumJob(call, ReducedDims(call), call.attributes[kDtype].dtype(), /*is_mean=*/false, executor);
}
void SetMean(const OperatorCall& call, Executor& executor) {
  if (IsEmpty(call)) return SetReductionValue(call, kNan, executor);
  SetSumJob(call, ReducedDims(call), call.attributes[kDtype].dtype(), /*is_mean=*/true, executor);
}
void SetMeanV2(const OperatorCall& call, Executor& executor) {
  if (IsEmpty(call)) return SetReductionValue(call, kNan, executor);
  const uint32_t reduced = IsLeftAlone(call) ? 0 : ReducedDims(call);
  SetSumJob(call, reduced, call.Tensor(kSelf).dtype, /*is_mean=*/true, executor);
}
void SetNansum(const OperatorCall& call, Executor& executor) {
  if (IsEmpty(call)) return SetReductionValue(call, 0, executor);
  const aclDataType dtype = call.attributes[kDtype].dtype();
  if (!kFloatHalfAndBf16.Contains(dtype))
    return SetSumJob(call, ReducedDims(call), dtype, /*is_mean=*/false, executor);
  SetAxisReductionJob(
      call,
      {ReducedDims(call), dtype, {{.operation = engine::ReductionOperation::kSumOfNumbers, .output = kOut}}},
      executor);
}
void SetLogSum(const OperatorCall& call, Executor& executor) {
  if (IsEmpty(call)) return SetReductionValue(call, 0, executor);
  const bool is_copy = IsLeftAlone(call);
  const engine::ReductionEpilogue ending =
      is_copy ? engine::ReductionEpilogue::kNone : engine::ReductionEpilogue::kLog;
  SetAxisReductionJob(call,
                      {is_copy ? 0 : ReducedDims(call),
                       call.Tensor(kSelf).dtype,
                       {{.operation = engine::ReductionOperation::kSum, .ending = ending, .output = kOut}}},
                      executor);
}

// ---- Trace ----

aclnnStatus OutIsOfSum(const Check& check, OperatorCall& call) noexcept {
  const aclDataType self = call.Tensor(kSelf).dtype;
  const aclDataType sum = kIntegersAndBool.Contains(self) ? ACL_INT64 : self;
  if (call.Tensor(kOut).dtype == sum) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, kOut).Add(" is not that of self's sum, accepted: ");
  AddDtypeName(message, sum);
  return FailAclnn(check.code, message.Add("."));
}

constexpr auto kTraceChecks =
    List(NotNull(kSelf), NotNull(kOut), RankIs(2, {kSelf}), RankIs(0, {kOut}), DtypesIn(kSumDtypes, {kSelf}),
         Custom(OutIsOfSum), SizesRepresentable({kOut}), GivesValueIfEmpty(kSelf), InsideStorage({kSelf}));

void SetTrace(const OperatorCall& call, Executor& executor) {
  if (IsEmpty(call)) return SetReductionValue(call, 0, executor);
  StridedView diagonal = PlainView(call.Tensor(kSelf));
  const int64_t length = std::min(diagonal.shape[0], diagonal.shape[1]);
  diagonal.strides.dim[0] += diagonal.strides[1];
  diagonal.shape = Shape{length};
  diagonal.strides.rank = 1;
  diagonal.Describe();
  SetSumJob(call, 1, call.Tensor(kOut).dtype, /*is_mean=*/false, executor, &diagonal);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnReduceSum) { return RunPhase1(call, kSumChecks, workspaceSize, executor, SetSum); }

PORTACL_PHASE_1(aclnnReduceNansum) {
  return RunPhase1(call, kNansumChecks, workspaceSize, executor, SetNansum);
}

PORTACL_PHASE_1(aclnnReduceLogSum) {
  return RunPhase1(call, kLogSumChecks, workspaceSize, executor, SetLogSum);
}

PORTACL_PHASE_1(aclnnMean) { return RunPhase1(call, kMeanChecks, workspaceSize, executor, SetMean); }

PORTACL_PHASE_1(aclnnMeanV2) { return RunPhase1(call, kMeanV2Checks, workspaceSize, executor, SetMeanV2); }

PORTACL_PHASE_1(aclnnTrace) { return RunPhase1(call, kTraceChecks, workspaceSize, executor, SetTrace); }
