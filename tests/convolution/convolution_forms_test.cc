// ConvDepthwise2d and ConvTbc: what phase 1 answers, and every element against the definition.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_convolution.h"
#include "convolution_calls.h"
#include "gtest/gtest.h"

namespace portacl::testing {
namespace {

Rule TakesModeTo4(const std::string& name) {
  return Refuses(161002, "cubeMathType", [=](PlanCall& call) {
    const bool is_new =
        call.product == Product::kA2 || call.product == Product::kA3 || call.product == Product::k950;
    const int64_t mode = call["cubeMathType"].integer;
    if (mode < 0 || mode > (is_new ? 4 : 3)) return true;
    return !is_new && call[name].dtype == ACL_FLOAT && mode != 1 && mode != 2;
  });
}

// ---- aclnnConvDepthwise2d ----

ConvolutionGeometry DepthwiseGeometryOf(const PlanCall& call) {
  return ConvolutionGeometry::Of(call["stride"].values, call["padding"].values, call["dilation"].values, {},
                                 call["self"].shape[1]);
}

Rule HasTwo(const std::string& name) {
  return Refuses(161002, name, [=](PlanCall& call) { return call[name].values.size() != 2; });
}
Rule IfBias(const Rule& rule) {
  return [=](PlanCall& call) { return call["bias"].null ? std::nullopt : rule(call); };
}
Rule AtLeastOne(const std::string& name) {
  return Refuses(161002, name, [=](PlanCall& call) {
    return std::any_of(call[name].values.begin(), call[name].values.end(),
                       [](int64_t value) { return value < 1; });
  });
}

PlanArgument Image(PlanArgument argument) {
  argument.format = FormatOf(argument.shape);
  return argument;
}

OperatorSpec Depthwise() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnConvDepthwise2d);
  op.valid = {Image(TensorArg("self", {2, 3, 5, 4})),
              Image(TensorArg("weight", {6, 1, 2, 3})),
              ArrayArg("kernelSize", {2, 3}),
              TensorArg("bias", {6}),
              ArrayArg("stride", {1, 1}),
              ArrayArg("padding", {0, 0}),
              ArrayArg("dilation", {1, 1}),
              Image(OutputArg("out", {2, 6, 4, 2})),
              IntegerArg("cubeMathType", 1)};
  op.rules = {
      NoNulls("self weight kernelSize stride padding dilation out"),
      DtypeIn("self", kFloats),
      SameDtype("self", "weight"),
      IfBias(SameDtype("self", "bias")),
      SameDtype("self", "out"),
      Ranks("self weight out", 4, 4),
      IfBias(Refuses(161002, "bias",
                     [](PlanCall& call) { return call["bias"].shape != Shape{call["weight"].shape[0]}; })),
      HasTwo("kernelSize"),
      HasTwo("stride"),
      HasTwo("padding"),
      HasTwo("dilation"),
      Refuses(161002, "kernelSize weight",
              [](PlanCall& call) { return call["kernelSize"].values != Axes(call["weight"].shape); }),
      Refuses(161002, "self weight out bias",
              [](PlanCall& call) {
                for (const char* name : {"self", "weight", "out"})
                  if (call[name].format != ACL_FORMAT_NCHW) return true;
                return !call["bias"].null && call["bias"].format != ACL_FORMAT_ND &&
                       call["bias"].format != ACL_FORMAT_NCHW;
              }),
      AtLeastOne("stride"),
      AtLeastOne("dilation"),
      Refuses(161002, "weight",
              [](PlanCall& call) {
                const int64_t channels = call["self"].shape[1];
                const Shape& weight = call["weight"].shape;
                return channels == 0 || weight[0] % channels != 0 || weight[1] != 1;
              }),
      Refuses(161002, "weight",
              [](PlanCall& call) {
                const ConvolutionGeometry geometry = DepthwiseGeometryOf(call);
                for (size_t i = 0; i < 2; ++i) {
                  const int64_t kernel = call["weight"].shape[2 + i];
                  if (kernel < 1 || !geometry.KernelFits(i, call["self"].shape[2 + i], kernel)) return true;
                }
                return false;
              }),
      Refuses(161002, "out",
              [](PlanCall& call) {
                const ConvolutionGeometry geometry = DepthwiseGeometryOf(call);
                const Shape& self = call["self"].shape;
                const Shape& weight = call["weight"].shape;
                const Shape result = {self[0], weight[0], geometry.LengthOfY(0, self[2], weight[2]),
                                      geometry.LengthOfY(1, self[3], weight[3])};
                const bool is_empty = NumElements(self) * NumElements(weight) == 0;
                return call["out"].shape != result || (is_empty && NumElements(result) != 0);
              }),
      TakesModeTo4("self"),
      DoneIfEmpty("out")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawnConvolution drawn = DrawConvolution(random, false, true);
    while (drawn.x.size() != 4 || drawn.padding.size() != 2) drawn = DrawConvolution(random, false, true);
    drawn.w[0] = drawn.y[1] = drawn.x[1] * random.Between(1, 3);
    drawn.w[1] = 1;
    call["self"].shape = drawn.x;
    call["weight"].shape = drawn.w;
    call["out"].shape = drawn.y;
    call["kernelSize"].values = Axes(drawn.w);
    call["stride"].values = drawn.stride;
    call["padding"].values = drawn.padding;
    call["dilation"].values = drawn.dilation;
    call["bias"].shape = {drawn.y[1]};
    call["bias"].null = random.Chance(50);
    const DtypeNumber dtype = DrawDtype(random, kMatrixDtypes);
    for (const char* name : {"self", "weight", "bias", "out"}) call[name].dtype = dtype;
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const ConvolutionGeometry geometry = DepthwiseGeometryOf(call);
    const FloatTensor self(tensors[0]), weight(tensors[1]);
    const bool has_bias = !call["bias"].null;
    const FloatTensor bias(has_bias ? tensors[2] : tensors[1]);
    const TensorValues& out = tensors[3];
    return std::vector<Outcome>{ForEachElement(out.shape, [&](Index& index) {
      float value = ElementOfY(geometry, self, weight, index);
      if (has_bias) value = bias.numbers[static_cast<size_t>(index[1])] + value;
      return std::optional<Element>(Rounded(out.dtype, value));
    })};
  };
  op.fill = FillNumbers;
  op.is_inexact = true;
  return op;
}

