// aclnnApplyAdamWV2, aclnnFusedSgd, aclnnForeachNonFiniteCheckAndUnscale: steps of optimizers and of mixed
// precision that rewrite several tensors at once.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/optimizers/optimizer_steps.cc"
#include "base/foreach_target.h"

#include "engine/update/update_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace optimizer_steps {

using namespace engine::HWY_NAMESPACE;

// Operands: var, m, v, [maximum of v,] grad. Numbers: 1 - lr * weightDecay; 1 - beta1; beta2; 1 - beta2; 1 / sqrt(1 - beta2^t); eps;
// lr / (1 - beta1^t); 1 or, to maximize, -1.
template <bool kKeepsMaximum>
struct AdamW {
  static constexpr int kOperands = kKeepsMaximum ? 5 : 4;
  static constexpr int kOutputs = kKeepsMaximum ? 4 : 3;
  explicit AdamW(const float* values) : number(values) {}

  template <class D, class V>
  HWY_INLINE void operator()(D d, V& var, V& m, V& v, V& fourth, const V& fifth, V&) const {
    const V grad = hn::Mul(kKeepsMaximum ? fifth : fourth, hn::Set(d, number[7]));
    m = functions::Fma(d, hn::Set(d, number[1]), hn::Sub(grad, m), m);
    v = functions::Fma(d, hn::Set(d, number[2]), v, hn::Mul(hn::Set(d, number[3]), hn::Mul(grad, grad)));
    V root_of = v;
    if constexpr (kKeepsMaximum) {
      // NaN if either is NaN.
      const V greater = hn::IfThenElse(hn::Lt(fourth, v), v, fourth);
      fourth = hn::IfThenElse(hn::Eq(v, v), greater, v);
      root_of = fourth;
    }
    const V divisor = functions::Fma(d, hn::Sqrt(root_of), hn::Set(d, number[4]), hn::Set(d, number[5]));
    const V decayed = hn::Mul(var, hn::Set(d, number[0]));
    var = functions::Fma(d, hn::Set(d, -number[6]), hn::Div(m, divisor), decayed);
  }

  const float* number;
};
using AdamWPlain = Update<AdamW<false>>;
using AdamWWithMaximum = Update<AdamW<true>>;

// Operands: param, grad, momentum buffer; without a buffer the first two. Numbers: 1 / gradScale; 1 or, to maximize, -1; weightDecay;
// momentum; 1 - dampening; lr; how much of the buffer is added to grad (nesterov).
struct Sgd {
  explicit Sgd(const float* values) : number(values) {}

  template <class D, class V>
  HWY_INLINE V Decayed(D d, const V& param, V& grad) const {
    grad = hn::Mul(grad, hn::Set(d, number[0]));
    const V signed_grad = hn::Mul(grad, hn::Set(d, number[1]));
    return number[2] == 0 ? signed_grad : functions::Fma(d, hn::Set(d, number[2]), param, signed_grad);
  }

  const float* number;
};
struct SgdPlain : Sgd {
  static constexpr int kOperands = 2;
  static constexpr int kOutputs = 2;
  using Sgd::Sgd;

  template <class D, class V>
  HWY_INLINE void operator()(D d, V& param, V& grad, V&, V&, const V&, V&) const {
    const V decayed = Decayed(d, param, grad);
    param = functions::Fma(d, hn::Set(d, -number[5]), decayed, param);
  }
};
struct SgdWithMomentum : Sgd {
  static constexpr int kOperands = 3;
  static constexpr int kOutputs = 3;
  using Sgd::Sgd;

  template <class D, class V>
  HWY_INLINE void operator()(D d, V& param, V& grad, V& buffer, V&, const V&, V&) const {
    const V decayed = Decayed(d, param, grad);
    const V scaled = hn::Mul(decayed, hn::Set(d, number[4]));
    // The first step ignores the old buffer, even NaN in it.
    buffer = number[3] == 0 ? scaled : functions::Fma(d, hn::Set(d, number[3]), buffer, scaled);
    const V step = number[6] == 0 ? buffer : functions::Fma(d, hn::Set(d, number[6]), buffer, decayed);
    param = functions::Fma(d, hn::Set(d, -number[5]), step, param);
  }
};
using SgdUpdate = Update<SgdPlain>;
using SgdMomentumUpdate = Update<SgdWithMomentum>;

// Scales, and looks for numbers that are not finite. Number: the factor.
struct Unscaled {
  static constexpr int kOperands = 1;
  static constexpr int kOutputs = 1;
  explicit Unscaled(const float* values) : number(values) {}

