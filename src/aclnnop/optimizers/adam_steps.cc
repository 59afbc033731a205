// aclnnFusedAdam, aclnnFusedAdamw, aclnnApplyAdam, aclnnApplyAdamW, aclnnApplyFusedEmaAdam: steps of Adam and its
// kin, whose numbers come from tensors or in float64.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/optimizers/adam_steps.cc"
#include "base/foreach_target.h"

#include "engine/update/update_loop-inl.h"

#ifndef PORTACL_ACLNNOP_OPTIMIZERS_ADAM_STEPS
#define PORTACL_ACLNNOP_OPTIMIZERS_ADAM_STEPS
namespace portacl {

// Tells where a step's maximum of v is: nowhere, in an operand that it rewrites, or in one that it reads alone.
enum class Maximum : uint8_t { kNone, kKept, kRead };

}  // namespace portacl
#endif  // PORTACL_ACLNNOP_OPTIMIZERS_ADAM_STEPS

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace adam_steps {

using namespace engine::HWY_NAMESPACE;

// Operands: var, m, v, [maximum,] grad; a maximum that is only read comes last. Numbers: 1 - lr * weightDecay where weights decay by
// themselves, else 1; 1 - beta1; beta2; 1 - beta2; 1 / sqrt(1 - beta2^t); eps; lr / (1 - beta1^t); 1 or, to maximize, -1;
// 1 / gradScale; weightDecay where it is added to the gradient, else 0.
template <Maximum kMaximum, bool kWritesGrad>
struct Adam {
  static constexpr int kOperands = kMaximum == Maximum::kNone ? 4 : 5;
  static constexpr int kOutputs = kWritesGrad ? kOperands : kMaximum == Maximum::kKept ? 4 : 3;
  explicit Adam(const float* values) : number(values) {}

  template <class D, class V>
  HWY_INLINE void operator()(D d, V& var, V& m, V& v, V& fourth, V& fifth, V&) const {
    constexpr bool kGradIsLast = kMaximum == Maximum::kKept;
    const V scaled = hn::Mul(kGradIsLast ? fifth : fourth, hn::Set(d, number[8]));
    if constexpr (kWritesGrad) (kGradIsLast ? fifth : fourth) = scaled;
    V grad = hn::Mul(scaled, hn::Set(d, number[7]));
    if (number[9] != 0) grad = functions::Fma(d, hn::Set(d, number[9]), var, grad);
    m = functions::Fma(d, hn::Set(d, number[1]), hn::Sub(grad, m), m);
    v = functions::Fma(d, hn::Set(d, number[2]), v, hn::Mul(hn::Set(d, number[3]), hn::Mul(grad, grad)));
    V root_of = v;
    if constexpr (kMaximum != Maximum::kNone) {
      // NaN if either is NaN.
      V& maximum = kGradIsLast ? fourth : fifth;
      const V greater = hn::IfThenElse(hn::Lt(maximum, v), v, maximum);
      root_of = hn::IfThenElse(hn::Eq(v, v), greater, v);
      if constexpr (kMaximum == Maximum::kKept) maximum = root_of;
    }
    const V divisor = functions::Fma(d, hn::Sqrt(root_of), hn::Set(d, number[4]), hn::Set(d, number[5]));
    const V decayed = hn::Mul(var, hn::Set(d, number[0]));
    var = functions::Fma(d, hn::Set(d, -number[6]), hn::Div(m, divisor), decayed);
  }

  const float* number;
};
using Plain = Update<Adam<Maximum::kNone, false>>;
using PlainWritingGrad = Update<Adam<Maximum::kNone, true>>;
using KeepingMaximum = Update<Adam<Maximum::kKept, false>>;
using KeepingMaximumWritingGrad = Update<Adam<Maximum::kKept, true>>;
using ReadingMaximum = Update<Adam<Maximum::kRead, false>>;

// Operands: var, m, v, grad. Numbers: 1 - beta1; 1 - beta2; the corrected lr; epsilon; how much of m the step takes; how much of grad.
struct UncorrectedAdam {
  static constexpr int kOperands = 4;
  static constexpr int kOutputs = 3;
  explicit UncorrectedAdam(const float* values) : number(values) {}

  template <class D, class V>
  HWY_INLINE void operator()(D d, V& var, V& m, V& v, V& grad, V&, V&) const {
    m = functions::Fma(d, hn::Set(d, number[0]), hn::Sub(grad, m), m);
    v = functions::Fma(d, hn::Set(d, number[1]), hn::Sub(hn::Mul(grad, grad), v), v);
    V step = hn::Mul(m, hn::Set(d, number[4]));
    if (number[5] != 0) step = functions::Fma(d, hn::Set(d, number[5]), grad, step);
    const V divisor = hn::Add(hn::Sqrt(v), hn::Set(d, number[3]));
    var = functions::Fma(d, hn::Set(d, -number[2]), hn::Div(step, divisor), var);
  }

  const float* number;
};
using UncorrectedUpdate = Update<UncorrectedAdam>;

// Operands: var, m, v, s, grad. Numbers: 1 - beta1; beta2; 1 - beta2; 1 / sqrt of v's correction; eps; lr; 1 / m's correction;
// weightDecay of the gradient; weightDecay of the step; emaDecay; 1 - emaDecay.
struct AdamWithAverage {
  static constexpr int kOperands = 5;
  static constexpr int kOutputs = 4;
  explicit AdamWithAverage(const float* values) : number(values) {}

  template <class D, class V>
  HWY_INLINE void operator()(D d, V& var, V& m, V& v, V& average, const V& given, V&) const {
    const V grad = number[7] == 0 ? given : functions::Fma(d, hn::Set(d, number[7]), var, given);
    m = functions::Fma(d, hn::Set(d, number[0]), hn::Sub(grad, m), m);
    v = functions::Fma(d, hn::Set(d, number[1]), v, hn::Mul(hn::Set(d, number[2]), hn::Mul(grad, grad)));
    const V divisor = functions::Fma(d, hn::Sqrt(v), hn::Set(d, number[3]), hn::Set(d, number[4]));
    V step = hn::Div(hn::Mul(m, hn::Set(d, number[6])), divisor);
    if (number[8] != 0) step = functions::Fma(d, hn::Set(d, number[8]), var, step);
    var = functions::Fma(d, hn::Set(d, -number[5]), step, var);
    average = functions::Fma(d, hn::Set(d, number[9]), average, hn::Mul(hn::Set(d, number[10]), var));
  }

  const float* number;
};
using AverageUpdate = Update<AdamWithAverage>;

}  // namespace adam_steps
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cmath>

