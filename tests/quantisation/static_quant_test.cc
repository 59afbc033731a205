// Quantisers by scales that are given, and their inverses: checks, and every code against the definition, step by step in float32.
// SPDX-License-Identifier: Apache-2.0
#include "quant_calls.h"

namespace portacl::testing {
namespace {

bool IsFloat(DtypeNumber dtype) { return dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16; }
int64_t LastOf(const Shape& shape) { return shape.empty() ? 1 : shape.back(); }

// ---- AscendQuant, V3 ----

bool TakesFloat(const PlanCall& call, bool is_third, DtypeNumber dtype) {
  if (call.product == Product::k310P) return dtype == ACL_FLOAT || dtype == ACL_FLOAT16;
  return IsFloat(dtype) && (IsOnA2OrA3(call) || (is_third && IsOn950(call)));
}
bool TakesCodes(const PlanCall& call, bool is_third, DtypeNumber dtype) {
  if (call.product == Product::k310P) return dtype == ACL_INT8;
  if (!IsOnA2OrA3(call) && !(is_third && IsOn950(call))) return false;
  return IsOneOfCodes(call, dtype);
}

bool OnesBut(const Shape& shape, size_t own) {
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (dim != own && shape[dim] != 1) return false;
  }
  return true;
}

bool IsFirstShapeWrong(PlanCall& call) {
  const Shape& x = call["x"].shape;
  const Shape& scale = call["scale"].shape;
  if (!IsShapeOfCodes(x, call["y"]) || x.size() > 8) return true;
  const auto fits = [&](const Shape& shape) {
    return shape.size() <= std::max<size_t>(x.size(), 1) &&
           (shape.empty() || OnesBut(shape, shape.size() - 1));
  };
  if (!call["offset"].null && (LastOf(call["offset"].shape) != LastOf(scale) || !fits(call["offset"].shape)))
    return true;
  return (LastOf(scale) != 1 && LastOf(scale) != LastOf(x)) || !fits(scale);
}
bool IsThirdShapeWrong(PlanCall& call) {
  const Shape& x = call["x"].shape;
  const Shape& scale = call["scale"].shape;
  if (!IsShapeOfCodes(x, call["y"]) || x.empty() || x.size() > 8) return true;
  if (!call["offset"].null && call["offset"].shape != scale) return true;
  if (scale.size() != 1 && scale.size() != x.size()) return true;
  const int64_t axis = call["axis"].integer;
  const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(x.size()) : axis);
  const size_t own = scale.size() == 1 ? 0 : at;
  return (scale[own] != 1 && scale[own] != x[at]) || !OnesBut(scale, own);
}
bool IsAxisWrong(PlanCall& call) {
  const auto rank = static_cast<int64_t>(call["x"].shape.size());
  const int64_t axis = call["axis"].integer;
  if (call.product == Product::k310P) return axis != -1 && axis != rank - 1;
  if (axis < -rank || axis >= rank) return true;
  return rank > 2 && (axis < 0 ? axis + rank : axis) < rank - 2;
}
bool IsRoundingWrong(PlanCall& call) {
  const PlanArgument& mode = call["roundMode"];
  if (mode.null) return true;
  if (call["y"].dtype == ACL_HIFLOAT8) return mode.text != "round" && mode.text != "hybrid";
  if (IsFloat8(call["y"].dtype)) return mode.text != "round";
  return mode.text != "round" && mode.text != "floor" && mode.text != "ceil" && mode.text != "trunc";
}