  template <class D, class V>
  HWY_INLINE void operator()(D d, V& x, V&, V&, V&, const V&, V& found) const {
    // x - x is 0 for finite numbers, else NaN.
    const V difference = hn::Sub(x, x);
    found = hn::IfThenElse(hn::Eq(difference, difference), found, hn::Set(d, 1.0f));
    x = hn::Mul(x, hn::Set(d, number[0]));
  }

  const float* number;
};
using UnscaledUpdate = Update<Unscaled>;

}  // namespace optimizer_steps
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cmath>

#include "aclnnop/jobs/lists.h"
#include "aclnnop/optimizers/optimizer_steps_functions.h"
#include "aclnnop/optimizers/updates.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

constexpr UpdateKernels kAdamW = PORTACL_ISA_TABLE(optimizer_steps::AdamWPlain::Run);
constexpr UpdateKernels kAdamWWithMaximum = PORTACL_ISA_TABLE(optimizer_steps::AdamWWithMaximum::Run);
constexpr UpdateKernels kSgd = PORTACL_ISA_TABLE(optimizer_steps::SgdUpdate::Run);
constexpr UpdateKernels kSgdWithMomentum = PORTACL_ISA_TABLE(optimizer_steps::SgdMomentumUpdate::Run);
constexpr UpdateKernels kUnscaled = PORTACL_ISA_TABLE(optimizer_steps::UnscaledUpdate::Run);

// ---- ApplyAdamWV2 ----

namespace adam_w {

enum Tensors { kVar, kM, kV, kMaximum, kGrad, kStep };
enum Attributes { kLr, kBeta1, kBeta2, kWeightDecay, kEps, kAmsgrad, kMaximize };

constexpr DtypeRule kDtypes = kBf16SinceAtlasA2;

bool KeepsMaximum(const OperatorCall& call) noexcept { return call.attributes[kAmsgrad].integer != 0; }
bool HasMaximum(const OperatorCall& call) noexcept { return call.IsGiven(kMaximum); }

constexpr DtypeSet kStepDtypes(ACL_FLOAT, ACL_INT64);
constexpr auto kChecks =
    List(NotNull(kVar), NotNull(kM), NotNull(kV), If(KeepsMaximum, NotNull(kMaximum)), NotNull(kGrad),
         NotNull(kStep), DtypesIn(kDtypes, {kVar, kM, kV}), If(HasMaximum, DtypesIn(kDtypes, {kMaximum})),
         DtypesIn(kDtypes, {kGrad}), DtypesIn(kStepDtypes, {kStep}), SameShape(kVar, kM), SameShape(kVar, kV),
         If(HasMaximum, SameShape(kVar, kMaximum)), SameShape(kVar, kGrad),
         OneElement(kStep, ACLNN_ERR_PARAM_INVALID), SizesRepresentable({kVar, kM, kV, kMaximum}),
         DoneIfEmpty({kVar}), InsideStorage({kGrad, kStep}),
         WithCode(ACLNN_ERR_INNER_NULLPTR, RankAtMostUnlessContiguous(8, {kVar, kM, kV, kGrad})),
         If(HasMaximum, WithCode(ACLNN_ERR_INNER_NULLPTR, RankAtMostUnlessContiguous(8, {kVar, kMaximum}))));

// Computes powers in float64 and rounds them once.
bool Prepare(const engine::UpdateGiven& given, float* numbers) {
  const double lr = given.number[kLr];
  const double beta1 = given.number[kBeta1];
  const double beta2 = given.number[kBeta2];
  const double t = given.read[0] + 1;
  numbers[0] = static_cast<float>(1 - lr * given.number[kWeightDecay]);
  numbers[1] = static_cast<float>(1 - beta1);
  numbers[2] = static_cast<float>(beta2);
  numbers[3] = static_cast<float>(1 - beta2);
  numbers[4] = static_cast<float>(1 / std::sqrt(1 - std::pow(beta2, t)));
  numbers[5] = static_cast<float>(given.number[kEps]);
  numbers[6] = static_cast<float>(lr / (1 - std::pow(beta1, t)));
  numbers[7] = static_cast<float>(given.number[kMaximize]);
  return true;
}

void Set(const OperatorCall& call, Executor& executor) {
  UpdateList updates(call, executor, 1);
  const auto number = [&](int i) {
    return static_cast<double>(call.attributes[static_cast<size_t>(i)].real);
  };
  const std::initializer_list<double> numbers = {number(kLr),
                                                 number(kBeta1),
                                                 number(kBeta2),
                                                 number(kWeightDecay),
                                                 number(kEps),
                                                 0.0,
                                                 call.attributes[kMaximize].integer != 0 ? -1.0 : 1.0};
  if (KeepsMaximum(call)) {
    updates.Add(kAdamWWithMaximum, Prepare, numbers, {{kVar}, {kM}, {kV}, {kMaximum}, {kGrad}}, 4, {{kStep}});
  } else {
    updates.Add(kAdamW, Prepare, numbers, {{kVar}, {kM}, {kV}, {kGrad}}, 3, {{kStep}});
  }
  updates.SetJob();
}

}  // namespace adam_w

