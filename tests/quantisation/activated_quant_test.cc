// GELU, layer norms, gradients of RMS norms and gated rows as codes: checks, and every code and scale against the definition, with the functions in
// float64 and what follows in float32 as documented.
// SPDX-License-Identifier: Apache-2.0
#include "mx_by_definition.h"
#include "quant_calls.h"

namespace portacl::testing {
namespace {

Rule FloatsOn950(const std::string& name) { return DtypeOn950(name, IsFloatOrHalf); }
Shape RowsOf(const Shape& x) { return Shape(x.begin(), x.end() - 1); }
float Sigmoid(float x) { return static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(x)))); }

// ---- GeluQuant ----

float Gelu(float x, bool is_by_tanh) {
  if (!is_by_tanh) {
    const auto error = static_cast<float>(std::erf(static_cast<double>(x * 0.70710678f)));
    return 0.5f * x * (1.0f + error);
  }
  const float inner = 0.7978845608028654f * std::fma(0.044715f, x * x * x, x);
  return 0.5f * x * (1.0f + static_cast<float>(std::tanh(static_cast<double>(inner))));
}

bool IsDynamic(const PlanCall& call) { return call["quantMode"].text.starts_with("dynamic"); }

OperatorSpec GeluOf() {
  const char* const scale_name = "inputScaleOptional";
  const char* const offset_name = "inputOffsetOptional";
  const char* const step_name = "outScaleOptional";
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnGeluQuant);
  op.valid = {TensorArg("self", {2, 4}),       TensorArg(scale_name, {4}),       TensorArg(offset_name, {4}),
              TextArg("approximate", "none"),  TextArg("quantMode", "static"),   TextArg("roundMode", "rint"),
              IntegerArg("dstType", ACL_INT8), OutputArg("y", {2, 4}, ACL_INT8), OutputArg(step_name, {2})};
  op.valid.back().null = true;
  op.takes_workspace = true;
  op.tolerance = 1e-5;
  op.numbers_on = Product::k950;
  const auto is_static = [](const PlanCall& call) { return call["quantMode"].text.starts_with("static"); };
  op.rules = {
      Refuses(361001, "", [](PlanCall& call) { return !IsOn950(call); }),
      Refuses(161001, "quantMode", [](PlanCall& call) { return call["quantMode"].null; }),
      Refuses(161002, "quantMode", [=](PlanCall& call) { return !IsDynamic(call) && !is_static(call); }),
      NoNulls("self y"),
      Refuses(161001, scale_name, [=](PlanCall& call) { return is_static(call) && call[scale_name].null; }),
      Refuses(161001, step_name, [=](PlanCall& call) { return IsDynamic(call) && call[step_name].null; }),
      Refuses(161001, "", [](PlanCall& call) { return call["approximate"].null || call["roundMode"].null; }),
      Refuses(161002, "",
              [=](PlanCall& call) {
                if (is_static(call)) return !call[step_name].null;
                return !call[offset_name].null && call[scale_name].null;
              }),
      Refuses(161002, "",
              [=](PlanCall& call) {
                const DtypeNumber x = call["self"].dtype;
                const DtypeNumber y = call["y"].dtype;
                if (!IsFloatOrHalf(x)) return true;
                if (!call[scale_name].null) {
                  const DtypeNumber scale = call[scale_name].dtype;
                  if (scale != x && scale != ACL_FLOAT) return true;
                  if (!call[offset_name].null && call[offset_name].dtype != scale) return true;
                }
                if ((y != ACL_INT8 && !IsFloat8(y)) || call["dstType"].integer != y) return true;
                if (IsDynamic(call) && call[step_name].dtype != ACL_FLOAT) return true;
                return call["approximate"].text != "none" && call["approximate"].text != "tanh";
              }),
      Refuses(161002, "",
              [=](PlanCall& call) {
                const Shape& x = call["self"].shape;
                if (x.size() < (IsDynamic(call) ? 2u : 1u) || x.size() > 8) return true;
                if (!call[scale_name].null) {
                  const Shape& scale = call[scale_name].shape;
                  if (scale != Shape{1} && scale != Shape{x.back()}) return true;
                  if (!call[offset_name].null && call[offset_name].shape != scale) return true;
                }
                if (call["y"].shape != x) return true;
                return IsDynamic(call) && call[step_name].shape != RowsOf(x);
              }),
      Refuses(161002, "roundMode",
              [](PlanCall& call) {
                const std::string& round = call["roundMode"].text;
                if (call["y"].dtype == ACL_HIFLOAT8) return round != "round" && round != "hybrid";
                return round != "rint";
              }),
      DoneIfEmpty("self")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape x = {random.Between(1, 6), DrawColumns(random)};
    if (random.Chance(30)) x.insert(x.begin(), random.Between(1, 3));
    const bool is_dynamic = random.Chance(50);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    const DtypeNumber y = DrawDtype(random, {ACL_INT8, ACL_HIFLOAT8, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2});
    call["self"] = TensorArg("self", x, dtype);
    call[scale_name] = TensorArg(scale_name, {random.Chance(40) ? 1 : x.back()},
                                 random.Chance(50) ? DtypeNumber{ACL_FLOAT} : dtype);
    call[scale_name].null = is_dynamic && random.Chance(40);
    call[offset_name] = TensorArg(offset_name, call[scale_name].shape, call[scale_name].dtype);
    call[offset_name].null = is_dynamic || random.Chance(40);
    call["approximate"].text = random.Chance(50) ? "tanh" : "none";
    call["quantMode"].text = is_dynamic ? "dynamic" : "static";
    call["roundMode"].text = y == ACL_HIFLOAT8 ? random.Chance(50) ? "round" : "hybrid" : "rint";
    call["dstType"].integer = y;
    call["y"] = OutputArg("y", x, y);
    call[step_name] = OutputArg(step_name, RowsOf(x));
    call[step_name].null = !is_dynamic;
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random);
    SetNumbers(tensors[1], random);
    SetNumbers(tensors[2], random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "self");
    const Numbers scale(call, tensors, scale_name);
    const Numbers offset(call, tensors, offset_name);
    const DtypeNumber y = call["y"].dtype;
    const int64_t columns = x.shape().back();
    std::vector<std::optional<uint32_t>> codes;
    Outcome steps;
    for (int64_t row = 0; row < x.size() / columns; ++row) {
      std::vector<float> numbers;
      for (int64_t h = 0; h < columns; ++h) {
        float g = Gelu(FloatAt(x, row * columns + h), call["approximate"].text == "tanh");
        if (scale.is_given()) g = g * FloatAt(scale, scale.size() == 1 ? 0 : h);
        if (!IsDynamic(call) && offset.is_given()) g = g + FloatAt(offset, offset.size() == 1 ? 0 : h);
        numbers.push_back(g);
      }
      if (!IsDynamic(call)) {
        for (const float number : numbers) codes.emplace_back(QuantisedCode(y, number));
        continue;
      }
      const RowCodes result = DynamicRow(numbers, y, true, false, GreatestCode(y));
      codes.insert(codes.end(), result.codes.begin(), result.codes.end());
      steps.emplace_back(Encoded(ACL_FLOAT, static_cast<double>(result.scale)));
    }
    return std::vector<Outcome>{OutcomeOfCodes(y, codes), steps};
  };
  return op;
}

