// The steps of a batch norm whose batch is split over several devices: statistics of the device's own part, statistics of all parts, the
// normalised output, and the sums and the gradient of the backward pass.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/sync_batch_norm.cc"
#include "base/foreach_target.h"

#include "aclnnop/norm/moments-inl.h"

#ifndef PORTACL_SYNC_BATCH_NORM_PARAMETERS

#define PORTACL_SYNC_BATCH_NORM_PARAMETERS
namespace portacl {

// The numbers of a channel, in the order in which formulas have them.
enum AffineNumbers { kAffineMean, kAffineInvstd, kAffineWeight, kAffineBias };
enum GradientNumbers { kOfMean, kOfInvstd, kOfWeightIn, kOfSumDy, kOfSumDyXmu, kOfCount };
enum GradientSums { kMeanOf, kInvstdOf, kSumOfDy, kSumOfDyXmu, kSumForWeight, kSumForBias };

}  // namespace portacl
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace sync_batch_norm {

namespace hn = hwy::HWY_NAMESPACE;
using engine::HWY_NAMESPACE::RowwiseFormula;

// Computes the mean and 1 / sqrt(variance + eps) of a channel.
struct Statistics : RowwiseFormula<Statistics> {
  static constexpr int kInputs = 1;
  explicit Statistics(const void* given) : eps(static_cast<const NormParameters*>(given)->eps) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    const Moments moments = MomentsOf(row);
    row.SetValue(0, moments.exact_mean);
    row.SetValue(1, 1.0 / std::sqrt(moments.variance + eps));
  }

  double eps;
};

struct Affine : RowwiseFormula<Affine> {
  static constexpr int kInputs = 1;
  explicit Affine(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const auto number = [&](size_t i) HWY_ATTR { return hn::Set(d, static_cast<float>(row.Value(i))); };
    const V mean = number(kAffineMean);
    const V invstd = number(kAffineInvstd);
    const V weight = number(kAffineWeight);
    const V bias = number(kAffineBias);
    row.template Write<0, 0>([&](auto, V x) HWY_ATTR {
      return hn::Add(hn::Mul(hn::Mul(hn::Sub(x, mean), invstd), weight), bias);
    });
  }
};

// Computes (gradient - sumDy / n - (x - mean) * invstd^2 * sumDyXmu / n) * invstd * weight.
struct Gradient : RowwiseFormula<Gradient> {
  static constexpr int kInputs = 2;
  explicit Gradient(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const double n = row.Value(kOfCount);
    const double reciprocal = row.Value(kOfInvstd);
    const V mean = hn::Set(d, static_cast<float>(row.Value(kOfMean)));
    const V mean_gradient = hn::Set(d, static_cast<float>(row.Value(kOfSumDy) / n));
    const V slope = hn::Set(d, static_cast<float>(reciprocal * reciprocal * (row.Value(kOfSumDyXmu) / n)));
    const V factor = hn::Set(d, static_cast<float>(reciprocal * row.Value(kOfWeightIn)));
    row.template Write<0, 0, 1>([&](auto, V gradient, V x) HWY_ATTR {
      return hn::Mul(hn::Sub(hn::Sub(gradient, mean_gradient), hn::Mul(hn::Sub(x, mean), slope)), factor);
    });
  }
};

struct Sums : RowwiseFormula<Sums> {
  static constexpr int kInputs = 1;
  explicit Sums(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    double sum = 0;
    double squares = 0;
    row.template Sum2<0>(&sum, &squares, [&](auto, V& a, V& b, V x) HWY_ATTR {
      a = x;
      b = hn::Mul(x, x);
    });
    row.SetValue(0, sum);
    row.SetValue(1, squares);
  }
};

struct SumsOfGradient : RowwiseFormula<SumsOfGradient> {
  static constexpr int kInputs = 2;
  explicit SumsOfGradient(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const V mean = hn::Set(d, static_cast<float>(row.Value(kMeanOf)));
    double of_gradient = 0;
    double of_product = 0;
    row.template Sum2<0, 1>(&of_gradient, &of_product, [&](auto, V& a, V& b, V gradient, V x) HWY_ATTR {
      a = gradient;
      b = hn::Mul(gradient, hn::Sub(x, mean));
    });
    row.SetValue(kSumOfDy, of_gradient);
    row.SetValue(kSumOfDyXmu, of_product);
    row.SetValue(kSumForWeight, of_product * row.Value(kInvstdOf));
    row.SetValue(kSumForBias, of_gradient);
  }
};

// ---- formulas over the statistics of parts, in float64 ----

