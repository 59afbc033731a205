// aclnnGroupNormSilu, aclnnGroupNormSiluV2, aclnnGroupNormSwish and the gradient of the last: aclnnGroupNorm,
// whose result g becomes g / (1 + exp(-s * g)). s is 1 for Silu.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/group_norm_silu.cc"
#include "base/foreach_target.h"

#include "aclnnop/norm/moments-inl.h"
#include "engine/functions/exponential-inl.h"

#ifndef PORTACL_ACLNNOP_NORM_GROUP_NORM_SILU_PARAMETERS
#define PORTACL_ACLNNOP_NORM_GROUP_NORM_SILU_PARAMETERS
namespace portacl {
struct SwishNormParameters {
  double eps;
  float scale;
  bool activates;
};
}  // namespace portacl
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace group_norm_silu {

namespace hn = hwy::HWY_NAMESPACE;
namespace functions = engine::HWY_NAMESPACE::functions;

// Inputs: x, gamma, beta. Numbers out: mean, rstd.
struct SwishNorm : engine::HWY_NAMESPACE::RowwiseFormula<SwishNorm> {
  static constexpr int kInputs = 3;
  explicit SwishNorm(const void* parameters) : given(*static_cast<const SwishNormParameters*>(parameters)) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const Moments moments = MomentsOf(row);
    const float reciprocal = static_cast<float>(1.0 / std::sqrt(moments.variance + given.eps));
    row.SetValue(0, static_cast<double>(moments.mean));
    row.SetValue(1, static_cast<double>(reciprocal));
    const V mean = hn::Set(d, moments.mean);
    const V rstd = hn::Set(d, reciprocal);
    const V scale = hn::Set(d, given.scale);
    const auto normalized = [&](V x, V gamma, V beta) HWY_ATTR {
      return hn::Add(hn::Mul(hn::Mul(hn::Sub(x, mean), rstd), gamma), beta);
    };
    if (given.activates) {
      row.template Write<0, 0, 1, 2>([&](auto, V x, V gamma, V beta) HWY_ATTR {
        const V g = normalized(x, gamma, beta);
        return hn::Mul(g, functions::Sigmoid(d, hn::Mul(scale, g)));
      });
    } else {
      row.template Write<0, 0, 1, 2>([&](auto, V x, V gamma, V beta)
                                         HWY_ATTR { return normalized(x, gamma, beta); });
    }
  }

  SwishNormParameters given;
};

// Computes the gradient of g: dy * p * (1 + s * g * (1 - p)) with p = logistic(s * g).
template <class D, class V>
HWY_INLINE V BeforeSwish(D d, V dy, V normalized, V gamma, V beta, V scale) {
  const V z = hn::Mul(scale, hn::Add(hn::Mul(normalized, gamma), beta));
  const V one = hn::Set(d, 1.0f);
  const V share = functions::Sigmoid(d, z);
  const V rest = functions::Sigmoid(d, hn::Neg(z));
  return hn::Mul(dy, hn::Mul(share, hn::Add(one, hn::Mul(z, rest))));
}

