// aclnnConvTbc and aclnnConvTbcBackward: convolve sequences [time, batch, channels] along the time.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/convolution/conv_tbc_functions.h"

#include <algorithm>
#include <limits>

#include "aclnnop/convolution/geometry.h"
#include "aclnnop/jobs/op_list.h"
#include "base/errors.h"
#include "plan/move_plan.h"

namespace portacl {
namespace {

namespace conv = convolution;

enum Tensors { kSelf, kWeight, kBias, kOutput };
enum GradientTensors { kGrad, kOfInput, kOfWeight, kOfBias, kGradInput, kGradWeight, kGradBias };
enum Attributes { kPad, kMode };

int64_t Pad(const OperatorCall& call) { return call.attributes[kPad].integer; }

aclnnStatus FormatsArePlain(const Check& check, OperatorCall& call) noexcept {
  for (int tensor = 0; tensor < static_cast<int>(call.tensors.size()); ++tensor) {
    const aclFormat format = call.Tensor(tensor).format;
    if (format == ACL_FORMAT_ND || format == ACL_FORMAT_NCL) continue;
    return conv::RefuseTensor(check, call, tensor, " has another format", "ND or NCL");
  }
  return ACL_SUCCESS;
}

// Checks the shapes of sequence, kernels, bias and result against each other.
aclnnStatus ShapesGo(const Check& check, OperatorCall& call, int input, int weight, int bias, int output) {
  const Shape& of_input = call.Tensor(input).shape;
  const Shape& of_weight = call.Tensor(weight).shape;
  const int64_t pad = Pad(call);
  constexpr int64_t kMostPad = int64_t{1} << 60;
  if (pad < 0 || pad > kMostPad) return RefuseInteger(check, call, "pad", pad, 0, kMostPad);
  if (of_weight[1] != of_input[2])
    return conv::RefuseTensor(check, call, weight, " does not go with the channels",
                              "[kernel, input's, output's]");
  if (call.Tensor(bias).shape[0] != of_weight[2])
    return conv::RefuseTensor(check, call, bias, " does not go with weight", "[channels of output]");
  // CANN counts the padding once here, not on both sides.
  if (of_weight[0] < 1 || of_input[0] > kMostPad || of_input[0] + pad < of_weight[0])
    return conv::RefuseTensor(check, call, weight, " has a kernel that is empty or too long",
                              "1 to the sequence's length + pad");
  const conv::Wide length = conv::Wide{of_input[0]} + 2 * conv::Wide{pad} - of_weight[0] + 1;
  const Shape& result = call.Tensor(output).shape;
  if (result[0] == length && result[1] == of_input[1] && result[2] == of_weight[2]) return ACL_SUCCESS;
  return conv::RefuseTensor(check, call, output, " has another shape than the result",
                            "[time + 2 * pad - kernel + 1, batch, channels]");
}

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  return ShapesGo(check, call, kSelf, kWeight, kBias, kOutput);
}
aclnnStatus GradientShapesFit(const Check& check, OperatorCall& call) noexcept {
  // CANN does not check the other shapes when the weight has no elements.
  if (!call.Tensor(kOfWeight).shape.IsEmpty()) {
    if (const aclnnStatus status = ShapesGo(check, call, kOfInput, kOfWeight, kOfBias, kGrad)) return status;
  }
  constexpr int kSame[][2] = {{kGradInput, kOfInput}, {kGradWeight, kOfWeight}, {kGradBias, kOfBias}};
  for (const auto& [gradient, other] : kSame) {
    if (call.Tensor(gradient).shape != call.Tensor(other).shape)
      return RefuseShape(check, call, gradient, call.Tensor(other).shape);
  }
  return ACL_SUCCESS;
}

constexpr auto kChecks =
    List(NotNull(kSelf), NotNull(kWeight), NotNull(kBias), NotNull(kOutput), DtypesIn(conv::kDtypes, {kBias}),
         DtypesIn(conv::kDtypes, {kSelf}), SameDtype(kSelf, kWeight), SameDtype(kSelf, kOutput),
         RankIs(3, {kSelf, kWeight, kOutput}), RankIs(1, {kBias}), Custom(FormatsArePlain),
         SizesRepresentable({kOutput}), Custom(ShapesFit), conv::ModeFits(kMode, 4, {kSelf}),
         DoneIfEmpty({kOutput}), InsideStorage({kSelf, kWeight, kBias}));

constexpr auto kGradientChecks =
    List(NotNull(kGrad), NotNull(kOfInput), NotNull(kOfWeight), NotNull(kOfBias), NotNull(kGradInput),
         NotNull(kGradWeight), NotNull(kGradBias), DtypesIn(conv::kDtypes, {kOfBias, kGradBias}),
         DtypesIn(conv::kDtypes, {kGrad}), SameDtype(kGrad, kOfInput), SameDtype(kGrad, kOfWeight),
         SameDtype(kGrad, kGradInput), SameDtype(kGrad, kGradWeight),
         RankIs(3, {kGrad, kOfInput, kOfWeight, kGradInput, kGradWeight}), RankIs(1, {kOfBias, kGradBias}),
         Custom(FormatsArePlain), SizesRepresentable({kGradInput, kGradWeight, kGradBias}),
         Custom(GradientShapesFit), conv::ModeFits(kMode, 3, {kGrad}),
         InsideStorage({kGrad, kOfInput, kOfWeight}));

engine::Convolution Made(const OperatorCall& call, int x, int w, int y) {
  const Shape& of_x = call.Tensor(x).shape;
  const Shape& of_w = call.Tensor(w).shape;
  engine::Convolution made{};
  made.images = of_x[1];
  made.groups = 1;
  made.x_channels = of_w[1];
  made.y_channels = of_w[2];
  made.axis[engine::kPatchAxes - 1] = {.x = of_x[0],
                                       .y = call.Tensor(y).shape[0],
                                       .kernel = of_w[0],
                                       .stride = 1,
                                       .padding = Pad(call),
                                       .dilation = 1};
  constexpr conv::Dims kSequence = {.outer = 1, .inner = 2, .first_axis = 0};
  made.x = conv::OperandOf(call, x, kSequence);
  made.y = conv::OperandOf(call, y, kSequence);
  made.w = conv::OperandOf(call, w, {.outer = 2, .inner = 1, .first_axis = 0});
  return made;
}

void SetTbc(const OperatorCall& call, Executor& executor) {
  engine::Convolution made = Made(call, kSelf, kWeight, kOutput);
  conv::SetAdded(call, kBias, made);
  conv::SetConvolutionJob(made, engine::ConvolutionResult::kY, executor);
}

void SetGradients(const OperatorCall& call, Executor& executor) {
  const Shape& grad = call.Tensor(kGrad).shape;
  const bool has_no_weight = call.Tensor(kOfWeight).shape.IsEmpty();
  if (grad.IsEmpty() || (has_no_weight && call.Tensor(kGradBias).shape[0] != grad[2])) {
    // A sum of no terms is 0.
    OpList ops(executor, 3);
    for (const int tensor : {kGradInput, kGradWeight, kGradBias}) {
      if (call.Tensor(tensor).shape.IsEmpty()) continue;
      ops.Fill(MergedDims(call.Tensor(tensor)), OperandBuffer(call.OperandOf(tensor)), ops.Value({}));
    }
    return ops.SetJob();
  }
  if (has_no_weight) {
    const bool has_input = !call.Tensor(kGradInput).shape.IsEmpty();
    return conv::SetGradientsJob(
        call, {.bias = kGradBias, .summed = kGrad, .channels = 2, .zeroed = has_input ? kGradInput : -1},
        executor);
  }
  const engine::Convolution image = Made(call, kGradInput, kOfWeight, kGrad);
  const engine::Convolution weight = Made(call, kOfInput, kGradWeight, kGrad);
  conv::SetGradientsJob(call,
                        {.of_image = call.Tensor(kGradInput).shape.IsEmpty() ? nullptr : &image,
                         .image_result = engine::ConvolutionResult::kX,
                         .of_weight = call.Tensor(kGradWeight).shape.IsEmpty() ? nullptr : &weight,
                         .bias = kGradBias,
                         .summed = kGrad,
                         .channels = 2},
                        executor);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnConvTbc) { return RunPhase1(call, kChecks, workspaceSize, executor, SetTbc); }

PORTACL_PHASE_1(aclnnConvTbcBackward) {
  return RunPhase1(call, kGradientChecks, workspaceSize, executor, SetGradients);
}
