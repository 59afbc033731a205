// Steps of Adam and its kin, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "foreach/list_calls.h"

#include "aclnnop/families/optimizers.h"
#include "gtest/gtest.h"

namespace portacl::testing {
namespace {

const DtypeList kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const Listed kFloatsOfProduct = {{ACL_FLOAT, ACL_FLOAT16}, {ACL_BF16}};

Element ElementOf(DtypeNumber dtype, double value) {
  return ElementOfNumber(dtype, {static_cast<long double>(value), 0});
}
double OneOf(RandomNumbers& random, const std::vector<double>& values) {
  return values[static_cast<size_t>(random.Below(std::ssize(values)))];
}
void FillWith(HostTensor& tensor, const std::function<double()>& value) {
  for (int64_t k = 0; k < tensor.size(); ++k) {
    if (tensor.dtype() == ACL_INT64) {
      EncodeIntegerElement(ACL_INT64, static_cast<int64_t>(value()), tensor.Element(k));
    } else {
      EncodeElement(tensor.dtype(), value(), tensor.Element(k));
    }
  }
}
double Numbers(RandomNumbers& random) { return static_cast<double>(random.Between(-3000, 3000)) / 1000; }
double StepAt(const TensorValues& step) {
  return step.dtype == ACL_INT64 ? static_cast<double>(step.Integer(0)) : RealAt(step, 0);
}

// What a step makes of an element, in float64.
struct Adam {
  double lr, beta1, beta2, decay, eps;
  double rate;            // lr / m's correction
  double root_of_square;  // of v's correction
  bool is_decoupled, keeps_maximum, maximizes;

