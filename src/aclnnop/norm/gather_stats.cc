// aclnnBatchNormGatherStatsWithCounts and aclnnSyncBatchNormGatherStats: the statistics of a whole batch from those of its parts, which lie on
// several devices, and the running statistics.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/gather_stats.cc"
#include "base/foreach_target.h"

#include "aclnnop/norm/moments-inl.h"

#ifndef PORTACL_GATHER_STATS_PARAMETERS
#define PORTACL_GATHER_STATS_PARAMETERS

namespace portacl {
struct GatheredParameters {
  double momentum;
  double eps;
};
// The numbers of a channel, in the order in which formulas have them.

enum GatheredNumbers { kRunningMeanOf, kRunningVarOf, kMeanOfAll, kInvstdOfAll, kNewMean, kNewVar };
}  // namespace portacl
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace gather_stats {

namespace hn = hwy::HWY_NAMESPACE;
using engine::HWY_NAMESPACE::RowwiseFormula;

// Sets the results of a channel with n elements. `corrected` is the sum of squared distances from the mean, which the new running
// variance divides by n - 1.
template <class Row>
HWY_INLINE void SetGathered(Row& row, const GatheredParameters& parameters, double n, double mean,
                            double variance, double corrected) {
  const double kept = 1.0 - parameters.momentum;
  row.SetValue(kMeanOfAll, mean);
  row.SetValue(kInvstdOfAll, 1.0 / std::sqrt(variance + parameters.eps));
  row.SetValue(kNewMean, kept * row.Value(kRunningMeanOf) + parameters.momentum * mean);
  row.SetValue(kNewVar, kept * row.Value(kRunningVarOf) + parameters.momentum * (corrected / (n - 1)));
}

// Combines the mean, 1 / sqrt(variance + eps) and count of each part.
struct GatheredMoments : RowwiseFormula<GatheredMoments> {
  static constexpr int kInputs = 3;
  explicit GatheredMoments(const void* given) : parameters(*static_cast<const GatheredParameters*>(given)) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    double n = 0;
    double weighted = 0;
    row.template Sum2<0, 2>(&n, &weighted, [&](auto, V& a, V& b, V mean, V count) HWY_ATTR {
      a = count;
      b = hn::Mul(count, mean);
    });
    const double mean_of_all = weighted / n;
    const V center = hn::Set(d, mean_of_all);
    const V one = hn::Set(d, 1.0);
    const V eps = hn::Set(d, parameters.eps);
    const double squares = row.template Sum<0, 1, 2>([&](auto, V mean, V invstd, V count) HWY_ATTR {
      const V variance = hn::Sub(hn::Div(one, hn::Mul(invstd, invstd)), eps);
      const V distance = hn::Sub(mean, center);
      return hn::Mul(count, hn::Add(variance, hn::Mul(distance, distance)));
    });
    SetGathered(row, parameters, n, mean_of_all, squares / n, squares);
  }

  GatheredParameters parameters;
};