struct Total : RowwiseFormula<Total> {
  static constexpr int kInputs = 1;
  explicit Total(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    row.SetValue(0, row.template Sum<0>([](auto, typename Row::V x) HWY_ATTR { return x; }));
  }
};

}  // namespace sync_batch_norm
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/normalized.h"
#include "aclnnop/norm/sync_batch_norm_functions.h"

#include "aclnnop/norm/split_batch_norm.h"
#include "aclnnop/stage_list.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {
namespace {

using dense::ShapeChecks;

constexpr auto kStatistics = PORTACL_ROWWISE_KERNELS(sync_batch_norm::Statistics);
constexpr auto kAffine = PORTACL_ROWWISE_KERNELS(sync_batch_norm::Affine);
constexpr auto kGradient = PORTACL_ROWWISE_KERNELS(sync_batch_norm::Gradient);
constexpr auto kSums = PORTACL_ROWWISE_KERNELS(sync_batch_norm::Sums);
constexpr auto kSumsOfGradient = PORTACL_ROWWISE_KERNELS(sync_batch_norm::SumsOfGradient);
constexpr auto kTotal = OfDouble(PORTACL_ISA_TABLE(sync_batch_norm::Total::F64));

constexpr DtypeRule kFloats = kBf16SinceAtlasA2;
constexpr DtypeRule kFloatsOf950 = ByGeneration(kFloatAndHalf, kFloatAndHalf, kFloatHalfAndBf16);
constexpr DtypeSet kFloat{ACL_FLOAT};

uint32_t AllBut(int axis, const Shape& shape) { return ((1u << shape.rank) - 1) & ~(1u << axis); }

// Checks that an input has at least one channel.
ShapeChecks& HasChannels(ShapeChecks& checks, const OperatorCall& call, int input) {
  return checks.Holds(Channels(call, input) > 0, input, "at least 1 channel, which dim 1 is");
}

// ---- BatchNormStats ----

namespace stats {
enum Tensors { kInput, kMean, kInvstd };
enum Attributes { kEps };

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kInput, 2, 8).Rank(kMean, 1, 1).Rank(kInvstd, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape channels{Channels(call, kInput)};
  return HasChannels(checks, call, kInput).Is(kMean, channels).Is(kInvstd, channels).status();
}
aclnnStatus NoTerms(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kInput).shape.IsEmpty()) call.work = OperatorCall::Work::kNoTerms;
  return ACL_SUCCESS;
}

constexpr auto kChecks =
    List(NotNull(kInput), NotNull(kMean), NotNull(kInvstd), DtypesIn(kFloatsOf950, {kInput}),
         DtypesIn(kFloat, {kMean, kInvstd}), NotPrivate({kInput}), SizesRepresentable({kMean, kInvstd}),
         Custom(Fits), Custom(NoTerms), InsideStorage({kInput}));

void Set(const OperatorCall& call, Executor& executor) {
  if (call.work == OperatorCall::Work::kNoTerms)
    return SetStatisticsOfNothing(call, kMean, kInvstd, executor);
  const aclTensor& input = call.Tensor(kInput);
  engine::RowwiseJobMaker rows(input.shape, AllBut(1, input.shape), ACL_FLOAT, call.isa, call.threads);
  rows.Input(kInput, input);
  rows.ValueOut(kMean, call.Tensor(kMean));
  rows.ValueOut(kInvstd, call.Tensor(kInvstd));
  SetRowwiseJob(rows, kStatistics, NormParameters{FloatNumber(call, kEps)}, executor);
}
}  // namespace stats

// ---- BatchNormElemt ----

namespace elemt {
enum Tensors { kInput, kWeight, kBias, kMean, kInvstd, kOutput };

// Refuses null with the code that CANN has in this function.
constexpr Check Required(int tensor) { return WithCode(ACLNN_ERR_PARAM_INVALID, NotNull(tensor)); }

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kInput, 2, 8).Rank(kOutput, 2, 8);
  if (!checks.Passed()) return checks.status();
  const Shape channels{Channels(call, kInput)};
  checks.Is(kOutput, call.Tensor(kInput).shape);
  HasChannels(checks, call, kInput);
  for (const int tensor : {kWeight, kBias, kMean, kInvstd}) checks.IsIfGiven(tensor, channels);
  return checks.status();
}

constexpr auto kChecks =
    List(Required(kInput), Required(kMean), Required(kInvstd), Required(kOutput), DtypesIn(kFloats, {kInput}),
         IfThere<kWeight>(DtypesIn(kFloats, {kWeight})), IfThere<kBias>(DtypesIn(kFloats, {kBias})),
         DtypesIn(kFloats, {kMean, kInvstd, kOutput}), SameFormat({kInput, kOutput}),
         NotPrivate({kInput, kOutput}), SizesRepresentable({kOutput}), Custom(Fits), DoneIfEmpty({kInput}),
         InsideStorage({kInput, kWeight, kBias, kMean, kInvstd}));