// ---- FusedSgd ----

namespace sgd {

enum Tensors { kParams, kGrads, kBuffers, kScale };
enum Attributes { kWeightDecay, kMomentum, kLr, kDampening, kNesterov, kMaximize, kIsFirstStep };

constexpr DtypeRule kDtypes = SinceAtlasA2(kFloatHalfAndBf16);
constexpr float kNone = 1e-6f;

bool HasBuffers(const OperatorCall& call) { return call.Count(kBuffers) > 0; }
bool HasScale(const OperatorCall& call) {
  return call.IsGiven(kScale) && !call.Tensor(kScale).shape.IsEmpty();
}

aclnnStatus RefuseNumber(const OperatorCall& call, int attribute, const char* accepted) {
  Text message = StartMessage(call).Add("parameter ");
  message.Add(call.attributes[static_cast<size_t>(attribute)].name)
      .Add(" has a value that is not accepted, accepted: ");
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add(accepted).Add("."));
}

aclnnStatus CheckNumbers(const OperatorCall& call) {
  const auto real = [&](int i) { return call.attributes[static_cast<size_t>(i)].real; };
  for (const int i : {kWeightDecay, kMomentum, kLr}) {
    if (real(i) < 0) return RefuseNumber(call, i, "at least 0");
  }
  if (call.attributes[kNesterov].integer != 0) {
    if (real(kMomentum) <= 0) return RefuseNumber(call, kMomentum, "with nesterov, more than 0");
    if (std::fabs(real(kDampening)) >= kNone) return RefuseNumber(call, kDampening, "with nesterov, 0");
  }
  if (!HasBuffers(call) && std::fabs(real(kMomentum)) >= kNone)
    return RefuseNumber(call, kMomentum, "without a momentumBufferListOptionalRef, 0");
  if (HasBuffers(call) && real(kMomentum) < kNone)
    return RefuseNumber(call, kMomentum, "with a momentumBufferListOptionalRef, at least 1e-6");
  return ACL_SUCCESS;
}

aclnnStatus CheckAll(const Check&, OperatorCall& call) noexcept {
  if (const aclnnStatus status = CheckNumbers(call)) return status;
  if (const aclnnStatus status = CheckNulls(call, {kParams, kGrads})) return status;
  const Operands lists = HasBuffers(call) ? Operands{kParams, kGrads, kBuffers} : Operands{kParams, kGrads};
  for (const int list : lists) {
    for (int entry = 0; entry < call.Count(list); ++entry) {
      if (call.Entry(list, entry) == nullptr)
        return RefuseArgument(call, ACLNN_ERR_PARAM_NULLPTR, list, entry,
                              " is a null pointer, accepted: a tensor.");
    }
  }
  if (call.Count(kParams) == 0) {
    return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kParams, -1,
                          " is an empty list, accepted: at least one tensor.");
  }
  if (const aclnnStatus status = CheckLists(call, kDtypes, /*is_generated=*/false, lists)) return status;
  if (HasScale(call) && !kConvertible.Without(kComplex).Contains(call.Tensor(kScale).dtype)) {
    return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kScale, -1,
                          " has a dtype that is not cast to DT_FLOAT, accepted: dtypes that are.");
  }
  bool is_empty = true;
  for (int entry = 0; entry < call.Count(kParams); ++entry)
    is_empty = is_empty && call.Entry(kParams, entry)->shape.IsEmpty();
  if (const aclnnStatus status = CheckStorage(call, lists, lists)) return status;
  if (is_empty) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}
constexpr Check kChecks[] = {{.run = CheckAll}};