// ---- AddLayerNormQuant ----

OperatorSpec LayerNorm() {
  const std::vector<std::string> factors = {"scales1Optional", "scales2Optional", "zeroPoints1Optional",
                                            "zeroPoints2Optional"};
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAddLayerNormQuant);
  op.valid = {TensorArg("x1", {2, 4}), TensorArg("x2", {2, 4}), TensorArg("gamma", {4}),
              TensorArg("beta", {4}), TensorArg("biasOptional", {4})};
  for (const std::string& name : factors) op.valid.push_back(TensorArg(name, {4}));
  op.valid.push_back(TextArg("quantMode", "static"));
  op.valid.push_back(RealArg("epsilon", 1e-5));
  op.valid.push_back(IntegerArg("additionalOutput", 1));
  op.valid.push_back(IntegerArg("divMode", 1));
  op.valid.push_back(OutputArg("y1Out", {2, 4}, ACL_INT8));
  op.valid.push_back(OutputArg("y2Out", {2, 4}, ACL_INT8));
  op.valid.push_back(OutputArg("xOut", {2, 4}));
  op.valid.push_back(OutputArg("outScales1Out", {2}));
  op.valid.push_back(OutputArg("outScales2Out", {2}));
  op.takes_workspace = true;
  op.tolerance = 1e-5;
  op.numbers_on = Product::k950;
  const auto has_second = [](const PlanCall& call) { return !call["scales2Optional"].null; };
  const auto writes_sum = [](const PlanCall& call) { return call["additionalOutput"].integer != 0; };
  const auto null_where = [](const std::string& name, auto writes) {
    return Refuses(161001, name, [=](PlanCall& call) { return writes(call) && call[name].null; });
  };
  op.rules = {
      NoNulls("x1 x2 gamma beta y1Out"),
      null_where("xOut", writes_sum),
      null_where("y2Out", has_second),
      null_where("outScales1Out", IsDynamic),
      null_where("outScales2Out", [=](const PlanCall& call) { return IsDynamic(call) && has_second(call); }),
      FloatsOn950("x1"),
      Refuses(161002, "",
              [=](PlanCall& call) {
                const std::string& mode = call["quantMode"].text;
                if (call["quantMode"].null || (mode != "static" && mode != "dynamic")) return true;
                const bool zero1 = !call["zeroPoints1Optional"].null,
                           zero2 = !call["zeroPoints2Optional"].null;
                if (mode == "dynamic")
                  return zero1 || zero2 || (has_second(call) && call["scales1Optional"].null);
                if (call["scales1Optional"].null) return true;
                return has_second(call) ? zero1 != zero2 : zero2;
              }),
      Refuses(161002, "",
              [=](PlanCall& call) {
                const DtypeNumber x = call["x1"].dtype;
                if (call["x2"].dtype != x || (!call["biasOptional"].null && call["biasOptional"].dtype != x))
                  return true;
                std::vector<std::string> floats = factors;
                floats.emplace_back("gamma");
                floats.emplace_back("beta");
                for (const std::string& name : floats) {
                  if (!call[name].null && call[name].dtype != x && call[name].dtype != ACL_FLOAT) return true;
                }
                if (call["y1Out"].dtype != ACL_INT8 || (has_second(call) && call["y2Out"].dtype != ACL_INT8))
                  return true;
                if (writes_sum(call) && call["xOut"].dtype != x) return true;
                if (!IsDynamic(call)) return false;
                return call["outScales1Out"].dtype != ACL_FLOAT ||
                       (has_second(call) && call["outScales2Out"].dtype != ACL_FLOAT);
              }),
      Refuses(161002, "",
              [=](PlanCall& call) {
                const Shape& x = call["x1"].shape;
                if (x.empty() || x.size() > 8 || call["gamma"].shape.size() != 1) return true;
                const Shape row = {x.back()};
                if (call["x2"].shape != x || call["gamma"].shape != row || call["beta"].shape != row)
                  return true;
                if (call["y1Out"].shape != x || (has_second(call) && call["y2Out"].shape != x)) return true;
                const Shape& bias = call["biasOptional"].shape;
                if (!call["biasOptional"].null && bias != row && bias != x) return true;
                for (const std::string& name : factors) {
                  if (call[name].null || call[name].shape == row) continue;
                  if (IsDynamic(call) || call[name].shape != Shape{1}) return true;
                }
                if (writes_sum(call) && call["xOut"].shape != x) return true;
                if (IsDynamic(call) && (call["outScales1Out"].shape != RowsOf(x) ||
                                        (has_second(call) && call["outScales2Out"].shape != RowsOf(x))))
                  return true;
                return !(call["epsilon"].real >= 0);
              }),
      DoneIfEmpty("x1")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape x = {random.Between(1, 5), DrawColumns(random)};
    if (random.Chance(30)) x.insert(x.begin(), random.Between(1, 3));
    const Shape row = {x.back()};
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    const bool is_dynamic = random.Chance(50);
    const bool has_two = random.Chance(50);
    const auto dtype_of = [&] { return random.Chance(50) ? dtype : DtypeNumber{ACL_FLOAT}; };
    call["x1"] = TensorArg("x1", x, dtype);
    call["x2"] = TensorArg("x2", x, dtype);
    call["gamma"] = TensorArg("gamma", row, dtype_of());
    call["beta"] = TensorArg("beta", row, dtype_of());
    call["biasOptional"] = TensorArg("biasOptional", random.Chance(50) ? row : x, dtype);
    call["biasOptional"].null = random.Chance(30);
    const bool has_zeros = !is_dynamic && random.Chance(60);
    for (const std::string& name : factors) {
      call[name] = TensorArg(name, !is_dynamic && random.Chance(30) ? Shape{1} : row, dtype_of());
      const bool is_second = name.find('2') != std::string::npos;
      const bool is_zero = name[0] == 'z';
      call[name].null =
          (is_second && !has_two) || (is_zero && !has_zeros) || (is_dynamic && !has_two && random.Chance(40));
    }
    call["quantMode"].text = is_dynamic ? "dynamic" : "static";
    call["additionalOutput"].integer = random.Chance(60);
    call["divMode"].integer = random.Chance(50);
    call["y1Out"] = OutputArg("y1Out", x, ACL_INT8);
    call["y2Out"] = OutputArg("y2Out", x, ACL_INT8);
    call["y2Out"].null = !has_two;
    call["xOut"] = OutputArg("xOut", x, dtype);
    call["xOut"].null = call["additionalOutput"].integer == 0;
    for (const char* const name : {"outScales1Out", "outScales2Out"}) call[name] = OutputArg(name, RowsOf(x));
    call["outScales1Out"].null = !is_dynamic;
    call["outScales2Out"].null = !is_dynamic || !has_two;
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (size_t i = 0; i < 9; ++i) SetNumbers(tensors[i], random);
    // No scale is 0, which both of a quotient could be.
    for (size_t i = 5; i < 7; ++i) {
      for (int64_t k = 0; k < tensors[i].size(); ++k)
        tensors[i].Set(k, std::ldexp(1.0, static_cast<int>(random.Between(-3, 3))));
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x1(call, tensors, "x1"), x2(call, tensors, "x2");
    const Numbers gamma(call, tensors, "gamma"), beta(call, tensors, "beta"),
        bias(call, tensors, "biasOptional");
    const int64_t columns = x1.shape().back();
    Outcome sums;
    Outcome codes[2];
    Outcome steps[2];
    for (int64_t row = 0; row < x1.size() / columns; ++row) {
      std::vector<float> x;
      double total = 0;
      for (int64_t h = 0; h < columns; ++h) {
        const int64_t i = row * columns + h;
        float number = FloatAt(x1, i) + FloatAt(x2, i);
        if (bias.is_given()) number = number + FloatAt(bias, bias.shape().size() == 1 ? h : i);
        x.push_back(number);
        total += static_cast<double>(number);
        sums.emplace_back(Encoded(call["x1"].dtype, static_cast<double>(number)));
      }
      const double mean = total / static_cast<double>(columns);
      double squares = 0;
      for (const float number : x)
        squares += (static_cast<double>(number) - mean) * (static_cast<double>(number) - mean);
      const auto reciprocal =
          static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(columns) + call["epsilon"].real));
      for (int64_t h = 0; h < columns; ++h) {
        float& number = x[static_cast<size_t>(h)];
        number = number + static_cast<float>(-mean);
        number = number * reciprocal;
        number = number * FloatAt(gamma, h);
        number = number + FloatAt(beta, h);
      }
      for (size_t which = 0; which < 2; ++which) {
        const std::string digit = which == 0 ? "1" : "2";
        const Numbers scale(call, tensors, "scales" + digit + "Optional");
        const Numbers zero(call, tensors, "zeroPoints" + digit + "Optional");
        if (which == 1 && !scale.is_given()) continue;
        std::vector<float> t = x;
        for (int64_t h = 0; h < columns; ++h) {
          float& number = t[static_cast<size_t>(h)];
          const float factor = scale.is_given() ? FloatAt(scale, scale.size() == 1 ? 0 : h) : 1.0f;
          number = !IsDynamic(call) && call["divMode"].integer != 0 ? number / factor : number * factor;
          if (zero.is_given()) number = number + FloatAt(zero, zero.size() == 1 ? 0 : h);
        }
        if (IsDynamic(call)) {
          const RowCodes result = DynamicRow(t, ACL_INT8, true, false, 127);
          for (const uint32_t code : result.codes)
            codes[which].emplace_back(Element{static_cast<std::byte>(code)});
          steps[which].emplace_back(Encoded(ACL_FLOAT, static_cast<double>(result.scale)));
        } else {
          for (const float number : t)
            codes[which].emplace_back(Element{static_cast<std::byte>(QuantisedCode(ACL_INT8, number))});
        }
      }
    }
    return std::vector<Outcome>{codes[0], codes[1], sums, steps[0], steps[1]};
  };
  return op;
}

