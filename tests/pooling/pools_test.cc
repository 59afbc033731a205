// Pools - means and maxima of windows - and their gradients: their checks, and every element against loops over logical indices.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "aclnnop/families/pooling.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/map_values.h"
#include "support/numeric_suite.h"
#include "support/operator_spec.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

using Index = std::vector<int64_t>;

const Listed kAllFloats = {{ACL_FLOAT, ACL_FLOAT16}, {ACL_BF16}};
const Listed kFloatsOnNew = {{}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}};
const DtypeList kHalves = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

// ---- what windows are, read off the attributes ----

struct Axis {
  int64_t kernel, stride, before, after, dilation, length, positions;
};

struct Names {
  std::string kernel = "kernelSize", stride = "stride", padding = "padding", dilation = "dilation";
  bool steps_by_one = false;
};

int64_t ValueOf(const PlanCall& call, const std::string& name, size_t axis, int64_t otherwise) {
  const bool is_there = std::any_of(call.arguments.begin(), call.arguments.end(),
                                    [&](const PlanArgument& one) { return one.name == name; });
  if (!is_there || call[name].null) return otherwise;
  const auto& values = call[name].values;
  if (values.empty()) return otherwise;
  return values.size() == 1 ? values[0] : values[std::min(axis, values.size() - 1)];
}

Axis AxisOf(const PlanCall& call, const Names& names, size_t axis, int64_t length) {
  Axis a{};
  a.length = length;
  a.kernel = ValueOf(call, names.kernel, axis, 1);
  a.stride = ValueOf(call, names.stride, axis, names.steps_by_one ? 1 : a.kernel);
  a.before = ValueOf(call, names.padding, axis, 0);
  const bool four = call[names.padding].values.size() == 4;
  a.after = ValueOf(call, names.padding, four ? axis + 2 : axis, 0);
  a.dilation = ValueOf(call, names.dilation, axis, 1);
  const bool ceil = call["ceilMode"].integer != 0;
  const int64_t room = length + a.before + a.after - a.dilation * (a.kernel - 1) - 1;
  const int64_t steps = room < 0 && !ceil ? -1 : room + (ceil ? a.stride - 1 : 0);
  a.positions = steps < 0 ? 0 : steps / a.stride + 1;
  if (ceil && a.positions > 0 && (a.positions - 1) * a.stride >= length + a.before) --a.positions;
  return a;
}

// The elements of one window along one axis, and how many places it has in the padded axis.
struct Part {
  Index elements;
  int64_t padded = 0;
};
Part PartAt(const Axis& axis, int64_t position) {
  Part part;
  for (int64_t k = 0; k < axis.kernel; ++k) {
    const int64_t at = position * axis.stride - axis.before + k * axis.dilation;
    if (at >= 0 && at < axis.length) part.elements.push_back(at);
    if (at < axis.length + axis.after) ++part.padded;
  }
  return part;
}
Part AdaptivePart(int64_t length, int64_t positions, int64_t position) {
  Part part;
  for (int64_t i = 0; i < length; ++i) {
    // i is in [position * length / positions, (position + 1) * length / positions), the ends rounded outwards.
    if ((i + 1) * positions > position * length && i * positions < (position + 1) * length)
      part.elements.push_back(i);
  }
  part.padded = static_cast<int64_t>(part.elements.size());
  return part;
}

using Parts = std::function<Part(size_t axis, int64_t position)>;

// f(element's index in the axes, its flat place) for each element of a window, in row-major order.
void ForEachInWindow(const std::vector<Part>& parts, const Shape& lengths,
                     const std::function<void(const Index&, int64_t)>& f) {
  Index at(parts.size(), 0);
  for (const Part& part : parts) {
    if (part.elements.empty()) return;
  }
  while (true) {
    Index element;
    int64_t flat = 0;
    for (size_t k = 0; k < parts.size(); ++k) {
      element.push_back(parts[k].elements[static_cast<size_t>(at[k])]);
      flat = flat * lengths[k] + element.back();
    }
    f(element, flat);
    size_t k = parts.size();
    while (k > 0 && ++at[k - 1] == static_cast<int64_t>(parts[k - 1].elements.size())) at[--k] = 0;
    if (k == 0) return;
  }
}

Shape LastDims(const Shape& shape, size_t axes) {
  return Shape(shape.end() - static_cast<std::ptrdiff_t>(axes), shape.end());
}

// The windows of a position of the output.
std::vector<Part> PartsAt(const Index& position, size_t axes, const Parts& parts) {
  std::vector<Part> all;
  for (size_t k = 0; k < axes; ++k) all.push_back(parts(k, position[position.size() - axes + k]));
  return all;
}

double RealAt(const TensorValues& tensor, const Index& index) {
  return static_cast<double>(
      NumberOf(tensor.dtype, tensor.elements[static_cast<size_t>(PositionOf(tensor.shape, index))].data())
          .real);
}

Index Joined(const Index& position, size_t axes, const Index& element) {
  Index index(position.begin(), position.end() - static_cast<std::ptrdiff_t>(axes));
  index.insert(index.end(), element.begin(), element.end());
  return index;
}

// ---- oracles ----

// What no element is less than.
long double Least(DtypeNumber dtype) {
  switch (dtype) {
    case ACL_UINT8:
    case ACL_UINT16:
      return 0;
    case ACL_INT8:
      return std::numeric_limits<int8_t>::min();
    case ACL_INT16:
      return std::numeric_limits<int16_t>::min();
    case ACL_INT32:
      return std::numeric_limits<int32_t>::min();
    case ACL_INT64:
      return static_cast<long double>(std::numeric_limits<int64_t>::min());
    default:
      return -std::numeric_limits<long double>::infinity();
  }
}

// The maxima, and where they are.
std::vector<Outcome> Maxima(const TensorValues& self, const Shape& out, size_t axes, const Parts& parts,
                            DtypeNumber places) {
  Outcome largest;
  Outcome where;
  for (int64_t i = 0; i < NumElements(out); ++i) {
    const Index position = IndexAt(out, i);
    Index best;
    int64_t place = 0;
    ForEachInWindow(PartsAt(position, axes, parts), LastDims(self.shape, axes),
                    [&](const Index& element, int64_t flat) {
                      const double value = RealAt(self, Joined(position, axes, element));
                      if (!best.empty() && !(value > RealAt(self, best)) && !std::isnan(value)) return;
                      best = Joined(position, axes, element);
                      place = flat;
                    });
    if (best.empty()) {  // nothing but padding
      largest.emplace_back(ElementOfNumber(self.dtype, {Least(self.dtype), 0}));
    } else {
      largest.emplace_back(self.elements[static_cast<size_t>(PositionOf(self.shape, best))]);
    }
    where.emplace_back(ElementOfNumber(places, {static_cast<long double>(place), 0}));
  }
  return {largest, where};
}

struct Divisor {
  bool counts_padding = true;
  int64_t given = 0;

  float Of(const std::vector<Part>& parts) const {
    if (given != 0) return static_cast<float>(given);
    int64_t product = 1;
    for (const Part& part : parts)
      product *= counts_padding ? part.padded : static_cast<int64_t>(part.elements.size());
    return static_cast<float>(std::max<int64_t>(product, 1));
  }
};

Outcome Means(const TensorValues& self, const Shape& out, DtypeNumber dtype, size_t axes, const Parts& parts,
              Divisor divisor) {
  Outcome means;
  for (int64_t i = 0; i < NumElements(out); ++i) {
    const Index position = IndexAt(out, i);
    const auto window = PartsAt(position, axes, parts);
    float sum = 0;
    ForEachInWindow(window, LastDims(self.shape, axes), [&](const Index& element, int64_t) {
      sum += static_cast<float>(RealAt(self, Joined(position, axes, element)));
    });
    means.emplace_back(ElementOfNumber(dtype, {static_cast<long double>(sum / divisor.Of(window)), 0}));
  }
  return means;
}

Outcome Rounded(const std::vector<float>& sums, DtypeNumber dtype) {
  Outcome outcome;
  for (const float sum : sums)
    outcome.emplace_back(ElementOfNumber(dtype, {static_cast<long double>(sum), 0}));
  return outcome;
}

Outcome GradientOfMeans(const TensorValues& gradient, const Shape& result, DtypeNumber dtype, size_t axes,
                        const Parts& parts, Divisor divisor) {
  std::vector<float> sums(static_cast<size_t>(NumElements(result)));
  for (int64_t i = 0; i < NumElements(gradient.shape); ++i) {
    const Index position = IndexAt(gradient.shape, i);
    const auto window = PartsAt(position, axes, parts);
    const float term = static_cast<float>(RealAt(gradient, position)) / divisor.Of(window);
    ForEachInWindow(window, LastDims(result, axes), [&](const Index& element, int64_t) {
      sums[static_cast<size_t>(PositionOf(result, Joined(position, axes, element)))] += term;
    });
  }
  return Rounded(sums, dtype);
}

Outcome GradientOfMaxima(const TensorValues& gradient, const TensorValues& places, const Shape& result,
                         DtypeNumber dtype, size_t axes) {
  std::vector<float> sums(static_cast<size_t>(NumElements(result)));
  const int64_t plane = NumElements(LastDims(result, axes));
  const int64_t windows = NumElements(LastDims(gradient.shape, axes));
  for (int64_t i = 0; i < NumElements(gradient.shape); ++i)
    sums[static_cast<size_t>(i / windows * plane + places.Integer(i))] +=
        static_cast<float>(RealAt(gradient, IndexAt(gradient.shape, i)));
  return Rounded(sums, dtype);
}

Parts PartsOf(const PlanCall& call, const Names& names, const Shape& self, size_t axes) {
  std::vector<Axis> all;
  for (size_t k = 0; k < axes; ++k) all.push_back(AxisOf(call, names, k, self[self.size() - axes + k]));
  return [all](size_t axis, int64_t position) { return PartAt(all[axis], position); };
}
Parts AdaptiveParts(const Shape& self, const Shape& out, size_t axes = 2) {
  const Shape from = LastDims(self, axes);
  const Shape to = LastDims(out, axes);
  return [=](size_t axis, int64_t position) { return AdaptivePart(from[axis], to[axis], position); };
}

void FillWithSmallNumbers(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  const auto arguments = TensorsOf(call);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (arguments[i]->is_output || !IsOneOf(tensors[i].dtype(), kHalves)) continue;
    for (int64_t k = 0; k < tensors[i].size(); ++k) {
      const Element element =
          ElementOfNumber(tensors[i].dtype(), {static_cast<long double>(random.Between(-9, 9)), 0});
      std::copy(element.begin(), element.end(), tensors[i].Element(k));
    }
  }
}

// ---- rules ----

