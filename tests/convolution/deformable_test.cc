// Convolutions whose kernel's positions offsets move, and their gradients: what phase 1 answers, and every element against the
// definition, loops over logical indices in float64.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "aclnnop/aclnn_deformable_conv2d.h"
#include "aclnnop/aclnn_deformable_conv2d_backward.h"
#include "engine/isa_in_use.h"
#include "gtest/gtest.h"
#include "support/both_phases.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/made.h"
#include "support/map_values.h"
#include "support/operator_spec.h"
#include "support/rules.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

using Index = std::vector<int64_t>;

const DtypeList kDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

// The names of a function's tensors.
struct Names {
  std::string x, weight, offset, bias, y, samples;
  bool is_gradient;
};
const Names kForward = {"x", "weight", "offset", "biasOptional", "out", "deformOutOptional", false};
const Names kBackward = {"input", "weight", "offset", "gradBias", "gradOutput", "offsetOut", true};

// Along one axis: the places of the kernel, or less than 1 where it is too long.
int64_t PlacesOf(const PlanCall& call, const Shape& x, size_t axis) {
  const int64_t padded =
      x[2 + axis] + call["padding"].values[2 * axis] + call["padding"].values[2 * axis + 1];
  const int64_t rest = padded - call["dilation"].values[2 + axis] * (call["kernelSize"].values[axis] - 1) - 1;
  return rest < 0 ? 0 : rest / call["stride"].values[2 + axis] + 1;
}

// ---- the definition ----

// How much of an element at `at` is in a value at p, and how much that changes with p, at an element as behind it.
double Share(double p, double at) { return std::max(0.0, 1 - std::fabs(p - at)); }
double SlopeOfShare(double p, double at) {
  return at > p && at <= p + 1 ? 1 : at > p - 1 && at <= p ? -1 : 0;
}

class Sample {
 public:
  Sample(const PlanCall& call, const std::vector<double>& offsets, const Shape& x, const Shape& offset_shape,
         const Index& at)
      : x_(x), groups_(call["deformableGroups"].integer), image_(at[0]), channel_(at[1]) {
    const auto& kernel = call["kernelSize"].values;
    const int64_t place[] = {at[2] / kernel[0], at[3] / kernel[1]};
    const int64_t position[] = {at[2] % kernel[0], at[3] % kernel[1]};
    const int64_t group = channel_ / (x[1] / groups_);
    for (int64_t kind = 0; kind < 3; ++kind) {
      const int64_t channel = ((kind * groups_ + group) * kernel[0] + position[0]) * kernel[1] + position[1];
      offset_at_[kind] = {image_, channel, place[0], place[1]};
      offset_[kind] = offsets[static_cast<size_t>(PositionOf(offset_shape, offset_at_[kind]))];
    }
    for (size_t axis = 0; axis < 2; ++axis)
      p_[axis] = static_cast<double>(place[axis] * call["stride"].values[2 + axis] +
                                     position[axis] * call["dilation"].values[2 + axis] -
                                     call["padding"].values[2 * axis]) +
                 offset_[axis == 0 ? 1 : 0];
  }

  double factor() const { return offset_[2]; }
  // Where dx, dy and the factor lie.
  const Index& offset_at(size_t kind) const { return offset_at_[kind]; }

  // Calls f(element, its share, and how much that changes with x and with y).
  void ForEachElement(const std::function<void(const Index&, double, double, double)>& f) const {
    for (int64_t y = 0; y < x_[2]; ++y) {
      const double at_y = Share(p_[0], static_cast<double>(y));
      const double slope_y = SlopeOfShare(p_[0], static_cast<double>(y));
      if (at_y == 0 && slope_y == 0) continue;
      for (int64_t x = 0; x < x_[3]; ++x) {
        const double at_x = Share(p_[1], static_cast<double>(x));
        const double slope_x = SlopeOfShare(p_[1], static_cast<double>(x));
        f({image_, channel_, y, x}, at_y * at_x, at_y * slope_x, slope_y * at_x);
      }
    }
  }

