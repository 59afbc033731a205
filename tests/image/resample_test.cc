// Operators over two axes of images - pads by their own edge, windows, interpolation, and their gradients: their checks, and every
// element against loops over logical indices.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "aclnnop/families/image.h"
#include "aclnnop/families/indexing.h"
#include "gtest/gtest.h"
#include "support/both_phases.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/map_values.h"
#include "support/numeric_suite.h"
#include "support/operator_spec.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

using Index = std::vector<int64_t>;

const DtypeList kFloat8s = {ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};
const DtypeList kReals = {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT8,
                          ACL_UINT8, ACL_INT16,   ACL_INT32,  ACL_INT64};

Element At(const TensorValues& tensor, const Index& index) {
  return tensor.elements[static_cast<size_t>(PositionOf(tensor.shape, index))];
}

DtypeList Both(DtypeList list, const DtypeList& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

// Whole numbers whose sums every type holds.
void FillWithSmallNumbers(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  const auto arguments = TensorsOf(call);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (arguments[i]->is_output) continue;
    for (int64_t k = 0; k < tensors[i].size(); ++k) {
      const Number number{static_cast<long double>(random.Between(-4, 4)),
                          static_cast<long double>(random.Between(-4, 4))};
      const Element element = ElementOfNumber(tensors[i].dtype(), number);
      std::copy(element.begin(), element.end(), tensors[i].Element(k));
    }
  }
}

// Sums in float64, by target.
struct Sums {
  explicit Sums(const Shape& result) : shape(result), sum(static_cast<size_t>(NumElements(result))) {}

  void Add(const Index& target, Number value, double weight = 1) {
    Number& at = sum[static_cast<size_t>(PositionOf(shape, target))];
    at.real += weight * value.real;
    at.imaginary += weight * value.imaginary;
  }
  Outcome As(DtypeNumber dtype) const {
    Outcome outcome;
    for (const Number& one : sum) outcome.emplace_back(ElementOfNumber(dtype, one));
    return outcome;
  }

  Shape shape;
  std::vector<Number> sum;
};

Number NumberAt(const TensorValues& tensor, const Index& index) {
  return NumberOf(tensor.dtype, At(tensor, index).data());
}

// ---- pads ----

enum class Edge { kReflection, kReplication, kCircular };

// Which index of a dim of n elements lies at place i, counted from the first of them. A circle has the elements that lengths below 0 leave.
int64_t Mirrored(Edge edge, int64_t i, int64_t n, int64_t before, int64_t after) {
  switch (edge) {
    case Edge::kReflection:
      return i < 0 ? -i : i < n ? i : 2 * (n - 1) - i;
    case Edge::kReplication:
      return std::clamp<int64_t>(i, 0, n - 1);
    default: {
      const int64_t first = std::max<int64_t>(0, -before);
      const int64_t kept = n - first - std::max<int64_t>(0, -after);
      return first + ((i - first) % kept + kept) % kept;
    }
  }
}

struct PadForm {
  Edge edge;
  size_t dims;
  bool is_short = false;  // whether each pad is less than its dim

  Shape Small() const { return dims == 1 ? Shape{2, 5} : dims == 2 ? Shape{2, 5, 6} : Shape{2, 3, 4, 5}; }
  Shape Large() const { return dims == 1 ? Shape{2, 8} : dims == 2 ? Shape{2, 9, 9} : Shape{2, 6, 5, 8}; }
  Index Padding() const {
    return dims == 1 ? Index{1, 2} : dims == 2 ? Index{1, 2, 3, 1} : Index{1, 2, 1, 0, 2, 1};
  }
};

bool Overreaches(const PadForm& form, const PlanCall& call, const Shape& self) {
  const auto& padding = call["padding"].values;
  bool wrong = false;
  for (size_t k = 0; k < form.dims; ++k) {
    const int64_t n = self[self.size() - 1 - k];
    wrong = wrong || ((form.edge == Edge::kReflection || form.is_short) &&
                      std::max(padding[2 * k], padding[2 * k + 1]) >= n);
    wrong = wrong || n + padding[2 * k] + padding[2 * k + 1] < 0;
    wrong =
        wrong || (form.edge == Edge::kCircular &&
                  n + std::min<int64_t>(padding[2 * k], 0) + std::min<int64_t>(padding[2 * k + 1], 0) < 1);
  }
  return wrong;
}

Shape Padded(const PadForm& form, const PlanCall& call, Shape self) {
  const auto& padding = call["padding"].values;
  for (size_t k = 0; k < form.dims; ++k) self[self.size() - 1 - k] += padding[2 * k] + padding[2 * k + 1];
  return self;
}

// Whether a dim from `first` on is 0.
bool HasZero(const Shape& shape, size_t first) {
  return std::find(shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end(), 0) != shape.end();
}

// Of one of a shape's last dims alone.
bool LastDimsDiffer(const PadForm& form, const Shape& a, const Shape& b) {
  return !std::equal(a.end() - static_cast<std::ptrdiff_t>(form.dims), a.end(),
                     b.end() - static_cast<std::ptrdiff_t>(form.dims));
}

void DrawPads(const PadForm& form, PlanCall& call, const std::string& padded, const std::string& result,
              const DtypeList& dtypes, RandomNumbers& random) {
  const DtypeNumber dtype = DrawDtype(random, dtypes);
  Shape self = DrawShape(random, form.dims + 1, form.dims + 2, form.dims == 3 ? 4 : 6);
  if (random.Chance(15)) self.back() = random.Between(250, 600);
  if (random.Chance(3)) self[0] = 0;
  auto& padding = call["padding"].values;
  padding.clear();
  for (size_t k = 0; k < form.dims; ++k) {
    const int64_t n = self[self.size() - 1 - k];
    for (int side = 0; side < 2; ++side) {
      const int64_t most = form.edge == Edge::kReflection || form.is_short ? n - 1
                           : random.Chance(20)                             ? 2 * n + 3
                                                                           : 4;
      padding.push_back(random.Chance(20) ? -random.Below(n + 1)
                                          : random.Below(std::max<int64_t>(most, 0) + 1));
    }
  }
  Shape out = Padded(form, call, self);
  for (int64_t& dim : out) dim = std::max<int64_t>(dim, 0);
  const auto set = [&](const std::string& name, const Shape& shape) {
    call[name].shape = shape;
    call[name].dtype = dtype;
  };
  set(padded, self);
  set(result, out);
}

OperatorSpec Pad(const CFunction& function, PadForm form, const Listed& list) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("self", form.Small()), ArrayArg("padding", form.Padding()),
              OutputArg("out", form.Large())};
  const Rule formats = Refuses(161002, "self out", [=](PlanCall& call) {
    return call["self"].format != call["out"].format ||
           (form.edge == Edge::kCircular && call["self"].format == ACL_FORMAT_FRACTAL_NZ);
  });
  op.rules = {NoNulls("self padding out")};
  const bool format_first = form.edge == Edge::kReplication && form.dims >= 2;
  if (format_first) op.rules.push_back(formats);
  op.rules.push_back(DtypeIn("self", list));
  op.rules.push_back(SameDtype("self", "out"));
  if (!format_first) op.rules.push_back(formats);
  op.rules.push_back(Ranks("self", form.dims + 1, form.dims + 2));
  op.rules.push_back(Refuses(161002, "out padding", [=](PlanCall& call) {
    return call["out"].shape.size() != call["self"].shape.size() ||
           call["padding"].values.size() != 2 * form.dims || Overreaches(form, call, call["self"].shape);
  }));
  op.rules.push_back(Refuses(161002, "out", [=](PlanCall& call) {
    call.result = Padded(form, call, call["self"].shape);
    return form.edge == Edge::kReflection ? LastDimsDiffer(form, call["out"].shape, call.result)
                                          : call["out"].shape != call.result;
  }));
  op.rules.push_back(Refuses(161002, "self out", [=](PlanCall& call) {
    const Shape& self = call["self"].shape;
    const size_t first = self.size() == form.dims + 2 ? 1 : 0;
    return HasZero(self, first) || HasZero(call["out"].shape, first);
  }));
  op.rules.push_back(DoneIfEmpty("self out"));
  op.rules.push_back(ResultIs("out"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DtypeList dtypes = form.edge == Edge::kCircular
                           ? DtypeList{ACL_FLOAT, ACL_BF16, ACL_INT8}
                           : DtypeList{ACL_FLOAT, ACL_BF16, ACL_INT8, ACL_INT64, ACL_COMPLEX128};
    DrawPads(form, call, "self", "out", dtypes, random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (NumElements(call["out"].shape) == 0) return std::vector<Outcome>{{}};
    return std::vector<Outcome>{ForEachElement(call.result, [&](Index& index) -> std::optional<Element> {
      for (size_t k = 0; k < form.dims; ++k) {
        const size_t dim = index.size() - 1 - k;
        const int64_t before = call["padding"].values[2 * k];
        index[dim] = Mirrored(form.edge, index[dim] - before, tensors[0].shape[dim], before,
                              call["padding"].values[2 * k + 1]);
      }
      return At(tensors[0], index);
    })};
  };
  return op;
}

OperatorSpec PadGradient(const CFunction& function, PadForm form) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("gradOutput", form.Large()), TensorArg("self", form.Small()),
              ArrayArg("padding", form.Padding()), OutputArg("gradInput", form.Small())};
  const DtypeList dtypes =
      form.edge == Edge::kCircular
          ? DtypeList{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}
          : DtypeList{ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};
  // CANN's answer to a null tensor of wrapped volumes is another one.
  const aclnnStatus null = form.edge == Edge::kCircular && form.dims == 3 ? 561103 : 161001;
  op.rules = {
      NoNulls("gradOutput", null),
      NoNulls("self", null),
      NoNulls("padding"),
      NoNulls("gradInput", null),
      DtypeIn("gradOutput", {dtypes}),
      SameDtype("gradOutput", "self"),
      SameDtype("gradOutput", "gradInput"),
      Refuses(161002, "gradOutput self gradInput",
              [](PlanCall& call) {
                const int32_t first = call["gradOutput"].format;
                return first == ACL_FORMAT_FRACTAL_NZ || call["self"].format != first ||
                       call["gradInput"].format != first;
              }),
      SameShape("self", "gradInput"),
      Ranks("self", form.dims + 1, form.dims + 2),
      Refuses(161002, "gradOutput padding",
              [=](PlanCall& call) {
                const Shape& self = call["self"].shape;
                const auto& padding = call["padding"].values;
                if (call["gradOutput"].shape.size() != self.size() || padding.size() != 2 * form.dims ||
                    Overreaches(form, call, self))
                  return true;
                call.result = Padded(form, call, self);
                return form.dims == 2 && form.edge != Edge::kCircular &&
                       call["gradOutput"].dtype == ACL_BF16 && (padding[2] != 0 || padding[3] != 0) &&
                       std::any_of(padding.begin(), padding.end(),
                                   [](int64_t pad) { return pad < 0 || pad > 7; });
              }),
      Refuses(161002, "gradOutput",
              [=](PlanCall& call) { return LastDimsDiffer(form, call["gradOutput"].shape, call.result); }),
      Refuses(161002, "gradOutput self",
              [=](PlanCall& call) {
                const Shape& self = call["self"].shape;
                const bool free =
                    self.size() == form.dims + 2 || (form.edge == Edge::kReflection && form.dims < 3);
                return HasZero(self, free ? 1 : 0) || HasZero(call["gradOutput"].shape, free ? 1 : 0);
              }),
      DoneIfEmpty("gradOutput self"),
      ResultIs("gradOutput")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DrawPads(form, call, "self", "gradOutput", dtypes, random);
    call["gradInput"].shape = call["self"].shape;
    call["gradInput"].dtype = call["self"].dtype;
  };
  op.fill = FillWithSmallNumbers;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& grad = tensors[0];
    if (NumElements(tensors[1].shape) == 0) return std::vector<Outcome>{{}};
    Sums sums(tensors[1].shape);
    for (int64_t i = 0; i < NumElements(grad.shape); ++i) {
      Index index = IndexAt(grad.shape, i);
      const Number value = NumberAt(grad, index);
      for (size_t k = 0; k < form.dims; ++k) {
        const size_t dim = index.size() - 1 - k;
        const int64_t before = call["padding"].values[2 * k];
        index[dim] = Mirrored(form.edge, index[dim] - before, tensors[1].shape[dim], before,
                              call["padding"].values[2 * k + 1]);
      }
      sums.Add(index, value);
    }
    return std::vector<Outcome>{sums.As(grad.dtype)};
  };
  return op;
}