bool HasCount(const PlanCall& call, const std::string& name, std::initializer_list<size_t> counts) {
  return std::find(counts.begin(), counts.end(), call[name].values.size()) != counts.end();
}
bool IsBelow(const PlanCall& call, const std::string& name, int64_t least) {
  const auto& values = call[name].values;
  return std::any_of(values.begin(), values.end(), [=](int64_t value) { return value < least; });
}
Rule Counts(const std::string& name, std::initializer_list<size_t> counts, aclnnStatus code = 161002) {
  const std::vector<size_t> allowed(counts);
  return Refuses(code, name, [=](PlanCall& call) {
    return std::find(allowed.begin(), allowed.end(), call[name].values.size()) == allowed.end();
  });
}
Rule AtLeast(const std::string& name, int64_t least) {
  return Refuses(161002, name,
                 [=](PlanCall& call) { return !call[name].null && IsBelow(call, name, least); });
}
Rule Ones(const std::string& name) {
  return Refuses(161002, name, [=](PlanCall& call) {
    const auto& values = call[name].values;
    return std::any_of(values.begin(), values.end(), [](int64_t value) { return value != 1; });
  });
}
Rule OnesBefore950(const std::string& name) {
  return Refuses(161002, name, [=](PlanCall& call) {
    const auto& values = call[name].values;
    return call.product != Product::k950 &&
           std::any_of(values.begin(), values.end(), [](int64_t value) { return value != 1; });
  });
}
Rule HalfOfKernel(const std::string& padding, size_t axes) {
  return Refuses(161002, padding, [=](PlanCall& call) {
    bool wrong = false;
    for (size_t k = 0; k < axes; ++k)
      wrong = wrong || ValueOf(call, padding, k, 0) > ValueOf(call, "kernelSize", k, 1) / 2;
    return wrong;
  });
}
Rule OneFormat(const std::string& names) {
  const std::vector<std::string> all = Words(names);
  return Refuses(161002, "format " + names, [=](PlanCall& call) {
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& name) { return call[name].format != call[all[0]].format; });
  });
}
Rule NotPrivate(const std::string& names) {
  const std::vector<std::string> all = Words(names);
  return Refuses(161002, names, [=](PlanCall& call) {
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& name) { return call[name].format == ACL_FORMAT_FRACTAL_NZ; });
  });
}
Rule ImageFormats(const std::string& a, const std::string& b) {
  return Refuses(161002, a + " " + b, [=](PlanCall& call) {
    const auto is_wrong = [](const PlanArgument& one) {
      return !((one.shape.size() == 4 && one.format == ACL_FORMAT_NCHW) ||
               (one.shape.size() == 3 && one.format == ACL_FORMAT_NCL));
    };
    return is_wrong(call[a]) || is_wrong(call[b]);
  });
}
Rule ImageHasElements(const std::string& name, size_t axes) {
  return Refuses(161002, name, [=](PlanCall& call) {
    const Shape last = LastDims(call[name].shape, axes + 1);
    return std::find(last.begin(), last.end(), 0) != last.end();
  });
}
// Sets the result.
Rule WindowsFit(const std::string& pooled, size_t axes, const Names& names = {}) {
  return Refuses(161002, names.kernel, [=](PlanCall& call) {
    call.result = call[pooled].shape;
    bool fits = true;
    for (size_t k = 0; k < axes; ++k) {
      int64_t& dim = call.result[call.result.size() - axes + k];
      dim = AxisOf(call, names, k, dim).positions;
      fits = fits && dim > 0;
    }
    return !fits;
  });
}
void Append(Rules& rules, const Rules& more) { rules.insert(rules.end(), more.begin(), more.end()); }

// ---- drawing ----

struct DrawForm {
  size_t axes = 2;
  Names names = {};
  bool dilates = false;
};

Shape DrawImage(RandomNumbers& random, size_t axes) {
  Shape image = DrawShape(random, axes + 1, axes + 2, 7);
  if (random.Chance(5)) image.back() = random.Between(120, 300);
  if (random.Chance(5)) image[image.size() - axes - 1] = random.Between(16, 40);
  if (image.size() == axes + 2 && random.Chance(2)) image[0] = 0;
  return image;
}

// Draws an image and its windows; returns the output's shape, of which a dim is 0 where no window fits.
Shape DrawWindows(const DrawForm& form, PlanCall& call, RandomNumbers& random, Shape& image) {
  image = DrawImage(random, form.axes);
  const auto draw = [&](const std::string& name, int64_t least, int64_t most) {
    auto& values = call[name].values;
    values.clear();
    const size_t count = random.Chance(30) ? 1 : form.axes;
    for (size_t k = 0; k < count; ++k) values.push_back(random.Between(least, most));
  };
  draw(form.names.kernel, 1, random.Chance(10) ? 9 : 4);
  draw(form.names.stride, 1, 4);
  if (random.Chance(20)) call[form.names.stride].values.clear();
  auto& padding = call[form.names.padding].values;
  padding.clear();
  for (size_t k = 0; k < form.axes; ++k)
    padding.push_back(random.Below(ValueOf(call, form.names.kernel, k, 1) / 2 + 1));
  if (form.dilates) draw(form.names.dilation, 1, call.product == Product::k950 ? 3 : 1);
  call["ceilMode"].integer = random.Below(2);
  Shape out = image;
  for (size_t k = 0; k < form.axes; ++k) {
    int64_t& dim = out[out.size() - form.axes + k];
    dim = AxisOf(call, form.names, k, dim).positions;
  }
  return out;
}

void SetTensor(PlanCall& call, const std::string& name, const Shape& shape, DtypeNumber dtype) {
  call[name].shape = shape;
  call[name].dtype = dtype;
}

// ---- maxima ----

std::vector<PlanArgument> WithWindows(std::vector<PlanArgument> first, std::vector<PlanArgument> last,
                                      size_t axes) {
  const size_t n = axes;
  first.push_back(ArrayArg("kernelSize", Index(n, 2)));
  first.push_back(ArrayArg("stride", Index(n, 2)));
  first.push_back(ArrayArg("padding", Index(n, 1)));
  first.push_back(ArrayArg("dilation", Index(n, 1)));
  first.push_back(IntegerArg("ceilMode", 0));
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

Rules FlatWindows() {
  return {AtLeast("kernelSize", 1),  Counts("stride", {0, 1, 2}), AtLeast("stride", 1),
          Counts("padding", {1, 2}), Counts("dilation", {1, 2}),  AtLeast("padding", 0),
          HalfOfKernel("padding", 2)};
}
Rules DeepWindows() {
  return {Counts("kernelSize", {1, 3}), Counts("stride", {0, 1, 3}), Counts("padding", {1, 3}),
          AtLeast("kernelSize", 1),     AtLeast("stride", 1),        AtLeast("padding", 0),
          HalfOfKernel("padding", 3)};
}

OperatorSpec WithPlaces(const CFunction& function, size_t axes, const Listed& places) {
  OperatorSpec op;
  op.function = function;
  const Shape self = axes == 2 ? Shape{2, 4, 6} : Shape{2, 4, 4, 6};
  const Shape out = axes == 2 ? Shape{2, 3, 4} : Shape{2, 3, 3, 4};
  op.valid = WithWindows({TensorArg("self", self)},
                         {OutputArg("out", out), OutputArg("indices", out, ACL_INT32)}, axes);
  op.rules = {NoNulls("self kernelSize stride padding dilation out indices"), DtypeIn("self", kFloatsOnNew),
              DtypeIn("indices", places), SameDtype("self", "out"),
              OneFormat(axes == 2 ? "self out" : "self out indices")};
  if (axes == 2) op.rules.push_back(NotPrivate("self out indices"));
  op.rules.push_back(Ranks("self", axes + 1, axes + 2));
  if (axes == 2) {
    op.rules.push_back(Counts("kernelSize", {1, 2}));
    Append(op.rules, FlatWindows());
  } else {
    Rules windows = DeepWindows();
    windows.insert(windows.begin() + 3, Counts("dilation", {1, 3}));
    Append(op.rules, windows);
  }
  Append(op.rules,
         {AtLeast("dilation", 1), OnesBefore950("dilation"), ImageHasElements("self", axes),
          WindowsFit("self", axes), ResultIs("out"), SameShape("out", "indices"), DoneIfEmpty("self")});
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape image;
    const Shape result = DrawWindows({axes, {}, true}, call, random, image);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    SetTensor(call, "self", image, dtype);
    SetTensor(call, "out", result, dtype);
    const bool is_wide = axes == 2 || call.product == Product::k950;
    SetTensor(call, "indices", result, is_wide ? DrawDtype(random, {ACL_INT32, ACL_INT64}) : ACL_INT32);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (NumElements(tensors[0].shape) == 0) return std::vector<Outcome>{{}, {}};
    return Maxima(tensors[0], call["out"].shape, axes, PartsOf(call, {}, tensors[0].shape, axes),
                  tensors[2].dtype);
  };
  op.is_inexact = true;
  return op;
}

// Places that are those of some element of each window.
void FillPlaces(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random, size_t axes) {
  FillWithSmallNumbers(call, tensors, random);
  HostTensor& places = tensors[2];
  const int64_t plane = NumElements(LastDims(call["self"].shape, axes));
  for (int64_t i = 0; i < places.size(); ++i)
    EncodeIntegerElement(places.dtype(), plane > 0 ? random.Below(plane) : 0, places.Element(i));
}

OperatorSpec GradientWithPlaces(const CFunction& function, size_t axes, const Listed& list,
                                const Listed& places) {
  OperatorSpec op;
  op.function = function;
  const Shape self = axes == 2 ? Shape{2, 4, 6} : Shape{2, 4, 4, 6};
  const Shape out = axes == 2 ? Shape{2, 3, 4} : Shape{2, 3, 3, 4};
  op.valid = WithWindows(
      {TensorArg("gradOutput", out), TensorArg("self", self), TensorArg("indices", out, ACL_INT32)},
      {OutputArg("gradInput", self)}, axes);
  op.takes_workspace = true;
  op.rules = {NoNulls("gradOutput self indices kernelSize stride padding dilation gradInput"),
              DtypeIn("gradOutput", list),
              DtypeIn("indices", places),
              SameDtype("gradOutput", "self"),
              SameDtype("gradOutput", "gradInput"),
              OneFormat("self gradOutput gradInput"),
              NotPrivate("self gradOutput indices gradInput"),
              Ranks("self", axes + 1, axes + 2)};
  if (axes == 2) {
    op.rules.push_back(Counts("kernelSize", {1, 2}));
    Append(op.rules, FlatWindows());
  } else {
    Rules windows = DeepWindows();
    windows.insert(windows.begin() + 3, Counts("dilation", {1, 3}));
    Append(op.rules, windows);
  }
  Append(op.rules, {AtLeast("dilation", 1), OnesBefore950("dilation"), SameShape("self", "gradInput"),
                    ImageHasElements("self", axes), WindowsFit("self", axes), ResultIs("gradOutput"),
                    Refuses(161002, "indices",
                            [](PlanCall& call) {
                              return call["indices"].dtype != ACL_INT8 &&
                                     call["indices"].shape != call["gradOutput"].shape;
                            }),
                    DoneIfEmpty("self"), Refuses(561103, "indices", [](PlanCall& call) {
                      return call["indices"].dtype == ACL_INT8 &&
                             NumElements(call["indices"].shape) < 4 * NumElements(call["gradOutput"].shape);
                    })});
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape image;
    const Shape result = DrawWindows({axes, {}, true}, call, random, image);
    const DtypeNumber dtype =
        DrawDtype(random, list.Has(call.product, ACL_BF16) ? kHalves : DtypeList{ACL_FLOAT});
    for (const char* name : {"self", "gradInput"}) SetTensor(call, name, image, dtype);
    SetTensor(call, "gradOutput", result, dtype);
    SetTensor(call, "indices", result,
              call.product == Product::k950 ? DrawDtype(random, {ACL_INT32, ACL_INT64}) : ACL_INT32);
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillPlaces(call, tensors, random, axes);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (NumElements(tensors[1].shape) == 0) return std::vector<Outcome>{{}};
    return std::vector<Outcome>{
        GradientOfMaxima(tensors[0], tensors[2], tensors[1].shape, call["gradInput"].dtype, axes)};
  };
  return op;
}

const Names kPoolNames = {"kernelShape", "strides", "pads", "dilations", true};