 private:
  const Shape& x_;
  int64_t groups_;
  int64_t image_;
  int64_t channel_;
  Index offset_at_[3];
  double offset_[3];
  double p_[2];
};

std::vector<double> NumbersOf(const TensorValues& tensor) {
  std::vector<double> numbers;
  for (const Element& element : tensor.elements)
    numbers.push_back(static_cast<double>(NumberOf(tensor.dtype, element.data()).real));
  return numbers;
}

double& At(std::vector<double>& numbers, const Shape& shape, const Index& index) {
  return numbers[static_cast<size_t>(PositionOf(shape, index))];
}

Outcome Rounded(DtypeNumber dtype, const std::vector<double>& numbers) {
  Outcome outcome;
  for (const double number : numbers) {
    Element element(static_cast<size_t>(ElementSize(dtype)));
    EncodeElement(dtype, number, element.data());
    outcome.emplace_back(std::move(element));
  }
  return outcome;
}

// Calls f for each index of a shape.
void ForEach(const Shape& shape, const std::function<void(const Index&)>& f) {
  for (int64_t position = 0; position < NumElements(shape); ++position) f(IndexAt(shape, position));
}

// Calls f(sample, element of out, of weight) for each product of the convolution.
void ForEachProduct(const PlanCall& call, const Shape& weight, const Shape& y,
                    const std::function<void(const Index&, const Index&, const Index&)>& f) {
  const int64_t groups = call["groups"].integer;
  const auto& kernel = call["kernelSize"].values;
  ForEach(y, [&](const Index& out) {
    const int64_t group = out[1] / (weight[0] / groups);
    for (int64_t c = 0; c < weight[1]; ++c) {
      for (int64_t i = 0; i < kernel[0]; ++i) {
        for (int64_t j = 0; j < kernel[1]; ++j)
          f({out[0], group * weight[1] + c, out[2] * kernel[0] + i, out[3] * kernel[1] + j}, out,
            {out[1], c, i, j});
      }
    }
  });
}

Shape SamplesOf(const PlanCall& call, const Shape& x, const Shape& y) {
  return {x[0], x[1], y[2] * call["kernelSize"].values[0], y[3] * call["kernelSize"].values[1]};
}

std::vector<Outcome> Oracle(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const Shape &x = tensors[0].shape, &weight = tensors[1].shape, &y = tensors[4].shape;
  if (NumElements(x) * NumElements(weight) * NumElements(tensors[2].shape) == 0) return {{}, {}};
  std::vector<double> image = NumbersOf(tensors[0]), factors = NumbersOf(tensors[1]),
                      offsets = NumbersOf(tensors[2]), bias = NumbersOf(tensors[3]);
  const Shape samples = SamplesOf(call, x, y);
  std::vector<double> sampled(static_cast<size_t>(NumElements(samples))),
      out(static_cast<size_t>(NumElements(y)));
  ForEach(samples, [&](const Index& at) {
    const Sample sample(call, offsets, x, tensors[2].shape, at);
    double value = 0;
    sample.ForEachElement(
        [&](const Index& element, double share, double, double) { value += share * At(image, x, element); });
    At(sampled, samples, at) = sample.factor() * value;
  });
  ForEachProduct(call, weight, y, [&](const Index& sample, const Index& at, const Index& factor) {
    At(out, y, at) += At(sampled, samples, sample) * At(factors, weight, factor);
  });
  if (!call["biasOptional"].null)
    ForEach(y, [&](const Index& at) { At(out, y, at) += bias[static_cast<size_t>(at[1])]; });
  std::vector<Outcome> outcomes = {Rounded(tensors[4].dtype, out), {}};
  if (!call["deformOutOptional"].null) outcomes[1] = Rounded(tensors[5].dtype, sampled);
  return outcomes;
}