std::vector<OperatorSpec> Pads() {
  const Listed reflection = {
      Both(kReals, {ACL_BOOL}), {ACL_BF16, ACL_COMPLEX64, ACL_COMPLEX128}, Both(kUnsigned, kFloat8s)};
  const Listed replication = {Both(kReals, {ACL_COMPLEX64, ACL_COMPLEX128, ACL_BF16}),
                              {},
                              Both(Both(kUnsigned, kFloat8s), {ACL_BOOL})};
  const Listed circular = {{ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32, ACL_INT8}};
  return {Pad(PORTACL_C_FUNCTION(aclnnReflectionPad1d), {Edge::kReflection, 1}, reflection),
          Pad(PORTACL_C_FUNCTION(aclnnReflectionPad2d), {Edge::kReflection, 2}, reflection),
          Pad(PORTACL_C_FUNCTION(aclnnReplicationPad1d), {Edge::kReplication, 1}, replication),
          Pad(PORTACL_C_FUNCTION(aclnnReplicationPad2d), {Edge::kReplication, 2}, replication),
          Pad(PORTACL_C_FUNCTION(aclnnCircularPad2d), {Edge::kCircular, 2}, circular),
          PadGradient(PORTACL_C_FUNCTION(aclnnReflectionPad1dBackward), {Edge::kReflection, 1}),
          PadGradient(PORTACL_C_FUNCTION(aclnnReflectionPad2dBackward), {Edge::kReflection, 2}),
          PadGradient(PORTACL_C_FUNCTION(aclnnReplicationPad1dBackward), {Edge::kReplication, 1}),
          PadGradient(PORTACL_C_FUNCTION(aclnnReplicationPad2dBackward), {Edge::kReplication, 2}),
          Pad(PORTACL_C_FUNCTION(aclnnReflectionPad3d), {Edge::kReflection, 3}, reflection),
          Pad(PORTACL_C_FUNCTION(aclnnReplicationPad3d), {Edge::kReplication, 3}, replication),
          Pad(PORTACL_C_FUNCTION(aclnnCircularPad3d), {Edge::kCircular, 3}, circular),
          PadGradient(PORTACL_C_FUNCTION(aclnnReflectionPad3dBackward), {Edge::kReflection, 3}),
          PadGradient(PORTACL_C_FUNCTION(aclnnReplicationPad3dBackward), {Edge::kReplication, 3}),
          PadGradient(PORTACL_C_FUNCTION(aclnnCircularPad2dBackward), {Edge::kCircular, 2}),
          PadGradient(PORTACL_C_FUNCTION(aclnnCircularPad3dBackward), {Edge::kCircular, 3, true})};
}

// ---- windows ----

int64_t FloorDivided(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

int64_t WindowCount(const PlanCall& call, size_t axis, int64_t length) {
  const int64_t reach = call["dilation"].values[axis] * (call["kernelSize"].values[axis] - 1) + 1;
  return FloorDivided(length + 2 * call["padding"].values[axis] - reach, call["stride"].values[axis]) + 1;
}

bool PairsAreWrong(const PlanCall& call, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto& values = call[name].values;
    const int64_t least = name == "padding" ? 0 : name == "inputSize" ? -1000000 : 1;
    return values.size() != 2 || std::min(values[0], values[1]) < least;
  });
}

// Where the element of a window lies in the image; nullopt: outside.
std::optional<Index> PlaceInImage(const PlanCall& call, const Index& column, const Shape& image) {
  const size_t last = column.size() - 1;
  const auto& kernel = call["kernelSize"].values;
  const int64_t channel = column[last - 1] / (kernel[0] * kernel[1]);
  const int64_t in_kernel[2] = {column[last - 1] / kernel[1] % kernel[0], column[last - 1] % kernel[1]};
  const int64_t across = WindowCount(call, 1, image.back());
  const int64_t window[2] = {column[last] / across, column[last] % across};
  Index place(column.begin(), column.end() - 2);
  place.push_back(channel);
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t at = window[axis] * call["stride"].values[axis] +
                       in_kernel[axis] * call["dilation"].values[axis] - call["padding"].values[axis];
    if (at < 0 || at >= image[image.size() - 2 + axis]) return std::nullopt;
    place.push_back(at);
  }
  return place;
}

void DrawWindows(PlanCall& call, RandomNumbers& random, Shape& image, Shape& columns) {
  image = DrawShape(random, 3, 4, 6);
  if (random.Chance(10)) image.back() = random.Between(250, 300);
  for (const char* name : {"kernelSize", "dilation", "padding", "stride"}) {
    const int64_t least = std::string(name) == "padding" ? 0 : 1;
    call[name].values = {random.Between(least, 3), random.Between(least, 3)};
  }
  const auto& kernel = call["kernelSize"].values;
  columns = Shape(image.begin(), image.end() - 3);
  columns.push_back(image[image.size() - 3] * kernel[0] * kernel[1]);
  columns.push_back(std::max<int64_t>(0, WindowCount(call, 0, image[image.size() - 2])) *
                    std::max<int64_t>(0, WindowCount(call, 1, image.back())));
}

OperatorSpec Im2col() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnIm2col);
  op.valid = {TensorArg("self", {2, 4, 5}), ArrayArg("kernelSize", {2, 3}), ArrayArg("dilation", {1, 2}),
              ArrayArg("padding", {1, 1}),  ArrayArg("stride", {2, 1}),     OutputArg("out", {12, 9})};
  op.rules = {
      NoNulls("self kernelSize dilation padding stride out"),
      DtypeIn("self", {{ACL_FLOAT, ACL_FLOAT16, ACL_BF16},
                       {},
                       Both(Both(kReals, kUnsigned), {ACL_BOOL, ACL_COMPLEX32, ACL_COMPLEX64})}),
      Ranks("self", 3, 4),
      Refuses(161002, "self",
              [](PlanCall& call) { return HasZero(call["self"].shape, call["self"].shape.size() - 3); }),
      Refuses(161002, "kernelSize dilation padding stride",
              [](PlanCall& call) {
                if (PairsAreWrong(call, {"kernelSize", "dilation", "padding", "stride"})) return true;
                const Shape& self = call["self"].shape;
                const size_t rank = self.size();
                const int64_t high = WindowCount(call, 0, self[rank - 2]);
                const int64_t wide = WindowCount(call, 1, self[rank - 1]);
                const auto& kernel = call["kernelSize"].values;
                call.result = Shape(self.begin(), self.end() - 3);
                call.result.push_back(self[rank - 3] * kernel[0] * kernel[1]);
                call.result.push_back(high * wide);
                return high < 1 || wide < 1;
              }),
      ResultIs("out"),
      DoneIfEmpty("self"),
      Refuses(561103, "out self", [](PlanCall& call) {
        const auto& all = ConvertibleDtypes();
        const DtypeNumber from = call["self"].dtype;
        const DtypeNumber to = call["out"].dtype;
        return from != to && !(IsOneOf(from, all) && IsOneOf(to, all));
      })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    Shape columns;
    DrawWindows(call, random, image, columns);
    const DtypeList dtypes = call.product == Product::k950
                                 ? DtypeList{ACL_FLOAT, ACL_DOUBLE, ACL_INT8, ACL_BOOL}
                                 : DtypeList{ACL_FLOAT, ACL_BF16, ACL_FLOAT16};
    const DtypeNumber dtype = DrawDtype(random, dtypes);
    call["self"] = TensorArg("self", image, dtype);
    call["out"] = OutputArg(
        "out", columns,
        random.Chance(80) ? dtype : DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_INT8, ACL_COMPLEX64}));
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const DtypeNumber out = tensors[1].dtype;
    if (NumElements(call["self"].shape) == 0) return std::vector<Outcome>{{}};
    return std::vector<Outcome>{ForEachElement(call.result, [&](Index& index) -> std::optional<Element> {
      const auto place = PlaceInImage(call, index, tensors[0].shape);
      if (!place) return Element(static_cast<size_t>(ElementSize(out)));
      return out == tensors[0].dtype ? At(tensors[0], *place)
                                     : ConvertedElement(tensors[0].dtype, At(tensors[0], *place), out);
    })};
  };
  return op;
}

OperatorSpec Col2im() {
  const Listed list = {{ACL_FLOAT, ACL_FLOAT16}, {ACL_BF16}};
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnIm2colBackward);
  op.valid = {TensorArg("gradOutput", {12, 9}), ArrayArg("inputSize", {4, 5}), ArrayArg("kernelSize", {2, 3}),
              ArrayArg("dilation", {1, 2}),     ArrayArg("padding", {1, 1}),   ArrayArg("stride", {2, 1}),
              OutputArg("out", {2, 4, 5})};
  op.rules = {
      NoNulls("gradOutput inputSize kernelSize dilation padding stride out"),
      DtypeIn("gradOutput out", list),
      Ranks("gradOutput", 2, 3),
      Refuses(161002, "out",
              [](PlanCall& call) { return call["out"].shape.size() != call["gradOutput"].shape.size() + 1; }),
      Refuses(161002, "inputSize kernelSize dilation padding stride gradOutput",
              [](PlanCall& call) {
                if (PairsAreWrong(call, {"inputSize", "kernelSize", "dilation", "padding", "stride"}))
                  return true;
                const Shape& columns = call["gradOutput"].shape;
                const auto& size = call["inputSize"].values;
                const auto& kernel = call["kernelSize"].values;
                const int64_t high = WindowCount(call, 0, size[0]);
                const int64_t wide = WindowCount(call, 1, size[1]);
                call.result = Shape(columns.begin(), columns.end() - 2);
                const int64_t window = kernel[0] * kernel[1];
                call.result.push_back(columns[columns.size() - 2] / window);
                call.result.insert(call.result.end(), size.begin(), size.end());
                return columns[columns.size() - 2] % window != 0 || std::min(high, wide) < 0 ||
                       columns.back() != high * wide;
              }),
      ResultIs("out"),
      DoneIfEmpty("gradOutput")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    Shape columns;
    DrawWindows(call, random, image, columns);
    const DtypeList dtypes = {ACL_FLOAT, ACL_BF16, ACL_FLOAT16};
    call["inputSize"].values = {image[image.size() - 2], image.back()};
    call["gradOutput"] = TensorArg("gradOutput", columns, DrawDtype(random, dtypes));
    call["out"] = OutputArg("out", image, DrawDtype(random, dtypes));
  };
  op.fill = FillWithSmallNumbers;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (NumElements(tensors[0].shape) == 0) return std::vector<Outcome>{{}};
    Sums sums(tensors[1].shape);
    for (int64_t i = 0; i < NumElements(tensors[0].shape); ++i) {
      const Index column = IndexAt(tensors[0].shape, i);
      const auto place = PlaceInImage(call, column, tensors[1].shape);
      if (place) sums.Add(*place, NumberAt(tensors[0], column));
    }
    return std::vector<Outcome>{sums.As(tensors[1].dtype)};
  };
  return op;
}

OperatorSpec UnfoldGradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnUnfoldGrad);
  op.takes_workspace = true;  // of long windows, for tables
  op.valid = {TensorArg("gradOut", {2, 3, 4}), ArrayArg("inputSizes", {2, 8}), IntegerArg("dim", 1),
              IntegerArg("size", 4),           IntegerArg("step", 2),          OutputArg("gradIn", {2, 8})};
  op.rules = {
      NoNulls("gradOut inputSizes gradIn", 561103),
      DtypeIn("gradOut gradIn", {{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}}),
      Ranks("gradOut gradIn", 1, 8),
      Refuses(161002, "inputSizes gradIn",
              [](PlanCall& call) {
                call.result = call["inputSizes"].values;
                return call.result.size() + 1 != call["gradOut"].shape.size() ||
                       call["gradIn"].shape != call.result;
              }),
      Refuses(161002, "dim size step gradOut gradIn",
              [](PlanCall& call) {
                return call["dim"].integer < 0 || call["dim"].integer >= std::ssize(call.result) ||
                       call["size"].integer < 1 || call["step"].integer < 1 ||
                       call["gradOut"].format == ACL_FORMAT_FRACTAL_NZ ||
                       call["gradIn"].format == ACL_FORMAT_FRACTAL_NZ;
              }),
      DoneIfEmpty("gradOut gradIn"),
      Refuses(561103, "gradIn", [](PlanCall& call) { return call["gradIn"].dtype != call["gradOut"].dtype; }),
      Refuses(161002, "gradOut size", [](PlanCall& call) {
        Shape windows = call.result;
        int64_t& length = windows[static_cast<size_t>(call["dim"].integer)];
        const int64_t size = call["size"].integer;
        if (size > length) return true;
        length = (length - size) / call["step"].integer + 1;
        windows.push_back(size);
        return call["gradOut"].shape != windows;
      })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 1, 5, 5);
    const int64_t dim = random.Below(std::ssize(shape));
    int64_t& length = shape[static_cast<size_t>(dim)];
    if (NumElements(shape) < 100 && random.Chance(50)) length = random.Between(2, 900);
    const int64_t size = random.Between(1, random.Chance(50) ? std::min<int64_t>(length, 4) : length);
    const int64_t step = random.Between(1, random.Chance(50) ? 3 : length);
    Shape windows = shape;
    windows[static_cast<size_t>(dim)] = (length - size) / step + 1;
    windows.push_back(size);
    const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_FLOAT16});
    call["gradOut"] = TensorArg("gradOut", windows, dtype);
    call["gradIn"] = OutputArg("gradIn", shape, dtype);
    call["inputSizes"].values = shape;
    call["dim"].integer = dim;
    call["size"].integer = size;
    call["step"].integer = step;
  };
  op.fill = FillWithSmallNumbers;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& windows = tensors[0];
    const auto dim = static_cast<size_t>(call["dim"].integer);
    Sums sums(tensors[1].shape);
    for (int64_t i = 0; i < NumElements(windows.shape); ++i) {
      Index index = IndexAt(windows.shape, i);
      const Number value = NumberAt(windows, index);
      index[dim] = index[dim] * call["step"].integer + index.back();
      index.pop_back();
      sums.Add(index, value);
    }
    return std::vector<Outcome>{sums.As(windows.dtype)};
  };
  return op;
}

