// Activations of one half of a row times the other, as codes: checks, and every code against the definition. The activation is worked out in
// float64: what is dynamic is compared by its scale, and codes may be their neighbours.
// SPDX-License-Identifier: Apache-2.0
#include "quant_calls.h"

namespace portacl::testing {
namespace {

// What becomes of A and B, in float32 but for the logistic function.
float Gated(int64_t form, float a, float b, float limit, float alpha, float shift) {
  const auto sigmoid = [](float x) {
    return static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(x))));
  };
  switch (form) {
    case 0:
      return a * sigmoid(a) * b;
    case 3:
      return std::min(a * sigmoid(a), limit) * std::clamp(b, -limit, limit);
    default:
      a = std::min(a, limit);
      b = std::clamp(b, -limit, limit);
      return a * sigmoid(alpha * a) * (b + shift);
  }
}

bool IsRowOrGroups(const Shape& shape, int64_t columns, int64_t groups) {
  return shape == Shape{columns} || shape == Shape{std::max<int64_t>(groups, 1), columns};
}

// Which group each row is of, -1: none; groups that say how many rows they have.
std::vector<int64_t> GroupsOfRows(int64_t rows, const std::vector<std::pair<int64_t, int64_t>>& counts) {
  std::vector<int64_t> group(static_cast<size_t>(rows), -1);
  int64_t row = 0;
  for (const auto& [which, count] : counts) {
    for (int64_t i = 0; i < count && row < rows; ++i) group[static_cast<size_t>(row++)] = which;
  }
  return group;
}

// ---- DequantSwigluQuant ----

const char* const kWeight = "weightScaleOptional";
const char* const kActivation = "activationScaleOptional";
const char* const kBias = "biasOptional";
const char* const kScale = "quantScaleOptional";
const char* const kOffset = "quantOffsetOptional";
const char* const kGroup = "groupIndexOptional";
const char* const kMode = "quantModeOptional";

bool IsDynamic(const PlanCall& call) { return !call[kMode].null && call[kMode].text == "dynamic"; }
int64_t GroupCount(const PlanCall& call) {
  return call[kGroup].null || call[kGroup].shape.empty() ? 0 : call[kGroup].shape[0];
}