// Inputs: dy, x, gamma, beta. Numbers in: mean, rstd.
struct SwishNormGrad : engine::HWY_NAMESPACE::RowwiseFormula<SwishNormGrad> {
  static constexpr int kInputs = 4;
  explicit SwishNormGrad(const void* parameters)
      : given(*static_cast<const SwishNormParameters*>(parameters)) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const V mean = hn::Set(d, static_cast<float>(row.Value(0)));
    const V rstd = hn::Set(d, static_cast<float>(row.Value(1)));
    const V scale = hn::Set(d, given.scale);
    const auto normalized = [&](V x) HWY_ATTR { return hn::Mul(hn::Sub(x, mean), rstd); };
    const auto weighted = [&](V dy, V h, V gamma, V beta)
                              HWY_ATTR { return hn::Mul(BeforeSwish(d, dy, h, gamma, beta, scale), gamma); };
    double sum = 0;
    double sum_normalized = 0;
    row.template Sum2<0, 1, 2, 3>(&sum, &sum_normalized,
                                  [&](auto, V& a, V& b, V dy, V x, V gamma, V beta) HWY_ATTR {
                                    const V h = normalized(x);
                                    a = weighted(dy, h, gamma, beta);
                                    b = hn::Mul(a, h);
                                  });
    const auto n = static_cast<double>(row.n());
    const V mean_gradient = hn::Set(d, static_cast<float>(sum / n));
    const V mean_normalized = hn::Set(d, static_cast<float>(sum_normalized / n));
    row.template Write<0, 0, 1, 2, 3>([&](auto, V dy, V x, V gamma, V beta) HWY_ATTR {
      const V h = normalized(x);
      const V centered = hn::Sub(weighted(dy, h, gamma, beta), mean_gradient);
      return hn::Mul(rstd, hn::Sub(centered, hn::Mul(h, mean_normalized)));
    });
  }

  SwishNormParameters given;
};

// Inputs: dy, x, mean, rstd, gamma, beta. Numbers out, for each channel: the gradients of gamma and beta.
struct SwishChannels : engine::HWY_NAMESPACE::RowwiseFormula<SwishChannels> {
  static constexpr int kInputs = 6;
  explicit SwishChannels(const void* parameters)
      : given(*static_cast<const SwishNormParameters*>(parameters)) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const V scale = hn::Set(d, given.scale);
    double of_gamma = 0;
    double of_beta = 0;
    row.template Sum2<0, 1, 2, 3, 4, 5>(
        &of_gamma, &of_beta, [&](auto, V& a, V& b, V dy, V x, V mean, V rstd, V gamma, V beta) HWY_ATTR {
          const V h = hn::Mul(hn::Sub(x, mean), rstd);
          b = BeforeSwish(d, dy, h, gamma, beta, scale);
          a = hn::Mul(b, h);
        });
    row.SetValue(0, of_gamma);
    row.SetValue(1, of_beta);
  }

  SwishNormParameters given;
};

}  // namespace group_norm_silu
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/normalized.h"
#include "aclnnop/norm/group_norm_silu_functions.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kSwishNorm = PORTACL_ROWWISE_KERNELS_OF_FLOAT(group_norm_silu::SwishNorm);
constexpr auto kSwishNormGrad = PORTACL_ROWWISE_KERNELS_OF_FLOAT(group_norm_silu::SwishNormGrad);
constexpr auto kSwishChannels = PORTACL_ROWWISE_KERNELS_OF_FLOAT(group_norm_silu::SwishChannels);

// CANN's code when a kernel's own checks refuse a call.
constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;

// Every operator here has the number of groups as its first attribute.
enum Attributes { kGroup };
int64_t Groups(const OperatorCall& call) { return call.attributes[kGroup].integer; }

enum Tensors { kX, kGamma, kBeta, kOut, kMean, kRstd };

bool IsAtlas(const OperatorCall& call) noexcept { return call.product != Product::kAscend950; }
bool HasBoth(const OperatorCall& call) noexcept { return call.IsGiven(kGamma) && call.IsGiven(kBeta); }

// Statistics have gamma's dtype on Ascend 950, else x's.
template <int tensor>
aclnnStatus HasNumbersDtype(const Check& check, OperatorCall& call) noexcept {
  const bool is_gammas = !IsAtlas(call) && call.IsGiven(kGamma);
  const int other = is_gammas ? kGamma : kX;
  const Check same = WithCode(check.code, SameDtype(other, tensor));
  return same.run(same, call);
}

template <int x, int tensor>
aclnnStatus HasGroups(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted{call.Tensor(x).shape[0], Groups(call)};
  return call.Tensor(tensor).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, tensor, accepted);
}
template <int x, int tensor>
aclnnStatus HasChannels(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted{call.Tensor(x).shape[1]};
  return call.Tensor(tensor).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, tensor, accepted);
}

