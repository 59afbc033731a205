// aclnnBatchNorm, aclnnBatchNormBackward: (x - mean) * invstd * weight + bias for each channel, with mean and
// invstd = 1 / sqrt(variance + eps) from the batch or from the running statistics; and their gradients.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/batch_norm.cc"
#include "base/foreach_target.h"

#include "aclnnop/norm/moments-inl.h"

#ifndef PORTACL_BATCH_NORM_PARAMETERS
#define PORTACL_BATCH_NORM_PARAMETERS
namespace portacl {
struct BatchNormParameters {
  double eps;
  double momentum;
  bool training;
};
struct BatchNormBackwardParameters {
  double eps;
  bool training;
  bool wants_input;
};
// Numbers of a channel: inputs, then outputs.
enum BatchNormNumbers {
  kWeightIn,
  kBiasIn,
  kMeanIn,
  kVarianceIn,
  kSavedMean,
  kSavedInvstd,
  kMeanOut,
  kVarianceOut
};
enum BatchNormGradientNumbers {
  kOfWeight,
  kRunningMeanIn,
  kRunningVarianceIn,
  kSavedMeanIn,
  kSavedInvstdIn,
  kWeightSum,
  kBiasSum
};
}  // namespace portacl
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace batch_norm {

namespace hn = hwy::HWY_NAMESPACE;

struct BatchNorm : engine::HWY_NAMESPACE::RowwiseFormula<BatchNorm> {
  static constexpr int kInputs = 1;
  explicit BatchNorm(const void* given) : parameters(*static_cast<const BatchNormParameters*>(given)) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    Moments moments;
    if (parameters.training) {
      moments = MomentsOf(row);
    } else {
      moments.mean = static_cast<float>(row.Value(kMeanIn));
      moments.variance = row.Value(kVarianceIn);
    }
    const float reciprocal = static_cast<float>(1.0 / std::sqrt(moments.variance + parameters.eps));
    if (parameters.training) {
      const auto n = static_cast<double>(row.n());
      const double unbiased = n > 1 ? moments.variance * (n / (n - 1)) : moments.variance;
      const double kept = 1.0 - parameters.momentum;
      row.SetValue(kSavedMean, static_cast<double>(moments.mean));
      row.SetValue(kSavedInvstd, static_cast<double>(reciprocal));
      row.SetValue(kMeanOut, kept * row.Value(kMeanIn) + parameters.momentum * moments.exact_mean);
      row.SetValue(kVarianceOut, kept * row.Value(kVarianceIn) + parameters.momentum * unbiased);
    }
    const V mean = hn::Set(d, moments.mean);
    const V invstd = hn::Set(d, reciprocal);
    const V weight = hn::Set(d, static_cast<float>(row.Value(kWeightIn)));
    const V bias = hn::Set(d, static_cast<float>(row.Value(kBiasIn)));
    row.template Write<0, 0>([&](auto, V x) HWY_ATTR {
      return hn::Add(hn::Mul(hn::Mul(hn::Sub(x, mean), invstd), weight), bias);
    });
  }

  BatchNormParameters parameters;
};

struct BatchNormBackward : engine::HWY_NAMESPACE::RowwiseFormula<BatchNormBackward> {
  static constexpr int kInputs = 2;
  explicit BatchNormBackward(const void* given)
      : parameters(*static_cast<const BatchNormBackwardParameters*>(given)) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const bool training = parameters.training;
    const double variance = row.Value(kRunningVarianceIn);
    const auto reciprocal =
        static_cast<float>(training ? row.Value(kSavedInvstdIn) : 1.0 / std::sqrt(variance + parameters.eps));
    const V mean = hn::Set(d, static_cast<float>(row.Value(training ? kSavedMeanIn : kRunningMeanIn)));
    const V invstd = hn::Set(d, reciprocal);
    const auto normalized = [&](V x) HWY_ATTR { return hn::Mul(hn::Sub(x, mean), invstd); };
    double of_weight = 0;
    double of_bias = 0;
    row.template Sum2<0, 1>(&of_weight, &of_bias, [&](auto, V& a, V& b, V gradient, V x) HWY_ATTR {
      a = hn::Mul(gradient, normalized(x));
      b = gradient;
    });
    row.SetValue(kWeightSum, of_weight);
    row.SetValue(kBiasSum, of_bias);
    if (!parameters.wants_input) return;
    const V weight = hn::Set(d, static_cast<float>(row.Value(kOfWeight)));
    const V factor = hn::Mul(weight, invstd);
    if (training) {
      const auto n = static_cast<double>(row.n());
      const V mean_gradient = hn::Set(d, static_cast<float>(of_bias / n));
      const V mean_normalized = hn::Set(d, static_cast<float>(of_weight / n));
      row.template Write<0, 0, 1>([&](auto, V gradient, V x) HWY_ATTR {
        return hn::Mul(factor,
                       hn::Sub(hn::Sub(gradient, mean_gradient), hn::Mul(normalized(x), mean_normalized)));
      });
    } else {
      row.template Write<0, 0>([&](auto, V gradient) HWY_ATTR { return hn::Mul(gradient, factor); });
    }
  }

  BatchNormBackwardParameters parameters;
};

}  // namespace batch_norm
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/normalized.h"
#include "aclnnop/norm/batch_norm_functions.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

