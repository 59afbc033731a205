// aclnnGroupNorm, aclnnGroupNormBackward: aclnnLayerNorm and its gradients over groups of channels. weight
// and bias have a number for each channel, so their gradients are sums over the batch and a channel's
// elements.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/group_norm.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/statistics.h"
#include "engine/rowwise/rowwise_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace group_norm {

namespace hn = hwy::HWY_NAMESPACE;

// Inputs: gradient, x, mean, rstd. Sums gradient * (x - mean) * rstd, and gradient.
struct ChannelSums : engine::HWY_NAMESPACE::RowwiseFormula<ChannelSums> {
  static constexpr int kInputs = 4;
  explicit ChannelSums(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    double of_weight = 0;
    double of_bias = 0;
    row.template Sum2<0, 1, 2, 3>(&of_weight, &of_bias,
                                  [](auto, V& a, V& b, V gradient, V x, V mean, V rstd) HWY_ATTR {
                                    a = hn::Mul(gradient, hn::Mul(hn::Sub(x, mean), rstd));
                                    b = gradient;
                                  });
    row.SetValue(0, of_weight);
    row.SetValue(1, of_bias);
  }
};

}  // namespace group_norm
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/normalized.h"
#include "aclnnop/norm/group_norm_functions.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kChannelSums = PORTACL_ROWWISE_KERNELS_OF_FLOAT(group_norm::ChannelSums);

enum Attributes { kN, kC, kHxW, kGroup, kEps, kMask = kEps };

int64_t Number(const OperatorCall& call, int attribute) {
  return call.attributes[static_cast<size_t>(attribute)].integer;
}

aclnnStatus GroupsFit(const Check& check, OperatorCall& call) noexcept {
  const int64_t group = Number(call, kGroup);
  if (group > 0 && Number(call, kC) % group == 0) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter group has the value ").Add(group).Add(" where C is ");
  return FailAclnn(check.code,
                   message.Add(Number(call, kC)).Add(", accepted: a number above 0 that divides C."));
}

template <int tensor>
aclnnStatus HasChannels(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted{Number(call, kC)};
  return call.Tensor(tensor).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, tensor, accepted);
}
template <int tensor>
aclnnStatus HasGroups(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted{Number(call, kN), Number(call, kGroup)};
  return call.Tensor(tensor).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, tensor, accepted);
}

// View [N, C, ...] as [N, group, C / group, ...], and [C] as [group, C / group, 1, ...] with one dim less.
StridedView ByGroups(const OperatorCall& call, int tensor) {
  StridedView view = PlainView(call.Tensor(tensor));
  SplitDim(view, 1, Number(call, kC) / Number(call, kGroup));
  return view;
}
StridedView ChannelsByGroups(const OperatorCall& call, int tensor, int rank) {
  StridedView view = PlainView(call.Tensor(tensor));
  SplitDim(view, 0, Number(call, kC) / Number(call, kGroup));
  while (view.shape.rank < rank - 1) InsertDim(view, view.shape.rank, 1, 0);
  return view;
}

// ---- GroupNorm ----

enum Tensors { kSelf, kGamma, kBeta, kOut, kMeanOut, kRstdOut };

aclnnStatus EpsIsPositive(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[kEps].wide > 0) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call).Add("parameter eps is not above 0, accepted: above 0."));
}

aclnnStatus SizesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  int64_t rest = 1;
  for (int axis = 2; axis < self.rank; ++axis) rest *= self[axis];
  if (self[0] == Number(call, kN) && self[1] == Number(call, kC) && rest == Number(call, kHxW))
    return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf).Add(" does not go with N ").Add(Number(call, kN));
  message.Add(", C ").Add(Number(call, kC)).Add(" and HxW ").Add(Number(call, kHxW));
  return FailAclnn(check.code, message.Add(", accepted: [N, C, ...] with HxW elements for each channel."));
}

aclnnStatus FormatIsOfChannels(const Check& check, OperatorCall& call) noexcept {
  const aclFormat format = call.Tensor(kSelf).format;
  if (format != ACL_FORMAT_NHWC && format != ACL_FORMAT_HWCN && format != ACL_FORMAT_NDHWC)
    return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddFormatName(message.Add("parameter self has the format "), format);
  return FailAclnn(check.code, message.Add(", accepted: a format with the channels in dim 1."));
}

aclnnStatus NothingToNormalize(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kSelf).shape.IsEmpty()) call.work = OperatorCall::Work::kNoTerms;
  return ACL_SUCCESS;
}