template <int x>
aclnnStatus GroupsFit(const Check& check, OperatorCall& call) noexcept {
  const int64_t group = Groups(call);
  const int64_t channels = call.Tensor(x).shape[1];
  if (group > 0 && channels % group == 0) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter ").Add(call.attributes[kGroup].name);
  message.Add(" has the value ").Add(group).Add(" where there are ").Add(channels).Add(" channels");
  return FailAclnn(check.code, message.Add(", accepted: a number above 0 that divides these."));
}

template <int attribute>
aclnnStatus EpsIsPositive(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[attribute].wide > 0) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call).Add("parameter eps is not above 0, accepted: above 0."));
}

aclnnStatus HasImages(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kX).shape;
  if (shape[0] > 0 && shape[1] > 0) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kX);
  return FailAclnn(check.code, message.Add(", accepted: a first and second dim above 0."));
}

aclnnStatus NothingToNormalize(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kX).shape.IsEmpty()) call.work = OperatorCall::Work::kNoTerms;
  return ACL_SUCCESS;
}

constexpr auto kSiluChecks = List(
    NotNull(kX), NotNull(kOut), NotNull(kMean), NotNull(kRstd), DtypesIn(kNoneBeforeAtlasA2, {kX}),
    If(HasBoth, SameDtype(kGamma, kBeta)), If(HasBoth, Custom(FloatOrDtypeOf<kGamma, kX>)),
    SameDtype(kX, kOut), Custom(HasNumbersDtype<kMean>), Custom(HasNumbersDtype<kRstd>), RankAtLeast(2, {kX}),
    RankAtMost(8, {kX}), SameShape(kX, kOut), Custom(HasGroups<kX, kMean>), Custom(HasGroups<kX, kRstd>),
    IfThere<kGamma>(Custom(HasChannels<kX, kGamma>)), IfThere<kBeta>(Custom(HasChannels<kX, kBeta>)),
    If(IsAtlas, Custom(HasImages)), Custom(GroupsFit<kX>), Custom(EpsIsPositive<1>),
    IfThere<kGamma>(Custom(FloatOrDtypeOf<kGamma, kX>)), IfThere<kBeta>(Custom(FloatOrDtypeOf<kBeta, kX>)),
    SizesRepresentable({kOut, kMean, kRstd}), Custom(NothingToNormalize), InsideStorage({kX, kGamma, kBeta}));

constexpr Check kSwishChecks[] = {
    NotNull(kX),
    NotNull(kGamma),
    NotNull(kBeta),
    NotNull(kOut),
    NotNull(kMean),
    NotNull(kRstd),
    DtypesIn(kNoneBeforeAtlasA2, {kX}),
    Custom(FloatOrDtypeOf<kGamma, kX>),
    SameDtype(kGamma, kBeta),
    SameDtype(kX, kOut),
    SameDtype(kGamma, kMean),
    SameDtype(kGamma, kRstd),
    WithCode(kTiling, RankAtLeast(2, {kX})),
    WithCode(kTiling, RankAtMost(8, {kX})),
    WithCode(kTiling, SameShape(kX, kOut)),
    Custom(HasChannels<kX, kGamma>, kTiling),
    Custom(HasChannels<kX, kBeta>, kTiling),
    Custom(GroupsFit<kX>, kTiling),
    Custom(HasGroups<kX, kMean>, kTiling),
    Custom(HasGroups<kX, kRstd>, kTiling),
    Custom(EpsIsPositive<2>, kTiling),
    SizesRepresentable({kOut, kMean, kRstd}),
    Custom(NothingToNormalize),
    InsideStorage({kX, kGamma, kBeta}),
};

// Returns the set of all axes after the first two.
uint32_t BehindGroups(const Shape& shape) { return ((1u << shape.rank) - 1) & ~3u; }