OperatorSpec Scaled(const CFunction& function, bool is_third) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x", {2, 8}),    TensorArg("scale", {8}),       TensorArg("offset", {8}),
              IntegerArg("sqrtMode", 0), TextArg("roundMode", "round"), IntegerArg("dstType", ACL_INT8)};
  if (is_third) op.valid.push_back(IntegerArg("axis", -1));
  op.valid.push_back(OutputArg("y", {2, 8}, ACL_INT8));
  op.takes_workspace = true;
  op.rules = {NoNulls("x scale y")};
  if (is_third)
    op.rules.push_back(Refuses(161002, "x", [](PlanCall& call) { return call["x"].shape.empty(); }));
  op.rules.push_back(RefusedDtype(
      "x", [=](const PlanCall& call, DtypeNumber dtype) { return TakesFloat(call, is_third, dtype); }));
  op.rules.push_back(RefusedDtype(
      "y", [=](const PlanCall& call, DtypeNumber dtype) { return TakesCodes(call, is_third, dtype); }));
  op.rules.push_back(RefusedDtype(
      "scale", [=](const PlanCall& call, DtypeNumber dtype) { return TakesFloat(call, is_third, dtype); }));
  op.rules.push_back(Given("offset", SameDtype("scale", "offset")));
  op.rules.push_back(Refuses(161002, "scale", [](PlanCall& call) {
    return call["x"].dtype != ACL_FLOAT && call["scale"].dtype != call["x"].dtype;
  }));
  op.rules.push_back(
      Refuses(161002, "dstType", [](PlanCall& call) { return call["dstType"].integer != call["y"].dtype; }));
  if (is_third) op.rules.push_back(Refuses(161002, "axis", IsAxisWrong));
  op.rules.push_back(Refuses(161002, "", is_third ? IsThirdShapeWrong : IsFirstShapeWrong));
  op.rules.push_back(Refuses(161002, "roundMode", IsRoundingWrong));
  op.rules.push_back(DoneIfEmpty("x"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DtypeNumber y = ACL_INT8;
    if (random.Chance(30)) y = ACL_INT32;
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    const int64_t rows = random.Between(1, 6);
    const int64_t columns = y == ACL_INT32 ? 8 * random.Between(1, 3) : DrawColumns(random);
    Shape x = {rows, columns};
    if (random.Chance(30)) x.insert(x.begin(), random.Between(1, 3));
    call["x"] = TensorArg("x", x, dtype);
    const bool is_row = is_third && random.Chance(40);
    if (is_third) call["axis"].integer = is_row ? -2 : random.Chance(50) ? -1 : std::ssize(x) - 1;
    const int64_t length = random.Chance(30) ? 1 : is_row ? rows : columns;
    Shape scale = {length};
    if (random.Chance(30)) {
      scale = Shape(x.size(), 1);
      scale[x.size() - (is_row ? 2 : 1)] = length;
    }
    const DtypeNumber of_scale = dtype == ACL_FLOAT ? DrawDtype(random, kRowDtypes) : dtype;
    call["scale"] = TensorArg("scale", scale, of_scale);
    call["offset"] = TensorArg("offset", scale, of_scale);
    call["offset"].null = random.Chance(40);
    call["sqrtMode"].integer = random.Chance(40);
    const char* const modes[] = {"round", "floor", "ceil", "trunc"};
    call["roundMode"].text = modes[random.Below(4)];
    call["dstType"].integer = y;
    Shape codes = x;
    if (y == ACL_INT32) codes.back() /= 8;
    call["y"] = OutputArg("y", codes, y);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (int64_t i = 0; i < tensors[0].size(); ++i)
      tensors[0].Set(i, random.Chance(3) ? std::nan("") : static_cast<double>(random.Between(-300, 300)));
    SetNumbers(tensors[1], random);
    for (int64_t i = 0; i < tensors[2].size(); ++i)
      tensors[2].Set(i, static_cast<double>(random.Between(-9, 9)) / 2);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers scale(call, tensors, "scale");
    const Numbers offset(call, tensors, "offset");
    const DtypeNumber dtype = CodeDtype(call["y"].dtype);
    const int64_t axis = is_third ? call["axis"].integer : -1;
    const bool is_row = axis == -2;
    const int64_t columns = LastOf(x.shape());
    std::vector<std::optional<uint32_t>> codes;
    for (int64_t i = 0; i < x.size(); ++i) {
      const int64_t length = scale.size();
      const int64_t at = length == 1 ? 0 : is_row ? i / columns % length : i % columns;
      const float factor = FloatAt(scale, at);
      float y = FloatAt(x, i) * factor;
      if (call["sqrtMode"].integer != 0) {
        if (IsOn950(call)) {
          const float square = factor * factor;
          y = FloatAt(x, i) * square;
        } else {
          y = y * factor;
        }
      }
      if (offset.is_given()) y = y + FloatAt(offset, at);
      codes.emplace_back(
          QuantisedCode(dtype, y, call["roundMode"].text[0] == 'r' ? 'n' : call["roundMode"].text[0]));
    }
    return std::vector<Outcome>{OutcomeOfCodes(call["y"].dtype, codes)};
  };
  return op;
}

// ---- Quantize ----

bool IsZeroPoint(const PlanCall& call, DtypeNumber dtype) {
  if (dtype == ACL_INT8 || dtype == ACL_UINT8 || dtype == ACL_INT32) return true;
  return (dtype == ACL_BF16 && IsSinceA2(call)) || (dtype == ACL_FLOAT && IsOn950(call));
}