  struct Cell {
    double var, m, v, maximum;
  };
  Cell Next(Cell cell, double grad) const {
    double g = maximizes ? -grad : grad;
    if (is_decoupled) {
      cell.var *= 1 - lr * decay;
    } else {
      g += decay * cell.var;
    }
    cell.m += (1 - beta1) * (g - cell.m);
    cell.v = beta2 * cell.v + (1 - beta2) * g * g;
    double root_of = cell.v;
    if (keeps_maximum) root_of = cell.maximum = std::max(cell.maximum, cell.v);
    cell.var -= rate * (cell.m / (std::sqrt(root_of) / root_of_square + eps));
    return cell;
  }
};

// ---- FusedAdam, FusedAdamw ----

OperatorSpec Fused(const CFunction& function, bool is_decoupled) {
  OperatorSpec op;
  op.function = function;
  const std::vector<Shape> shapes = {{2, 3}, {4}};
  const std::string grads = is_decoupled ? "grads" : "gradsRef";
  op.valid = {ListArg("paramsRef", shapes, true),
              ListArg(grads, shapes, !is_decoupled),
              ListArg("expAvgsRef", shapes, true),
              ListArg("expAvgSqsRef", shapes, true),
              ListArg("maxExpAvgSqsRef", shapes, true),
              ListArg("stateSteps", {{1}, {}}),
              TensorArg("gradScaleOptional", {1}),
              TensorArg("foundInfOptional", {1}),
              RealArg("lr", 0.1),
              RealArg("beta1", 0.9),
              RealArg("beta2", 0.99),
              RealArg("weightDecay", 0.01),
              RealArg("eps", 0.01),
              IntegerArg("amsgrad", 1),
              IntegerArg("maximize", 0)};
  const std::vector<std::string> always = {"paramsRef", grads, "expAvgsRef", "expAvgSqsRef"};
  const auto lists_of = [=](const PlanCall& call) {
    std::vector<std::string> names = always;
    if (call["amsgrad"].integer != 0) names.emplace_back("maxExpAvgSqsRef");
    return names;
  };
  const std::string every = "paramsRef " + grads + " expAvgsRef expAvgSqsRef maxExpAvgSqsRef stateSteps";
  const auto has_number = [](const PlanCall& call, const std::string& name) {
    return !call[name].null && NumElements(call[name].shape) > 0;
  };
  op.rules = {Refuses(161002, "lr beta1 beta2 weightDecay maxExpAvgSqsRef",
                      [](PlanCall& call) {
                        for (const char* name : {"lr", "beta1", "beta2", "weightDecay"}) {
                          if (call[name].real < 0) return true;
                        }
                        return call["amsgrad"].integer != 0 && call["maxExpAvgSqsRef"].null;
                      }),
              Refuses(161001, every,
                      [=](PlanCall& call) {
                        std::vector<std::string> names = lists_of(call);
                        names.emplace_back("stateSteps");
                        for (const std::string& name : names) {
                          if (call[name].null) return true;
                          for (const PlanArgument& entry : call[name].entries) {
                            if (entry.null) return true;
                          }
                        }
                        return false;
                      }),
              Refuses(161002, every + " gradScaleOptional foundInfOptional",
                      [=](PlanCall& call) {
                        if (!IsNewProduct(call.product)) return true;
                        const auto& first = call["paramsRef"].entries;
                        if (first.empty() || !Has(kFloats, first[0].dtype)) return true;
                        for (const std::string& name : lists_of(call)) {
                          const auto& entries = call[name].entries;
                          if (entries.size() != first.size()) return true;
                          for (size_t i = 0; i < entries.size(); ++i) {
                            if (entries[i].dtype != first[0].dtype || entries[i].shape.size() > 8 ||
                                entries[i].shape != first[i].shape ||
                                entries[i].format == ACL_FORMAT_FRACTAL_NZ)
                              return true;
                          }
                        }
                        const auto& steps = call["stateSteps"].entries;
                        if (steps.size() != first.size()) return true;
                        for (const PlanArgument& step : steps) {
                          if (!Has({ACL_FLOAT, ACL_INT64}, step.dtype) || step.dtype != steps[0].dtype ||
                              NumElements(step.shape) == 0)
                            return true;
                        }
                        const DtypeList castable = {ACL_FLOAT,  ACL_FLOAT16, ACL_BF16,  ACL_DOUBLE, ACL_INT8,
                                                    ACL_UINT8,  ACL_INT16,   ACL_INT32, ACL_INT64,  ACL_BOOL,
                                                    ACL_UINT16, ACL_UINT32,  ACL_UINT64};
                        for (const char* name : {"gradScaleOptional", "foundInfOptional"}) {
                          if (has_number(call, name) && !Has(castable, call[name].dtype)) return true;
                        }
                        return false;
                      }),
              SucceedsIf([](PlanCall& call) {
                const auto& first = call["paramsRef"].entries;
                return std::all_of(first.begin(), first.end(),
                                   [](const PlanArgument& one) { return NumElements(one.shape) == 0; });
              })};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const std::vector<Shape> drawn = DrawShapes(random);
    const DtypeNumber dtype = DrawDtype(random, kFloats);
    call["amsgrad"].integer = random.Below(2);
    for (const std::string& name : always) call[name] = ListArg(name, drawn, name != "grads", dtype);
    call["maxExpAvgSqsRef"] = ListArg("maxExpAvgSqsRef", drawn, true, dtype);
    if (call["amsgrad"].integer == 0) {
      call["maxExpAvgSqsRef"].entries.clear();
      call["maxExpAvgSqsRef"].null = random.Chance(50);
    }
    call["stateSteps"] =
        ListArg("stateSteps", std::vector<Shape>(drawn.size(), random.Chance(50) ? Shape{} : Shape{1}), false,
                random.Chance(50) ? ACL_FLOAT : ACL_INT64);
    for (const char* name : {"gradScaleOptional", "foundInfOptional"}) {
      call[name].null = random.Chance(40);
      call[name].shape = random.Chance(15) ? Shape{0} : random.Chance(50) ? Shape{} : Shape{1};
    }
    call["lr"].real = OneOf(random, {0.1, 0.001});
    call["beta1"].real = OneOf(random, {0.9, 0.5, 0});
    call["beta2"].real = OneOf(random, {0.999, 0.5});
    call["weightDecay"].real = OneOf(random, {0, 0.01, 0.5});
    call["eps"].real = OneOf(random, {0.01, 0.5});
    call["maximize"].integer = random.Below(2);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const size_t count = call["paramsRef"].entries.size();
    const size_t maxima = call["maxExpAvgSqsRef"].null ? 0 : call["maxExpAvgSqsRef"].entries.size();
    const size_t steps = 4 * count + maxima;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const bool is_square = i >= 3 * count && i < steps;
      if (i < steps) {
        FillWith(tensors[i], [&] { return is_square ? std::fabs(Numbers(random)) : Numbers(random); });
      } else if (i < steps + count) {
        FillWith(tensors[i], [&] { return static_cast<double>(random.Between(1, 20)); });
      } else {
        const bool is_scale = i == steps + count;
        FillWith(tensors[i], [&] {
          return is_scale ? OneOf(random, {2, 0.5, 4}) : OneOf(random, {0, 0, 0, 1});
        });
      }
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const size_t count = call["paramsRef"].entries.size();
    const size_t maxima = call["maxExpAvgSqsRef"].null ? 0 : call["maxExpAvgSqsRef"].entries.size();
    const size_t steps = 4 * count + maxima;
    const bool keeps_maximum = call["amsgrad"].integer != 0;
    const bool has_scale = has_number(call, "gradScaleOptional");
    const double factor = has_scale ? 1 / RealAt(tensors[steps + count], 0) : 1;
    const bool is_found = has_number(call, "foundInfOptional") && RealAt(tensors[steps + count + 1], 0) == 1;
    // Outputs: params, gradients unless they are only read, m, v, maxima.
    const size_t of_grads = is_decoupled ? 0 : count;
    std::vector<Outcome> outcomes(3 * count + of_grads + maxima);
    for (size_t i = 0; i < count && !is_found; ++i) {
      const double t = StepAt(tensors[steps + i]);
      const double beta1 = call["beta1"].real;
      const double beta2 = call["beta2"].real;
      const Adam adam{call["lr"].real,
                      beta1,
                      beta2,
                      call["weightDecay"].real,
                      call["eps"].real,
                      call["lr"].real / (1 - std::pow(beta1, t)),
                      std::sqrt(1 - std::pow(beta2, t)),
                      is_decoupled,
                      keeps_maximum,
                      call["maximize"].integer != 0};
      const DtypeNumber dtype = tensors[i].dtype;
      for (int64_t k = 0; k < std::ssize(tensors[i].elements); ++k) {
        const double grad = RealAt(tensors[count + i], k) * factor;
        const Adam::Cell cell = adam.Next(
            {RealAt(tensors[i], k), RealAt(tensors[2 * count + i], k), RealAt(tensors[3 * count + i], k),
             keeps_maximum ? RealAt(tensors[4 * count + i], k) : 0},
            grad);
        outcomes[i].emplace_back(ElementOf(dtype, cell.var));
        if (!is_decoupled && has_scale) outcomes[count + i].emplace_back(ElementOf(dtype, grad));
        outcomes[count + of_grads + i].emplace_back(ElementOf(dtype, cell.m));
        outcomes[2 * count + of_grads + i].emplace_back(ElementOf(dtype, cell.v));
        if (keeps_maximum) outcomes[3 * count + of_grads + i].emplace_back(ElementOf(dtype, cell.maximum));
      }
    }
    return outcomes;
  };
  op.updates = true;
  op.is_inexact = true;
  op.tolerance = 5e-6;
  return op;
}

// ---- steps whose numbers are tensors ----

Rule ShapeIsVars(const std::string& name, const std::string& var, aclnnStatus code = 161002) {
  return Refuses(code, name + " " + var,
                 [=](PlanCall& call) { return !call[name].null && call[name].shape != call[var].shape; });
}
Rule HasOneElement(const std::string& names, aclnnStatus code = 161002) {
  return Refuses(code, names, [=](PlanCall& call) {
    for (const std::string& name : Words(names)) {
      if (NumElements(call[name].shape) != 1) return true;
    }
    return false;
  });
}

OperatorSpec AdamWOfTensors() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnApplyAdamW);
  const Shape shape = {2, 3};
  op.valid = {OutputArg("varRef", shape), OutputArg("mRef", shape), OutputArg("vRef", shape)};
  const std::string numbers = "beta1Power beta2Power lr weightDecay beta1 beta2 eps";
  for (const std::string& name : Words(numbers)) op.valid.push_back(TensorArg(name, {1}));
  op.valid.push_back(TensorArg("grad", shape));
  op.valid.push_back(TensorArg("maxGradNormOptional", shape));
  op.valid.push_back(IntegerArg("amsgrad", 0));
  op.valid.push_back(IntegerArg("maximize", 0));
  op.rules = {
      NoNulls("varRef mRef vRef " + numbers + " grad"),
      Refuses(
          161001, "maxGradNormOptional",
          [](PlanCall& call) { return call["amsgrad"].integer != 0 && call["maxGradNormOptional"].null; }),
      DtypeIn("varRef", kFloatsOfProduct),
      Refuses(161002, "varRef mRef vRef grad maxGradNormOptional " + numbers,
              [=](PlanCall& call) {
                for (const std::string& name : Words("mRef vRef grad maxGradNormOptional " + numbers)) {
                  if (!call[name].null && call[name].dtype != call["varRef"].dtype) return true;
                }
                return false;
              }),
      ShapeIsVars("mRef", "varRef"),
      ShapeIsVars("vRef", "varRef"),
      ShapeIsVars("grad", "varRef"),
      ShapeIsVars("maxGradNormOptional", "varRef"),
      HasOneElement(numbers),
      DoneIfEmpty("varRef")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape drawn = DrawShape(random, 0, 5, 4);
    if (random.Chance(4)) drawn = {20000};
    const DtypeNumber dtype = DrawDtype(random, kFloats);
    for (const char* name : {"varRef", "mRef", "vRef", "grad", "maxGradNormOptional"}) {
      call[name].shape = drawn;
      call[name].dtype = dtype;
    }
    for (const std::string& name : Words(numbers)) {
      call[name].dtype = dtype;
      call[name].shape = random.Chance(50) ? Shape{} : Shape{1};
    }
    call["amsgrad"].integer = random.Below(2);
    call["maximize"].integer = random.Below(2);
    call["maxGradNormOptional"].null = call["amsgrad"].integer == 0 && random.Chance(50);
  };
  // Numbers that every type holds: powers, rate, decay, betas, eps.
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const double held[] = {0.25, 0.5, 0.125, 0.5, 0.5, 0.75, 0.25};
    for (size_t i = 0; i < tensors.size(); ++i) {
      const bool is_number = i >= 3 && i < 10;
      FillWith(tensors[i], [&] {
        return is_number ? held[i - 3] : i == 2 || i == 11 ? std::fabs(Numbers(random)) : Numbers(random);
      });
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const auto number = [&](size_t i) { return RealAt(tensors[3 + i], 0); };
    const bool keeps_maximum = call["amsgrad"].integer != 0;
    const Adam adam{number(2),
                    number(4),
                    number(5),
                    number(3),
                    number(6),
                    number(2) / (1 - number(0) * number(4)),
                    std::sqrt(1 - number(1) * number(5)),
                    true,
                    keeps_maximum,
                    call["maximize"].integer != 0};
    std::vector<Outcome> outcomes(3);
    for (int64_t k = 0; k < std::ssize(tensors[0].elements); ++k) {
      const Adam::Cell cell = adam.Next({RealAt(tensors[0], k), RealAt(tensors[1], k), RealAt(tensors[2], k),
                                         keeps_maximum ? RealAt(tensors[11], k) : 0},
                                        RealAt(tensors[10], k));
      outcomes[0].emplace_back(ElementOf(tensors[0].dtype, cell.var));
      outcomes[1].emplace_back(ElementOf(tensors[1].dtype, cell.m));
      outcomes[2].emplace_back(ElementOf(tensors[2].dtype, cell.v));
    }
    return outcomes;
  };
  op.updates = true;
  op.is_inexact = true;
  op.tolerance = 5e-6;
  return op;
}

