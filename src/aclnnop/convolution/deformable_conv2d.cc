// aclnnDeformableConv2d: convolves images with kernels whose positions offsets move, and its gradients.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/convolution/deformable_conv2d_functions.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <vector>

#include "aclnnop/convolution/geometry.h"
#include "aclnnop/jobs/dense_op_list.h"
#include "base/errors.h"
#include "engine/resample/deformed.h"

namespace portacl {
namespace {

namespace conv = convolution;
using conv::Wide;
using dense::DenseOpList;
using dense::Integer;
using dense::ShapeChecks;
using engine::BufferRef;

enum Tensors { kX, kWeight, kOffset, kBias, kOut, kDeformOut };
enum GradientTensors {
  kInput,
  kGradOutput,
  kOffsetOut,
  kGradientsWeight,
  kGradientsOffset,
  kGradInput,
  kGradWeight,
  kGradOffset,
  kGradBias
};
enum Attributes { kKernelSize, kStride, kPadding, kDilation, kGroups, kDeformableGroups, kModulated };

constexpr int64_t kMostKernel = 2048;
constexpr int64_t kMostTerms = 65535;
constexpr DtypeRule kDtypes = kNoneBeforeAtlasA2;

// The tensors of a function.
struct Form {
  int x;
  int weight;
  int offset;
  int bias;
  int y;
  int samples;
  bool is_gradient;
};
constexpr Form kForward{kX, kWeight, kOffset, kBias, kOut, kDeformOut, false};
constexpr Form kGradient{kInput, kGradientsWeight, kGradientsOffset, kGradBias, kGradOutput, kOffsetOut,
                         true};

bool HasBias(const OperatorCall& call) noexcept { return call.IsGiven(kBias); }
bool HasDeformOut(const OperatorCall& call) noexcept { return call.IsGiven(kDeformOut); }

// Arrays have a number for the batch and the channels first, but padding two for each axis.
conv::Axis AxisOf(const OperatorCall& call, int axis) noexcept {
  const auto at = static_cast<size_t>(axis);
  conv::Axis found;
  found.stride = call.Array(kStride)[2 + at];
  found.dilation = call.Array(kDilation)[2 + at];
  found.padding[0] = call.Array(kPadding)[2 * at];
  found.padding[1] = call.Array(kPadding)[2 * at + 1];
  return found;
}
int64_t KernelOf(const OperatorCall& call, int axis) noexcept {
  return call.Array(kKernelSize)[static_cast<size_t>(axis)];
}

// ---- checks ----

aclnnStatus ProductHasGradient(const Check& check, OperatorCall& call) noexcept {
  return FailAclnn(check.code, StartMessage(call).Add("not available on this product, only on Ascend 950."));
}

// Checks that the tensors are NCHW, or, before Ascend 950, all ND.
template <const Form& kForm>
aclnnStatus FormatsFit(const Check& check, OperatorCall& call) noexcept {
  const bool may_be_nd = call.product != Product::kAscend950;
  const aclFormat first = call.Tensor(kForm.x).format;
  const aclFormat accepted = may_be_nd && first == ACL_FORMAT_ND ? first : ACL_FORMAT_NCHW;
  for (int tensor = 0; tensor < static_cast<int>(call.tensors.size()); ++tensor) {
    if (!call.IsGiven(tensor)) continue;
    const bool is_bias = tensor == kForm.bias;
    if (call.Tensor(tensor).format == (is_bias ? ACL_FORMAT_ND : accepted)) continue;
    const char* const formats = is_bias             ? "ND"
                                : !may_be_nd        ? "NCHW"
                                : tensor != kForm.x ? "the first tensor's, NCHW or ND"
                                                    : "NCHW or ND";
    return conv::RefuseTensor(check, call, tensor, " has another format", formats);
  }
  return ACL_SUCCESS;
}

aclnnStatus KernelFits(const Check& check, OperatorCall& call) noexcept {
  const auto& kernel = call.Array(kKernelSize);
  if (kernel.size() == 2 && kernel[0] > 0 && kernel[1] > 0 && Wide{kernel[0]} * kernel[1] <= kMostKernel)
    return ACL_SUCCESS;
  return RefuseArray(check, call, kKernelSize, " is not a kernel",
                     "two values from 1 on, whose product is at most 2048");
}

template <int kAttribute>
aclnnStatus StepsFit(const Check& check, OperatorCall& call) noexcept {
  const auto& steps = call.Array(kAttribute);
  if (steps.size() == 4 && steps[0] == 1 && steps[1] == 1 && steps[2] > 0 && steps[3] > 0) return ACL_SUCCESS;
  return RefuseArray(check, call, kAttribute, " does not have 1, 1 and two values from 1 on",
                     "those four values");
}

template <bool is_gradient>
aclnnStatus PaddingFits(const Check& check, OperatorCall& call) noexcept {
  const auto& padding = call.Array(kPadding);
  if (padding.size() != 4)
    return RefuseArray(check, call, kPadding, " does not have four values", "top, bottom, left and right");
  for (const int64_t value : padding) {
    if (is_gradient && value < 0)
      return RefuseArray(check, call, kPadding, " has a negative value", "0 or more");
  }
  return ACL_SUCCESS;
}

aclnnStatus IsModulated(const Check& check, OperatorCall& call) noexcept {
  if (Integer(call, kModulated) != 0) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call).Add(
                                   "parameter modulated is false, accepted: true, with factors in offset."));
}