#include "aclnnop/jobs/lists.h"
#include "aclnnop/optimizers/adam_steps_functions.h"
#include "aclnnop/optimizers/updates.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

constexpr UpdateKernels kPlain = PORTACL_ISA_TABLE(adam_steps::Plain::Run);
constexpr UpdateKernels kPlainWritingGrad = PORTACL_ISA_TABLE(adam_steps::PlainWritingGrad::Run);
constexpr UpdateKernels kKeepingMaximum = PORTACL_ISA_TABLE(adam_steps::KeepingMaximum::Run);
constexpr UpdateKernels kKeepingMaximumWritingGrad =
    PORTACL_ISA_TABLE(adam_steps::KeepingMaximumWritingGrad::Run);
constexpr UpdateKernels kReadingMaximum = PORTACL_ISA_TABLE(adam_steps::ReadingMaximum::Run);
constexpr UpdateKernels kUncorrected = PORTACL_ISA_TABLE(adam_steps::UncorrectedUpdate::Run);
constexpr UpdateKernels kWithAverage = PORTACL_ISA_TABLE(adam_steps::AverageUpdate::Run);

double Wide(const OperatorCall& call, int attribute) {
  return call.attributes[static_cast<size_t>(attribute)].wide;
}
bool Flag(const OperatorCall& call, int attribute) {
  return call.attributes[static_cast<size_t>(attribute)].integer != 0;
}

