// Norms that leave codes: checks, and every code against the definition. The norm is worked out in float64, so a code may be its neighbour where
// a number lies within a rounding of the middle between them.
// SPDX-License-Identifier: Apache-2.0
#include "quant_calls.h"

namespace portacl::testing {
namespace {

double RoundedTo(DtypeNumber dtype, double value) { return DecodeReal(dtype, Encoded(dtype, value).data()); }

// Sums of rows, and what the products make of them step by step.
struct Rows {
  std::vector<double> sum;     // as it is written
  std::vector<double> normed;  // times gamma
};
Rows NormedRows(const Numbers& x1, const Numbers* x2, const Numbers& gamma, double eps, bool rounds_sum,
                bool rounds_steps) {
  Rows rows;
  const int64_t columns = gamma.size();
  for (int64_t row = 0; row < x1.size() / columns; ++row) {
    std::vector<float> x;
    double squares = 0;
    for (int64_t h = 0; h < columns; ++h) {
      const int64_t i = row * columns + h;
      float number = FloatAt(x1, i);
      if (x2 != nullptr) number = number + FloatAt(*x2, i);
      rows.sum.push_back(static_cast<double>(number));
      if (rounds_sum) number = static_cast<float>(RoundedTo(x1.dtype(), static_cast<double>(number)));
      x.push_back(number);
      squares += static_cast<double>(number) * static_cast<double>(number);
    }
    const auto rstd = static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(columns) + eps));
    for (int64_t h = 0; h < columns; ++h) {
      float number = x[static_cast<size_t>(h)] * rstd;
      if (rounds_steps) number = static_cast<float>(RoundedTo(ACL_FLOAT16, static_cast<double>(number)));
      number = number * FloatAt(gamma, h);
      if (rounds_steps) number = static_cast<float>(RoundedTo(ACL_FLOAT16, static_cast<double>(number)));
      rows.normed.push_back(static_cast<double>(number));
    }
  }
  return rows;
}

bool IsTail(const Shape& x, const Shape& gamma) {
  return !gamma.empty() && gamma.size() <= x.size() && std::equal(gamma.rbegin(), gamma.rend(), x.rbegin());
}

// ---- AddRmsNormQuant, V2 ----

bool IsSingle(const PlanCall& call) {
  if (IsOn950(call)) return true;
  if (call["divMode"].integer == 0 || !call["scales2Optional"].null || !call["zeroPoints2Optional"].null ||
      call["zeroPoints1Optional"].null || NumElements(call["scales1"].shape) != 1 ||
      NumElements(call["zeroPoints1Optional"].shape) != 1)
    return false;
  const Shape& gamma = call["gamma"].shape;
  if (gamma.size() != 1 && !(gamma.size() == 2 && gamma[0] == 1)) return false;
  const bool has_sum = !call["xOut"].null;
  return call["rmsNormOutOptional"].null ? has_sum && !call["betaOptional"].null
                                         : !has_sum && call["betaOptional"].null;
}