template <const Form& kForm>
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& x = call.Tensor(kForm.x).shape;
  const Shape& weight = call.Tensor(kForm.weight).shape;
  const int64_t groups = Integer(call, kGroups);
  const int64_t offset_groups = Integer(call, kDeformableGroups);
  const int64_t kernel = KernelOf(call, 0) * KernelOf(call, 1);
  checks.Holds(x[1] % offset_groups == 0, kForm.x, "channels that deformableGroups divides");
  checks.Holds(x[1] % groups == 0, kForm.x, "channels that groups divides");
  checks.Holds(weight[0] % groups == 0, kForm.weight, "a first dim that groups divides");
  checks.Holds(Wide{x[2]} * x[3] <= std::numeric_limits<int32_t>::max(), kForm.x,
               "at most 2147483647 elements of an image");
  if (!checks.Passed()) return checks.status();
  checks.Is(kForm.weight, Shape{weight[0], x[1] / groups, KernelOf(call, 0), KernelOf(call, 1)});
  Shape expected{x[0], 0, 0, 0};
  for (int axis = 0; axis < 2; ++axis) {
    const conv::Axis of_axis = AxisOf(call, axis);
    checks.Holds(conv::KernelFits(of_axis, x[2 + axis], KernelOf(call, axis)), kForm.x,
                 "(kernel - 1) * dilation + 1 at most rows or columns with padding");
    if (!checks.Passed()) return checks.status();
    const Wide length = conv::LengthOfY(of_axis, x[2 + axis], KernelOf(call, axis));
    checks.HoldsOf(
        length * KernelOf(call, axis) <= std::numeric_limits<int64_t>::max() &&
            conv::IsRepresentable(of_axis, x[2 + axis], static_cast<int64_t>(length), KernelOf(call, axis)),
        kPadding, "values less than 2^60");
    if (!checks.Passed()) return checks.status();
    expected.dim[2 + axis] = static_cast<int64_t>(length);
  }
  const Wide offsets = Wide{3} * offset_groups * kernel;
  checks.Holds(call.Tensor(kForm.offset).shape[1] == offsets, kForm.offset,
               "3 * deformableGroups * kernel rows * kernel columns channels");
  if (!checks.Passed()) return checks.status();
  expected.dim[1] = static_cast<int64_t>(offsets);
  checks.Is(kForm.offset, expected);
  expected.dim[1] = weight[0];
  checks.Is(kForm.y, expected);
  checks.IsIfGiven(kForm.bias, Shape{weight[0]});
  expected.dim[1] = x[1];
  for (int axis = 0; axis < 2; ++axis) expected.dim[2 + axis] *= KernelOf(call, axis);
  checks.IsIfGiven(kForm.samples, expected);
  checks.Holds(Wide{kernel} * (x[1] / groups) <= kMostTerms, kForm.x,
               "at most 65535 channels / groups * kernel rows * kernel columns");
  if (kForm.is_gradient) {
    checks.Is(kGradInput, x).Is(kGradWeight, weight).Is(kGradOffset, call.Tensor(kForm.offset).shape);
    for (const int tensor : {kInput, kGradientsWeight, kGradientsOffset})
      checks.Holds(!call.Tensor(tensor).shape.IsEmpty(), tensor, "at least one element");
  }
  return checks.status();
}