// ---- FusedAdam, FusedAdamw ----

namespace fused {

enum Tensors { kParams, kGrads, kMeans, kSquares, kMaxima, kSteps, kScale, kFound };
enum Attributes { kLr, kBeta1, kBeta2, kWeightDecay, kEps, kAmsgrad, kMaximize };

constexpr DtypeRule kDtypes = SinceAtlasA2(kFloatHalfAndBf16);
constexpr DtypeSet kStepDtypes(ACL_FLOAT, ACL_INT64);

bool KeepsMaxima(const OperatorCall& call) { return Flag(call, kAmsgrad); }
bool HasNumber(const OperatorCall& call, int tensor) {
  return call.IsGiven(tensor) && !call.Tensor(tensor).shape.IsEmpty();
}
bool IsListGiven(const OperatorCall& call, int list) {
  return call.tensors[static_cast<size_t>(list)].list != nullptr;
}
Operands ListsOf(const OperatorCall& call) {
  return KeepsMaxima(call) ? Operands{kParams, kGrads, kMeans, kSquares, kMaxima}
                           : Operands{kParams, kGrads, kMeans, kSquares};
}

aclnnStatus CheckNumbers(const OperatorCall& call) {
  for (const int i : {kLr, kBeta1, kBeta2, kWeightDecay}) {
    if (!(Wide(call, i) < 0)) continue;
    Text message = StartMessage(call).Add("parameter ");
    message.Add(call.attributes[static_cast<size_t>(i)].name);
    return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add(" is negative, accepted: at least 0."));
  }
  if (!KeepsMaxima(call) || IsListGiven(call, kMaxima)) return ACL_SUCCESS;
  return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kMaxima, -1,
                        " is a null pointer, accepted: a list, as amsgrad is true.");
}

aclnnStatus CheckSteps(const OperatorCall& call) {
  if (call.Count(kSteps) != call.Count(kParams))
    return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kSteps, -1,
                          " has not as many entries as paramsRef, accepted: as many.");
  for (int entry = 0; entry < call.Count(kSteps); ++entry) {
    const aclTensor& step = *call.Entry(kSteps, entry);
    if (!kStepDtypes.Contains(step.dtype) || step.dtype != call.Entry(kSteps, 0)->dtype)
      return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kSteps, entry,
                            " has another dtype, accepted: DT_FLOAT or DT_INT64, one for all.");
    if (step.shape.IsEmpty())
      return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kSteps, entry,
                            " is empty, accepted: a tensor with an element.");
  }
  return ACL_SUCCESS;
}