// ---- aclnnConvTbc ----

OperatorSpec Tbc() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnConvTbc);
  op.valid = {TensorArg("self", {6, 2, 3}), TensorArg("weight", {3, 3, 4}), TensorArg("bias", {4}),
              IntegerArg("pad", 0),         OutputArg("output", {4, 2, 4}), IntegerArg("cubeMathType", 1)};
  op.rules = {NoNulls("self weight bias output"),
              DtypeIn("bias", kFloats),
              DtypeIn("self", kFloats),
              SameDtype("self", "weight"),
              SameDtype("self", "output"),
              Ranks("self weight output", 3, 3),
              Ranks("bias", 1, 1),
              Refuses(161002, "self weight bias output",
                      [](PlanCall& call) {
                        for (const char* name : {"self", "weight", "bias", "output"}) {
                          if (call[name].format != ACL_FORMAT_ND && call[name].format != ACL_FORMAT_NCL)
                            return true;
                        }
                        return false;
                      }),
              Refuses(161002, "pad weight bias output",
                      [](PlanCall& call) {
                        const Shape& self = call["self"].shape;
                        const Shape& weight = call["weight"].shape;
                        const int64_t pad = call["pad"].integer;
                        return pad < 0 || weight[1] != self[2] || call["bias"].shape[0] != weight[2] ||
                               weight[0] < 1 || self[0] + pad < weight[0] ||
                               call["output"].shape !=
                                   Shape{self[0] + 2 * pad - weight[0] + 1, self[1], weight[2]};
                      }),
              TakesModeTo4("self"),
              DoneIfEmpty("output")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t kernel = random.Between(1, 4), pad = random.Between(0, 3);
    const int64_t time = std::max<int64_t>(1, kernel - pad) + random.Below(20);
    const int64_t batch = random.Between(1, 4);
    const int64_t channels = random.Chance(8) ? 0 : random.Between(1, 100), results = random.Between(1, 8);
    call["self"].shape = {time, batch, channels};
    call["weight"].shape = {kernel, channels, results};
    call["bias"].shape = {results};
    call["pad"].integer = pad;
    call["output"].shape = {time + 2 * pad - kernel + 1, batch, results};
    const DtypeNumber dtype = DrawDtype(random, kMatrixDtypes);
    for (const char* name : {"self", "weight", "output"}) call[name].dtype = dtype;
    call["bias"].dtype = DrawDtype(random, kMatrixDtypes);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const FloatTensor self(tensors[0]), weight(tensors[1]), bias(tensors[2]);
    const TensorValues& out = tensors[3];
    return std::vector<Outcome>{ForEachElement(out.shape, [&](Index& index) {
      BlockedSum sum = SumOf(weight, self);
      for (int64_t channel = 0; channel < self.shape[2]; ++channel) {
        for (int64_t k = 0; k < weight.shape[0]; ++k) {
          const int64_t time = index[0] + k - call["pad"].integer;
          const bool is_inside = time >= 0 && time < self.shape[0];
          sum.AddTerm(weight.At({k, channel, index[2]}),
                      is_inside ? self.At({time, index[1], channel}) : 0.0f);
        }
      }
      const float added = bias.numbers[static_cast<size_t>(index[2])];
      return std::optional<Element>(Rounded(out.dtype, self.shape[2] == 0 ? added : added + sum.Result()));
    })};
  };
  op.fill = FillNumbers;
  op.is_inexact = true;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> operators = {Depthwise(), Tbc()};
  return operators;
}

PORTACL_OPERATOR_TESTS(ConvolutionForms, Operators());

}  // namespace
}  // namespace portacl::testing
