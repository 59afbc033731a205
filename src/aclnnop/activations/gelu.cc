// aclnnGelu, aclnnGeluV2 and their gradients: x times the normal distribution function, or its approximation
// with tanh.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/activations/gelu.cc"
#include "base/foreach_target.h"

#include "aclnnop/activations/gelu_tables.h"
#include "aclnnop/jobs/activation_formulas-inl.h"
#include "engine/functions/piecewise_polynomial-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace gelu {

// Tables for negative x: GELU's factor of x, and its slope. The value at |x| is 1 minus the value at -|x|.
template <GeluForm kForm>
inline constexpr const GeluTable& kTail = kForm == GeluForm::kErf ? kNormalTail : kTanhTail;
template <GeluForm kForm>
inline constexpr const GeluTable& kSlope = kForm == GeluForm::kErf ? kErfSlope : kTanhSlope;

// Selects the lanes beyond a table, which are computed in float64. No lane's result depends on other lanes.
template <class D, class V>
HWY_INLINE auto IsBeyond(D d, V x, const GeluTable& table) {
  return hn::Lt(x, hn::Set(d, -table.limit));
}

template <GeluForm kForm>
struct Gelu : Activation<Gelu<kForm>, 1> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation<Gelu, 1>::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V tail = functions::AtMagnitude(d, x, kTail<kForm>);
    const auto is_negative = hn::Lt(x, hn::Zero(d));
    const V near = hn::Mul(x, hn::IfThenElse(is_negative, tail, hn::Sub(hn::Set(d, 1.0f), tail)));
    const auto is_beyond = IsBeyond(d, x, kTail<kForm>);
    if (HWY_LIKELY(hn::AllFalse(d, is_beyond))) return near;
    const V beyond =
        functions::InDoubles(d, x, [](auto wide, auto t) HWY_ATTR { return GeluInDouble<kForm>(wide, t); });
    return hn::IfThenElse(is_beyond, beyond, near);
  }
};
using GeluByErf = Gelu<GeluForm::kErf>;
using GeluByTanh = Gelu<GeluForm::kTanh>;

template <GeluForm kForm>
struct GeluSlope : Activation<GeluSlope<kForm>, 2> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation<GeluSlope, 2>::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x) const {
    const V slope = functions::AtMagnitude(d, x, kSlope<kForm>);
    const auto is_negative = hn::Lt(x, hn::Zero(d));
    // The erf form adds x times its density. That is infinity times 0, thus NaN, where x is infinite.
    const V one = kForm == GeluForm::kErf ? functions::Fma(d, x, hn::Zero(d), hn::Set(d, 1.0f))
                                          : functions::OrNan(hn::Set(d, 1.0f), x);
    const V near = hn::Mul(gradient, hn::IfThenElse(is_negative, slope, hn::Sub(one, slope)));
    const auto is_beyond = IsBeyond(d, x, kSlope<kForm>);
    if (HWY_LIKELY(hn::AllFalse(d, is_beyond))) return near;
    const V beyond = functions::InDoubles(d, gradient, x, [](auto wide, auto g, auto t) HWY_ATTR {
      return hn::Mul(g, GeluSlopeInDouble<kForm>(wide, t));
    });
    return hn::IfThenElse(is_beyond, beyond, near);
  }
};
using GeluSlopeByErf = GeluSlope<GeluForm::kErf>;
using GeluSlopeByTanh = GeluSlope<GeluForm::kTanh>;

}  // namespace gelu
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <string_view>

#include "aclnnop/activations/activation.h"
#include "aclnnop/activations/gelu_functions.h"
#include "aclnnop/jobs/activation_kernels.h"
#include "base/errors.h"