std::vector<OperatorSpec> Windows() { return {Im2col(), Col2im(), UnfoldGradient()}; }

// ---- resizing ----

enum class Filter { kNearest, kLinear, kCubic };

struct Tap {
  int64_t index;
  double weight;
};

// What place `at` of a dim of `to` elements is made of, of one of `from`; in float32 or float64.
template <class T>
std::vector<Tap> TapsOf(Filter filter, int64_t at, int64_t from, T step, bool aligns_corners) {
  const auto inside = [&](int64_t index) { return std::clamp<int64_t>(index, 0, from - 1); };
  const auto position = static_cast<T>(at);
  const auto half = static_cast<T>(0.5);
  if (filter == Filter::kNearest) return {{inside(static_cast<int64_t>(std::floor(position * step))), 1}};
  T place = aligns_corners ? position * step : (position + half) * step - half;
  if (filter == Filter::kLinear) place = std::max(place, T{0});
  const auto below = static_cast<int64_t>(std::floor(place));
  if (filter == Filter::kLinear) {
    if (below >= from - 1) return {{from - 1, 1}};
    const double part = static_cast<double>(place) - static_cast<double>(below);
    return {{below, 1 - part}, {below + 1, part}};
  }
  // Places beyond the last element count as the last one.
  const double part = below >= from ? 1 : static_cast<double>(place) - static_cast<double>(below);
  const int64_t middle = std::min(below, from - 1);
  std::vector<Tap> taps;
  for (int64_t k = -1; k <= 2; ++k) {
    const double distance = std::fabs(static_cast<double>(k) - part);
    constexpr double kA = -0.75;
    const double weight =
        distance <= 1
            ? (kA + 2) * distance * distance * distance - (kA + 3) * distance * distance + 1
            : kA * distance * distance * distance - 5 * kA * distance * distance + 8 * kA * distance - 4 * kA;
    taps.push_back({inside(middle + k), weight});
  }
  return taps;
}

bool IsNhwc(const PlanArgument& image) { return image.format == ACL_FORMAT_NHWC; }
// Where rows, columns and channels are.
size_t RowsDim(const PlanArgument& image) { return IsNhwc(image) ? 1 : 2; }
size_t ColumnsDim(const PlanArgument& image) { return RowsDim(image) + 1; }
size_t ChannelsDim(const PlanArgument& image) { return IsNhwc(image) ? 3 : 1; }

// The images of a call: `image` is resized to `resized`.
struct Resizing {
  Filter filter;
  const char* image;
  const char* resized;
};

using ScaleFunction = std::function<double(const PlanCall& call, const char* name, int64_t from, int64_t to)>;

// By the rules of two dims; `scale` says which scale counts, 0 or less for none.
template <class T>
T StepOf(const Resizing& resizing, const PlanCall& call, const ScaleFunction& scale, const char* name,
         int64_t from, int64_t to) {
  const bool corners = resizing.filter != Filter::kNearest && call["alignCorners"].integer != 0;
  if (from == to && (resizing.filter == Filter::kNearest ||
                     (resizing.filter == Filter::kLinear &&
                      (call.product == Product::kA2 || call.product == Product::kA3))))
    return 1;
  if (corners) return to == 1 ? 0 : static_cast<T>(from - 1) / static_cast<T>(to - 1);
  const double given = scale(call, name, from, to);
  return given > 0 ? static_cast<T>(1 / given) : static_cast<T>(from) / static_cast<T>(to);
}

// f(index of resized, index of image, weight) for each pair of which one makes the other.
void ForEachPair(const Resizing& resizing, const PlanCall& call, const ScaleFunction& scale,
                 const std::function<void(const Index&, const Index&, double)>& f) {
  const PlanArgument& image = call[resizing.image];
  const PlanArgument& resized = call[resizing.resized];
  const size_t dims[] = {RowsDim(image), ColumnsDim(image)};
  const char* const names[] = {"scalesH", "scalesW"};
  const bool is_wide = resizing.filter == Filter::kLinear && image.dtype == ACL_DOUBLE;
  const bool corners = resizing.filter != Filter::kNearest && call["alignCorners"].integer != 0;
  for (int64_t i = 0; i < NumElements(resized.shape); ++i) {
    const Index at = IndexAt(resized.shape, i);
    const auto taps = [&](size_t axis) {
      const int64_t from = image.shape[dims[axis]];
      const int64_t to = resized.shape[dims[axis]];
      const auto taps_as = [&](auto step) {
        return TapsOf(resizing.filter, at[dims[axis]], from, step, corners);
      };
      return is_wide ? taps_as(StepOf<double>(resizing, call, scale, names[axis], from, to))
                     : taps_as(StepOf<float>(resizing, call, scale, names[axis], from, to));
    };
    Index place = at;
    for (const Tap& row : taps(0)) {
      for (const Tap& column : taps(1)) {
        place[dims[0]] = row.index;
        place[dims[1]] = column.index;
        f(at, place, row.weight * column.weight);
      }
    }
  }
}

OutcomeOracle Resized(const Resizing& resizing, const ScaleFunction& scale, bool is_gradient) {
  return [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (NumElements(tensors[0].shape) == 0) return std::vector<Outcome>{{}};
    Sums sums(tensors[1].shape);
    ForEachPair(resizing, call, scale, [&](const Index& resized, const Index& image, double weight) {
      sums.Add(is_gradient ? image : resized, NumberAt(tensors[0], is_gradient ? resized : image), weight);
    });
    return std::vector<Outcome>{sums.As(tensors[1].dtype)};
  };
}

// Images, what they are resized to, and scales that mostly make the one of the other.
void DrawImages(PlanCall& call, const Resizing& resizing, const DtypeList& dtypes, RandomNumbers& random) {
  const bool is_nhwc = random.Chance(30);
  const int64_t images = random.Between(random.Chance(4) ? 0 : 1, 2);
  const int64_t channels = random.Between(1, 3);
  const auto length = [&] { return random.Chance(10) ? random.Between(250, 300) : random.Between(1, 9); };
  const int64_t from[] = {random.Between(1, 8), length()};
  int64_t to[] = {random.Between(1, 12), length()};
  for (size_t axis = 0; axis < 2; ++axis) {
    if (random.Chance(20)) to[axis] = from[axis];
  }
  const auto shape = [&](const int64_t* size) {
    return is_nhwc ? Shape{images, size[0], size[1], channels} : Shape{images, channels, size[0], size[1]};
  };
  const DtypeNumber dtype = DrawDtype(random, dtypes);
  for (const char* name : {resizing.image, resizing.resized}) {
    call[name].shape = shape(name == resizing.image ? from : to);
    call[name].format = is_nhwc ? ACL_FORMAT_NHWC : ACL_FORMAT_NCHW;
    call[name].dtype = dtype;
  }
  call["outputSize"].values = {to[0], to[1]};
  for (PlanArgument& argument : call.arguments) {
    if (argument.name == "inputSize") argument.values = shape(from);
    if (argument.name == "alignCorners") argument.integer = random.Below(2);
    if (argument.kind != ParameterKind::kReal) continue;
    const size_t axis = argument.name == "scalesW" ? 1 : 0;
    argument.real = random.Chance(40) ? 0 : static_cast<double>(to[axis]) / static_cast<double>(from[axis]);
    if (random.Chance(15))
      argument.real = static_cast<float>(to[axis] + 0.5) / static_cast<float>(from[axis]);
  }
}

bool ImageFormatsAreWrong(const PlanCall& call, const std::vector<const char*>& names, bool equal = true,
                          bool nd = false) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) {
    const int32_t format = call[name].format;
    return (format != ACL_FORMAT_NCHW && format != ACL_FORMAT_NHWC && !(nd && format == ACL_FORMAT_ND)) ||
           (equal && format != call[names[0]].format);
  });
}

PlanArgument ImageArg(const std::string& name, const Shape& shape, bool is_output = false) {
  PlanArgument image = is_output ? OutputArg(name, shape) : TensorArg(name, shape);
  image.format = ACL_FORMAT_NCHW;
  return image;
}

const Listed kNearestList = {{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_UINT8}, {ACL_BF16}};

double NearestScale(const PlanCall& call, const char* name, int64_t, int64_t) {
  const DtypeNumber dtype = call.arguments[0].dtype;
  if (dtype == ACL_DOUBLE || dtype == ACL_UINT8 || call.product == Product::k910 ||
      call.product == Product::k310B)
    return 0;
  return call[name].real;
}
double NoScale(const PlanCall&, const char*, int64_t, int64_t) { return 0; }

OperatorSpec Nearest2d(bool is_v2) {
  const Resizing resizing{Filter::kNearest, "self", "out"};
  OperatorSpec op;
  op.function =
      is_v2 ? PORTACL_C_FUNCTION(aclnnUpsampleNearest2dV2) : PORTACL_C_FUNCTION(aclnnUpsampleNearest2d);
  op.valid = {ImageArg("self", {2, 3, 4, 5}), ArrayArg("outputSize", {8, 7})};
  if (is_v2) op.valid.insert(op.valid.end(), {RealArg("scalesH", 2), RealArg("scalesW", 0)});
  op.valid.push_back(ImageArg("out", {2, 3, 8, 7}, true));
  if (is_v2) op.rules = {NoNulls("self out"), DoneIfEmpty("self out")};
  const Rules rest = {NoNulls("self outputSize out"),
                      DtypeIn("self", kNearestList),
                      SameDtype("self", "out"),
                      Refuses(161002, "self out outputSize",
                              [](PlanCall& call) {
                                const Shape& self = call["self"].shape;
                                const auto& size = call["outputSize"].values;
                                if (size.size() != 2 || self.size() != 4 || call["out"].shape.size() != 4)
                                  return true;
                                return self[1] == 0 || self[RowsDim(call["self"])] == 0 ||
                                       self[ColumnsDim(call["self"])] == 0 || size[0] < 1 || size[1] < 1;
                              }),
                      Refuses(161002, "self out",
                              [=](PlanCall& call) {
                                return ImageFormatsAreWrong(call, {"self", "out"}, !is_v2);
                              }),
                      Refuses(161002, "out outputSize",
                              [](PlanCall& call) {
                                const PlanArgument& self = call["self"];
                                const PlanArgument& out = call["out"];
                                return self.shape[0] != out.shape[0] ||
                                       self.shape[ChannelsDim(self)] != out.shape[ChannelsDim(out)] ||
                                       out.shape[RowsDim(out)] != call["outputSize"].values[0] ||
                                       out.shape[ColumnsDim(out)] != call["outputSize"].values[1];
                              }),
                      DoneIfEmpty("self out")};
  op.rules.insert(op.rules.end(), rest.begin(), rest.end());
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DrawImages(call, resizing, {ACL_FLOAT, ACL_BF16, ACL_UINT8, ACL_DOUBLE}, random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (NumElements(tensors[0].shape) == 0) return std::vector<Outcome>{{}};
    Outcome outcome(tensors[1].elements.size());
    ForEachPair(resizing, call, is_v2 ? NearestScale : NoScale,
                [&](const Index& at, const Index& from, double) {
                  outcome[static_cast<size_t>(PositionOf(tensors[1].shape, at))] = At(tensors[0], from);
                });
    return std::vector<Outcome>{outcome};
  };
  return op;
}