constexpr auto kForward = PORTACL_ROWWISE_KERNELS(batch_norm::BatchNorm);
constexpr auto kBackward = PORTACL_ROWWISE_KERNELS(batch_norm::BatchNormBackward);

// Atlas 200I/500 A2 accept no dtype.
constexpr DtypeRule kDtypes = kBf16SinceAtlasA2.On(ProductSet{Product::kAtlas200I500A2}, kNoDtype);

// Returns the dim of channels: dim 1, or on Ascend 950 the last dim where the format says so.
int ChannelDim(const OperatorCall& call, const aclTensor& tensor) {
  const bool is_last = tensor.format == ACL_FORMAT_NHWC || tensor.format == ACL_FORMAT_NDHWC;
  return is_last && call.product == Product::kAscend950 ? tensor.shape.rank - 1 : 1;
}

uint32_t AllBut(int axis, const Shape& shape) { return ((1u << shape.rank) - 1) & ~(1u << axis); }

template <int tensor, int input>
aclnnStatus HasChannels(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& of = call.Tensor(input);
  const Shape accepted{of.shape[ChannelDim(call, of)]};
  return call.Tensor(tensor).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, tensor, accepted);
}

template <int input>
aclnnStatus FormatOfFiveDims(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& tensor = call.Tensor(input);
  if (tensor.shape.rank != 5 || tensor.format == ACL_FORMAT_NCDHW) return ACL_SUCCESS;
  if (tensor.format == ACL_FORMAT_NDHWC && call.product == Product::kAscend950) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddFormatName(AddArgumentShape(message.Add("parameter "), call, input).Add(" has the format "),
                tensor.format);
  return FailAclnn(check.code, message.Add(", accepted: NCDHW."));
}

// ---- BatchNorm ----

enum Tensors { kInput, kWeight, kBias, kRunningMean, kRunningVar, kOutput, kSaveMean, kSaveInvstd };
enum Attributes { kTraining, kMomentum, kEps };

bool Trains(const OperatorCall& call) noexcept { return call.attributes[kTraining].integer != 0; }

bool IsEmpty(const OperatorCall& call) noexcept { return call.Tensor(kInput).shape.IsEmpty(); }
aclnnStatus NothingToNormalize(const Check&, OperatorCall& call) noexcept {
  if (IsEmpty(call)) call.work = OperatorCall::Work::kNoTerms;
  return ACL_SUCCESS;
}