aclnnStatus CheckAll(const Check&, OperatorCall& call) noexcept {
  if (const aclnnStatus status = CheckNumbers(call)) return status;
  const Operands lists = ListsOf(call);
  if (const aclnnStatus status = CheckNulls(call, {kParams, kGrads, kMeans, kSquares, kSteps})) return status;
  for (const int list : {kParams, kGrads, kMeans, kSquares, kMaxima, kSteps}) {
    if (list == kMaxima && !KeepsMaxima(call)) continue;
    for (int entry = 0; entry < call.Count(list); ++entry) {
      if (call.Entry(list, entry) == nullptr)
        return RefuseArgument(call, ACLNN_ERR_PARAM_NULLPTR, list, entry,
                              " is a null pointer, accepted: a tensor.");
    }
  }
  if (call.Count(kParams) == 0)
    return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kParams, -1,
                          " is an empty list, accepted: at least one tensor.");
  if (const aclnnStatus status = CheckLists(call, kDtypes, /*is_generated=*/false, lists)) return status;
  if (const aclnnStatus status = CheckSteps(call)) return status;
  for (const int tensor : {kScale, kFound}) {
    if (HasNumber(call, tensor) && !kConvertible.Without(kComplex).Contains(call.Tensor(tensor).dtype))
      return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, tensor, -1,
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

// The last of the call's numbers: 1 where weights decay by themselves.
constexpr int kDecaysApart = kMaximize + 1;

// Computes powers in float64 and rounds them once. Nothing is done where something infinite was found.
bool Prepare(const engine::UpdateGiven& given, float* numbers) {
  if (given.is_read[2] && given.read[2] == 1) return false;
  const double lr = given.number[kLr];
  const double beta1 = given.number[kBeta1];
  const double beta2 = given.number[kBeta2];
  const double decay = given.number[kWeightDecay];
  const bool is_decoupled = given.number[kDecaysApart] != 0;
  const double t = given.read[0];
  numbers[0] = is_decoupled ? static_cast<float>(1 - lr * decay) : 1.0f;
  numbers[1] = static_cast<float>(1 - beta1);
  numbers[2] = static_cast<float>(beta2);
  numbers[3] = static_cast<float>(1 - beta2);
  numbers[4] = static_cast<float>(1 / std::sqrt(1 - std::pow(beta2, t)));
  numbers[5] = static_cast<float>(given.number[kEps]);
  numbers[6] = static_cast<float>(lr / (1 - std::pow(beta1, t)));
  numbers[7] = given.number[kMaximize] != 0 ? -1.0f : 1.0f;
  numbers[8] = given.is_read[1] ? 1.0f / static_cast<float>(given.read[1]) : 1.0f;
  numbers[9] = is_decoupled ? 0.0f : static_cast<float>(decay);
  return true;
}

// aclnnFusedAdam writes gradients back where they are scaled, as PyTorch does; aclnnFusedAdamw only reads them.
template <bool kIsDecoupled>
void Set(const OperatorCall& call, Executor& executor) {
  const std::initializer_list<double> numbers = {Wide(call, kLr),
                                                 Wide(call, kBeta1),
                                                 Wide(call, kBeta2),
                                                 Wide(call, kWeightDecay),
                                                 Wide(call, kEps),
                                                 0.0,
                                                 Flag(call, kMaximize) ? 1.0 : 0.0,
                                                 kIsDecoupled ? 1.0 : 0.0};
  const bool writes_grad = !kIsDecoupled && HasNumber(call, kScale);
  const UpdateList::Part scale{HasNumber(call, kScale) ? kScale : -1};
  const UpdateList::Part found{HasNumber(call, kFound) ? kFound : -1};
  UpdateList updates(call, executor, call.Count(kParams));
  for (int entry = 0; entry < call.Count(kParams); ++entry) {
    const UpdateList::Part step{kSteps, entry};
    if (KeepsMaxima(call)) {
      updates.Add(writes_grad ? kKeepingMaximumWritingGrad : kKeepingMaximum, Prepare, numbers,
                  {{kParams, entry}, {kMeans, entry}, {kSquares, entry}, {kMaxima, entry}, {kGrads, entry}},
                  writes_grad ? 5 : 4, {step, scale, found});
    } else {
      updates.Add(writes_grad ? kPlainWritingGrad : kPlain, Prepare, numbers,
                  {{kParams, entry}, {kMeans, entry}, {kSquares, entry}, {kGrads, entry}},
                  writes_grad ? 4 : 3, {step, scale, found});
    }
  }
  updates.SetJob();
}

}  // namespace fused

// ---- ApplyAdamW ----

