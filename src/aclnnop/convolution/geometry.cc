// Shared code of the convolutions (see geometry.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/convolution/geometry.h"

#include <new>

#include "aclnnop/jobs/sum_of_terms.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "engine/move/move.h"
#include "plan/views.h"

namespace portacl::convolution {

Axis AxisOf(const OperatorCall& call, const Attributes& attributes, int axis) noexcept {
  const auto at = static_cast<size_t>(axis);
  const std::vector<int64_t>& stride = call.Array(attributes.stride);
  const std::vector<int64_t>& padding = call.Array(attributes.padding);
  Axis found;
  found.stride = stride[at];
  found.dilation = call.Array(attributes.dilation)[at];
  if (padding.size() == stride.size()) {
    found.padding[0] = found.padding[1] = padding[at];
  } else {
    found.padding[0] = padding[2 * at];
    found.padding[1] = padding[2 * at + 1];
  }
  if (attributes.output_padding >= 0) found.output_padding = call.Array(attributes.output_padding)[at];
  return found;
}

namespace {

Wide Reach(const Axis& axis, int64_t kernel) { return Wide{axis.dilation} * (kernel - 1); }
Wide Padded(const Axis& axis, int64_t x) { return Wide{x} + axis.padding[0] + axis.padding[1]; }

}  // namespace

Wide LengthOfY(const Axis& axis, int64_t x, int64_t kernel) noexcept {
  return (Padded(axis, x) - Reach(axis, kernel) - 1) / axis.stride + 1;
}

Wide LengthOfX(const Axis& axis, int64_t y, int64_t kernel) noexcept {
  return (Wide{y} - 1) * axis.stride - axis.padding[0] - axis.padding[1] + Reach(axis, kernel) +
         axis.output_padding + 1;
}

bool KernelFits(const Axis& axis, int64_t x, int64_t kernel) noexcept {
  return Padded(axis, x) >= Reach(axis, kernel) + 1;
}

bool IsRepresentable(const Axis& axis, int64_t x, int64_t y, int64_t kernel) noexcept {
  constexpr Wide kMost = Wide{1} << 60;
  const auto is_less = [](Wide number) { return number < kMost && number > -kMost; };
  return is_less(axis.stride) && is_less(axis.padding[0]) && is_less(axis.padding[1]) &&
         is_less(axis.dilation) && is_less(Reach(axis, kernel)) && is_less(x) &&
         is_less(Wide{y} * axis.stride);
}

aclnnStatus check::ModeFits(const Check& check, OperatorCall& call) noexcept {
  const Attribute& mode = call.attributes[static_cast<size_t>(check.low)];
  const bool is_new = products::kSinceAtlasA2.Contains(call.product);
  const int64_t most = is_new ? check.high : 3;
  if (mode.integer < 0 || mode.integer > most)
    return RefuseInteger(check, call, mode.name, mode.integer, 0, most);
  if (is_new || (mode.integer != 0 && mode.integer != 3)) return ACL_SUCCESS;
  for (const int8_t tensor : check.operands) {
    if (call.Tensor(tensor).dtype != ACL_FLOAT) continue;
    return FailAclnn(check.code,
                     StartMessage(call)
                         .Add("parameter ")
                         .Add(mode.name)
                         .Add(" has the value ")
                         .Add(mode.integer)
                         .Add(" and parameter ")
                         .Add(call.Name(tensor))
                         .Add(" the dtype DT_FLOAT, accepted on this product with that dtype: 1 or 2."));
  }
  return ACL_SUCCESS;
}

aclnnStatus check::ArraySize(const Check& check, OperatorCall& call) noexcept {
  const int attribute = check.attributes.index[0];
  const size_t size = call.Array(attribute).size();
  const auto axes = static_cast<size_t>(call.Tensor(check.operands.index[0]).shape.rank - 2);
  if (size == axes || (check.high != 0 && size == 2 * axes)) return ACL_SUCCESS;
  return RefuseArray(check, call, attribute, " has another number of values than there are axes",
                     check.high != 0 ? "one or two for each axis" : "one for each axis");
}

aclnnStatus check::ArrayValues(const Check& check, OperatorCall& call) noexcept {
  const int attribute = check.attributes.index[0];
  for (const int64_t value : call.Array(attribute)) {
    if (value >= check.low) continue;
    return RefuseArray(check, call, attribute,
                       check.low > 0 ? " has a value below 1" : " has a negative value",
                       check.low > 0 ? "1 or more" : "0 or more");
  }
  return ACL_SUCCESS;
}

aclnnStatus check::FormatsFit(const Check& check, OperatorCall& call) noexcept {
  for (const int8_t tensor : check.operands) {
    if (!call.IsGiven(tensor)) continue;
    const aclTensor& view = call.Tensor(tensor);
    const char* accepted = "3, 4 or 5 dims";
    switch (view.shape.rank) {
      case 3:
        if (view.format == ACL_FORMAT_NCL || (check.low == 0 && view.format == ACL_FORMAT_ND)) continue;
        accepted = check.low == 0 ? "NCL or ND" : "NCL";
        break;
      case 4:
        if (view.format == ACL_FORMAT_NCHW) continue;
        accepted = "NCHW";
        break;
      case 5:
        if (view.format == ACL_FORMAT_NCDHW) continue;
        accepted = "NCDHW";
        break;
      default:
        break;
    }
    return RefuseTensor(check, call, tensor, " has a format that is not its rank's", accepted);
  }
  return ACL_SUCCESS;
}

aclnnStatus RefuseTensor(const Check& check, const OperatorCall& call, int tensor, const char* wrong,
                         const char* accepted) noexcept {
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor).Add(wrong).Add(", accepted: ");
  return FailAclnn(check.code, message.Add(accepted).Add("."));
}