void Set(const OperatorCall& call, Executor& executor) {
  const aclTensor& input = call.Tensor(kInput);
  engine::RowwiseJobMaker rows(input.shape, AllBut(1, input.shape), ACL_FLOAT, call.isa, call.threads);
  rows.Input(kInput, input);
  rows.Output(kOutput, call.Tensor(kOutput));
  rows.ValueIn(kMean, call.Tensor(kMean));
  rows.ValueIn(kInvstd, call.Tensor(kInvstd));
  ValueOr(rows, call, kWeight, 1);
  ValueOr(rows, call, kBias, 0);
  SetRowwiseJob(rows, kAffine, engine::NoParameters(), executor);
}
}  // namespace elemt

// ---- BatchNormElemtBackward ----

namespace gradient {
enum Tensors { kGradOut, kInput, kMean, kInvstd, kWeight, kSumDy, kSumDyXmu, kCounter, kGradInput };

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kInput, 2, 8);
  if (!checks.Passed()) return checks.status();
  const Shape& input = call.Tensor(kInput).shape;
  HasChannels(checks, call, kInput).Is(kGradOut, input).Is(kGradInput, input);
  for (const int tensor : {kMean, kInvstd, kWeight, kSumDy, kSumDyXmu})
    checks.IsIfGiven(tensor, Shape{input[1]});
  return checks.Rank(kCounter, 0, 8).status();
}

constexpr DtypeSet kCounters{ACL_FLOAT, ACL_FLOAT16, ACL_INT32};
constexpr auto kChecks =
    Join(List(NotNull(kGradOut), NotNull(kInput), NotNull(kMean), NotNull(kInvstd), NotNull(kSumDy),
              NotNull(kSumDyXmu), NotNull(kCounter), NotNull(kGradInput),
              DtypesIn(kFloats, {kGradOut, kInput, kMean, kInvstd}),
              IfThere<kWeight>(DtypesIn(kFloats, {kWeight})), DtypesIn(kFloats, {kSumDy, kSumDyXmu}),
              DtypesIn(kCounters, {kCounter}), DtypesIn(kFloats, {kGradInput})),
         List(NotPrivate({kGradOut, kInput, kGradInput}), SizesRepresentable({kGradInput}), Custom(Fits),
              DoneIfEmpty({kGradOut, kInput}), InsideStorage({kGradOut, kInput, kMean, kInvstd}),
              InsideStorage({kWeight, kSumDy, kSumDyXmu, kCounter})));

void Set(const OperatorCall& call, Executor& executor) {
  const aclTensor& input = call.Tensor(kInput);
  const aclTensor& counter = call.Tensor(kCounter);
  StageList stages(call, executor, 2);
  const MappedView total = stages.Scratch(Shape{1}, ACL_DOUBLE);
  if (counter.numel > 0) {
    engine::RowwiseJobMaker counts(counter.shape, (1u << counter.shape.rank) - 1, ACL_DOUBLE, call.isa,
                                   call.threads);
    counts.Input(kCounter, counter);
    counts.ValueOut(total.operand, total.tensor);
    stages.Rows(counts, kTotal, engine::NoParameters());
  }
  engine::RowwiseJobMaker rows(input.shape, AllBut(1, input.shape), ACL_FLOAT, call.isa, call.threads);
  rows.Input(kGradOut, call.Tensor(kGradOut));
  rows.Input(kInput, input);
  rows.Output(kGradInput, call.Tensor(kGradInput));
  rows.ValueIn(kMean, call.Tensor(kMean));
  rows.ValueIn(kInvstd, call.Tensor(kInvstd));
  ValueOr(rows, call, kWeight, 1);
  rows.ValueIn(kSumDy, call.Tensor(kSumDy));
  rows.ValueIn(kSumDyXmu, call.Tensor(kSumDyXmu));
  if (counter.numel > 0) {
    rows.ValueIn(total.operand, total.tensor);
  } else {
    rows.ConstantValueIn(0);
  }
  stages.Rows(rows, kGradient, engine::NoParameters());
  stages.SetJob();
}
}  // namespace gradient

// ---- BatchNormReduce ----

