// aclnnLinalgVectorNorm and aclnnNorm: p-norm over dims.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/reductions/norm_functions.h"

#include <cmath>

#include "aclnnop/float_attributes.h"
#include "aclnnop/jobs/reduction_call.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum Attributes { kDims, kKeep, kOrd, kDtype };

constexpr DtypeRule kOn950 = Everywhere(kFloatHalfAndBf16);

aclnnStatus NotComplex(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kSelf, kOut}) {
    if (!kComplex.Contains(call.Tensor(tensor).dtype) && call.Tensor(tensor).dtype != ACL_COMPLEX32) continue;
    Text message = StartMessage(call);
    AddArgumentDtype(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code, message.Add(" is complex, accepted: real dtypes."));
  }
  return ACL_SUCCESS;
}
// Kernels of Ascend 950 keep self's dtype, or widen it to FLOAT.
aclnnStatus KeepsOrWidens(const Check& check, OperatorCall& call) noexcept {
  const aclDataType self = call.Tensor(kSelf).dtype;
  const aclDataType out = call.Tensor(kOut).dtype;
  if (out == self || out == ACL_FLOAT) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, kOut).Add(" does not go with ");
  AddArgumentDtype(message, call, kSelf);
  return FailAclnn(check.code, message.Add(", accepted: the same dtype, or DT_FLOAT."));
}

float OrdOf(const OperatorCall& call) noexcept {
  const float ord = FloatOf(call, kOrd);
  if (call.product == Product::kAscend950) return ord;
  // Products before Ascend 950 treat +-2^31 as infinite.
  if (ord == 2147483648.0f) return HUGE_VALF;
  return ord == -2147483648.0f ? -HUGE_VALF : ord;
}
bool IsComplex(const OperatorCall& call) noexcept { return kComplex.Contains(call.Tensor(kSelf).dtype); }
aclDataType CastOf(const OperatorCall& call) noexcept {
  const aclDataType self = call.Tensor(kSelf).dtype;
  if (self == ACL_COMPLEX128) return ACL_DOUBLE;
  return kFloatHalfAndBf16.Contains(self) || self == ACL_DOUBLE ? self : ACL_FLOAT;
}
bool NeedsWidePowers(const OperatorCall& call) noexcept {
  if (CastOf(call) != ACL_DOUBLE) return false;
  const float ord = OrdOf(call);
  return ord != 0 && ord != 1 && ord != 2 && !std::isinf(ord);
}
// An empty operand gives 0, whatever ord is.
aclnnStatus ZeroIfEmpty(const Check&, OperatorCall& call) noexcept {
  if (!call.Tensor(kOut).shape.IsEmpty()) return ACL_SUCCESS;
  call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

// Complex numbers support only the 2-norm.
aclnnStatus ComplexIsOfTwo(const Check& check, OperatorCall& call) noexcept {
  const Attribute& ord = call.attributes[kOrd];
  if (OrdOf(call) != 2) {
    Text message = StartMessage(call).Add("parameter ").Add(ord.name).Add(" is not 2 with ");
    return FailAclnn(check.code, AddArgumentDtype(message, call, kSelf).Add(", accepted: 2."));
  }
  if (call.Tensor(kSelf).shape.rank < kMaxLoopRank) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf)
      .Add(" is complex and has too many dims, accepted: ");
  return FailAclnn(check.code, message.Add(kMaxLoopRank - 1).Add("."));
}

constexpr auto Shapes(DtypeSet of_self) {
  return Join(DimsChecks(),
              List(RankAtMost(8, {kSelf, kOut}), SizesRepresentable({kOut}), kSetsReducedShape,
                   ShapeIsResult(kOut), GivesValueIfEmpty(kSelf), Custom(ZeroIfEmpty), InsideStorage({kSelf}),
                   DtypeImplemented({kSelf}, of_self), DtypeImplemented({kOut}, kConvertible),
                   ScalarsImplemented(kConvertible, {kOrd}),
                   If(IsComplex, Custom(ComplexIsOfTwo, ACLNN_ERR_INNER_NULLPTR)),
                   If(NeedsWidePowers, PromotesTo(ACL_DOUBLE)),
                   If(NeedsWidePowers, FunctionsThere(kDouble, WhyFunctionsAreMissing))));
}
constexpr Check kPromotes = Promotes({kSelf, kOut});
constexpr Check kCastsOn950 = OnProducts(products::kAscend950, PromotedCastsTo(kOut));

