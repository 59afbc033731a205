// aclnnDeepNorm, aclnnLayerNorm of alpha * x + gx; its gradients, and those of aclnnAddLayerNorm. With h = (s
// - mean) * rstd for a sum s and g = dy * gamma, the gradient of s is rstd * (g - mean(g) - h * mean(g * h)),
// that of gamma is the sum of dy * h over rows, and that of beta the sum of dy.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/deep_norm.cc"
#include "base/foreach_target.h"

#include "aclnnop/norm/moments-inl.h"

#ifndef PORTACL_ACLNNOP_NORM_DEEP_NORM_PARAMETERS
#define PORTACL_ACLNNOP_NORM_DEEP_NORM_PARAMETERS
namespace portacl {
struct DeepNormParameters {
  double eps;
  double alpha;
};
}  // namespace portacl
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace deep_norm {

namespace hn = hwy::HWY_NAMESPACE;

template <class V>
HWY_INLINE V Weighted(V alpha, V x, V other) {
  return hn::Add(hn::Mul(alpha, x), other);
}

// Inputs: x, gx, gamma, beta.
struct DeepNorm : engine::HWY_NAMESPACE::RowwiseFormula<DeepNorm> {
  static constexpr int kInputs = 4;
  explicit DeepNorm(const void* parameters) : given(*static_cast<const DeepNormParameters*>(parameters)) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const V alpha = hn::Set(d, static_cast<float>(given.alpha));
    const Moments moments = MomentsOf<0, 1>(row, [&](V x, V gx) HWY_ATTR { return Weighted(alpha, x, gx); });
    const float reciprocal = static_cast<float>(1.0 / std::sqrt(moments.variance + given.eps));
    row.SetValue(0, static_cast<double>(moments.mean));
    row.SetValue(1, static_cast<double>(reciprocal));
    const V mean = hn::Set(d, moments.mean);
    const V rstd = hn::Set(d, reciprocal);
    row.template Write<0, 0, 1, 2, 3>([&](auto, V x, V gx, V gamma, V beta) HWY_ATTR {
      return hn::Add(hn::Mul(hn::Mul(hn::Sub(Weighted(alpha, x, gx), mean), rstd), gamma), beta);
    });
  }

  DeepNormParameters given;
};

// Inputs: dy, two terms, gamma and, for the plain sum only, a tensor that is added to the gradient, -0 if
// missing. Numbers in: mean, rstd.
template <bool kIsDeep>
struct SumGradients : engine::HWY_NAMESPACE::RowwiseFormula<SumGradients<kIsDeep>> {
  static constexpr int kInputs = kIsDeep ? 4 : 5;
  explicit SumGradients(const void* parameters)
      : given(*static_cast<const DeepNormParameters*>(parameters)) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const V alpha = hn::Set(d, static_cast<float>(given.alpha));
    const V mean = hn::Set(d, static_cast<float>(row.Value(0)));
    const V rstd = hn::Set(d, static_cast<float>(row.Value(1)));
    const auto normalized = [&](V x, V other)
                                HWY_ATTR { return hn::Mul(hn::Sub(Weighted(alpha, x, other), mean), rstd); };
    double sum = 0;
    double sum_normalized = 0;
    row.template Sum2<0, 1, 2, 3>(&sum, &sum_normalized,
                                  [&](auto, V& a, V& b, V gradient, V x, V other, V gamma) HWY_ATTR {
                                    a = hn::Mul(gradient, gamma);
                                    b = hn::Mul(a, normalized(x, other));
                                  });
    const auto n = static_cast<double>(row.n());
    const V mean_gradient = hn::Set(d, static_cast<float>(sum / n));
    const V mean_normalized = hn::Set(d, static_cast<float>(sum_normalized / n));
    const auto of_sum = [&](V gradient, V x, V other, V gamma) HWY_ATTR {
      const V centered = hn::Sub(hn::Mul(gradient, gamma), mean_gradient);
      return hn::Mul(rstd, hn::Sub(centered, hn::Mul(normalized(x, other), mean_normalized)));
    };
    row.template AddToColumns<0, 0, 1, 2>([&](auto, V gradient, V x, V other)
                                              HWY_ATTR { return hn::Mul(gradient, normalized(x, other)); });
    row.template AddToColumns<1, 0>([](auto, V gradient) HWY_ATTR { return gradient; });
    if constexpr (kIsDeep) {
      row.template Write2<0, 1, 2, 3>([&](auto, V& dx, V& dgx, V gradient, V x, V gx, V gamma) HWY_ATTR {
        dgx = of_sum(gradient, x, gx, gamma);
        dx = hn::Mul(alpha, dgx);
      });
    } else {
      row.template Write<0, 0, 1, 2, 3, 4>([&](auto, V gradient, V x1, V x2, V gamma, V more) HWY_ATTR {
        return hn::Add(of_sum(gradient, x1, x2, gamma), more);
      });
    }
  }

  DeepNormParameters given;
};
using DeepGradients = SumGradients<true>;
using PlainGradients = SumGradients<false>;

}  // namespace deep_norm
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/normalized.h"
#include "aclnnop/norm/deep_norm_functions.h"
#include "base/errors.h"

