// Sequences, images and volumes resized by functions that take scales, and the gradients, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "aclnnop/families/image.h"
#include "gtest/gtest.h"
#include "support/map_values.h"
#include "support/operator_spec.h"

namespace portacl::testing {
namespace {

enum class Filter { kNearest, kLinear, kCubic, kSmoothLinear, kSmoothCubic };

struct Form {
  CFunction function;
  size_t dims;
  Filter filter;
  float shift;
  bool is_gradient;

  bool is_nearest() const { return filter == Filter::kNearest; }
  const char* image() const { return is_gradient ? "gradInput" : "self"; }
  const char* resized() const { return is_gradient ? "gradOut" : "out"; }
};

bool HasChannelsLast(int32_t format) { return format == ACL_FORMAT_NHWC || format == ACL_FORMAT_NDHWC; }
size_t FirstDim(const PlanArgument& tensor) { return HasChannelsLast(tensor.format) ? 1 : 2; }
std::string ScaleName(const Form& form, size_t axis) {
  constexpr const char* kNames[] = {"scalesD", "scalesH", "scalesW"};
  return form.dims == 1 ? "scale" : kNames[3 - form.dims + axis];
}

// The cubic convolution at distance x.
double Cubic(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

struct Tap {
  int64_t index;
  double weight;
};
std::vector<Tap> TapsOf(const Form& form, const PlanCall& call, size_t axis, int64_t at) {
  const PlanArgument& image = call[form.image()];
  const int64_t from = image.shape[FirstDim(image) + axis];
  const int64_t to = call[form.resized()].shape[FirstDim(image) + axis];
  double scale = call[ScaleName(form, axis)].real;
  const bool corners = !form.is_nearest() && call["alignCorners"].integer != 0;
  if (form.dims == 1 && form.is_nearest() && form.shift == 0) {
    // The forward direction, aclnnUpsampleNearest1dV2, has a float, and its kernels of some types and products none.
    scale = static_cast<double>(static_cast<float>(scale));
    if (image.dtype == ACL_DOUBLE || call.product == Product::k910 || call.product == Product::k310B)
      scale = 0;
  }
  if (form.dims == 1 && !form.is_nearest() && from == to &&
      (call.product == Product::kA2 || call.product == Product::kA3))
    return {{at, 1}};
  float step = scale > 0 ? static_cast<float>(1 / scale) : static_cast<float>(from) / static_cast<float>(to);
  if (corners) step = to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1) : 0.0f;
  const auto x = static_cast<float>(at);
  const auto last = static_cast<float>(from - 1);
  if (form.is_nearest()) {
    if (form.shift == 0 && from == to) return {{at, 1}};
    return {{static_cast<int64_t>(std::min(std::floor((x + form.shift) * step), last)), 1}};
  }
  if (form.filter == Filter::kSmoothLinear || form.filter == Filter::kSmoothCubic) {
    const bool is_cubic = form.filter == Filter::kSmoothCubic;
    const double width = std::max(step, 1.0f);
    const double support = (is_cubic ? 2 : 1) * width;
    const auto centre = static_cast<double>(step * (x + 0.5f));
    std::vector<Tap> taps;
    double total = 0;
    for (int64_t i = 0; i < from; ++i) {
      const double away = (static_cast<double>(i) + 0.5 - centre) / width;
      // From the element that holds the filter's lower end, rounded, on.
      if (static_cast<double>(i) + 1 <= centre - support + 0.5 ||
          static_cast<double>(i) >= std::floor(centre + support + 0.5))
        continue;
      const double weight = is_cubic ? Cubic(away, -0.5) : std::max(0.0, 1 - std::fabs(away));
      taps.push_back({i, weight});
      total += weight;
    }
    for (Tap& tap : taps) tap.weight = total != 0 ? tap.weight / total : tap.weight;
    return taps;
  }
  if (form.filter == Filter::kCubic) {
    const float place = corners ? step * x : step * (x + 0.5f) - 0.5f;
    const float below = std::min(std::floor(place), last);
    const double part = std::clamp(static_cast<double>(place) - static_cast<double>(below), 0.0, 1.0);
    std::vector<Tap> taps;
    for (int64_t k = -1; k < 3; ++k)
      taps.push_back({std::clamp<int64_t>(static_cast<int64_t>(below) + k, 0, from - 1),
                      Cubic(part - static_cast<double>(k), -0.75)});
    return taps;
  }
  const float place = corners ? step * x : std::max(0.0f, step * (x + 0.5f) - 0.5f);
  const float below = std::min(std::floor(place), last);
  const float part = std::clamp(place - below, 0.0f, 1.0f);
  const auto index = static_cast<int64_t>(below);
  return {{index, static_cast<double>(1 - part)}, {std::min(index + 1, from - 1), static_cast<double>(part)}};
}

OperatorSpec Resized(const Form& form) {
  OperatorSpec op;
  op.function = form.function;
  const bool is_image = form.dims == 2;
  const Shape small = form.dims == 3 ? Shape{2, 3, 2, 4, 5} : is_image ? Shape{2, 3, 4, 5} : Shape{2, 3, 5};
  const Shape large = form.dims == 3 ? Shape{2, 3, 3, 8, 7} : is_image ? Shape{2, 3, 8, 7} : Shape{2, 3, 8};
  const std::string first = form.is_gradient ? "gradOut" : "self";
  const std::string last = form.is_gradient ? "gradInput" : "out";
  op.valid = {TensorArg(first, form.is_gradient ? large : small),
              ArrayArg("outputSize", std::vector<int64_t>(large.begin() + 2, large.end()))};
  if (form.is_gradient) op.valid.push_back(ArrayArg("inputSize", small));
  if (!form.is_nearest()) op.valid.push_back(IntegerArg("alignCorners", 0));
  for (size_t axis = 0; axis < form.dims; ++axis) op.valid.push_back(RealArg(ScaleName(form, axis), 0));
  op.valid.push_back(OutputArg(last, form.is_gradient ? small : large));
  const int32_t channels_second = is_image ? ACL_FORMAT_NCHW : ACL_FORMAT_NCDHW;
  const int32_t channels_last = is_image ? ACL_FORMAT_NHWC : ACL_FORMAT_NDHWC;
  if (form.dims > 1) op.valid.front().format = op.valid.back().format = channels_second;
  const DtypeList everywhere = !form.is_nearest() ? DtypeList{ACL_FLOAT, ACL_FLOAT16}
                               : form.is_gradient ? DtypeList{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE}
                                                  : DtypeList{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_UINT8};
  const auto is_private = [](int32_t format) {
    return format == ACL_FORMAT_FRACTAL_NZ || format == ACL_FORMAT_NC1HWC0;
  };
  op.rules = {NoNulls(first + " outputSize")};
  if (form.is_gradient) op.rules.push_back(NoNulls("inputSize"));
  op.rules.push_back(NoNulls(last));
  op.rules.push_back(DtypeIn(first, {everywhere, {ACL_BF16}}));
  op.rules.push_back(SameDtype(first, last));
  op.rules.push_back(Ranks(first + " " + last, form.dims + 2, form.dims + 2));
  op.rules.push_back(Refuses(161002, "outputSize", [=](PlanCall& call) {
    const auto& size = call["outputSize"].values;
    return size.size() != form.dims ||
           std::any_of(size.begin(), size.end(), [](int64_t length) { return length < 1; });
  }));
  if (form.is_gradient)
    op.rules.push_back(Refuses(161002, "inputSize", [=](PlanCall& call) {
      return call["inputSize"].values.size() != form.dims + 2;
    }));
  op.rules.push_back(Refuses(161002, first + " " + last, [=](PlanCall& call) {
    const int32_t one = call[first].format;
    const int32_t other = call[last].format;
    if (form.dims == 1) return is_private(one) || is_private(other);
    return (one != channels_second && one != channels_last && one != ACL_FORMAT_ND) || one != other;
  }));
  op.rules.push_back(Refuses(161002, first + " " + last, [=](PlanCall& call) {
    if (form.is_gradient && call["gradInput"].shape != call["inputSize"].values) return true;
    const PlanArgument& image = call[form.image()];
    if (std::find(image.shape.begin() + 1, image.shape.end(), 0) != image.shape.end()) return true;
    Shape accepted = image.shape;
    for (size_t axis = 0; axis < form.dims; ++axis)
      accepted[FirstDim(image) + axis] = call["outputSize"].values[axis];
    return call[form.resized()].shape != accepted;
  }));
  op.rules.push_back(DoneIfEmpty(first + " " + last));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const bool is_last = form.dims > 1 && random.Chance(30);
    Shape shape = {random.Between(random.Chance(4) ? 0 : 1, 2)};
    for (size_t dim = 0; dim <= form.dims; ++dim)
      shape.push_back(random.Between(1, random.Chance(10) ? (form.dims > 1 ? 40 : 300)
                                        : form.dims == 3  ? 4
                                                          : 8));
    call[form.image()].shape = shape;
    Shape size = shape;
    call["outputSize"].values.clear();
    for (size_t axis = 0; axis < form.dims; ++axis) {
      int64_t& length = size[(is_last ? 1 : 2) + axis];
      const int64_t from = length;
      if (!random.Chance(20)) length = random.Between(1, form.dims == 3 ? 9 : 20);
      call["outputSize"].values.push_back(length);
      PlanArgument& scale = call[ScaleName(form, axis)];
      scale.real = random.Chance(40) ? -1 : static_cast<double>(length) / static_cast<double>(from);
      if (random.Chance(15)) scale.real = (static_cast<double>(length) + 0.5) / static_cast<double>(from);
    }
    call[form.resized()].shape = size;
    if (form.is_gradient) call["inputSize"].values = shape;
    if (!form.is_nearest()) call["alignCorners"].integer = random.Below(2);
    DtypeList drawn = everywhere;
    drawn.push_back(ACL_BF16);
    const DtypeNumber dtype = DrawDtype(random, drawn);
    for (const char* name : {form.image(), form.resized()}) {
      call[name].dtype = dtype;
      call[name].format = form.dims == 1 ? ACL_FORMAT_ND : is_last ? channels_last : channels_second;
    }
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    // Sums of these are exact in every type, weights of halves and quarters too.
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (TensorsOf(call)[i]->is_output) continue;
      for (int64_t k = 0; k < tensors[i].size(); ++k) {
        const int64_t drawn = tensors[i].dtype() == ACL_UINT8 ? random.Between(0, 8) : random.Between(-4, 4);
        const Element element = ElementOfNumber(tensors[i].dtype(), {static_cast<long double>(drawn), 0});
        std::copy(element.begin(), element.end(), tensors[i].Element(k));
      }
    }
  };
  // An element of a cubic gradient is the sum of up to hundreds of terms of both signs.
  const bool sums_many = form.filter == Filter::kCubic && form.is_gradient;
  op.tolerance = form.is_nearest() ? 0 : form.dims == 1 ? 2e-6 : sums_many ? 4e-5 : 1e-5;
  op.is_inexact = !form.is_nearest();
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const PlanArgument& image = call[form.image()];
    const Shape& to = call[last].shape;
    std::vector<double> out(static_cast<size_t>(NumElements(to)), 0.0);
    if (out.empty() || tensors[0].elements.empty()) return std::vector<Outcome>{{}};
    const size_t dim = FirstDim(image);
    ForEachElement(call[form.resized()].shape, [&](std::vector<int64_t>& at) -> std::optional<Element> {
      std::vector<int64_t> from = at;
      const std::function<void(size_t, double)> add = [&](size_t axis, double weight) {
        if (axis == form.dims) {
          const std::vector<int64_t>& source = form.is_gradient ? at : from;
          const std::vector<int64_t>& target = form.is_gradient ? from : at;
          const Element& element =
              tensors[0].elements[static_cast<size_t>(PositionOf(tensors[0].shape, source))];
          out[static_cast<size_t>(PositionOf(to, target))] +=
              weight * static_cast<double>(NumberOf(tensors[0].dtype, element.data()).real);
          return;
        }
        for (const Tap& tap : TapsOf(form, call, axis, at[dim + axis])) {
          from[dim + axis] = tap.index;
          add(axis + 1, weight * tap.weight);
        }
      };
      add(0, 1);
      return std::nullopt;
    });
    Outcome outcome;
    for (const double number : out)
      outcome.push_back(ElementOfNumber(call[last].dtype, {static_cast<long double>(number), 0}));
    return std::vector<Outcome>{outcome};
  };
  return op;
}