template <const Form& kForm>
constexpr auto AttributeChecks() {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return List(Custom(FormatsFit<kForm>), Custom(KernelFits), Custom(StepsFit<kStride>),
              Custom(StepsFit<kDilation>), Custom(PaddingFits<kForm.is_gradient>),
              IntegerIn(kGroups, 1, kMost), IntegerIn(kDeformableGroups, 1, kMost), Custom(IsModulated));
}

constexpr auto kChecks =
    Join(List(NotNull(kX), NotNull(kOffset), NotNull(kWeight), NotNull(kOut), ArrayNotNull(kKernelSize),
              ArrayNotNull(kStride), ArrayNotNull(kPadding), ArrayNotNull(kDilation), DtypesIn(kDtypes, {kX}),
              SameDtype(kX, kWeight), SameDtype(kX, kOffset), If(HasBias, SameDtype(kX, kBias)),
              SameDtype(kX, kOut), If(HasDeformOut, SameDtype(kX, kDeformOut))),
         AttributeChecks<kForward>(),
         List(RankIs(4, {kX, kWeight, kOffset, kOut}), If(HasBias, RankIs(1, {kBias})),
              If(HasDeformOut, RankIs(4, {kDeformOut})), Custom(ShapesFit<kForward>),
              SizesRepresentable({kOut, kDeformOut}), DoneIfEmpty({kX, kWeight, kOffset}),
              InsideStorage({kX, kWeight, kOffset, kBias})));

constexpr auto kGradientChecks = Join(
    List(OnProducts(~products::kAscend950, Custom(ProductHasGradient)), NotNull(kInput), NotNull(kGradOutput),
         NotNull(kOffsetOut), NotNull(kGradientsWeight), NotNull(kGradientsOffset), ArrayNotNull(kKernelSize),
         ArrayNotNull(kStride), ArrayNotNull(kPadding), ArrayNotNull(kDilation), NotNull(kGradInput),
         NotNull(kGradWeight), NotNull(kGradOffset), NotNull(kGradBias)),
    List(DtypesIn(kDtypes, {kInput}), SameDtype(kInput, kGradOutput), SameDtype(kInput, kOffsetOut),
         SameDtype(kInput, kGradientsWeight), SameDtype(kInput, kGradientsOffset),
         SameDtype(kInput, kGradInput), SameDtype(kInput, kGradWeight), SameDtype(kInput, kGradOffset),
         SameDtype(kInput, kGradBias)),
    AttributeChecks<kGradient>(),
    List(RankIs(4, {kInput, kGradOutput, kOffsetOut, kGradientsWeight, kGradientsOffset}),
         RankIs(4, {kGradInput, kGradWeight, kGradOffset}), RankIs(1, {kGradBias}),
         Custom(ShapesFit<kGradient>), SizesRepresentable({kGradInput, kGradWeight, kGradOffset, kGradBias}),
         InsideStorage({kInput, kGradOutput, kOffsetOut, kGradientsWeight, kGradientsOffset})));

// ---- jobs ----

engine::DeformedAxis DeformedAxisOf(const OperatorCall& call, const Form& form, int axis) noexcept {
  const conv::Axis given = AxisOf(call, axis);
  return {call.Tensor(form.x).shape[2 + axis],
          call.Tensor(form.y).shape[2 + axis],
          KernelOf(call, axis),
          given.stride,
          given.padding[0],
          given.dilation};
}
engine::DeformedShape DeformedShapeOf(const OperatorCall& call, const Form& form) noexcept {
  const Shape& x = call.Tensor(form.x).shape;
  return {x[0], x[1], Integer(call, kDeformableGroups), DeformedAxisOf(call, form, 0),
          DeformedAxisOf(call, form, 1)};
}

