// aclnnConvolution: convolves images of one to three axes with kernels, in groups; also the transposed form.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/convolution/convolution_functions.h"

#include <limits>

#include "aclnnop/convolution/geometry.h"
#include "base/errors.h"

namespace portacl {
namespace {

namespace conv = convolution;

enum Tensors { kInput, kWeight, kBias, kOutput };
enum Attributes { kStride, kPadding, kDilation, kTransposed, kOutputPadding, kGroups, kMode };

bool IsTransposed(const OperatorCall& call) noexcept { return call.attributes[kTransposed].integer != 0; }
bool HasBias(const OperatorCall& call) noexcept { return call.IsGiven(kBias); }
int64_t Groups(const OperatorCall& call) { return call.attributes[kGroups].integer; }

conv::Attributes Where(const OperatorCall& call) {
  return {kStride, kPadding, kDilation, IsTransposed(call) ? kOutputPadding : -1};
}

aclnnStatus RankFits(const Check& check, OperatorCall& call) noexcept {
  const int rank = call.Tensor(kInput).shape.rank;
  if (rank < 3 || rank > 5)
    return conv::RefuseTensor(check, call, kInput, " has a rank out of range", "3, 4 or 5");
  for (const int tensor : {kWeight, kOutput}) {
    if (call.Tensor(tensor).shape.rank != rank)
      return conv::RefuseTensor(check, call, tensor, " has another rank than input", "the same");
  }
  return ACL_SUCCESS;
}

conv::Wide OutputChannels(const OperatorCall& call) {
  const Shape& weight = call.Tensor(kWeight).shape;
  return IsTransposed(call) ? conv::Wide{weight[1]} * Groups(call) : conv::Wide{weight[0]};
}

aclnnStatus BiasFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& bias = call.Tensor(kBias).shape;
  if (bias.rank == 1 && bias[0] == OutputChannels(call)) return ACL_SUCCESS;
  return conv::RefuseTensor(check, call, kBias, " does not go with weight", "[channels of output]");
}

aclnnStatus PaddingSize(const Check& check, OperatorCall& call) noexcept {
  const auto axes = static_cast<size_t>(call.Tensor(kInput).shape.rank - 2);
  const size_t size = call.Array(kPadding).size();
  const bool may_have_two = axes == 2 || (axes == 1 && !IsTransposed(call));
  if (size == axes || (may_have_two && size == 2 * axes)) return ACL_SUCCESS;
  return RefuseArray(check, call, kPadding, " has another number of values than there are axes",
                     may_have_two ? "one or two for each axis" : "one for each axis");
}

aclnnStatus BiasFormatFits(const Check& check, OperatorCall& call) noexcept {
  for (const aclFormat accepted : {ACL_FORMAT_ND, ACL_FORMAT_NCL, ACL_FORMAT_NCHW, ACL_FORMAT_NCDHW}) {
    if (call.Tensor(kBias).format == accepted) return ACL_SUCCESS;
  }
  return conv::RefuseTensor(check, call, kBias, " has another format", "ND, NCL, NCHW or NCDHW");
}

aclnnStatus ChannelsFit(const Check& check, OperatorCall& call) noexcept {
  const int64_t groups = Groups(call);
  const Shape& input = call.Tensor(kInput).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  if (groups < 1) return RefuseInteger(check, call, "groups", groups, 1, std::numeric_limits<int64_t>::max());
  if (weight[0] % groups != 0)
    return conv::RefuseTensor(check, call, kWeight, " is not cut into groups",
                              "a first dim that groups divides");
  if (IsTransposed(call) ? weight[0] != input[1] || input[1] == 0
                         : conv::Wide{weight[1]} * groups != input[1]) {
    return conv::RefuseTensor(
        check, call, kWeight, " does not go with input's channels",
        "[channels of output, channels of input / groups, kernel], transposed [channels of "
        "input, channels of output / groups, kernel]");
  }
  return ACL_SUCCESS;
}

aclnnStatus KernelsFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& input = call.Tensor(kInput).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  for (int i = 0; i < input.rank - 2; ++i) {
    const conv::Axis axis = conv::AxisOf(call, Where(call), i);
    const int64_t kernel = weight[2 + i];
    if (kernel < 1)
      return conv::RefuseTensor(check, call, kWeight, " has an empty kernel", "dims of 1 or more");
    if (!IsTransposed(call)) {
      if (!conv::KernelFits(axis, input[2 + i], kernel))
        return conv::RefuseTensor(check, call, kWeight, " has a kernel longer than the padded input",
                                  "(kernel - 1) * dilation + 1 at most input + padding");
      continue;
    }
    if (axis.output_padding < 0 ||
        (axis.output_padding >= axis.stride && axis.output_padding >= axis.dilation)) {
      return RefuseArray(check, call, kOutputPadding, " has a value out of range",
                         "0 to less than stride or dilation");
    }
    if (products::kAscend950.Contains(call.product)) continue;
    for (const int64_t padding : axis.padding) {
      if (conv::Wide{axis.dilation} * (kernel - 1) - padding > 255)
        return conv::RefuseTensor(check, call, kWeight, " has a kernel that reaches too far for this product",
                                  "(kernel - 1) * dilation - padding at most 255");
    }
  }
  return ACL_SUCCESS;
}