OperatorSpec MaxPool() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMaxPool);
  op.valid = {TensorArg("self", {2, 4, 6}, ACL_FLOAT16),
              ArrayArg("kernelShape", {2, 3}),
              ArrayArg("strides", {2, 2}),
              IntegerArg("autoPad", 0),
              ArrayArg("pads", {1, 0, 1, 1}),
              ArrayArg("dilations", {1, 1}),
              IntegerArg("ceilMode", 0),
              OutputArg("out", {2, 3, 3}, ACL_FLOAT16)};
  const DtypeList more = {ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_UINT8, ACL_UINT16, ACL_BF16};
  op.rules = {NoNulls("self kernelShape strides pads dilations out"),
              Refuses(161002, "self",
                      [=](PlanCall& call) {
                        const DtypeNumber dtype = call["self"].dtype;
                        const bool is_new = call.product == Product::kA2 || call.product == Product::kA3 ||
                                            call.product == Product::k950;
                        return !(dtype == ACL_FLOAT16 || (dtype == ACL_FLOAT && is_new) ||
                                 (call.product == Product::k950 && IsOneOf(dtype, more)));
                      }),
              SameDtype("self", "out"),
              OneFormat("self out"),
              Ranks("self", 3, 4),
              Counts("kernelShape", {1, 2}),
              Counts("strides", {0, 1, 2}),
              AtLeast("kernelShape", 1),
              AtLeast("strides", 1),
              Counts("pads", {0, 1, 2, 4}),
              AtLeast("pads", 0),
              Counts("dilations", {0, 1, 2, 4}),
              Ones("dilations"),
              Refuses(161002, "autoPad", [](PlanCall& call) { return call["autoPad"].integer != 0; }),
              Refuses(161002, "pads",
                      [](PlanCall& call) {
                        bool wrong = false;
                        for (size_t k = 0; k < 2; ++k) {
                          const Axis axis = AxisOf(call, kPoolNames, k, 100);
                          wrong = wrong || axis.before + axis.after > axis.kernel;
                        }
                        return wrong;
                      }),
              ImageHasElements("self", 2),
              WindowsFit("self", 2, kPoolNames),
              ResultIs("out"),
              DoneIfEmpty("self")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape image;
    DrawWindows({2, kPoolNames}, call, random, image);
    call["dilations"].values = {1};
    if (random.Chance(50)) {
      call["pads"].values = {random.Below(2), random.Below(2), random.Below(2), random.Below(2)};
      if (random.Chance(30)) call["pads"].values.clear();
    }
    Shape out = image;
    for (size_t k = 0; k < 2; ++k) {
      int64_t& dim = out[out.size() - 2 + k];
      dim = AxisOf(call, kPoolNames, k, dim).positions;
    }
    DtypeList dtypes = call.product == Product::k950 ? more : DtypeList{};
    dtypes.insert(dtypes.end(), {ACL_FLOAT, ACL_FLOAT16});
    const DtypeNumber dtype = DrawDtype(random, dtypes);
    SetTensor(call, "self", image, dtype);
    SetTensor(call, "out", out, dtype);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (NumElements(tensors[0].shape) == 0) return std::vector<Outcome>{{}};
    return std::vector<Outcome>{Maxima(tensors[0], call["out"].shape, 2,
                                       PartsOf(call, kPoolNames, tensors[0].shape, 2), ACL_INT64)[0]};
  };
  op.is_inexact = true;
  return op;
}

std::vector<OperatorSpec> MaximaOperators() {
  const Listed flat = {{}, {ACL_INT32, ACL_INT64}};
  const Listed deep = {{}, {ACL_INT32}, {ACL_INT64}};
  Listed of_gradient = {{}, {ACL_INT32}, {ACL_INT64}};
  of_gradient.before_950 = {ACL_INT8};
  const Listed floats = {{}, {ACL_FLOAT}, {ACL_FLOAT16, ACL_BF16}};
  return {WithPlaces(PORTACL_C_FUNCTION(aclnnMaxPool2dWithIndices), 2, flat),
          GradientWithPlaces(PORTACL_C_FUNCTION(aclnnMaxPool2dWithIndicesBackward), 2, floats, of_gradient),
          WithPlaces(PORTACL_C_FUNCTION(aclnnMaxPool3dWithArgmax), 3, deep),
          GradientWithPlaces(PORTACL_C_FUNCTION(aclnnMaxPool3dWithArgmaxBackward), 3, kFloatsOnNew, deep),
          MaxPool()};
}
std::vector<OperatorSpec> kMaxima = MaximaOperators();
PORTACL_OPERATOR_TESTS(MaximaOfWindows, kMaxima);

// ---- with a mask ----

Rule NotOn950() {
  return Refuses(161002, "", [](PlanCall& call) { return call.product == Product::k950; });
}
const Listed MaskDtypes() {
  Listed list = {{ACL_FLOAT}, {}, {}, {ACL_FLOAT16}};
  list.on_new = {ACL_FLOAT16, ACL_BF16};
  list.on_310b = {ACL_FLOAT16};
  return list;
}
Shape MaskShape(const PlanCall& call, const std::string& pooled) {
  Shape mask = call[pooled].shape;
  const size_t last = mask.size() - 1;
  const int64_t windows =
      AxisOf(call, {}, 0, mask[last - 1]).positions * AxisOf(call, {}, 1, mask[last]).positions;
  mask[last - 1] = ValueOf(call, "kernelSize", 0, 1) * ValueOf(call, "kernelSize", 1, 1);
  mask[last] = ((windows + 15) / 16 + 1) * 32;
  return mask;
}

OperatorSpec WithMask() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMaxPool2dWithMask);
  op.valid = WithWindows({TensorArg("self", {2, 4, 6})},
                         {OutputArg("out", {2, 3, 4}), OutputArg("indices", {2, 4, 64}, ACL_INT8)}, 2);
  op.rules = {NoNulls("kernelSize self out"),
              Counts("kernelSize", {1, 2}),
              NoNulls("stride padding dilation indices"),
              NotOn950(),
              DtypeIn("self", MaskDtypes()),
              DtypeIn("indices", {{ACL_INT8}}),
              SameDtype("self", "out"),
              OneFormat("self out"),
              NotPrivate("self out indices"),
              Ranks("self", 3, 4)};
  Append(op.rules, FlatWindows());
  Append(op.rules, {Ones("dilation"), ImageHasElements("self", 2), WindowsFit("self", 2), ResultIs("out"),
                    Refuses(161002, "indices",
                            [](PlanCall& call) { return call["indices"].shape != MaskShape(call, "self"); }),
                    DoneIfEmpty("self")});
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    const Shape result = DrawWindows({}, call, random, image);
    SetTensor(call, "self", image, ACL_FLOAT);
    SetTensor(call, "out", result, ACL_FLOAT);
    call["indices"].shape = MaskShape(call, "self");
  };
  return op;
}
OperatorSpec MaskGradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMaxPool2dWithMaskBackward);
  op.valid = WithWindows({TensorArg("gradOutput", {2, 3, 4}), TensorArg("self", {2, 4, 6}),
                          TensorArg("indices", {2, 4, 64}, ACL_INT8)},
                         {OutputArg("gradInput", {2, 4, 6})}, 2);
  op.takes_workspace = true;
  op.rules = {NoNulls("kernelSize gradOutput self"),
              Counts("kernelSize", {1, 2}, 161001),
              NoNulls("stride padding dilation indices gradInput"),
              NotOn950(),
              DtypeIn("gradOutput", MaskDtypes()),
              DtypeIn("indices", {{ACL_INT8, ACL_INT32}}),
              SameDtype("gradOutput", "self"),
              SameDtype("gradOutput", "gradInput"),
              OneFormat("self gradOutput gradInput"),
              NotPrivate("self gradOutput indices gradInput"),
              Ranks("self", 3, 4)};
  Append(op.rules, FlatWindows());
  Append(
      op.rules,
      {Ones("dilation"), SameShape("self", "gradInput"), ImageHasElements("self", 2), WindowsFit("self", 2),
       ResultIs("gradOutput"), DoneIfEmpty("self"), Refuses(561103, "indices", [](PlanCall& call) {
         const PlanArgument& mask = call["indices"];
         const bool is_one = ValueOf(call, "kernelSize", 0, 1) * ValueOf(call, "kernelSize", 1, 1) == 1;
         return !is_one && NumElements(mask.shape) * std::max<int64_t>(1, ElementSize(mask.dtype)) <
                               4 * NumElements(call["gradOutput"].shape);
       })});
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    const Shape result = DrawWindows({}, call, random, image);
    for (const char* name : {"self", "gradInput"}) call[name].shape = image;
    call["gradOutput"].shape = result;
    call["indices"].shape = MaskShape(call, "self");
  };
  return op;
}

class Masks : public ::testing::TestWithParam<const OperatorSpec*> {};
TEST_P(Masks, Contract) { CheckContract(*GetParam()); }
const OperatorSpec kMask = WithMask();
const OperatorSpec kMaskGradient = MaskGradient();
INSTANTIATE_TEST_SUITE_P(Of, Masks, ::testing::Values(&kMask, &kMaskGradient),
                         [](const auto& parameter) { return std::string(parameter.param->function.name); });

// ---- means ----

void SetFormats(PlanCall& call, std::initializer_list<const char*> names) {
  for (const char* name : names)
    call[name].format = call[name].shape.size() == 4 ? ACL_FORMAT_NCHW : ACL_FORMAT_NCL;
}

Divisor DivisorOf(const PlanCall& call) {
  return {call["countIncludePad"].integer != 0, call["divisorOverride"].integer};
}
void DrawDivisor(PlanCall& call, RandomNumbers& random) {
  call["countIncludePad"].integer = random.Below(2);
  call["divisorOverride"].integer = random.Chance(25) ? random.Between(-3, 7) : 0;
}

const Names kMeanNames = {"kernelSize", "strides", "paddings", "dilation", false};

bool ModeIsWrong(const PlanCall& call) {
  const int64_t mode = call["cubeMathType"].integer;
  if (mode < 0 || mode > 4) return true;
  const PlanArgument& self = call["self"];
  if (self.dtype != ACL_FLOAT || call.product == Product::k950) return false;
  const bool is_old = call.product != Product::kA2 && call.product != Product::kA3;
  if (is_old) return mode == 0 || mode == 3;
  if (mode == 0 || mode == 2) return false;
  const int64_t h = self.shape[self.shape.size() - 2];
  const int64_t w = self.shape.back();
  const int64_t kh = ValueOf(call, "kernelSize", 0, 1);
  const int64_t kw = ValueOf(call, "kernelSize", 1, 1);
  const bool is_padded = ValueOf(call, "paddings", 0, 0) != 0 || ValueOf(call, "paddings", 1, 0) != 0;
  const bool is_whole = kh == h && kw == w && !is_padded;
  const bool is_square = call["ceilMode"].integer == 0 && w / h < 2 && h / w < 2;
  const bool is_small = std::max(kh, kw) <= 255 && (kh * kw <= 255 || std::max(kh, kw) <= 20);
  return is_whole || (is_square && is_small && std::llabs(call["divisorOverride"].integer) <= 255);
}

