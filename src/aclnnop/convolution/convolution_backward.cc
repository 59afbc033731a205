// aclnnConvolutionBackward: the requested gradients of a convolution's input, weight and bias.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/convolution/convolution_backward_functions.h"

#include <algorithm>
#include <limits>

#include "aclnnop/convolution/geometry.h"
#include "aclnnop/jobs/op_list.h"
#include "aclnnop/output_mask.h"
#include "base/errors.h"
#include "plan/move_plan.h"

namespace portacl {
namespace {

namespace conv = convolution;

enum Tensors { kGradOutput, kInput, kWeight, kGradInput, kGradWeight, kGradBias };
enum Attributes {
  kBiasSizes,
  kStride,
  kPadding,
  kDilation,
  kTransposed,
  kOutputPadding,
  kGroups,
  kMask,
  kMode
};

template <int tensor>
bool IsWanted(const OperatorCall& call) noexcept {
  return (call.attributes[kMask].integer >> (tensor - kGradInput) & 1) != 0;
}
template <int tensor>
bool IsThere(const OperatorCall& call) noexcept {
  return call.IsGiven(tensor);
}
bool IsTransposed(const OperatorCall& call) noexcept { return call.attributes[kTransposed].integer != 0; }
bool IsPlainBias(const OperatorCall& call) noexcept { return !IsTransposed(call) && call.IsGiven(kGradBias); }
int64_t Groups(const OperatorCall& call) { return call.attributes[kGroups].integer; }
conv::Attributes Where() { return {kStride, kPadding, kDilation, -1}; }

aclnnStatus MaskIsThere(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[kMask].real == 3.0f) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call).Add(
                                   "parameter outputMask is null or has not 3 values, accepted: 3 values."));
}

aclnnStatus BiasIsNd(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kGradBias).format == ACL_FORMAT_ND) return ACL_SUCCESS;
  return conv::RefuseTensor(check, call, kGradBias, " has another format", "ND");
}

aclnnStatus OutputPaddingFits(const Check& check, OperatorCall& call) noexcept {
  const std::vector<int64_t>& values = call.Array(kOutputPadding);
  const std::vector<int64_t>& stride = call.Array(kStride);
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_below_stride =
        call.Tensor(kInput).shape.rank != 5 || i >= stride.size() || values[i] < stride[i];
    if (IsTransposed(call) ? values[i] >= 0 && is_below_stride : values[i] == 0) continue;
    return RefuseArray(
        check, call, kOutputPadding, " has a value out of range",
        IsTransposed(call) ? "0 or more, of three axes less than stride" : "0, where nothing is transposed");
  }
  return ACL_SUCCESS;
}

aclnnStatus GroupsFit(const Check& check, OperatorCall& call) noexcept {
  if (Groups(call) >= 1) return ACL_SUCCESS;
  return RefuseInteger(check, call, "groups", Groups(call), 1, std::numeric_limits<int32_t>::max());
}

// ---- empty input or weight ----

bool IsEmpty(const OperatorCall& call) noexcept {
  return products::kSinceAtlasA2.Contains(call.product) &&
         (call.Tensor(kInput).shape.IsEmpty() || call.Tensor(kWeight).shape.IsEmpty());
}

aclnnStatus BiasSizesFit(const Check& check, OperatorCall& call) noexcept {
  const aclIntArray* const sizes = call.attributes[kBiasSizes].array;
  const Shape& weight = call.Tensor(kWeight).shape;
  const conv::Wide channels = IsTransposed(call) ? conv::Wide{weight[1]} * Groups(call)
                                                 : conv::Wide{call.Tensor(kGradOutput).shape[1]};
  if (sizes != nullptr && sizes->values.size() == 1 && sizes->values[0] == channels) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call).Add(
                                   "parameter biasSizes is null or another shape than a bias's, accepted "
                                   "where input or weight is empty: [channels of gradOutput]."));
}

aclnnStatus EmptyInputFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& input = call.Tensor(kInput).shape;
  if (input.rank > 2 && (input[0] == 0 || input[1] == 0)) return ACL_SUCCESS;
  return conv::RefuseTensor(check, call, kInput, " has a batch and channels",
                            "none of either where input or weight is empty");
}