OperatorSpec Static(const CFunction& function, bool is_second) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x1", {2, 4}, ACL_FLOAT16),
              TensorArg("x2", {2, 4}, ACL_FLOAT16),
              TensorArg("gamma", {4}, ACL_FLOAT16),
              TensorArg("scales1", {4}),
              TensorArg("scales2Optional", {4}),
              TensorArg("zeroPoints1Optional", {4}, ACL_INT32),
              TensorArg("zeroPoints2Optional", {4}, ACL_INT32)};
  if (is_second) op.valid.push_back(TensorArg("betaOptional", {4}, ACL_FLOAT16));
  op.valid.push_back(IntegerArg("axis", -1));
  op.valid.push_back(RealArg("epsilon", 1e-6));
  op.valid.push_back(IntegerArg("divMode", 1));
  op.valid.push_back(OutputArg("y1Out", {2, 4}, ACL_INT8));
  op.valid.push_back(OutputArg("y2Out", {2, 4}, ACL_INT8));
  op.valid.push_back(OutputArg("xOut", {2, 4}, ACL_FLOAT16));
  if (is_second) {
    op.valid.push_back(OutputArg("rmsNormOutOptional", {2, 4}, ACL_FLOAT16));
    op.valid.back().null = true;
  }
  op.takes_workspace = true;
  op.tolerance = 1e-3;
  op.is_inexact = true;
  const auto dtypes = [=](PlanCall& call) {
    const auto is_scale = [](DtypeNumber d) { return d == ACL_FLOAT || d == ACL_FLOAT16 || d == ACL_BF16; };
    for (const char* const name : {"x1", "x2", "gamma"}) {
      if (!kSinceA2.Has(call.product, call[name].dtype)) return true;
    }
    for (const char* const name : {"scales1", "scales2Optional"}) {
      if (!call[name].null && !is_scale(call[name].dtype)) return true;
    }
    for (const char* const name : {"zeroPoints1Optional", "zeroPoints2Optional"}) {
      const bool is_byte = is_second && name == std::string("zeroPoints1Optional");
      if (!call[name].null && !is_scale(call[name].dtype) && call[name].dtype != ACL_INT32 &&
          !(is_byte && call[name].dtype == ACL_INT8))
        return true;
    }
    const DtypeNumber y = call["y1Out"].dtype;
    return (y != ACL_INT8 && !IsFloat8(y)) || call["y2Out"].dtype != y;
  };
  const auto ranks = [=](PlanCall& call) {
    for (const PlanArgument& one : call.arguments) {
      if (one.kind == ParameterKind::kTensor && !one.null && (one.shape.empty() || one.shape.size() > 8))
        return true;
    }
    return false;
  };
  if (!is_second) {
    op.rules = {NoNulls("x1 x2 gamma scales1 y1Out y2Out xOut"),
                Refuses(161002, "", dtypes),
                Refuses(161002, "xOut",
                        [](PlanCall& call) {
                          const DtypeNumber d = call["xOut"].dtype;
                          return d != ACL_FLOAT && d != ACL_FLOAT16 && d != ACL_BF16;
                        }),
                Refuses(161002, "", ranks),
                DoneIfEmpty("x1"),
                DoneIfEmpty("gamma"),
                DoneIfEmpty("y2Out")};
  } else {
    op.rules = {NoNulls("x1 x2 gamma scales1 y1Out y2Out"),
                DoneIfEmpty("x1"),
                DoneIfEmpty("gamma"),
                DoneIfEmpty("y2Out"),
                Refuses(161001, "xOut", [](PlanCall& call) { return !IsSingle(call) && call["xOut"].null; }),
                Refuses(161001, "rmsNormOutOptional",
                        [](PlanCall& call) { return !IsSingle(call) && !call["rmsNormOutOptional"].null; }),
                Refuses(161002, "", ranks),
                Refuses(161002, "", dtypes)};
  }
  op.rules.push_back(Refuses(is_second ? 161002 : 561103, "", [=](PlanCall& call) {
    const DtypeNumber x = call["x1"].dtype;
    std::vector<std::string> names = {"x2", "gamma", "xOut"};
    if (is_second) names.insert(names.end(), {"betaOptional", "rmsNormOutOptional"});
    for (const std::string& name : names) {
      if (!call[name].null && call[name].dtype != x) return true;
    }
    return !IsOn950(call) && (x == ACL_FLOAT || call["y1Out"].dtype != ACL_INT8);
  }));
  op.rules.push_back(Refuses(is_second ? 161002 : 561002, "", [=](PlanCall& call) {
    const Shape& x = call["x1"].shape;
    const Shape& gamma = call["gamma"].shape;
    std::vector<std::string> names = {"x2", "y1Out", "y2Out", "xOut"};
    if (is_second) names.push_back("rmsNormOutOptional");
    for (const std::string& name : names) {
      if (!call[name].null && call[name].shape != x) return true;
    }
    if (!IsTail(x, gamma) || (is_second && !call["betaOptional"].null && call["betaOptional"].shape != gamma))
      return true;
    for (const char* const name :
         {"scales1", "scales2Optional", "zeroPoints1Optional", "zeroPoints2Optional"}) {
      if (!call[name].null && call[name].shape != gamma && call[name].shape != Shape{1}) return true;
    }
    return !call["zeroPoints2Optional"].null && call["scales2Optional"].null;
  }));
  op.rules.push_back(Refuses(561002, "epsilon", [](PlanCall& call) { return !(call["epsilon"].real >= 0); }));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t columns = DrawColumns(random);
    Shape x = {random.Between(1, 5), columns};
    if (random.Chance(30)) x.insert(x.begin(), random.Between(1, 3));
    const DtypeNumber dtype = DrawDtype(random, kHalfDtypes);
    for (const char* const name : {"x1", "x2"}) call[name] = TensorArg(name, x, dtype);
    call["gamma"] = TensorArg("gamma", {columns}, dtype);
    const bool is_one = random.Chance(30);
    const Shape scale = {is_one ? 1 : columns};
    const bool is_bf16 = dtype == ACL_BF16;
    call["scales1"] = TensorArg("scales1", scale, is_bf16 ? ACL_BF16 : ACL_FLOAT);
    call["scales2Optional"] = TensorArg("scales2Optional", scale, is_bf16 ? ACL_BF16 : ACL_FLOAT);
    call["scales2Optional"].null = random.Chance(40);
    for (const char* const name : {"zeroPoints1Optional", "zeroPoints2Optional"}) {
      call[name] = TensorArg(name, scale, is_bf16 ? ACL_BF16 : ACL_INT32);
      call[name].null = random.Chance(40);
    }
    if (call["scales2Optional"].null) call["zeroPoints2Optional"].null = true;
    if (is_second && random.Chance(20)) call["zeroPoints1Optional"].dtype = ACL_INT8;
    call["divMode"].integer = random.Chance(60);
    for (const char* const name : {"y1Out", "y2Out"}) call[name] = OutputArg(name, x, ACL_INT8);
    call["xOut"] = OutputArg("xOut", x, dtype);
    if (!is_second) return;
    call["betaOptional"] = TensorArg("betaOptional", {columns}, dtype);
    call["betaOptional"].null = random.Chance(40);
    call["rmsNormOutOptional"] = OutputArg("rmsNormOutOptional", x, dtype);
    call["rmsNormOutOptional"].null = true;
    if (random.Chance(20)) {
      call["divMode"].integer = 1;
      call["scales1"].shape = call["zeroPoints1Optional"].shape = {1};
      call["zeroPoints1Optional"].null = false;
      call["scales2Optional"].null = call["zeroPoints2Optional"].null = true;
      call["betaOptional"].null = call["xOut"].null = true;
      call["rmsNormOutOptional"].null = false;
    }
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (size_t i = 0; i < 3; ++i) SetNumbers(tensors[i], random);
    for (size_t i = 3; i < 5; ++i) {
      // Powers of two: what is divided by them is exact.
      for (int64_t k = 0; k < tensors[i].size(); ++k)
        tensors[i].Set(k,
                       std::ldexp(random.Chance(20) ? -1.0 : 1.0, static_cast<int>(random.Between(-4, 0))));
    }
    for (size_t i = 5; i < 7; ++i) {
      if (IsIntegerDtype(tensors[i].dtype())) {
        SetIntegers(tensors[i], -20, 20, random);
      } else {
        for (int64_t k = 0; k < tensors[i].size(); ++k)
          tensors[i].Set(k, static_cast<double>(random.Between(-20, 20)));
      }
    }
    if (call.arguments[7].kind == ParameterKind::kTensor) SetNumbers(tensors[7], random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x1(call, tensors, "x1");
    const Numbers x2(call, tensors, "x2");
    const Numbers gamma(call, tensors, "gamma");
    const bool is_half = x1.dtype() == ACL_FLOAT16;
    const bool has_beta = is_second && !call["betaOptional"].null;
    const bool rounds_steps = is_half && NumElements(call["scales1"].shape) != 1;
    const Rows rows = NormedRows(x1, &x2, gamma, call["epsilon"].real, rounds_steps || (!is_half && has_beta),
                                 rounds_steps);
    std::vector<Outcome> outcomes;
    for (const auto& [scales_name, zeros_name] :
         {std::pair{"scales1", "zeroPoints1Optional"}, std::pair{"scales2Optional", "zeroPoints2Optional"}}) {
      outcomes.emplace_back();
      const Numbers scales(call, tensors, scales_name);
      const Numbers zeros(call, tensors, zeros_name);
      for (int64_t i = 0; i < x1.size(); ++i) {
        if (!scales.is_given()) {
          outcomes.back().emplace_back(std::nullopt);
          continue;
        }
        const int64_t h = i % gamma.size();
        auto n = static_cast<float>(rows.normed[static_cast<size_t>(i)]);
        if (has_beta) n = n + FloatAt(Numbers(call, tensors, "betaOptional"), h);
        const float scale = FloatAt(scales, scales.size() == 1 ? 0 : h);
        float y = call["divMode"].integer != 0 ? n / scale : n * scale;
        if (zeros.is_given()) y = y + FloatAt(zeros, zeros.size() == 1 ? 0 : h);
        outcomes.back().emplace_back(Element{static_cast<std::byte>(QuantisedCode(ACL_INT8, y))});
      }
    }
    outcomes.push_back(call["xOut"].null ? Outcome() : EncodedAll(x1.dtype(), rows.sum));
    if (is_second)
      outcomes.push_back(call["rmsNormOutOptional"].null ? Outcome() : EncodedAll(x1.dtype(), rows.normed));
    return outcomes;
  };
  return op;
}

