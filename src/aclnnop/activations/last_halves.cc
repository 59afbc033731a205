// aclnnGeluMul and aclnnFatreluMul: a function of the first half of the last dim, times the second half.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/activations/last_halves.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/activation_formulas-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace last_halves {

// Computes A where it is above the threshold, else 0, times B.
struct FatReluTimes : Activation<FatReluTimes, 3> {
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b, V threshold) const {
    return hn::Mul(hn::IfThenElseZero(hn::Gt(a, threshold), a), b);
  }
};

}  // namespace last_halves
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/activations/activation.h"
#include "aclnnop/activations/last_halves_functions.h"
#include "aclnnop/jobs/activation_kernels.h"
#include "aclnnop/map_list.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kFatReluTimes = PORTACL_VALUE_KERNELS(last_halves::FatReluTimes);

enum Tensors { kSelf, kOut };
constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;

// Ends the lists: every loop is over halves.
constexpr auto EndOfGated(Operands inputs, int out) {
  return List(SizesRepresentable({out}), DoneIfEmpty({kSelf}), InsideStorage(inputs),
              FunctionsThere(kDouble, WhyFunctionsAreMissing));
}
MappedView Whole(const OperatorCall& call, int tensor) {
  return {PlainView(call.Tensor(tensor)), call.OperandOf(tensor)};
}

// ---- aclnnGeluMul ----
enum GeluMulAttributes { kGeluApproximate };
constexpr int64_t kMostGated = 1024;

bool IsTanhByName(const OperatorCall& call) {
  const char* const text = call.attributes[kGeluApproximate].text;
  return text != nullptr && std::strcmp(text, "tanh") == 0;
}
aclnnStatus ApproximateIsKnown(const Check& check, OperatorCall& call) noexcept {
  const char* const text = call.attributes[kGeluApproximate].text;
  if (text == nullptr || std::strcmp(text, "none") == 0 || IsTanhByName(call)) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter approximateOptional is \"")
                                   .Add(text)
                                   .Add("\", accepted: none, tanh, or a null pointer."));
}
aclnnStatus LastIsEvenAndShort(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kSelf).shape;
  const int64_t length = shape[shape.rank - 1];
  if (length % 2 == 0 && length <= kMostGated) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf);
  return FailAclnn(check.code, message.Add(", accepted: a last dim that is even and at most 1024."));
}
aclnnStatus LastIsHalf(const Check& check, OperatorCall& call) noexcept {
  Shape half = call.Tensor(kSelf).shape;
  half.dim[half.rank - 1] /= 2;
  const int out = call.Output();
  return call.Tensor(out).shape == half ? ACL_SUCCESS : RefuseShape(check, call, out, half);
}
constexpr auto kGeluMulChecks =
    Join(List(NotNull(kSelf), NotNull(kOut), DtypesIn(kNoneBeforeAtlasA2, {kSelf}), SameDtype(kSelf, kOut),
              Custom(ApproximateIsKnown, kTiling), WithCode(kTiling, RankAtLeast(1, {kSelf})),
              WithCode(kTiling, RankAtMost(8, {kSelf})), Custom(LastIsEvenAndShort, kTiling),
              Custom(LastIsHalf, kTiling), PromotesToDtypeOf(kSelf)),
         EndOfGated({kSelf}, kOut));

// Returns one half along the last dim.
MappedView LastHalf(const OperatorCall& call, int tensor, int half) {
  MappedView view{PlainView(call.Tensor(tensor)), call.OperandOf(tensor)};
  const int dim = view.tensor.shape.rank - 1;
  const int64_t length = view.tensor.shape[dim] / 2;
  Narrow(view.tensor, dim, half * length, length);
  return view;
}

void SetGeluMul(const OperatorCall& call, Executor& executor) {
  MapList maps(call, executor, 1);
  maps.Add({LastHalf(call, kSelf, 1), LastHalf(call, kSelf, 0)}, Whole(call, kOut),
           GeGluKernels(IsTanhByName(call)));
  maps.SetJob();
}

// ---- aclnnFatreluMul ----
enum FatReluTensors { kThreshold = 1, kFatReluOut };

aclnnStatus IsOneNumber(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kThreshold).numel == 1) return ACL_SUCCESS;
  return RefuseShape(check, call, kThreshold, Shape{1});
}
constexpr auto kFatReluMulChecks =
    Join(List(NotNull(kSelf), NotNull(kThreshold), NotNull(kFatReluOut),
              DtypesIn(kNoneBeforeAtlasA2, {kSelf}), SameDtype(kSelf, kThreshold),
              SameDtype(kSelf, kFatReluOut), WithCode(kTiling, RankAtLeast(1, {kSelf})),
              WithCode(kTiling, RankAtMost(8, {kSelf})), Custom(LastIsEvenAndShort, kTiling),
              Custom(IsOneNumber, kTiling), Custom(LastIsHalf, kTiling), PromotesToDtypeOf(kSelf)),
         EndOfGated({kSelf, kThreshold}, kFatReluOut));

void SetFatReluMul(const OperatorCall& call, Executor& executor) {
  MappedView threshold = Whole(call, kThreshold);
  FillShape(threshold.tensor, Shape{1}, 1);
  MapList maps(call, executor, 1);
  maps.Add({LastHalf(call, kSelf, 0), LastHalf(call, kSelf, 1), threshold}, Whole(call, kFatReluOut),
           kFatReluTimes);
  maps.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGeluMul) { return RunPhase1(call, kGeluMulChecks, workspaceSize, executor, SetGeluMul); }

PORTACL_PHASE_1(aclnnFatreluMul) {
  return RunPhase1(call, kFatReluMulChecks, workspaceSize, executor, SetFatReluMul);
}

#endif  // HWY_ONCE