aclnnStatus EmptyChannelsFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& weight = call.Tensor(kWeight).shape;
  const Shape& input = call.Tensor(kInput).shape;
  if (weight[0] % Groups(call) != 0)
    return conv::RefuseTensor(check, call, kWeight, " is not cut into groups",
                              "a first dim that groups divides");
  const int64_t channels = IsTransposed(call) ? call.Tensor(kGradOutput).shape[1] : input[1];
  const conv::Wide of_weight = conv::Wide{weight[1]} * Groups(call);
  const bool is_left_out = (channels == 0 && of_weight == 0) || (IsTransposed(call) && input[0] == 0);
  if (!is_left_out && channels != of_weight)
    return conv::RefuseTensor(check, call, kWeight, " does not go with the channels",
                              "as many for each group");
  if (IsTransposed(call)) {
    if (weight[0] > 0 && weight[0] == input[1]) return ACL_SUCCESS;
    return conv::RefuseTensor(check, call, kWeight, " does not go with input's channels",
                              "as many, not none");
  }
  for (int i = 0; i < std::min(input.rank, weight.rank) - 2; ++i) {
    if (!conv::KernelFits(conv::AxisOf(call, Where(), i), input[2 + i], weight[2 + i]))
      return conv::RefuseTensor(check, call, kWeight, " has a kernel longer than the padded input",
                                "(kernel - 1) * dilation + 1 at most input + padding");
  }
  return ACL_SUCCESS;
}

aclnnStatus FillsZeros(const Check&, OperatorCall& call) noexcept {
  call.work = OperatorCall::Work::kNoTerms;
  return ACL_SUCCESS;
}

// ---- input and weight with elements ----

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& input = call.Tensor(kInput).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  const Shape& gradient = call.Tensor(kGradOutput).shape;
  if (weight.rank != input.rank)
    return conv::RefuseTensor(check, call, kWeight, " has another rank than input", "the same");
  if (gradient.rank != input.rank)
    return conv::RefuseTensor(check, call, kGradOutput, " has another rank than input", "the same");
  for (const int tensor : {kGradOutput, kWeight}) {
    if (call.Tensor(tensor).shape.IsEmpty())
      return conv::RefuseTensor(check, call, tensor, " is empty", "at least one element");
  }
  for (const auto& [given, other] : {std::pair{kGradInput, kInput}, std::pair{kGradWeight, kWeight}}) {
    if (call.IsGiven(given) && call.Tensor(given).shape != call.Tensor(other).shape)
      return RefuseShape(check, call, given, call.Tensor(other).shape);
  }
  if (!call.IsGiven(kGradBias)) return ACL_SUCCESS;
  const Shape& bias = call.Tensor(kGradBias).shape;
  const conv::Wide channels =
      IsTransposed(call) ? conv::Wide{weight[1]} * Groups(call) : conv::Wide{weight[0]};
  if (bias.rank == 1 && bias[0] == channels) return ACL_SUCCESS;
  return conv::RefuseTensor(check, call, kGradBias, " does not go with weight", "[channels of gradOutput]");
}

aclnnStatus PaddingSizes(const Check& check, OperatorCall& call) noexcept {
  const auto axes = static_cast<size_t>(call.Tensor(kInput).shape.rank - 2);
  for (const int attribute : {kPadding, kOutputPadding}) {
    const size_t size = call.Array(attribute).size();
    if (size == axes || (axes == 2 && size == 4)) continue;
    return RefuseArray(check, call, attribute, " has another number of values than there are axes",
                       axes == 2 ? "two or four" : "one for each axis");
  }
  return ACL_SUCCESS;
}

aclnnStatus ChannelsFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& weight = call.Tensor(kWeight).shape;
  const int64_t of_x = call.Tensor(IsTransposed(call) ? kGradOutput : kInput).shape[1];
  const int64_t of_y = call.Tensor(IsTransposed(call) ? kInput : kGradOutput).shape[1];
  if (weight[0] % Groups(call) == 0 && weight[0] == of_y && conv::Wide{weight[1]} * Groups(call) == of_x)
    return ACL_SUCCESS;
  return conv::RefuseTensor(
      check, call, kWeight, " does not go with the channels of input and gradOutput",
      "[channels of output, channels of input / groups, kernel], transposed [channels of "
      "input, channels of output / groups, kernel]");
}