OperatorSpec Divided() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnQuantize);
  op.valid = {
      TensorArg("x", {2, 3}),         TensorArg("scales", {3}), TensorArg("zeroPoints", {3}, ACL_INT32),
      IntegerArg("dtype", ACL_UINT8), IntegerArg("axis", 1),    OutputArg("out", {2, 3}, ACL_UINT8)};
  op.takes_workspace = true;
  const auto takes = [](const PlanCall& call, DtypeNumber dtype) {
    return dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || (dtype == ACL_BF16 && IsSinceA2(call));
  };
  op.rules = {NoNulls("x scales out"),
              Refuses(161002, "",
                      [](PlanCall& call) {
                        const Shape& x = call["x"].shape;
                        const Shape& scales = call["scales"].shape;
                        if (x.size() > 8 || call["out"].shape != x || scales.size() != 1) return true;
                        if (!call["zeroPoints"].null && call["zeroPoints"].shape != scales) return true;
                        if (scales[0] == 1) return false;
                        return !IsDimOf(call["axis"].integer, x) || x.empty() ||
                               x[Wrapped(call["axis"].integer, x)] != scales[0];
                      }),
              RefusedDtype("x", takes),
              RefusedDtype("scales", takes),
              Given("zeroPoints", RefusedDtype("zeroPoints", IsZeroPoint)),
              Refuses(161002, "dtype",
                      [](PlanCall& call) {
                        const int64_t dtype = call["dtype"].integer;
                        return dtype != ACL_INT8 && dtype != ACL_UINT8 && dtype != ACL_INT32 &&
                               !(IsOn950(call) && IsFloat8(static_cast<DtypeNumber>(dtype)));
                      }),
              Refuses(161002, "",
                      [](PlanCall& call) {
                        if (call["dtype"].integer != call["out"].dtype) return true;
                        const bool has_zeros = !call["zeroPoints"].null;
                        const bool any = call["scales"].dtype == ACL_BF16 ||
                                         (has_zeros && call["zeroPoints"].dtype == ACL_BF16);
                        return any && (call["x"].dtype != ACL_BF16 || call["scales"].dtype != ACL_BF16 ||
                                       (has_zeros && call["zeroPoints"].dtype != ACL_BF16));
                      }),
              Refuses(161002, "",
                      [](PlanCall& call) {
                        for (const char* const name : {"x", "scales", "out", "zeroPoints"}) {
                          if (!call[name].null && call[name].format == ACL_FORMAT_FRACTAL_NZ) return true;
                        }
                        return false;
                      }),
              DoneIfEmpty("x"),
              DoneIfEmpty("scales")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const Shape x = DrawShape(random, 1, 4, 7);
    const auto dim = static_cast<size_t>(random.Below(std::ssize(x)));
    const bool is_one = random.Chance(30);
    const bool is_bf16 = random.Chance(30);
    const DtypeNumber dtype = is_bf16 ? DtypeNumber{ACL_BF16} : DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16});
    const DtypeNumber out = DrawDtype(random, {ACL_INT8, ACL_UINT8, ACL_INT32});
    call["x"] = TensorArg("x", x, dtype);
    const int64_t length = is_one ? 1 : x[dim];
    call["scales"] = TensorArg("scales", {length}, dtype);
    call["zeroPoints"] =
        TensorArg("zeroPoints", {length},
                  is_bf16 ? DtypeNumber{ACL_BF16} : DrawDtype(random, {ACL_INT8, ACL_UINT8, ACL_INT32}));
    call["zeroPoints"].null = random.Chance(30);
    call["axis"].integer = static_cast<int64_t>(dim) - (random.Chance(50) ? std::ssize(x) : 0);
    call["dtype"].integer = out;
    call["out"] = OutputArg("out", x, out);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random, 2);
    SetNumbers(tensors[1], random);
    if (!call["zeroPoints"].null && IsIntegerDtype(call["zeroPoints"].dtype)) {
      SetIntegers(tensors[2], call["zeroPoints"].dtype == ACL_UINT8 ? 0 : -100, 100, random);
    } else if (!call["zeroPoints"].null) {
      SetNumbers(tensors[2], random);
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers scales(call, tensors, "scales");
    const Numbers zeros(call, tensors, "zeroPoints");
    Outcome outcome;
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t at = 0;
      if (scales.size() != 1) at = IndexAt(x.shape(), i)[Wrapped(call["axis"].integer, x.shape())];
      float y = FloatAt(x, i) / FloatAt(scales, at);
      if (zeros.is_given()) y = y + FloatAt(zeros, at);
      const uint32_t code = QuantisedCode(call["out"].dtype, y);
      Element element(static_cast<size_t>(ElementSize(call["out"].dtype)));
      std::memcpy(element.data(), &code, element.size());
      outcome.emplace_back(element);
    }
    return std::vector<Outcome>{outcome};
  };
  return op;
}