// Returns an operand whose elements lie as the tensor's shape says.
engine::ConvolutionOperand Dense(int index, aclDataType dtype, const Shape& shape) noexcept {
  auto step = static_cast<int64_t>(aclDataTypeSize(dtype));
  engine::ConvolutionOperand operand{};
  operand.argument = static_cast<int8_t>(index);
  operand.dtype = dtype;
  for (int axis = 1; axis >= 0; --axis) {
    operand.axis[engine::kPatchAxes - 2 + axis] = step;
    step *= shape[2 + axis];
  }
  operand.inner = step;
  operand.outer = step * shape[1];
  return operand;
}

// The buffers of a convolution, in the order of its operands.
enum Buffers { kSamplesBuffer, kOutBuffer, kWeightBuffer, kBiasBuffer };

// The product of samples and weights as a convolution: kernels at neighbouring output positions do not overlap.
engine::BufferConvolution ConvolutionOf(const OperatorCall& call, const Form& form,
                                        engine::ConvolutionResult result) noexcept {
  const Shape& x = call.Tensor(form.x).shape;
  const Shape& y = call.Tensor(form.y).shape;
  const Shape& weight = call.Tensor(form.weight).shape;
  const aclDataType dtype = call.Tensor(form.x).dtype;
  engine::BufferConvolution made{};
  made.job.result = result;
  made.job.isa = call.isa;
  made.job.threads = call.threads;
  engine::Convolution& convolution = made.job.convolution;
  convolution.images = x[0];
  convolution.groups = Integer(call, kGroups);
  convolution.x_channels = weight[1];
  convolution.y_channels = weight[0] / convolution.groups;
  Shape samples = x;
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t kernel = KernelOf(call, axis);
    samples.dim[2 + axis] = y[2 + axis] * kernel;
    convolution.axis[engine::kPatchAxes - 2 + axis] = {.x = samples[2 + axis],
                                                       .y = y[2 + axis],
                                                       .kernel = kernel,
                                                       .stride = kernel,
                                                       .padding = 0,
                                                       .dilation = 1};
  }
  convolution.x = Dense(kSamplesBuffer, ACL_FLOAT, samples);
  convolution.y = Dense(kOutBuffer, dtype, y);
  convolution.w = Dense(kWeightBuffer, dtype, weight);
  return made;
}

void Add(DenseOpList& ops, const engine::BufferConvolution& convolution) {
  const BufferRef* const buffers = convolution.buffer;
  ops.Compute(convolution, {buffers[0], buffers[1], buffers[2], buffers[3]}, convolution.job.Elements());
}

// Returns false, and phase 1 fails, where the samples have no number or are more than any memory.
bool HasSamples(const OperatorCall& call, const Form& form, Executor& executor) noexcept {
  constexpr Wide kMost = Wide{1} << 48;
  const Shape& y = call.Tensor(form.y).shape;
  Wide count = Wide{KernelOf(call, 0)} * KernelOf(call, 1);
  for (const int64_t length : {call.Tensor(form.x).shape[0], call.Tensor(form.x).shape[1], y[2], y[3]}) {
    count *= length;
    if (count <= kMost) continue;
    executor.RefuseSize(call.Name(form.x),
                        static_cast<int64_t>(std::min<Wide>(count, std::numeric_limits<int64_t>::max())));
    return false;
  }
  return true;
}

void SetConvolution(const OperatorCall& call, Executor& executor) {
  if (!HasSamples(call, kForward, executor)) return;
  DenseOpList ops(call, executor);
  engine::SampleDeformed sampled{};
  sampled.shape = DeformedShapeOf(call, kForward);
  sampled.images = ops.In(kX, ACL_FLOAT);
  sampled.offsets = ops.In(kOffset, ACL_FLOAT);
  sampled.samples =
      HasDeformOut(call) ? ops.Out(kDeformOut, ACL_FLOAT) : ops.Floats(sampled.shape.Elements());
  sampled.threads = call.threads;
  ops.Compute(sampled, {sampled.images, sampled.offsets, sampled.samples}, sampled.shape.Elements());
  engine::BufferConvolution convolution = ConvolutionOf(call, kForward, engine::ConvolutionResult::kY);
  convolution.buffer[kSamplesBuffer] = sampled.samples;
  convolution.buffer[kWeightBuffer] = ops.In(kWeight);
  convolution.buffer[kOutBuffer] = ops.Out(kOut);
  convolution.buffer[kBiasBuffer] = sampled.samples;
  if (HasBias(call)) {
    engine::Convolution& added = convolution.job.convolution;
    added.adds = true;
    added.added.argument = kBiasBuffer;
    added.added.dtype = call.Tensor(kBias).dtype;
    added.added.inner = dense::SizeOf(call, kBias);
    convolution.buffer[kBiasBuffer] = ops.In(kBias);
  }
  Add(ops, convolution);
  ops.SetJob();
}