// ---- RmsNormGradQuant ----

OperatorSpec RmsGradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnRmsNormGradQuant);
  op.valid = {
      TensorArg("dy", {2, 4}),        TensorArg("x", {2, 4}),    TensorArg("rstd", {2}),
      TensorArg("gamma", {4}),        TensorArg("scalesX", {1}), TensorArg("offsetXOptional", {1}, ACL_INT32),
      TextArg("quantMode", "static"), IntegerArg("divMode", 1),  OutputArg("dxOut", {2, 4}, ACL_INT8),
      OutputArg("dgammaOut", {4})};
  op.takes_workspace = true;
  op.tolerance = 1e-5;
  op.numbers_on = Product::k950;
  op.rules = {NoNulls("dy x rstd gamma scalesX dxOut dgammaOut"),
              Refuses(561103, "",
                      [](PlanCall& call) {
                        if (!IsOn950(call)) return true;
                        const DtypeNumber x = call["x"].dtype;
                        if (!IsFloatOrHalf(x) || call["dy"].dtype != x) return true;
                        if (call["gamma"].dtype != x && call["gamma"].dtype != ACL_FLOAT) return true;
                        for (const char* const name : {"rstd", "scalesX", "dgammaOut"}) {
                          if (call[name].dtype != ACL_FLOAT) return true;
                        }
                        if (!call["offsetXOptional"].null && call["offsetXOptional"].dtype != ACL_INT32)
                          return true;
                        if (call["dxOut"].dtype != ACL_INT8 && call["dxOut"].dtype != ACL_HIFLOAT8)
                          return true;
                        if (call["quantMode"].null || call["quantMode"].text != "static") return true;
                        const Shape& shape = call["x"].shape;
                        const Shape& gamma = call["gamma"].shape;
                        if (shape.empty() || shape.size() > 8 || gamma.empty() || gamma.size() > shape.size())
                          return true;
                        if (!std::equal(gamma.rbegin(), gamma.rend(), shape.rbegin())) return true;
                        if (call["dy"].shape != shape || call["dxOut"].shape != shape ||
                            call["dgammaOut"].shape != gamma)
                          return true;
                        const Shape rows(shape.begin(), shape.end() - std::ssize(gamma));
                        if (NumElements(call["rstd"].shape) != NumElements(rows)) return true;
                        return call["scalesX"].shape != Shape{1} ||
                               (!call["offsetXOptional"].null && call["offsetXOptional"].shape != Shape{1});
                      }),
              DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape gamma = {DrawColumns(random)};
    if (random.Chance(30)) gamma.insert(gamma.begin(), random.Between(1, 3));
    Shape x = gamma;
    x.insert(x.begin(), random.Between(1, 6));
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["dy"] = TensorArg("dy", x, dtype);
    call["x"] = TensorArg("x", x, dtype);
    call["rstd"] = TensorArg("rstd", {x[0]});
    call["gamma"] = TensorArg("gamma", gamma, random.Chance(50) ? dtype : DtypeNumber{ACL_FLOAT});
    call["offsetXOptional"].null = random.Chance(40);
    call["divMode"].integer = random.Chance(50);
    call["dxOut"] = OutputArg("dxOut", x, random.Chance(60) ? ACL_INT8 : ACL_HIFLOAT8);
    call["dgammaOut"] = OutputArg("dgammaOut", gamma);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (size_t i = 0; i < 4; ++i) SetNumbers(tensors[i], random);
    tensors[4].Set(0, std::ldexp(1.0, static_cast<int>(random.Between(-3, 3))));
    if (tensors[5].size() > 0) SetIntegers(tensors[5], -9, 9, random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers slope(call, tensors, "dy"), x(call, tensors, "x"), rstd(call, tensors, "rstd");
    const Numbers gamma(call, tensors, "gamma"), scale(call, tensors, "scalesX"),
        offset(call, tensors, "offsetXOptional");
    const int64_t columns = gamma.size();
    std::vector<std::optional<uint32_t>> codes;
    std::vector<double> of_gamma(static_cast<size_t>(columns), 0.0);
    for (int64_t row = 0; row < x.size() / columns; ++row) {
      const float reciprocal = FloatAt(rstd, row);
      double total = 0;
      std::vector<float> slopes;
      std::vector<float> normed;
      for (int64_t h = 0; h < columns; ++h) {
        const int64_t i = row * columns + h;
        slopes.push_back(FloatAt(slope, i) * FloatAt(gamma, h));
        normed.push_back(FloatAt(x, i) * reciprocal);
        total += static_cast<double>(slopes.back()) * static_cast<double>(normed.back());
        of_gamma[static_cast<size_t>(h)] +=
            static_cast<double>(FloatAt(slope, i)) * static_cast<double>(normed.back());
      }
      const auto mean = static_cast<float>(total / static_cast<double>(columns));
      for (size_t h = 0; h < slopes.size(); ++h) {
        const float less = normed[h] * mean;
        const float dx = (slopes[h] - less) * reciprocal;
        float y = call["divMode"].integer != 0 ? dx / FloatAt(scale, 0) : dx * FloatAt(scale, 0);
        if (offset.is_given()) y = y + FloatAt(offset, 0);
        codes.emplace_back(QuantisedCode(call["dxOut"].dtype, y));
      }
    }
    return std::vector<Outcome>{OutcomeOfCodes(call["dxOut"].dtype, codes), EncodedAll(ACL_FLOAT, of_gamma)};
  };
  return op;
}