std::vector<Outcome> GradientOracle(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const Shape &x = tensors[0].shape, &y = tensors[1].shape, &samples = tensors[2].shape,
              &weight = tensors[3].shape, &offset = tensors[4].shape;
  std::vector<double> image = NumbersOf(tensors[0]), gradient = NumbersOf(tensors[1]),
                      sampled = NumbersOf(tensors[2]), factors = NumbersOf(tensors[3]),
                      offsets = NumbersOf(tensors[4]);
  std::vector<double> of_samples(sampled.size()), of_weight(factors.size()), of_image(image.size()),
      of_offset(offsets.size()), of_bias(static_cast<size_t>(weight[0]));
  ForEachProduct(call, weight, y, [&](const Index& sample, const Index& at, const Index& factor) {
    At(of_samples, samples, sample) += At(gradient, y, at) * At(factors, weight, factor);
    At(of_weight, weight, factor) += At(gradient, y, at) * At(sampled, samples, sample);
  });
  ForEach(y, [&](const Index& at) { of_bias[static_cast<size_t>(at[1])] += At(gradient, y, at); });
  ForEach(samples, [&](const Index& at) {
    const Sample sample(call, offsets, x, offset, at);
    const double given = At(of_samples, samples, at);
    sample.ForEachElement([&](const Index& element, double share, double slope_x, double slope_y) {
      const double value = At(image, x, element);
      At(of_image, x, element) += given * sample.factor() * share;
      At(of_offset, offset, sample.offset_at(0)) += given * sample.factor() * slope_x * value;
      At(of_offset, offset, sample.offset_at(1)) += given * sample.factor() * slope_y * value;
      At(of_offset, offset, sample.offset_at(2)) += given * share * value;
    });
  });
  const DtypeNumber dtype = tensors[0].dtype;
  return {Rounded(dtype, of_image), Rounded(dtype, of_weight), Rounded(dtype, of_offset),
          Rounded(dtype, of_bias)};
}

// ---- rules ----

bool AreSteps(const std::vector<int64_t>& values) {
  return values.size() == 4 && values[0] == 1 && values[1] == 1 && values[2] > 0 && values[3] > 0;
}