OperatorSpec AvgPool2d() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAvgPool2d);
  op.valid = {
      TensorArg("self", {2, 4, 6}),     ArrayArg("kernelSize", {2, 3}), ArrayArg("strides", {2, 2}),
      ArrayArg("paddings", {1, 1}),     IntegerArg("ceilMode", 1),      IntegerArg("countIncludePad", 1),
      IntegerArg("divisorOverride", 0), IntegerArg("cubeMathType", 1),  OutputArg("out", {2, 3, 4})};
  op.valid[0].format = op.valid[8].format = ACL_FORMAT_NCL;
  op.rules = {NoNulls("self kernelSize strides paddings out"),
              DtypeIn("self", kAllFloats),
              SameDtype("self", "out"),
              ImageFormats("self", "out"),
              AtLeast("kernelSize", 1),
              AtLeast("strides", 1),
              AtLeast("paddings", 0),
              DoneIfEmpty("self"),
              Ranks("self", 3, 4),
              Refuses(161002, "kernelSize", [](PlanCall& call) { return call["kernelSize"].values.empty(); }),
              Counts("paddings", {1, 2}),
              Counts("strides", {0, 1, 2}),
              Refuses(161002, "paddings",
                      [](PlanCall& call) {
                        bool wrong = false;
                        for (size_t k = 0; k < 2; ++k)
                          wrong = wrong ||
                                  2 * ValueOf(call, "paddings", k, 0) > ValueOf(call, "kernelSize", k, 1);
                        return wrong;
                      }),
              WindowsFit("self", 2, kMeanNames),
              ResultIs("out"),
              Refuses(161002, "cubeMathType", [](PlanCall& call) { return ModeIsWrong(call); })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    const Shape result = DrawWindows({2, kMeanNames}, call, random, image);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    SetTensor(call, "self", image, dtype);
    SetTensor(call, "out", result, dtype);
    SetFormats(call, {"self", "out"});
    DrawDivisor(call, random);
    call["cubeMathType"].integer = random.Below(5);
  };
  op.fill = FillWithSmallNumbers;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& self = tensors[0];
    if (NumElements(self.shape) == 0) return std::vector<Outcome>{{}};
    return std::vector<Outcome>{Means(self, call["out"].shape, self.dtype, 2,
                                      PartsOf(call, kMeanNames, self.shape, 2), DivisorOf(call))};
  };
  return op;
}

OperatorSpec AvgPool2dBackward() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAvgPool2dBackward);
  op.valid = {TensorArg("gradOutput", {2, 3, 4}), TensorArg("self", {2, 4, 6}),
              ArrayArg("kernelSize", {2, 3}),     ArrayArg("stride", {2, 2}),
              ArrayArg("padding", {1, 1}),        IntegerArg("ceilMode", 1),
              IntegerArg("countIncludePad", 1),   IntegerArg("divisorOverride", 0),
              IntegerArg("cubeMathType", 0),      OutputArg("gradInput", {2, 4, 6})};
  op.valid[0].format = op.valid[9].format = ACL_FORMAT_NCL;
  op.rules = {NoNulls("gradOutput self kernelSize padding gradInput"),
              AtLeast("kernelSize", 1),
              AtLeast("stride", 1),
              Refuses(161002, "stride",
                      [](PlanCall& call) {
                        return !call["stride"].null && !HasCount(call, "stride", {0, 1, 2});
                      }),
              DtypeIn("gradOutput self", kAllFloats),
              SameDtype("gradOutput", "gradInput"),
              ImageFormats("gradOutput", "gradInput"),
              Ranks("gradOutput", 3, 4),
              Refuses(161002, "gradInput",
                      [](PlanCall& call) {
                        return call["gradInput"].shape.size() != call["gradOutput"].shape.size();
                      }),
              Counts("kernelSize", {1, 2}),
              Counts("padding", {1, 2}),
              AtLeast("padding", 0),
              HalfOfKernel("padding", 2),
              Refuses(161002, "cubeMathType",
                      [](PlanCall& call) {
                        return call["cubeMathType"].integer < 0 || call["cubeMathType"].integer > 3;
                      }),
              SameShape("self", "gradInput"),
              DoneIfEmpty("gradOutput self"),
              Refuses(561103, "gradOutput", [](PlanCall& call) {
                const Shape& a = call["gradOutput"].shape;
                const Shape& b = call["gradInput"].shape;
                return !std::equal(a.begin(), a.end() - 2, b.begin());
              })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    Shape result = DrawWindows({}, call, random, image);
    if (result.back() > 0 && random.Chance(10)) result.back() += random.Between(-1, 2);  // CANN does not look
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    SetTensor(call, "gradOutput", result, dtype);
    for (const char* name : {"self", "gradInput"}) SetTensor(call, name, image, dtype);
    SetFormats(call, {"gradOutput", "gradInput"});
    DrawDivisor(call, random);
    call["cubeMathType"].integer = random.Below(4);
  };
  op.fill = FillWithSmallNumbers;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& self = tensors[1].shape;
    if (NumElements(self) == 0 || NumElements(tensors[0].shape) == 0) return std::vector<Outcome>{{}};
    return std::vector<Outcome>{
        GradientOfMeans(tensors[0], self, tensors[0].dtype, 2, PartsOf(call, {}, self, 2), DivisorOf(call))};
  };
  return op;
}

Rule KernelInInput(const std::string& self) {
  return Refuses(161002, "kernelSize", [=](PlanCall& call) {
    const Shape last = LastDims(call[self].shape, 3);
    bool wrong = false;
    for (size_t k = 0; k < 3; ++k) wrong = wrong || ValueOf(call, "kernelSize", k, 1) > last[k];
    return wrong;
  });
}

std::vector<PlanArgument> WithMeans(std::vector<PlanArgument> first, const PlanArgument& last) {
  for (const char* name : {"kernelSize", "stride"}) first.push_back(ArrayArg(name, {2, 2, 2}));
  first.push_back(ArrayArg("padding", {1, 0, 1}));
  for (const char* name : {"ceilMode", "countIncludePad", "divisorOverride"})
    first.push_back(IntegerArg(name, 0));
  first.push_back(last);
  return first;
}

OperatorSpec AvgPool3d() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAvgPool3d);
  op.valid = WithMeans({TensorArg("self", {2, 4, 4, 6})}, OutputArg("out", {2, 3, 2, 4}));
  op.rules = {NoNulls("self kernelSize stride padding out"),
              DtypeIn("self", kAllFloats),
              SameDtype("self", "out"),
              NotPrivate("self"),
              OneFormat("self out"),
              DoneIfEmpty("self"),
              Ranks("self", 4, 5)};
  Append(op.rules, DeepWindows());
  Append(op.rules, {KernelInInput("self"), WindowsFit("self", 3), ResultIs("out")});
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    const Shape result = DrawWindows({3}, call, random, image);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    SetTensor(call, "self", image, dtype);
    SetTensor(call, "out", result, dtype);
    DrawDivisor(call, random);
  };
  op.fill = FillWithSmallNumbers;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& self = tensors[0];
    if (NumElements(self.shape) == 0) return std::vector<Outcome>{{}};
    return std::vector<Outcome>{
        Means(self, call["out"].shape, self.dtype, 3, PartsOf(call, {}, self.shape, 3), DivisorOf(call))};
  };
  return op;
}

OperatorSpec AvgPool3dBackward() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAvgPool3dBackward);
  op.valid = WithMeans({TensorArg("gradOutput", {2, 3, 2, 4}), TensorArg("self", {2, 4, 4, 6})},
                       OutputArg("output", {2, 4, 4, 6}));
  op.rules = {NoNulls("gradOutput self kernelSize stride padding output"),
              DtypeIn("gradOutput", kAllFloats),
              SameDtype("gradOutput", "self"),
              SameDtype("gradOutput", "output"),
              NotPrivate("self"),
              OneFormat("self gradOutput output"),
              Ranks("self", 4, 5)};
  Append(op.rules, DeepWindows());
  Append(op.rules, {SameShape("self", "output"), ImageHasElements("self", 3), KernelInInput("self"),
                    WindowsFit("self", 3), ResultIs("gradOutput"), DoneIfEmpty("self")});
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    const Shape result = DrawWindows({3}, call, random, image);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    SetTensor(call, "gradOutput", result, dtype);
    for (const char* name : {"self", "output"}) SetTensor(call, name, image, dtype);
    DrawDivisor(call, random);
  };
  op.fill = FillWithSmallNumbers;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& self = tensors[1].shape;
    if (NumElements(self) == 0) return std::vector<Outcome>{{}};
    return std::vector<Outcome>{
        GradientOfMeans(tensors[0], self, tensors[0].dtype, 3, PartsOf(call, {}, self, 3), DivisorOf(call))};
  };
  return op;
}

// ---- adaptive ----

Shape DrawAdaptive(RandomNumbers& random, Shape& image, size_t axes = 2) {
  image = DrawImage(random, axes);
  Shape out = image;
  for (size_t k = 0; k < axes; ++k)
    out[out.size() - axes + k] = random.Between(1, k == axes - 1 && random.Chance(4) ? 150 : 6);
  return out;
}
Rule SameBatch(const std::string& a, const std::string& b, size_t axes = 2) {
  return Refuses(161002, b, [=](PlanCall& call) {
    const Shape& first = call[a].shape;
    const Shape& second = call[b].shape;
    return first.size() != second.size() ||
           !std::equal(first.begin(), first.end() - static_cast<std::ptrdiff_t>(axes), second.begin());
  });
}

OperatorSpec AdaptiveMeans() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAdaptiveAvgPool2d);
  op.valid = {TensorArg("self", {2, 4, 6}), ArrayArg("outputSize", {3, 4}), OutputArg("out", {2, 3, 4})};
  op.valid[0].format = op.valid[2].format = ACL_FORMAT_NCL;
  op.rules = {
      NoNulls("self outputSize out"),
      Ranks("self", 3, 4),
      SameBatch("self", "out"),
      DtypeIn("self", kAllFloats),
      SameDtype("self", "out"),
      ImageFormats("self", "out"),
      Counts("outputSize", {2}),
      Refuses(
          161002, "outputSize",
          [](PlanCall& call) { return IsBelow(call, "outputSize", call.product == Product::k950 ? 0 : 1); }),
      Refuses(161002, "outputSize",
              [](PlanCall& call) { return LastDims(call["out"].shape, 2) != call["outputSize"].values; }),
      DoneIfEmpty("self out")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    const Shape out = DrawAdaptive(random, image);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    SetTensor(call, "self", image, dtype);
    SetTensor(call, "out", out, dtype);
    SetFormats(call, {"self", "out"});
    call["outputSize"].values = LastDims(out, 2);
  };
  op.fill = FillWithSmallNumbers;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& self = tensors[0];
    const Shape& out = call["out"].shape;
    if (NumElements(self.shape) == 0 || NumElements(out) == 0) return std::vector<Outcome>{{}};
    return std::vector<Outcome>{Means(self, out, self.dtype, 2, AdaptiveParts(self.shape, out), {})};
  };
  return op;
}