OperatorSpec Nearest1d(bool is_v2) {
  OperatorSpec op;
  op.function =
      is_v2 ? PORTACL_C_FUNCTION(aclnnUpsampleNearest1dV2) : PORTACL_C_FUNCTION(aclnnUpsampleNearest1d);
  op.valid = {TensorArg("self", {2, 3, 5}), ArrayArg("outputSize", {8})};
  if (is_v2) op.valid.push_back(RealArg("scaleL", 1.5));
  op.valid.push_back(OutputArg("out", {2, 3, 8}));
  for (PlanArgument& argument : op.valid) argument.format = ACL_FORMAT_NCL;
  op.rules = {NoNulls("self outputSize out"),
              DtypeIn("self", kNearestList),
              SameDtype("self", "out"),
              Refuses(161002, "self outputSize",
                      [](PlanCall& call) {
                        const Shape& self = call["self"].shape;
                        return call["outputSize"].values.empty() || self.size() != 3 || self[1] == 0 ||
                               self[2] == 0;
                      }),
              Refuses(161002, "out outputSize",
                      [=](PlanCall& call) {
                        const Shape& out = call["out"].shape;
                        const int64_t length = call["outputSize"].values[0];
                        return (is_v2 && (out.size() != 3 || out[2] != length)) || length == 0;
                      }),
              Refuses(161002, "self out",
                      [](PlanCall& call) {
                        return call["self"].format != ACL_FORMAT_NCL || call["out"].format != ACL_FORMAT_NCL;
                      }),
              DoneIfEmpty("self out"),
              Refuses(561103, "out", [](PlanCall& call) {
                call.result = call["self"].shape;
                call.result[2] = call["outputSize"].values[0];
                return call["out"].shape != call.result;
              })};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape self = {random.Between(1, 3), random.Between(1, 3),
                        random.Between(1, random.Chance(20) ? 400 : 8)};
    const int64_t length = random.Chance(20) ? self[2] : random.Between(1, 20);
    call["self"].shape = self;
    call["out"].shape = {self[0], self[1], length};
    call["outputSize"].values = {length};
    if (is_v2) call["scaleL"].real = random.Chance(50) ? -1 : static_cast<double>(random.Between(1, 12)) / 4;
    call["self"].dtype = call["out"].dtype =
        DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_UINT8, ACL_DOUBLE});
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (NumElements(tensors[0].shape) == 0) return std::vector<Outcome>{{}};
    const int64_t from = tensors[0].shape[2];
    const int64_t to = tensors[1].shape[2];
    const double scale = is_v2 ? NearestScale(call, "scaleL", from, to) : 0;
    const float step = from == to  ? 1
                       : scale > 0 ? static_cast<float>(1 / scale)
                                   : static_cast<float>(from) / static_cast<float>(to);
    return std::vector<Outcome>{ForEachElement(tensors[1].shape, [&](Index& index) -> std::optional<Element> {
      index[2] = TapsOf(Filter::kNearest, index[2], from, step, false)[0].index;
      return At(tensors[0], index);
    })};
  };
  return op;
}

// Of gradients: gradOut's shape is inputSize with outputSize's rows and columns.
bool GradientShapesAreWrong(PlanCall& call) {
  const PlanArgument& grad = call["gradOut"];
  const auto& output = call["outputSize"].values;
  const auto& input = call["inputSize"].values;
  if (grad.shape.size() != 4 || output.size() != 2 || input.size() != 4) return true;
  call.result = input;
  Shape shape = input;
  shape[RowsDim(grad)] = output[0];
  shape[ColumnsDim(grad)] = output[1];
  return input[RowsDim(grad)] < 1 || input[ColumnsDim(grad)] < 1 || output[0] < 1 || output[1] < 1 ||
         grad.shape != shape;
}

OperatorSpec NearestGradient() {
  const Resizing resizing{Filter::kNearest, "gradInput", "gradOut"};
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnUpsampleNearest2dBackward);
  op.valid = {ImageArg("gradOut", {2, 3, 8, 7}),
              ArrayArg("outputSize", {8, 7}),
              ArrayArg("inputSize", {2, 3, 4, 5}),
              RealArg("scalesH", 2),
              RealArg("scalesW", 0),
              ImageArg("gradInput", {2, 3, 4, 5}, true)};
  op.rules = {
      NoNulls("gradOut outputSize inputSize gradInput"),
      DtypeIn("gradOut", {{ACL_FLOAT, ACL_FLOAT16}, {ACL_BF16}}),
      SameDtype("gradOut", "gradInput"),
      Refuses(161002, "gradOut gradInput outputSize inputSize",
              [](PlanCall& call) {
                return ImageFormatsAreWrong(call, {"gradOut", "gradInput"}) || GradientShapesAreWrong(call);
              }),
      ResultIs("gradInput"),
      DoneIfEmpty("gradOut gradInput")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DrawImages(call, resizing, {ACL_FLOAT, ACL_BF16, ACL_FLOAT16}, random);
  };
  op.fill = FillWithSmallNumbers;
  op.oracle = Resized(resizing, NearestScale, true);
  return op;
}

double LinearScale(const PlanCall& call, const char* name, int64_t from, int64_t to) {
  const double scale = call[name].real;
  if (call.product != Product::kA2 && call.product != Product::kA3) return scale;
  return std::floor(static_cast<double>(from) * scale) == static_cast<double>(to) ? scale : 0;
}
double PlainScale(const PlanCall& call, const char* name, int64_t, int64_t) { return call[name].real; }

std::vector<PlanArgument> ResizingArguments() {
  return {ImageArg("self", {2, 3, 4, 5}), ArrayArg("outputSize", {8, 7}),
          IntegerArg("alignCorners", 0),  RealArg("scalesH", 2),
          RealArg("scalesW", 0),          ImageArg("out", {2, 3, 8, 7}, true)};
}

Shape AskedShape(const PlanCall& call) {
  Shape shape = call["self"].shape;
  shape[RowsDim(call["self"])] = call["outputSize"].values[0];
  shape[ColumnsDim(call["self"])] = call["outputSize"].values[1];
  return shape;
}

OperatorSpec Bilinear() {
  const Resizing resizing{Filter::kLinear, "self", "out"};
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnUpsampleBilinear2d);
  op.valid = ResizingArguments();
  op.rules = {
      NoNulls("self out", 561103),
      DtypeIn("self", {{ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE}}),
      SameDtype("self", "out"),
      Refuses(161002, "self out",
              [](PlanCall& call) {
                const Shape& self = call["self"].shape;
                const Shape& out = call["out"].shape;
                if (ImageFormatsAreWrong(call, {"self", "out"}) || self.size() != 4 || out.size() != 4)
                  return true;
                const size_t channels = ChannelsDim(call["self"]);
                return (call["self"].dtype == ACL_DOUBLE && !IsNhwc(call["self"])) || self[0] != out[0] ||
                       self[channels] != out[channels];
              }),
      Refuses(161002, "scalesH scalesW outputSize out",
              [](PlanCall& call) {
                return call["scalesH"].real < 0 || call["scalesW"].real < 0 || call["outputSize"].null ||
                       call["outputSize"].values.size() != 2 || call["out"].shape != AskedShape(call);
              }),
      DoneIfEmpty("self out")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DrawImages(call, resizing, {ACL_FLOAT, ACL_BF16, ACL_FLOAT16, ACL_DOUBLE}, random);
  };
  op.fill = FillWithSmallNumbers;
  op.tolerance = 3e-5;
  op.oracle = Resized(resizing, LinearScale, false);
  return op;
}

OperatorSpec Bicubic() {
  const Resizing resizing{Filter::kCubic, "self", "out"};
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnUpsampleBicubic2d);
  op.valid = ResizingArguments();
  op.rules = {NoNulls("self outputSize out"),
              DtypeIn("self", {{ACL_FLOAT, ACL_FLOAT16}, {ACL_BF16}}),
              SameDtype("self", "out"),
              Refuses(161002, "self out outputSize",
                      [](PlanCall& call) {
                        const Shape& self = call["self"].shape;
                        const auto& size = call["outputSize"].values;
                        return ImageFormatsAreWrong(call, {"self", "out"}, true, true) || self.size() != 4 ||
                               call["out"].shape.size() != 4 || size.size() != 2 || HasZero(self, 1) ||
                               size[0] < 1 || size[1] < 1 || call["out"].shape != AskedShape(call);
                      }),
              Refuses(161002, "scalesH scalesW",
                      [](PlanCall& call) {
                        const auto wrong = [&](const char* name, size_t dim, size_t axis) {
                          const double scale = call[name].real;
                          const double length = static_cast<double>(call["self"].shape[dim]) * scale;
                          const auto asked = static_cast<double>(call["outputSize"].values[axis]);
                          return scale > 0 && (length < asked - 1e-3 || length > asked + 1 + 1e-3);
                        };
                        return call.product != Product::k950 &&
                               (wrong("scalesH", RowsDim(call["self"]), 0) ||
                                wrong("scalesW", ColumnsDim(call["self"]), 1));
                      }),
              DoneIfEmpty("self")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DrawImages(call, resizing, {ACL_FLOAT, ACL_BF16, ACL_FLOAT16}, random);
    if (random.Chance(20) && !IsNhwc(call["self"])) call["self"].format = call["out"].format = ACL_FORMAT_ND;
  };
  op.fill = FillWithSmallNumbers;
  op.tolerance = 2e-4;
  op.oracle = Resized(resizing, PlainScale, false);
  return op;
}

OperatorSpec BilinearGradient(bool is_v2) {
  const Resizing resizing{Filter::kLinear, "out", "gradOut"};
  const auto keeps_size = [](const PlanCall& call) {
    return call["gradOut"].shape == call["inputSize"].values;
  };
  const auto mixes = [=](const PlanCall& call) {
    return !is_v2 && call.product == Product::k950 && call["gradOut"].dtype == ACL_FLOAT && !keeps_size(call);
  };
  const Listed list = is_v2 ? kFloats : Listed{{ACL_FLOAT, ACL_FLOAT16}, {}, {ACL_BF16}};
  OperatorSpec op;
  op.function = is_v2 ? PORTACL_C_FUNCTION(aclnnUpsampleBilinear2dBackwardV2)
                      : PORTACL_C_FUNCTION(aclnnUpsampleBilinear2dBackward);
  op.valid = {
      ImageArg("gradOut", {2, 3, 8, 7}),  ArrayArg("outputSize", {8, 7}), ArrayArg("inputSize", {2, 3, 4, 5}),
      IntegerArg("alignCorners", 0),      RealArg("scalesH", 2),          RealArg("scalesW", 0),
      ImageArg("out", {2, 3, 4, 5}, true)};
  const Rule formats = Refuses(161002, "gradOut out", [](PlanCall& call) {
    return ImageFormatsAreWrong(call, {"gradOut", "out"});
  });
  op.rules = {NoNulls("gradOut outputSize inputSize out"),
              Refuses(161002, "gradOut outputSize inputSize", GradientShapesAreWrong)};
  if (!is_v2) op.rules.push_back(ResultIs("out"));
  op.rules.push_back(Refuses(161002, "gradOut out", [=](PlanCall& call) {
    const DtypeNumber grad = call["gradOut"].dtype;
    const DtypeNumber out = call["out"].dtype;
    const bool refused = is_v2 && call.product == Product::k310B;
    if (!keeps_size(call) && (refused || !list.Has(call.product, grad))) return true;
    return mixes(call) ? !IsOneOf(out, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) : grad != out;
  }));
  op.rules.push_back(formats);
  op.rules.push_back(DoneIfEmpty(is_v2 ? "gradOut out" : "gradOut"));
  op.rules.push_back(ResultIs("out"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DrawImages(call, resizing, {ACL_FLOAT, ACL_BF16, ACL_FLOAT16}, random);
    if (mixes(call)) call["out"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_FLOAT16});
  };
  op.fill = FillWithSmallNumbers;
  op.tolerance = 3e-5;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (keeps_size(call) && NumElements(tensors[0].shape) > 0)
      return std::vector<Outcome>{ForEachElement(
          tensors[1].shape, [&](Index& index) -> std::optional<Element> { return At(tensors[0], index); })};
    return Resized(resizing, LinearScale, true)(call, tensors);
  };
  return op;
}

std::vector<OperatorSpec> Resizings() {
  return {Nearest2d(false),        Nearest2d(true),        Nearest1d(false),
          Nearest1d(true),         NearestGradient(),      Bilinear(),
          BilinearGradient(false), BilinearGradient(true), Bicubic()};
}

// ---- grids ----

// A place mirrored at 0 and `last` until it lies between them.
double MirroredPlace(double place, double first, double last) {
  if (last <= first) return first;
  while (place < first || place > last) place = place < first ? 2 * first - place : 2 * last - place;
  return place;
}

double PlaceWithin(double place, int64_t n, int64_t padding, bool corners) {
  if (padding == 0) return place;
  const auto last = static_cast<double>(n - 1);
  if (padding == 2) place = corners ? MirroredPlace(place, 0, last) : MirroredPlace(place, -0.5, last + 0.5);
  return std::clamp(place, 0.0, last);
}