// ---- gated rows ----

// A few numbers: the logistic function of another last bit then hardly ever makes another code.
void SetFew(HostTensor& tensor, RandomNumbers& random) {
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.Set(i, static_cast<double>(random.Between(-8, 8)) / 4);
}
void SetPowers(HostTensor& tensor, RandomNumbers& random) {
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.Set(i, std::ldexp(1.0, static_cast<int>(random.Between(-3, 3))));
}

const char* const kGroup = "groupIndexOptional";

// A float32 tensor that an oracle made.
Numbers MadeOf(const Shape& shape, const std::vector<float>& values, PlanCall& call,
               std::vector<TensorValues>& tensors) {
  call.arguments = {TensorArg("made", shape)};
  tensors.resize(1);
  tensors[0].dtype = ACL_FLOAT;
  tensors[0].shape = shape;
  for (const float value : values)
    tensors[0].elements.push_back(Encoded(ACL_FLOAT, static_cast<double>(value)));
  return Numbers(call, tensors, "made");
}
MxResult CodesAlong(const Shape& shape, const std::vector<float>& values, DtypeNumber dtype, size_t axis,
                    int64_t algorithm) {
  PlanCall call;
  std::vector<TensorValues> tensors;
  return AlongAxis(MadeOf(shape, values, call, tensors), dtype, axis, 32, algorithm, 0, 0);
}

// How many rows the groups have together.
int64_t RowsThere(const PlanCall& call, const std::vector<TensorValues>& tensors, int64_t rows,
                  bool are_counts) {
  const Numbers ends(call, tensors, kGroup);
  if (!ends.is_given()) return rows;
  int64_t end = 0;
  for (int64_t g = 0; g < ends.size(); ++g)
    end = are_counts ? end + std::max<int64_t>(0, ends.Integer(g)) : std::max(end, ends.Integer(g));
  return std::min(end, rows);
}

float GatedNumber(float a, float b, int64_t form, const PlanCall& call) {
  if (form == 0) return a * Sigmoid(a) * b;
  const auto limit = static_cast<float>(call["clampLimit"].real);
  a = std::min(a, limit);
  b = std::clamp(b, -limit, limit);
  return a * Sigmoid(static_cast<float>(call["gluAlpha"].real) * a) *
         (b + static_cast<float>(call["gluBias"].real));
}