OperatorSpec Dequantised(const CFunction& function, bool is_second) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x", {2, 8}, ACL_INT32), TensorArg(kWeight, {8}),       TensorArg(kActivation, {2}),
              TensorArg(kBias, {8}, ACL_INT32),  TensorArg(kScale, {4}),        TensorArg(kOffset, {4}),
              TensorArg(kGroup, {1}, ACL_INT64), IntegerArg("activateLeft", 1), TextArg(kMode, "static")};
  op.valid[6].null = true;
  if (is_second) {
    op.valid.push_back(IntegerArg("dstType", ACL_INT8));
    op.valid.push_back(TextArg("roundModeOptional", "rint"));
    op.valid.push_back(IntegerArg("activateDim", -1));
    op.valid.push_back(IntegerArg("swigluMode", 0));
    op.valid.push_back(RealArg("clampLimit", 7.0));
    op.valid.push_back(RealArg("gluAlpha", 1.5));
    op.valid.push_back(RealArg("gluBias", 1.0));
  }
  op.valid.push_back(OutputArg("yOut", {2, 4}, ACL_INT8));
  op.valid.push_back(OutputArg("scaleOut", {2}));
  op.takes_workspace = true;
  op.tolerance = 1e-3;
  const Listed floats = {{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}};
  op.rules = {
      NoNulls("x yOut scaleOut"),
      RefusedDtype("x",
                   [](const PlanCall& call, DtypeNumber dtype) {
                     if (dtype == ACL_FLOAT16) return IsOn950(call);
                     return IsSinceA2(call) && (dtype == ACL_INT32 || dtype == ACL_BF16);
                   }),
      Given(kWeight, DtypeIn(kWeight, kFloatAlone)),
      Given(kActivation, DtypeIn(kActivation, kFloatAlone)),
      Given(kBias, DtypeIn(kBias, {{ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32}})),
      Given(kScale, DtypeIn(kScale, floats)),
      Given(kOffset, DtypeIn(kOffset, floats)),
      Given(kGroup, DtypeIn(kGroup, kInt64Alone)),
      RefusedDtype("yOut",
                   [](const PlanCall& call, DtypeNumber dtype) {
                     return IsSinceA2(call) && (dtype == ACL_INT8 || (IsOn950(call) && IsFloat8(dtype)));
                   }),
      DtypeIn("scaleOut", kFloatAlone),
      Refuses(561002, "",
              [=](PlanCall& call) {
                const bool is_dynamic = IsDynamic(call);
                if (!call[kMode].null && call[kMode].text != "static" && !is_dynamic) return true;
                const Shape& x = call["x"].shape;
                if (is_second) {
                  if (call["dstType"].integer != call["yOut"].dtype) return true;
                  if (!call["roundModeOptional"].null && call["roundModeOptional"].text != "rint")
                    return true;
                  const int64_t dim = call["activateDim"].integer;
                  if (dim != -1 && dim != std::ssize(x) - 1) return true;
                  if (call["swigluMode"].integer < 0 || call["swigluMode"].integer > 3) return true;
                }
                if (is_dynamic ? !call[kOffset].null : call[kScale].null || call[kOffset].null) return true;
                const bool is_integer = call["x"].dtype == ACL_INT32;
                if (is_integer ? call[kWeight].null
                               : !call[kWeight].null || !call[kActivation].null || !call[kBias].null)
                  return true;
                if (x.size() < 2 || x.size() > 8) return true;
                const Shape& group = call[kGroup].shape;
                if (!call[kGroup].null && (group.empty() || group.size() > 2 || group[0] < 1 ||
                                           (group.size() == 2 && group[1] != 2)))
                  return true;
                const int64_t both = x.back();
                if (both < 2 || both % 2 != 0) return true;
                Shape y = x;
                y.back() /= 2;
                const Shape rows(x.begin(), x.end() - 1);
                if (call["yOut"].shape != y || call["scaleOut"].shape != rows) return true;
                const int64_t groups = GroupCount(call);
                for (const char* const name : {kWeight, kBias}) {
                  if (!call[name].null && !IsRowOrGroups(call[name].shape, both, groups)) return true;
                }
                if (!call[kActivation].null && NumElements(call[kActivation].shape) != NumElements(rows))
                  return true;
                for (const char* const name : {kScale, kOffset}) {
                  if (call[name].null) continue;
                  const Shape& shape = call[name].shape;
                  const bool is_one = shape == Shape{1} ||
                                      (groups > 0 && (shape == Shape{groups} || shape == Shape{groups, 1}));
                  if (!IsRowOrGroups(shape, both / 2, groups) && (is_dynamic || !is_one)) return true;
                }
                return false;
              }),
      DoneIfEmpty("x")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t columns = DrawColumns(random);
    Shape x = {random.Between(1, 6), 2 * columns};
    if (random.Chance(30)) x.insert(x.begin(), random.Between(1, 3));
    const bool is_integer = random.Chance(70);
    const bool is_dynamic = random.Chance(50);
    // Sometimes as many as columns.
    const int64_t groups = random.Chance(50)                   ? 0
                           : columns <= 8 && random.Chance(50) ? columns
                                                               : random.Between(1, 4);
    call["x"] = TensorArg("x", x, is_integer ? ACL_INT32 : ACL_BF16);
    const Shape rows(x.begin(), x.end() - 1);
    Shape y = x;
    y.back() /= 2;
    const auto of_groups = [&](int64_t length) {
      return groups > 0 && random.Chance(60) ? Shape{groups, length} : Shape{length};
    };
    call[kWeight] = TensorArg(kWeight, of_groups(2 * columns));
    call[kWeight].null = !is_integer;
    call[kActivation] = TensorArg(kActivation, random.Chance(50) ? rows : Shape{NumElements(rows)});
    call[kActivation].null = !is_integer || random.Chance(30);
    call[kBias] =
        TensorArg(kBias, of_groups(2 * columns), DrawDtype(random, {ACL_INT32, ACL_FLOAT, ACL_BF16}));
    call[kBias].null = !is_integer || random.Chance(40);
    call[kScale] = TensorArg(kScale, of_groups(columns));
    if (!is_dynamic && random.Chance(40)) call[kScale].shape = {groups > 0 && random.Chance(50) ? groups : 1};
    call[kScale].null = is_dynamic && random.Chance(40);
    call[kOffset] = TensorArg(kOffset, call[kScale].shape);
    call[kOffset].null = is_dynamic;
    const bool are_pairs = random.Chance(30);
    call[kGroup] = TensorArg(
        kGroup, are_pairs ? Shape{std::max<int64_t>(groups, 1), 2} : Shape{std::max<int64_t>(groups, 1)},
        ACL_INT64);
    call[kGroup].null = groups == 0;
    call["activateLeft"].integer = random.Chance(50);
    call[kMode].text = is_dynamic ? "dynamic" : "static";
    call[kMode].null = !is_dynamic && random.Chance(30);
    if (is_second) call["swigluMode"].integer = random.Between(0, 3);
    call["yOut"] = OutputArg("yOut", y, ACL_INT8);
    call["scaleOut"] = OutputArg("scaleOut", rows);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    if (call["x"].dtype == ACL_INT32) {
      SetIntegers(tensors[0], -3000, 3000, random);
    } else {
      for (int64_t i = 0; i < tensors[0].size(); ++i)
        tensors[0].Set(i, static_cast<double>(random.Between(-64, 64)) / 8);
    }
    for (int64_t i = 0; i < tensors[1].size(); ++i)
      tensors[1].Set(i, std::ldexp(1.0, static_cast<int>(random.Between(-10, -8))));
    for (int64_t i = 0; i < tensors[2].size(); ++i) tensors[2].Set(i, random.Chance(50) ? 1.0 : 0.5);
    if (call[kBias].dtype == ACL_INT32) {
      SetIntegers(tensors[3], -50, 50, random);
    } else {
      SetNumbers(tensors[3], random);
    }
    for (int64_t i = 0; i < tensors[4].size(); ++i)
      tensors[4].Set(i, std::ldexp(1.0, static_cast<int>(random.Between(-4, 0))));
    SetNumbers(tensors[5], random);
    HostTensor& group = tensors[6];
    const bool are_pairs = call[kGroup].shape.size() == 2;
    for (int64_t i = 0; i < group.size(); ++i) {
      const int64_t groups = call[kGroup].shape.empty() ? 1 : std::max<int64_t>(call[kGroup].shape[0], 1);
      const int64_t value = are_pairs && i % 2 == 0 ? random.Below(groups) : random.Between(0, 3);
      EncodeIntegerElement(group.dtype(), value, group.Element(i));
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers weight(call, tensors, kWeight);
    const Numbers activation(call, tensors, kActivation);
    const Numbers bias(call, tensors, kBias);
    const Numbers scale(call, tensors, kScale);
    const Numbers offset(call, tensors, kOffset);
    const Numbers ends(call, tensors, kGroup);
    const int64_t both = x.shape().back();
    const int64_t columns = both / 2;
    const int64_t rows = x.size() / both;
    std::vector<int64_t> group(static_cast<size_t>(rows), 0);
    if (ends.is_given()) {
      std::vector<std::pair<int64_t, int64_t>> counts;
      for (int64_t g = 0; g < ends.shape()[0]; ++g) {
        if (ends.shape().size() == 2)
          counts.emplace_back(std::clamp<int64_t>(ends.Integer(2 * g), 0, ends.shape()[0] - 1),
                              ends.Integer(2 * g + 1));
        else
          counts.emplace_back(g, ends.Integer(g));
      }
      group = GroupsOfRows(rows, counts);
    }
    const auto place = [](const Numbers& numbers, int64_t g, int64_t column, int64_t length,
                          int64_t groups = 0) {
      if (numbers.size() == 1) return int64_t{0};
      if (numbers.shape() == Shape{groups}) return g;
      if (numbers.size() == length) return column;
      return numbers.size() % length == 0 && numbers.shape().back() == length ? g * length + column : g;
    };
    const bool is_integer_bias = bias.is_given() && bias.dtype() == ACL_INT32;
    const int64_t form = is_second ? call["swigluMode"].integer : 0;
    Outcome codes;
    Outcome scales;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t g = group[static_cast<size_t>(row)];
      if (g < 0) {
        codes.insert(codes.end(), static_cast<size_t>(columns), std::nullopt);
        scales.emplace_back(std::nullopt);
        continue;
      }
      const auto value = [&](int64_t column) {
        const int64_t i = row * both + column;
        if (x.dtype() != ACL_INT32) return FloatAt(x, i);
        auto v = static_cast<float>(x.Integer(i) +
                                    (is_integer_bias ? bias.Integer(place(bias, g, column, both)) : 0));
        v = v * FloatAt(weight, place(weight, g, column, both));
        if (activation.is_given()) v = v * FloatAt(activation, row);
        if (bias.is_given() && !is_integer_bias) v = v + FloatAt(bias, place(bias, g, column, both));
        return v;
      };
      std::vector<float> numbers;
      for (int64_t h = 0; h < columns; ++h) {
        const bool is_left = call["activateLeft"].integer != 0;
        const float a = value(form == 1 ? 2 * h : is_left ? h : columns + h);
        const float b = value(form == 1 ? 2 * h + 1 : is_left ? columns + h : h);
        numbers.push_back(is_second ? Gated(form, a, b, static_cast<float>(call["clampLimit"].real),
                                            static_cast<float>(call["gluAlpha"].real),
                                            static_cast<float>(call["gluBias"].real))
                                    : Gated(0, a, b, 0, 1, 0));
      }
      if (!IsDynamic(call)) {
        for (int64_t h = 0; h < columns; ++h) {
          const float y = numbers[static_cast<size_t>(h)] /
                              FloatAt(scale, place(scale, g, h, columns, GroupCount(call))) +
                          FloatAt(offset, place(offset, g, h, columns, GroupCount(call)));
          codes.emplace_back(Element{static_cast<std::byte>(QuantisedCode(ACL_INT8, y))});
        }
        scales.emplace_back(std::nullopt);
        continue;
      }
      float greatest = 0;
      for (int64_t h = 0; h < columns; ++h) {
        float& t = numbers[static_cast<size_t>(h)];
        if (scale.is_given()) t = t * FloatAt(scale, place(scale, g, h, columns));
        greatest = std::max(greatest, std::fabs(t));
      }
      const float step = greatest / 127.0f;
      for (const float t : numbers)
        codes.emplace_back(Element{static_cast<std::byte>(QuantisedCode(ACL_INT8, t / step))});
      scales.emplace_back(Encoded(ACL_FLOAT, static_cast<double>(step)));
    }
    return std::vector<Outcome>{codes, scales};
  };
  return op;
}