// The taps along a dim; those outside of the image are left out.
std::vector<Tap> GridTaps(double coordinate, int64_t n, int64_t mode, int64_t padding, bool corners) {
  const auto length = static_cast<double>(n);
  const double place = corners ? (coordinate + 1) / 2 * (length - 1) : ((coordinate + 1) * length - 1) / 2;
  std::vector<Tap> taps;
  const auto add = [&](double at, double weight) {
    if (at >= 0 && at < length) taps.push_back({static_cast<int64_t>(at), weight});
  };
  if (mode == 2) {
    const double below = std::floor(place);
    for (int k = -1; k <= 2; ++k) {
      const double distance = std::fabs(below + k - place);
      constexpr double kA = -0.75;
      const double cube = distance * distance * distance;
      const double weight = distance <= 1
                                ? (kA + 2) * cube - (kA + 3) * distance * distance + 1
                                : kA * cube - 5 * kA * distance * distance + 8 * kA * distance - 4 * kA;
      add(std::floor(PlaceWithin(below + k, n, padding, corners)), weight);
    }
    return taps;
  }
  const double within = PlaceWithin(place, n, padding, corners);
  if (mode == 1) {
    add(std::nearbyint(within), 1);
    return taps;
  }
  const double part = within - std::floor(within);
  add(std::floor(within), 1 - part);
  add(std::floor(within) + 1, part);
  return taps;
}

// Calls f(index in the input, weight) for the taps of a point of a grid, which may be moved along an axis.
void ForEachGridTap(const PlanCall& call, const TensorValues& grid, const Shape& input, const Index& point,
                    size_t moved, double by, const std::function<void(const Index&, double)>& f) {
  const size_t axes = input.size() - 2;
  std::vector<std::vector<Tap>> taps;  // of planes, rows, columns
  for (size_t k = 0; k < axes; ++k) {
    // The last coordinate is that of the first axis.
    const size_t axis = axes - 1 - k;
    Index place = {point[0]};
    place.insert(place.end(), point.begin() + 2, point.end());
    place.push_back(static_cast<int64_t>(axis));
    const double coordinate = static_cast<double>(NumberAt(grid, place).real) + (axis == moved ? by : 0);
    taps.push_back(GridTaps(coordinate, input[2 + k], call["interpolationMode"].integer,
                            call["paddingMode"].integer, call["alignCorners"].integer != 0));
  }
  Index at = {point[0], point[1]};
  const std::function<void(double)> go_on = [&](double weight) {
    const size_t k = at.size() - 2;
    if (k == axes) return f(at, weight);
    for (const Tap& tap : taps[k]) {
      at.push_back(tap.index);
      go_on(weight * tap.weight);
      at.pop_back();
    }
  };
  go_on(1);
}

bool IsOfNewProducts(const PlanCall& call) {
  return call.product == Product::kA2 || call.product == Product::kA3 || call.product == Product::k950;
}

// The rules that sampling and its gradients share, of types, modes and shapes. `first` is the tensor that the others are of the type of.
Rules GridRules(bool is_volume, const std::string& first, const std::vector<std::string>& others,
                const std::string& output) {
  const size_t rank = is_volume ? 5 : 4;
  Rules rules = {Refuses(161002, first, [=](PlanCall& call) {
    const DtypeNumber dtype = call[first].dtype;
    return !IsOneOf(dtype, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE}) ||
           (dtype == ACL_BF16 && call.product == Product::k310P);
  })};
  for (const std::string& other : others) rules.push_back(SameDtype(first, other));
  rules.push_back(Refuses(161002, "interpolationMode paddingMode", [=](PlanCall& call) {
    const int64_t mode = call["interpolationMode"].integer;
    const int64_t padding = call["paddingMode"].integer;
    return mode < 0 || mode > (is_volume ? 1 : 2) || padding < 0 || padding > 2 ||
           (mode == 2 && (call["input"].dtype == ACL_DOUBLE || !IsOfNewProducts(call)));
  }));
  // In the order of the parameters.
  rules.push_back(Ranks(first == output ? output + " input grid" : "input grid " + output, rank, rank));
  rules.push_back(Refuses(161002, "input grid " + output, [=](PlanCall& call) {
    const Shape& input = call["input"].shape;
    const Shape& grid = call["grid"].shape;
    Shape accepted = {input[0], input[1]};
    accepted.insert(accepted.end(), grid.begin() + 1, grid.end() - 1);
    return grid[0] != input[0] || call[output].shape != accepted || HasZero(input, 2) ||
           grid.back() != static_cast<int64_t>(rank) - 2;
  }));
  return rules;
}

void DrawGrid(PlanCall& call, bool is_volume, const std::string& output,
              const std::vector<std::string>& tensors, RandomNumbers& random) {
  Shape input = {random.Between(1, 2), random.Between(1, random.Chance(10) ? 20 : 3)};
  Shape grid = {input[0]};
  for (size_t axis = 0; axis < (is_volume ? 3 : 2); ++axis) {
    input.push_back(random.Between(1, 6));
    grid.push_back(random.Between(1, 4));
  }
  if (random.Chance(20)) grid.back() = random.Between(1, is_volume ? 70 : 150);
  Shape out = {input[0], input[1]};
  out.insert(out.end(), grid.begin() + 1, grid.end());
  grid.push_back(is_volume ? 3 : 2);
  const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT, ACL_BF16, ACL_FLOAT16, ACL_DOUBLE});
  call["input"].shape = input;
  call["grid"].shape = grid;
  call[output].shape = out;
  for (const std::string& name : tensors) call[name].dtype = dtype;
  call["interpolationMode"].integer = random.Below(is_volume ? 2 : 3);
  call["paddingMode"].integer = random.Below(3);
  call["alignCorners"].integer = random.Below(2);
}

OperatorSpec GridSampler(const CFunction& function, bool is_volume) {
  OperatorSpec op;
  op.function = function;
  const Shape input = is_volume ? Shape{2, 3, 2, 4, 5} : Shape{2, 3, 4, 5};
  const Shape grid = is_volume ? Shape{2, 2, 3, 2, 3} : Shape{2, 3, 2, 2};
  const Shape out = is_volume ? Shape{2, 3, 2, 3, 2} : Shape{2, 3, 3, 2};
  op.valid = {TensorArg("input", input),    TensorArg("grid", grid),       IntegerArg("interpolationMode", 0),
              IntegerArg("paddingMode", 0), IntegerArg("alignCorners", 0), OutputArg("out", out)};
  op.rules = {NoNulls("input grid out")};
  for (const Rule& rule : GridRules(is_volume, "input", {"grid", "out"}, "out")) op.rules.push_back(rule);
  op.rules.push_back(DoneIfEmpty("input grid"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DrawGrid(call, is_volume, "out", {"input", "grid", "out"}, random);
  };
  // Whole numbers, at places that every type has: quarters and odd sixteenths, from -4 to 4.
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillWithSmallNumbers(call, tensors, random);
    for (int64_t k = 0; k < tensors[1].size(); ++k) {
      const int64_t sixteenths = random.Between(random.Chance(20) ? -64 : -18, random.Chance(20) ? 64 : 18);
      tensors[1].Set(k, static_cast<double>(sixteenths) / 16);
    }
  };
  op.tolerance = 1e-4;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (NumElements(tensors[0].shape) == 0 || NumElements(tensors[1].shape) == 0)
      return std::vector<Outcome>{{}};
    Sums sums(tensors[2].shape);
    for (int64_t i = 0; i < NumElements(tensors[2].shape); ++i) {
      const Index at = IndexAt(tensors[2].shape, i);
      ForEachGridTap(call, tensors[1], tensors[0].shape, at, 0, 0, [&](const Index& from, double weight) {
        sums.Add(at, NumberAt(tensors[0], from), weight);
      });
    }
    return std::vector<Outcome>{sums.As(tensors[2].dtype)};
  };
  return op;
}

OperatorSpec GridGradient(const CFunction& function, bool is_volume) {
  OperatorSpec op;
  op.function = function;
  const Shape input = is_volume ? Shape{2, 3, 2, 4, 5} : Shape{2, 3, 4, 5};
  const Shape grid = is_volume ? Shape{2, 2, 3, 2, 3} : Shape{2, 3, 2, 2};
  const Shape out = is_volume ? Shape{2, 3, 2, 3, 2} : Shape{2, 3, 3, 2};
  op.valid = {
      TensorArg("gradOutput", out),       TensorArg("input", input),     TensorArg("grid", grid),
      IntegerArg("interpolationMode", 0), IntegerArg("paddingMode", 0),  IntegerArg("alignCorners", 0),
      ArrayArg("outputMask", {1, 1}),     OutputArg("inputGrad", input), OutputArg("gridGrad", grid)};
  op.takes_workspace = true;
  const auto wants = [](const PlanCall& call, size_t which) { return call["outputMask"].values[which] != 0; };
  op.rules = {NoNulls("gradOutput input grid outputMask"), Refuses(161002, "outputMask", [](PlanCall& call) {
                return call["outputMask"].values.size() != 2;
              })};
  constexpr const char* kGradients[] = {"inputGrad", "gridGrad"};
  for (size_t k = 0; k < 2; ++k)
    op.rules.push_back(Refuses(161001, kGradients[k],
                               [=](PlanCall& call) { return wants(call, k) && call[kGradients[k]].null; }));
  Rules shared = GridRules(is_volume, "gradOutput", {"input", "grid"}, "gradOutput");
  const auto types = Refuses(161002, "inputGrad gridGrad", [=](PlanCall& call) {
    bool differ = false;
    for (size_t k = 0; k < 2; ++k)
      differ = differ || (wants(call, k) && call[kGradients[k]].dtype != call["gradOutput"].dtype);
    return differ;
  });
  shared.insert(shared.begin() + 3, types);
  for (const Rule& rule : shared) op.rules.push_back(rule);
  op.rules.push_back(Refuses(161002, "inputGrad gridGrad", [=](PlanCall& call) {
    return (wants(call, 0) && call["inputGrad"].shape != call["input"].shape) ||
           (wants(call, 1) && call["gridGrad"].shape != call["grid"].shape);
  }));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DrawGrid(call, is_volume, "gradOutput", {"gradOutput", "input", "grid", "inputGrad", "gridGrad"}, random);
    call["inputGrad"].shape = call["input"].shape;
    call["gridGrad"].shape = call["grid"].shape;
    call["outputMask"].values = {random.Chance(80) ? 1 : 0, random.Chance(80) ? 1 : 0};
  };
  // Odd sixty-fourths, none of which is where a weight bends.
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillWithSmallNumbers(call, tensors, random);
    for (int64_t k = 0; k < tensors[2].size(); ++k) {
      const int64_t most = random.Chance(20) ? 127 : 36;
      tensors[2].Set(k, static_cast<double>(2 * random.Between(-most, most) + 1) / 64);
    }
  };
  op.tolerance = 1e-4;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    // The slope between two places beside the point, whose distance is exact. Between them a linear weight does not bend, and a cubic
    // one hardly.
    const double beside = call["interpolationMode"].integer == 2 ? 1.0 / (1 << 20) : 1.0 / 1024;
    const TensorValues& gradient = tensors[0];
    const TensorValues& values = tensors[1];
    const TensorValues& places = tensors[2];
    Sums of_input(values.shape);
    Sums of_grid(places.shape);
    const size_t axes = is_volume ? 3 : 2;
    for (int64_t i = 0; i < NumElements(gradient.shape); ++i) {
      const Index at = IndexAt(gradient.shape, i);
      const Number one = NumberAt(gradient, at);
      ForEachGridTap(call, places, values.shape, at, 0, 0,
                     [&](const Index& to, double weight) { of_input.Add(to, one, weight); });
      for (size_t axis = 0; axis < axes && call["interpolationMode"].integer != 1; ++axis) {
        Index place = {at[0]};
        place.insert(place.end(), at.begin() + 2, at.end());
        place.push_back(static_cast<int64_t>(axis));
        for (const double side : {1.0, -1.0}) {
          ForEachGridTap(call, places, values.shape, at, axis, side * beside,
                         [&](const Index& from, double weight) {
                           of_grid.Add(place, NumberAt(values, from),
                                       side * weight * static_cast<double>(one.real) / (2 * beside));
                         });
        }
      }
    }
    return std::vector<Outcome>{wants(call, 0) ? of_input.As(call["inputGrad"].dtype) : Outcome{},
                                wants(call, 1) ? of_grid.As(call["gridGrad"].dtype) : Outcome{}};
  };
  return op;
}