OperatorSpec AdamOfTensors() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnApplyAdam);
  op.numbers_on = Product::k950;
  const Shape shape = {2, 3};
  op.valid = {OutputArg("varRef", shape), OutputArg("m", shape), OutputArg("v", shape)};
  const std::string numbers = "beta1Power beta2Power lr beta1 beta2 epsilon";
  for (const std::string& name : Words(numbers)) op.valid.push_back(TensorArg(name, {1}));
  op.valid.push_back(TensorArg("grad", shape));
  op.valid.push_back(IntegerArg("useLocking", 0));
  op.valid.push_back(IntegerArg("useNesterov", 0));
  op.rules = {NoNulls("varRef m v " + numbers + " grad"),
              Refuses(161002, "varRef",
                      [](PlanCall& call) {
                        return call.product != Product::k950 || !Has(kFloats, call["varRef"].dtype);
                      }),
              SameDtype("varRef", "m"),
              SameDtype("varRef", "v"),
              SameDtype("varRef", "grad"),
              DtypeIn(numbers, {{ACL_FLOAT}}),
              ShapeIsVars("m", "varRef"),
              ShapeIsVars("v", "varRef"),
              ShapeIsVars("grad", "varRef"),
              HasOneElement(numbers),
              DoneIfEmpty("varRef")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape drawn = DrawShape(random, 0, 5, 4);
    const DtypeNumber dtype = DrawDtype(random, kFloats);
    for (const char* name : {"varRef", "m", "v", "grad"}) {
      call[name].shape = drawn;
      call[name].dtype = dtype;
    }
    call["useLocking"].integer = random.Below(2);
    call["useNesterov"].integer = random.Below(2);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const double held[] = {0.8, 0.98, 0.1, 0.9, 0.99, 0.01};
    for (size_t i = 0; i < tensors.size(); ++i) {
      const bool is_number = i >= 3 && i < 9;
      FillWith(tensors[i], [&] {
        return is_number ? held[i - 3] : i == 2 ? std::fabs(Numbers(random)) : Numbers(random);
      });
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const auto number = [&](size_t i) { return RealAt(tensors[3 + i], 0); };
    const double rate = number(2) * std::sqrt(1 - number(1)) / (1 - number(0));
    const double beta1 = number(3);
    std::vector<Outcome> outcomes(3);
    for (int64_t k = 0; k < std::ssize(tensors[0].elements); ++k) {
      const double g = RealAt(tensors[9], k);
      const double m = beta1 * RealAt(tensors[1], k) + (1 - beta1) * g;
      const double v = number(4) * RealAt(tensors[2], k) + (1 - number(4)) * g * g;
      const double step = call["useNesterov"].integer != 0 ? beta1 * m + (1 - beta1) * g : m;
      outcomes[0].emplace_back(
          ElementOf(tensors[0].dtype, RealAt(tensors[0], k) - rate * step / (std::sqrt(v) + number(5))));
      outcomes[1].emplace_back(ElementOf(tensors[1].dtype, m));
      outcomes[2].emplace_back(ElementOf(tensors[2].dtype, v));
    }
    return outcomes;
  };
  op.updates = true;
  op.is_inexact = true;
  op.tolerance = 5e-6;
  return op;
}

