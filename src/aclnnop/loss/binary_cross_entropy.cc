// aclnnBinaryCrossEntropy, -w * (t * log(x) + (1 - t) * log(1 - x)), and aclnnBinaryCrossEntropyWithLogits,
// the same with logistic(x) for x and a weight of positives. Both give all losses, their sum or their mean.
// Also their gradients for x, and the latter's for t.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/loss/binary_cross_entropy.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/activation_formulas-inl.h"
#include "engine/functions/log-inl.h"
#include "engine/functions/logarithmic-inl.h"
#include "engine/reduction/sum_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace binary {

using engine::HWY_NAMESPACE::Summable;

// Clamps the logarithm to at least -100. NaN stays NaN.
template <class D, class V>
HWY_INLINE V AtLeastMinus100(D d, V x) {
  const V least = hn::Set(d, -100.0f);
  return hn::IfThenElse(hn::Lt(x, least), least, x);
}

struct Entropy : Summable<Entropy> {
  using Parameters = engine::NoParameters;
  static constexpr int kInputs = 2;
  explicit Entropy(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V t) const {
    const V log = AtLeastMinus100(d, functions::Log(d, x));
    const V log_of_rest = AtLeastMinus100(d, functions::Log1p(d, hn::Neg(x)));
    const V rest = hn::Sub(hn::Set(d, 1.0f), t);
    return hn::Neg(hn::Add(hn::Mul(t, log), hn::Mul(rest, log_of_rest)));
  }
};

struct EntropySlope : Elementwise<EntropySlope> {
  using Parameters = engine::Scalars;
  static constexpr int kInputs = 3;
  static constexpr bool kTakes16BitFloats = true;
  explicit EntropySlope(const Parameters& parameters) : c(parameters.Get<float>(0)) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x, V t) const {
    const V variance = hn::Mul(hn::Sub(hn::Set(d, 1.0f), x), x);
    const V least = hn::Set(d, 1e-12f);
    const V divisor = hn::IfThenElse(hn::Lt(variance, least), least, variance);
    return hn::Mul(hn::Mul(hn::Div(hn::Sub(x, t), divisor), hn::Set(d, c)), gradient);
  }

  float c;
};

// Computes (1 - t) * x - (1 + (p - 1) * t) * log(logistic(x)) in float64: for a target that is met, the terms
// nearly cancel.
template <class D, class V>
HWY_INLINE V EntropyOfLogit(D d, V x, V t, V factor) {
  const V zero = hn::Zero(d);
  const V far = hn::Abs(x);
  const V power = hn::IfThenElseZero(hn::Le(far, hn::Set(d, 700.0)), functions::ExpInDouble(d, hn::Neg(far)));
  const V log = hn::Sub(hn::IfThenElse(hn::Lt(x, zero), x, zero), functions::Log1pInDouble(d, power));
  const V result = hn::Sub(hn::Mul(hn::Sub(hn::Set(d, 1.0), t), x), hn::Mul(factor, log));
  return functions::OrNan(result, x);
}

struct Logits : Summable<Logits> {
  using Parameters = engine::NoParameters;
  static constexpr int kInputs = 2;
  explicit Logits(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V t) const {
    return functions::InDoubles(d, x, t, [](auto wide, auto logit, auto target) HWY_ATTR {
      return EntropyOfLogit(wide, logit, target, hn::Set(wide, 1.0));
    });
  }
};

struct WeightedLogits : Summable<WeightedLogits> {
  using Parameters = engine::NoParameters;
  static constexpr int kInputs = 3;
  explicit WeightedLogits(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V t, V positive) const {
    return functions::InDoubles(d, x, t, positive, [](auto wide, auto logit, auto target, auto p) HWY_ATTR {
      const auto one = hn::Set(wide, 1.0);
      return EntropyOfLogit(wide, logit, target, hn::Add(one, hn::Mul(hn::Sub(p, one), target)));
    });
  }
};

struct LogitsSlope : Elementwise<LogitsSlope> {
  using Parameters = engine::Scalars;
  static constexpr int kInputs = 3;
  static constexpr bool kTakes16BitFloats = true;
  explicit LogitsSlope(const Parameters& parameters) : c(parameters.Get<float>(0)) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x, V t) const {
    const V slope = functions::InDoubles(d, x, t, [](auto wide, auto logit, auto target) HWY_ATTR {
      return hn::Sub(LogisticInDouble(wide, logit), target);
    });
    return hn::Mul(hn::Mul(slope, hn::Set(d, c)), gradient);
  }

  float c;
};