// Views [N, C, ...] as [N, group, C / group, ...], [C] as [group, C / group, 1, ...] with one dim less, and
// [N, group] with dims of 1.
StridedView ByGroups(const OperatorCall& call, int tensor, int64_t channels) {
  StridedView view = PlainView(call.Tensor(tensor));
  SplitDim(view, 1, channels / Groups(call));
  return view;
}
StridedView ChannelsByGroups(const OperatorCall& call, int tensor, int64_t channels, int rank) {
  StridedView view = PlainView(call.Tensor(tensor));
  SplitDim(view, 0, channels / Groups(call));
  while (view.shape.rank < rank - 1) InsertDim(view, view.shape.rank, 1, 0);
  return view;
}
StridedView NumbersByGroups(const OperatorCall& call, int tensor, int rank) {
  StridedView view = PlainView(call.Tensor(tensor));
  while (view.shape.rank < rank) InsertDim(view, view.shape.rank, 1, 0);
  return view;
}

void SetNormed(const OperatorCall& call, Executor& executor, const SwishNormParameters& parameters) {
  if (call.work == OperatorCall::Work::kNoTerms) return SetStatisticsOfNothing(call, kMean, kRstd, executor);
  const int64_t channels = call.Tensor(kX).shape[1];
  const StridedView x = ByGroups(call, kX, channels);
  engine::RowwiseJobMaker rows(x.shape, BehindGroups(x.shape), ACL_FLOAT, call.isa, call.threads);
  rows.Input(kX, x);
  for (const int tensor : {kGamma, kBeta}) {
    if (call.IsGiven(tensor)) {
      rows.Input(tensor, ChannelsByGroups(call, tensor, channels, x.shape.rank));
    } else {
      rows.ConstantInput(tensor == kGamma ? 1 : 0);
    }
  }
  rows.Output(kOut, ByGroups(call, kOut, channels));
  for (const int tensor : {kMean, kRstd}) rows.ValueOut(tensor, call.Tensor(tensor));
  SetRowwiseJob(rows, kSwishNorm, parameters, executor);
}

// aclnnGroupNormSilu has no attribute activateSilu and always activates.
void SetSilu(const OperatorCall& call, Executor& executor) {
  const bool activates = call.attributes.size() < 3 || call.attributes[2].integer != 0;
  SetNormed(call, executor, {FloatNumber(call, 1), 1.0f, activates});
}
void SetSwish(const OperatorCall& call, Executor& executor) {
  SetNormed(
      call, executor,
      {FloatNumber(call, 2), static_cast<float>(call.attributes[4].wide), call.attributes[3].integer != 0});
}

// ---- GroupNormSwishGrad ----

enum Gradients { kDy, kMeanIn, kRstdIn, kInput, kWeight, kShift, kDx, kDgamma, kDbeta };
enum GradientAttributes { kSwishScale = 2, kDgammaIsRequired, kDbetaIsRequired };
constexpr int64_t kMostChannelsOfGroup = 4000;

aclnnStatus ChannelsAreFew(const Check& check, OperatorCall& call) noexcept {
  const int64_t channels = call.Tensor(kInput).shape[1] / Groups(call);
  if (channels <= kMostChannelsOfGroup) return ACL_SUCCESS;
  Text message =
      StartMessage(call).Add("parameter numGroups leaves ").Add(channels).Add(" channels to a group");
  return FailAclnn(check.code, message.Add(", accepted: at most ").Add(kMostChannelsOfGroup).Add("."));
}