// The formats, the attributes and the shapes, in CANN's order.
void AddRules(const Names& names, Rules& rules) {
  rules.push_back(Refuses(161002, "", [=](PlanCall& call) {
    const int32_t first = call[names.x].format;
    const bool is_nd = call.product != Product::k950 && first == ACL_FORMAT_ND;
    bool wrong = false;
    for (const PlanArgument& one : call.arguments) {
      if (one.kind != ParameterKind::kTensor || one.null) continue;
      const int32_t accepted = one.name == names.bias || is_nd ? ACL_FORMAT_ND : ACL_FORMAT_NCHW;
      wrong = wrong || one.format != accepted;
    }
    return wrong;
  }));
  rules.push_back(Refuses(161002, "kernelSize", [](PlanCall& call) {
    const auto& values = call["kernelSize"].values;
    return values.size() != 2 || values[0] < 1 || values[1] < 1 || values[0] * values[1] > 2048;
  }));
  rules.push_back(Refuses(161002, "stride", [](PlanCall& call) { return !AreSteps(call["stride"].values); }));
  rules.push_back(
      Refuses(161002, "dilation", [](PlanCall& call) { return !AreSteps(call["dilation"].values); }));
  rules.push_back(Refuses(161002, "padding", [=](PlanCall& call) {
    const auto& values = call["padding"].values;
    bool wrong = values.size() != 4;
    for (const int64_t value : values) wrong = wrong || (names.is_gradient && value < 0);
    return wrong;
  }));
  rules.push_back(Refuses(161002, "groups", [](PlanCall& call) { return call["groups"].integer < 1; }));
  rules.push_back(Refuses(161002, "deformableGroups",
                          [](PlanCall& call) { return call["deformableGroups"].integer < 1; }));
  rules.push_back(
      Refuses(161002, "modulated", [](PlanCall& call) { return call["modulated"].integer == 0; }));
  rules.push_back(Refuses(161002, "", [=](PlanCall& call) {
    bool wrong = false;
    for (const PlanArgument& one : call.arguments) {
      if (one.kind == ParameterKind::kTensor && !one.null)
        wrong = wrong || one.shape.size() != (one.name == names.bias ? 1U : 4U);
    }
    return wrong;
  }));
  rules.push_back(Refuses(161002, "", [=](PlanCall& call) {
    const Shape &x = call[names.x].shape, &weight = call[names.weight].shape;
    const int64_t groups = call["groups"].integer, offset_groups = call["deformableGroups"].integer;
    const auto& kernel = call["kernelSize"].values;
    const Shape places = {PlacesOf(call, x, 0), PlacesOf(call, x, 1)};
    if (x[1] % offset_groups != 0 || x[1] % groups != 0 || weight[0] % groups != 0 || places[0] < 1 ||
        places[1] < 1)
      return true;
    bool wrong = weight != Shape{weight[0], x[1] / groups, kernel[0], kernel[1]} ||
                 call[names.offset].shape !=
                     Shape{x[0], 3 * offset_groups * kernel[0] * kernel[1], places[0], places[1]} ||
                 call[names.y].shape != Shape{x[0], weight[0], places[0], places[1]};
    if (!call[names.bias].null) wrong = wrong || call[names.bias].shape != Shape{weight[0]};
    if (!call[names.samples].null)
      wrong = wrong ||
              call[names.samples].shape != Shape{x[0], x[1], places[0] * kernel[0], places[1] * kernel[1]};
    wrong = wrong || kernel[0] * kernel[1] * (x[1] / groups) > 65535;
    if (!names.is_gradient) return wrong;
    return wrong || call["gradInput"].shape != x || call["gradWeight"].shape != weight ||
           call["gradOffset"].shape != call[names.offset].shape ||
           NumElements(x) * NumElements(weight) * NumElements(call[names.offset].shape) == 0;
  }));
}

// ---- calls ----

void SetShapes(const Names& names, PlanCall& call, const Shape& x, int64_t channels) {
  const auto& kernel = call["kernelSize"].values;
  const int64_t places[] = {PlacesOf(call, x, 0), PlacesOf(call, x, 1)};
  call[names.x].shape = x;
  call[names.weight].shape = {channels, x[1] / call["groups"].integer, kernel[0], kernel[1]};
  call[names.offset].shape = {x[0], 3 * call["deformableGroups"].integer * kernel[0] * kernel[1], places[0],
                              places[1]};
  call[names.bias].shape = {channels};
  call[names.y].shape = {x[0], channels, places[0], places[1]};
  call[names.samples].shape = {x[0], x[1], places[0] * kernel[0], places[1] * kernel[1]};
  if (!names.is_gradient) return;
  call["gradInput"].shape = x;
  call["gradWeight"].shape = call[names.weight].shape;
  call["gradOffset"].shape = call[names.offset].shape;
}