OperatorSpec GatedMx() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSwigluMxQuant);
  op.valid = {TensorArg("x", {2, 64}, ACL_FLOAT16),
              TensorArg(kGroup, {1}, ACL_INT64),
              IntegerArg("activateDim", -1),
              IntegerArg("activateLeft", 1),
              IntegerArg("swigluMode", 0),
              RealArg("clampLimit", 1.5),
              RealArg("gluAlpha", 1.5),
              RealArg("gluBias", 1.0),
              IntegerArg("groupMode", 0),
              IntegerArg("axis", -1),
              IntegerArg("dstType", ACL_FLOAT8_E4M3FN),
              TextArg("roundModeOptional", "rint"),
              IntegerArg("scaleAlg", 0),
              RealArg("maxDtypeValue", 0),
              OutputArg("yOut", {2, 32}, ACL_FLOAT8_E4M3FN),
              OutputArg("mxscaleOut", {2, 1, 2}, ACL_FLOAT8_E8M0)};
  op.takes_workspace = true;
  op.numbers_on = Product::k950;
  op.rules = {
      NoNulls("x yOut mxscaleOut"),
      DtypeOn950("x", IsHalf),
      Given(kGroup, DtypeIn(kGroup, kInt64Alone)),
      Refuses(161002, "yOut", [](PlanCall& call) { return !IsMxCode(call["yOut"].dtype); }),
      Refuses(161002, "mxscaleOut", [](PlanCall& call) { return !IsPower(call["mxscaleOut"].dtype); }),
      Refuses(561002, "",
              [](PlanCall& call) {
                const DtypeNumber y = call["yOut"].dtype;
                const int64_t algorithm = call["scaleAlg"].integer;
                const double most = call["maxDtypeValue"].real;
                if (!IsMxRound(call["roundModeOptional"], y) || call["dstType"].integer != y ||
                    !HasAlgorithm(y, algorithm))
                  return true;
                if (most != 0 && !(algorithm == 2 && most >= 6 && most <= 12)) return true;
                const Shape& x = call["x"].shape;
                if (x.size() < 2 || x.size() > 7 || call["swigluMode"].integer < 0 ||
                    call["swigluMode"].integer > 1 || call["groupMode"].integer < 0 ||
                    call["groupMode"].integer > 1)
                  return true;
                if (!call[kGroup].null && call[kGroup].shape.size() != 1) return true;
                const int64_t last = std::ssize(x) - 1;
                if (call["activateDim"].integer != -1 && call["activateDim"].integer != last) return true;
                const int64_t given = call["axis"].integer;
                const int64_t axis = given < 0 ? given + last + 1 : given;
                if (axis != last && (axis != last - 1 || !call[kGroup].null)) return true;
                if (x.back() % 2 != 0) return true;
                Shape half = x;
                half.back() /= 2;
                return CodesWrong(half, call["yOut"]) ||
                       call["mxscaleOut"].shape != PairsShape(half, static_cast<size_t>(axis));
              }),
      DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape half = {random.Between(1, 70), random.Between(1, 70)};
    if (random.Chance(30)) half.insert(half.begin(), random.Between(1, 3));
    Shape x = half;
    x.back() *= 2;
    const DtypeNumber y = DrawDtype(random, kMxBytes);
    call["x"] = TensorArg("x", x, DrawDtype(random, kHalfDtypes));
    call[kGroup] = TensorArg(kGroup, {random.Between(1, 3)}, ACL_INT64);
    call[kGroup].null = random.Chance(50);
    const bool is_last = !call[kGroup].null || random.Chance(50);
    call["activateLeft"].integer = random.Chance(50);
    call["swigluMode"].integer = random.Between(0, 1);
    call["groupMode"].integer = random.Between(0, 1);
    call["axis"].integer = is_last ? -1 : std::ssize(x) - 2;
    call["dstType"].integer = y;
    call["scaleAlg"].integer = random.Between(0, 1);
    call["yOut"] = OutputArg("yOut", half, y);
    call["mxscaleOut"] =
        OutputArg("mxscaleOut", PairsShape(half, half.size() - (is_last ? 1 : 2)), ACL_FLOAT8_E8M0);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetFew(tensors[0], random);
    SetIntegers(tensors[1], 0, 60, random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const int64_t both = x.shape().back();
    const int64_t columns = both / 2;
    const int64_t rows = x.size() / both;
    Shape half = x.shape();
    half.back() = columns;
    const int64_t form = call["swigluMode"].integer;
    const bool is_left = call["activateLeft"].integer != 0;
    std::vector<float> values;
    for (int64_t i = 0; i < rows * columns; ++i) {
      const int64_t row = i / columns, h = i % columns;
      const int64_t first = form == 1 ? 2 * h : is_left ? h : columns + h;
      const int64_t second = form == 1 ? 2 * h + 1 : is_left ? columns + h : h;
      values.push_back(
          GatedNumber(FloatAt(x, row * both + first), FloatAt(x, row * both + second), form, call));
    }
    const size_t axis =
        call["axis"].integer < 0 ? half.size() - 1 : static_cast<size_t>(call["axis"].integer);
    MxResult result = CodesAlong(half, values, call["yOut"].dtype, axis, call["scaleAlg"].integer);
    const int64_t there = RowsThere(call, tensors, rows, call["groupMode"].integer == 0);
    for (size_t i = static_cast<size_t>(there * columns); i < result.codes.size(); ++i)
      result.codes[i] = std::nullopt;
    if (there < rows) {
      const size_t each = result.scales.size() / static_cast<size_t>(rows);
      for (size_t i = static_cast<size_t>(there) * each; i < result.scales.size(); ++i)
        result.scales[i] = std::nullopt;
    }
    return std::vector<Outcome>{OutcomeOfCodes(call["yOut"].dtype, result.codes), result.scales};
  };
  return op;
}