OperatorSpec AdaptiveMeansGradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAdaptiveAvgPool2dBackward);
  op.valid = {TensorArg("gradOutput", {2, 3, 4}), TensorArg("self", {2, 4, 6}), OutputArg("out", {2, 4, 6})};
  op.rules = {
      NoNulls("gradOutput self out"),
      Ranks("self", 3, 4),
      Refuses(161002, "gradOutput",
              [](PlanCall& call) { return call["gradOutput"].shape.size() != call["self"].shape.size(); }),
      Refuses(161002, "out",
              [](PlanCall& call) { return call["out"].shape.size() != call["self"].shape.size(); }),
      SameBatch("self", "gradOutput"),
      SameBatch("self", "out"),
      DtypeIn("gradOutput", kAllFloats),
      SameDtype("gradOutput", "self"),
      NotPrivate("gradOutput"),
      OneFormat("gradOutput self"),
      DoneIfEmpty("gradOutput self"),
      Refuses(561103, "out", [](PlanCall& call) {
        return call["out"].shape != call["self"].shape || call["out"].dtype != call["self"].dtype;
      })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    const Shape out = DrawAdaptive(random, image);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    SetTensor(call, "gradOutput", out, dtype);
    for (const char* name : {"self", "out"}) SetTensor(call, name, image, dtype);
  };
  op.fill = FillWithSmallNumbers;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& self = tensors[1].shape;
    if (NumElements(self) == 0) return std::vector<Outcome>{{}};
    return std::vector<Outcome>{GradientOfMeans(tensors[0], self, tensors[0].dtype, 2,
                                                AdaptiveParts(self, call["gradOutput"].shape), {})};
  };
  return op;
}

bool HasChannelsLast(const PlanCall& call) {
  return call["self"].format == ACL_FORMAT_NHWC && call["self"].shape.size() == 4;
}
Index WithChannelLast(Index index) {
  std::rotate(index.begin() + 1, index.begin() + 2, index.end());
  return index;
}

OperatorSpec AdaptiveMaxima() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAdaptiveMaxPool2d);
  op.valid = {TensorArg("self", {2, 4, 6}), ArrayArg("outputSize", {3, 4}), OutputArg("outputOut", {2, 3, 4}),
              OutputArg("indicesOut", {2, 3, 4}, ACL_INT64)};
  op.rules = {
      NoNulls("self outputSize outputOut indicesOut"),
      DtypeIn("self", kFD),
      SameDtype("self", "outputOut"),
      Refuses(161002, "indicesOut", [](PlanCall& call) { return call["indicesOut"].dtype != ACL_INT64; }),
      Ranks("self", 3, 4),
      SameShape("outputOut", "indicesOut"),
      Counts("outputSize", {2}),
      AtLeast("outputSize", 1),
      ImageHasElements("self", 2),
      DoneIfEmpty("self"),
      Refuses(561103, "outputOut", [](PlanCall& call) {
        call.result = call["self"].shape;
        std::copy(call["outputSize"].values.begin(), call["outputSize"].values.end(),
                  HasChannelsLast(call) ? call.result.begin() + 1 : call.result.end() - 2);
        return NumElements(call.result) != NumElements(call["outputOut"].shape);
      })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    const Shape out = DrawAdaptive(random, image);
    const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE});
    SetTensor(call, "self", image, dtype);
    SetTensor(call, "outputOut", out, dtype);
    SetTensor(call, "indicesOut", out, ACL_INT64);
    call["outputSize"].values = LastDims(out, 2);
    if (image.size() == 3 || random.Chance(50)) return;
    for (const char* name : {"self", "outputOut", "indicesOut"}) {
      PlanArgument& one = call[name];
      one.format = ACL_FORMAT_NHWC;
      std::rotate(one.shape.begin() + 1, one.shape.begin() + 2, one.shape.end());
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& self = tensors[0];
    if (NumElements(self.shape) == 0) return std::vector<Outcome>{{}, {}};
    if (!HasChannelsLast(call))
      return Maxima(self, call.result, 2, AdaptiveParts(self.shape, call.result), ACL_INT64);
    // The same of a transposed copy, transposed back.
    TensorValues planes = self;
    std::rotate(planes.shape.begin() + 1, planes.shape.end() - 1, planes.shape.end());
    for (int64_t i = 0; i < NumElements(planes.shape); ++i)
      planes.elements[static_cast<size_t>(i)] = self.elements[static_cast<size_t>(
          PositionOf(self.shape, WithChannelLast(IndexAt(planes.shape, i))))];
    Shape windows = call.result;
    std::rotate(windows.begin() + 1, windows.end() - 1, windows.end());
    const auto maxima = Maxima(planes, windows, 2, AdaptiveParts(planes.shape, windows), ACL_INT64);
    std::vector<Outcome> results = maxima;
    for (size_t k = 0; k < maxima.size(); ++k) {
      for (int64_t i = 0; i < NumElements(windows); ++i)
        results[k][static_cast<size_t>(PositionOf(call.result, WithChannelLast(IndexAt(windows, i))))] =
            maxima[k][static_cast<size_t>(i)];
    }
    return results;
  };
  op.is_inexact = true;
  return op;
}

constexpr int64_t kMostLocations = std::numeric_limits<int32_t>::max();

OperatorSpec AdaptiveMaximaGradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAdaptiveMaxPool2dBackward);
  op.valid = {TensorArg("gradOutput", {2, 3, 4}), TensorArg("self", {2, 4, 6}),
              TensorArg("indices", {2, 3, 4}, ACL_INT64), OutputArg("gradInput", {2, 4, 6})};
  op.takes_workspace = true;
  op.rules = {NoNulls("gradOutput self indices gradInput"),
              DtypeIn("gradOutput", kFloatsOnNew),
              SameDtype("gradOutput", "self"),
              SameDtype("gradOutput", "gradInput"),
              DtypeIn("indices", {{ACL_INT32, ACL_INT64}}),
              Ranks("self", 3, 4),
              SameShape("gradOutput", "indices"),
              SameShape("self", "gradInput"),
              Refuses(161002, "self",
                      [](PlanCall& call) {
                        const Shape plane = LastDims(call["self"].shape, 2);
                        return call.product != Product::k950 && NumElements(plane) > kMostLocations;
                      }),
              OneFormat("self gradOutput indices gradInput"),
              NotPrivate("self gradOutput indices gradInput"),
              SameBatch("self", "gradOutput"),
              DoneIfEmpty("self gradOutput")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    const Shape out = DrawAdaptive(random, image);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    SetTensor(call, "gradOutput", out, dtype);
    SetTensor(call, "indices", out, DrawDtype(random, {ACL_INT32, ACL_INT64}));
    for (const char* name : {"self", "gradInput"}) SetTensor(call, name, image, dtype);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillPlaces(call, tensors, random, 2);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (NumElements(tensors[1].shape) == 0) return std::vector<Outcome>{{}};
    return std::vector<Outcome>{
        GradientOfMaxima(tensors[0], tensors[2], tensors[1].shape, call["gradInput"].dtype, 2)};
  };
  return op;
}

// ---- adaptive, three axes ----

Rule SameRank(const std::string& a, const std::string& b) {
  return Refuses(161002, b, [=](PlanCall& call) { return call[a].shape.size() != call[b].shape.size(); });
}
// No dim is 0; on Ascend 950, or everywhere, none besides the batch.
Rule DimsArePositive(const std::string& name, bool everywhere = false) {
  return Refuses(161002, name, [=](PlanCall& call) {
    const Shape& shape = call[name].shape;
    const bool skips = everywhere || call.product == Product::k950;
    return std::find(shape.begin() + (skips ? 1 : 0), shape.end(), 0) != shape.end();
  });
}
Rule LastDimsArePositive(const std::string& name) {
  return Refuses(161002, name, [=](PlanCall& call) {
    const Shape last = LastDims(call[name].shape, 3);
    return std::find(last.begin(), last.end(), 0) != last.end();
  });
}
bool IsVolumeFormat(int32_t format, bool takes_nd) {
  return format == ACL_FORMAT_NCDHW || format == ACL_FORMAT_NCHW || (takes_nd && format == ACL_FORMAT_ND);
}

OperatorSpec AdaptiveMeans3d() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAdaptiveAvgPool3d);
  op.valid = {TensorArg("self", {2, 4, 6, 5}), ArrayArg("outputSize", {3, 4, 2}),
              OutputArg("out", {2, 3, 4, 2})};
  op.rules = {
      NoNulls("self outputSize out"),
      Ranks("self", 4, 5),
      SameRank("self", "out"),
      DimsArePositive("self"),
      SameBatch("self", "out", 3),
      LastDimsArePositive("out"),
      DtypeIn("self", kAllFloats),
      SameDtype("self", "out"),
      OneFormat("self out"),
      Refuses(161002, "self",
              [](PlanCall& call) {
                const int32_t format = call["self"].format;
                return call.product == Product::k950 ? !IsVolumeFormat(format, true)
                                                     : format == ACL_FORMAT_FRACTAL_NZ;
              }),
      Counts("outputSize", {3}),
      AtLeast("outputSize", 1),
      Refuses(161002, "outputSize",
              [](PlanCall& call) { return LastDims(call["out"].shape, 3) != call["outputSize"].values; }),
      DoneIfEmpty("self")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    const Shape out = DrawAdaptive(random, image, 3);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    SetTensor(call, "self", image, dtype);
    SetTensor(call, "out", out, dtype);
    call["outputSize"].values = LastDims(out, 3);
  };
  op.fill = FillWithSmallNumbers;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& self = tensors[0];
    const Shape& out = call["out"].shape;
    if (NumElements(self.shape) == 0) return std::vector<Outcome>{{}};
    return std::vector<Outcome>{Means(self, out, self.dtype, 3, AdaptiveParts(self.shape, out, 3), {})};
  };
  return op;
}

OperatorSpec AdaptiveMeansGradient3d() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAdaptiveAvgPool3dBackward);
  op.valid = {TensorArg("gradOutput", {2, 1, 1, 1}), TensorArg("self", {2, 4, 6, 3}),
              OutputArg("out", {2, 4, 6, 3})};
  op.rules = {NoNulls("gradOutput self out"),
              Ranks("self", 4, 5),
              SameRank("self", "gradOutput"),
              SameRank("self", "out"),
              DimsArePositive("self"),
              SameShape("self", "out"),
              SameBatch("self", "gradOutput", 3),
              LastDimsArePositive("gradOutput"),
              DtypeIn("gradOutput", kAllFloats),
              SameDtype("gradOutput", "self"),
              SameDtype("gradOutput", "out"),
              Refuses(161002, "gradOutput",
                      [](PlanCall& call) {
                        const bool is_new = call.product == Product::k950 || call.product == Product::kA2 ||
                                            call.product == Product::kA3;
                        return !is_new && NumElements(LastDims(call["gradOutput"].shape, 3)) != 1;
                      }),
              OneFormat("gradOutput self out"),
              NotPrivate("gradOutput"),
              DoneIfEmpty("gradOutput self")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    const Shape out = DrawAdaptive(random, image, 3);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    SetTensor(call, "gradOutput", out, dtype);
    for (const char* name : {"self", "out"}) SetTensor(call, name, image, dtype);
  };
  op.fill = FillWithSmallNumbers;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& self = tensors[1].shape;
    if (NumElements(self) == 0) return std::vector<Outcome>{{}};
    return std::vector<Outcome>{GradientOfMeans(tensors[0], self, tensors[0].dtype, 3,
                                                AdaptiveParts(self, call["gradOutput"].shape, 3), {})};
  };
  return op;
}

// INT32 on every product, INT64 on Ascend 950.
Rule PlacesAre(const std::string& name) {
  return Refuses(161002, name, [=](PlanCall& call) {
    const DtypeNumber dtype = call[name].dtype;
    return dtype != ACL_INT32 && (dtype != ACL_INT64 || call.product != Product::k950);
  });
}