constexpr auto kGradientChecks = Join(
    List(NotNull(kDy), NotNull(kMeanIn), NotNull(kRstdIn), NotNull(kInput), NotNull(kWeight), NotNull(kShift),
         NotNull(kDx), NotNull(kDgamma), NotNull(kDbeta)),
    List(DtypesIn(kNoneBeforeAtlasA2, {kDy}), SameDtype(kDy, kInput), Custom(FloatOrDtypeOf<kWeight, kDy>),
         SameDtype(kWeight, kShift), SameDtype(kWeight, kMeanIn), SameDtype(kWeight, kRstdIn),
         SameDtype(kDy, kDx), SameDtype(kWeight, kDgamma), SameDtype(kWeight, kDbeta)),
    List(WithCode(kTiling, RankAtLeast(2, {kInput})), WithCode(kTiling, RankAtMost(8, {kInput})),
         WithCode(kTiling, SameShape(kDy, kInput)), Custom(HasChannels<kInput, kWeight>, kTiling),
         Custom(HasChannels<kInput, kShift>, kTiling), Custom(GroupsFit<kInput>, kTiling),
         Custom(ChannelsAreFew, kTiling), Custom(HasGroups<kInput, kMeanIn>, kTiling),
         Custom(HasGroups<kInput, kRstdIn>, kTiling), WithCode(kTiling, SameShape(kDy, kDx)),
         Custom(HasChannels<kInput, kDgamma>, kTiling), Custom(HasChannels<kInput, kDbeta>, kTiling),
         SizesRepresentable({kDx, kDgamma, kDbeta}), DoneIfEmpty({kInput}),
         InsideStorage({kDy, kMeanIn, kRstdIn, kInput}), InsideStorage({kWeight, kShift})));

void SetGradients(const OperatorCall& call, Executor& executor) {
  const int64_t channels = call.Tensor(kInput).shape[1];
  const SwishNormParameters parameters{0, static_cast<float>(call.attributes[kSwishScale].wide), true};
  const StridedView input = ByGroups(call, kInput, channels);
  const int rank = input.shape.rank;
  engine::RowwiseJobMaker sums(input.shape, (BehindGroups(input.shape) & ~4u) | 1u, ACL_FLOAT, call.isa,
                               call.threads);
  engine::RowwiseJobMaker rows(input.shape, BehindGroups(input.shape), ACL_FLOAT, call.isa, call.threads);
  for (engine::RowwiseJobMaker* job : {&sums, &rows}) {
    job->Input(kDy, ByGroups(call, kDy, channels));
    job->Input(kInput, input);
    if (job == &sums) {
      for (const int tensor : {kMeanIn, kRstdIn}) job->Input(tensor, NumbersByGroups(call, tensor, rank));
    }
    for (const int tensor : {kWeight, kShift})
      job->Input(tensor, ChannelsByGroups(call, tensor, channels, rank));
  }
  for (const int tensor : {kDgamma, kDbeta}) {
    if (call.attributes[static_cast<size_t>(kDgammaIsRequired + tensor - kDgamma)].integer != 0) {
      sums.ValueOut(tensor, call.Tensor(tensor));
    } else {
      sums.NoValueOut();
    }
  }
  rows.Output(kDx, ByGroups(call, kDx, channels));
  for (const int tensor : {kMeanIn, kRstdIn}) rows.ValueIn(tensor, call.Tensor(tensor));
  // Computes the sums first, since dxOut may be dy.
  const engine::RowwiseJob* const jobs[] = {&sums.Make(kSwishChannels, parameters, &executor.workspace_size),
                                            &rows.Make(kSwishNormGrad, parameters, &executor.workspace_size)};
  executor.SetJob([&] { return engine::MakeRowJobs(executor, jobs, 2, sums.touched() | rows.touched()); });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGroupNormSilu) { return RunPhase1(call, kSiluChecks, workspaceSize, executor, SetSilu); }

PORTACL_PHASE_1(aclnnGroupNormSiluV2) {
  return RunPhase1(call, kSiluChecks, workspaceSize, executor, SetSilu);
}

PORTACL_PHASE_1(aclnnGroupNormSwish) {
  return RunPhase1(call, kSwishChecks, workspaceSize, executor, SetSwish);
}

PORTACL_PHASE_1(aclnnGroupNormSwishGrad) {
  return RunPhase1(call, kGradientChecks, workspaceSize, executor, SetGradients);
}

#endif  // HWY_ONCE