OperatorSpec BothAxes(const CFunction& function, bool is_backward) {
  const char* const type = is_backward ? "dstDtype" : "dstType";
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x", {2, 64}, ACL_FLOAT16)};
  if (is_backward) op.valid.push_back(TensorArg("yGrad", {2, 32}, ACL_FLOAT16));
  const Shape coded = {2, is_backward ? 64 : 32};
  op.valid.push_back(TensorArg(kGroup, {1}, ACL_INT64));
  op.valid.back().null = true;
  op.valid.push_back(IntegerArg("activateLeft", 1));
  op.valid.push_back(TextArg("roundModeOptional", "rint"));
  op.valid.push_back(IntegerArg("scaleAlg", 1));
  op.valid.push_back(IntegerArg(type, ACL_FLOAT8_E4M3FN));
  op.valid.push_back(RealArg("maxDtypeValue", 0));
  op.valid.push_back(OutputArg("y1Out", coded, ACL_FLOAT8_E4M3FN));
  op.valid.push_back(OutputArg("mxscale1Out", PairsShape(coded, 1), ACL_FLOAT8_E8M0));
  op.valid.push_back(OutputArg("y2Out", coded, ACL_FLOAT8_E4M3FN));
  op.valid.push_back(OutputArg("mxscale2Out", PairsShape(coded, 0), ACL_FLOAT8_E8M0));
  op.takes_workspace = true;
  op.numbers_on = Product::k950;
  op.rules = {NoNulls(is_backward ? "x yGrad y1Out mxscale1Out y2Out mxscale2Out"
                                  : "x y1Out mxscale1Out y2Out mxscale2Out")};
  if (is_backward) op.rules.push_back(SameDtype("x", "yGrad"));
  op.rules.push_back(DtypeOn950("x", IsHalf));
  op.rules.push_back(Given(kGroup, DtypeIn(kGroup, kInt64Alone)));
  for (const char* const name : {"y1Out", "y2Out"})
    op.rules.push_back(Refuses(161002, name, [=](PlanCall& call) { return !IsMxCode(call[name].dtype); }));
  for (const char* const name : {"mxscale1Out", "mxscale2Out"})
    op.rules.push_back(Refuses(161002, name, [=](PlanCall& call) { return !IsPower(call[name].dtype); }));
  op.rules.push_back(Refuses(561002, "", [=](PlanCall& call) {
    const DtypeNumber y = call["y1Out"].dtype;
    const int64_t algorithm = call["scaleAlg"].integer;
    const double most = call["maxDtypeValue"].real;
    if (!IsMxRound(call["roundModeOptional"], y) || call[type].integer != y || !HasAlgorithm(y, algorithm))
      return true;
    if (most != 0 && !(algorithm == 2 && most >= 6 && most <= 12)) return true;
    const Shape& x = call["x"].shape;
    if (x.size() < 2 || x.size() > 7 || call["y2Out"].dtype != y || !call[kGroup].null) return true;
    if (x.back() % 2 != 0) return true;
    Shape half = x;
    half.back() /= 2;
    if (is_backward && call["yGrad"].shape != half) return true;
    const Shape& own = is_backward ? x : half;
    return CodesWrong(own, call["y1Out"]) || CodesWrong(own, call["y2Out"]) ||
           call["mxscale1Out"].shape != PairsShape(own, own.size() - 1) ||
           call["mxscale2Out"].shape != PairsShape(own, own.size() - 2);
  }));
  op.rules.push_back(DoneIfEmpty("x"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape half = {random.Between(1, 70), random.Between(1, 70)};
    if (random.Chance(30)) half.insert(half.begin(), random.Between(1, 3));
    Shape x = half;
    x.back() *= 2;
    const Shape& own = is_backward ? x : half;
    const DtypeNumber y = DrawDtype(random, kMxBytes);
    const DtypeNumber dtype = DrawDtype(random, kHalfDtypes);
    call["x"] = TensorArg("x", x, dtype);
    if (is_backward) call["yGrad"] = TensorArg("yGrad", half, dtype);
    call["activateLeft"].integer = random.Chance(50);
    call["scaleAlg"].integer = random.Between(0, 1);
    call[type].integer = y;
    for (const char* const name : {"y1Out", "y2Out"}) call[name] = OutputArg(name, own, y);
    call["mxscale1Out"] = OutputArg("mxscale1Out", PairsShape(own, own.size() - 1), ACL_FLOAT8_E8M0);
    call["mxscale2Out"] = OutputArg("mxscale2Out", PairsShape(own, own.size() - 2), ACL_FLOAT8_E8M0);
  };
  op.fill = [=](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetFew(tensors[0], random);
    if (is_backward) SetFew(tensors[1], random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const int64_t both = x.shape().back();
    const int64_t columns = both / 2;
    Shape own = x.shape();
    if (!is_backward) own.back() = columns;
    const bool is_left = call["activateLeft"].integer != 0;
    std::vector<float> values(static_cast<size_t>(NumElements(own)));
    for (int64_t i = 0; i < x.size() / 2; ++i) {
      const int64_t row = i / columns, h = i % columns;
      const int64_t first = row * both + (is_left ? h : columns + h);
      const int64_t second = row * both + (is_left ? columns + h : h);
      const float a = FloatAt(x, first), b = FloatAt(x, second);
      if (!is_backward) {
        values[static_cast<size_t>(i)] = GatedNumber(a, b, 0, call);
        continue;
      }
      const float slope = FloatAt(Numbers(call, tensors, "yGrad"), i);
      const float s = Sigmoid(a);
      const float rest = a * (1.0f - s);
      values[static_cast<size_t>(first)] = slope * b * s * (1.0f + rest);
      values[static_cast<size_t>(second)] = slope * (a * s);
    }
    std::vector<Outcome> outcomes;
    for (size_t back = 1; back <= 2; ++back) {
      const DtypeNumber y = call["y1Out"].dtype;
      const MxResult result = CodesAlong(own, values, y, own.size() - back, call["scaleAlg"].integer);
      outcomes.push_back(OutcomeOfCodes(y, result.codes));
      outcomes.push_back(result.scales);
    }
    return outcomes;
  };
  return op;
}

// ---- groups ----

const char* const kWeight = "weightOptional";

OperatorSpec Grouped() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSwigluGroupQuant);
  op.valid = {TensorArg("x", {2, 256}),
              TensorArg(kWeight, {2}),
              TensorArg(kGroup, {1}, ACL_INT64),
              TensorArg("scaleOptional", {1}),
              IntegerArg("dstType", ACL_FLOAT8_E4M3FN),
              IntegerArg("quantMode", 0),
              IntegerArg("blockSize", 128),
              IntegerArg("roundScale", 0),
              RealArg("clampLimit", -1),
              RealArg("dstTypeMax", 0),
              IntegerArg("outputOrigin", 1),
              OutputArg("yOut", {2, 128}, ACL_FLOAT8_E4M3FN),
              OutputArg("yScaleOut", {2, 1}),
              OutputArg("yOriginOut", {2, 128})};
  op.takes_workspace = true;
  op.tolerance = 1e-5;
  op.numbers_on = Product::k950;
  const auto mode_of = [](const PlanCall& call) { return call["quantMode"].integer; };
  const auto half_of = [](const PlanCall& call) {
    Shape half = call["x"].shape;
    half.back() /= 2;
    return half;
  };
  op.rules = {
      NoNulls("x yOut"),
      Refuses(161001, "yScaleOut",
              [=](PlanCall& call) { return mode_of(call) != 2 && call["yScaleOut"].null; }),
      Refuses(161001, "yOriginOut",
              [](PlanCall& call) { return call["outputOrigin"].integer != 0 && call["yOriginOut"].null; }),
      Refuses(161001, "scaleOptional",
              [=](PlanCall& call) { return mode_of(call) == 2 && call["scaleOptional"].null; }),
      FloatsOn950("x"),
      Given(kWeight, DtypeIn(kWeight, kFloatAlone)),
      Given(kGroup, DtypeIn(kGroup, kInt64Alone)),
      Given("scaleOptional", DtypeIn("scaleOptional", kFloatAlone)),
      Refuses(561002, "",
              [=](PlanCall& call) {
                const int64_t mode = mode_of(call);
                const DtypeNumber y = call["yOut"].dtype;
                if (mode < 0 || mode > 3 || call["dstType"].integer != y) return true;
                const bool is_byte = y == ACL_FLOAT8_E4M3FN || y == ACL_FLOAT8_E5M2;
                if (mode == 0 ? !is_byte : mode == 1 ? !is_byte && !IsFloat4(y) : y != ACL_HIFLOAT8)
                  return true;
                if (mode < 2 && call["blockSize"].integer != 0 &&
                    call["blockSize"].integer != (mode == 0 ? 128 : 32))
                  return true;
                const double limit = call["clampLimit"].real, most = call["dstTypeMax"].real;
                if (limit != -1 && !(limit > 0)) return true;
                if (mode == 3 && !(most >= 0 && most <= 32768)) return true;
                if (mode != 2 && call["yScaleOut"].dtype != (mode == 1 ? ACL_FLOAT8_E8M0 : ACL_FLOAT))
                  return true;
                return call["outputOrigin"].integer != 0 && call["yOriginOut"].dtype != call["x"].dtype;
              }),
      Refuses(561002, "",
              [=](PlanCall& call) {
                const Shape& x = call["x"].shape;
                if (x.size() < 2 || x.size() > 7) return true;
                if (!call[kGroup].null && (call[kGroup].shape.size() != 1 || call[kGroup].shape[0] < 1))
                  return true;
                if (x.back() % 2 != 0) return true;
                const Shape half = half_of(call);
                const int64_t groups = call[kGroup].null ? 1 : call[kGroup].shape[0];
                if (!call[kWeight].null && NumElements(call[kWeight].shape) != NumElements(RowsOf(x)))
                  return true;
                if (mode_of(call) == 2 && call["scaleOptional"].shape != Shape{groups}) return true;
                if (CodesWrong(half, call["yOut"])) return true;
                if (call["outputOrigin"].integer != 0 && call["yOriginOut"].shape != half) return true;
                Shape scale = half;
                scale.back() = (half.back() + 127) / 128;
                if (mode_of(call) == 1) scale = PairsShape(half, half.size() - 1);
                if (mode_of(call) == 3) scale = {groups};
                return mode_of(call) != 2 && call["yScaleOut"].shape != scale;
              }),
      DoneIfEmpty("x")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape half = {random.Between(1, 8), random.Chance(50) ? random.Between(1, 300) : random.Between(1, 40)};
    // More groups than there are units, so that one takes some.
    const bool are_many = random.Chance(5);
    if (are_many) half = {random.Between(300, 600), random.Between(1, 6)};
    if (random.Chance(30)) half.insert(half.begin(), random.Between(1, 3));
    Shape x = half;
    x.back() *= 2;
    const int64_t mode = random.Between(0, 3);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    const DtypeNumber y = mode >= 2 ? DtypeNumber{ACL_HIFLOAT8} : DrawDtype(random, kMxBytes);
    const int64_t groups = are_many ? random.Between(257, 300) : random.Between(1, 3);
    call["x"] = TensorArg("x", x, dtype);
    call[kWeight] = TensorArg(kWeight, {NumElements(RowsOf(x))});
    call[kWeight].null = random.Chance(40);
    call[kGroup] = TensorArg(kGroup, {groups}, ACL_INT64);
    call[kGroup].null = random.Chance(40);
    const int64_t many = call[kGroup].null ? 1 : groups;
    call["scaleOptional"] = TensorArg("scaleOptional", {many});
    call["scaleOptional"].null = mode != 2;
    call["dstType"].integer = y;
    call["quantMode"].integer = mode;
    call["blockSize"].integer = random.Chance(50) ? 0 : mode == 1 ? 32 : 128;
    call["roundScale"].integer = random.Chance(50);
    call["clampLimit"].real = random.Chance(50) ? -1 : 1.25;
    call["dstTypeMax"].real = mode == 3 && random.Chance(50) ? 224 : 0;
    call["outputOrigin"].integer = random.Chance(50);
    Shape scale = half;
    scale.back() = (half.back() + 127) / 128;
    if (mode == 1) scale = PairsShape(half, half.size() - 1);
    if (mode == 3) scale = {many};
    call["yOut"] = OutputArg("yOut", half, y);
    call["yScaleOut"] = OutputArg("yScaleOut", scale, mode == 1 ? ACL_FLOAT8_E8M0 : ACL_FLOAT);
    call["yScaleOut"].null = mode == 2;
    call["yOriginOut"] = OutputArg("yOriginOut", half, dtype);
    call["yOriginOut"].null = call["outputOrigin"].integer == 0;
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetFew(tensors[0], random);
    SetPowers(tensors[1], random);
    SetIntegers(tensors[2], 0, 6, random);
    SetPowers(tensors[3], random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x"), weight(call, tensors, kWeight), ends(call, tensors, kGroup);
    const Numbers given(call, tensors, "scaleOptional");
    const int64_t both = x.shape().back(), columns = both / 2, rows = x.size() / both;
    const DtypeNumber y = call["yOut"].dtype;
    const int64_t mode = mode_of(call);
    const float greatest_code = GreatestCode(y);
    std::vector<int64_t> group(static_cast<size_t>(rows), ends.is_given() ? -1 : 0);
    int64_t there = 0;
    for (int64_t g = 0; ends.is_given() && g < ends.size(); ++g) {
      for (int64_t i = 0; i < ends.Integer(g) && there < rows; ++i) group[static_cast<size_t>(there++)] = g;
    }
    if (!ends.is_given()) there = rows;
    std::vector<float> z;
    const auto limit = static_cast<float>(call["clampLimit"].real);
    for (int64_t i = 0; i < rows * columns; ++i) {
      const int64_t row = i / columns, h = i % columns;
      float a = FloatAt(x, row * both + h), b = FloatAt(x, row * both + columns + h);
      if (limit != -1) {
        a = std::min(a, limit);
        b = std::clamp(b, -limit, limit);
      }
      float number = a * Sigmoid(a) * b;
      if (weight.is_given()) number = number * FloatAt(weight, row);
      z.push_back(number);
    }
    std::vector<std::optional<uint32_t>> codes(z.size());
    Outcome scales;
    if (mode == 0) {
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t first = 0; first < columns; first += 128) {
          if (row >= there) {
            scales.emplace_back(std::nullopt);
            continue;
          }
          float greatest = 1e-4f;
          const int64_t end = std::min(columns, first + 128);
          for (int64_t h = first; h < end; ++h)
            greatest = std::max(greatest, std::fabs(z[static_cast<size_t>(row * columns + h)]));
          const float inverse = 1.0f / greatest_code;
          float scale = greatest * inverse;
          float factor = greatest_code / greatest;
          if (call["roundScale"].integer != 0) {
            scale = std::ldexp(1.0f, CeilOfLog2(static_cast<double>(scale)));
            factor = 1.0f / scale;
          }
          scales.emplace_back(Encoded(ACL_FLOAT, static_cast<double>(scale)));
          for (int64_t h = first; h < end; ++h) {
            const auto i = static_cast<size_t>(row * columns + h);
            codes[i] = QuantisedCode(y, z[i] * factor);
          }
        }
      }
    } else if (mode == 1) {
      const Shape pairs = PairsShape({rows, columns}, 1);
      scales.assign(static_cast<size_t>(NumElements(pairs)), Element{std::byte{0}});
      const int64_t each = pairs[1] * 2;
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t place = 0; place < each; ++place) {
          auto& scale = scales[static_cast<size_t>(row * each + place)];
          if (row >= there) scale = std::nullopt;
          if (row >= there || place * 32 >= columns) continue;
          float greatest = 1e-4f;
          const int64_t end = std::min(columns, place * 32 + 32);
          for (int64_t h = place * 32; h < end; ++h)
            greatest = std::max(greatest, std::fabs(z[static_cast<size_t>(row * columns + h)]));
          const float inverse = 1.0f / greatest_code;
          const Power power{true, CeilOfLog2(static_cast<double>(greatest * inverse))};
          scale = Element{static_cast<std::byte>(power.code())};
          for (int64_t h = place * 32; h < end; ++h) {
            const auto i = static_cast<size_t>(row * columns + h);
            codes[i] = MxCode(y, static_cast<double>(z[i]), power);
          }
        }
      }
    } else {
      const int64_t groups = ends.is_given() ? ends.size() : 1;
      std::vector<float> of_groups(static_cast<size_t>(groups), 0.0f);
      const auto most = static_cast<float>(call["dstTypeMax"].real);
      for (int64_t row = 0; row < there; ++row) {
        float& greatest = of_groups[static_cast<size_t>(group[static_cast<size_t>(row)])];
        for (int64_t h = 0; h < columns; ++h)
          greatest = std::max(greatest, std::fabs(z[static_cast<size_t>(row * columns + h)]));
      }
      for (float& scale : of_groups) {
        scale = scale / (most == 0 ? 32768.0f : most);
        if (mode == 3) scales.emplace_back(Encoded(ACL_FLOAT, static_cast<double>(scale)));
      }
      for (int64_t row = 0; row < there; ++row) {
        const int64_t g = group[static_cast<size_t>(row)];
        for (int64_t h = 0; h < columns; ++h) {
          const auto i = static_cast<size_t>(row * columns + h);
          const float scale = of_groups[static_cast<size_t>(g)];
          codes[i] = QuantisedCode(y, mode == 2    ? z[i] * FloatAt(given, g)
                                      : scale == 0 ? z[i]
                                                   : z[i] / scale);
        }
      }
    }
    Outcome origin;
    for (size_t i = 0; i < z.size(); ++i) {
      if (static_cast<int64_t>(i) < there * columns)
        origin.emplace_back(Encoded(call["x"].dtype, static_cast<double>(z[i])));
      else
        origin.emplace_back(std::nullopt);
    }
    return std::vector<Outcome>{OutcomeOfCodes(y, codes), scales, origin};
  };
  return op;
}