namespace portacl {
namespace {

constexpr auto kGeluByErf = PORTACL_VALUE_KERNELS(gelu::GeluByErf);
constexpr auto kGeluByTanh = PORTACL_VALUE_KERNELS(gelu::GeluByTanh);
constexpr auto kGeluSlopeByErf = PORTACL_VALUE_KERNELS(gelu::GeluSlopeByErf);
constexpr auto kGeluSlopeByTanh = PORTACL_VALUE_KERNELS(gelu::GeluSlopeByTanh);

enum Unary { kSelf, kOut };
enum Gradient { kGradOutput, kInput, kGradInput };

constexpr auto kGeluChecks =
    Join(List(NotNull(kSelf), NotNull(kOut), DtypesIn(kBf16SinceAtlasA2, {kSelf}), NotPrivate({kSelf, kOut})),
         OfOneTensor(kSelf, kOut, OutDtype::kSame));
constexpr auto kGeluV2Checks =
    Join(List(NotNull(kSelf), NotNull(kOut), DtypesIn(kBf16SinceAtlasA2, {kSelf}), SameDtype(kSelf, kOut)),
         OfOneTensorOfAnyRank(kSelf, kOut));

// The two dtypes must promote to one of the list, so one of them may be an integer.
constexpr auto kOfTwo =
    List(Promotes({kGradOutput, kInput}), PromotedIn(kBf16SinceAtlasA2, {kGradOutput, kInput}));

constexpr auto kGeluBackwardChecks = Join(List(NotNull(kGradOutput), NotNull(kInput), NotNull(kGradInput)),
                                          kOfTwo, BroadcastChecks(kGradOutput, kInput, kGradInput),
                                          ComputableChecks({kGradOutput, kInput}, kGradInput));

aclnnStatus TextNotNull(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[0].text != nullptr) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter ")
                                   .Add(call.attributes[0].name)
                                   .Add(" is a null pointer, expected a text."));
}
bool IsTanh(const OperatorCall& call) { return std::string_view(call.attributes[0].text) == "tanh"; }
aclnnStatus NamesAForm(const Check& check, OperatorCall& call) noexcept {
  if (IsTanh(call) || std::string_view(call.attributes[0].text) == "none") return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter ")
                                   .Add(call.attributes[0].name)
                                   .Add(" is \"")
                                   .Add(std::string_view(call.attributes[0].text).substr(0, 64))
                                   .Add("\", accepted: \"none\" or \"tanh\"."));
}

constexpr auto kGeluBackwardV2Checks =
    Join(List(NotNull(kGradOutput), NotNull(kInput), NotNull(kGradInput),
              Custom(TextNotNull, ACLNN_ERR_PARAM_NULLPTR)),
         kOfTwo, List(PromotedIs(kGradInput)), BroadcastsInto({kGradOutput, kInput}, kGradInput),
         List(Custom(NamesAForm)), ComputableChecks({kGradOutput, kInput}, kGradInput));

void SetGeluV2(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kSelf}, kOut, GeluKernels(call.attributes[0].integer == 1), {}, executor);
}
void SetGeluBackwardV2(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kGradOutput, kInput}, kGradInput, IsTanh(call) ? kGeluSlopeByTanh : kGeluSlopeByErf, {},
            executor);
}

}  // namespace

const engine::KernelTable& GeluKernels(bool tanh) noexcept { return tanh ? kGeluByTanh : kGeluByErf; }

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGelu) {
  return RunPhase1(call, kGeluChecks, workspaceSize, executor, SetActivation<kGeluByTanh, kSelf>);
}

PORTACL_PHASE_1(aclnnGeluV2) { return RunPhase1(call, kGeluV2Checks, workspaceSize, executor, SetGeluV2); }

PORTACL_PHASE_1(aclnnGeluBackward) {
  return RunPhase1(call, kGeluBackwardChecks, workspaceSize, executor,
                   SetActivation<kGeluSlopeByTanh, kGradOutput, kInput>);
}

PORTACL_PHASE_1(aclnnGeluBackwardV2) {
  return RunPhase1(call, kGeluBackwardV2Checks, workspaceSize, executor, SetGeluBackwardV2);
}

#endif  // HWY_ONCE