// Checks that gradOutput has the batch and the axes of the convolution's result.
aclnnStatus GradientFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& input = call.Tensor(kInput).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  const Shape& gradient = call.Tensor(kGradOutput).shape;
  const std::vector<int64_t>& output_padding = call.Array(kOutputPadding);
  const auto axes = static_cast<size_t>(input.rank - 2);
  bool fits = check.low == 0 || gradient[0] == input[0];
  for (size_t i = 0; i < axes; ++i) {
    const int dim = static_cast<int>(i) + 2;
    conv::Axis axis = conv::AxisOf(call, Where(), static_cast<int>(i));
    axis.output_padding =
        output_padding.size() == axes ? output_padding[i] : output_padding[2 * i] + output_padding[2 * i + 1];
    fits = fits && (IsTransposed(call) ? gradient[dim] == conv::LengthOfX(axis, input[dim], weight[dim])
                                       : conv::KernelFits(axis, input[dim], weight[dim]) &&
                                             gradient[dim] == conv::LengthOfY(axis, input[dim], weight[dim]));
    fits = fits && (check.low == 0 ||
                    conv::IsRepresentable(axis, IsTransposed(call) ? gradient[dim] : input[dim],
                                          IsTransposed(call) ? input[dim] : gradient[dim], weight[dim]));
  }
  if (fits) return ACL_SUCCESS;
  return conv::RefuseTensor(check, call, kGradOutput, " has another shape than the convolution's result",
                            "[batch, channels, what kernel, stride, padding and dilation give]");
}
constexpr Check GradientFitsCompute() {
  return {.run = GradientFits, .low = 1, .code = ACLNN_ERR_INNER_NULLPTR};
}

bool HasThreeAxes(const OperatorCall& call) noexcept { return call.Tensor(kInput).shape.rank == 5; }

// Atlas A2 and A3 refuse a FLOAT weight gradient from 16-bit numbers for grouped images of three axes.
aclnnStatus WeightFits(const Check& check, OperatorCall& call) noexcept {
  if (!IsWanted<kGradWeight>(call) || Groups(call) == 1 || call.Tensor(kGradWeight).dtype != ACL_FLOAT)
    return ACL_SUCCESS;
  bool has_float = false;
  aclDataType first = call.Tensor(kGradOutput).dtype;
  for (const int tensor : {kGradOutput, kInput, kWeight}) {
    const aclDataType dtype = call.Tensor(tensor).dtype;
    // FLOAT16 and BF16 promote to FLOAT.
    has_float = has_float || dtype == ACL_FLOAT || dtype != first;
  }
  if (has_float && call.attributes[kMode].integer != 2) return ACL_SUCCESS;
  return conv::RefuseTensor(check, call, kGradWeight,
                            " is DT_FLOAT, of groups and three axes, and computed from 16-bit numbers",
                            "inputs that promote to DT_FLOAT, and not cubeMathType 2");
}

constexpr auto kFirst = List(
    NotNull(kGradOutput), NotNull(kInput), NotNull(kWeight), ArrayNotNull(kStride), ArrayNotNull(kPadding),
    ArrayNotNull(kDilation), ArrayNotNull(kOutputPadding), Custom(MaskIsThere, ACLNN_ERR_PARAM_NULLPTR),
    If(IsWanted<kGradInput>, NotNull(kGradInput)), If(IsWanted<kGradWeight>, NotNull(kGradWeight)),
    If(IsWanted<kGradBias>, NotNull(kGradBias)), DtypesIn(conv::kDtypes, {kGradOutput, kInput, kWeight}),
    DtypesIn(conv::kDtypes, {kGradInput, kGradWeight, kGradBias}),
    OnProducts(products::kAscend950, If(IsThere<kGradInput>, SameDtype(kInput, kGradInput))),
    OnProducts(products::kAscend950, If(IsThere<kGradWeight>, SameDtype(kWeight, kGradWeight))),
    OnProducts(products::kAscend950, If(IsThere<kGradBias>, SameDtype(kGradOutput, kGradBias))),
    conv::FormatsFit({kGradOutput, kInput, kWeight, kGradInput, kGradWeight}, /*strict=*/false),
    OnProducts(products::kSinceAtlasA2, If(IsPlainBias, Custom(BiasIsNd))), conv::ArrayValues(kStride, 1),
    conv::ArrayValues(kDilation, 1), conv::ArrayValues(kPadding, 0), Custom(OutputPaddingFits),
    Custom(GroupsFit), IntegerIn(kMode, 0, 3));