namespace reduce {
enum Tensors { kX, kSum, kSquareSum };

bool IsEmpty(const OperatorCall& call) noexcept {
  return call.Tensor(kX).shape.IsEmpty() || call.Tensor(kSum).shape.IsEmpty() ||
         call.Tensor(kSquareSum).shape.IsEmpty();
}
// Makes the results 0 if any tensor is empty. The checks that follow are left out then.
aclnnStatus NoTerms(const Check&, OperatorCall& call) noexcept {
  if (IsEmpty(call)) call.work = OperatorCall::Work::kNoTerms;
  return ACL_SUCCESS;
}
int ChannelDim(const OperatorCall& call) { return call.Tensor(kX).format == ACL_FORMAT_NHWC ? 3 : 1; }

aclnnStatus FormatsFit(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kX, kSum, kSquareSum}) {
    const aclFormat format = call.Tensor(tensor).format;
    const bool is_image = format == ACL_FORMAT_NCHW || format == ACL_FORMAT_NHWC;
    if (tensor == kX ? is_image : format == ACL_FORMAT_ND) continue;
    Text message = StartMessage(call).Add("parameter ").Add(call.Name(tensor)).Add(" has the format ");
    AddFormatName(message, format);
    return FailAclnn(check.code, message.Add(tensor == kX ? ", accepted: NCHW or NHWC." : ", accepted: ND."));
  }
  return ACL_SUCCESS;
}
aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 4, 4);
  if (!checks.Passed()) return checks.status();
  const Shape channels{call.Tensor(kX).shape[ChannelDim(call)]};
  return checks.Is(kSum, channels).Is(kSquareSum, channels).status();
}

constexpr auto kChecks =
    List(NotNull(kX), NotNull(kSum), NotNull(kSquareSum), SizesRepresentable({kSum, kSquareSum}),
         If(IsEmpty, DtypeImplemented({kSum, kSquareSum}, kConvertible)),
         If(IsEmpty, Custom(NumbersMerge<kSum>, ACLNN_ERR_INNER_NULLPTR)),
         If(IsEmpty, Custom(NumbersMerge<kSquareSum>, ACLNN_ERR_INNER_NULLPTR)), Custom(NoTerms),
         DtypesIn(kFloatHalfAndBf16, {kX}), DtypesIn(kFloat, {kSum, kSquareSum}), Custom(FormatsFit),
         Custom(Fits), InsideStorage({kX}));

void SetZeros(const OperatorCall& call, Executor& executor) {
  int zeroed[2];
  int count = 0;
  for (const int tensor : {kSum, kSquareSum}) {
    if (call.IsGiven(tensor) && !call.Tensor(tensor).shape.IsEmpty()) zeroed[count++] = tensor;
  }
  if (count > 0) SetZeroJob(call, zeroed, count, executor);
}

void Set(const OperatorCall& call, Executor& executor) {
  if (call.work == OperatorCall::Work::kNoTerms) return SetZeros(call, executor);
  const aclTensor& x = call.Tensor(kX);
  engine::RowwiseJobMaker rows(x.shape, AllBut(ChannelDim(call), x.shape), ACL_FLOAT, call.isa, call.threads);
  rows.Input(kX, x);
  rows.ValueOut(kSum, call.Tensor(kSum));
  rows.ValueOut(kSquareSum, call.Tensor(kSquareSum));
  SetRowwiseJob(rows, kSums, engine::NoParameters(), executor);
}
}  // namespace reduce

// ---- BatchNormReduceBackward ----

namespace reduce_backward {
enum Tensors { kGradOut, kInput, kMean, kInvstd, kWeight, kSumDy, kSumDyXmu, kGradWeight, kGradBias };
enum Attributes { kInputG, kWeightG, kBiasG };

template <int tensor>
bool IsWanted(const OperatorCall& call) noexcept {
  constexpr int kFlag = tensor == kGradWeight ? kWeightG : tensor == kGradBias ? kBiasG : kInputG;
  return call.attributes[kFlag].integer != 0;
}
template <int tensor>
constexpr Check IfWanted(const Check& check) {
  return If(IsWanted<tensor>, check);
}

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kGradOut, 2, 8).Rank(kInput, 2, 8);
  if (!checks.Passed()) return checks.status();
  const Shape channels{Channels(call, kInput)};
  HasChannels(checks, call, kInput);
  if (IsWanted<kSumDy>(call)) checks.Is(kSumDy, channels).Is(kSumDyXmu, channels);
  if (IsWanted<kGradWeight>(call)) checks.Is(kGradWeight, channels);
  if (IsWanted<kGradBias>(call)) checks.Is(kGradBias, channels);
  return checks.status();
}
aclnnStatus NoTerms(const Check&, OperatorCall& call) noexcept {
  for (const int tensor : {kGradOut, kInput, kMean, kInvstd}) {
    if (call.Tensor(tensor).shape.IsEmpty()) call.work = OperatorCall::Work::kNoTerms;
  }
  return ACL_SUCCESS;
}
bool HasTerms(const OperatorCall& call) noexcept { return call.work == OperatorCall::Work::kCompute; }
// Checks shapes that CANN does not check, because no result is defined if they differ.
aclnnStatus Agree(const Check& check, OperatorCall& call) noexcept {
  const Shape channels{Channels(call, kInput)};
  return ShapeChecks(check, call)
      .Is(kGradOut, call.Tensor(kInput).shape)
      .Is(kMean, channels)
      .Is(kInvstd, channels)
      .status();
}