// ---- SwiGluQuantV2 ----

OperatorSpec Plain() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSwiGluQuantV2);
  const char* const smooth_name = "smoothScalesOptional";
  const char* const offsets_name = "offsetsOptional";
  op.valid = {TensorArg("x", {2, 8}),
              TensorArg(smooth_name, {1, 4}),
              TensorArg(offsets_name, {1, 4}),
              TensorArg(kGroup, {1}, ACL_INT32),
              IntegerArg("activateLeft", 1),
              TextArg(kMode, "static"),
              IntegerArg("groupListType", 0),
              IntegerArg("dstType", ACL_INT8),
              OutputArg("yOut", {2, 4}, ACL_INT8),
              OutputArg("scaleOut", {2})};
  op.takes_workspace = true;
  op.tolerance = 1e-3;
  op.rules = {NoNulls("x yOut scaleOut"),
              DtypeIn("x", kSinceA2),
              Given(smooth_name, DtypeIn(smooth_name, kFloatAlone)),
              Given(offsets_name, DtypeIn(offsets_name, kFloatAlone)),
              Given(kGroup, DtypeIn(kGroup, kInt32Alone)),
              RefusedDtype("yOut",
                           [](const PlanCall& call, DtypeNumber dtype) {
                             return IsSinceA2(call) && (dtype == ACL_INT8 || dtype == ACL_INT4);
                           }),
              DtypeIn("scaleOut", kFloatAlone),
              Refuses(561002, "",
                      [=](PlanCall& call) {
                        const Shape& x = call["x"].shape;
                        if (x.size() < 2 || x.size() > 8) return true;
                        if (!call[kGroup].null && call[kGroup].shape.size() != 1) return true;
                        const int64_t both = x.back();
                        if (both < 2 || both % 2 != 0 || both > 8192) return true;
                        const bool is_dynamic = IsDynamic(call);
                        if (!call[kMode].null && call[kMode].text != "static" && !is_dynamic) return true;
                        if (call["groupListType"].integer < 0 || call["groupListType"].integer > 1)
                          return true;
                        if (call["dstType"].integer != call["yOut"].dtype) return true;
                        const int64_t groups = call[kGroup].null ? 1 : call[kGroup].shape[0];
                        if (groups < 1) return true;
                        Shape y = x;
                        y.back() /= 2;
                        if (!IsShapeOfCodes(y, call["yOut"]) ||
                            call["scaleOut"].shape != Shape(x.begin(), x.end() - 1))
                          return true;
                        for (const char* const name : {smooth_name, offsets_name}) {
                          if (!call[name].null && call[name].shape != Shape{groups, both / 2} &&
                              call[name].shape != Shape{groups})
                            return true;
                        }
                        return !is_dynamic && (call[smooth_name].null || call[offsets_name].null);
                      }),
              DoneIfEmpty("x")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t columns = DrawColumns(random);
    const Shape x = {random.Between(1, 6), 2 * columns};
    const bool is_dynamic = random.Chance(50);
    const int64_t groups = random.Between(1, 4);
    call["x"] = TensorArg("x", x, DrawDtype(random, kRowDtypes));
    call[kGroup] = TensorArg(kGroup, {groups}, ACL_INT32);
    call[kGroup].null = groups == 1 && random.Chance(60);
    for (const char* const name : {smooth_name, offsets_name}) {
      call[name] = TensorArg(name, random.Chance(50) ? Shape{groups, columns} : Shape{groups});
      call[name].null = is_dynamic && random.Chance(40);
    }
    call["activateLeft"].integer = random.Chance(50);
    call["groupListType"].integer = random.Chance(50);
    call[kMode].text = is_dynamic ? "dynamic" : "static";
    call["yOut"] = OutputArg("yOut", {x[0], columns}, ACL_INT8);
    call["scaleOut"] = OutputArg("scaleOut", {x[0]});
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (int64_t i = 0; i < tensors[0].size(); ++i)
      tensors[0].Set(i, static_cast<double>(random.Between(-64, 64)) / 8);
    SetNumbers(tensors[1], random);
    SetNumbers(tensors[2], random);
    int64_t end = 0;
    for (int64_t i = 0; i < tensors[3].size(); ++i) {
      const int64_t count = random.Between(0, 3);
      end += count;
      EncodeIntegerElement(tensors[3].dtype(), call["groupListType"].integer == 1 ? count : end,
                           tensors[3].Element(i));
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers smooth(call, tensors, smooth_name);
    const Numbers offsets(call, tensors, offsets_name);
    const Numbers ends(call, tensors, kGroup);
    const int64_t columns = x.shape()[1] / 2;
    std::vector<int64_t> group(static_cast<size_t>(x.shape()[0]), 0);
    if (ends.is_given()) {
      std::vector<std::pair<int64_t, int64_t>> counts;
      for (int64_t g = 0; g < ends.size(); ++g) {
        const int64_t before = g == 0 || call["groupListType"].integer == 1 ? 0 : ends.Integer(g - 1);
        counts.emplace_back(g, ends.Integer(g) - before);
      }
      group = GroupsOfRows(x.shape()[0], counts);
    }
    Outcome codes;
    Outcome scales;
    for (int64_t row = 0; row < x.shape()[0]; ++row) {
      const int64_t g = group[static_cast<size_t>(row)];
      if (g < 0) {
        codes.insert(codes.end(), static_cast<size_t>(columns), std::nullopt);
        scales.emplace_back(std::nullopt);
        continue;
      }
      const auto factor = [&](const Numbers& numbers, int64_t h) {
        return FloatAt(numbers, numbers.shape().size() == 2 ? g * columns + h : g);
      };
      const bool is_left = call["activateLeft"].integer != 0;
      std::vector<float> numbers;
      float greatest = 0;
      for (int64_t h = 0; h < columns; ++h) {
        const float left = FloatAt(x, row * 2 * columns + h);
        const float right = FloatAt(x, row * 2 * columns + columns + h);
        float t = Gated(0, is_left ? left : right, is_left ? right : left, 0, 1, 0);
        if (smooth.is_given()) t = t * factor(smooth, h);
        numbers.push_back(t);
        greatest = std::max(greatest, std::fabs(t));
      }
      const float step = 127.0f / greatest;
      for (int64_t h = 0; h < columns; ++h) {
        const float t = numbers[static_cast<size_t>(h)];
        const float y = IsDynamic(call) ? t * step : t + factor(offsets, h);
        codes.emplace_back(Element{static_cast<std::byte>(QuantisedCode(ACL_INT8, y))});
      }
      scales.push_back(IsDynamic(call) ? std::optional(Encoded(ACL_FLOAT, static_cast<double>(step)))
                                       : std::nullopt);
    }
    return std::vector<Outcome>{codes, scales};
  };
  return op;
}

const std::vector<OperatorSpec>& All() {
  static const std::vector<OperatorSpec> all = {
      Dequantised(PORTACL_C_FUNCTION(aclnnDequantSwigluQuant), false),
      Dequantised(PORTACL_C_FUNCTION(aclnnDequantSwigluQuantV2), true), Plain()};
  return all;
}
PORTACL_OPERATOR_TESTS(GatedQuantTest, All());

}  // namespace
}  // namespace portacl::testing