// ---- AddRmsNormDynamicQuant, V2 ----

OperatorSpec Dynamic(const CFunction& function, bool is_second) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x1", {2, 8}, ACL_FLOAT16), TensorArg("x2", {2, 8}, ACL_FLOAT16),
              TensorArg("gamma", {8}, ACL_FLOAT16), TensorArg("smoothScale1Optional", {8}, ACL_FLOAT16),
              TensorArg("smoothScale2Optional", {8}, ACL_FLOAT16)};
  if (is_second) op.valid.push_back(TensorArg("betaOptional", {8}, ACL_FLOAT16));
  op.valid.push_back(RealArg("epsilon", 1e-6));
  if (is_second) {
    op.valid.push_back(ArrayArg("outputMaskOptional", {1, 1}));
    op.valid.back().null = true;
  }
  op.valid.push_back(OutputArg("y1Out", {2, 8}, ACL_INT8));
  op.valid.push_back(OutputArg("y2Out", {2, 8}, ACL_INT8));
  op.valid.push_back(OutputArg("xOut", {2, 8}, ACL_FLOAT16));
  op.valid.push_back(OutputArg("scale1Out", {2}));
  op.valid.push_back(OutputArg("scale2Out", {2}));
  op.takes_workspace = true;
  op.tolerance = 1e-3;
  const auto has_mask = [=](const PlanCall& call) { return is_second && !call["outputMaskOptional"].null; };
  const auto wants = [=](const PlanCall& call, size_t i) {
    if (has_mask(call)) {
      const auto& mask = call["outputMaskOptional"].values;
      return i < mask.size() && mask[i] != 0;
    }
    return i == 0 || (!call["smoothScale1Optional"].null && !call["smoothScale2Optional"].null);
  };
  const auto types_wrong = [=](PlanCall& call) {
    const DtypeNumber x = call["x1"].dtype;
    if (!IsSinceA2(call) || (x != ACL_FLOAT16 && x != ACL_BF16)) return true;
    std::vector<std::string> names = {"x2", "gamma", "xOut", "smoothScale1Optional", "smoothScale2Optional"};
    if (is_second) names.push_back("betaOptional");
    for (const std::string& name : names) {
      if (!call[name].null && call[name].dtype != x) return true;
    }
    for (size_t i = 0; i < 2; ++i) {
      if (!wants(call, i)) continue;
      if (!IsOneOfCodes(call, call[i == 0 ? "y1Out" : "y2Out"].dtype)) return true;
      if (call[i == 0 ? "scale1Out" : "scale2Out"].dtype != ACL_FLOAT) return true;
    }
    return false;
  };
  if (is_second) {
    op.rules = {
        Refuses(161002, "",
                [=](PlanCall& call) {
                  const bool first = !call["smoothScale1Optional"].null;
                  const bool second = !call["smoothScale2Optional"].null;
                  if (!has_mask(call)) return second && !first;
                  const auto& mask = call["outputMaskOptional"].values;
                  if (mask.size() != 2 || (mask[0] == 0 && mask[1] == 0)) return true;
                  return (first && mask[0] == 0) || (second && mask[1] == 0);
                }),
        NoNulls("x1 x2 gamma xOut"),
        Refuses(161001, "",
                [=](PlanCall& call) {
                  if (wants(call, 0) && (call["y1Out"].null || call["scale1Out"].null)) return true;
                  return call["y2Out"].null || (wants(call, 1) && call["scale2Out"].null);
                }),
        DoneIfEmpty("x1"),
        DoneIfEmpty("x2"),
        DoneIfEmpty("gamma"),
        DoneIfEmpty("y2Out"),
        Refuses(161002, "",
                [=](PlanCall& call) {
                  if (wants(call, 0) && wants(call, 1) && call["y1Out"].dtype != call["y2Out"].dtype)
                    return true;
                  for (size_t i = 0; i < 2; ++i) {
                    const PlanArgument& y = call[i == 0 ? "y1Out" : "y2Out"];
                    if (wants(call, i) && y.dtype == ACL_INT32 && !IsShapeOfCodes(call["x1"].shape, y))
                      return true;
                  }
                  return false;
                }),
        Refuses(561103, "", types_wrong)};
  } else {
    op.rules = {NoNulls("x1 x2 gamma y1Out y2Out xOut scale1Out scale2Out"), Refuses(161002, "", types_wrong),
                DoneIfEmpty("x1"), DoneIfEmpty("gamma")};
  }
  op.rules.push_back(Refuses(561002, "", [=](PlanCall& call) {
    const Shape& x = call["x1"].shape;
    if (x.size() < 2 || x.size() > 8 || call["x2"].shape != x || call["xOut"].shape != x) return true;
    const Shape row = {x.back()};
    if (call["gamma"].shape != row) return true;
    std::vector<std::string> names = {"smoothScale1Optional", "smoothScale2Optional"};
    if (is_second) names.push_back("betaOptional");
    for (const std::string& name : names) {
      if (!call[name].null && call[name].shape != row) return true;
    }
    for (size_t i = 0; i < 2; ++i) {
      if (!wants(call, i)) continue;
      if (!IsShapeOfCodes(x, call[i == 0 ? "y1Out" : "y2Out"])) return true;
      if (call[i == 0 ? "scale1Out" : "scale2Out"].shape != Shape(x.begin(), x.end() - 1)) return true;
    }
    return !(call["epsilon"].real >= 0);
  }));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber y = random.Chance(30) ? ACL_INT32 : ACL_INT8;
    const int64_t columns = y == ACL_INT32 ? 8 * random.Between(1, 4) : DrawColumns(random);
    Shape x = {random.Between(1, 5), columns};
    if (random.Chance(30)) x.insert(x.begin(), random.Between(1, 3));
    const DtypeNumber dtype = DrawDtype(random, kHalfDtypes);
    for (const char* const name : {"x1", "x2"}) call[name] = TensorArg(name, x, dtype);
    call["gamma"] = TensorArg("gamma", {columns}, dtype);
    for (const char* const name : {"smoothScale1Optional", "smoothScale2Optional"}) {
      call[name] = TensorArg(name, {columns}, dtype);
      call[name].null = random.Chance(40);
    }
    if (is_second) {
      call["betaOptional"] = TensorArg("betaOptional", {columns}, dtype);
      call["betaOptional"].null = random.Chance(40);
      call["outputMaskOptional"].null = random.Chance(50);
      if (!call["outputMaskOptional"].null) {
        const bool first = random.Chance(60);
        call["outputMaskOptional"].values = {first ? 1 : 0, !first || random.Chance(50) ? 1 : 0};
        if (!first) call["smoothScale1Optional"].null = true;
        if (call["outputMaskOptional"].values[1] == 0) call["smoothScale2Optional"].null = true;
      } else if (call["smoothScale1Optional"].null) {
        call["smoothScale2Optional"].null = true;
      }
    }
    Shape codes = x;
    if (y == ACL_INT32) codes.back() /= 8;
    for (const char* const name : {"y1Out", "y2Out"}) call[name] = OutputArg(name, codes, y);
    call["xOut"] = OutputArg("xOut", x, dtype);
    for (const char* const name : {"scale1Out", "scale2Out"})
      call[name] = OutputArg(name, Shape(x.begin(), x.end() - 1));
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (HostTensor& tensor : tensors) {
      if (tensor.dtype() == ACL_FLOAT16 || tensor.dtype() == ACL_BF16) SetNumbers(tensor, random);
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x1(call, tensors, "x1");
    const Numbers x2(call, tensors, "x2");
    const Numbers gamma(call, tensors, "gamma");
    const Rows rows = NormedRows(x1, &x2, gamma, call["epsilon"].real, false, false);
    const int64_t columns = gamma.size();
    const int64_t count = x1.size() / columns;
    std::vector<Outcome> codes;
    std::vector<Outcome> scales;
    for (size_t k = 0; k < 2; ++k) {
      const Numbers smooth(call, tensors, k == 0 ? "smoothScale1Optional" : "smoothScale2Optional");
      const DtypeNumber y = call[k == 0 ? "y1Out" : "y2Out"].dtype;
      std::vector<std::optional<uint32_t>> all(static_cast<size_t>(x1.size()));
      Outcome steps(static_cast<size_t>(count), std::nullopt);
      for (int64_t row = 0; wants(call, k) && row < count; ++row) {
        std::vector<float> numbers;
        for (int64_t h = 0; h < columns; ++h) {
          auto n = static_cast<float>(rows.normed[static_cast<size_t>(row * columns + h)]);
          if (is_second && !call["betaOptional"].null)
            n = n + FloatAt(Numbers(call, tensors, "betaOptional"), h);
          if (smooth.is_given()) n = n * FloatAt(smooth, h);
          numbers.push_back(n);
        }
        const RowCodes one = DynamicRow(numbers, CodeDtype(y), false, false, GreatestCode(CodeDtype(y)));
        for (int64_t h = 0; h < columns; ++h)
          all[static_cast<size_t>(row * columns + h)] = one.codes[static_cast<size_t>(h)];
        steps[static_cast<size_t>(row)] = Encoded(ACL_FLOAT, static_cast<double>(one.scale));
      }
      codes.push_back(OutcomeOfCodes(y, all));
      scales.push_back(steps);
    }
    return std::vector<Outcome>{codes[0], codes[1], EncodedAll(x1.dtype(), rows.sum), scales[0], scales[1]};
  };
  return op;
}