bool Prepare(const engine::UpdateGiven& given, float* numbers) {
  const bool is_first = given.number[kIsFirstStep] != 0;
  numbers[0] = given.is_read[0] ? 1.0f / static_cast<float>(given.read[0]) : 1.0f;
  numbers[1] = given.number[kMaximize] != 0 ? -1.0f : 1.0f;
  const auto momentum = static_cast<float>(given.number[kMomentum]);
  numbers[2] = static_cast<float>(given.number[kWeightDecay]);
  numbers[3] = is_first ? 0.0f : momentum;
  numbers[4] = is_first ? 1.0f : 1.0f - static_cast<float>(given.number[kDampening]);
  numbers[5] = static_cast<float>(given.number[kLr]);
  numbers[6] = given.number[kNesterov] != 0 ? momentum : 0.0f;
  return true;
}

void Set(const OperatorCall& call, Executor& executor) {
  const auto real = [&](int i) { return static_cast<double>(call.attributes[static_cast<size_t>(i)].real); };
  const auto flag = [&](int i) { return call.attributes[static_cast<size_t>(i)].integer != 0 ? 1.0 : 0.0; };
  const std::initializer_list<double> numbers = {real(kWeightDecay), real(kMomentum), real(kLr),
                                                 real(kDampening),   flag(kNesterov), flag(kMaximize),
                                                 flag(kIsFirstStep)};
  const UpdateList::Part scale{HasScale(call) ? kScale : -1};
  UpdateList updates(call, executor, call.Count(kParams));
  for (int entry = 0; entry < call.Count(kParams); ++entry) {
    if (HasBuffers(call)) {
      updates.Add(kSgdWithMomentum, Prepare, numbers, {{kParams, entry}, {kGrads, entry}, {kBuffers, entry}},
                  3, {scale});
    } else {
      updates.Add(kSgd, Prepare, numbers, {{kParams, entry}, {kGrads, entry}}, 2, {scale});
    }
  }
  updates.SetJob();
}

}  // namespace sgd

// ---- NonFiniteCheckAndUnscale ----

namespace unscale {

enum Tensors { kGrads, kFound, kInverse };

constexpr DtypeRule kDtypes = SinceAtlasA2(kFloatHalfAndBf16).On({Product::kAtlasInference}, kFloatAndHalf);

aclnnStatus CheckAll(const Check&, OperatorCall& call) noexcept {
  if (const aclnnStatus status = CheckNulls(call, {kGrads, kFound, kInverse})) return status;
  const aclnnStatus of_list = CheckLists(call, kDtypes, /*is_generated=*/true, {kGrads});
  if (of_list != ACL_SUCCESS && of_list != ACLNN_ERR_INNER_TILING_ERROR) return of_list;
  for (const int tensor : {kFound, kInverse}) {
    if (call.Tensor(tensor).dtype != ACL_FLOAT)
      return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, tensor, -1,
                            " is not of DT_FLOAT, accepted: DT_FLOAT.");
  }
  if (of_list != ACL_SUCCESS) return of_list;
  for (const int tensor : {kFound, kInverse}) {
    if (call.Tensor(tensor).numel != 1)
      return RefuseArgument(call, ACLNN_ERR_INNER_TILING_ERROR, tensor, -1,
                            " has not one element, accepted: one element.");
  }
  if (call.Count(kGrads) == 0 || call.Count(kGrads) > 256) {
    return RefuseArgument(call, ACLNN_ERR_INNER_TILING_ERROR, kGrads, -1,
                          " has too few or too many tensors, accepted: 1 to 256.");
  }
  return CheckStorage(call, {kGrads}, {kGrads});
}
constexpr Check kChecks[] = {{.run = CheckAll}};

bool Prepare(const engine::UpdateGiven& given, float* numbers) {
  numbers[0] = static_cast<float>(given.read[0]);
  return true;
}

void Set(const OperatorCall& call, Executor& executor) {
  UpdateList updates(call, executor, call.Count(kGrads));
  for (int entry = 0; entry < call.Count(kGrads); ++entry)
    updates.Add(kUnscaled, Prepare, {}, {{kGrads, entry}}, 1, {{kInverse}});
  updates.SetJob(kFound);
}

}  // namespace unscale

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnApplyAdamWV2) {
  return RunPhase1(call, adam_w::kChecks, workspaceSize, executor, adam_w::Set);
}

PORTACL_PHASE_1(aclnnFusedSgd) { return RunPhase1(call, sgd::kChecks, workspaceSize, executor, sgd::Set); }

PORTACL_PHASE_1(aclnnForeachNonFiniteCheckAndUnscale) {
  return RunPhase1(call, unscale::kChecks, workspaceSize, executor, unscale::Set);
}

#endif  // HWY_ONCE