constexpr auto kChecks =
    Join(List(NotNull(kGradOut), NotNull(kInput), NotNull(kMean), NotNull(kInvstd),
              IfWanted<kSumDy>(NotNull(kSumDy)), IfWanted<kSumDyXmu>(NotNull(kSumDyXmu)),
              IfWanted<kGradWeight>(NotNull(kGradWeight)), IfWanted<kGradBias>(NotNull(kGradBias)),
              DtypesIn(kFloats, {kGradOut, kInput, kMean, kInvstd}),
              IfThere<kWeight>(DtypesIn(kFloats, {kWeight})), IfWanted<kSumDy>(DtypesIn(kFloats, {kSumDy})),
              IfWanted<kSumDyXmu>(DtypesIn(kFloats, {kSumDyXmu})),
              IfWanted<kGradWeight>(DtypesIn(kFloats, {kGradWeight})),
              IfWanted<kGradBias>(DtypesIn(kFloats, {kGradBias})), SameDtype(kGradOut, kInput)),
         List(SameFormat({kGradOut, kInput}), NotPrivate({kGradOut, kInput}),
              IfWanted<kSumDy>(SizesRepresentable({kSumDy, kSumDyXmu})),
              IfWanted<kGradWeight>(SizesRepresentable({kGradWeight})),
              IfWanted<kGradBias>(SizesRepresentable({kGradBias})), Custom(Fits), Custom(NoTerms),
              If(HasTerms, Custom(Agree, ACLNN_ERR_INNER_NULLPTR)),
              If(HasTerms, InsideStorage({kGradOut, kInput, kMean, kInvstd}))));

void Set(const OperatorCall& call, Executor& executor) {
  const bool input = IsWanted<kSumDy>(call);
  const bool weight = IsWanted<kGradWeight>(call);
  const bool bias = IsWanted<kGradBias>(call);
  if (!input && !weight && !bias) return;
  const bool wanted[] = {input, input, weight, bias};
  constexpr int kGradients = std::size(wanted);
  if (call.work == OperatorCall::Work::kNoTerms) {
    int zeroed[kGradients];
    int count = 0;
    for (int i = 0; i < kGradients; ++i) {
      if (wanted[i]) zeroed[count++] = kSumDy + i;
    }
    return SetZeroJob(call, zeroed, count, executor);
  }
  const aclTensor& x = call.Tensor(kInput);
  engine::RowwiseJobMaker rows(x.shape, AllBut(1, x.shape), ACL_FLOAT, call.isa, call.threads);
  rows.Input(kGradOut, call.Tensor(kGradOut));
  rows.Input(kInput, x);
  rows.ValueIn(kMean, call.Tensor(kMean));
  rows.ValueIn(kInvstd, call.Tensor(kInvstd));
  for (int i = 0; i < kGradients; ++i) {
    if (wanted[i]) {
      rows.ValueOut(kSumDy + i, call.Tensor(kSumDy + i));
    } else {
      rows.NoValueOut();
    }
  }
  SetRowwiseJob(rows, kSumsOfGradient, engine::NoParameters(), executor);
}
}  // namespace reduce_backward

}  // namespace

}  // namespace portacl

using namespace portacl;

#define PORTACL_PART_OF_BATCH_NORM(name, part) \
  PORTACL_PHASE_1(aclnn##name) { return RunPhase1(call, part::kChecks, workspaceSize, executor, part::Set); }

PORTACL_PART_OF_BATCH_NORM(BatchNormStats, stats)
PORTACL_PART_OF_BATCH_NORM(BatchNormElemt, elemt)
PORTACL_PART_OF_BATCH_NORM(BatchNormElemtBackward, gradient)
PORTACL_PART_OF_BATCH_NORM(BatchNormReduce, reduce)
PORTACL_PART_OF_BATCH_NORM(BatchNormReduceBackward, reduce_backward)

#endif  // HWY_ONCE