constexpr Check kChecks[] = {
    NotNull(kInput),
    NotNull(kOutput),
    If(Trains, NotNull(kSaveMean)),
    If(Trains, NotNull(kSaveInvstd)),
    SizesRepresentable({kOutput, kSaveMean, kSaveInvstd}),
    // CANN does not check the statistics of an empty input. These checks refuse what cannot be written.
    If(IsEmpty, DtypeImplemented({kSaveMean, kSaveInvstd}, kConvertible)),
    If(IsEmpty, Custom(NumbersMerge<kSaveMean>, ACLNN_ERR_INNER_NULLPTR)),
    If(IsEmpty, Custom(NumbersMerge<kSaveInvstd>, ACLNN_ERR_INNER_NULLPTR)),
    Custom(NothingToNormalize),
    DtypesIn(kDtypes, {kInput, kOutput}),
    If(Trains, DtypesIn(kDtypes, {kSaveMean, kSaveInvstd})),
    DtypesIn(kDtypes, {kWeight, kBias, kRunningMean, kRunningVar}),
    SameFormat({kInput, kOutput}),
    Custom(FormatOfFiveDims<kInput>),
    NotPrivate({kInput, kOutput}),
    RankAtLeast(2, {kInput}),
    RankAtMost(8, {kInput}),
    SameShape(kInput, kOutput),
    IfThere<kWeight>(Custom(HasChannels<kWeight, kInput>)),
    IfThere<kBias>(Custom(HasChannels<kBias, kInput>)),
    IfThere<kRunningMean>(Custom(HasChannels<kRunningMean, kInput>)),
    IfThere<kRunningVar>(Custom(HasChannels<kRunningVar, kInput>)),
    If(Trains, Custom(HasChannels<kSaveMean, kInput>)),
    If(Trains, Custom(HasChannels<kSaveInvstd, kInput>)),
    WithCode(ACLNN_ERR_INNER_NULLPTR, SameDtype(kInput, kOutput)),
    InsideStorage({kInput, kWeight, kBias, kRunningMean, kRunningVar}),
};

void SetForward(const OperatorCall& call, Executor& executor) {
  if (call.work == OperatorCall::Work::kNoTerms)
    return SetStatisticsOfNothing(call, kSaveMean, kSaveInvstd, executor);
  const aclTensor& input = call.Tensor(kInput);
  engine::RowwiseJobMaker rows(input.shape, AllBut(ChannelDim(call, input), input.shape), ACL_FLOAT, call.isa,
                               call.threads);
  rows.Input(kInput, input);
  rows.Output(kOutput, call.Tensor(kOutput));
  ValueOr(rows, call, kWeight, 1);
  ValueOr(rows, call, kBias, 0);
  ValueOr(rows, call, kRunningMean, 0);
  ValueOr(rows, call, kRunningVar, 1);
  for (const int tensor : {kSaveMean, kSaveInvstd, kRunningMean, kRunningVar}) {
    if (Trains(call)) {
      ValueOutIfGiven(rows, call, tensor);
    } else {
      rows.NoValueOut();
    }
  }
  SetRowwiseJob(rows, kForward,
                BatchNormParameters{static_cast<double>(static_cast<float>(call.attributes[kEps].wide)),
                                    call.attributes[kMomentum].wide, Trains(call)},
                executor);
}

// ---- BatchNormBackward ----

enum Gradients { kGradOut, kX, kW, kMean, kVar, kSavedM, kSavedI, kGradInput, kGradWeight, kGradBias };
enum GradientAttributes { kTrained, kEpsilon, kMask };

bool Trained(const OperatorCall& call) noexcept { return call.attributes[kTrained].integer != 0; }
template <int tensor>
bool IsWanted(const OperatorCall& call) noexcept {
  return (call.attributes[kMask].integer >> (tensor - kGradInput) & 1) != 0;
}

aclnnStatus MaskIsThere(const Check&, OperatorCall& call) noexcept {
  if (call.attributes[kMask].real == 3.0f) return ACL_SUCCESS;
  return FailAclnn(
      ACLNN_ERR_PARAM_NULLPTR,
      StartMessage(call).Add("parameter outputMask is null or has not 3 values, accepted: 3 values."));
}

// Saved statistics may be empty if the forward pass was an evaluation.
template <int tensor>
aclnnStatus SavedFits(const Check& check, OperatorCall& call) noexcept {
  if (!Trained(call) && call.Tensor(tensor).shape == Shape{0}) return ACL_SUCCESS;
  return HasChannels<tensor, kX>(check, call);
}

template <int tensor>
aclnnStatus FloatOrSame(const Check& check, OperatorCall& call) noexcept {
  return FloatOrDtypeOf<tensor, kGradOut>(check, call);
}
template <int tensor>
constexpr Check FloatOn950() {
  return OnProducts(products::kAscend950, IfThere<tensor>(Custom(FloatOrSame<tensor>)));
}