// Checks with a condition follow one by one, so each condition tests whether input or weight is empty.
bool IsEmptyAndWantsBias(const OperatorCall& call) noexcept {
  return IsEmpty(call) && IsWanted<kGradBias>(call);
}
bool IsEmptyAndWantsInput(const OperatorCall& call) noexcept {
  return IsEmpty(call) && IsWanted<kGradInput>(call);
}
constexpr auto kEmpty = List(
    If(IsEmptyAndWantsBias, Custom(BiasSizesFit)), If(IsEmptyAndWantsInput, Custom(EmptyInputFits)),
    If(IsEmpty, conv::ArraySize(kStride, kInput)), If(IsEmpty, conv::ArraySize(kDilation, kInput)),
    If(IsEmpty, Custom(PaddingSizes)), If(IsEmpty, Custom(EmptyChannelsFit)),
    If(IsEmpty, SizesRepresentable({kGradInput, kGradWeight, kGradBias})), If(IsEmpty, Custom(FillsZeros)));

constexpr auto kChecks =
    Join(kFirst, kEmpty,
         List(Custom(ShapesFit), conv::ArraySize(kStride, kInput), conv::ArraySize(kDilation, kInput),
              Custom(PaddingSizes), Custom(ChannelsFit), If(HasThreeAxes, Custom(GradientFits)),
              OnProducts(products::kAtlasA2AndA3, If(HasThreeAxes, Custom(WeightFits))),
              SizesRepresentable({kGradInput, kGradWeight, kGradBias}), GradientFitsCompute(),
              InsideStorage({kGradOutput, kInput, kWeight})));

// Sets the gradients to zero where input or weight has no elements.
void SetZeros(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 2);
  for (const int tensor : {kGradWeight, kGradBias}) {
    const bool is_wanted = tensor == kGradWeight ? IsWanted<kGradWeight>(call) : IsWanted<kGradBias>(call);
    if (!is_wanted || call.Tensor(tensor).shape.IsEmpty()) continue;
    ops.Fill(MergedDims(call.Tensor(tensor)), OperandBuffer(call.OperandOf(tensor)), ops.Value({}));
  }
  ops.SetJob();
}

void SetGradients(const OperatorCall& call, Executor& executor) {
  if (call.work == OperatorCall::Work::kNoTerms) return SetZeros(call, executor);
  const bool is_transposed = IsTransposed(call);
  conv::Gradients gradients;
  engine::Convolution image, weight;
  // The input gradient of a transposed convolution is the convolution of gradOutput.
  if (IsWanted<kGradInput>(call) && !call.Tensor(kGradInput).shape.IsEmpty()) {
    image = conv::ConvolutionOf(call, is_transposed ? kGradOutput : kGradInput, kWeight,
                                is_transposed ? kGradInput : kGradOutput, Groups(call), Where());
    gradients.of_image = &image;
    gradients.image_result = is_transposed ? engine::ConvolutionResult::kY : engine::ConvolutionResult::kX;
  }
  if (IsWanted<kGradWeight>(call)) {
    weight = conv::ConvolutionOf(call, is_transposed ? kGradOutput : kInput, kGradWeight,
                                 is_transposed ? kInput : kGradOutput, Groups(call), Where());
    gradients.of_weight = &weight;
  }
  if (IsWanted<kGradBias>(call)) gradients.bias = kGradBias;
  gradients.summed = kGradOutput;
  conv::SetGradientsJob(call, gradients, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnConvolutionBackward) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetGradients);
}