namespace portacl {
namespace {

constexpr auto kDeepNorm = PORTACL_ROWWISE_KERNELS(deep_norm::DeepNorm);
constexpr auto kDeepGradients = PORTACL_ROWWISE_KERNELS_OF_FLOAT(deep_norm::DeepGradients);
constexpr auto kPlainGradients = PORTACL_ROWWISE_KERNELS_OF_FLOAT(deep_norm::PlainGradients);

// Atlas inference products have no BF16. Atlas training products and Atlas 200I/500 A2 have no dtype.
constexpr DtypeRule kDtypes =
    SinceAtlasA2(kFloatHalfAndBf16).On(ProductSet{Product::kAtlasInference}, kFloatAndHalf);
constexpr DtypeSet kFloatAlone{ACL_FLOAT};

// CANN's code when a kernel's own checks refuse a call.
constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;

engine::RowwiseJobMaker RowsOf(const OperatorCall& call, const StridedView& x, const StridedView& gamma) {
  return engine::RowwiseJobMaker(x.shape, LastAxes(gamma.shape.rank, x.shape), ACL_FLOAT, call.isa,
                                 call.threads);
}

// ---- DeepNorm ----

enum Tensors { kX, kGx, kBeta, kGamma, kMean, kRstd, kY };
enum Attributes { kAlpha, kEpsilon };

constexpr Check kChecks[] = {
    NotNull(kX),
    NotNull(kGx),
    NotNull(kBeta),
    NotNull(kGamma),
    NotNull(kMean),
    NotNull(kRstd),
    NotNull(kY),
    DtypesIn(kNoneBeforeAtlasA2, {kX}),
    SameDtype(kX, kGx),
    SameDtype(kX, kBeta),
    SameDtype(kX, kGamma),
    DtypesIn(kFloatAlone, {kMean, kRstd}),
    SameDtype(kX, kY),
    WithCode(kTiling, RankAtMost(8, {kX})),
    WithCode(kTiling, RankAtLeast(2, {kX})),
    WithCode(kTiling, RankAtMost(7, {kGamma})),
    WithCode(kTiling, SameShape(kX, kGx)),
    Custom(GammaIsTail<kX, kGamma>, kTiling),
    WithCode(kTiling, SameShape(kGamma, kBeta)),
    WithCode(kTiling, SameShape(kX, kY)),
    Custom(RstdFits<kX, kGamma, kMean>, kTiling),
    Custom(RstdFits<kX, kGamma, kRstd>, kTiling),
    SizesRepresentable({kMean, kRstd, kY}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kGx, kBeta, kGamma}),
};

void SetForward(const OperatorCall& call, Executor& executor) {
  engine::RowwiseJobMaker rows = RowsOf(call, call.Tensor(kX), call.Tensor(kGamma));
  for (const int tensor : {kX, kGx, kGamma, kBeta}) rows.Input(tensor, call.Tensor(tensor));
  rows.Output(kY, call.Tensor(kY));
  rows.ValueOut(kMean, call.Tensor(kMean));
  rows.ValueOut(kRstd, call.Tensor(kRstd));
  SetRowwiseJob(rows, kDeepNorm, DeepNormParameters{FloatNumber(call, kEpsilon), FloatNumber(call, kAlpha)},
                executor);
}

// ---- DeepNormGrad ----

enum DeepTensors { kDy, kTerm, kOther, kWeight, kMeanIn, kRstdIn, kDx, kDgx, kDbeta, kDgamma };

constexpr Check kDeepChecks[] = {
    NotNull(kDy),
    NotNull(kTerm),
    NotNull(kOther),
    NotNull(kWeight),
    NotNull(kMeanIn),
    NotNull(kRstdIn),
    NotNull(kDx),
    NotNull(kDgx),
    NotNull(kDbeta),
    NotNull(kDgamma),
    DtypesIn(kNoneBeforeAtlasA2, {kDy}),
    SameDtype(kDy, kTerm),
    SameDtype(kDy, kOther),
    SameDtype(kDy, kWeight),
    DtypesIn(kFloatAlone, {kMeanIn, kRstdIn, kDbeta, kDgamma}),
    SameDtype(kDy, kDx),
    SameDtype(kDy, kDgx),
    WithCode(kTiling, RankAtMost(8, {kDy})),
    WithCode(kTiling, RankAtLeast(2, {kDy})),
    WithCode(kTiling, RankAtMost(7, {kWeight})),
    WithCode(kTiling, SameShape(kDy, kTerm)),
    WithCode(kTiling, SameShape(kDy, kOther)),
    Custom(GammaIsTail<kDy, kWeight>, kTiling),
    Custom(RstdFits<kDy, kWeight, kMeanIn>, kTiling),
    Custom(RstdFits<kDy, kWeight, kRstdIn>, kTiling),
    WithCode(kTiling, SameShape(kDy, kDx)),
    WithCode(kTiling, SameShape(kDy, kDgx)),
    WithCode(kTiling, SameShape(kWeight, kDbeta)),
    WithCode(kTiling, SameShape(kWeight, kDgamma)),
    SizesRepresentable({kDx, kDgx, kDbeta, kDgamma}),
    InsideStorage({kDy, kTerm, kOther, kWeight}),
    InsideStorage({kMeanIn, kRstdIn}),
};

void SetDeepGradients(const OperatorCall& call, Executor& executor) {
  if (call.Tensor(kDy).shape.IsEmpty()) {
    const int zeros[] = {kDbeta, kDgamma};
    return SetZeroJob(call, zeros, 2, executor);
  }
  engine::RowwiseJobMaker rows = RowsOf(call, call.Tensor(kDy), call.Tensor(kWeight));
  for (const int tensor : {kDy, kTerm, kOther, kWeight}) rows.Input(tensor, call.Tensor(tensor));
  for (const int tensor : {kDx, kDgx}) rows.Output(tensor, call.Tensor(tensor));
  for (const int tensor : {kMeanIn, kRstdIn}) rows.ValueIn(tensor, call.Tensor(tensor));
  for (const int tensor : {kDgamma, kDbeta}) rows.ColumnSum(tensor, call.Tensor(tensor));
  SetRowwiseJob(rows, kDeepGradients, DeepNormParameters{0, FloatNumber(call, 0)}, executor);
}

// ---- AddLayerNormGrad ----

enum PlainTensors { kGradient, kX1, kX2, kRstdOf, kMeanOf, kScale, kMore, kOut, kOfGamma, kOfBeta };

constexpr auto kPlainChecks =
    Join(List(NotNull(kGradient), NotNull(kX1), NotNull(kX2), NotNull(kRstdOf), NotNull(kMeanOf),
              NotNull(kScale), NotNull(kOut), NotNull(kOfGamma), NotNull(kOfBeta)),
         List(DtypesIn(kDtypes, {kGradient}), SameDtype(kGradient, kX1), SameDtype(kGradient, kX2),
              DtypesIn(kFloatAlone, {kRstdOf, kMeanOf}), Custom(FloatOrDtypeOf<kScale, kGradient>),
              IfThere<kMore>(SameDtype(kGradient, kMore)), SameDtype(kGradient, kOut),
              DtypesIn(kFloatAlone, {kOfGamma, kOfBeta}), WithCode(kTiling, RankAtMost(8, {kGradient})),
              WithCode(kTiling, RankAtLeast(1, {kGradient})), WithCode(kTiling, SameShape(kGradient, kX1)),
              WithCode(kTiling, SameShape(kGradient, kX2)), Custom(GammaIsTail<kGradient, kScale>, kTiling),
              Custom(RstdFits<kGradient, kScale, kRstdOf>, kTiling),
              Custom(RstdFits<kGradient, kScale, kMeanOf>, kTiling),
              IfThere<kMore>(WithCode(kTiling, SameShape(kGradient, kMore))),
              WithCode(kTiling, SameShape(kGradient, kOut)), WithCode(kTiling, SameShape(kScale, kOfGamma)),
              WithCode(kTiling, SameShape(kScale, kOfBeta)), SizesRepresentable({kOut, kOfGamma, kOfBeta}),
              InsideStorage({kGradient, kX1, kX2, kRstdOf}), InsideStorage({kMeanOf, kScale, kMore})));

void SetPlainGradients(const OperatorCall& call, Executor& executor) {
  if (call.Tensor(kGradient).shape.IsEmpty()) {
    const int zeros[] = {kOfGamma, kOfBeta};
    return SetZeroJob(call, zeros, 2, executor);
  }
  engine::RowwiseJobMaker rows = RowsOf(call, call.Tensor(kGradient), call.Tensor(kScale));
  for (const int tensor : {kGradient, kX1, kX2, kScale}) rows.Input(tensor, call.Tensor(tensor));
  InputOr(rows, call, kMore, -0.0);  // -0 leaves any sum unchanged, even -0
  rows.Output(kOut, call.Tensor(kOut));
  for (const int tensor : {kMeanOf, kRstdOf}) rows.ValueIn(tensor, call.Tensor(tensor));
  for (const int tensor : {kOfGamma, kOfBeta}) rows.ColumnSum(tensor, call.Tensor(tensor));
  SetRowwiseJob(rows, kPlainGradients, DeepNormParameters{0, 1}, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnDeepNorm) { return RunPhase1(call, kChecks, workspaceSize, executor, SetForward); }

PORTACL_PHASE_1(aclnnDeepNormGrad) {
  return RunPhase1(call, kDeepChecks, workspaceSize, executor, SetDeepGradients);
}

PORTACL_PHASE_1(aclnnAddLayerNormGrad) {
  return RunPhase1(call, kPlainChecks, workspaceSize, executor, SetPlainGradients);
}

#endif  // HWY_ONCE