constexpr Check kChecks[] = {
    NotNull(kSelf),
    NotNull(kOut),
    NotNull(kMeanOut),
    NotNull(kRstdOut),
    DtypesIn(kBf16SinceAtlasA2, {kSelf}),
    IfThere<kGamma>(SameDtype(kSelf, kGamma)),
    IfThere<kBeta>(SameDtype(kSelf, kBeta)),
    SameDtype(kSelf, kOut),
    SameDtype(kSelf, kMeanOut),
    SameDtype(kSelf, kRstdOut),
    Custom(GroupsFit),
    Custom(EpsIsPositive),
    RankAtLeast(2, {kSelf}),
    RankAtMost(8, {kSelf}),
    SizesRepresentable({kOut, kMeanOut, kRstdOut}),
    SameShape(kSelf, kOut),
    Custom(HasGroups<kMeanOut>),
    Custom(HasGroups<kRstdOut>),
    Custom(SizesFit),
    IfThere<kGamma>(Custom(HasChannels<kGamma>)),
    IfThere<kBeta>(Custom(HasChannels<kBeta>)),
    SameFormat({kSelf, kOut}),
    NotPrivate({kSelf, kOut}),
    Custom(FormatIsOfChannels),
    Custom(NothingToNormalize),
    InsideStorage({kSelf, kGamma, kBeta}),
};

// Returns the set of all axes after the first two.
uint32_t BehindGroups(const Shape& shape) { return ((1u << shape.rank) - 1) & ~3u; }

void SetForward(const OperatorCall& call, Executor& executor) {
  if (call.work == OperatorCall::Work::kNoTerms)
    return SetStatisticsOfNothing(call, kMeanOut, kRstdOut, executor);
  const StridedView self = ByGroups(call, kSelf);
  engine::RowwiseJobMaker rows(self.shape, BehindGroups(self.shape), ACL_FLOAT, call.isa, call.threads);
  rows.Input(kSelf, self);
  for (const int tensor : {kGamma, kBeta}) {
    if (call.IsGiven(tensor)) {
      rows.Input(tensor, ChannelsByGroups(call, tensor, self.shape.rank));
    } else {
      rows.ConstantInput(tensor == kGamma ? 1 : 0);
    }
  }
  rows.Output(kOut, ByGroups(call, kOut));
  rows.ValueOut(kMeanOut, call.Tensor(kMeanOut));
  rows.ValueOut(kRstdOut, call.Tensor(kRstdOut));
  SetRowwiseJob(rows, layer_norm_kernels,
                NormParameters{static_cast<double>(static_cast<float>(call.attributes[kEps].wide))},
                executor);
}

// ---- GroupNormBackward ----

enum Gradients { kGradOut, kInput, kMean, kRstd, kWeight, kGradInput, kGradGamma, kGradBeta };

constexpr int64_t kMostChannels = 240000;
constexpr int64_t kMostChannelsOfGroup = 8000;

template <int tensor>
bool IsWanted(const OperatorCall& call) noexcept {
  return (call.attributes[kMask].integer >> (tensor - kGradInput) & 1) != 0;
}

aclnnStatus MaskIsThere(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[kMask].real == 3.0f) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call).Add(
                                   "parameter outputMask is null or has not 3 values, accepted: 3 values."));
}

// On Ascend 950 mean may be FLOAT, and tensors with one number for each channel have mean's dtype.
template <int tensor>
aclnnStatus DtypeFits(const Check& check, OperatorCall& call) noexcept {
  const bool is_new = call.product == Product::kAscend950;
  const aclDataType dtype = call.Tensor(tensor).dtype;
  if constexpr (tensor == kMean) {
    if (is_new && dtype == ACL_FLOAT) return ACL_SUCCESS;
  }
  const int other = is_new && tensor != kMean ? kMean : kGradOut;
  if (dtype == call.Tensor(other).dtype) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, tensor);
  AddArgumentDtype(message.Add(" differs from "), call, other);
  return FailAclnn(check.code, message.Add("; accepted: the same dtype."));
}

aclnnStatus ChannelsAreFew(const Check& check, OperatorCall& call) noexcept {
  const int64_t channels = Number(call, kC);
  if (channels <= kMostChannels && channels / Number(call, kGroup) <= kMostChannelsOfGroup)
    return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter C has the value ").Add(channels);
  return FailAclnn(check.code, message.Add(", accepted: at most 240000, and 8000 in a group."));
}

template <int tensor>
aclnnStatus HasNumbers(const Check& check, OperatorCall& call) noexcept {
  const bool whole = tensor == kGradOut || tensor == kInput;
  int64_t accepted = 0;
  const Shape sizes = whole ? Shape{Number(call, kN), Number(call, kC), Number(call, kHxW)}
                      : tensor == kMean || tensor == kRstd ? Shape{Number(call, kN), Number(call, kGroup)}
                                                           : Shape{Number(call, kC)};
  if (sizes.Numel(&accepted) && call.Tensor(tensor).numel == accepted) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor)
      .Add(" has not as many elements as N, C, HxW and group say");
  return FailAclnn(check.code, message.Add(", accepted: ").Add(accepted).Add("."));
}