// ---- GroupQuant ----

OperatorSpec Grouped() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnGroupQuant);
  op.valid = {TensorArg("x", {2, 8}),
              TensorArg("scale", {2, 8}),
              TensorArg("groupIndex", {2}, ACL_INT32),
              TensorArg("offsetOptional", {1}),
              IntegerArg("dstType", ACL_INT8),
              OutputArg("y", {2, 8}, ACL_INT8)};
  op.takes_workspace = true;
  op.rules = {
      NoNulls("x scale groupIndex y"),
      DtypeIn("x", kSinceA2),
      DtypeIn("scale", kSinceA2),
      DtypeIn("groupIndex", kEitherIndex),
      Given("offsetOptional", SameDtype("scale", "offsetOptional")),
      RefusedDtype("y",
                   [](const PlanCall& call, DtypeNumber dtype) {
                     return IsSinceA2(call) && !IsFloat8(dtype) && IsOneOfCodes(call, dtype);
                   }),
      Refuses(161002, "dstType", [](PlanCall& call) { return call["dstType"].integer != call["y"].dtype; }),
      Refuses(161002, "",
              [](PlanCall& call) {
                const Shape& x = call["x"].shape;
                const PlanArgument& offset = call["offsetOptional"];
                if (!offset.null && !offset.shape.empty() && offset.shape != Shape{1}) return true;
                if (x.size() != 2 || call["scale"].shape.size() != 2 || call["groupIndex"].shape.size() != 1)
                  return true;
                if (call["scale"].shape != Shape{call["groupIndex"].shape[0], x[1]}) return true;
                return !IsShapeOfCodes(x, call["y"]);
              }),
      DoneIfEmpty("x"),
      DoneIfEmpty("scale")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t rows = random.Between(1, 9);
    const int64_t groups = random.Between(1, 4);
    const DtypeNumber y = random.Chance(40) ? ACL_INT32 : ACL_INT8;
    const int64_t columns = y == ACL_INT32 ? 8 * random.Between(1, 3) : DrawColumns(random);
    const DtypeNumber of_scale = DrawDtype(random, kRowDtypes);
    call["x"] = TensorArg("x", {rows, columns}, DrawDtype(random, kRowDtypes));
    call["scale"] = TensorArg("scale", {groups, columns}, of_scale);
    call["groupIndex"] = TensorArg("groupIndex", {groups}, random.Chance(50) ? ACL_INT32 : ACL_INT64);
    call["offsetOptional"] = TensorArg("offsetOptional", random.Chance(50) ? Shape{} : Shape{1}, of_scale);
    call["offsetOptional"].null = random.Chance(40);
    call["dstType"].integer = y;
    call["y"] = OutputArg("y", {rows, y == ACL_INT32 ? columns / 8 : columns}, y);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (int64_t i = 0; i < tensors[0].size(); ++i)
      tensors[0].Set(i, static_cast<double>(random.Between(-99, 99)));
    SetNumbers(tensors[1], random);
    int64_t end = 0;
    for (int64_t i = 0; i < tensors[2].size(); ++i) {
      end += random.Between(0, 4);
      EncodeIntegerElement(tensors[2].dtype(), end, tensors[2].Element(i));
    }
    SetNumbers(tensors[3], random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers scale(call, tensors, "scale");
    const Numbers ends(call, tensors, "groupIndex");
    const Numbers offset(call, tensors, "offsetOptional");
    const int64_t columns = x.shape()[1];
    std::vector<std::optional<uint32_t>> codes(static_cast<size_t>(x.size()));
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t group = 0;
      while (group < ends.size() && i / columns >= ends.Integer(group)) ++group;
      if (group == ends.size()) continue;
      float y = FloatAt(x, i) * FloatAt(scale, group * columns + i % columns);
      if (offset.is_given()) y = y + FloatAt(offset, 0);
      codes[static_cast<size_t>(i)] = QuantisedCode(CodeDtype(call["y"].dtype), y);
    }
    return std::vector<Outcome>{OutcomeOfCodes(call["y"].dtype, codes)};
  };
  return op;
}