// Computes the slope without the incoming gradient.
struct WeightedLogitsSlope : Elementwise<WeightedLogitsSlope> {
  using Parameters = engine::Scalars;
  static constexpr int kInputs = 3;
  explicit WeightedLogitsSlope(const Parameters& parameters) : c(parameters.Get<float>(0)) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V t, V positive) const {
    const V slope =
        functions::InDoubles(d, x, t, positive, [](auto wide, auto logit, auto target, auto p) HWY_ATTR {
          const auto weighted = hn::Mul(p, target);
          const auto factor = hn::Sub(hn::Add(weighted, hn::Set(wide, 1.0)), target);
          return hn::Sub(hn::Mul(factor, LogisticInDouble(wide, logit)), weighted);
        });
    return hn::Mul(slope, hn::Set(d, c));
  }

  float c;
};

// Computes p * softplus(-x) - softplus(x), the loss of a positive less that of a negative.
template <class D, class V>
HWY_INLINE V TargetSlopeInDouble(D d, V x, V positive) {
  const V zero = hn::Zero(d);
  const V far = hn::Abs(x);
  const V power = hn::IfThenElseZero(hn::Le(far, hn::Set(d, 700.0)), functions::ExpInDouble(d, hn::Neg(far)));
  const V log = functions::Log1pInDouble(d, power);
  const V of_positive = hn::Add(hn::IfThenElseZero(hn::Lt(x, zero), far), log);
  const V of_negative = hn::Add(hn::IfThenElseZero(hn::Gt(x, zero), far), log);
  return functions::OrNan(hn::Sub(hn::Mul(positive, of_positive), of_negative), x);
}

// Computes the slope for t without the incoming gradient. Without a weight of positives it is -x.
struct TargetSlope : Elementwise<TargetSlope> {
  using Parameters = engine::Scalars;
  static constexpr int kInputs = 1;
  explicit TargetSlope(const Parameters& parameters) : c(parameters.Get<float>(0)) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(hn::Neg(x), hn::Set(d, c));
  }

  float c;
};
struct WeightedTargetSlope : Elementwise<WeightedTargetSlope> {
  using Parameters = engine::Scalars;
  static constexpr int kInputs = 2;
  explicit WeightedTargetSlope(const Parameters& parameters) : c(parameters.Get<float>(0)) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V positive) const {
    const V slope = functions::InDoubles(d, x, positive, [](auto wide, auto logit, auto p) HWY_ATTR {
      return TargetSlopeInDouble(wide, logit, p);
    });
    return hn::Mul(slope, hn::Set(d, c));
  }

  float c;
};