template <int tensor>
aclnnStatus LikeGamma(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted = call.IsGiven(kWeight) ? call.Tensor(kWeight).shape : Shape{Number(call, kC)};
  return call.Tensor(tensor).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, tensor, accepted);
}

// Views the elements of a tensor, in row-major order, in another shape. Returns false where its strides do
// not allow that.
bool Reshape(StridedView& view, const Shape& shape) {
  if (view.shape == shape) return true;
  int64_t stride = 1;
  int64_t length = 1;
  for (int axis = view.shape.rank - 1; axis >= 0; --axis) {
    if (view.shape[axis] == 1) continue;
    if (length == 1) {
      stride = view.strides[axis];
    } else if (view.strides[axis] != stride * length) {
      return false;
    }
    length *= view.shape[axis];
  }
  FillShape(view, shape, stride);
  return true;
}

Shape ImageShape(const OperatorCall& call) {
  return Shape{Number(call, kN), Number(call, kC), Number(call, kHxW)};
}

// Tells whether the images begin with the dims N and C. They may have any strides then.
bool HaveChannels(const OperatorCall& call) {
  const Shape& shape = call.Tensor(kInput).shape;
  return shape.rank >= 2 && shape[0] == Number(call, kN) && shape[1] == Number(call, kC) &&
         call.Tensor(kGradOut).shape == shape;
}

template <int tensor>
aclnnStatus CanReshape(const Check& check, OperatorCall& call) noexcept {
  StridedView view = PlainView(call.Tensor(tensor));
  const bool whole = tensor == kGradOut || tensor == kInput || tensor == kGradInput;
  if (whole && HaveChannels(call)) return ACL_SUCCESS;
  const Shape numbers =
      tensor == kWeight ? Shape{Number(call, kC)} : Shape{Number(call, kN), Number(call, kGroup)};
  if (Reshape(view, whole ? ImageShape(call) : numbers)) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor)
      .Add(" has strides by which it is not [N, C, HxW], [N, group] or [C]");
  return FailAclnn(check.code, message.Add(", accepted: dense elements, or those dims."));
}

// Views images as [N, group, C / group, ...]. They have those dims or are dense.
StridedView Image(const OperatorCall& call, int tensor) {
  if (HaveChannels(call)) return ByGroups(call, tensor);
  StridedView view = PlainView(call.Tensor(tensor));
  Reshape(view, ImageShape(call));
  SplitDim(view, 1, Number(call, kC) / Number(call, kGroup));
  return view;
}
StridedView Statistics(const OperatorCall& call, int tensor, int rank) {
  StridedView view = PlainView(call.Tensor(tensor));
  Reshape(view, Shape{Number(call, kN), Number(call, kGroup)});
  while (view.shape.rank < rank) InsertDim(view, view.shape.rank, 1, 0);
  return view;
}

constexpr auto kGradientChecks =
    Join(List(NotNull(kGradOut), NotNull(kInput), NotNull(kMean), NotNull(kRstd), Custom(MaskIsThere),
              If(IsWanted<kGradInput>, WithCode(ACLNN_ERR_PARAM_INVALID, NotNull(kGradInput))),
              If(IsWanted<kGradGamma>, WithCode(ACLNN_ERR_PARAM_INVALID, NotNull(kGradGamma))),
              If(IsWanted<kGradBeta>, WithCode(ACLNN_ERR_PARAM_INVALID, NotNull(kGradBeta))),
              DtypesIn(kBf16SinceAtlasA2, {kGradOut}), SameDtype(kGradOut, kInput), Custom(DtypeFits<kMean>),
              Custom(DtypeFits<kRstd>), IfThere<kWeight>(Custom(DtypeFits<kWeight>)),
              If(IsWanted<kGradInput>, SameDtype(kGradOut, kGradInput)),
              If(IsWanted<kGradGamma>, Custom(DtypeFits<kGradGamma>)),
              If(IsWanted<kGradBeta>, Custom(DtypeFits<kGradBeta>)), Custom(GroupsFit),
              OnProducts(products::kAtlasA2AndA3, Custom(ChannelsAreFew)), RankAtMost(8, {kGradOut, kInput}),
              SizesRepresentable({kGradInput, kGradGamma, kGradBeta}), Custom(HasNumbers<kGradOut>),
              Custom(HasNumbers<kInput>), Custom(HasNumbers<kMean>), Custom(HasNumbers<kRstd>),
              IfThere<kWeight>(Custom(HasNumbers<kWeight>)),
              If(IsWanted<kGradInput>, SameShape(kInput, kGradInput)),
              If(IsWanted<kGradGamma>, Custom(LikeGamma<kGradGamma>)),
              If(IsWanted<kGradBeta>, Custom(LikeGamma<kGradBeta>)), DoneIfEmpty({kGradOut, kInput}),
              InsideStorage({kGradOut, kInput, kMean, kRstd, kWeight})),
         List(Custom(CanReshape<kGradOut>, ACLNN_ERR_INNER_NULLPTR),
              Custom(CanReshape<kInput>, ACLNN_ERR_INNER_NULLPTR),
              Custom(CanReshape<kMean>, ACLNN_ERR_INNER_NULLPTR),
              Custom(CanReshape<kRstd>, ACLNN_ERR_INNER_NULLPTR),
              IfThere<kWeight>(Custom(CanReshape<kWeight>, ACLNN_ERR_INNER_NULLPTR)),
              If(IsWanted<kGradInput>, Custom(CanReshape<kGradInput>, ACLNN_ERR_INNER_NULLPTR)),
              If(IsWanted<kGradGamma>, Custom(NumbersMerge<kGradGamma>, ACLNN_ERR_INNER_NULLPTR)),
              If(IsWanted<kGradBeta>, Custom(NumbersMerge<kGradBeta>, ACLNN_ERR_INNER_NULLPTR))));