// ---- AscendAntiQuant ----

OperatorSpec Inverse() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAscendAntiQuant);
  op.valid = {TensorArg("x", {2, 3}, ACL_INT8), TensorArg("scale", {3}),
              TensorArg("offset", {3}),         IntegerArg("dstType", ACL_FLOAT16),
              IntegerArg("sqrtMode", 0),        OutputArg("y", {2, 3}, ACL_FLOAT16)};
  op.takes_workspace = true;
  const auto shape_of = [](const PlanCall& call) {
    Shape shape = call["x"].shape;
    if (call["x"].dtype != ACL_INT32) return shape;
    if (shape.empty()) return Shape{8};
    shape.back() *= 8;
    return shape;
  };
  op.rules = {NoNulls("x scale y"),
              RefusedDtype("x",
                           [](const PlanCall& call, DtypeNumber dtype) {
                             if (call.product == Product::k310P) return dtype == ACL_INT8;
                             return IsSinceA2(call) && IsOneOfCodes(call, dtype);
                           }),
              RefusedDtype("scale",
                           [](const PlanCall& call, DtypeNumber dtype) {
                             if (call.product == Product::k310P) return dtype == ACL_FLOAT;
                             return IsSinceA2(call) && (dtype == ACL_FLOAT || dtype == ACL_BF16);
                           }),
              Given("offset", SameDtype("scale", "offset")),
              RefusedDtype("y",
                           [](const PlanCall& call, DtypeNumber dtype) {
                             if (call.product == Product::k310P) return dtype == ACL_FLOAT16;
                             return IsSinceA2(call) && (dtype == ACL_FLOAT16 || dtype == ACL_BF16);
                           }),
              Refuses(161002, "",
                      [](PlanCall& call) {
                        if (call["dstType"].integer != call["y"].dtype) return true;
                        return IsFloat8(call["x"].dtype) &&
                               (call["scale"].dtype != ACL_FLOAT || call["sqrtMode"].integer != 0);
                      }),
              Refuses(161002, "",
                      [=](PlanCall& call) {
                        const Shape shape = shape_of(call);
                        if (call["x"].dtype == ACL_INT4 && (shape.empty() || shape.back() % 2 != 0))
                          return true;
                        if (call["y"].shape != shape || call["x"].shape.size() > 8) return true;
                        const Shape& scale = call["scale"].shape;
                        if (scale.size() != 1 || (scale[0] != 1 && scale[0] != LastOf(shape))) return true;
                        return !call["offset"].null && call["offset"].shape != scale;
                      }),
              DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape x = DrawShape(random, 1, 3, 6);
    const DtypeNumber dtype = random.Chance(50) ? ACL_INT8 : ACL_INT32;
    const DtypeNumber of_scale = random.Chance(50) ? ACL_FLOAT : ACL_BF16;
    const DtypeNumber y = DrawDtype(random, kHalfDtypes);
    call["x"] = TensorArg("x", x, dtype);
    if (dtype == ACL_INT32) x.back() *= 8;
    const int64_t length = random.Chance(40) ? 1 : x.back();
    call["scale"] = TensorArg("scale", {length}, of_scale);
    call["offset"] = TensorArg("offset", {length}, of_scale);
    call["offset"].null = random.Chance(40);
    call["dstType"].integer = y;
    call["sqrtMode"].integer = random.Chance(40);
    call["y"] = OutputArg("y", x, y);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[1], random);
    SetNumbers(tensors[2], random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers scale(call, tensors, "scale");
    const Numbers offset(call, tensors, "offset");
    const bool is_packed = call["x"].dtype == ACL_INT32;
    const int64_t columns = LastOf(call["y"].shape);
    std::vector<double> values;
    for (int64_t i = 0; i < x.size() * (is_packed ? 8 : 1); ++i) {
      const auto number = is_packed
                              ? static_cast<float>(NumberOfCode(
                                    ACL_INT4, static_cast<uint32_t>(x.Integer(i / 8)) >> (4 * (i % 8)) & 0xF))
                              : static_cast<float>(x.Integer(i));
      const int64_t at = scale.size() == 1 ? 0 : i % columns;
      float y = number;
      if (offset.is_given()) y = y + FloatAt(offset, at);
      const float factor = FloatAt(scale, at);
      const float plain = y;
      y = y * factor;
      if (call["sqrtMode"].integer != 0) {
        const float square = factor * factor;
        y = IsOn950(call) ? plain * square : y * factor;
      }
      values.push_back(static_cast<double>(y));
    }
    return std::vector<Outcome>{EncodedAll(call["y"].dtype, values)};
  };
  return op;
}

