// Gradients of convolutions: what phase 1 answers, and every element against the definition.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_convolution_backward.h"
#include "convolution_calls.h"
#include "gtest/gtest.h"
#include "support/ordered_sum.h"
#include "support/rules.h"

namespace portacl::testing {
namespace {

bool IsTransposed(const PlanCall& call) { return call["transposed"].integer != 0; }
bool IsWanted(const PlanCall& call, size_t gradient) { return call["outputMask"].values[gradient] != 0; }
bool IsSinceA2(const PlanCall& call) {
  return call.product == Product::kA2 || call.product == Product::kA3 || call.product == Product::k950;
}
bool IsEmptyCall(PlanCall& call) {
  return IsSinceA2(call) && NumElements(call["input"].shape) * NumElements(call["weight"].shape) == 0;
}

ConvolutionGeometry GeometryOf(const PlanCall& call) {
  std::vector<int64_t> output_padding = call["outputPadding"].values;
  const size_t axes = call["stride"].values.size();
  if (output_padding.size() == 2 * axes) {
    for (size_t i = 0; i < axes; ++i) output_padding[i] = output_padding[2 * i] + output_padding[2 * i + 1];
    output_padding.resize(axes);
  }
  return ConvolutionGeometry::Of(call["stride"].values, call["padding"].values, call["dilation"].values,
                                 output_padding, call["groups"].integer);
}

bool HasLess(PlanCall& call, const std::string& name, int64_t least) {
  return std::any_of(call[name].values.begin(), call[name].values.end(),
                     [=](int64_t value) { return value < least; });
}

constexpr const char* kGradients[] = {"gradInput", "gradWeight", "gradBias"};

Rule WhenEmpty(const Rule& rule) {
  return [=](PlanCall& call) { return IsEmptyCall(call) ? rule(call) : std::nullopt; };
}
Rule Sized(const std::string& name, bool or_four) {
  return Refuses(161002, name, [=](PlanCall& call) {
    const size_t axes = call["input"].shape.size() - 2;
    const size_t size = call[name].values.size();
    return size != axes && !(or_four && axes == 2 && size == 4);
  });
}

bool HasResultsAxes(PlanCall& call) {
  const ConvolutionGeometry geometry = GeometryOf(call);
  for (size_t i = 0; i + 2 < call["input"].shape.size(); ++i) {
    const int64_t input = call["input"].shape[2 + i];
    const int64_t kernel = call["weight"].shape[2 + i];
    const int64_t found = call["gradOutput"].shape[2 + i];
    if (IsTransposed(call)) {
      if (found != geometry.LengthOfX(i, input, kernel)) return false;
    } else if (!geometry.KernelFits(i, input, kernel) || found != geometry.LengthOfY(i, input, kernel)) {
      return false;
    }
  }
  return true;
}

Rules Checks() {
  Rules rules = {
      NoNulls("gradOutput input weight stride padding dilation outputPadding outputMask"),
      Refuses(161001, "outputMask", [](PlanCall& call) { return call["outputMask"].values.size() != 3; })};
  for (size_t i = 0; i < 3; ++i) {
    rules.push_back(Refuses(161001, kGradients[i],
                            [=](PlanCall& call) { return IsWanted(call, i) && call[kGradients[i]].null; }));
  }
  rules.push_back(DtypeIn("gradOutput input weight", kFloats));
  for (const char* name : kGradients) rules.push_back(Given(name, DtypeIn(name, kFloats)));
  const char* const models[] = {"input", "weight", "gradOutput"};
  for (size_t i = 0; i < 3; ++i) {
    rules.push_back(Refuses(161002, kGradients[i], [=](PlanCall& call) {
      return call.product == Product::k950 && !call[kGradients[i]].null &&
             call[kGradients[i]].dtype != call[models[i]].dtype;
    }));
  }
  for (const char* name : {"gradOutput", "input", "weight", "gradInput", "gradWeight"}) {
    rules.push_back(Given(name, Refuses(161002, name, [=](PlanCall& call) {
                            const size_t rank = call[name].shape.size();
                            const int32_t format = call[name].format;
                            if (rank == 3) return format != ACL_FORMAT_ND && format != ACL_FORMAT_NCL;
                            if (rank == 4) return format != ACL_FORMAT_NCHW;
                            return rank != 5 || format != ACL_FORMAT_NCDHW;
                          })));
  }
  const Rules values = {
      Refuses(161002, "gradBias",
              [](PlanCall& call) {
                return IsSinceA2(call) && !IsTransposed(call) && !call["gradBias"].null &&
                       call["gradBias"].format != ACL_FORMAT_ND;
              }),
      Refuses(161002, "stride", [](PlanCall& call) { return HasLess(call, "stride", 1); }),
      Refuses(161002, "dilation", [](PlanCall& call) { return HasLess(call, "dilation", 1); }),
      Refuses(161002, "padding", [](PlanCall& call) { return HasLess(call, "padding", 0); }),
      Refuses(161002, "outputPadding",
              [](PlanCall& call) {
                const std::vector<int64_t>& values_there = call["outputPadding"].values;
                const std::vector<int64_t>& stride = call["stride"].values;
                for (size_t i = 0; i < values_there.size(); ++i) {
                  if (!IsTransposed(call) && values_there[i] != 0) return true;
                  if (values_there[i] < 0) return true;
                  if (IsTransposed(call) && call["input"].shape.size() == 5 && i < stride.size() &&
                      values_there[i] >= stride[i])
                    return true;
                }
                return false;
              }),
      Refuses(161002, "groups", [](PlanCall& call) { return call["groups"].integer < 1; }),
      Refuses(161002, "cubeMathType",
              [](PlanCall& call) {
                return call["cubeMathType"].integer < 0 || call["cubeMathType"].integer > 3;
              }),
      // Input or weight empty.
      WhenEmpty(Refuses(161002, "biasSizes",
                        [](PlanCall& call) {
                          const int64_t channels = IsTransposed(call)
                                                       ? call["weight"].shape[1] * call["groups"].integer
                                                       : call["gradOutput"].shape[1];
                          return IsWanted(call, 2) &&
                                 (call["biasSizes"].null ||
                                  call["biasSizes"].values != std::vector<int64_t>{channels});
                        })),
      WhenEmpty(Refuses(161002, "input",
                        [](PlanCall& call) {
                          return IsWanted(call, 0) && call["input"].shape[0] != 0 &&
                                 call["input"].shape[1] != 0;
                        })),
      WhenEmpty(Sized("stride", false)),
      WhenEmpty(Sized("dilation", false)),
      WhenEmpty(Sized("padding", true)),
      WhenEmpty(Sized("outputPadding", true)),
      WhenEmpty(Refuses(161002, "weight",
                        [](PlanCall& call) {
                          const Shape& weight = call["weight"].shape;
                          const Shape& input = call["input"].shape;
                          const int64_t groups = call["groups"].integer;
                          if (weight[0] % groups != 0) return true;
                          const int64_t channels =
                              IsTransposed(call) ? call["gradOutput"].shape[1] : input[1];
                          const bool is_left_out =
                              (channels == 0 && weight[1] == 0) || (IsTransposed(call) && input[0] == 0);
                          if (!is_left_out && channels != weight[1] * groups) return true;
                          if (IsTransposed(call)) return weight[0] == 0 || weight[0] != input[1];
                          const ConvolutionGeometry geometry = GeometryOf(call);
                          for (size_t i = 2; i < std::min(input.size(), weight.size()); ++i)
                            if (!geometry.KernelFits(i - 2, input[i], weight[i])) return true;
                          return false;
                        })),
      SucceedsIf([](PlanCall& call) { return IsEmptyCall(call); }),
      // Neither.
      Refuses(161002, "gradOutput weight",
              [](PlanCall& call) {
                const size_t rank = call["input"].shape.size();
                return call["weight"].shape.size() != rank || call["gradOutput"].shape.size() != rank;
              }),
      Refuses(161002, "gradOutput weight",
              [](PlanCall& call) {
                return NumElements(call["gradOutput"].shape) * NumElements(call["weight"].shape) == 0;
              }),
      Given("gradInput", SameShape("input", "gradInput")),
      Given("gradWeight", SameShape("weight", "gradWeight")),
      Given("gradBias", Refuses(161002, "gradBias",
                                [](PlanCall& call) {
                                  const Shape& weight = call["weight"].shape;
                                  return call["gradBias"].shape !=
                                         Shape{IsTransposed(call) ? weight[1] * call["groups"].integer
                                                                  : weight[0]};
                                })),
      Sized("stride", false),
      Sized("dilation", false),
      Sized("padding", true),
      Sized("outputPadding", true),
      Refuses(161002, "weight",
              [](PlanCall& call) {
                const Shape& weight = call["weight"].shape;
                const int64_t groups = call["groups"].integer;
                const Shape& x = call[IsTransposed(call) ? "gradOutput" : "input"].shape;
                const Shape& y = call[IsTransposed(call) ? "input" : "gradOutput"].shape;
                return weight[0] % groups != 0 || weight[0] != y[1] || weight[1] * groups != x[1];
              }),
      Refuses(161002, "gradOutput",
              [](PlanCall& call) { return call["input"].shape.size() == 5 && !HasResultsAxes(call); }),
      Refuses(161002, "gradWeight",
              [](PlanCall& call) {
                if (call.product != Product::kA2 && call.product != Product::kA3) return false;
                if (call["input"].shape.size() != 5 || !IsWanted(call, 1) || call["groups"].integer == 1 ||
                    call["gradWeight"].dtype != ACL_FLOAT)
                  return false;
                const DtypeNumber a = call["gradOutput"].dtype, b = call["input"].dtype,
                                  c = call["weight"].dtype;
                const bool is_narrow = a == b && b == c && a != ACL_FLOAT;
                return is_narrow || call["cubeMathType"].integer == 2;
              }),
      Refuses(561103, "gradOutput",
              [](PlanCall& call) {
                return call["gradOutput"].shape[0] != call["input"].shape[0] || !HasResultsAxes(call);
              }),
  };
  rules.insert(rules.end(), values.begin(), values.end());
  return rules;
}

std::vector<Outcome> Oracle(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const ConvolutionGeometry geometry = GeometryOf(call);
  size_t next = 3;
  const TensorValues* outputs[3];
  for (size_t i = 0; i < 3; ++i) outputs[i] = &tensors[next++];
  const auto is_empty = NumElements(tensors[1].shape) * NumElements(tensors[2].shape) == 0;
  const FloatTensor gradient(tensors[0]);
  const FloatTensor input(tensors[1]);
  const FloatTensor weight(tensors[2]);
  Shape channels(gradient.shape.size(), 1);
  channels[1] = gradient.shape[1];
  const std::vector<double> sums = OrderedSums(gradient.shape, gradient.numbers, channels);
  std::vector<Outcome> outcomes;
  for (size_t i = 0; i < 3; ++i) {
    const auto& output = *outputs[i];
    if (!IsWanted(call, i)) {
      outcomes.emplace_back();
      continue;
    }
    outcomes.push_back(ForEachElement(output.shape, [&](Index& index) -> std::optional<Element> {
      if (is_empty) return Rounded(output.dtype, 0);
      float value = 0;
      if (i == 0) {
        value = IsTransposed(call) ? ElementOfY(geometry, gradient, weight, index)
                                   : ElementOfX(geometry, gradient, weight, index);
      } else if (i == 1) {
        value = IsTransposed(call) ? ElementOfW(geometry, gradient, input, index, output.shape[1])
                                   : ElementOfW(geometry, input, gradient, index, output.shape[1]);
      } else {
        // One rounding of the float64 sum.
        Element element(static_cast<size_t>(ElementSize(output.dtype)));
        EncodeElement(output.dtype, sums[static_cast<size_t>(index[0])], element.data());
        return element;
      }
      return Rounded(output.dtype, value);
    }));
  }
  return outcomes;
}

void SetShape(PlanArgument& argument, const Shape& shape) {
  argument.shape = shape;
  argument.format = FormatOf(shape);
}

OperatorSpec Described(const Shape& x, const Shape& weight, const Shape& y, bool is_transposed,
                       int64_t output_padding = 0) {
  const std::vector<int64_t> ones(x.size() - 2, 1), zeros(x.size() - 2, 0);
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnConvolutionBackward);
  const Shape& gradient = is_transposed ? x : y;
  const Shape& input = is_transposed ? y : x;
  op.valid = {TensorArg("gradOutput", gradient),
              TensorArg("input", input),
              TensorArg("weight", weight),
              ArrayArg("biasSizes", {gradient[1]}),
              ArrayArg("stride", std::vector<int64_t>(x.size() - 2, output_padding + 1)),
              ArrayArg("padding", zeros),
              ArrayArg("dilation", ones),
              IntegerArg("transposed", is_transposed ? 1 : 0),
              ArrayArg("outputPadding", std::vector<int64_t>(x.size() - 2, output_padding)),
              IntegerArg("groups", 1),
              ArrayArg("outputMask", {1, 1, 1}),
              IntegerArg("cubeMathType", 1),
              OutputArg("gradInput", input),
              OutputArg("gradWeight", weight),
              OutputArg("gradBias", {gradient[1]})};
  for (PlanArgument& one : op.valid) {
    if (one.kind == ParameterKind::kTensor && one.shape.size() > 1) SetShape(one, one.shape);
  }
  op.takes_workspace = true;
  op.rules = Checks();
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const bool transposed = random.Chance(40);
    DrawnConvolution drawn = DrawConvolution(random, transposed, /*has_negative_padding=*/false);
    while (transposed && drawn.x.size() == 5 &&
           std::any_of(drawn.stride.begin(), drawn.stride.end(), [&](const int64_t& stride) {
             return drawn.output_padding[static_cast<size_t>(&stride - drawn.stride.data())] >= stride;
           }))
      drawn = DrawConvolution(random, transposed, false);
    const bool has_two = drawn.padding.size() != drawn.stride.size();
    // Of one axis two values are not accepted here.
    if (has_two && drawn.stride.size() == 1) {
      drawn.x[2] += drawn.padding[1] - drawn.padding[0];
      if (drawn.x[2] < 1) return;
      drawn.padding.resize(1);
    }
    SetShape(call["input"], transposed ? drawn.y : drawn.x);
    SetShape(call["weight"], drawn.w);
    SetShape(call["gradOutput"], transposed ? drawn.x : drawn.y);
    SetShape(call["gradInput"], call["input"].shape);
    SetShape(call["gradWeight"], call["weight"].shape);
    call["gradBias"].shape = {call["gradOutput"].shape[1]};
    call["biasSizes"].values = call["gradBias"].shape;
    call["stride"].values = drawn.stride;
    call["padding"].values = drawn.padding;
    call["dilation"].values = drawn.dilation;
    call["transposed"].integer = transposed ? 1 : 0;
    call["outputPadding"].values =
        transposed ? drawn.output_padding : std::vector<int64_t>(drawn.stride.size(), 0);
    call["groups"].integer = drawn.groups;
    DrawDtypes(call, random);
    if (call["gradWeight"].dtype == ACL_FLOAT) call["input"].dtype = ACL_FLOAT;
    for (size_t i = 0; i < 3; ++i) {
      call["outputMask"].values[i] = random.Chance(75);
      call[kGradients[i]].null = call["outputMask"].values[i] == 0 && random.Chance(50);
    }
  };
  op.oracle = Oracle;
  op.fill = FillNumbers;
  op.is_inexact = true;
  return op;
}

