// aclnnConvDepthwise2d: convolves each channel of an image with its own kernels.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/convolution/conv_depthwise2d_functions.h"

#include "aclnnop/convolution/geometry.h"
#include "base/errors.h"

namespace portacl {
namespace {

namespace conv = convolution;

enum Tensors { kSelf, kWeight, kBias, kOut };
enum Attributes { kKernelSize, kStride, kPadding, kDilation, kMode };
constexpr conv::Attributes kWhere = {kStride, kPadding, kDilation, -1};

bool HasBias(const OperatorCall& call) noexcept { return call.IsGiven(kBias); }

aclnnStatus BiasFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& bias = call.Tensor(kBias).shape;
  if (bias.rank == 1 && bias[0] == call.Tensor(kWeight).shape[0]) return ACL_SUCCESS;
  return conv::RefuseTensor(check, call, kBias, " does not go with weight", "[channels of out]");
}

aclnnStatus BiasIsPlain(const Check& check, OperatorCall& call) noexcept {
  const aclFormat format = call.Tensor(kBias).format;
  if (format == ACL_FORMAT_ND || format == ACL_FORMAT_NCHW) return ACL_SUCCESS;
  return conv::RefuseTensor(check, call, kBias, " has another format", "ND or NCHW");
}

aclnnStatus KernelSizeFits(const Check& check, OperatorCall& call) noexcept {
  const std::vector<int64_t>& size = call.Array(kKernelSize);
  const Shape& weight = call.Tensor(kWeight).shape;
  if (size[0] == weight[2] && size[1] == weight[3]) return ACL_SUCCESS;
  return RefuseArray(check, call, kKernelSize, " has other values than weight's last two dims", "those");
}

aclnnStatus ChannelsFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  if (self[1] > 0 && weight[0] % self[1] == 0 && weight[1] == 1) return ACL_SUCCESS;
  return conv::RefuseTensor(check, call, kWeight, " does not go with self's channels",
                            "[a multiple of self's channels, 1, kernel]");
}

aclnnStatus KernelsFit(const Check& check, OperatorCall& call) noexcept {
  for (int i = 0; i < 2; ++i) {
    const int64_t kernel = call.Tensor(kWeight).shape[2 + i];
    if (kernel >= 1 &&
        conv::KernelFits(conv::AxisOf(call, kWhere, i), call.Tensor(kSelf).shape[2 + i], kernel))
      continue;
    return conv::RefuseTensor(check, call, kWeight,
                              " has a kernel that is empty or longer than the padded input",
                              "(kernel - 1) * dilation + 1 at most self + padding");
  }
  return ACL_SUCCESS;
}

aclnnStatus OutFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  const Shape& out = call.Tensor(kOut).shape;
  bool fits = out[0] == self[0] && out[1] == weight[0];
  for (int i = 0; i < 2; ++i)
    fits = fits && out[2 + i] == conv::LengthOfY(conv::AxisOf(call, kWhere, i), self[2 + i], weight[2 + i]);
  const bool is_empty = self.IsEmpty() || weight.IsEmpty();
  if (fits && !(is_empty && !out.IsEmpty())) return ACL_SUCCESS;
  return conv::RefuseTensor(check, call, kOut, " has another shape than the result",
                            "[batch, channels, what kernel, stride, padding and dilation give]");
}

aclnnStatus IsComputable(const Check& check, OperatorCall& call) noexcept {
  for (int i = 0; i < 2; ++i) {
    if (!conv::IsRepresentable(conv::AxisOf(call, kWhere, i), call.Tensor(kSelf).shape[2 + i],
                               call.Tensor(kOut).shape[2 + i], call.Tensor(kWeight).shape[2 + i]))
      return RefuseArray(check, call, kStride, " goes with values too large to compute with",
                         "less than 2^60");
  }
  return ACL_SUCCESS;
}

constexpr auto kChecks = List(
    NotNull(kSelf), NotNull(kWeight), ArrayNotNull(kKernelSize), ArrayNotNull(kStride),
    ArrayNotNull(kPadding), ArrayNotNull(kDilation), NotNull(kOut), DtypesIn(conv::kDtypes, {kSelf}),
    SameDtype(kSelf, kWeight), If(HasBias, SameDtype(kSelf, kBias)), SameDtype(kSelf, kOut),
    RankIs(4, {kSelf, kWeight, kOut}), If(HasBias, Custom(BiasFits)), conv::ArraySize(kKernelSize, kSelf),
    conv::ArraySize(kStride, kSelf), conv::ArraySize(kPadding, kSelf), conv::ArraySize(kDilation, kSelf),
    Custom(KernelSizeFits), conv::FormatsFit({kSelf, kWeight, kOut}, /*strict=*/true),
    If(HasBias, Custom(BiasIsPlain)), conv::ArrayValues(kStride, 1), conv::ArrayValues(kDilation, 1),
    Custom(ChannelsFit), Custom(KernelsFit), SizesRepresentable({kOut}), Custom(OutFits),
    conv::ModeFits(kMode, 4, {kSelf}), DoneIfEmpty({kOut}), Custom(IsComputable, ACLNN_ERR_INNER_NULLPTR),
    InsideStorage({kSelf, kWeight, kBias}));

void SetDepthwise(const OperatorCall& call, Executor& executor) {
  engine::Convolution made =
      conv::ConvolutionOf(call, kSelf, kWeight, kOut, call.Tensor(kSelf).shape[1], kWhere);
  if (call.IsGiven(kBias)) conv::SetAdded(call, kBias, made);
  conv::SetConvolutionJob(made, engine::ConvolutionResult::kY, executor);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnConvDepthwise2d) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetDepthwise);
}