aclnnStatus OutputFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& input = call.Tensor(kInput).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  const Shape& output = call.Tensor(kOutput).shape;
  bool fits = output[0] == input[0] && output[1] == OutputChannels(call);
  for (int i = 0; i < input.rank - 2; ++i) {
    const conv::Axis axis = conv::AxisOf(call, Where(call), i);
    const conv::Wide length = IsTransposed(call) ? conv::LengthOfX(axis, input[2 + i], weight[2 + i])
                                                 : conv::LengthOfY(axis, input[2 + i], weight[2 + i]);
    fits = fits && output[2 + i] == length;
  }
  if (!fits) {
    return conv::RefuseTensor(check, call, kOutput, " has another shape than the result",
                              "[batch, channels, what kernel, stride, padding and dilation give]");
  }
  const bool is_empty = input.IsEmpty() || weight.IsEmpty();
  if (is_empty && !output.IsEmpty())
    return conv::RefuseTensor(check, call, kOutput, " has elements, and input or weight none",
                              "an empty output");
  return ACL_SUCCESS;
}

aclnnStatus ProductFits(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kInput).shape.rank == 4 && !IsTransposed(call)) return ACL_SUCCESS;
  return conv::RefuseTensor(check, call, kInput, " is convolved otherwise than on this product",
                            "images of two axes, not transposed");
}

aclnnStatus IsComputable(const Check& check, OperatorCall& call) noexcept {
  const Shape& x = call.Tensor(IsTransposed(call) ? kOutput : kInput).shape;
  const Shape& y = call.Tensor(IsTransposed(call) ? kInput : kOutput).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  for (int i = 0; i < x.rank - 2; ++i) {
    if (!conv::IsRepresentable(conv::AxisOf(call, Where(call), i), x[2 + i], y[2 + i], weight[2 + i]))
      return RefuseArray(check, call, kStride, " goes with values too large to compute with",
                         "less than 2^60");
  }
  return ACL_SUCCESS;
}

constexpr auto kChecks = List(
    NotNull(kInput), NotNull(kWeight), ArrayNotNull(kStride), ArrayNotNull(kPadding), ArrayNotNull(kDilation),
    NotNull(kOutput), If(IsTransposed, ArrayNotNull(kOutputPadding)),
    DtypesIn(conv::kDtypes, {kInput, kWeight, kOutput, kBias}), Custom(RankFits),
    If(HasBias, Custom(BiasFits)), conv::ArraySize(kStride, kInput), conv::ArraySize(kDilation, kInput),
    Custom(PaddingSize), If(IsTransposed, conv::ArraySize(kOutputPadding, kInput)),
    conv::FormatsFit({kInput, kWeight, kOutput}, /*strict=*/true), If(HasBias, Custom(BiasFormatFits)),
    conv::ArrayValues(kStride, 1), conv::ArrayValues(kDilation, 1), Custom(ChannelsFit), Custom(KernelsFit),
    SizesRepresentable({kOutput}), Custom(OutputFits), conv::ModeFits(kMode, 4, {kInput, kWeight}),
    OnProducts(ProductSet{Product::kAtlas200I500A2}, Custom(ProductFits)), DoneIfEmpty({kOutput}),
    Custom(IsComputable, ACLNN_ERR_INNER_NULLPTR), InsideStorage({kInput, kWeight, kBias}));

void SetConvolution(const OperatorCall& call, Executor& executor) {
  const bool is_transposed = IsTransposed(call);
  engine::Convolution made = conv::ConvolutionOf(call, is_transposed ? kOutput : kInput, kWeight,
                                                 is_transposed ? kInput : kOutput, Groups(call), Where(call));
  if (call.IsGiven(kBias)) conv::SetAdded(call, kBias, made);
  conv::SetConvolutionJob(made, is_transposed ? engine::ConvolutionResult::kX : engine::ConvolutionResult::kY,
                          executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnConvolution) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetConvolution);
}