// ---- aclnnConvTbcBackward ----

OperatorSpec TbcBackward() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnConvTbcBackward);
  op.valid = {TensorArg("self", {4, 2, 4}),
              TensorArg("input", {6, 2, 3}),
              TensorArg("weight", {3, 3, 4}),
              TensorArg("bias", {4}),
              IntegerArg("pad", 0),
              IntegerArg("cubeMathType", 1),
              OutputArg("gradInput", {6, 2, 3}),
              OutputArg("gradWeight", {3, 3, 4}),
              OutputArg("gradBias", {4})};
  op.takes_workspace = true;
  op.rules = {
      NoNulls("self input weight bias gradInput gradWeight gradBias"),
      DtypeIn("bias gradBias", kFloats),
      DtypeIn("self", kFloats),
      SameDtype("self", "input"),
      SameDtype("self", "weight"),
      SameDtype("self", "gradInput"),
      SameDtype("self", "gradWeight"),
      Ranks("self input weight gradInput gradWeight", 3, 3),
      Ranks("bias gradBias", 1, 1),
      Refuses(161002, "self input weight bias gradInput gradWeight gradBias",
              [](PlanCall& call) {
                return std::any_of(call.arguments.begin(), call.arguments.end(), [](const PlanArgument& one) {
                  return one.kind == ParameterKind::kTensor && one.format != ACL_FORMAT_ND &&
                         one.format != ACL_FORMAT_NCL;
                });
              }),
      Refuses(161002, "pad weight bias self",
              [](PlanCall& call) {
                const Shape& input = call["input"].shape;
                const Shape& weight = call["weight"].shape;
                const int64_t pad = call["pad"].integer;
                if (NumElements(weight) == 0) return false;  // then the rest may be anything
                return pad < 0 || weight[1] != input[2] || call["bias"].shape[0] != weight[2] ||
                       weight[0] < 1 || input[0] + pad < weight[0] ||
                       call["self"].shape != Shape{input[0] + 2 * pad - weight[0] + 1, input[1], weight[2]};
              }),
      SameShape("input", "gradInput"),
      SameShape("weight", "gradWeight"),
      SameShape("bias", "gradBias"),
      Refuses(161002, "cubeMathType", [](PlanCall& call) {
        const int64_t mode = call["cubeMathType"].integer;
        if (mode < 0 || mode > 3) return true;
        return !IsSinceA2(call) && call["self"].dtype == ACL_FLOAT && mode != 1 && mode != 2;
      })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t kernel = random.Between(1, 4), pad = random.Between(0, 3);
    const int64_t time = std::max<int64_t>(1, kernel - pad) + random.Below(20);
    const int64_t batch = random.Chance(5) ? 0 : random.Between(1, 4);
    const int64_t channels = random.Chance(8) ? 0 : random.Between(1, 20),
                  results = random.Chance(10) ? 70 : random.Between(1, 8);
    call["input"].shape = call["gradInput"].shape = {time, batch, channels};
    call["weight"].shape = call["gradWeight"].shape = {kernel, channels, results};
    call["bias"].shape = call["gradBias"].shape = {results};
    call["pad"].integer = pad;
    call["self"].shape = {time + 2 * pad - kernel + 1, batch, results};
    if (random.Chance(15)) {
      // No weight: nothing has to go together.
      Shape& weight = call["weight"].shape;
      weight[static_cast<size_t>(random.Below(3))] = 0;
      call["gradWeight"].shape = weight;
      call["self"].shape = {random.Between(0, 5), random.Between(0, 3), random.Chance(50) ? results : 3};
      if (random.Chance(50)) call["input"].shape = call["gradInput"].shape = {time, batch, 2};
    }
    const DtypeNumber dtype = DrawDtype(random, kMatrixDtypes);
    for (const char* name : {"self", "input", "weight", "gradInput", "gradWeight"}) call[name].dtype = dtype;
    call["gradBias"].dtype = DrawDtype(random, kMatrixDtypes);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const FloatTensor gradient(tensors[0]), input(tensors[1]), weight(tensors[2]);
    const int64_t pad = call["pad"].integer;
    const bool has_weight = NumElements(weight.shape) > 0;
    const int64_t kernel = has_weight ? weight.shape[0] : 0;
    const auto biases = static_cast<size_t>(call["bias"].shape[0]);
    const std::vector<double> sums =
        NumElements(gradient.shape) == 0 || biases != static_cast<size_t>(gradient.shape[2])
            ? std::vector<double>(biases, 0)
            : OrderedSums(gradient.shape, gradient.numbers, {1, 1, gradient.shape[2]});
    return std::vector<Outcome>{
        ForEachElement(input.shape,
                       [&](Index& index) -> std::optional<Element> {
                         BlockedSum sum = SumOf(weight, gradient);
                         for (int64_t channel = 0; channel < gradient.shape[2]; ++channel) {
                           for (int64_t k = 0; k < kernel; ++k) {
                             const int64_t time = index[0] + pad - k;
                             const bool is_inside = time >= 0 && time < gradient.shape[0];
                             sum.AddTerm(weight.At({k, index[2], channel}),
                                         is_inside ? gradient.At({time, index[1], channel}) : 0.0f);
                           }
                         }
                         return Rounded(tensors[4].dtype, sum.Result());
                       }),
        ForEachElement(weight.shape,
                       [&](Index& index) -> std::optional<Element> {
                         BlockedSum sum = SumOf(gradient, input);
                         for (int64_t image = 0; image < input.shape[1]; ++image) {
                           for (int64_t position = 0; position < gradient.shape[0]; ++position) {
                             const int64_t time = position + index[0] - pad;
                             const bool is_inside = time >= 0 && time < input.shape[0];
                             sum.AddTerm(gradient.At({position, image, index[2]}),
                                         is_inside ? input.At({time, image, index[1]}) : 0.0f);
                           }
                         }
                         return Rounded(tensors[5].dtype, sum.Result());
                       }),
        ForEachElement(tensors[6].shape, [&](Index& index) -> std::optional<Element> {
          Element element(static_cast<size_t>(ElementSize(tensors[6].dtype)));
          EncodeElement(tensors[6].dtype, sums[static_cast<size_t>(index[0])], element.data());
          return element;
        })};
  };
  op.fill = FillNumbers;
  op.is_inexact = true;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> operators = {
      TbcBackward(), Described({2, 3, 5, 4}, {4, 3, 2, 3}, {2, 4, 4, 2}, false)};
  return operators;
}

PORTACL_OPERATOR_TESTS(ConvolutionGradients, Operators());

// What phase 1 answers around other valid calls.
TEST(ConvolutionBackwardContract, OfOneAxisOfThreeAndTransposed) {
  for (const OperatorSpec& op : {Described({2, 3, 6}, {4, 3, 3}, {2, 4, 4}, false),
                                 Described({2, 3, 3, 3, 3}, {2, 3, 2, 1, 3}, {2, 2, 2, 3, 1}, false),
                                 Described({2, 2, 4, 6}, {3, 2, 2, 3}, {2, 3, 3, 4}, true),
                                 Described({2, 2, 5, 4, 4}, {3, 2, 2, 1, 1}, {2, 3, 2, 2, 2}, true, 1),
                                 Described({0, 3, 6}, {4, 3, 3}, {0, 4, 4}, false),
                                 Described({2, 0, 5, 4}, {4, 0, 2, 3}, {2, 4, 4, 2}, false),
                                 Described({0, 2, 4, 6}, {3, 2, 2, 3}, {0, 3, 3, 4}, true)})
    CheckContract(op);
}

}  // namespace
}  // namespace portacl::testing