namespace decoupled {

enum Tensors {
  kVar,
  kMean,
  kSquare,
  kBeta1Power,
  kBeta2Power,
  kLr,
  kWeightDecay,
  kBeta1,
  kBeta2,
  kEps,
  kGrad,
  kMaximum
};
enum Attributes { kAmsgrad, kMaximize };

constexpr DtypeRule kDtypes = kBf16SinceAtlasA2;

bool ReadsMaximum(const OperatorCall& call) noexcept { return Flag(call, kAmsgrad); }
bool HasMaximum(const OperatorCall& call) noexcept { return call.IsGiven(kMaximum); }
constexpr Check One(int tensor) { return OneElement(tensor, ACLNN_ERR_PARAM_INVALID); }

constexpr auto kChecks =
    Join(List(NotNull(kVar), NotNull(kMean), NotNull(kSquare), NotNull(kBeta1Power), NotNull(kBeta2Power),
              NotNull(kLr), NotNull(kWeightDecay), NotNull(kBeta1), NotNull(kBeta2), NotNull(kEps),
              NotNull(kGrad), If(ReadsMaximum, NotNull(kMaximum))),
         List(DtypesIn(kDtypes, {kVar}), SameDtype(kVar, kMean), SameDtype(kVar, kSquare),
              SameDtype(kVar, kBeta1Power), SameDtype(kVar, kBeta2Power), SameDtype(kVar, kLr),
              SameDtype(kVar, kWeightDecay), SameDtype(kVar, kBeta1), SameDtype(kVar, kBeta2),
              SameDtype(kVar, kEps), SameDtype(kVar, kGrad), If(HasMaximum, SameDtype(kVar, kMaximum))),
         List(SameShape(kVar, kMean), SameShape(kVar, kSquare), SameShape(kVar, kGrad),
              If(HasMaximum, SameShape(kVar, kMaximum)), One(kBeta1Power), One(kBeta2Power), One(kLr),
              One(kWeightDecay), One(kBeta1), One(kBeta2), One(kEps)),
         List(SizesRepresentable({kVar, kMean, kSquare}), DoneIfEmpty({kVar}), InsideStorage({kGrad}),
              If(HasMaximum, InsideStorage({kMaximum})),
              WithCode(ACLNN_ERR_INNER_NULLPTR, RankAtMostUnlessContiguous(8, {kVar, kMean, kSquare, kGrad})),
              If(ReadsMaximum,
                 WithCode(ACLNN_ERR_INNER_NULLPTR, RankAtMostUnlessContiguous(8, {kVar, kMaximum})))));

// Reads the powers of the step before, the rate, the decay, both betas and eps.
bool Prepare(const engine::UpdateGiven& given, float* numbers) {
  const double* const read = given.read;
  const double lr = read[2];
  const double beta1 = read[4];
  const double beta2 = read[5];
  numbers[0] = static_cast<float>(1 - lr * read[3]);
  numbers[1] = static_cast<float>(1 - beta1);
  numbers[2] = static_cast<float>(beta2);
  numbers[3] = static_cast<float>(1 - beta2);
  numbers[4] = static_cast<float>(1 / std::sqrt(1 - read[1] * beta2));
  numbers[5] = static_cast<float>(read[6]);
  numbers[6] = static_cast<float>(lr / (1 - read[0] * beta1));
  numbers[7] = given.number[0] != 0 ? -1.0f : 1.0f;
  numbers[8] = 1.0f;
  numbers[9] = 0.0f;
  return true;
}

void Set(const OperatorCall& call, Executor& executor) {
  UpdateList updates(call, executor, 1);
  const std::initializer_list<double> numbers = {Flag(call, kMaximize) ? 1.0 : 0.0};
  const std::initializer_list<UpdateList::Part> read = {{kBeta1Power}, {kBeta2Power}, {kLr}, {kWeightDecay},
                                                        {kBeta1},      {kBeta2},      {kEps}};
  if (ReadsMaximum(call)) {
    updates.Add(kReadingMaximum, Prepare, numbers, {{kVar}, {kMean}, {kSquare}, {kGrad}, {kMaximum}}, 3,
                read);
  } else {
    updates.Add(kPlain, Prepare, numbers, {{kVar}, {kMean}, {kSquare}, {kGrad}}, 3, read);
  }
  updates.SetJob();
}

}  // namespace decoupled