void SetBackward(const OperatorCall& call, Executor& executor) {
  const StridedView gradient = Image(call, kGradOut);
  const StridedView input = Image(call, kInput);
  const StridedView mean = Statistics(call, kMean, input.shape.rank);
  const StridedView rstd = Statistics(call, kRstd, input.shape.rank);
  engine::RowwiseJob made[2];
  const engine::RowwiseJob* jobs[2];
  int count = 0;
  uint32_t touched = 0;
  if (IsWanted<kGradInput>(call)) {
    engine::RowwiseJobMaker rows(input.shape, BehindGroups(input.shape), ACL_FLOAT, call.isa, call.threads);
    rows.Input(kGradOut, gradient);
    rows.Input(kInput, input);
    if (call.IsGiven(kWeight)) {
      StridedView weight = PlainView(call.Tensor(kWeight));
      Reshape(weight, Shape{Number(call, kC)});
      SplitDim(weight, 0, Number(call, kC) / Number(call, kGroup));
      while (weight.shape.rank < input.shape.rank - 1) InsertDim(weight, weight.shape.rank, 1, 0);
      rows.Input(kWeight, weight);
    } else {
      rows.ConstantInput(1);
    }
    rows.Output(kGradInput, Image(call, kGradInput));
    rows.ValueIn(kMean, call.Tensor(kMean));
    rows.ValueIn(kRstd, call.Tensor(kRstd));
    rows.NoColumnSum();
    rows.NoColumnSum();
    made[count] =
        rows.Make(layer_norm_backward_kernels, NormBackwardParameters{true}, &executor.workspace_size);
    touched |= rows.touched();
    jobs[count] = &made[count];
    ++count;
  }
  if (IsWanted<kGradGamma>(call) || IsWanted<kGradBeta>(call)) {
    engine::RowwiseJobMaker channels(input.shape, (BehindGroups(input.shape) & ~4u) | 1u, ACL_FLOAT, call.isa,
                                     call.threads);
    channels.Input(kGradOut, gradient);
    channels.Input(kInput, input);
    channels.Input(kMean, mean);
    channels.Input(kRstd, rstd);
    if (IsWanted<kGradGamma>(call)) {
      channels.ValueOut(kGradGamma, call.Tensor(kGradGamma));
    } else {
      channels.NoValueOut();
    }
    if (IsWanted<kGradBeta>(call)) {
      channels.ValueOut(kGradBeta, call.Tensor(kGradBeta));
    } else {
      channels.NoValueOut();
    }
    made[count] = channels.Make(kChannelSums, engine::NoParameters(), &executor.workspace_size);
    touched |= channels.touched();
    jobs[count] = &made[count];
    ++count;
  }
  if (count > 0) executor.SetJob([&] { return engine::MakeRowJobs(executor, jobs, count, touched); });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

// NOLINTBEGIN(readability-identifier-naming): N, C and HxW are CANN's names
PORTACL_PHASE_1(aclnnGroupNorm) { return RunPhase1(call, kChecks, workspaceSize, executor, SetForward); }

PORTACL_PHASE_1(aclnnGroupNormBackward) {
  return RunPhase1(call, kGradientChecks, workspaceSize, executor, SetBackward);
}
// NOLINTEND(readability-identifier-naming)

#endif  // HWY_ONCE