// ---- DequantBias ----

OperatorSpec Biased() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnDequantBias);
  op.valid = {TensorArg("x", {2, 3}, ACL_INT32),       TensorArg("weightScale", {3}),
              TensorArg("activateScaleOptional", {2}), TensorArg("biasOptional", {3}, ACL_INT32),
              IntegerArg("outputDtype", ACL_FLOAT16),  OutputArg("out", {2, 3}, ACL_FLOAT16)};
  op.takes_workspace = true;
  op.rules = {NoNulls("x weightScale out"),
              DtypeIn("x", {{}, {ACL_INT32}}),
              DtypeIn("weightScale", {{ACL_FLOAT, ACL_BF16}}),
              Given("activateScaleOptional", DtypeIn("activateScaleOptional", kFloatAlone)),
              Given("biasOptional", DtypeIn("biasOptional", {{ACL_INT32, ACL_FLOAT, ACL_FLOAT16, ACL_BF16}})),
              DtypeIn("out", {{}, kHalfDtypes}),
              Refuses(561002, "", [](PlanCall& call) {
                const Shape& x = call["x"].shape;
                if (x.size() != 2 || x[0] < 1 || x[1] < 1 || call["weightScale"].shape != Shape{x[1]})
                  return true;
                if (!call["activateScaleOptional"].null && call["activateScaleOptional"].shape != Shape{x[0]})
                  return true;
                if (!call["biasOptional"].null && call["biasOptional"].shape != Shape{x[1]}) return true;
                return call["out"].shape != x || call["outputDtype"].integer != call["out"].dtype;
              })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t rows = random.Between(1, 6);
    const int64_t columns = DrawColumns(random);
    const DtypeNumber out = DrawDtype(random, kHalfDtypes);
    call["x"] = TensorArg("x", {rows, columns}, ACL_INT32);
    call["weightScale"] = TensorArg("weightScale", {columns}, random.Chance(50) ? ACL_FLOAT : ACL_BF16);
    call["activateScaleOptional"] = TensorArg("activateScaleOptional", {rows});
    call["activateScaleOptional"].null = random.Chance(40);
    call["biasOptional"] = TensorArg("biasOptional", {columns},
                                     DrawDtype(random, {ACL_INT32, ACL_FLOAT, ACL_FLOAT16, ACL_BF16}));
    call["biasOptional"].null = random.Chance(30);
    call["outputDtype"].integer = out;
    call["out"] = OutputArg("out", {rows, columns}, out);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetIntegers(tensors[0], -100000000, 100000000, random);
    SetNumbers(tensors[1], random);
    SetNumbers(tensors[2], random);
    if (call["biasOptional"].dtype == ACL_INT32) {
      SetIntegers(tensors[3], -1000, 1000, random);
    } else {
      SetNumbers(tensors[3], random);
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers scale(call, tensors, "weightScale");
    const Numbers activate(call, tensors, "activateScaleOptional");
    const Numbers bias(call, tensors, "biasOptional");
    const bool is_integer = bias.is_given() && bias.dtype() == ACL_INT32;
    const int64_t columns = x.shape()[1];
    std::vector<double> values;
    for (int64_t i = 0; i < x.size(); ++i) {
      const int64_t h = i % columns;
      float y = static_cast<float>(x.Integer(i) + (is_integer ? bias.Integer(h) : 0));
      y = y * FloatAt(scale, h);
      if (activate.is_given()) y = y * FloatAt(activate, i / columns);
      if (bias.is_given() && !is_integer) y = y + FloatAt(bias, h);
      values.push_back(static_cast<double>(y));
    }
    return std::vector<Outcome>{EncodedAll(call["out"].dtype, values)};
  };
  return op;
}

const std::vector<OperatorSpec>& All() {
  static const std::vector<OperatorSpec> all = {Scaled(PORTACL_C_FUNCTION(aclnnAscendQuant), false),
                                                Scaled(PORTACL_C_FUNCTION(aclnnAscendQuantV3), true),
                                                Divided(),
                                                Grouped(),
                                                Inverse(),
                                                Biased()};
  return all;
}
PORTACL_OPERATOR_TESTS(StaticQuantTest, All());

}  // namespace
}  // namespace portacl::testing