OperatorSpec AdamWithAverage() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnApplyFusedEmaAdam);
  const Shape shape = {2, 3};
  op.valid = {TensorArg("grad", shape),
              OutputArg("varRef", shape),
              OutputArg("mRef", shape),
              OutputArg("vRef", shape),
              OutputArg("sRef", shape),
              TensorArg("step", {1}, ACL_INT64),
              RealArg("lr", 0.1),
              RealArg("emaDecay", 0.9),
              RealArg("beta1", 0.9),
              RealArg("beta2", 0.99),
              RealArg("eps", 0.01),
              IntegerArg("mode", 1),
              IntegerArg("biasCorrection", 1),
              RealArg("weightDecay", 0.01)};
  op.rules = {NoNulls("grad varRef mRef vRef sRef step"),
              Refuses(161002, "grad",
                      [](PlanCall& call) {
                        return !IsNewProduct(call.product) || !Has(kFloats, call["grad"].dtype);
                      }),
              SameDtype("grad", "varRef"),
              SameDtype("grad", "mRef"),
              SameDtype("grad", "vRef"),
              SameDtype("grad", "sRef"),
              DtypeIn("step", {{ACL_INT64}}),
              ShapeIsVars("varRef", "grad", 561002),
              ShapeIsVars("mRef", "grad", 561002),
              ShapeIsVars("vRef", "grad", 561002),
              ShapeIsVars("sRef", "grad", 561002),
              HasOneElement("step", 561002),
              Refuses(561002, "mode",
                      [](PlanCall& call) { return call["mode"].integer < 0 || call["mode"].integer > 1; }),
              DoneIfEmpty("varRef")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const Shape drawn = DrawShape(random, 0, 5, 4);
    const DtypeNumber dtype = DrawDtype(random, kFloats);
    for (const char* name : {"grad", "varRef", "mRef", "vRef", "sRef"}) {
      call[name].shape = drawn;
      call[name].dtype = dtype;
    }
    call["emaDecay"].real = OneOf(random, {0.9, 0.5, 0});
    call["beta2"].real = OneOf(random, {0.999, 0.5});
    call["weightDecay"].real = OneOf(random, {0, 0.01, 0.5});
    call["mode"].integer = random.Below(2);
    call["biasCorrection"].integer = random.Below(2);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (size_t i = 0; i < tensors.size(); ++i)
      FillWith(tensors[i], [&] {
        if (i == 5) return static_cast<double>(random.Between(1, 20));
        return i == 3 ? std::fabs(Numbers(random)) : Numbers(random);
      });
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const auto real = [&](const char* name) { return call[name].real; };
    const double t = StepAt(tensors[5]);
    const bool corrects = call["biasCorrection"].integer != 0;
    const double c1 = corrects ? 1 - std::pow(real("beta1"), t) : 1;
    const double c2 = corrects ? 1 - std::pow(real("beta2"), t) : 1;
    const bool is_of_step = call["mode"].integer == 1;
    std::vector<Outcome> outcomes(4);
    for (int64_t k = 0; k < std::ssize(tensors[0].elements); ++k) {
      const double before = RealAt(tensors[1], k);
      const double g = RealAt(tensors[0], k) + (is_of_step ? 0 : real("weightDecay") * before);
      const double m = real("beta1") * RealAt(tensors[2], k) + (1 - real("beta1")) * g;
      const double v = real("beta2") * RealAt(tensors[3], k) + (1 - real("beta2")) * g * g;
      double step = m / c1 / (std::sqrt(v / c2) + real("eps"));
      if (is_of_step) step += real("weightDecay") * before;
      const double var = before - real("lr") * step;
      const double average = real("emaDecay") * RealAt(tensors[4], k) + (1 - real("emaDecay")) * var;
      size_t at = 0;
      for (const double value : {var, m, v, average})
        outcomes[at++].emplace_back(ElementOf(tensors[0].dtype, value));
    }
    return outcomes;
  };
  op.updates = true;
  op.is_inexact = true;
  op.tolerance = 5e-6;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {
      Fused(PORTACL_C_FUNCTION(aclnnFusedAdam), /*is_decoupled=*/false),
      Fused(PORTACL_C_FUNCTION(aclnnFusedAdamw), /*is_decoupled=*/true), AdamWOfTensors(), AdamOfTensors(),
      AdamWithAverage()};
  return all;
}

PORTACL_OPERATOR_TESTS(AdamSteps, Operators());

}  // namespace
}  // namespace portacl::testing