OperatorSpec AffineGrid() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAffineGrid);
  op.valid = {TensorArg("theta", {2, 2, 3}), ArrayArg("size", {2, 3, 4, 5}), IntegerArg("alignCorners", 0),
              OutputArg("out", {2, 4, 5, 2})};
  op.rules = {
      NoNulls("theta size out"),
      DtypeIn("theta", {{ACL_FLOAT, ACL_FLOAT16}, {ACL_BF16}}),
      SameDtype("theta", "out"),
      Refuses(161002, "theta", [](PlanCall& call) { return NumElements(call["theta"].shape) == 0; }),
      Refuses(161002, "theta size out",
              [](PlanCall& call) {
                const auto& size = call["size"].values;
                if (size.size() != 4 && size.size() != 5) return true;
                const auto axes = static_cast<int64_t>(size.size()) - 2;
                Shape out = {size[0]};
                out.insert(out.end(), size.begin() + 2, size.end());
                out.push_back(axes);
                return call["theta"].shape != Shape{size[0], axes, axes + 1} || call["out"].shape != out;
              }),
      DoneIfEmpty("out")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t axes = random.Between(2, 3);
    Index size = {random.Between(1, 3), random.Between(1, 3)};
    for (int64_t axis = 0; axis < axes; ++axis) size.push_back(random.Between(1, 7));
    if (random.Chance(20)) size.back() = random.Between(200, 600);
    Shape out = {size[0]};
    out.insert(out.end(), size.begin() + 2, size.end());
    out.push_back(axes);
    call["size"].values = size;
    call["theta"].shape = {size[0], axes, axes + 1};
    call["out"].shape = out;
    call["theta"].dtype = call["out"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16});
    call["alignCorners"].integer = random.Below(2);
  };
  op.fill = FillWithSmallNumbers;
  op.tolerance = 4e-6;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (NumElements(tensors[1].shape) == 0) return std::vector<Outcome>{{}};
    Sums sums(tensors[1].shape);
    const size_t axes = tensors[0].shape.size() == 3 ? static_cast<size_t>(tensors[0].shape[1]) : 0;
    for (int64_t i = 0; i < NumElements(tensors[1].shape); ++i) {
      const Index at = IndexAt(tensors[1].shape, i);
      for (size_t k = 0; k <= axes; ++k) {
        double place = 1;
        if (k < axes) {
          // Coordinate 0 is along the last axis.
          const auto n = static_cast<double>(tensors[1].shape[axes - k]);
          const auto index = static_cast<double>(at[axes - k]);
          place = n == 1 ? 0 : -1 + 2 * index / (n - 1);
          if (call["alignCorners"].integer == 0) place *= (n - 1) / n;
        }
        sums.Add(at, NumberAt(tensors[0], {at[0], at.back(), static_cast<int64_t>(k)}), place);
      }
    }
    return std::vector<Outcome>{sums.As(tensors[1].dtype)};
  };
  return op;
}

std::vector<OperatorSpec> Grids() {
  return {AffineGrid(), GridSampler(PORTACL_C_FUNCTION(aclnnGridSampler2D), false),
          GridSampler(PORTACL_C_FUNCTION(aclnnGridSampler3D), true),
          GridGradient(PORTACL_C_FUNCTION(aclnnGridSampler2DBackward), false),
          GridGradient(PORTACL_C_FUNCTION(aclnnGridSampler3DBackward), true)};
}

// ---- boxes ----

// Calls f(cell, element, weight) for each element that a cell of the boxes has a share of, point by point. A weight is how near the element
// is to the point along both axes, over the number of points.
void ForEachShare(const PlanCall& call, const TensorValues& boxes, const Shape& images,
                  const std::function<void(const Index&, const Index&, double)>& f) {
  struct Point {
    int64_t cell;
    double at;
    double share;
  };
  const auto points = [&](int64_t box, int64_t first_number, int64_t cells, int64_t length) {
    const auto number = [&](int64_t k) {
      return static_cast<double>(NumberAt(boxes, {box, first_number + k}).real);
    };
    const double scale = call["spatialScale"].real;
    const double begin = number(0) * scale;
    const double end = (number(2) + (call["roiEndMode"].integer == 1 ? 1 : 0)) * scale;
    const double cell_length = std::max(1.0, end - begin) / static_cast<double>(cells);
    const int64_t asked = call["sampleNum"].integer;
    const double count = asked > 0 ? static_cast<double>(asked) : std::ceil(cell_length);
    std::vector<Point> found;
    for (int64_t cell = 0; cell < cells; ++cell) {
      for (double k = 0; k < count; ++k) {
        const double at = begin + cell_length * (static_cast<double>(cell) + (k + 0.5) / count);
        if (at >= -1 && at <= static_cast<double>(length))
          found.push_back({cell, std::clamp(at, 0.0, static_cast<double>(length - 1)), 1 / count});
      }
    }
    return found;
  };
  for (int64_t box = 0; box < boxes.shape[0]; ++box) {
    const auto image = static_cast<int64_t>(NumberAt(boxes, {box, 0}).real);
    const auto columns = points(box, 1, call["pooledWidth"].integer, images[3]);
    for (const Point& row : points(box, 2, call["pooledHeight"].integer, images[2])) {
      for (const Point& column : columns) {
        for (int64_t y = 0; y < images[2]; ++y) {
          for (int64_t x = 0; x < images[3]; ++x) {
            const double weight = std::max(0.0, 1 - std::fabs(row.at - static_cast<double>(y))) *
                                  std::max(0.0, 1 - std::fabs(column.at - static_cast<double>(x)));
            for (int64_t c = 0; weight > 0 && c < images[1]; ++c)
              f({box, c, row.cell, column.cell}, {image, c, y, x}, weight * row.share * column.share);
          }
        }
      }
    }
  }
}

// The rules that boxes and their gradient share, behind those of nulls; the first tensor and the result in C's order.
Rules BoxRules(const std::string& first, const std::string& images, const std::string& cells) {
  Rules rules = {DtypeIn(first, {{ACL_FLOAT, ACL_FLOAT16}}), SameDtype(first, "rois"),
                 SameDtype(first, "out")};
  rules.push_back(Refuses(161002, "pooledHeight pooledWidth sampleNum roiEndMode", [](PlanCall& call) {
    const int64_t mode = call["roiEndMode"].integer;
    return call["pooledHeight"].integer < 1 || call["pooledWidth"].integer < 1 ||
           call["sampleNum"].integer > 1024 || mode < 0 || mode > 1;
  }));
  rules.push_back(Ranks(first, 4, 4));
  rules.push_back(Ranks("rois", 2, 2));
  rules.push_back(Ranks("out", 4, 4));
  if (first == cells)
    rules.push_back(Refuses(161002, "xdiffShape",
                            [](PlanCall& call) { return call["xdiffShape"].values != call["out"].shape; }));
  rules.push_back(Refuses(161002, first + " rois out", [=](PlanCall& call) {
    const Shape& shape = call[images].shape;
    const Shape& rois = call["rois"].shape;
    return HasZero(shape, 2) || rois[1] != 5 ||
           call[cells].shape !=
               Shape{rois[0], shape[1], call["pooledHeight"].integer, call["pooledWidth"].integer};
  }));
  rules.push_back(DoneIfEmpty("out"));
  return rules;
}

void DrawBoxes(PlanCall& call, const std::string& images, const std::string& cells, RandomNumbers& random) {
  const Shape shape = {random.Between(1, 3), random.Between(1, random.Chance(20) ? 40 : 4),
                       random.Between(1, 9), random.Between(1, 9)};
  const Shape rois = {random.Chance(5) ? 0 : random.Between(1, 5), 5};
  const bool is_half = random.Chance(30);
  // Numbers that leave coordinates exact, and of 16 bits the sums, too.
  const int64_t rows = int64_t{1} << random.Below(is_half ? 2 : 4);
  const int64_t columns = int64_t{1} << random.Below(is_half ? 2 : 4);
  call[images].shape = shape;
  call["rois"].shape = rois;
  call[cells].shape = {rois[0], shape[1], rows, columns};
  call["pooledHeight"].integer = rows;
  call["pooledWidth"].integer = columns;
  call["sampleNum"].integer = is_half ? random.Between(1, 2) : random.Between(-1, 4);
  call["roiEndMode"].integer = random.Below(2);
  call["spatialScale"].real = is_half ? 1 : 1 / static_cast<double>(int64_t{1} << random.Below(3));
  for (const std::string& name : {images, cells, std::string("rois")})
    call[name].dtype = is_half ? ACL_FLOAT16 : ACL_FLOAT;
}

// Halves, of which boxes may be empty, and lie on an edge of the image or wholly outside.
void FillBoxes(const PlanCall& call, const std::string& images, std::vector<HostTensor>& tensors,
               RandomNumbers& random) {
  FillWithSmallNumbers(call, tensors, random);
  for (int64_t k = 0; k < tensors[1].size(); ++k) {
    const int64_t most = std::max<int64_t>(1, call[images].shape[0]);
    tensors[1].Set(k, k % 5 == 0 ? static_cast<double>(random.Below(static_cast<int>(most)))
                                 : static_cast<double>(random.Between(-8, 24)) / 2);
  }
}

OperatorSpec RoiAlign() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnROIAlign);
  op.valid = {TensorArg("self", {2, 3, 4, 5}), TensorArg("rois", {6, 5}),     RealArg("spatialScale", 0.5),
              IntegerArg("pooledHeight", 2),   IntegerArg("pooledWidth", 4),  IntegerArg("sampleNum", 2),
              IntegerArg("roiEndMode", 0),     OutputArg("out", {6, 3, 2, 4})};
  op.valid[1].is_distinct = true;  // the image is a number of its own
  op.rules = {NoNulls("self rois out")};
  for (const Rule& rule : BoxRules("self", "self", "out")) op.rules.push_back(rule);
  op.draw = [](PlanCall& call, RandomNumbers& random) { DrawBoxes(call, "self", "out", random); };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillBoxes(call, "self", tensors, random);
  };
  op.tolerance = 3e-5;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    Sums sums(tensors[2].shape);
    if (NumElements(tensors[2].shape) == 0) return std::vector<Outcome>{{}};
    ForEachShare(call, tensors[1], tensors[0].shape,
                 [&](const Index& cell, const Index& element, double weight) {
                   sums.Add(cell, NumberAt(tensors[0], element), weight);
                 });
    return std::vector<Outcome>{sums.As(tensors[2].dtype)};
  };
  return op;
}

OperatorSpec RoiAlignGradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnROIAlignBackward);
  op.valid = {TensorArg("gradOutput", {6, 3, 2, 4}),
              TensorArg("rois", {6, 5}),
              ArrayArg("xdiffShape", {2, 3, 4, 5}),
              IntegerArg("pooledWidth", 4),
              IntegerArg("pooledHeight", 2),
              RealArg("spatialScale", 0.5),
              IntegerArg("sampleNum", 2),
              IntegerArg("roiEndMode", 1),
              OutputArg("out", {2, 3, 4, 5})};
  op.valid[1].is_distinct = true;
  op.takes_workspace = true;
  op.rules = {NoNulls("gradOutput rois xdiffShape out")};
  for (const Rule& rule : BoxRules("gradOutput", "out", "gradOutput")) op.rules.push_back(rule);
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawBoxes(call, "out", "gradOutput", random);
    call["xdiffShape"].values = call["out"].shape;
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillBoxes(call, "out", tensors, random);
  };
  op.tolerance = 3e-5;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    Sums sums(tensors[2].shape);
    ForEachShare(call, tensors[1], tensors[2].shape,
                 [&](const Index& cell, const Index& element, double weight) {
                   sums.Add(element, NumberAt(tensors[0], cell), weight);
                 });
    return std::vector<Outcome>{sums.As(tensors[2].dtype)};
  };
  return op;
}

std::vector<OperatorSpec> Boxes() { return {RoiAlign(), RoiAlignGradient()}; }

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> operators = [] {
    std::vector<OperatorSpec> all;
    for (const auto& family : {Pads(), Windows(), Resizings(), Grids(), Boxes()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return operators;
}

PORTACL_OPERATOR_TESTS(Resample, Operators());

// ---- single calls ----

aclTensor* Floats(const Shape& shape, std::vector<float>& data) {
  const std::vector<int64_t> strides = DenseStrides(shape);
  return aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0, ACL_FORMAT_NCHW,
                         shape.data(), shape.size(), data.data());
}

// More rows than a thread takes at once, of several images.
TEST(Shares, GoOnWhereTheLastOnesEnd) {
  const Shape small = {3, 2, 40, 300};
  const Shape large = {3, 2, 80, 600};
  std::vector<float> image(static_cast<size_t>(NumElements(small)));
  std::vector<float> twice(static_cast<size_t>(NumElements(large)), -7);
  std::vector<float> sums(image.size(), -7);
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i);
  aclTensor* const tensors[] = {Floats(small, image), Floats(large, twice), Floats(small, sums)};
  aclIntArray* const arrays[] = {aclCreateIntArray(&large[2], 2), aclCreateIntArray(small.data(), 4)};
  for (const char* threads : {"1", "3"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    Compute(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnUpsampleNearest2dGetWorkspaceSize(tensors[0], arrays[0], tensors[1], size, executor);
        },
        aclnnUpsampleNearest2d, environment.stream());
    Compute(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnUpsampleNearest2dBackwardGetWorkspaceSize(tensors[1], arrays[0], arrays[1], 0, 0,
                                                                tensors[2], size, executor);
        },
        aclnnUpsampleNearest2dBackward, environment.stream());
    for (size_t i = 0; i < twice.size(); ++i) {
      const size_t row = i / 600 / 2;  // images have twice as many
      ASSERT_EQ(twice[i], image[row * 300 + i % 600 / 2]) << i << ", " << threads << " threads";
    }
    for (size_t i = 0; i < sums.size(); ++i)
      ASSERT_EQ(sums[i], 4 * image[i]) << i << ", " << threads << " threads";
    std::fill(twice.begin(), twice.end(), -7.0f);
    std::fill(sums.begin(), sums.end(), -7.0f);
  }
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  for (aclIntArray* array : arrays) aclDestroyIntArray(array);
}

