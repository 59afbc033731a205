// Sequences resized linearly, sequences and images by the element at the middle of each place, and the gradients, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "aclnnop/families/image.h"
#include "gtest/gtest.h"
#include "support/index_operator.h"
#include "support/map_values.h"

namespace portacl::testing {
namespace {

struct Form {
  CFunction function;
  size_t dims;
  bool is_linear;
  float shift;
  bool is_gradient;

  const char* image() const { return is_gradient ? "gradInput" : "self"; }
  const char* resized() const { return is_gradient ? "gradOut" : "out"; }
};

size_t FirstDim(const IndexArgument& tensor) { return tensor.format == ACL_FORMAT_NHWC ? 1 : 2; }
std::string ScaleName(const Form& form, size_t axis) {
  return form.dims == 1 ? "scale" : axis == 0 ? "scalesH" : "scalesW";
}

struct Tap {
  int64_t index;
  double weight;
};
std::vector<Tap> TapsOf(const Form& form, const IndexCall& call, size_t axis, int64_t at) {
  const IndexArgument& image = call[form.image()];
  const int64_t from = image.shape[FirstDim(image) + axis];
  const int64_t to = call[form.resized()].shape[FirstDim(image) + axis];
  double scale = call[ScaleName(form, axis)].real;
  const bool corners = form.is_linear && call["alignCorners"].integer != 0;
  if (!form.is_linear && form.shift == 0) {
    // The forward direction, aclnnUpsampleNearest1dV2, has a float, and its kernels of some types and products none.
    scale = static_cast<double>(static_cast<float>(scale));
    if (image.dtype == ACL_DOUBLE || call.product == Product::k910 || call.product == Product::k310B)
      scale = 0;
  }
  if (form.is_linear && from == to && (call.product == Product::kA2 || call.product == Product::kA3))
    return {{at, 1}};
  float step = scale > 0 ? static_cast<float>(1 / scale) : static_cast<float>(from) / static_cast<float>(to);
  if (corners) step = to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1) : 0.0f;
  const auto x = static_cast<float>(at);
  const auto last = static_cast<float>(from - 1);
  if (!form.is_linear) {
    if (form.shift == 0 && from == to) return {{at, 1}};
    return {{static_cast<int64_t>(std::min(std::floor((x + form.shift) * step), last)), 1}};
  }
  const float place = corners ? step * x : std::max(0.0f, step * (x + 0.5f) - 0.5f);
  const float below = std::min(std::floor(place), last);
  const float part = std::clamp(place - below, 0.0f, 1.0f);
  const auto index = static_cast<int64_t>(below);
  return {{index, static_cast<double>(1 - part)}, {std::min(index + 1, from - 1), static_cast<double>(part)}};
}

IndexOperator Resized(const Form& form) {
  IndexOperator op;
  op.function = form.function;
  const bool is_image = form.dims == 2;
  const Shape small = is_image ? Shape{2, 3, 4, 5} : Shape{2, 3, 5};
  const Shape large = is_image ? Shape{2, 3, 8, 7} : Shape{2, 3, 8};
  const std::string first = form.is_gradient ? "gradOut" : "self";
  const std::string last = form.is_gradient ? "gradInput" : "out";
  op.valid = {TensorArg(first, form.is_gradient ? large : small),
              ArrayArg("outputSize", is_image ? std::vector<int64_t>{8, 7} : std::vector<int64_t>{8})};
  if (form.is_gradient) op.valid.push_back(ArrayArg("inputSize", small));
  if (form.is_linear) op.valid.push_back(IntegerArg("alignCorners", 0));
  for (size_t axis = 0; axis < form.dims; ++axis) op.valid.push_back(RealArg(ScaleName(form, axis), 0));
  op.valid.push_back(OutputArg(last, form.is_gradient ? small : large));
  if (is_image) op.valid.front().format = op.valid.back().format = ACL_FORMAT_NCHW;
  const DtypeList everywhere = form.is_linear     ? DtypeList{ACL_FLOAT, ACL_FLOAT16}
                               : form.is_gradient ? DtypeList{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE}
                                                  : DtypeList{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_UINT8};
  const auto is_private = [](int32_t format) {
    return format == ACL_FORMAT_FRACTAL_NZ || format == ACL_FORMAT_NC1HWC0;
  };
  op.rules = {NoNulls(first + " outputSize")};
  if (form.is_gradient) op.rules.push_back(NoNulls("inputSize"));
  op.rules.push_back(NoNulls(last));
  op.rules.push_back(Listed_(first, {everywhere, {ACL_BF16}}));
  op.rules.push_back(OneDtype(first, last));
  op.rules.push_back(RankRange(first + " " + last, form.dims + 2, form.dims + 2));
  op.rules.push_back(Refuses(161002, "outputSize", [=](IndexCall& call) {
    const auto& size = call["outputSize"].values;
    return size.size() != form.dims ||
           std::any_of(size.begin(), size.end(), [](int64_t length) { return length < 1; });
  }));
  if (form.is_gradient)
    op.rules.push_back(Refuses(161002, "inputSize", [=](IndexCall& call) {
      return call["inputSize"].values.size() != form.dims + 2;
    }));
  op.rules.push_back(Refuses(161002, first + " " + last, [=](IndexCall& call) {
    const int32_t one = call[first].format;
    const int32_t other = call[last].format;
    if (!is_image) return is_private(one) || is_private(other);
    return (one != ACL_FORMAT_NCHW && one != ACL_FORMAT_NHWC && one != ACL_FORMAT_ND) || one != other;
  }));
  op.rules.push_back(Refuses(161002, first + " " + last, [=](IndexCall& call) {
    if (form.is_gradient && call["gradInput"].shape != call["inputSize"].values) return true;
    const IndexArgument& image = call[form.image()];
    if (std::find(image.shape.begin() + 1, image.shape.end(), 0) != image.shape.end()) return true;
    Shape accepted = image.shape;
    for (size_t axis = 0; axis < form.dims; ++axis)
      accepted[FirstDim(image) + axis] = call["outputSize"].values[axis];
    return call[form.resized()].shape != accepted;
  }));
  op.rules.push_back(EmptyDone(first + " " + last));
  op.draw = [=](IndexCall& call, RandomNumbers& random) {
    const bool is_nhwc = is_image && random.Chance(30);
    Shape shape = {random.Between(random.Chance(4) ? 0 : 1, 2)};
    for (size_t dim = 0; dim <= form.dims; ++dim)
      shape.push_back(random.Between(1, random.Chance(10) ? (is_image ? 40 : 300) : 8));
    call[form.image()].shape = shape;
    Shape size = shape;
    call["outputSize"].values.clear();
    for (size_t axis = 0; axis < form.dims; ++axis) {
      int64_t& length = size[(is_nhwc ? 1 : 2) + axis];
      const int64_t from = length;
      if (!random.Chance(20)) length = random.Between(1, 20);
      call["outputSize"].values.push_back(length);
      IndexArgument& scale = call[ScaleName(form, axis)];
      scale.real = random.Chance(40) ? -1 : static_cast<double>(length) / static_cast<double>(from);
      if (random.Chance(15)) scale.real = (static_cast<double>(length) + 0.5) / static_cast<double>(from);
    }
    call[form.resized()].shape = size;
    if (form.is_gradient) call["inputSize"].values = shape;
    if (form.is_linear) call["alignCorners"].integer = random.Below(2);
    DtypeList drawn = everywhere;
    drawn.push_back(ACL_BF16);
    const DtypeNumber dtype = DrawDtype(random, drawn);
    for (const char* name : {form.image(), form.resized()}) {
      call[name].dtype = dtype;
      call[name].format = !is_image ? ACL_FORMAT_ND : is_nhwc ? ACL_FORMAT_NHWC : ACL_FORMAT_NCHW;
    }
  };
  op.fill = [](const IndexCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
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
  op.tolerance = form.is_linear ? 2e-6 : 0;
  op.is_inexact = form.is_linear;
  op.oracle = [=](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const IndexArgument& image = call[form.image()];
    const Shape& to = call[last].shape;
    std::vector<double> out(static_cast<size_t>(NumElements(to)), 0.0);
    if (out.empty() || tensors[0].elements.empty()) return std::vector<Outcome>{{}};
    const size_t dim = FirstDim(image);
    ForEachElement(call[form.resized()].shape, [&](std::vector<int64_t>& at) -> std::optional<Element> {
      std::vector<Tap> rows = {{0, 1}};
      if (is_image) rows = TapsOf(form, call, 0, at[dim]);
      const std::vector<Tap> columns = TapsOf(form, call, form.dims - 1, at[dim + form.dims - 1]);
      for (const Tap& row : rows) {
        for (const Tap& column : columns) {
          std::vector<int64_t> from = at;
          if (is_image) from[dim] = row.index;
          from[dim + form.dims - 1] = column.index;
          const std::vector<int64_t>& source = form.is_gradient ? at : from;
          const std::vector<int64_t>& target = form.is_gradient ? from : at;
          const Element& element =
              tensors[0].elements[static_cast<size_t>(PositionOf(tensors[0].shape, source))];
          out[static_cast<size_t>(PositionOf(to, target))] +=
              row.weight * column.weight *
              static_cast<double>(NumberOf(tensors[0].dtype, element.data()).real);
        }
      }
      return std::nullopt;
    });
    Outcome outcome;
    for (const double number : out)
      outcome.push_back(ElementOfNumber(call[last].dtype, {static_cast<long double>(number), 0}));
    return std::vector<Outcome>{outcome};
  };
  return op;
}

const IndexOperator kOperators[] = {
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleLinear1d), 1, true, 0, false}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleLinear1dBackward), 1, true, 0, true}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleNearest1dBackward), 1, false, 0, true}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleNearestExact1d), 1, false, 0.5f, false}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleNearestExact1dBackward), 1, false, 0.5f, true}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleNearestExact2d), 2, false, 0.5f, false}),
    Resized({PORTACL_C_FUNCTION(aclnnUpsampleNearestExact2dBackward), 2, false, 0.5f, true})};
PORTACL_INDEX_TESTS(ResampleByScale, kOperators);

}  // namespace
}  // namespace portacl::testing