struct Product : Summable<Product> {
  using Parameters = engine::NoParameters;
  static constexpr int kInputs = 2;
  explicit Product(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

}  // namespace binary
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>

#include "aclnn/opdev/op_errno.h"
#include "aclnnop/loss/binary_cross_entropy_functions.h"
#include "aclnnop/map_list.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "contract/broadcast.h"
#include "engine/map/dispatch.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kEntropy = PORTACL_KERNELS(binary::Entropy);
constexpr auto kEntropySlope = PORTACL_VALUE_KERNELS(binary::EntropySlope);
constexpr auto kLogits = PORTACL_KERNELS(binary::Logits);
constexpr auto kWeightedLogits = PORTACL_KERNELS(binary::WeightedLogits);
constexpr auto kLogitsSlope = PORTACL_VALUE_KERNELS(binary::LogitsSlope);
constexpr auto kWeightedLogitsSlope = PORTACL_VALUE_KERNELS(binary::WeightedLogitsSlope);
constexpr auto kTargetSlope = PORTACL_VALUE_KERNELS(binary::TargetSlope);
constexpr auto kWeightedTargetSlope = PORTACL_VALUE_KERNELS(binary::WeightedTargetSlope);
constexpr auto kProduct = PORTACL_KERNELS(binary::Product);

enum Attributes { kReduction };
// Tensors of the losses. aclnnBinaryCrossEntropy has no weight of positives: its out takes that position.
enum Loss { kSelf, kTarget, kWeight, kPositive };
enum Gradient { kGradOutput, kOf, kTrue, kFactor, kPositiveFactor };

bool IsWeighted(const OperatorCall& call) noexcept { return call.IsGiven(kWeight); }
bool IsSelfFilled(const OperatorCall& call) noexcept { return !call.Tensor(kOf).shape.IsEmpty(); }

// Checks that unreduced losses have self's shape. If both have one element, any shapes are accepted, and the
// loop takes the one of more dims.
aclnnStatus OutHasSelfsShape(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& out = call.Tensor(call.Output());
  const aclTensor& self = call.Tensor(kSelf);
  call.broadcast = self.shape;
  if (out.shape == self.shape) return ACL_SUCCESS;
  if (out.numel != 1 || self.numel != 1 || out.shape.IsEmpty() || self.shape.IsEmpty())
    return RefuseShape(check, call, call.Output(), self.shape);
  if (out.shape.rank > self.shape.rank) call.broadcast = out.shape;
  return ACL_SUCCESS;
}

// Checks that the second of check.operands adds no dims to the first.
aclnnStatus WeightAddsNoDims(const Check& check, OperatorCall& call) noexcept {
  const int weight = check.operands.index[1];
  if (!call.IsGiven(weight)) return ACL_SUCCESS;
  const Shape& shape = call.Tensor(check.operands.index[0]).shape;
  Shape both;
  if (BroadcastShapes(shape, call.Tensor(weight).shape, &both) && both == shape) return ACL_SUCCESS;
  return RefuseShape(check, call, weight, shape);
}
constexpr Check WeightAddsNoDims(int to, int weight) {
  return {.run = WeightAddsNoDims, .operands = {to, weight}, .code = ACLNN_ERR_INNER_NULLPTR};
}

// Ends the list with checks that CANN's list lacks, such as weights that would enlarge the loss and tensors
// that no loop can read.
constexpr auto LossEnd(Operands inputs) {
  return List(WithCode(ACLNN_ERR_INNER_NULLPTR, RankAtMost(8, inputs)), InsideStorage(inputs));
}

constexpr auto kEntropyChecks = Join(
    List(PromotesTo(ACL_FLOAT), WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kSelf)),
         WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kTarget)),
         WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kPositive)),
         DtypesIn(kBf16SinceAtlasA2, {kSelf, kTarget, kPositive, kWeight}),
         If(IsWeighted, SameDtype(kSelf, kTarget)), If(IsWeighted, SameDtype(kSelf, kWeight)),
         If(IsWeighted, SameDtype(kSelf, kPositive)), SameShape(kSelf, kTarget), Broadcasts({kSelf, kTarget}),
         IntegerIn(kReduction, 0, 2), IfNone(kReduction, {.run = OutHasSelfsShape}),
         IfReduced(kReduction, OneElement(kPositive, ACLNN_ERR_PARAM_INVALID)),
         SizesRepresentable({kPositive}), IfNone(kReduction, DoneIfEmpty({kSelf})),
         IfReduced(kReduction, NoTermsIfEmpty({kSelf, kPositive})), WeightAddsNoDims(kSelf, kWeight)),
    LossEnd({kSelf, kTarget, kWeight}));

constexpr int kLogitsOut = 4;
constexpr auto kLogitsChecks =
    Join(List(PromotesTo(ACL_FLOAT), NotNull(kSelf), NotNull(kTarget), NotNull(kLogitsOut),
              DtypesIn(kBf16SinceAtlasA2, {kSelf, kTarget, kLogitsOut}), SameDtype(kTarget, kLogitsOut),
              IntegerIn(kReduction, 0, 2), RankAtMost(8, {kSelf, kTarget, kWeight, kPositive, kLogitsOut}),
              SameShape(kSelf, kTarget), Broadcasts({kTarget, kWeight}), Broadcasts({kTarget, kPositive}),
              SizesRepresentable({kLogitsOut}), IfNone(kReduction, DoneIfEmpty({kSelf})),
              IfReduced(kReduction, NoTermsIfEmpty({kSelf, kLogitsOut})),
              IfNone(kReduction, SameShape(kSelf, kLogitsOut)), WeightAddsNoDims(kTarget, kWeight),
              WeightAddsNoDims(kTarget, kPositive),
              IfReduced(kReduction, OneElement(kLogitsOut, ACLNN_ERR_INNER_NULLPTR)),
              DtypeImplemented({kWeight, kPositive}, kReadable), Broadcasts({kSelf, kTarget})),
         LossEnd({kSelf, kTarget, kWeight, kPositive}));