// One dim, without alignCorners: the indices and weights of a place, in float64.
std::vector<std::pair<int64_t, double>> TapsByDefinition(int64_t to, int64_t from_length, int64_t to_length,
                                                         bool is_cubic) {
  const double scale = static_cast<double>(from_length) / static_cast<double>(to_length);
  const double place = (static_cast<double>(to) + 0.5) * scale - 0.5;
  const double below = std::floor(is_cubic ? place : std::max(place, 0.0));
  const double part = (is_cubic ? place : std::max(place, 0.0)) - below;
  const auto index = static_cast<int64_t>(below);
  const auto inside = [&](int64_t k) { return std::clamp<int64_t>(k, 0, from_length - 1); };
  if (!is_cubic) return {{inside(index), 1 - part}, {inside(index + 1), part}};
  std::vector<std::pair<int64_t, double>> taps;
  for (int64_t k = -1; k <= 2; ++k) {
    const double x = std::abs(static_cast<double>(k) - part);
    const double near = (1.25 * x - 2.25) * x * x + 1;
    const double far = ((-0.75 * x + 3.75) * x - 6) * x + 3;
    taps.emplace_back(inside(index + k), x <= 1 ? near : far);
  }
  return taps;
}

// Tables of long axes lie in the workspace, which ends where they do. Sums are exact but for those of interpolation.
TEST(LongAxes, GiveWhatLoopsGive) {
  constexpr int64_t kLong = 70001;
  const auto numbers = [](int64_t count) {
    std::vector<float> data(static_cast<size_t>(count));
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i * 37 % 101) - 50;
    return data;
  };
  const auto at = [](const std::vector<float>& data, int64_t i) { return data[static_cast<size_t>(i)]; };
  for (const char* threads : {"1", "3"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    // Twice: an executor may run again, with tables made anew.
    const auto compute = [&](const auto& plan, const auto& run, std::vector<float>& out,
                             bool is_long = true) {
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      ASSERT_EQ(plan(&size, &executor), 0) << TakeErrorMessage();
      EXPECT_EQ(size > uint64_t{1} << 20, is_long) << size;
      ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
      const GuardedBuffer workspace(size);
      for (int again = 0; again < 2; ++again) {
        std::fill(out.begin(), out.end(), -7.0f);
        ASSERT_EQ(run(workspace.device(), size, executor, environment.stream()), 0) << TakeErrorMessage();
        ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0) << TakeErrorMessage();
      }
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    };
    for (const bool is_column : {false, true}) {
      const auto image = [&](int64_t length) {
        return is_column ? Shape{1, 1, length, 1} : Shape{1, 1, 1, length};
      };
      const auto pair = [&](int64_t along, int64_t across) {
        const int64_t values[] = {is_column ? along : across, is_column ? across : along};
        return aclCreateIntArray(values, 2);
      };
      std::vector<float> few = numbers(kLong);
      std::vector<float> many = numbers(3 * kLong);
      std::vector<float> out(static_cast<size_t>(3 * kLong));
      std::vector<float> sums(static_cast<size_t>(kLong));
      aclTensor* const tensors[] = {Floats(image(kLong), few), Floats(image(3 * kLong), out),
                                    Floats(image(3 * kLong), many), Floats(image(kLong), sums)};
      const Shape whole = image(kLong);
      aclIntArray* const arrays[] = {pair(3 * kLong, 1), aclCreateIntArray(whole.data(), 4),
                                     pair(kLong, 1),     pair(3, 1),
                                     pair(2, 1),         pair(1, 1),
                                     pair(0, 0)};
      compute(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleNearest2dGetWorkspaceSize(tensors[0], arrays[0], tensors[1], size, executor);
          },
          aclnnUpsampleNearest2d, out);
      for (int64_t i = 0; i < 3 * kLong; ++i) {
        // Places are rounded to float32.
        const auto index = static_cast<int64_t>(std::floor(static_cast<float>(i) * (1.0f / 3)));
        ASSERT_EQ(at(out, i), at(few, std::min(index, kLong - 1))) << i;
      }
      // Three neighbours each weigh 1/3, 1 and 1/3 of one element, or nothing.
      compute(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleBilinear2dBackwardGetWorkspaceSize(tensors[2], arrays[0], arrays[1], false, 0,
                                                                   0, tensors[3], size, executor);
          },
          aclnnUpsampleBilinear2dBackward, sums);
      std::vector<double> expected(sums.size());
      for (int64_t i = 0; i < 3 * kLong; ++i) {
        for (const auto& [index, weight] : TapsByDefinition(i, kLong, 3 * kLong, false))
          expected[static_cast<size_t>(index)] += weight * static_cast<double>(at(many, i));
      }
      for (int64_t i = 0; i < kLong; ++i)
        ASSERT_NEAR(at(sums, i), expected[static_cast<size_t>(i)], 1) << i;  // places are rounded to float32
      // Windows of three in steps of two, and back.
      constexpr int64_t kWindows = (kLong - 3) / 2 + 1;
      std::vector<float> windows = numbers(3 * kWindows);
      aclTensor* const matrix = Floats({1, 3, kWindows}, windows);
      compute(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnIm2colBackwardGetWorkspaceSize(matrix, arrays[2], arrays[3], arrays[5], arrays[6],
                                                       arrays[4], tensors[3], size, executor);
          },
          aclnnIm2colBackward, sums, is_column);  // of columns, a window has few stretches
      for (int64_t i = 0; i < kLong; ++i) {
        float sum = 0;
        for (int64_t k = 0; k < 3; ++k) {
          if ((i - k) >= 0 && (i - k) % 2 == 0 && (i - k) / 2 < kWindows)
            sum += at(windows, k * kWindows + (i - k) / 2);
        }
        ASSERT_EQ(at(sums, i), sum) << i;
      }
      compute(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnIm2colGetWorkspaceSize(tensors[0], arrays[3], arrays[5], arrays[6], arrays[4], matrix,
                                               size, executor);
          },
          aclnnIm2col, windows, is_column);
      for (int64_t k = 0; k < 3; ++k) {
        for (int64_t w = 0; w < kWindows; ++w)
          ASSERT_EQ(at(windows, k * kWindows + w), at(few, 2 * w + k)) << w;
      }
      aclDestroyTensor(matrix);
      for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
      for (aclIntArray* array : arrays) aclDestroyIntArray(array);
    }
    // Windows along a dim, and back.
    std::vector<float> windows = numbers(4 * (kLong - 3));
    std::vector<float> sums(static_cast<size_t>(kLong));
    aclTensor* const tensors[] = {Floats({kLong - 3, 4}, windows), Floats({kLong}, sums)};
    aclIntArray* const sizes = aclCreateIntArray(&kLong, 1);
    compute(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnUnfoldGradGetWorkspaceSize(tensors[0], sizes, 0, 4, 1, tensors[1], size, executor);
        },
        aclnnUnfoldGrad, sums, /*is_long=*/false);
    for (int64_t i = 0; i < kLong; ++i) {
      float sum = 0;
      for (int64_t k = 0; k < 4; ++k) {
        if (i - k >= 0 && i - k < kLong - 3) sum += at(windows, (i - k) * 4 + k);
      }
      ASSERT_EQ(at(sums, i), sum) << i;
    }
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
    aclDestroyIntArray(sizes);
  }
}

constexpr float kInf = std::numeric_limits<float>::infinity();

// Of 4 elements 7 were made, each other one of two halves: those that an infinity does not reach stay finite.
TEST(Gradients, WhatWeighsNothingAddsNothing) {
  for (const engine::Isa isa : IsasToTest()) {
    const ScopedEnvironment environment(Variables{{"PORTACL_ISA", engine::IsaName(isa)}});
    for (const bool is_row : {true, false}) {
      std::vector<float> grad = {kInf, 1, 2, 1, 2, 1, 2};
      std::vector<float> found(4, -7);
      const Shape to = is_row ? Shape{1, 1, 1, 7} : Shape{1, 1, 7, 1};
      const Shape from = is_row ? Shape{1, 1, 1, 4} : Shape{1, 1, 4, 1};
      aclTensor* const tensors[] = {Floats(to, grad), Floats(from, found)};
      aclIntArray* const arrays[] = {aclCreateIntArray(&to[2], 2), aclCreateIntArray(from.data(), 4)};
      Compute(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleBilinear2dBackwardGetWorkspaceSize(tensors[0], arrays[0], arrays[1], true, 0,
                                                                   0, tensors[1], size, executor);
          },
          aclnnUpsampleBilinear2dBackward, environment.stream());
      EXPECT_EQ(found, (std::vector<float>{kInf, 3, 3, 2.5f})) << IsaName(isa) << " " << is_row;
      for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
      for (aclIntArray* array : arrays) aclDestroyIntArray(array);
    }
  }
}

// By a scale of 16 the first 256 of 300 columns make 16 each, and the others none.
TEST(Gradients, ColumnsThatMadeNothingAreZero) {
  const ScopedEnvironment environment(Variables{});
  const Shape to = {1, 1, 1, 4096};
  const Shape from = {1, 1, 1, 300};
  std::vector<float> grad(4096, 1);
  std::vector<float> found(300, -7);
  aclTensor* const tensors[] = {Floats(to, grad), Floats(from, found)};
  aclIntArray* const arrays[] = {aclCreateIntArray(&to[2], 2), aclCreateIntArray(from.data(), 4)};
  Compute(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnUpsampleNearest2dBackwardGetWorkspaceSize(tensors[0], arrays[0], arrays[1], 0, 16,
                                                              tensors[1], size, executor);
      },
      aclnnUpsampleNearest2dBackward, environment.stream());
  std::vector<float> expected(256, 16);
  expected.resize(300, 0);
  EXPECT_EQ(found, expected);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  for (aclIntArray* array : arrays) aclDestroyIntArray(array);
}

// Wider than the engine's tiles, of elements that follow each other closely or are far apart, narrower than a vector, and larger
// than caches.
TEST(Interpolation, ColumnsOfEveryDistance) {
  struct Size {
    int64_t rows, columns, to_rows, to_columns;
  };
  const Size sizes[] = {{3, 5, 4, 600},           {2, 300, 5, 600},     {3, 601, 2, 700},
                        {3, 700, 4, 400},         {2, 1500, 3, 300},    {5, 300, 5, 521},
                        {1050, 1024, 2100, 2048}, {2, 20000, 3, 40000}, {20000, 2, 40000, 3}};
  for (const Size& one : sizes) {
    std::vector<float> image(static_cast<size_t>(one.rows * one.columns));
    for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i * 37 % 101) - 50;
    for (const bool is_cubic : {false, true}) {
      const size_t count = static_cast<size_t>(one.to_rows * one.to_columns);
      std::vector<std::vector<std::pair<int64_t, double>>> columns;
      for (int64_t x = 0; x < one.to_columns; ++x)
        columns.push_back(TapsByDefinition(x, one.columns, one.to_columns, is_cubic));
      std::vector<double> expected;
      for (int64_t y = 0; y < one.to_rows; ++y) {
        const auto rows = TapsByDefinition(y, one.rows, one.to_rows, is_cubic);
        for (const auto& taps : columns) {
          double sum = 0;
          for (const auto& [row, row_weight] : rows) {
            for (const auto& [column, weight] : taps)
              sum += row_weight * weight * image[static_cast<size_t>(row * one.columns + column)];
          }
          expected.push_back(sum);
        }
      }
      for (const engine::Isa isa : IsasToTest()) {
        const ScopedEnvironment environment(Variables{{"PORTACL_ISA", engine::IsaName(isa)}});
        std::vector<float> found(count, -7);
        aclTensor* const tensors[] = {Floats({1, 1, one.rows, one.columns}, image),
                                      Floats({1, 1, one.to_rows, one.to_columns}, found)};
        const int64_t size_of_result[] = {one.to_rows, one.to_columns};
        aclIntArray* const array = aclCreateIntArray(size_of_result, 2);
        Compute(
            [&](uint64_t* size, aclOpExecutor** executor) {
              const auto plan =
                  is_cubic ? aclnnUpsampleBicubic2dGetWorkspaceSize : aclnnUpsampleBilinear2dGetWorkspaceSize;
              return plan(tensors[0], array, false, 0, 0, tensors[1], size, executor);
            },
            is_cubic ? aclnnUpsampleBicubic2d : aclnnUpsampleBilinear2d, environment.stream());
        double apart = 0;
        for (size_t i = 0; i < count; ++i) apart = std::max(apart, std::abs(found[i] - expected[i]));
        EXPECT_LT(apart, 0.05) << one.columns << " to " << one.to_columns << (is_cubic ? " cubic " : " ")
                               << IsaName(isa);
        for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
        aclDestroyIntArray(array);
      }
    }
  }
}