// ---- RmsNormQuant ----

OperatorSpec Plain() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnRmsNormQuant);
  op.valid = {TensorArg("x", {2, 8}, ACL_FLOAT16), TensorArg("gamma", {8}, ACL_FLOAT16),
              TensorArg("beta", {8}, ACL_FLOAT16), TensorArg("scale", {1}, ACL_FLOAT16),
              TensorArg("offset", {1}, ACL_INT8),  RealArg("epsilon", 1e-6),
              OutputArg("y", {2, 8}, ACL_INT8)};
  op.takes_workspace = true;
  op.tolerance = 1e-3;
  op.rules = {
      NoNulls("x gamma beta scale offset y"),
      RefusedDtype("x",
                   [](const PlanCall& call, DtypeNumber dtype) {
                     if (dtype == ACL_FLOAT) return IsOn950(call);
                     return (dtype == ACL_FLOAT16 || dtype == ACL_BF16) && call.product != Product::k910;
                   }),
      SameDtype("x", "gamma"),
      SameDtype("x", "beta"),
      RefusedDtype("y",
                   [](const PlanCall& call, DtypeNumber dtype) {
                     return dtype == ACL_INT8 || dtype == ACL_INT4 || dtype == ACL_INT32 ||
                            (IsOn950(call) && IsFloat8(dtype));
                   }),
      Refuses(161002, "",
              [](PlanCall& call) {
                const DtypeNumber x = call["x"].dtype;
                const DtypeNumber scale = call["scale"].dtype;
                const DtypeNumber offset = call["offset"].dtype;
                if (!IsOn950(call)) return scale != x || offset != ACL_INT8;
                if (x == ACL_FLOAT) return scale != x || offset != x;
                if (scale != x && scale != ACL_FLOAT) return true;
                return scale == ACL_FLOAT ? offset != ACL_FLOAT && offset != ACL_INT32
                                          : offset != x && offset != ACL_INT8;
              }),
      Refuses(161002, "",
              [](PlanCall& call) {
                const Shape& x = call["x"].shape;
                const Shape& gamma = call["gamma"].shape;
                if (x.empty() || x.size() > 8 || gamma.empty() || gamma.size() > 2) return true;
                if (gamma.back() != x.back() || (gamma.size() == 2 && gamma[0] != 1)) return true;
                if (!IsShapeOfCodes(x, call["y"]) || call["beta"].shape != gamma) return true;
                const Shape& scale = call["scale"].shape;
                if (call["offset"].shape != scale) return true;
                return NumElements(scale) != 1 && !(IsOn950(call) && scale == Shape{x.back()});
              }),
      DoneIfEmpty("x"),
      Refuses(561103, "y", [](PlanCall& call) { return !IsOn950(call) && call["y"].dtype == ACL_INT4; }),
      Refuses(561002, "epsilon", [](PlanCall& call) { return !(call["epsilon"].real >= 0); })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber y = random.Chance(30) ? ACL_INT32 : ACL_INT8;
    const int64_t columns = y == ACL_INT32 ? 8 * random.Between(1, 4) : DrawColumns(random);
    Shape x = {random.Between(1, 5), columns};
    const DtypeNumber dtype = DrawDtype(random, kHalfDtypes);
    call["x"] = TensorArg("x", x, dtype);
    const Shape gamma = random.Chance(50) ? Shape{columns} : Shape{1, columns};
    call["gamma"] = TensorArg("gamma", gamma, dtype);
    call["beta"] = TensorArg("beta", gamma, dtype);
    call["scale"] = TensorArg("scale", {1}, dtype);
    call["offset"] = TensorArg("offset", {1}, ACL_INT8);
    if (y == ACL_INT32) x.back() /= 8;
    call["y"] = OutputArg("y", x, y);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (size_t i = 0; i < 3; ++i) SetNumbers(tensors[i], random);
    for (int64_t k = 0; k < tensors[3].size(); ++k)
      tensors[3].Set(k, std::ldexp(1.0, static_cast<int>(random.Between(-5, 0))));
    SetIntegers(tensors[4], -20, 20, random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers gamma(call, tensors, "gamma");
    const Numbers beta(call, tensors, "beta");
    const Rows rows = NormedRows(x, nullptr, gamma, call["epsilon"].real, false, false);
    std::vector<std::optional<uint32_t>> codes;
    for (int64_t i = 0; i < x.size(); ++i) {
      const auto n =
          static_cast<float>(rows.normed[static_cast<size_t>(i)]) + FloatAt(beta, i % gamma.size());
      float y = n * (1.0f / FloatAt(Numbers(call, tensors, "scale"), 0)) +
                FloatAt(Numbers(call, tensors, "offset"), 0);
      if (!IsOn950(call)) y = static_cast<float>(RoundedTo(ACL_FLOAT16, static_cast<double>(y)));
      codes.emplace_back(QuantisedCode(CodeDtype(call["y"].dtype), y));
    }
    return std::vector<Outcome>{OutcomeOfCodes(call["y"].dtype, codes)};
  };
  return op;
}