// ---- ApplyAdam ----

namespace uncorrected {

enum Tensors { kVar, kMean, kSquare, kBeta1Power, kBeta2Power, kLr, kBeta1, kBeta2, kEps, kGrad };
enum Attributes { kLocks, kNesterov };

constexpr DtypeRule kDtypes = ByGeneration({}, {}, kFloatHalfAndBf16);
constexpr DtypeSet kNumbers{ACL_FLOAT};
constexpr Check One(int tensor) { return OneElement(tensor, ACLNN_ERR_PARAM_INVALID); }

constexpr auto kChecks = Join(
    List(NotNull(kVar), NotNull(kMean), NotNull(kSquare), NotNull(kBeta1Power), NotNull(kBeta2Power),
         NotNull(kLr), NotNull(kBeta1), NotNull(kBeta2), NotNull(kEps), NotNull(kGrad)),
    List(DtypesIn(kDtypes, {kVar}), SameDtype(kVar, kMean), SameDtype(kVar, kSquare), SameDtype(kVar, kGrad),
         DtypesIn(kNumbers, {kBeta1Power, kBeta2Power, kLr}), DtypesIn(kNumbers, {kBeta1, kBeta2, kEps})),
    List(SameShape(kVar, kMean), SameShape(kVar, kSquare), SameShape(kVar, kGrad), One(kBeta1Power),
         One(kBeta2Power), One(kLr), One(kBeta1), One(kBeta2), One(kEps),
         SizesRepresentable({kVar, kMean, kSquare}), DoneIfEmpty({kVar}), InsideStorage({kGrad}),
         WithCode(ACLNN_ERR_INNER_NULLPTR, RankAtMostUnlessContiguous(8, {kVar, kMean, kSquare, kGrad}))));

// Reads both powers of this step, the rate, both betas and eps.
bool Prepare(const engine::UpdateGiven& given, float* numbers) {
  const double* const read = given.read;
  const bool is_nesterov = given.number[0] != 0;
  numbers[0] = static_cast<float>(1 - read[3]);
  numbers[1] = static_cast<float>(1 - read[4]);
  numbers[2] = static_cast<float>(read[2] * std::sqrt(1 - read[1]) / (1 - read[0]));
  numbers[3] = static_cast<float>(read[5]);
  numbers[4] = is_nesterov ? static_cast<float>(read[3]) : 1.0f;
  numbers[5] = is_nesterov ? static_cast<float>(1 - read[3]) : 0.0f;
  return true;
}

void Set(const OperatorCall& call, Executor& executor) {
  UpdateList updates(call, executor, 1);
  updates.Add(kUncorrected, Prepare, {Flag(call, kNesterov) ? 1.0 : 0.0},
              {{kVar}, {kMean}, {kSquare}, {kGrad}}, 3,
              {{kBeta1Power}, {kBeta2Power}, {kLr}, {kBeta1}, {kBeta2}, {kEps}});
  updates.SetJob();
}

}  // namespace uncorrected

// ---- ApplyFusedEmaAdam ----