OperatorSpec AdaptiveMaxima3d() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAdaptiveMaxPool3d);
  op.valid = {TensorArg("self", {2, 4, 6, 5}), ArrayArg("outputSize", {3, 4, 2}),
              OutputArg("outputOut", {2, 3, 4, 2}), OutputArg("indicesOut", {2, 3, 4, 2}, ACL_INT32)};
  op.valid[0].format = op.valid[2].format = ACL_FORMAT_NCDHW;
  op.rules = {
      NoNulls("self outputSize outputOut indicesOut"),
      Ranks("self outputOut indicesOut", 4, 5),
      SameRank("self", "outputOut"),
      SameRank("self", "indicesOut"),
      DtypeIn("self", kFloatsOnNew),
      DtypeIn("outputOut", kFloatsOnNew),
      PlacesAre("indicesOut"),
      Refuses(
          161002, "self",
          [](PlanCall& call) { return !IsVolumeFormat(call["self"].format, call.product == Product::k950); }),
      OneFormat("self outputOut"),
      Counts("outputSize", {3}),
      SameBatch("self", "outputOut", 3),
      Refuses(
          161002, "outputSize",
          [](PlanCall& call) { return LastDims(call["outputOut"].shape, 3) != call["outputSize"].values; }),
      SameShape("outputOut", "indicesOut"),
      SameDtype("self", "outputOut"),
      DimsArePositive("self", true),
      Refuses(161002, "self",
              [](PlanCall& call) { return NumElements(LastDims(call["self"].shape, 3)) > kMostLocations; }),
      AtLeast("outputSize", 1),
      DoneIfEmpty("self")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    const Shape out = DrawAdaptive(random, image, 3);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    SetTensor(call, "self", image, dtype);
    SetTensor(call, "outputOut", out, dtype);
    SetTensor(call, "indicesOut", out, ACL_INT32);
    call["outputSize"].values = LastDims(out, 3);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& self = tensors[0];
    if (NumElements(self.shape) == 0) return std::vector<Outcome>{{}, {}};
    const Shape& out = call["outputOut"].shape;
    return Maxima(self, out, 3, AdaptiveParts(self.shape, out, 3), call["indicesOut"].dtype);
  };
  op.is_inexact = true;
  return op;
}

OperatorSpec AdaptiveMaximaGradient3d() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAdaptiveMaxPool3dBackward);
  op.valid = {TensorArg("gradOutput", {2, 3, 4, 2}), TensorArg("self", {2, 4, 6, 5}),
              TensorArg("indices", {2, 3, 4, 2}, ACL_INT32), OutputArg("gradInput", {2, 4, 6, 5})};
  op.takes_workspace = true;
  op.rules = {NoNulls("gradOutput self indices gradInput"),
              DtypeIn("gradOutput", kFloatsOnNew),
              SameDtype("gradOutput", "self"),
              SameDtype("gradOutput", "gradInput"),
              DtypeIn("indices", {{ACL_INT32, ACL_INT64}}),
              SameShape("gradOutput", "indices"),
              SameShape("self", "gradInput"),
              Ranks("self", 4, 5),
              Refuses(161002, "self",
                      [](PlanCall& call) {
                        return call.product != Product::k950 &&
                               NumElements(LastDims(call["self"].shape, 3)) > kMostLocations;
                      }),
              OneFormat("self gradOutput indices gradInput"),
              NotPrivate("self gradOutput indices gradInput"),
              PlacesAre("indices"),
              SameBatch("self", "gradOutput", 3),
              DoneIfEmpty("self gradOutput")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape image;
    const Shape out = DrawAdaptive(random, image, 3);
    const DtypeNumber dtype = DrawDtype(random, kHalves);
    SetTensor(call, "gradOutput", out, dtype);
    SetTensor(call, "indices", out, ACL_INT32);
    for (const char* name : {"self", "gradInput"}) SetTensor(call, name, image, dtype);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillPlaces(call, tensors, random, 3);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (NumElements(tensors[1].shape) == 0) return std::vector<Outcome>{{}};
    return std::vector<Outcome>{
        GradientOfMaxima(tensors[0], tensors[2], tensors[1].shape, call["gradInput"].dtype, 3)};
  };
  return op;
}

// ---- unpooling ----

const DtypeList kUnpooled = {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT8,
                             ACL_UINT8, ACL_INT16,   ACL_INT32,  ACL_INT64};

// The elements are pooled, and the planes are what they came from.
struct UnpoolForm {
  size_t axes;
  bool is_gradient;

  const char* planes() const { return is_gradient ? "gradOutput" : "outRef"; }
  const char* result() const { return is_gradient ? "out" : "outRef"; }
};

Shape PlanesOf(const UnpoolForm& form, const PlanCall& call) {
  Shape planes = call["self"].shape;
  std::copy(call["outputSize"].values.begin(), call["outputSize"].values.end(),
            planes.end() - static_cast<std::ptrdiff_t>(form.axes));
  return planes;
}

void FillUnpooled(const UnpoolForm& form, const PlanCall& call, std::vector<HostTensor>& tensors,
                  RandomNumbers& random) {
  const auto arguments = TensorsOf(call);
  const int64_t places = NumElements(LastDims(PlanesOf(form, call), form.axes));
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (arguments[i]->name != "indices") continue;
    for (int64_t k = 0; k < tensors[i].size(); ++k) {
      const Element element = ElementOfNumber(
          tensors[i].dtype(), {static_cast<long double>(random.Below(std::max<int64_t>(places, 1))), 0});
      std::copy(element.begin(), element.end(), tensors[i].Element(k));
    }
  }
}

OperatorSpec Unpool(const CFunction& function, const UnpoolForm& form) {
  OperatorSpec op;
  op.function = function;
  const bool is_deep = form.axes == 3;
  const Shape small = is_deep ? Shape{2, 2, 3, 4} : Shape{2, 3, 4};
  const Shape large = is_deep ? Shape{2, 3, 5, 7} : Shape{2, 5, 7};
  if (form.is_gradient) op.valid.push_back(TensorArg("gradOutput", large));
  op.valid.push_back(TensorArg("self", small));
  op.valid.push_back(TensorArg("indices", small, ACL_INT64));
  op.valid.push_back(ArrayArg("outputSize", LastDims(large, form.axes)));
  if (is_deep) op.valid.push_back(ArrayArg("stride", {2, 2, 2}));
  if (is_deep) op.valid.push_back(ArrayArg("padding", {0, 0, 0}));
  op.valid.push_back(OutputArg(form.result(), form.is_gradient ? small : large));
  op.takes_workspace = true;
  op.valid.back().is_contiguous = is_deep;
  const bool is_flat_gradient = form.is_gradient && !is_deep;
  DtypeList dtypes = kUnpooled;
  if (is_flat_gradient) {
    dtypes.erase(std::find(dtypes.begin(), dtypes.end(), ACL_DOUBLE));
    dtypes.push_back(ACL_BOOL);
  }
  const std::string first = form.is_gradient ? "gradOutput" : "self";
  const std::string result = form.result();
  if (form.is_gradient) op.rules.push_back(NoNulls("gradOutput"));
  op.rules.push_back(NoNulls(is_deep ? "self indices outputSize stride padding" : "self indices outputSize"));
  op.rules.push_back(NoNulls(result));
  op.rules.push_back(DtypeIn(first, {dtypes}));
  if (form.is_gradient) op.rules.push_back(SameDtype("gradOutput", "self"));
  if (is_flat_gradient) {
    op.rules.push_back(DtypeIn("out", {dtypes}));
    op.rules.push_back(Refuses(161002, "out", [=](PlanCall& call) {
      return !CanCastDtype(call["gradOutput"].dtype, call["out"].dtype);
    }));
  } else {
    op.rules.push_back(SameDtype(first, result));
  }
  op.rules.push_back(DtypeIn(
      "indices", {form.is_gradient && is_deep ? DtypeList{ACL_INT64} : DtypeList{ACL_INT32, ACL_INT64}}));
  op.rules.push_back(Ranks("self", form.axes + 1, form.axes + 2));
  if (is_flat_gradient) {
    op.rules.push_back(SameBatch("self", "gradOutput"));
    op.rules.push_back(SameShape("self", "indices"));
    op.rules.push_back(SameShape("self", "out"));
    op.rules.push_back(Counts("outputSize", {2}));
    op.rules.push_back(Refuses(161002, "outputSize", [](PlanCall& call) {
      return LastDims(call["gradOutput"].shape, 2) != call["outputSize"].values;
    }));
    op.rules.push_back(Refuses(161002, "gradOutput", [](PlanCall& call) {
      return NumElements(call["gradOutput"].shape) == 0 && NumElements(call["self"].shape) != 0;
    }));
  } else {
    op.rules.push_back(SameShape("self", "indices"));
    op.rules.push_back(DimsArePositive("self", true));
    op.rules.push_back(Counts("outputSize", {form.axes}));
    if (is_deep) {
      op.rules.push_back(Counts("stride", {3}));
      op.rules.push_back(Counts("padding", {3}));
      op.rules.push_back(AtLeast("stride", 1));
    }
    op.rules.push_back(AtLeast("outputSize", 1));
    op.rules.push_back(Refuses(161002, "outputSize", [=](PlanCall& call) {
      call.result = PlanesOf(form, call);
      return NumElements(LastDims(call.result, form.axes)) <
             NumElements(LastDims(call["self"].shape, form.axes));
    }));
    if (is_deep)
      op.rules.push_back(Refuses(161002, form.planes(),
                                 [=](PlanCall& call) { return call[form.planes()].shape != call.result; }));
    if (is_deep && form.is_gradient) op.rules.push_back(SameShape("self", "out"));
  }
  op.rules.push_back(DoneIfEmpty(form.is_gradient && is_deep ? "gradOutput" : "self"));
  if (!form.is_gradient && !is_deep)
    op.rules.push_back(Refuses(561103, "outRef", [](PlanCall& call) {
      return NumElements(call["outRef"].shape) != NumElements(call.result);
    }));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape elements = DrawImage(random, form.axes);
    Shape planes = elements;
    for (size_t k = planes.size() - form.axes; k < planes.size(); ++k) planes[k] += random.Below(5);
    const DtypeNumber dtype = DrawDtype(random, dtypes);
    SetTensor(call, "self", elements, dtype);
    SetTensor(call, "indices", elements,
              form.is_gradient && is_deep ? ACL_INT64 : DrawDtype(random, {ACL_INT32, ACL_INT64}));
    call["outputSize"].values = LastDims(planes, form.axes);
    SetTensor(call, form.planes(), planes, dtype);
    // The gradient of images may be converted.
    if (form.is_gradient)
      SetTensor(call, "out", elements, is_flat_gradient && random.Chance(25) ? ACL_FLOAT : dtype);
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillUnpooled(form, call, tensors, random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& values = tensors[0];
    const TensorValues& places = tensors[form.is_gradient ? 2 : 1];
    if (NumElements(values.shape) == 0 || NumElements(places.shape) == 0) return std::vector<Outcome>{{}};
    const int64_t plane = NumElements(LastDims(PlanesOf(form, call), form.axes));
    const int64_t pooled = NumElements(LastDims(call["self"].shape, form.axes));
    const DtypeNumber dtype = call[form.result()].dtype;
    Outcome outcome(static_cast<size_t>(NumElements(call[form.result()].shape)),
                    ElementOfNumber(dtype, {0, 0}));
    for (int64_t i = 0; i < NumElements(places.shape); ++i) {
      const int64_t at = i / pooled * plane + places.Integer(i);
      const int64_t from = form.is_gradient ? at : i;
      const int64_t to = form.is_gradient ? i : at;
      const Element& element = values.elements[static_cast<size_t>(from)];
      outcome[static_cast<size_t>(to)] =
          dtype == values.dtype ? element : ElementOfNumber(dtype, NumberOf(values.dtype, element.data()));
    }
    return std::vector<Outcome>{outcome};
  };
  return op;
}