OperatorSpec GroupedGradient() {
  const char* const origin_name = "yOriginOptional";
  const char* const weight_out = "gradWeightOutOptional";
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSwigluGroupQuantGrad);
  op.valid = {TensorArg("gradY", {2, 4}),        TensorArg("x", {2, 8}),
              TensorArg(kWeight, {2}),           TensorArg(origin_name, {2, 4}),
              TensorArg(kGroup, {1}, ACL_INT64), RealArg("clampLimit", -1),
              OutputArg("gradXOut", {2, 8}),     OutputArg(weight_out, {2})};
  op.takes_workspace = true;
  op.tolerance = 1e-5;
  op.numbers_on = Product::k950;
  op.rules = {NoNulls("gradY x gradXOut"),
              FloatsOn950("x"),
              Given(kWeight, DtypeIn(kWeight, kFloatAlone)),
              Given(kGroup, DtypeIn(kGroup, kInt64Alone)),
              Refuses(561002, "",
                      [=](PlanCall& call) {
                        const DtypeNumber dtype = call["x"].dtype;
                        for (const char* const name : {"gradY", "gradXOut", origin_name}) {
                          if (!call[name].null && call[name].dtype != dtype) return true;
                        }
                        const bool writes = !call[weight_out].null && !call[kWeight].null;
                        if (writes && (call[origin_name].null || call[weight_out].dtype != ACL_FLOAT))
                          return true;
                        const double limit = call["clampLimit"].real;
                        if (limit != -1 && !(limit >= 0)) return true;
                        const Shape& x = call["x"].shape;
                        if (x.size() < 2 || x.size() > 7) return true;
                        if (!call[kGroup].null && call[kGroup].shape.size() != 1) return true;
                        if (x.back() % 2 != 0) return true;
                        Shape half = x;
                        half.back() /= 2;
                        if (call["gradY"].shape != half || call["gradXOut"].shape != x) return true;
                        if (!call[origin_name].null && call[origin_name].shape != half) return true;
                        for (const char* const name : {kWeight, weight_out}) {
                          if (!call[name].null && (name == kWeight || writes) &&
                              NumElements(call[name].shape) != NumElements(RowsOf(x)))
                            return true;
                        }
                        return false;
                      }),
              DoneIfEmpty("x")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape half = {random.Between(1, 6), DrawColumns(random)};
    if (random.Chance(30)) half.insert(half.begin(), random.Between(1, 3));
    Shape x = half;
    x.back() *= 2;
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["gradY"] = TensorArg("gradY", half, dtype);
    call["x"] = TensorArg("x", x, dtype);
    call[kWeight] = TensorArg(kWeight, RowsOf(x));
    call[kWeight].null = random.Chance(30);
    call[origin_name] = TensorArg(origin_name, half, dtype);
    call[origin_name].null = random.Chance(30);
    call[kGroup] = TensorArg(kGroup, {random.Between(1, 3)}, ACL_INT64);
    call[kGroup].null = random.Chance(50);
    call["clampLimit"].real = random.Chance(30) ? 0 : random.Chance(50) ? -1 : 1.25;
    call["gradXOut"] = OutputArg("gradXOut", x, dtype);
    call[weight_out] = OutputArg(weight_out, RowsOf(x));
    call[weight_out].null = (!call[kWeight].null && call[origin_name].null) || random.Chance(30);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (size_t i = 0; i < 4; ++i) SetNumbers(tensors[i], random);
    SetIntegers(tensors[4], 0, 4, random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x"), slope(call, tensors, "gradY"), weight(call, tensors, kWeight);
    const Numbers origin(call, tensors, origin_name);
    const int64_t both = x.shape().back(), columns = both / 2, rows = x.size() / both;
    const int64_t there = RowsThere(call, tensors, rows, true);
    const double limit = call["clampLimit"].real;
    Outcome gradient(static_cast<size_t>(x.size()));
    Outcome of_weight(static_cast<size_t>(rows));
    for (int64_t row = 0; row < there; ++row) {
      double sum = 0;
      for (int64_t h = 0; h < columns; ++h) {
        const int64_t first = row * both + h, i = row * columns + h;
        double a = x[first], b = x[first + columns];
        const bool is_above = limit > 0 && a > limit;
        const bool is_beyond = limit > 0 && std::fabs(b) > limit;
        if (limit > 0) {
          a = std::min(a, limit);
          b = std::clamp(b, -limit, limit);
        }
        const double g = slope[i] * (weight.is_given() ? weight[row] : 1.0);
        const double s = 1 / (1 + std::exp(-a));
        gradient[static_cast<size_t>(first)] =
            Encoded(call["x"].dtype, is_above ? 0 : g * b * s * (1 + a * (1 - s)));
        gradient[static_cast<size_t>(first + columns)] = Encoded(call["x"].dtype, is_beyond ? 0 : g * a * s);
        if (origin.is_given()) sum += slope[i] * origin[i];
      }
      if (weight.is_given()) of_weight[static_cast<size_t>(row)] = Encoded(ACL_FLOAT, sum);
    }
    return std::vector<Outcome>{gradient, of_weight};
  };
  return op;
}

const std::vector<OperatorSpec>& All() {
  static const std::vector<OperatorSpec> all = {
      GeluOf(),
      LayerNorm(),
      RmsGradient(),
      GatedMx(),
      BothAxes(PORTACL_C_FUNCTION(aclnnSwigluMxQuantWithDualAxis), false),
      BothAxes(PORTACL_C_FUNCTION(aclnnSwigluBackwardMxQuantWithDualAxis), true),
      Grouped(),
      GroupedGradient()};
  return all;
}
PORTACL_OPERATOR_TESTS(ActivatedQuantTest, All());

}  // namespace
}  // namespace portacl::testing