constexpr auto kEntropyBackwardChecks = List(
    NotNull(kGradOutput), NotNull(kOf), NotNull(kTrue), NotNull(kPositiveFactor),
    RankAtMost(8, {kGradOutput, kOf, kTrue, kFactor, kPositiveFactor}),
    DtypesIn(kBf16SinceAtlasA2, {kOf, kGradOutput, kTrue, kPositiveFactor, kFactor}),
    SameFormat({kOf, kTrue, kFactor}), If(IsSelfFilled, SameShape(kOf, kPositiveFactor)),
    If(IsSelfFilled, Broadcasts({kOf, kTrue, kFactor, kGradOutput})), If(IsSelfFilled, ShapeIsBroadcast(kOf)),
    IntegerIn(kReduction, 0, 2), SizesRepresentable({kPositiveFactor}), DoneIfEmpty({kOf}),
    InsideStorage({kGradOutput, kOf, kTrue, kFactor}), PromotesTo(ACL_FLOAT));

constexpr int kLogitsGradient = 5;
constexpr auto kLogitsBackwardChecks =
    List(NotNull(kGradOutput), NotNull(kOf), NotNull(kTrue), NotNull(kLogitsGradient),
         RankAtMost(8, {kGradOutput, kOf, kTrue, kFactor, kPositiveFactor}), RankAtMost(8, {kLogitsGradient}),
         DtypesIn(kBf16SinceAtlasA2, {kGradOutput, kOf, kTrue, kFactor, kPositiveFactor}),
         DtypesIn(kBf16SinceAtlasA2, {kLogitsGradient}), SameDtype(kTrue, kLogitsGradient),
         SameFormat({kOf, kTrue, kLogitsGradient}), If(IsSelfFilled, SameShape(kOf, kTrue)),
         If(IsSelfFilled, SameShape(kOf, kLogitsGradient)),
         If(IsSelfFilled, Broadcasts({kOf, kGradOutput, kFactor, kPositiveFactor})),
         If(IsSelfFilled, ShapeIsBroadcast(kOf)), IntegerIn(kReduction, 0, 2),
         SizesRepresentable({kLogitsGradient}), DoneIfEmpty({kOf}),
         InsideStorage({kGradOutput, kOf, kTrue, kFactor, kPositiveFactor}), PromotesTo(ACL_FLOAT));

MappedView ViewOf(const OperatorCall& call, int tensor) {
  return {PlainView(call.Tensor(tensor)), call.OperandOf(tensor)};
}

// Sets a loss. Without weights it is one pass; with weights its terms are computed first, and multiplied
// then.
void SetLoss(const OperatorCall& call, const engine::KernelTable& terms, Operands inputs,
             Executor& executor) {
  const int64_t reduction = call.attributes[kReduction].integer;
  const bool is_reduced = reduction != kReductionNone;
  const float c = ReductionFactor(reduction, call.broadcast);
  const Shape scalar;
  if (!call.IsGiven(kWeight) || call.work == OperatorCall::Work::kNoTerms) {
    const bool none = call.work == OperatorCall::Work::kNoTerms;
    SetJob(call, is_reduced ? &scalar : nullptr, none ? Operands{kSelf, kTarget} : inputs, call.Output(), c,
           none ? kProduct.For(call.isa) : terms.For(call.isa), engine::NoParameters{}, executor);
    return;
  }
  MapList maps(call, executor, 2);
  const MappedView scratch = maps.Scratch(call.broadcast);
  const MappedView weight = ViewOf(call, kWeight);
  MappedView out = ViewOf(call, call.Output());
  if (!is_reduced && out.tensor.shape != call.broadcast) FillShape(out.tensor, call.broadcast, 1);
  if (inputs.count == 2) {
    maps.Add({ViewOf(call, kSelf), ViewOf(call, kTarget)}, scratch, terms);
  } else {
    maps.Add({ViewOf(call, kSelf), ViewOf(call, kTarget), ViewOf(call, kPositive)}, scratch, terms);
  }
  if (is_reduced) {
    maps.AddSum({scratch, weight}, out, call.broadcast, scalar, kProduct.For(call.isa), c);
  } else {
    maps.Add({scratch, weight}, out, kProduct);
  }
  maps.SetJob();
}