constexpr auto kVectorNormChecks =
    Join(List(NotNull(kSelf), ScalarNotNull(kOrd), ArrayNotNull(kDims), NotNull(kOut), DtypeIs(kOut, kDtype),
              Custom(NotComplex), OnProducts(products::kAscend950, DtypesIn(kOn950, {kSelf})),
              OnProducts(products::kAscend950, DtypesIn(kOn950, {kOut})),
              OnProducts(products::kAscend950, Custom(KeepsOrWidens)), kPromotes, kCastsOn950),
         Shapes(kConvertible.Without(kComplex)));
constexpr auto kNormChecks =
    Join(List(NotNull(kSelf), ScalarNotNull(kOrd), ArrayNotNull(kDims), NotNull(kOut),
              OnProducts(products::kAscend950, DtypesIn(kOn950, {kSelf})),
              OnProducts(products::kAscend950, DtypesIn(kOn950, {kOut})), kPromotes, kCastsOn950),
         Shapes(kConvertible));

// Views complex numbers as real ones, with one more dim of their two parts.
StridedView PartsOf(const StridedView& complex) {
  StridedView parts = PlainView(complex);
  parts.dtype = complex.dtype == ACL_COMPLEX128 ? ACL_DOUBLE : ACL_FLOAT;
  parts.offset *= 2;
  // The stride of a dim of length 1 is unused, and may be any number.
  for (int dim = 0; dim < parts.shape.rank; ++dim)
    parts.strides.dim[dim] = parts.shape[dim] == 1 ? 0 : 2 * parts.strides[dim];
  InsertDim(parts, parts.shape.rank, 2, 1);
  return parts;
}

void SetNorm(const OperatorCall& call, Executor& executor) {
  using engine::ReductionEpilogue;
  using engine::ReductionOperation;
  if (call.Tensor(kSelf).shape.IsEmpty()) return SetReductionValue(call, 0, executor);
  const float ord = OrdOf(call);
  ReductionPassRequest step{
      .operation = ReductionOperation::kSumOfPowers, .ending = ReductionEpilogue::kPower, .output = kOut};
  if (ord == 0) {
    step = {.operation = ReductionOperation::kCount, .output = kOut};
  } else if (ord == 1) {
    step = {.operation = ReductionOperation::kSumOfMagnitudes, .output = kOut};
  } else if (ord == 2) {
    step = {
        .operation = ReductionOperation::kSumOfSquares, .ending = ReductionEpilogue::kRoot, .output = kOut};
  } else if (std::isinf(ord)) {
    step = {.operation = ReductionOperation::kExtreme,
            .is_least = ord < 0,
            .is_of_magnitude = true,
            .output = kOut};
  } else {
    step.power = static_cast<double>(ord);
    step.number = 1.0 / step.power;
  }
  if (!IsComplex(call)) return SetAxisReductionJob(call, {ReducedDims(call), CastOf(call), {step}}, executor);
  const StridedView parts = PartsOf(call.Tensor(kSelf));
  const uint32_t reduced = ReducedDims(call) | uint32_t{1} << (parts.shape.rank - 1);
  SetAxisReductionJob(call, {reduced, CastOf(call), {step}, &parts}, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnLinalgVectorNorm) {
  return RunPhase1(call, kVectorNormChecks, workspaceSize, executor, SetNorm);
}

PORTACL_PHASE_1(aclnnNorm) { return RunPhase1(call, kNormChecks, workspaceSize, executor, SetNorm); }