namespace averaged {

enum Tensors { kVar, kMean, kSquare, kAverage, kGrad, kStep };
enum Attributes { kLr, kEmaDecay, kBeta1, kBeta2, kEps, kMode, kCorrects, kWeightDecay };

constexpr DtypeRule kDtypes = SinceAtlasA2(kFloatHalfAndBf16);
constexpr DtypeSet kWhole{ACL_INT64};
constexpr Check Tiled(const Check& check) { return WithCode(ACLNN_ERR_INNER_TILING_ERROR, check); }

constexpr auto kChecks =
    Join(List(NotNull(kGrad), NotNull(kVar), NotNull(kMean), NotNull(kSquare), NotNull(kAverage),
              NotNull(kStep), DtypesIn(kDtypes, {kGrad}), SameDtype(kGrad, kVar), SameDtype(kGrad, kMean),
              SameDtype(kGrad, kSquare), SameDtype(kGrad, kAverage), DtypesIn(kWhole, {kStep})),
         List(Tiled(SameShape(kGrad, kVar)), Tiled(SameShape(kGrad, kMean)), Tiled(SameShape(kGrad, kSquare)),
              Tiled(SameShape(kGrad, kAverage)), OneElement(kStep, ACLNN_ERR_INNER_TILING_ERROR),
              Tiled(IntegerIn(kMode, 0, 1)), SizesRepresentable({kVar, kMean, kSquare, kAverage}),
              DoneIfEmpty({kVar}), InsideStorage({kGrad}),
              WithCode(ACLNN_ERR_INNER_NULLPTR, RankAtMostUnlessContiguous(8, {kGrad, kVar, kMean, kSquare})),
              WithCode(ACLNN_ERR_INNER_NULLPTR, RankAtMostUnlessContiguous(8, {kGrad, kAverage}))));

bool Prepare(const engine::UpdateGiven& given, float* numbers) {
  const double beta1 = given.number[kBeta1];
  const double beta2 = given.number[kBeta2];
  const double ema = given.number[kEmaDecay];
  const double decay = given.number[kWeightDecay];
  const bool corrects = given.number[kCorrects] != 0;
  const bool is_of_step = given.number[kMode] != 0;
  const double t = given.read[0];
  numbers[0] = static_cast<float>(1 - beta1);
  numbers[1] = static_cast<float>(beta2);
  numbers[2] = static_cast<float>(1 - beta2);
  numbers[3] = corrects ? static_cast<float>(1 / std::sqrt(1 - std::pow(beta2, t))) : 1.0f;
  numbers[4] = static_cast<float>(given.number[kEps]);
  numbers[5] = static_cast<float>(given.number[kLr]);
  numbers[6] = corrects ? static_cast<float>(1 / (1 - std::pow(beta1, t))) : 1.0f;
  numbers[7] = is_of_step ? 0.0f : static_cast<float>(decay);
  numbers[8] = is_of_step ? static_cast<float>(decay) : 0.0f;
  numbers[9] = static_cast<float>(ema);
  numbers[10] = static_cast<float>(1 - ema);
  return true;
}

void Set(const OperatorCall& call, Executor& executor) {
  UpdateList updates(call, executor, 1);
  const auto whole = [&](int i) {
    return static_cast<double>(call.attributes[static_cast<size_t>(i)].integer);
  };
  updates.Add(kWithAverage, Prepare,
              {Wide(call, kLr), Wide(call, kEmaDecay), Wide(call, kBeta1), Wide(call, kBeta2),
               Wide(call, kEps), whole(kMode), whole(kCorrects), Wide(call, kWeightDecay)},
              {{kVar}, {kMean}, {kSquare}, {kAverage}, {kGrad}}, 4, {{kStep}});
  updates.SetJob();
}

}  // namespace averaged

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnFusedAdam) {
  return RunPhase1(call, fused::kChecks, workspaceSize, executor, fused::Set</*kIsDecoupled=*/false>);
}

PORTACL_PHASE_1(aclnnFusedAdamw) {
  return RunPhase1(call, fused::kChecks, workspaceSize, executor, fused::Set</*kIsDecoupled=*/true>);
}

PORTACL_PHASE_1(aclnnApplyAdamW) {
  return RunPhase1(call, decoupled::kChecks, workspaceSize, executor, decoupled::Set);
}

PORTACL_PHASE_1(aclnnApplyAdam) {
  return RunPhase1(call, uncorrected::kChecks, workspaceSize, executor, uncorrected::Set);
}

PORTACL_PHASE_1(aclnnApplyFusedEmaAdam) {
  return RunPhase1(call, averaged::kChecks, workspaceSize, executor, averaged::Set);
}

#endif  // HWY_ONCE