void SetEntropy(const OperatorCall& call, Executor& executor) {
  SetLoss(call, kEntropy, {kSelf, kTarget}, executor);
}
void SetLogits(const OperatorCall& call, Executor& executor) {
  if (call.IsGiven(kPositive)) {
    SetLoss(call, kWeightedLogits, {kSelf, kTarget, kPositive}, executor);
  } else {
    SetLoss(call, kLogits, {kSelf, kTarget}, executor);
  }
}

// Multiplies gradOutput and the given weights one after the other.
void SetGradient(const OperatorCall& call, const engine::KernelTable& slope,
                 const engine::KernelTable* weighted_slope, Executor& executor) {
  engine::Scalars scalars;
  const float c = ReductionFactor(call.attributes[kReduction].integer, call.Tensor(kOf).shape);
  std::memcpy(scalars.bytes[0], &c, sizeof c);
  const bool is_weighted = call.IsGiven(kFactor);
  if (!is_weighted && weighted_slope == nullptr) {
    SetMapJob(call, {kGradOutput, kOf, kTrue}, call.Output(), slope, scalars, executor);
    return;
  }
  MapList maps(call, executor, 3);
  const MappedView scratch = maps.Scratch(call.broadcast);
  const MappedView out = ViewOf(call, call.Output());
  const MappedView gradient = ViewOf(call, kGradOutput);
  const MappedView self = ViewOf(call, kOf);
  const MappedView target = ViewOf(call, kTrue);
  if (weighted_slope == nullptr) {
    maps.Add({gradient, self, target}, scratch, slope, scalars);
  } else {
    maps.Add({self, target, ViewOf(call, kPositiveFactor)}, scratch, *weighted_slope, scalars);
    maps.Add({scratch, gradient}, is_weighted ? scratch : out, kProduct);
  }
  if (is_weighted) maps.Add({scratch, ViewOf(call, kFactor)}, out, kProduct);
  maps.SetJob();
}

void SetEntropyGradient(const OperatorCall& call, Executor& executor) {
  SetGradient(call, kEntropySlope, nullptr, executor);
}
void SetLogitsGradient(const OperatorCall& call, Executor& executor) {
  SetGradient(call, kLogitsSlope, call.IsGiven(kPositiveFactor) ? &kWeightedLogitsSlope : nullptr, executor);
}

// Multiplies the slope for the targets by gradOutput and the weight. It does not depend on the targets.
void SetTargetGradient(const OperatorCall& call, Executor& executor) {
  engine::Scalars scalars;
  const float c = ReductionFactor(call.attributes[kReduction].integer, call.Tensor(kOf).shape);
  std::memcpy(scalars.bytes[0], &c, sizeof c);
  MapList maps(call, executor, 3);
  const MappedView scratch = maps.Scratch(call.broadcast);
  const MappedView out = ViewOf(call, call.Output());
  if (call.IsGiven(kPositiveFactor)) {
    maps.Add({ViewOf(call, kOf), ViewOf(call, kPositiveFactor)}, scratch, kWeightedTargetSlope, scalars);
  } else {
    maps.Add({ViewOf(call, kOf)}, scratch, kTargetSlope, scalars);
  }
  const bool is_weighted = call.IsGiven(kFactor);
  maps.Add({scratch, ViewOf(call, kGradOutput)}, is_weighted ? scratch : out, kProduct);
  if (is_weighted) maps.Add({scratch, ViewOf(call, kFactor)}, out, kProduct);
  maps.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnBinaryCrossEntropy) {
  return RunPhase1(call, kEntropyChecks, workspaceSize, executor, SetEntropy);
}

PORTACL_PHASE_1(aclnnBinaryCrossEntropyBackward) {
  return RunPhase1(call, kEntropyBackwardChecks, workspaceSize, executor, SetEntropyGradient);
}

PORTACL_PHASE_1(aclnnBinaryCrossEntropyWithLogits) {
  return RunPhase1(call, kLogitsChecks, workspaceSize, executor, SetLogits);
}

PORTACL_PHASE_1(aclnnBinaryCrossEntropyWithLogitsBackward) {
  return RunPhase1(call, kLogitsBackwardChecks, workspaceSize, executor, SetLogitsGradient);
}

PORTACL_PHASE_1(aclnnBinaryCrossEntropyWithLogitsTargetBackward) {
  return RunPhase1(call, kLogitsBackwardChecks, workspaceSize, executor, SetTargetGradient);
}

#endif  // HWY_ONCE