void Draw(const Names& names, PlanCall& call, RandomNumbers& random) {
  const bool is_wide = random.Chance(6), is_deep = !is_wide && random.Chance(10);
  const int64_t groups = random.Between(1, 2), offset_groups = random.Between(1, 2);
  call["groups"].integer = groups;
  call["deformableGroups"].integer = offset_groups;
  call["kernelSize"].values = {random.Between(1, is_wide ? 1 : 3), random.Between(1, is_wide ? 2 : 3)};
  call["stride"].values = {1, 1, random.Between(1, 2), random.Between(1, is_wide ? 1 : 2)};
  call["dilation"].values = {1, 1, random.Between(1, 2), random.Between(1, 2)};
  const int64_t least = names.is_gradient ? 0 : -1;
  call["padding"].values = {random.Between(least, 2), random.Between(least, 2), random.Between(least, 2),
                            random.Between(least, 2)};
  Shape x = {random.Between(1, 2), groups * offset_groups * (is_deep ? random.Between(4, 6) : 1),
             random.Between(1, is_wide ? 2 : 5), is_wide ? random.Between(64, 70) : random.Between(1, 6)};
  for (size_t axis = 0; axis < 2; ++axis) {
    while (PlacesOf(call, x, axis) < 1) ++x[2 + axis];
  }
  if (!names.is_gradient && random.Chance(3)) x[0] = 0;
  SetShapes(names, call, x, groups * random.Between(1, is_deep ? 9 : 2));
  const DtypeNumber dtype = DrawDtype(random, kDtypes);
  const bool is_nd = call.product != Product::k950 && random.Chance(20);
  for (PlanArgument& one : call.arguments) {
    if (one.kind != ParameterKind::kTensor) continue;
    one.dtype = dtype;
    one.format = is_nd || one.name == names.bias ? ACL_FORMAT_ND : ACL_FORMAT_NCHW;
  }
  if (names.is_gradient) return;
  call[names.bias].null = random.Chance(40);
  call[names.samples].null = random.Chance(40);
}

// Numbers of few bits, so that every sum is exact: quarters as offsets, some of them whole, and small factors.
void Fill(const Names& names, const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  const auto arguments = TensorsOf(call);
  for (size_t k = 0; k < tensors.size(); ++k) {
    if (arguments[k]->is_output) continue;
    const bool is_offset = arguments[k]->name == names.offset;
    const int64_t third =
        is_offset && tensors[k].size() > 0 ? tensors[k].size() / arguments[k]->shape[0] / 3 : 1;
    for (int64_t i = 0; i < tensors[k].size(); ++i) {
      double number = static_cast<double>(random.Between(-4, 4));
      if (is_offset && i / third % 3 == 2) {
        number /= 2;
      } else if (is_offset && random.Chance(70)) {
        number = static_cast<double>(random.Between(-12, 12)) / 4;
      }
      tensors[k].Set(i, number);
    }
  }
}

std::vector<PlanArgument> Settings() {
  return {ArrayArg("kernelSize", {2, 3}),    ArrayArg("stride", {1, 1, 2, 1}),
          ArrayArg("padding", {1, 0, 2, 1}), ArrayArg("dilation", {1, 1, 1, 2}),
          IntegerArg("groups", 2),           IntegerArg("deformableGroups", 2),
          IntegerArg("modulated", 1)};
}

OperatorSpec Describe(const Names& names, const std::vector<PlanArgument>& before,
                      const std::vector<PlanArgument>& behind) {
  OperatorSpec op;
  op.valid = before;
  for (const PlanArgument& one : Settings()) op.valid.push_back(one);
  op.valid.insert(op.valid.end(), behind.begin(), behind.end());
  for (PlanArgument& one : op.valid) {
    if (one.kind == ParameterKind::kTensor && one.name != names.bias) one.format = ACL_FORMAT_NCHW;
  }
  PlanCall call;
  call.arguments = op.valid;
  SetShapes(names, call, {2, 4, 5, 6}, 6);
  op.valid = call.arguments;
  op.takes_workspace = true;
  op.draw = [&names](PlanCall& drawn, RandomNumbers& random) { Draw(names, drawn, random); };
  op.fill = [&names](const PlanCall& drawn, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    Fill(names, drawn, tensors, random);
  };
  op.tolerance = 1e-7;
  return op;
}

OperatorSpec Forward() {
  OperatorSpec op = Describe(
      kForward,
      {TensorArg("x", {}), TensorArg("weight", {}), TensorArg("offset", {}), TensorArg("biasOptional", {})},
      {OutputArg("out", {}), OutputArg("deformOutOptional", {})});
  op.function = PORTACL_C_FUNCTION(aclnnDeformableConv2d);
  op.rules = {NoNulls("x offset weight out kernelSize stride padding dilation"),
              DtypeIn("x", {{}, kDtypes}),
              SameDtype("x", "weight"),
              SameDtype("x", "offset"),
              Given("biasOptional", SameDtype("x", "biasOptional")),
              SameDtype("x", "out"),
              Given("deformOutOptional", SameDtype("x", "deformOutOptional"))};
  AddRules(kForward, op.rules);
  op.rules.push_back(DoneIfEmpty("x weight offset"));
  op.oracle = Oracle;
  return op;
}