// ---- RmsNormQuantV3, RmsNormDynamicQuant ----

OperatorSpec Third() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnRmsNormQuantV3);
  op.valid = {TensorArg("x", {2, 8}, ACL_FLOAT16),
              TensorArg("gamma", {8}, ACL_FLOAT16),
              TensorArg("scale", {1}, ACL_FLOAT16),
              TensorArg("offsetOptional", {1}, ACL_INT8),
              TensorArg("betaOptional", {8}, ACL_FLOAT16),
              RealArg("epsilon", 1e-6),
              IntegerArg("divMode", 1),
              IntegerArg("outputRstd", 1),
              OutputArg("y", {2, 8}, ACL_INT8),
              OutputArg("rstd", {2, 1})};
  op.takes_workspace = true;
  op.tolerance = 1e-3;
  op.numbers_on = Product::k950;
  const auto has_rstd = [](const PlanCall& call) { return call["outputRstd"].integer != 0; };
  op.rules = {NoNulls("x gamma scale y"),
              Refuses(161001, "rstd", [=](PlanCall& call) { return has_rstd(call) && call["rstd"].null; }),
              Refuses(161002, "",
                      [](PlanCall& call) {
                        const size_t gamma = call["gamma"].shape.size();
                        if (gamma < 1 || gamma > 2 || call["scale"].shape.size() != 1) return true;
                        return call["y"].dtype == ACL_INT32 && !IsShapeOfCodes(call["x"].shape, call["y"]);
                      }),
              Refuses(561103, "",
                      [=](PlanCall& call) {
                        if (!IsOn950(call)) return true;
                        const DtypeNumber x = call["x"].dtype;
                        const DtypeNumber scale = call["scale"].dtype;
                        if (!IsOneOf(x, kRowDtypes) || call["gamma"].dtype != x) return true;
                        if (!call["betaOptional"].null && call["betaOptional"].dtype != x) return true;
                        if (scale != x && scale != ACL_FLOAT) return true;
                        if (!call["offsetOptional"].null) {
                          const DtypeNumber offset = call["offsetOptional"].dtype;
                          if (x == ACL_FLOAT       ? offset != x
                              : scale == ACL_FLOAT ? offset != ACL_FLOAT && offset != ACL_INT32
                                                   : offset != x && offset != ACL_INT8)
                            return true;
                          if (call["offsetOptional"].shape != call["scale"].shape) return true;
                        }
                        if (!IsOneOfCodes(call, call["y"].dtype)) return true;
                        const Shape& shape = call["x"].shape;
                        const Shape& gamma = call["gamma"].shape;
                        if (shape.empty() || shape.size() > 8 || !IsShapeOfCodes(shape, call["y"]))
                          return true;
                        if (gamma.back() != shape.back() || (gamma.size() == 2 && gamma[0] != 1)) return true;
                        if (!call["betaOptional"].null && call["betaOptional"].shape != gamma) return true;
                        if (call["scale"].shape[0] != 1 && call["scale"].shape[0] != shape.back())
                          return true;
                        if (!(call["epsilon"].real >= 0)) return true;
                        if (!has_rstd(call)) return false;
                        Shape rows = shape;
                        rows.back() = 1;
                        return call["rstd"].dtype != ACL_FLOAT || call["rstd"].shape != rows;
                      }),
              DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DtypeNumber y = random.Chance(30) ? ACL_INT32 : ACL_INT8;
    if (IsOn950(call) && random.Chance(30))
      y = DrawDtype(random, {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN});
    const int64_t columns = y == ACL_INT32 ? 8 * random.Between(1, 4) : DrawColumns(random);
    Shape x = {random.Between(1, 5), columns};
    const DtypeNumber dtype = DrawDtype(random, kHalfDtypes);
    call["x"] = TensorArg("x", x, dtype);
    const Shape gamma = random.Chance(50) ? Shape{columns} : Shape{1, columns};
    call["gamma"] = TensorArg("gamma", gamma, dtype);
    call["betaOptional"] = TensorArg("betaOptional", gamma, dtype);
    call["betaOptional"].null = random.Chance(40);
    const Shape scale = {random.Chance(50) ? 1 : columns};
    call["scale"] = TensorArg("scale", scale, dtype);
    call["offsetOptional"] = TensorArg("offsetOptional", scale, ACL_INT8);
    call["offsetOptional"].null = random.Chance(40);
    call["divMode"].integer = random.Chance(50);
    call["outputRstd"].integer = random.Chance(50);
    call["rstd"] = OutputArg("rstd", {x[0], 1});
    if (y == ACL_INT32) x.back() /= 8;
    call["y"] = OutputArg("y", x, y);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (const size_t i : {size_t{0}, size_t{1}, size_t{4}}) SetNumbers(tensors[i], random);
    for (int64_t k = 0; k < tensors[2].size(); ++k)
      tensors[2].Set(k, std::ldexp(1.0, static_cast<int>(random.Between(-3, 3))));
    SetIntegers(tensors[3], -20, 20, random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers gamma(call, tensors, "gamma");
    const Numbers beta(call, tensors, "betaOptional");
    const Numbers scale(call, tensors, "scale");
    const Numbers offset(call, tensors, "offsetOptional");
    const double eps = call["epsilon"].real;
    const Rows rows = NormedRows(x, nullptr, gamma, eps, false, false);
    const int64_t columns = gamma.size();
    std::vector<std::optional<uint32_t>> codes;
    for (int64_t i = 0; i < x.size(); ++i) {
      auto n = static_cast<float>(rows.normed[static_cast<size_t>(i)]);
      if (beta.is_given()) n = n + FloatAt(beta, i % columns);
      const float step = FloatAt(scale, scale.size() == 1 ? 0 : i % columns);
      float y = call["divMode"].integer != 0 ? n / step : n * step;
      if (offset.is_given()) y = y + FloatAt(offset, scale.size() == 1 ? 0 : i % columns);
      codes.emplace_back(QuantisedCode(CodeDtype(call["y"].dtype), y));
    }
    std::vector<double> roots;
    for (int64_t row = 0; row < x.size() / columns; ++row) {
      double squares = 0;
      for (int64_t h = 0; h < columns; ++h) squares += x.At(row, h) * x.At(row, h);
      roots.push_back(1.0 / std::sqrt(squares / static_cast<double>(columns) + eps));
    }
    return std::vector<Outcome>{
        OutcomeOfCodes(call["y"].dtype, codes),
        has_rstd(call) ? EncodedAll(ACL_FLOAT, roots) : Outcome(roots.size(), std::nullopt)};
  };
  return op;
}

