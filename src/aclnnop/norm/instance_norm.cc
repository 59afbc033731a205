// aclnnInstanceNorm: a norm of each channel of each image.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/instance_norm.cc"
#include "base/foreach_target.h"

#include "aclnnop/norm/moments-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace instance_norm {

namespace hn = hwy::HWY_NAMESPACE;

// Inputs: x, gamma, beta.
struct InstanceNorm : engine::HWY_NAMESPACE::RowwiseFormula<InstanceNorm> {
  static constexpr int kInputs = 3;
  explicit InstanceNorm(const void* parameters) : eps(static_cast<const NormParameters*>(parameters)->eps) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const Moments moments = MomentsOf(row);
    row.SetValue(0, static_cast<double>(moments.mean));
    row.SetValue(1, moments.variance);
    const V mean = hn::Set(d, moments.mean);
    const V rstd = hn::Set(d, static_cast<float>(1.0 / std::sqrt(moments.variance + eps)));
    row.template Write<0, 0, 1, 2>([&](auto, V x, V gamma, V beta) HWY_ATTR {
      return hn::Add(hn::Mul(hn::Mul(hn::Sub(x, mean), rstd), gamma), beta);
    });
  }

  double eps;
};

}  // namespace instance_norm
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>

#include "aclnnop/jobs/normalized.h"
#include "aclnnop/norm/instance_norm_functions.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr engine::RowwiseKernels kInstanceNorm = PORTACL_ROWWISE_KERNELS(instance_norm::InstanceNorm);

enum Tensors { kX, kGamma, kBeta, kY, kMean, kVariance };
enum Attributes { kFormat, kEpsilon };

constexpr int kImageDims = 4;
constexpr DtypeRule kDtypes = DtypeRule{}.On(ProductSet{Product::kAtlasInference}, kFloatAndHalf);

// Returns the dim of the channels.
int ChannelDim(const OperatorCall& call) {
  return std::strcmp(call.attributes[kFormat].text, "NHWC") == 0 ? kImageDims - 1 : 1;
}

aclnnStatus FormatIsKnown(const Check& check, OperatorCall& call) noexcept {
  const char* const text = call.attributes[kFormat].text;
  if (text != nullptr && (std::strcmp(text, "NCHW") == 0 || std::strcmp(text, "NHWC") == 0))
    return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter dataFormat is ")
                                   .Add(text == nullptr ? "null" : text)
                                   .Add(", accepted: NCHW or NHWC."));
}

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& x = call.Tensor(kX).shape;
  const int channels = ChannelDim(call);
  Shape numbers{x[0], 1, 1, 1};
  numbers.dim[channels] = x[channels];
  for (const int tensor : {static_cast<int>(kGamma), static_cast<int>(kBeta)}) {
    if (!(call.Tensor(tensor).shape == Shape{x[channels]}))
      return RefuseShape(check, call, tensor, Shape{x[channels]});
  }
  for (const int tensor : {static_cast<int>(kMean), static_cast<int>(kVariance)}) {
    if (!(call.Tensor(tensor).shape == numbers)) return RefuseShape(check, call, tensor, numbers);
  }
  return ACL_SUCCESS;
}

constexpr auto kChecks =
    Join(List(NotNull(kX), NotNull(kGamma), NotNull(kBeta), NotNull(kY), NotNull(kMean), NotNull(kVariance),
              DtypesIn(kDtypes, {kX}), SameDtype(kX, kGamma), SameDtype(kX, kBeta), SameDtype(kX, kY),
              SameDtype(kX, kMean), SameDtype(kX, kVariance)),
         List(Custom(FormatIsKnown), RankIs(kImageDims, {kX}), Custom(ShapesFit), SameShape(kX, kY),
              Custom(EpsilonIsNotNegative<kEpsilon>), SizesRepresentable({kY, kMean, kVariance}),
              DoneIfEmpty({kX}), InsideStorage({kX, kGamma, kBeta})));

// Views numbers of channels in the dims of images.
StridedView OfChannels(const OperatorCall& call, int tensor) {
  StridedView view = PlainView(call.Tensor(tensor));
  for (int dim = ChannelDim(call); dim < kImageDims - 1; ++dim) InsertDim(view, 1, 1, 0);
  return view;
}

void SetRows(const OperatorCall& call, Executor& executor) {
  const aclTensor& x = call.Tensor(kX);
  constexpr uint32_t kBehindImages = 0b1110;
  const uint32_t axes = kBehindImages & ~(uint32_t{1} << ChannelDim(call));
  engine::RowwiseJobMaker rows(x.shape, axes, ACL_FLOAT, call.isa, call.threads);
  rows.Input(kX, x);
  rows.Input(kGamma, OfChannels(call, kGamma));
  rows.Input(kBeta, OfChannels(call, kBeta));
  rows.Output(kY, call.Tensor(kY));
  rows.ValueOut(kMean, call.Tensor(kMean));
  rows.ValueOut(kVariance, call.Tensor(kVariance));
  SetRowwiseJob(rows, kInstanceNorm, NormParameters{FloatNumber(call, kEpsilon)}, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnInstanceNorm) { return RunPhase1(call, kChecks, workspaceSize, executor, SetRows); }

#endif  // HWY_ONCE