OperatorSpec Backward() {
  OperatorSpec op = Describe(kBackward,
                             {TensorArg("input", {}), TensorArg("gradOutput", {}), TensorArg("offsetOut", {}),
                              TensorArg("weight", {}), TensorArg("offset", {})},
                             {OutputArg("gradInput", {}), OutputArg("gradWeight", {}),
                              OutputArg("gradOffset", {}), OutputArg("gradBias", {})});
  op.function = PORTACL_C_FUNCTION(aclnnDeformableConv2dBackward);
  op.rules = {Refuses(161002, "product", [](PlanCall& call) { return call.product != Product::k950; }),
              NoNulls("input gradOutput offsetOut weight offset kernelSize stride padding dilation gradInput "
                      "gradWeight gradOffset gradBias"),
              DtypeIn("input", {{}, kDtypes})};
  for (const char* name :
       {"gradOutput", "offsetOut", "weight", "offset", "gradInput", "gradWeight", "gradOffset", "gradBias"})
    op.rules.push_back(SameDtype("input", name));
  AddRules(kBackward, op.rules);
  op.oracle = GradientOracle;
  op.numbers_on = Product::k950;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> operators = {Forward(), Backward()};
  return operators;
}

PORTACL_OPERATOR_TESTS(Deformable, Operators());

// ---- calls of their own ----

// A tensor of FLOAT with memory, all of whose elements have a value.
class Floats {
 public:
  explicit Floats(const Shape& shape, int32_t format = ACL_FORMAT_NCHW, float value = -7)
      : numbers(static_cast<size_t>(NumElements(shape)), value),
        handle_(aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0,
                                static_cast<aclFormat>(format), shape.data(), shape.size(), numbers.data())) {
  }
  ~Floats() { aclDestroyTensor(handle_); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  operator aclTensor*() const { return handle_; }

  std::vector<float> numbers;

 private:
  aclTensor* handle_;
};

// A kernel of one element at the middle of an image of 3 x 3, moved.
TEST(DeformableConv2d, PositionsAtEdgesBesideThemAndNowhere) {
  constexpr float kHuge = std::numeric_limits<float>::max();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  struct Case {
    float x, y, expected;
  };
  // The element at row r and column c is 1 + 3 * r + c.
  const Case cases[] = {{0, 0, 5},          {0.5f, 0, 5.5f}, {1, 1, 9},      {1.5f, 0, 3},
                        {2, 0, 0},          {-1.75f, 0, 1},  {-2, 0, 0},     {0, -1.5f, 1},
                        {0, 1.75f, 2},      {kHuge, 0, 0},   {0, -kHuge, 0}, {kInfinity, 0, 0},
                        {0, -kInfinity, 0}, {kNan, 0, 0},    {0, kNan, 0},   {-1.5f, -1.5f, 0.25f}};
  const ScopedEnvironment environment(Variables{});
  for (const Case& one : cases) {
    Floats x({1, 1, 3, 3}), weight({1, 1, 1, 1}), offset({1, 3, 1, 1}), out({1, 1, 1, 1}),
        samples({1, 1, 1, 1});
    for (size_t i = 0; i < 9; ++i) x.numbers[i] = static_cast<float>(i + 1);
    weight.numbers[0] = 2;
    const float moves[] = {one.x, one.y, 0.5f};
    std::copy(std::begin(moves), std::end(moves), offset.numbers.begin());
    Compute(
        [&](uint64_t* size, aclOpExecutor** executor) {
          Made made;
          return aclnnDeformableConv2dGetWorkspaceSize(
              x, weight, offset, nullptr, made.Ints({1, 1}), made.Ints({1, 1, 1, 1}),
              made.Ints({-1, -1, -1, -1}), made.Ints({1, 1, 1, 1}), 1, 1, true, out, samples, size, executor);
        },
        aclnnDeformableConv2d, environment.stream());
    EXPECT_EQ(samples.numbers[0], one.expected / 2) << one.x << " " << one.y;
    EXPECT_EQ(out.numbers[0], one.expected) << one.x << " " << one.y;
  }
}