const OperatorSpec kOperators[] = {
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleLinear1d), 1, Filter::kLinear, 0, false}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleLinear1dBackward), 1, Filter::kLinear, 0, true}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleNearest1dBackward), 1, Filter::kNearest, 0, true}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleNearestExact1d), 1, Filter::kNearest, 0.5f, false}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleNearestExact1dBackward), 1, Filter::kNearest, 0.5f, true}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleNearestExact2d), 2, Filter::kNearest, 0.5f, false}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleNearestExact2dBackward), 2, Filter::kNearest, 0.5f, true}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleBicubic2dBackward), 2, Filter::kCubic, 0, true}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleBilinear2dAA), 2, Filter::kSmoothLinear, 0, false}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleBilinear2dAABackward), 2, Filter::kSmoothLinear, 0, true}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleBicubic2dAA), 2, Filter::kSmoothCubic, 0, false}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleBicubic2dAAGrad), 2, Filter::kSmoothCubic, 0, true}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleNearest3d), 3, Filter::kNearest, 0, false}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleNearest3dBackward), 3, Filter::kNearest, 0, true}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleNearestExact3d), 3, Filter::kNearest, 0.5f, false}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleNearestExact3dBackward), 3, Filter::kNearest, 0.5f, true}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleTrilinear3d), 3, Filter::kLinear, 0, false}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleTrilinear3dBackward), 3, Filter::kLinear, 0, true})};
PORTACL_OPERATOR_TESTS(ResampleByScale, kOperators);

}  // namespace
}  // namespace portacl::testing