engine::ConvolutionOperand OperandOf(const OperatorCall& call, int tensor, const Dims& dims) noexcept {
  const StridedView view = PlainView(call.Tensor(tensor));
  const auto step = [&](int dim) { return ByteStride(view, dim); };
  engine::ConvolutionOperand operand{};
  operand.argument = static_cast<int8_t>(tensor);
  operand.dtype = view.dtype;
  operand.offset = ByteOffset(view);
  operand.outer = step(dims.outer);
  operand.inner = step(dims.inner);
  const int axes = view.shape.rank - 2;
  for (int i = 0; i < axes; ++i) operand.axis[engine::kPatchAxes - axes + i] = step(dims.first_axis + i);
  return operand;
}

engine::Convolution ConvolutionOf(const OperatorCall& call, int x, int w, int y, int64_t groups,
                                  const Attributes& attributes) noexcept {
  const Shape& of_x = call.Tensor(x).shape;
  const Shape& of_w = call.Tensor(w).shape;
  const Shape& of_y = call.Tensor(y).shape;
  engine::Convolution convolution{};
  convolution.images = of_x[0];
  convolution.groups = groups;
  convolution.x_channels = of_x[1] / groups;
  convolution.y_channels = of_y[1] / groups;
  const int axes = of_x.rank - 2;
  for (int i = 0; i < axes; ++i) {
    const Axis axis = AxisOf(call, attributes, i);
    convolution.axis[engine::kPatchAxes - axes + i] = {.x = of_x[2 + i],
                                                       .y = of_y[2 + i],
                                                       .kernel = of_w[2 + i],
                                                       .stride = axis.stride,
                                                       .padding = axis.padding[0],
                                                       .dilation = axis.dilation};
  }
  convolution.x = OperandOf(call, x);
  convolution.y = OperandOf(call, y);
  convolution.w = OperandOf(call, w);
  return convolution;
}

void SetAdded(const OperatorCall& call, int tensor, engine::Convolution& convolution) noexcept {
  const StridedView view = PlainView(call.Tensor(tensor));
  convolution.adds = true;
  convolution.added.argument = static_cast<int8_t>(tensor);
  convolution.added.dtype = view.dtype;
  convolution.added.offset = ByteOffset(view);
  convolution.added.inner = ByteStride(view, 0);
}

namespace {

// Contents of the executor's memory.
struct SumAndZeros {
  engine::ReductionJob sum;
  engine::Move zeros;
};

// Computes the gradients of an image and of a weight, and the sum that is the bias's gradient.
struct GradientsJob {
  static constexpr int kMostOperands = 8;