OperatorSpec OwnScale() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnRmsNormDynamicQuant);
  op.valid = {TensorArg("x", {2, 8}, ACL_FLOAT16),
              TensorArg("gamma", {8}, ACL_FLOAT16),
              TensorArg("smoothScalesOptional", {8}, ACL_FLOAT16),
              TensorArg("betaOptional", {8}, ACL_FLOAT16),
              RealArg("epsilon", 1e-6),
              IntegerArg("dstType", ACL_INT8),
              OutputArg("yOut", {2, 8}, ACL_INT8),
              OutputArg("scaleOut", {2})};
  op.takes_workspace = true;
  op.tolerance = 1e-3;
  op.rules = {NoNulls("x gamma yOut scaleOut"),
              RefusedDtype("x",
                           [](const PlanCall& call, DtypeNumber dtype) {
                             return IsSinceA2(call) && (dtype == ACL_FLOAT16 || dtype == ACL_BF16);
                           }),
              SameDtype("x", "gamma"),
              Given("smoothScalesOptional", SameDtype("x", "smoothScalesOptional")),
              Given("betaOptional", SameDtype("x", "betaOptional")),
              DtypeIn("yOut", Listed{{ACL_INT8}}),
              DtypeIn("scaleOut", kFloatAlone),
              Refuses(561002, "",
                      [](PlanCall& call) {
                        const Shape& x = call["x"].shape;
                        if (x.size() < 2 || x.size() > 8) return true;
                        const Shape row = {x.back()};
                        if (call["gamma"].shape != row || call["yOut"].shape != x) return true;
                        for (const char* const name : {"smoothScalesOptional", "betaOptional"}) {
                          if (!call[name].null && call[name].shape != row) return true;
                        }
                        return call["scaleOut"].shape != Shape(x.begin(), x.end() - 1) ||
                               call["dstType"].integer != ACL_INT8 || !(call["epsilon"].real >= 0);
                      }),
              DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t columns = DrawColumns(random);
    Shape x = {random.Between(1, 5), columns};
    if (random.Chance(30)) x.insert(x.begin(), random.Between(1, 3));
    const DtypeNumber dtype = DrawDtype(random, kHalfDtypes);
    call["x"] = TensorArg("x", x, dtype);
    call["gamma"] = TensorArg("gamma", {columns}, dtype);
    for (const char* const name : {"smoothScalesOptional", "betaOptional"}) {
      call[name] = TensorArg(name, {columns}, dtype);
      call[name].null = random.Chance(40);
    }
    call["yOut"] = OutputArg("yOut", x, ACL_INT8);
    call["scaleOut"] = OutputArg("scaleOut", Shape(x.begin(), x.end() - 1));
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (size_t i = 0; i < 4; ++i) SetNumbers(tensors[i], random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers gamma(call, tensors, "gamma");
    const Numbers smooth(call, tensors, "smoothScalesOptional");
    const Numbers beta(call, tensors, "betaOptional");
    const Rows rows = NormedRows(x, nullptr, gamma, call["epsilon"].real, false, false);
    const int64_t columns = gamma.size();
    std::vector<std::optional<uint32_t>> codes;
    std::vector<double> steps;
    for (int64_t row = 0; row < x.size() / columns; ++row) {
      std::vector<float> numbers;
      for (int64_t h = 0; h < columns; ++h) {
        auto n = static_cast<float>(rows.normed[static_cast<size_t>(row * columns + h)]);
        if (beta.is_given()) n = n + FloatAt(beta, h);
        if (smooth.is_given()) n = n * FloatAt(smooth, h);
        numbers.push_back(n);
      }
      const RowCodes one = DynamicRow(numbers, ACL_INT8, false, false, 127);
      for (const uint32_t code : one.codes) codes.emplace_back(code);
      steps.push_back(static_cast<double>(one.scale));
    }
    return std::vector<Outcome>{OutcomeOfCodes(ACL_INT8, codes), EncodedAll(ACL_FLOAT, steps)};
  };
  return op;
}

const std::vector<OperatorSpec>& All() {
  static const std::vector<OperatorSpec> all = {
      Static(PORTACL_C_FUNCTION(aclnnAddRmsNormQuant), false),
      Static(PORTACL_C_FUNCTION(aclnnAddRmsNormQuantV2), true),
      Dynamic(PORTACL_C_FUNCTION(aclnnAddRmsNormDynamicQuant), false),
      Dynamic(PORTACL_C_FUNCTION(aclnnAddRmsNormDynamicQuantV2), true),
      Plain(),
      Third(),
      OwnScale()};
  return all;
}
PORTACL_OPERATOR_TESTS(NormQuantTest, All());

}  // namespace
}  // namespace portacl::testing