constexpr auto kGradientChecks =
    Join(List(NotNull(kGradOut), NotNull(kX), SizesRepresentable({kGradInput, kGradWeight, kGradBias}),
              DoneIfEmpty({kGradOut, kX}), Custom(MaskIsThere), If(IsWanted<kGradInput>, NotNull(kGradInput)),
              If(IsWanted<kGradWeight>, NotNull(kGradWeight)), If(IsWanted<kGradBias>, NotNull(kGradBias)),
              DtypesIn(kDtypes, {kGradOut, kX}), SameDtype(kGradOut, kX),
              If(IsWanted<kGradInput>, DtypesIn(kDtypes, {kGradInput})),
              If(IsWanted<kGradWeight>, DtypesIn(kDtypes, {kGradWeight})),
              If(IsWanted<kGradBias>, DtypesIn(kDtypes, {kGradBias})),
              DtypesIn(kDtypes, {kW, kMean, kVar, kSavedM, kSavedI}), FloatOn950<kW>(), FloatOn950<kMean>(),
              FloatOn950<kVar>(), FloatOn950<kSavedM>(), FloatOn950<kSavedI>(),
              OnProducts(products::kAscend950, If(BothThere<kMean, kVar>, SameDtype(kMean, kVar))),
              OnProducts(products::kAscend950, If(BothThere<kSavedM, kSavedI>, SameDtype(kSavedM, kSavedI))),
              OnProducts(products::kAscend950, If(IsWanted<kGradInput>, SameDtype(kGradOut, kGradInput))),
              SameFormat({kGradOut, kX}), OnProducts(products::kAscend950, Custom(FormatOfFiveDims<kX>)),
              NotPrivate({kGradOut, kX}), RankAtLeast(2, {kX}), RankAtMost(8, {kX}), SameShape(kGradOut, kX),
              If(IsWanted<kGradInput>, SameShape(kX, kGradInput)), IfThere<kW>(Custom(HasChannels<kW, kX>)),
              IfThere<kMean>(Custom(HasChannels<kMean, kX>)), IfThere<kVar>(Custom(HasChannels<kVar, kX>)),
              IfThere<kSavedM>(Custom(SavedFits<kSavedM>)), IfThere<kSavedI>(Custom(SavedFits<kSavedI>)),
              If(IsWanted<kGradWeight>, Custom(HasChannels<kGradWeight, kX>)),
              If(IsWanted<kGradBias>, Custom(HasChannels<kGradBias, kX>)),
              InsideStorage({kGradOut, kX, kW, kMean, kVar}), InsideStorage({kSavedM, kSavedI})));

void SavedOr(engine::RowwiseJobMaker& rows, const OperatorCall& call, int tensor, double otherwise) {
  if (call.IsGiven(tensor) && !call.Tensor(tensor).shape.IsEmpty()) {
    rows.ValueIn(tensor, call.Tensor(tensor));
  } else {
    rows.ConstantValueIn(otherwise);
  }
}

void SetBackward(const OperatorCall& call, Executor& executor) {
  if (!IsWanted<kGradInput>(call) && !IsWanted<kGradWeight>(call) && !IsWanted<kGradBias>(call)) return;
  const aclTensor& x = call.Tensor(kX);
  engine::RowwiseJobMaker rows(x.shape, AllBut(ChannelDim(call, x), x.shape), ACL_FLOAT, call.isa,
                               call.threads);
  rows.Input(kGradOut, call.Tensor(kGradOut));
  rows.Input(kX, x);
  if (IsWanted<kGradInput>(call)) rows.Output(kGradInput, call.Tensor(kGradInput));
  ValueOr(rows, call, kW, 1);
  ValueOr(rows, call, kMean, 0);
  ValueOr(rows, call, kVar, 1);
  SavedOr(rows, call, kSavedM, 0);
  SavedOr(rows, call, kSavedI, 1);
  if (IsWanted<kGradWeight>(call)) {
    rows.ValueOut(kGradWeight, call.Tensor(kGradWeight));
  } else {
    rows.NoValueOut();
  }
  if (IsWanted<kGradBias>(call)) {
    rows.ValueOut(kGradBias, call.Tensor(kGradBias));
  } else {
    rows.NoValueOut();
  }
  SetRowwiseJob(
      rows, kBackward,
      BatchNormBackwardParameters{static_cast<double>(static_cast<float>(call.attributes[kEpsilon].wide)),
                                  Trained(call), IsWanted<kGradInput>(call)},
      executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnBatchNorm) { return RunPhase1(call, kChecks, workspaceSize, executor, SetForward); }

PORTACL_PHASE_1(aclnnBatchNormBackward) {
  return RunPhase1(call, kGradientChecks, workspaceSize, executor, SetBackward);
}

#endif  // HWY_ONCE