// Gradients of any numbers, whose sums are rounded: the same bits on each instruction set and with any number of threads.
TEST(DeformableConv2d, GradientsHaveTheSameBitsAnywhere) {
  const Shape x = {2, 12, 9, 70}, y = {2, 6, 9, 70}, samples = {2, 12, 18, 210}, weight = {6, 6, 2, 3},
              offset = {2, 36, 9, 70};
  std::vector<std::vector<float>> first;
  for (const Isa isa : SupportedIsas()) {
    for (const char* const threads : {"1", "2", "5"}) {
      const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::k950)},
                                                    {"PORTACL_ISA", engine::IsaName(isa)},
                                                    {"PORTACL_NUM_THREADS", threads}});
      Floats inputs[] = {Floats(x), Floats(y), Floats(samples), Floats(weight), Floats(offset)};
      Floats outputs[] = {Floats(x), Floats(weight), Floats(offset), Floats({6}, ACL_FORMAT_ND)};
      RandomNumbers random(3);
      for (Floats& tensor : inputs) {
        for (float& number : tensor.numbers) number = static_cast<float>(random.Between(-3000, 3000)) / 1111;
      }
      Compute(
          [&](uint64_t* size, aclOpExecutor** executor) {
            Made made;
            return aclnnDeformableConv2dBackwardGetWorkspaceSize(
                inputs[0], inputs[1], inputs[2], inputs[3], inputs[4], made.Ints({2, 3}),
                made.Ints({1, 1, 1, 1}), made.Ints({1, 0, 1, 1}), made.Ints({1, 1, 1, 1}), 2, 2, true,
                outputs[0], outputs[1], outputs[2], outputs[3], size, executor);
          },
          aclnnDeformableConv2dBackward, environment.stream());
      for (size_t i = 0; i < 4; ++i) {
        if (first.size() == i) first.push_back(outputs[i].numbers);
        EXPECT_EQ(first[i], outputs[i].numbers) << engine::IsaName(isa) << " " << threads << " " << i;
      }
    }
  }
}

// Samples of an image that repeats may be more than any memory, though no tensor is.
TEST(DeformableConv2d, SamplesBeyondAnyMemory) {
  const ScopedEnvironment environment(Variables{});
  const int64_t channels = int64_t{1} << 30, places = int64_t{1} << 17;
  Made made;
  const auto expanded = [&](const Shape& shape) {
    static float element = 1;
    const Shape strides(shape.size(), 0), one = {1};
    return made.Own(aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0, ACL_FORMAT_NCHW,
                                    one.data(), 1, &element));
  };
  // Groups leave few terms.
  aclTensor* const x = expanded({1, channels, 1, places});
  aclTensor* const weight = expanded({channels, 1, 1, 9});
  aclTensor* const offset = expanded({1, 27, 1, places});
  uint64_t size = 7;
  aclOpExecutor* executor = nullptr;
  EXPECT_NE(aclnnDeformableConv2dGetWorkspaceSize(
                x, weight, offset, nullptr, made.Ints({1, 9}), made.Ints({1, 1, 1, 1}),
                made.Ints({0, 0, 4, 4}), made.Ints({1, 1, 1, 1}), channels, 1, true,
                expanded({1, channels, 1, places}), nullptr, &size, &executor),
            0);
  EXPECT_EQ(executor, nullptr);
  EXPECT_NE(TakeErrorMessage().find("aclnnDeformableConv2d"), std::string::npos);
}

}  // namespace
}  // namespace portacl::testing
