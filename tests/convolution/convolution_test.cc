// Convolutions: what phase 1 answers, and every element against the definition.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_convolution.h"
#include "convolution_calls.h"
#include "gtest/gtest.h"

namespace portacl::testing {
namespace {

ConvolutionGeometry GeometryOf(const PlanCall& call) {
  return ConvolutionGeometry::Of(
      call["stride"].values, call["padding"].values, call["dilation"].values,
      call["transposed"].integer != 0 ? call["outputPadding"].values : std::vector<int64_t>(),
      call["groups"].integer);
}

bool IsTransposed(PlanCall& call) { return call["transposed"].integer != 0; }

bool IsArrayWrong(PlanCall& call, const std::string& name, int64_t least) {
  return std::any_of(call[name].values.begin(), call[name].values.end(),
                     [=](int64_t value) { return value < least; });
}

Rule Sized(const std::string& name) {
  return Refuses(161002, name,
                 [=](PlanCall& call) { return call[name].values.size() != call["input"].shape.size() - 2; });
}

template <class F>
bool AnyAxis(PlanCall& call, const F& f) {
  for (size_t i = 0; i < call["stride"].values.size(); ++i)
    if (f(i)) return true;
  return false;
}

Shape ResultOf(PlanCall& call) {
  const ConvolutionGeometry geometry = GeometryOf(call);
  const Shape& input = call["input"].shape;
  const Shape& weight = call["weight"].shape;
  Shape result = {input[0], IsTransposed(call) ? weight[1] * geometry.groups : weight[0]};
  for (size_t i = 0; i < input.size() - 2; ++i) {
    result.push_back(IsTransposed(call) ? geometry.LengthOfX(i, input[2 + i], weight[2 + i])
                                        : geometry.LengthOfY(i, input[2 + i], weight[2 + i]));
  }
  return result;
}

Rules Checks() {
  const auto is_new = [](PlanCall& call) {
    return call.product == Product::kA2 || call.product == Product::kA3 || call.product == Product::k950;
  };
  return {
      NoNulls("input weight stride padding dilation output"),
      Refuses(161001, "outputPadding",
              [](PlanCall& call) { return IsTransposed(call) && call["outputPadding"].null; }),
      DtypeIn("input weight output", kFloats),
      [](PlanCall& call) -> std::optional<Verdict> {
        return call["bias"].null ? std::nullopt : DtypeIn("bias", kFloats)(call);
      },
      Ranks("input", 3, 5),
      Refuses(161002, "weight output",
              [](PlanCall& call) {
                const size_t rank = call["input"].shape.size();
                return call["weight"].shape.size() != rank || call["output"].shape.size() != rank;
              }),
      Refuses(161002, "bias",
              [](PlanCall& call) {
                const Shape& weight = call["weight"].shape;
                const int64_t channels = IsTransposed(call) ? weight[1] * call["groups"].integer : weight[0];
                return !call["bias"].null && call["bias"].shape != Shape{channels};
              }),
      Sized("stride"),
      Sized("dilation"),
      Refuses(161002, "padding",
              [](PlanCall& call) {
                const size_t axes = call["input"].shape.size() - 2;
                const size_t size = call["padding"].values.size();
                if (size == axes) return false;
                return size != 2 * axes || axes == 3 || (axes == 1 && IsTransposed(call));
              }),
      [](PlanCall& call) -> std::optional<Verdict> {
        return IsTransposed(call) ? Sized("outputPadding")(call) : std::nullopt;
      },
      Refuses(161002, "input weight output bias",
              [](PlanCall& call) {
                for (const char* name : {"input", "weight", "output"})
                  if (call[name].format != FormatOf(call[name].shape)) return true;
                const int32_t bias = call["bias"].format;
                return !call["bias"].null && bias != ACL_FORMAT_ND && bias != ACL_FORMAT_NCL &&
                       bias != ACL_FORMAT_NCHW && bias != ACL_FORMAT_NCDHW;
              }),
      Refuses(161002, "stride", [](PlanCall& call) { return IsArrayWrong(call, "stride", 1); }),
      Refuses(161002, "dilation", [](PlanCall& call) { return IsArrayWrong(call, "dilation", 1); }),
      Refuses(161002, "groups weight",
              [](PlanCall& call) {
                const int64_t groups = call["groups"].integer;
                const Shape& input = call["input"].shape;
                const Shape& weight = call["weight"].shape;
                if (groups < 1 || weight[0] % groups != 0) return true;
                if (IsTransposed(call)) return weight[0] != input[1] || input[1] == 0;
                return weight[1] * groups != input[1];
              }),
      Refuses(161002, "weight outputPadding",
              [](PlanCall& call) {
                const ConvolutionGeometry geometry = GeometryOf(call);
                return AnyAxis(call, [&](size_t i) {
                  const auto& axis = geometry.axes[i];
                  const int64_t kernel = call["weight"].shape[2 + i];
                  if (kernel < 1) return true;
                  if (!IsTransposed(call)) return !geometry.KernelFits(i, call["input"].shape[2 + i], kernel);
                  if (axis.output_padding < 0 ||
                      (axis.output_padding >= axis.stride && axis.output_padding >= axis.dilation))
                    return true;
                  const int64_t reach = axis.dilation * (kernel - 1);
                  return call.product != Product::k950 && reach - std::min(axis.before, axis.behind) > 255;
                });
              }),
      Refuses(161002, "output",
              [](PlanCall& call) {
                if (call["output"].shape != ResultOf(call)) return true;
                const bool is_empty =
                    NumElements(call["input"].shape) * NumElements(call["weight"].shape) == 0;
                return is_empty && NumElements(call["output"].shape) != 0;
              }),
      Refuses(161002, "cubeMathType",
              [=](PlanCall& call) {
                const int64_t mode = call["cubeMathType"].integer;
                if (mode < 0 || mode > (is_new(call) ? 4 : 3)) return true;
                const bool has_float = call["input"].dtype == ACL_FLOAT || call["weight"].dtype == ACL_FLOAT;
                return !is_new(call) && has_float && mode != 1 && mode != 2;
              }),
      Refuses(161002, "input",
              [](PlanCall& call) {
                return call.product == Product::k310B &&
                       (IsTransposed(call) || call["input"].shape.size() != 4);
              }),
      DoneIfEmpty("output"),
  };
}

std::vector<Outcome> Oracle(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const ConvolutionGeometry geometry = GeometryOf(call);
  const FloatTensor input(tensors[0]);
  const FloatTensor weight(tensors[1]);
  const bool has_bias = !call["bias"].null;
  const FloatTensor bias(has_bias ? tensors[2] : tensors[1]);
  const TensorValues& output = tensors[3];
  return {ForEachElement(output.shape, [&](Index& index) {
    float value = call["transposed"].integer != 0 ? ElementOfX(geometry, input, weight, index)
                                                  : ElementOfY(geometry, input, weight, index);
    if (has_bias) value = bias.numbers[static_cast<size_t>(index[1])] + value;
    return std::optional<Element>(Rounded(output.dtype, value));
  })};
}

PlanArgument Image(PlanArgument argument) {
  argument.format = FormatOf(argument.shape);
  return argument;
}

void SetShape(PlanArgument& argument, const Shape& shape) {
  argument.shape = shape;
  argument.format = FormatOf(shape);
}

OperatorSpec Described(const Shape& input, const Shape& weight, const Shape& output, bool is_transposed) {
  const std::vector<int64_t> ones(input.size() - 2, 1), zeros(input.size() - 2, 0);
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnConvolution);
  op.valid = {Image(TensorArg("input", input)),
              Image(TensorArg("weight", weight)),
              TensorArg("bias", {output[1]}),
              ArrayArg("stride", ones),
              ArrayArg("padding", zeros),
              ArrayArg("dilation", ones),
              IntegerArg("transposed", is_transposed ? 1 : 0),
              ArrayArg("outputPadding", zeros),
              IntegerArg("groups", 1),
              Image(OutputArg("output", output)),
              IntegerArg("cubeMathType", 1)};
  op.rules = Checks();
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const bool transposed = random.Chance(40);
    const DrawnConvolution drawn = DrawConvolution(random, transposed, /*has_negative_padding=*/true);
    SetShape(call["input"], transposed ? drawn.y : drawn.x);
    SetShape(call["weight"], drawn.w);
    SetShape(call["output"], transposed ? drawn.x : drawn.y);
    call["bias"].shape = {call["output"].shape[1]};
    call["bias"].null = random.Chance(50);
    call["stride"].values = drawn.stride;
    call["padding"].values = drawn.padding;
    call["dilation"].values = drawn.dilation;
    call["transposed"].integer = transposed ? 1 : 0;
    call["outputPadding"].values = drawn.output_padding;
    call["outputPadding"].null = !transposed && random.Chance(30);
    call["groups"].integer = drawn.groups;
    DrawDtypes(call, random);
  };
  op.oracle = Oracle;
  op.fill = FillNumbers;
  op.is_inexact = true;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> operators = {
      Described({2, 3, 5, 4}, {4, 3, 2, 3}, {2, 4, 4, 2}, false)};
  return operators;
}

PORTACL_OPERATOR_TESTS(Convolutions, Operators());

// What phase 1 answers around other valid calls.
TEST(ConvolutionContract, OfOneAxisOfThreeAndTransposed) {
  for (const OperatorSpec& op : {Described({2, 3, 6}, {4, 3, 3}, {2, 4, 4}, false),
                                 Described({2, 3, 3, 3, 3}, {2, 3, 2, 1, 3}, {2, 2, 2, 3, 1}, false),
                                 Described({2, 3, 3, 4}, {3, 2, 2, 3}, {2, 2, 4, 6}, true),
                                 Described({2, 3, 5}, {3, 2, 3}, {2, 2, 7}, true)})
    CheckContract(op);
}

}  // namespace
}  // namespace portacl::testing