// Adds the gradient of the bias: the gradient of a weight that is multiplied by a channel of ones.
void AddBiasGradient(const OperatorCall& call, DenseOpList& ops, BufferRef gradient) {
  const Shape& y = call.Tensor(kGradOutput).shape;
  engine::BufferConvolution product = ConvolutionOf(call, kGradient, engine::ConvolutionResult::kW);
  engine::Convolution& convolution = product.job.convolution;
  convolution.groups = convolution.x_channels = 1;
  convolution.y_channels = y[1];
  for (engine::ConvolutionAxis& axis : convolution.axis) {
    axis.x = axis.y;
    axis.kernel = axis.stride = 1;
  }
  convolution.x = {};  // the same number at every output position
  convolution.x.argument = kSamplesBuffer;
  convolution.x.dtype = ACL_FLOAT;
  convolution.w = Dense(kWeightBuffer, call.Tensor(kGradBias).dtype, Shape{y[1], 1, 1, 1});
  product.buffer[kSamplesBuffer] = product.buffer[kBiasBuffer] = ops.Array();
  product.buffer[kOutBuffer] = gradient;
  product.buffer[kWeightBuffer] = ops.Out(kGradBias);
  Add(ops, product);
}

void AddGradients(const OperatorCall& call, Executor& executor) {
  // A word whose lower half is the FLOAT 1.
  const std::vector<int64_t> one = {std::bit_cast<int32_t>(1.0f)};
  DenseOpList ops(call, executor, &one);
  const BufferRef gradient = ops.In(kGradOutput);
  engine::BufferConvolution product = ConvolutionOf(call, kGradient, engine::ConvolutionResult::kW);
  product.buffer[kSamplesBuffer] = product.buffer[kBiasBuffer] = ops.In(kOffsetOut);
  product.buffer[kOutBuffer] = gradient;
  product.buffer[kWeightBuffer] = ops.Out(kGradWeight);
  const aclTensor& given = call.Tensor(kOffsetOut);
  product.job.convolution.x = Dense(kSamplesBuffer, given.dtype, given.shape);
  Add(ops, product);
  AddBiasGradient(call, ops, gradient);
  engine::DeformedGradient sums{};
  sums.shape = DeformedShapeOf(call, kGradient);
  sums.samples = ops.Floats(sums.shape.Elements());
  product = ConvolutionOf(call, kGradient, engine::ConvolutionResult::kX);
  product.buffer[kSamplesBuffer] = product.buffer[kBiasBuffer] = sums.samples;
  product.buffer[kOutBuffer] = gradient;
  product.buffer[kWeightBuffer] = ops.In(kGradientsWeight);
  Add(ops, product);
  sums.images = ops.In(kInput, ACL_FLOAT);
  sums.offsets = ops.In(kGradientsOffset, ACL_FLOAT);
  sums.images_out = ops.Out(kGradInput, ACL_FLOAT);
  sums.offsets_out = ops.Out(kGradOffset, ACL_FLOAT);
  sums.threads = call.threads;
  ops.Compute(sums, {sums.images, sums.offsets, sums.samples, sums.images_out, sums.offsets_out},
              2 * sums.shape.Elements());
  ops.SetJob();
}

void SetGradients(const OperatorCall& call, Executor& executor) {
  if (!HasSamples(call, kGradient, executor)) return;
  try {
    AddGradients(call, executor);
  } catch (const std::bad_alloc&) {
    executor.out_of_memory = true;
  }
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnDeformableConv2d) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetConvolution);
}
PORTACL_PHASE_1(aclnnDeformableConv2dBackward) {
  return dense::RunOpList(call, kGradientChecks, workspaceSize, executor, SetGradients);
}