std::vector<OperatorSpec> kUnpools = {Unpool(PORTACL_C_FUNCTION(aclnnMaxUnpool2d), {2, false}),
                                      Unpool(PORTACL_C_FUNCTION(aclnnMaxUnpool3d), {3, false}),
                                      Unpool(PORTACL_C_FUNCTION(aclnnMaxUnpool2dBackward), {2, true}),
                                      Unpool(PORTACL_C_FUNCTION(aclnnMaxUnpool3dBackward), {3, true})};
PORTACL_OPERATOR_TESTS(Unpooling, kUnpools);

std::vector<OperatorSpec> kAdaptive3d = {AdaptiveMeans3d(), AdaptiveMeansGradient3d(), AdaptiveMaxima3d(),
                                         AdaptiveMaximaGradient3d()};
PORTACL_OPERATOR_TESTS(AdaptiveVolumes, kAdaptive3d);

std::vector<OperatorSpec> kMeans = {AvgPool2d(),         AvgPool2dBackward(), AvgPool3d(),
                                    AvgPool3dBackward(), AdaptiveMeans(),     AdaptiveMeansGradient()};
PORTACL_OPERATOR_TESTS(MeansOfWindows, kMeans);
std::vector<OperatorSpec> kAdaptiveMaxima = {AdaptiveMaxima(), AdaptiveMaximaGradient()};
PORTACL_OPERATOR_TESTS(AdaptiveMaximaOfWindows, kAdaptiveMaxima);

// ---- what a mask holds ----

template <class T>
aclTensor* TensorOf(const Shape& shape, std::vector<T>& values, aclDataType dtype) {
  return aclCreateTensor(shape.data(), shape.size(), dtype, DenseStrides(shape).data(), 0, ACL_FORMAT_NCHW,
                         shape.data(), shape.size(), values.data());
}

template <class Plan, class Run>
void Compute(const Plan& plan, const Run& run, aclrtStream stream) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(plan(&size, &executor), 0) << TakeErrorMessage();
  const GuardedBuffer workspace(size);
  ASSERT_EQ(run(workspace.device(), size, executor, stream), 0) << TakeErrorMessage();
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0) << TakeErrorMessage();
}

// One INT32 for each element of out, and nothing behind; gradients find them there, through every instruction set.
TEST(Mask, HoldsPlaces) {
  constexpr int64_t kPlanes = 3;
  constexpr int64_t kRows = 9;
  constexpr int64_t kColumns = 21;
  constexpr int64_t kDown = 5;
  constexpr int64_t kAcross = 11;
  for (const engine::Isa isa : IsasToTest()) {
    const ScopedEnvironment environment(Variables{{"PORTACL_ISA", engine::IsaName(isa)}});
    RandomNumbers random(7);
    std::vector<float> self(kPlanes * kRows * kColumns);
    for (float& value : self) value = static_cast<float>(random.Between(-5, 5));
    std::vector<float> out(kPlanes * kDown * kAcross, -77);
    const Shape mask_shape = {1, kPlanes, 9, ((kDown * kAcross + 15) / 16 + 1) * 32};
    std::vector<int8_t> mask(static_cast<size_t>(NumElements(mask_shape)), 0x5A);
    std::vector<float> gradient(self.size(), -77);
    aclTensor* const tensors[] = {TensorOf({1, kPlanes, kRows, kColumns}, self, ACL_FLOAT),
                                  TensorOf({1, kPlanes, kDown, kAcross}, out, ACL_FLOAT),
                                  TensorOf(mask_shape, mask, ACL_INT8),
                                  TensorOf({1, kPlanes, kRows, kColumns}, gradient, ACL_FLOAT)};
    const int64_t values[] = {3, 2, 1};
    aclIntArray* const arrays[] = {aclCreateIntArray(values, 1), aclCreateIntArray(values + 1, 1),
                                   aclCreateIntArray(values + 2, 1)};
    Compute(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnMaxPool2dWithMaskGetWorkspaceSize(tensors[0], arrays[0], arrays[1], arrays[2],
                                                        arrays[2], false, tensors[1], tensors[2], size,
                                                        executor);
        },
        aclnnMaxPool2dWithMask, environment.stream());
    Compute(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnMaxPool2dWithMaskBackwardGetWorkspaceSize(tensors[1], tensors[0], tensors[2], arrays[0],
                                                                arrays[1], arrays[2], arrays[2], false,
                                                                tensors[3], size, executor);
        },
        aclnnMaxPool2dWithMaskBackward, environment.stream());
    std::vector<float> sums(self.size());
    for (int64_t i = 0; i < kPlanes * kDown * kAcross; ++i) {
      const int64_t plane = i / (kDown * kAcross);
      const int64_t y = i / kAcross % kDown;
      const int64_t x = i % kAcross;
      int64_t best = -1;
      for (int64_t r = 2 * y - 1; r <= 2 * y + 1; ++r) {
        for (int64_t c = 2 * x - 1; c <= 2 * x + 1; ++c) {
          if (r < 0 || r >= kRows || c < 0 || c >= kColumns) continue;
          const int64_t at = r * kColumns + c;
          const auto value = [&](int64_t place) {
            return self[static_cast<size_t>(plane * kRows * kColumns + place)];
          };
          if (best < 0 || value(at) > value(best)) best = at;
        }
      }
      int32_t place = 0;
      std::memcpy(&place, mask.data() + 4 * i, sizeof place);
      ASSERT_EQ(place, best) << engine::IsaName(isa) << " at " << i;
      const auto from = static_cast<size_t>(plane * kRows * kColumns + best);
      ASSERT_EQ(out[static_cast<size_t>(i)], self[from]);
      sums[from] += out[static_cast<size_t>(i)];
    }
    for (size_t i = 4 * out.size(); i < mask.size(); ++i)
      ASSERT_EQ(mask[i], 0x5A) << "behind the places, at " << i;
    EXPECT_EQ(gradient, sums) << engine::IsaName(isa);
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
    for (aclIntArray* array : arrays) aclDestroyIntArray(array);
  }
}

// Windows of one element are where they are: the mask is neither written nor read.
TEST(Mask, IsNotNeededForOneElement) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> self = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  std::vector<float> out(3, -77);
  std::vector<int8_t> mask(64, 0x5A);
  std::vector<float> gradient(self.size(), -77);
  aclTensor* const tensors[] = {
      TensorOf({1, 1, 2, 5}, self, ACL_FLOAT), TensorOf({1, 1, 1, 3}, out, ACL_FLOAT),
      TensorOf({1, 1, 1, 64}, mask, ACL_INT8), TensorOf({1, 1, 2, 5}, gradient, ACL_FLOAT)};
  const int64_t values[] = {1, 2, 0};
  aclIntArray* const arrays[] = {aclCreateIntArray(values, 1), aclCreateIntArray(values + 1, 1),
                                 aclCreateIntArray(values + 2, 1)};
  Compute(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnMaxPool2dWithMaskGetWorkspaceSize(tensors[0], arrays[0], arrays[1], arrays[2], arrays[0],
                                                      false, tensors[1], tensors[2], size, executor);
      },
      aclnnMaxPool2dWithMask, environment.stream());
  EXPECT_EQ(out, (std::vector<float>{1, 3, 5}));
  EXPECT_EQ(mask, std::vector<int8_t>(64, 0x5A));
  Compute(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnMaxPool2dWithMaskBackwardGetWorkspaceSize(tensors[1], tensors[0], tensors[2], arrays[0],
                                                              arrays[1], arrays[2], arrays[0], false,
                                                              tensors[3], size, executor);
      },
      aclnnMaxPool2dWithMaskBackward, environment.stream());
  EXPECT_EQ(gradient, (std::vector<float>{1, 0, 3, 0, 5, 0, 0, 0, 0, 0}));
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  for (aclIntArray* array : arrays) aclDestroyIntArray(array);
}

// What phase 1 answers to one call.
Verdict PlanOf(const PlanCall& call) {
  std::vector<Argument> arguments;
  std::vector<aclTensor*> tensors;
  std::vector<aclIntArray*> arrays;
  for (const PlanArgument& one : call.arguments) {
    Argument argument;
    if (one.kind == ParameterKind::kTensor) {
      tensors.push_back(aclCreateTensor(one.shape.data(), one.shape.size(), AsAclDataType(one.dtype),
                                        DenseStrides(one.shape).data(), 0, static_cast<aclFormat>(one.format),
                                        one.shape.data(), one.shape.size(), ForbiddenAddress()));
      argument.tensor = tensors.back();
    } else if (one.kind == ParameterKind::kArray) {
      arrays.push_back(aclCreateIntArray(one.values.data(), one.values.size()));
      argument.array = arrays.back();
    } else {
      argument.integer = one.integer;
    }
    arguments.push_back(argument);
  }
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  Verdict verdict{call.op->function.plan(arguments, &size, &executor), {TakeErrorMessage()}};
  if (executor != nullptr) aclDestroyAclOpExecutor(executor);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  for (aclIntArray* array : arrays) aclDestroyIntArray(array);
  return verdict;
}

// Only a plane of more places than an int32 has is refused by the checks; Ascend 950's own indices have 64 bits.
TEST(GradientOfMaxima, OfLargePlanes) {
  const OperatorSpec op = AdaptiveMaximaGradient();
  for (const Product product : {Product::kA2, Product::kA3, Product::k950}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    PlanCall call = ValidCall(op, product);
    for (const char* name : {"self", "gradInput"}) call[name].shape = {1, 46341, 46341};
    for (const char* name : {"gradOutput", "indices"}) call[name].shape = {1, 2, 2};
    const Verdict large = PlanOf(call);
    EXPECT_EQ(large.code, product == Product::k950 ? 561103 : 161002);
    EXPECT_NE(large.names[0].find("self with shape [1, 46341, 46341]"), std::string::npos) << large.names[0];
    for (const char* name : {"self", "gradInput"}) call[name].shape = {1, 46341, 46340};
    EXPECT_EQ(PlanOf(call).code, 0);
    for (const char* name : {"self", "gradInput"}) call[name].shape = {0, 46341, 46341};
    for (const char* name : {"gradOutput", "indices"}) call[name].shape = {0, 2, 2};
    EXPECT_EQ(PlanOf(call).code, product == Product::k950 ? 0 : 161002) << "before success for what is empty";
  }
}

// Also where all tensors agree.
TEST(Maxima, HaveNoPrivateFormats) {
  const ScopedEnvironment environment(Variables{});
  std::vector<OperatorSpec> all = MaximaOperators();
  all.push_back(kMask);
  all.push_back(kMaskGradient);
  all.push_back(AdaptiveMaximaGradient());
  for (const OperatorSpec& op : all) {
    const std::string name = op.function.name;
    if (name == "aclnnMaxPool" || name == "aclnnMaxPool3dWithArgmax") continue;  // those only have to agree
    PlanCall call = ValidCall(op, Product::kA2);
    ASSERT_EQ(PlanOf(call).code, 0) << name;
    for (const aclFormat format : {ACL_FORMAT_NC1HWC0, ACL_FORMAT_FRACTAL_NZ}) {
      for (PlanArgument& one : call.arguments) one.format = format;
      const Verdict refused = PlanOf(call);
      EXPECT_EQ(refused.code, 161002) << name;
      EXPECT_NE(refused.names[0].find(name), std::string::npos) << refused.names[0];
      EXPECT_NE(refused.names[0].find("public formats"), std::string::npos) << refused.names[0];
    }
  }
}