// Where a product takes any scale, one of 1 for more columns than there are leads behind the last.
TEST(Interpolation, PlacesBehindTheLastElementAreTheLast) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::k950)}});
  const Shape to = {1, 1, 1, 9};
  std::vector<float> image = {5, 6, 7, 8};
  std::vector<float> found(9, -7);
  aclTensor* const tensors[] = {Floats({1, 1, 1, 4}, image), Floats(to, found)};
  aclIntArray* const size_of_result = aclCreateIntArray(&to[2], 2);
  Compute(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnUpsampleBicubic2dGetWorkspaceSize(tensors[0], size_of_result, false, 0, 1, tensors[1],
                                                      size, executor);
      },
      aclnnUpsampleBicubic2d, environment.stream());
  EXPECT_EQ(found, (std::vector<float>{5, 6, 7, 8, 8, 8, 8, 8, 8}));
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  aclDestroyIntArray(size_of_result);
}

// An image of one row: NaN counts as -1, and what is infinitely far is outside, or at the edge that is nearest. Sampled in vectors, and,
// where it lies backwards in memory, by the loop for any image.
TEST(Grids, PlacesThatAreNoNumbersOrInfinitelyFar) {
  const ScopedEnvironment environment(Variables{});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Shape shape = {1, 1, 1, 4};
  const int64_t backwards[] = {4, 4, 4, -1};
  for (const int64_t mode : {0, 1, 2}) {
    for (const int64_t padding : {0, 1}) {
      for (const bool is_mirrored : {false, true}) {
        std::vector<float> image = {5, 6, 7, 8};
        if (is_mirrored) std::reverse(image.begin(), image.end());
        std::vector<float> grid = {nan, 0, kInf, 0, -kInf, 0, -1, 0};
        std::vector<float> found(4, -7);
        aclTensor* const tensors[] = {is_mirrored
                                          ? aclCreateTensor(shape.data(), 4, ACL_FLOAT, backwards, 3,
                                                            ACL_FORMAT_NCHW, shape.data(), 4, image.data())
                                          : Floats(shape, image),
                                      Floats({1, 1, 4, 2}, grid), Floats(shape, found)};
        Compute(
            [&](uint64_t* size, aclOpExecutor** executor) {
              return aclnnGridSampler2DGetWorkspaceSize(tensors[0], tensors[1], mode, padding, true,
                                                        tensors[2], size, executor);
            },
            aclnnGridSampler2D, environment.stream());
        EXPECT_EQ(found, padding == 0 ? (std::vector<float>{5, 0, 0, 5}) : (std::vector<float>{5, 8, 5, 5}))
            << mode << " " << padding << " " << is_mirrored;
        for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
      }
    }
  }
}

// An image whose columns lie backwards in memory is sampled by the loop for any image, one that lies forwards in vectors: the same
// bits. The second image is large enough that taps are asked for ahead, the grid's rows are no whole vectors.
TEST(Grids, VectorsOfPlacesGiveTheBitsOfTheLoopForAnyImage) {
  for (const engine::Isa isa : IsasToTest()) {
    const ScopedEnvironment environment(Variables{{"PORTACL_ISA", engine::IsaName(isa)}});
    for (const Shape& shape : {Shape{2, 3, 7, 9}, Shape{1, 2, 256, 260}}) {
      RandomNumbers random(5);
      const auto size = static_cast<size_t>(NumElements(shape));
      const auto width = static_cast<size_t>(shape[3]);
      const Shape to = {shape[0], shape[1], 3, 133};
      std::vector<float> image(size);
      std::vector<float> mirrored(size);
      std::vector<float> grid(static_cast<size_t>(shape[0] * to[2] * to[3] * 2));
      std::vector<float> found(static_cast<size_t>(NumElements(to)));
      std::vector<float> expected(found.size());
      std::vector<float> spread(found.size() * 2);
      for (size_t i = 0; i < size; ++i) {
        image[i] = static_cast<float>(random.Between(-9999, 9999)) / 77;
        mirrored[i / width * width + width - 1 - i % width] = image[i];
      }
      for (float& place : grid) place = static_cast<float>(random.Between(-14000, 14000)) / 9999;
      std::vector<int64_t> backwards = DenseStrides(shape);
      backwards[3] = -1;
      std::vector<int64_t> apart = DenseStrides(to);
      for (int64_t& stride : apart) stride *= 2;
      aclTensor* const tensors[] = {
          Floats(shape, image),
          Floats({shape[0], to[2], to[3], 2}, grid),
          Floats(to, found),
          aclCreateTensor(shape.data(), 4, ACL_FLOAT, backwards.data(), shape[3] - 1, ACL_FORMAT_NCHW,
                          shape.data(), 4, mirrored.data()),
          Floats(to, expected),
          aclCreateTensor(to.data(), 4, ACL_FLOAT, apart.data(), 0, ACL_FORMAT_NCHW, to.data(), 4,
                          spread.data())};
      const auto sample = [&](int input, int output, int64_t mode, int64_t padding, bool corners) {
        Compute(
            [&](uint64_t* bytes, aclOpExecutor** executor) {
              return aclnnGridSampler2DGetWorkspaceSize(tensors[input], tensors[1], mode, padding, corners,
                                                        tensors[output], bytes, executor);
            },
            aclnnGridSampler2D, environment.stream());
      };
      for (int64_t kind = 0; kind < 18; ++kind) {
        const int64_t mode = kind / 6;
        const int64_t padding = kind / 2 % 3;
        sample(3, 4, mode, padding, kind % 2 != 0);
        for (const int output : {2, 5}) {
          sample(0, output, mode, padding, kind % 2 != 0);
          for (size_t i = 0; i < found.size(); ++i) {
            ASSERT_EQ(std::bit_cast<uint32_t>(output == 2 ? found[i] : spread[2 * i]),
                      std::bit_cast<uint32_t>(expected[i]))
                << IsaName(isa) << " mode " << mode << " padding " << padding << " at " << i << " of "
                << output;
          }
        }
      }
      for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
    }
  }
}

// Boxes of images that are not there: cells of 0, nothing added, one error that names the first of them. The others are right.
TEST(Boxes, OfImagesThatAreNotThere) {
  for (const char* answer : {"raise", "ignore"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_INDEX_ERRORS", answer}});
    const Shape image = {2, 1, 2, 2}, boxes = {4, 5}, cells = {4, 1, 1, 1};
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> self = {1, 2, 3, 4, 5, 6, 7, 8}, found(4, -7), sums(8, -7);
    std::vector<float> rois = {1, 0, 0, 1, 1, -1, 0, 0, 1, 1, 2, 0, 0, 1, 1, kNan, 0, 0, 1, 1};
    aclTensor* const tensors[] = {Floats(image, self), Floats(boxes, rois), Floats(cells, found),
                                  Floats(image, sums)};
    aclIntArray* const shape = aclCreateIntArray(image.data(), image.size());
    const auto check = [&](aclnnStatus planned, uint64_t size, aclOpExecutor* executor, const auto& run,
                           const std::string& name) {
      ASSERT_EQ(planned, 0) << TakeErrorMessage();
      const GuardedBuffer workspace(size);
      ASSERT_EQ(run(workspace.device(), size, executor, environment.stream()), 0) << TakeErrorMessage();
      const bool raises = std::string(answer) == "raise";
      ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), raises ? 507015 : 0);
      if (raises) {
        EXPECT_NE(TakeErrorMessage().find(name + ": rois has the value -1 at element 5, accepted: 0 to 1."),
                  std::string::npos);
      }
      EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
    };
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    aclnnStatus planned =
        aclnnROIAlignGetWorkspaceSize(tensors[0], tensors[1], 1, 1, 1, 1, 0, tensors[2], &size, &executor);
    check(planned, size, executor, aclnnROIAlign, "aclnnROIAlign");
    EXPECT_EQ(found, (std::vector<float>{6.5, 0, 0, 0}));
    found = {8, 1, 1, 1};
    planned = aclnnROIAlignBackwardGetWorkspaceSize(tensors[2], tensors[1], shape, 1, 1, 1, 1, 0, tensors[3],
                                                    &size, &executor);
    check(planned, size, executor, aclnnROIAlignBackward, "aclnnROIAlignBackward");
    EXPECT_EQ(sums, (std::vector<float>{0, 0, 0, 0, 2, 2, 2, 2}));
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
    aclDestroyIntArray(shape);
  }
}

// Boxes that no image is near, however long, take no time, and their cells are 0. Nor has a coordinate that is no number a place.
TEST(Boxes, FarFromTheirImages) {
  const ScopedEnvironment environment(Variables{});
  constexpr float kHuge = std::numeric_limits<float>::max();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Shape image = {1, 1, 2, 2}, boxes = {6, 5}, cells = {6, 1, 1, 1};
  std::vector<float> self = {1, 2, 3, 4}, found(6, -7);
  std::vector<float> rois = {0, 1e9F, 0, 1e9F, 1, 0, -kHuge, 0, kHuge, 1, 0, -kInfinity, 0, kInfinity, 1,
                             0, kNan, 0, 1,    1, 0, 0,      0, kNan,  1, 0, 3,          3, 9,         9};
  aclTensor* const tensors[] = {Floats(image, self), Floats(boxes, rois), Floats(cells, found)};
  for (const int64_t samples : {0, 2}) {
    Compute(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnROIAlignGetWorkspaceSize(tensors[0], tensors[1], 1, 1, 1, samples, 0, tensors[2], size,
                                               executor);
        },
        aclnnROIAlign, environment.stream());
    EXPECT_EQ(found, std::vector<float>(6, 0)) << samples;
    std::fill(found.begin(), found.end(), -7);
  }
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

// A box as wide as the image many times over has the mean of the points on it, of all of its points.
TEST(Boxes, MuchLongerThanTheirImage) {
  const ScopedEnvironment environment(Variables{});
  const Shape image = {1, 1, 1, 4}, boxes = {1, 5}, cells = {1, 1, 1, 1};
  std::vector<float> self = {1, 1, 1, 1}, found(1, -7);
  std::vector<float> rois = {0, -1024, 0, 7168, 1};
  aclTensor* const tensors[] = {Floats(image, self), Floats(boxes, rois), Floats(cells, found)};
  Compute(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnROIAlignGetWorkspaceSize(tensors[0], tensors[1], 1, 1, 1, 0, 0, tensors[2], size,
                                             executor);
      },
      aclnnROIAlign, environment.stream());
  EXPECT_EQ(found[0], 5.0F / 8192);  // at -0.5, 0.5, ..., 3.5
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

// The stride of one element may be any, also one whose bytes cannot be counted; it is never multiplied.
TEST(Strides, OfOneElementMayBeAny) {
  const ScopedEnvironment environment(Variables{});
  const int64_t column[] = {3, 1};
  const int64_t strides[] = {1, int64_t{1} << 62};
  std::vector<float> self = {1, 2, 3}, gradient(3), padded(12);
  const auto narrow = [&](std::vector<float>& data) {
    return aclCreateTensor(column, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, column, 2, data.data());
  };
  const int64_t pads[] = {1, 2};
  const int64_t row[] = {3, 4};
  aclTensor* const in = narrow(self);
  aclTensor* const sums = narrow(gradient);
  aclTensor* const out = aclCreateTensor(row, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, row, 2, padded.data());
  aclIntArray* const padding = aclCreateIntArray(pads, 2);
  Compute(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnReplicationPad1dGetWorkspaceSize(in, padding, out, size, executor);
      },
      aclnnReplicationPad1d, environment.stream());
  EXPECT_EQ(padded, (std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
  Compute(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnReplicationPad1dBackwardGetWorkspaceSize(out, in, padding, sums, size, executor);
      },
      aclnnReplicationPad1dBackward, environment.stream());
  EXPECT_EQ(gradient, (std::vector<float>{4, 8, 12}));
  for (aclTensor* tensor : {in, sums, out}) aclDestroyTensor(tensor);
  aclDestroyIntArray(padding);
}

}  // namespace
}  // namespace portacl::testing