// Combines the sum, the sum of squares and the count of each part.
struct GatheredSums : RowwiseFormula<GatheredSums> {
  static constexpr int kInputs = 3;
  explicit GatheredSums(const void* given) : parameters(*static_cast<const GatheredParameters*>(given)) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    double sum = 0;
    double squares = 0;
    row.template Sum2<0, 1>(&sum, &squares, [&](auto, V& a, V& b, V total, V total_squares) HWY_ATTR {
      a = total;
      b = total_squares;
    });
    const double n = row.template Sum<2>([](auto, V count) HWY_ATTR { return hn::Trunc(count); });
    const double mean = sum / n;
    const double variance = squares / n - mean * mean;
    SetGathered(row, parameters, n, mean, variance, variance * n);
  }

  GatheredParameters parameters;
};

}  // namespace gather_stats
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/normalized.h"
#include "aclnnop/norm/gather_stats_functions.h"
#include "aclnnop/norm/split_batch_norm.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {
namespace {

using dense::ShapeChecks;

constexpr auto kGatheredMoments = OfDouble(PORTACL_ISA_TABLE(gather_stats::GatheredMoments::F64));
constexpr auto kGatheredSums = OfDouble(PORTACL_ISA_TABLE(gather_stats::GatheredSums::F64));

constexpr DtypeRule kFloats = kBf16SinceAtlasA2;
constexpr DtypeRule kFloatsOf950 = ByGeneration(kFloatAndHalf, kFloatAndHalf, kFloatHalfAndBf16);

// ---- BatchNormGatherStatsWithCounts, SyncBatchNormGatherStats ----

// Views the counts, one for each device, repeated for each channel.
StridedView OfParts(const aclTensor& counts, int64_t channels) {
  StridedView view = PlainView(counts);
  InsertDim(view, 1, channels, 0);
  return view;
}

namespace gather_moments {
enum Tensors { kInput, kMean, kInvstd, kRunningMean, kRunningVar, kCounts, kMeanAll, kInvstdAll };
enum Attributes { kMomentum, kEps };

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kInput, 2, 8).Rank(kMean, 2, 2).Rank(kInvstd, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& mean = call.Tensor(kMean).shape;
  const int64_t channels = Channels(call, kInput);
  const int64_t parts = mean[0];
  checks.Holds(call.Tensor(kInvstd).shape[0] == parts, kInvstd, "as many rows as mean");
  checks.Holds(dense::DimOr(call.Tensor(kCounts).shape, 0, -1) == parts, kCounts,
               "as many counts as mean has rows");
  checks.Is(kMean, Shape{parts, channels}).Is(kInvstd, Shape{parts, channels});
  checks.IsIfGiven(kRunningMean, Shape{channels}).IsIfGiven(kRunningVar, Shape{channels});
  return checks.Is(kCounts, Shape{parts})
      .Is(kMeanAll, Shape{channels})
      .Is(kInvstdAll, Shape{channels})
      .status();
}
aclnnStatus NoTerms(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kMean).shape.IsEmpty()) call.work = OperatorCall::Work::kNoTerms;
  return ACL_SUCCESS;
}

constexpr auto kChecks = Join(
    List(NotNull(kInput), NotNull(kMean), NotNull(kInvstd), NotNull(kCounts), NotNull(kMeanAll),
         NotNull(kInvstdAll), DtypesIn(kFloats, {kInput, kMean, kInvstd}),
         IfThere<kRunningMean>(DtypesIn(kFloats, {kRunningMean})),
         IfThere<kRunningVar>(DtypesIn(kFloats, {kRunningVar})),
         DtypesIn(kFloats, {kCounts, kMeanAll, kInvstdAll})),
    List(NotPrivate({kInput, kMean, kInvstd, kCounts}), SizesRepresentable({kMeanAll, kInvstdAll}),
         Custom(Fits), Custom(NoTerms), InsideStorage({kMean, kInvstd, kCounts, kRunningMean, kRunningVar})));

void Set(const OperatorCall& call, Executor& executor) {
  if (call.work == OperatorCall::Work::kNoTerms)
    return SetStatisticsOfNothing(call, kMeanAll, kInvstdAll, executor);
  const aclTensor& mean = call.Tensor(kMean);
  engine::RowwiseJobMaker rows(mean.shape, 1u, ACL_DOUBLE, call.isa, call.threads);
  rows.Input(kMean, mean);
  rows.Input(kInvstd, call.Tensor(kInvstd));
  rows.Input(kCounts, OfParts(call.Tensor(kCounts), mean.shape[1]));
  ValueOr(rows, call, kRunningMean, 0);
  ValueOr(rows, call, kRunningVar, 0);
  rows.ValueOut(kMeanAll, call.Tensor(kMeanAll));
  rows.ValueOut(kInvstdAll, call.Tensor(kInvstdAll));
  // Without runningMean CANN writes neither of the two.
  for (const int tensor : {kRunningMean, kRunningVar}) {
    if (call.IsGiven(kRunningMean) && call.IsGiven(tensor)) {
      rows.ValueOut(tensor, call.Tensor(tensor));
    } else {
      rows.NoValueOut();
    }
  }
  SetRowwiseJob(rows, kGatheredMoments,
                GatheredParameters{call.attributes[kMomentum].wide, call.attributes[kEps].wide}, executor);
}
}  // namespace gather_moments