  engine::Convolution image;
  engine::Convolution weight;
  engine::ConvolutionResult image_result;
  bool has_image;
  bool has_weight;
  bool has_sum;
  int8_t zeroed;  // operand that becomes 0, or -1
  bool touched[kMostOperands];
  Isa isa;
  int threads;
  int64_t elements;

  bool Touches(int operand) const noexcept { return operand < kMostOperands && touched[operand]; }
  int64_t Elements() const noexcept { return elements; }
  void Run(const JobContext& context) const noexcept {
    if (has_image) engine::ConvolutionJob{image, image_result, isa, threads}.Run(context.addresses, nullptr);
    if (has_weight) {
      engine::ConvolutionJob{weight, engine::ConvolutionResult::kW, isa, threads}.Run(context.addresses,
                                                                                      nullptr);
    }
    if (!has_sum) return;
    const auto& more = *reinterpret_cast<const SumAndZeros*>(context.memory);
    more.sum.Run(context.addresses, context.workspace);
    constexpr char kZero[sizeof(float)] = {};
    if (zeroed >= 0) more.zeros.Run(kZero, static_cast<char*>(context.addresses[zeroed]));
  }
};

// Makes the sum over all dims but the channels.
bool MakeSum(const OperatorCall& call, const Gradients& gradients, Executor& executor) {
  std::byte* const memory = executor.ReserveMemory(sizeof(SumAndZeros));
  if (memory == nullptr) return false;
  const aclTensor& summed = call.Tensor(gradients.summed);
  Shape kept = summed.shape;
  for (int dim = 0; dim < kept.rank; ++dim) kept.dim[dim] = dim == gradients.channels ? kept[dim] : 1;
  const TensorArgument tensors[] = {{"summed", &summed}, {"bias", &call.Tensor(gradients.bias)}};
  OperatorCall sum = call;
  sum.tensors = tensors;
  sum.promoted = ACL_FLOAT;
  auto* const made = new (memory)
      SumAndZeros{MakeReductionJob(sum, summed.shape, kept, {0}, 1, /*factor=*/1.0f, executor), {}};
  engine::ReductionJob& job = made->sum;
  job.formula.Set(TermKernels(call.isa), engine::NoParameters());
  job.formula.argument[0] = static_cast<int8_t>(gradients.summed);
  job.output_argument = static_cast<int8_t>(gradients.bias);
  if (gradients.zeroed >= 0) {
    const aclTensor& zeroed = call.Tensor(gradients.zeroed);
    StridedView one;
    one.dtype = zeroed.dtype;
    made->zeros = engine::MakeMove(one, zeroed, call.isa, call.threads);
  }
  return true;
}

}  // namespace

void SetGradientsJob(const OperatorCall& call, const Gradients& gradients, Executor& executor) noexcept {
  const bool has_sum = gradients.bias >= 0;
  if (has_sum && !MakeSum(call, gradients, executor)) return;
  executor.SetJob([&] {
    GradientsJob job{};
    job.isa = call.isa;
    job.threads = call.threads;
    job.has_sum = has_sum;
    job.zeroed = static_cast<int8_t>(gradients.zeroed);
    job.image_result = gradients.image_result;
    const auto add = [&](const engine::Convolution* convolution, engine::Convolution& to, bool& has) {
      has = convolution != nullptr;
      if (!has) return;
      to = *convolution;
      for (const auto* operand : {&to.x, &to.y, &to.w}) job.touched[operand->argument] = true;
      job.elements +=
          engine::ConvolutionJob{to, engine::ConvolutionResult::kW, job.isa, job.threads}.Elements();
    };
    add(gradients.of_image, job.image, job.has_image);
    add(gradients.of_weight, job.weight, job.has_weight);
    if (has_sum) {
      job.touched[gradients.summed] = job.touched[gradients.bias] = true;
      job.elements += call.Tensor(gradients.summed).numel;
    }
    if (gradients.zeroed >= 0) {
      job.touched[gradients.zeroed] = true;
      job.elements += call.Tensor(gradients.zeroed).numel;
    }
    return job;
  });
}

void SetConvolutionJob(const engine::Convolution& convolution, engine::ConvolutionResult result,
                       Executor& executor) noexcept {
  executor.SetJob([&] {
    return engine::ConvolutionJob{convolution, result, executor.isa, executor.threads};
  });
}

}  // namespace portacl::convolution