// Whatever else is wrong with its dims, what is empty has no means; what is asked before dims still is.
TEST(MeansOfNothing, AreNone) {
  const ScopedEnvironment environment(Variables{});
  const OperatorSpec flat = AvgPool2d();
  for (const Shape& shape : {Shape{0, 4, 6}, Shape{2, 0, 6}, Shape{2, 4, 0}, Shape{1, 2, 0, 6}}) {
    PlanCall call = ValidCall(flat, Product::kA2);
    call["self"].shape = shape;
    call["self"].format = shape.size() == 4 ? ACL_FORMAT_NCHW : ACL_FORMAT_NCL;
    EXPECT_EQ(PlanOf(call).code, 0) << ToString(shape);
    call["cubeMathType"].integer = 9;
    call["paddings"].values = {7, 7, 7};
    EXPECT_EQ(PlanOf(call).code, 0) << ToString(shape);
    call["kernelSize"].values = {0, 1};
    EXPECT_EQ(PlanOf(call).code, 161002) << ToString(shape);
  }
  const OperatorSpec deep = AvgPool3d();
  for (const Shape& shape : {Shape{0, 4, 4, 6}, Shape{2, 0, 4, 6}, Shape{1, 2, 4, 0, 6}, Shape{0}}) {
    PlanCall call = ValidCall(deep, Product::kA2);
    call["self"].shape = shape;
    EXPECT_EQ(PlanOf(call).code, 0) << ToString(shape);
    call["kernelSize"].values = {0, 1, 1, 1};
    EXPECT_EQ(PlanOf(call).code, 0) << ToString(shape);
    call["self"].format = ACL_FORMAT_FRACTAL_NZ;
    EXPECT_EQ(PlanOf(call).code, 161002) << ToString(shape);
  }
}

// Images whose channels come last: [1, 5, 5, 1] is one plane of 5 x 5, not five of 5 x 1.
TEST(AdaptiveMaxima, OfChannelsLast) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> self(25);
  for (size_t i = 0; i < self.size(); ++i) self[i] = static_cast<float>(i * 7 % 25);
  std::vector<float> out(4, -77);
  std::vector<int64_t> places(4, -77);
  const auto channels_last = [](const Shape& shape, auto& values, aclDataType dtype) {
    return aclCreateTensor(shape.data(), shape.size(), dtype, DenseStrides(shape).data(), 0, ACL_FORMAT_NHWC,
                           shape.data(), shape.size(), values.data());
  };
  aclTensor* const tensors[] = {channels_last({1, 5, 5, 1}, self, ACL_FLOAT),
                                channels_last({1, 2, 2, 1}, out, ACL_FLOAT),
                                channels_last({1, 2, 2, 1}, places, ACL_INT64)};
  const int64_t values[] = {2, 2};
  aclIntArray* const size_of_output = aclCreateIntArray(values, 2);
  Compute(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnAdaptiveMaxPool2dGetWorkspaceSize(tensors[0], size_of_output, tensors[1], tensors[2],
                                                      size, executor);
      },
      aclnnAdaptiveMaxPool2d, environment.stream());
  // Rows and columns 0 to 2 and 2 to 4.
  EXPECT_EQ(out, (std::vector<float>{24, 24, 22, 23}));
  EXPECT_EQ(places, (std::vector<int64_t>{7, 7, 21, 14}));
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  aclDestroyIntArray(size_of_output);
}

// The same on Ascend 950 with indices, and two channels, which are planes of their own; elsewhere the format says nothing.
TEST(MaximaWithIndices, OfChannelsLast) {
  for (const bool is_950 : {true, false}) {
    const ScopedEnvironment environment(
        Variables{{"PORTACL_SOC", is_950 ? "Ascend950PR_9579" : "Ascend910B1"}});
    std::vector<float> self(32);
    for (size_t i = 0; i < self.size(); ++i) self[i] = static_cast<float>(i * 7 % 32);
    std::vector<float> out(8, -77);
    std::vector<int32_t> places(8, -77);
    const auto channels_last = [](const Shape& shape, auto& values, aclDataType dtype) {
      return aclCreateTensor(shape.data(), shape.size(), dtype, DenseStrides(shape).data(), 0,
                             ACL_FORMAT_NHWC, shape.data(), shape.size(), values.data());
    };
    aclTensor* const tensors[] = {channels_last({1, 4, 4, 2}, self, ACL_FLOAT),
                                  channels_last({1, 2, 2, 2}, out, ACL_FLOAT),
                                  channels_last({1, 2, 2, 2}, places, ACL_INT32)};
    const int64_t values[] = {2, 0, 1};
    aclIntArray* const twos = aclCreateIntArray(values, 1);
    aclIntArray* const zeros = aclCreateIntArray(values + 1, 1);
    aclIntArray* const ones = aclCreateIntArray(values + 2, 1);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const auto plan = [&](uint64_t* workspace_size, aclOpExecutor** made) {
      return aclnnMaxPool2dWithIndicesGetWorkspaceSize(tensors[0], twos, twos, zeros, ones, false, tensors[1],
                                                       tensors[2], workspace_size, made);
    };
    if (is_950) {
      Compute(plan, aclnnMaxPool2dWithIndices, environment.stream());
      for (size_t window = 0; window < 4; ++window) {
        for (size_t channel = 0; channel < 2; ++channel) {
          size_t best = 0;
          const auto at = [&](size_t place) { return self[place * 2 + channel]; };
          for (const size_t corner : {0, 1, 4, 5}) {
            const size_t place = window / 2 * 8 + window % 2 * 2 + corner;
            if (corner == 0 || at(place) > at(best)) best = place;
          }
          EXPECT_EQ(out[window * 2 + channel], at(best));
          EXPECT_EQ(places[window * 2 + channel], static_cast<int32_t>(best));
        }
      }
    } else {
      EXPECT_EQ(plan(&size, &executor), 161002);
      EXPECT_NE(TakeErrorMessage().find("[1, 4, 2, 1]"), std::string::npos);
    }
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
    for (aclIntArray* array : {twos, zeros, ones}) aclDestroyIntArray(array);
  }
}

// Windows of a long axis: their tables lie in the workspace, which ends where they do.
TEST(LongAxes, GiveWhatLoopsGive) {
  constexpr int64_t kLong = 200001;
  const ScopedEnvironment environment(Variables{});
  std::vector<float> self(kLong);
  for (size_t i = 0; i < self.size(); ++i) self[i] = static_cast<float>(i * 37 % 101) - 50;
  std::vector<float> out(kLong);
  const auto at = [&](int64_t i) { return self[static_cast<size_t>(std::clamp<int64_t>(i, 0, kLong - 1))]; };
  const auto compute = [&](const auto& plan, const auto& run) {
    std::fill(out.begin(), out.end(), -77.0f);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(plan(&size, &executor), 0) << TakeErrorMessage();
    EXPECT_GT(size, uint64_t{1} << 20);
    const GuardedBuffer workspace(size);
    ASSERT_EQ(run(workspace.device(), size, executor, environment.stream()), 0) << TakeErrorMessage();
    ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0) << TakeErrorMessage();
  };
  for (const bool is_column : {false, true}) {
    const auto image = [&](int64_t length) {
      return is_column ? std::vector<int64_t>{1, 1, length, 1} : std::vector<int64_t>{1, 1, 1, length};
    };
    const auto pair = [&](int64_t along, int64_t across) {
      const int64_t values[] = {is_column ? along : across, is_column ? across : along};
      return aclCreateIntArray(values, 2);
    };
    aclTensor* const tensors[] = {TensorOf(image(kLong), self, ACL_FLOAT),
                                  TensorOf(image(kLong), out, ACL_FLOAT)};
    aclIntArray* const arrays[] = {pair(3, 1), pair(1, 1), pair(1, 0)};
    // A divisor of 4: exact.
    compute(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnAvgPool2dGetWorkspaceSize(tensors[0], arrays[0], arrays[1], arrays[2], false, true, 4,
                                                0, tensors[1], size, executor);
        },
        aclnnAvgPool2d);
    const auto sum = [&](int64_t i) {
      return (i > 0 ? at(i - 1) : 0.0f) + at(i) + (i + 1 < kLong ? at(i + 1) : 0.0f);
    };
    for (int64_t i = 0; i < kLong; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], sum(i) / 4) << i;
    // Each element is in the windows beside it.
    compute(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnAvgPool2dBackwardGetWorkspaceSize(tensors[0], tensors[0], arrays[0], arrays[1],
                                                        arrays[2], false, true, 4, 0, tensors[1], size,
                                                        executor);
        },
        aclnnAvgPool2dBackward);
    for (int64_t i = 0; i < kLong; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], sum(i) / 4) << i;
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
    for (aclIntArray* array : arrays) aclDestroyIntArray(array);
  }
}

// The sums of a batch that is larger than a cache are worked on part by part, of which the last one is smaller; a bad index is named by its
// place among all.
TEST(GradientOfMaxima, OfLargeBatches) {
  const ScopedEnvironment environment(Variables{});
  constexpr size_t kPlanes = 8 * 5;
  constexpr size_t kPlane = 128 * 128;
  constexpr size_t kPlaces = 3 * 7;
  RandomNumbers random(11);
  std::vector<int64_t> places(kPlanes * kPlaces);
  for (int64_t& place : places) place = random.Between(0, 9) * 1817;  // some more than once
  std::vector<float> given(places.size());
  for (float& value : given) value = static_cast<float>(random.Between(-5, 5));
  std::vector<float> sums(kPlanes * kPlane);
  for (size_t i = 0; i < places.size(); ++i)
    sums[i / kPlaces * kPlane + static_cast<size_t>(places[i])] += given[i];
  // All of these are numbers of bf16, the upper half of a float32.
  const auto halves = [](const std::vector<float>& from) {
    std::vector<uint16_t> to(from.size());
    for (size_t i = 0; i < from.size(); ++i)
      std::memcpy(&to[i], reinterpret_cast<const char*>(&from[i]) + 2, sizeof to[i]);
    return to;
  };
  const auto check = [&](auto gradient, auto expected, aclDataType dtype) {
    auto self = expected;
    auto result = expected;
    std::fill(result.begin(), result.end(), typename decltype(result)::value_type(77));
    aclTensor* const tensors[] = {
        TensorOf({8, 5, 3, 7}, gradient, dtype), TensorOf({8, 5, 128, 128}, self, dtype),
        TensorOf({8, 5, 3, 7}, places, ACL_INT64), TensorOf({8, 5, 128, 128}, result, dtype)};
    const auto plan = [&](uint64_t* size, aclOpExecutor** executor) {
      return aclnnAdaptiveMaxPool2dBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], tensors[3],
                                                            size, executor);
    };
    Compute(plan, aclnnAdaptiveMaxPool2dBackward, environment.stream());
    EXPECT_TRUE(result == expected) << dtype;
    const size_t bad = places.size() - 4;
    const int64_t good = std::exchange(places[bad], static_cast<int64_t>(kPlane));
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(plan(&size, &executor), 0);
    const GuardedBuffer workspace(size);
    ASSERT_EQ(aclnnAdaptiveMaxPool2dBackward(workspace.device(), size, executor, environment.stream()), 0);
    EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 507015);
    const std::string message = TakeErrorMessage();
    EXPECT_NE(message.find("indices has the value 16384 at element 836, accepted: 0 to 16383."),
              std::string::npos)
        << message;
    places[bad] = good;
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  };
  check(given, sums, ACL_FLOAT);
  check(halves(given), halves(sums), ACL_BF16);
}

}  // namespace
}  // namespace portacl::testing