namespace gather_sums {
enum Tensors { kTotalSum, kTotalSquareSum, kSampleCount, kMean, kVariance, kBatchMean, kBatchInvstd };
enum Attributes { kMomentum, kEps };

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kTotalSum, 2, 2).Rank(kTotalSquareSum, 2, 2);
  for (const int tensor : {kSampleCount, kMean, kVariance, kBatchMean, kBatchInvstd})
    checks.Rank(tensor, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& total = call.Tensor(kTotalSum).shape;
  checks.Is(kTotalSquareSum, total).Is(kSampleCount, Shape{total[0]});
  for (const int tensor : {kMean, kVariance, kBatchMean, kBatchInvstd}) checks.Is(tensor, Shape{total[1]});
  return checks.Holds(total[0] > 0, kTotalSum, "at least 1 row").status();
}

constexpr DtypeSet kCounts = kFloatAndHalf | DtypeSet{ACL_INT32};
constexpr DtypeRule kCountDtypes = ByGeneration(kCounts, kCounts, kCounts | kBf16);
constexpr auto kChecks = Join(
    List(NotNull(kTotalSum), NotNull(kTotalSquareSum), NotNull(kSampleCount), NotNull(kMean),
         NotNull(kVariance), NotNull(kBatchMean), NotNull(kBatchInvstd),
         DtypesIn(kFloatsOf950, {kTotalSum, kTotalSquareSum}), DtypesIn(kCountDtypes, {kSampleCount}),
         DtypesIn(kFloatsOf950, {kMean, kVariance, kBatchMean, kBatchInvstd})),
    List(SameDtype(kTotalSum, kTotalSquareSum), SameDtype(kTotalSum, kMean), SameDtype(kTotalSum, kVariance),
         SameDtype(kBatchMean, kBatchInvstd), NotPrivate({kTotalSum, kTotalSquareSum, kSampleCount}),
         SizesRepresentable({kMean, kVariance, kBatchMean, kBatchInvstd}), Custom(Fits),
         DoneIfEmpty({kTotalSum}),
         InsideStorage({kTotalSum, kTotalSquareSum, kSampleCount, kMean, kVariance})));

void Set(const OperatorCall& call, Executor& executor) {
  const aclTensor& total = call.Tensor(kTotalSum);
  engine::RowwiseJobMaker rows(total.shape, 1u, ACL_DOUBLE, call.isa, call.threads);
  rows.Input(kTotalSum, total);
  rows.Input(kTotalSquareSum, call.Tensor(kTotalSquareSum));
  rows.Input(kSampleCount, OfParts(call.Tensor(kSampleCount), total.shape[1]));
  rows.ValueIn(kMean, call.Tensor(kMean));
  rows.ValueIn(kVariance, call.Tensor(kVariance));
  for (const int tensor : {kBatchMean, kBatchInvstd, kMean, kVariance})
    rows.ValueOut(tensor, call.Tensor(tensor));
  SetRowwiseJob(rows, kGatheredSums,
                GatheredParameters{static_cast<double>(call.attributes[kMomentum].real),
                                   static_cast<double>(call.attributes[kEps].real)},
                executor);
}
}  // namespace gather_sums

}  // namespace

}  // namespace portacl

using namespace portacl;

#define PORTACL_PART_OF_BATCH_NORM(name, part) \
  PORTACL_PHASE_1(aclnn##name) { return RunPhase1(call, part::kChecks, workspaceSize, executor, part::Set); }

PORTACL_PART_OF_BATCH_NORM(BatchNormGatherStatsWithCounts, gather_moments)
PORTACL_PART_OF_BATCH_NORM(SyncBatchNormGatherStats, gather_sums)

#endif  // HWY_ONCE
