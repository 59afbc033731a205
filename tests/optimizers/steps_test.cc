// Steps of optimizers and of mixed precision, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "foreach/list_calls.h"

#include "aclnnop/families/optimizers.h"
#include "gtest/gtest.h"

namespace portacl::testing {
namespace {

const DtypeList kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

Element ElementOf(DtypeNumber dtype, double value) {
  return ElementOfNumber(dtype, {static_cast<long double>(value), 0});
}
void Put(HostTensor& tensor, int64_t k, double value) {
  const Element element = ElementOf(tensor.dtype(), value);
  std::copy(element.begin(), element.end(), tensor.Element(k));
}
// float32 numbers as the C function gets them.
double Real(const PlanCall& call, const std::string& name) {
  return static_cast<double>(static_cast<float>(call[name].real));
}
double OneOf(RandomNumbers& random, const std::vector<double>& values) {
  return values[static_cast<size_t>(random.Below(std::ssize(values)))];
}
Shape DrawOneShape(RandomNumbers& random) {
  Shape shape = DrawShape(random, 0, 5, 4);
  if (random.Chance(4)) shape = {20000};
  if (random.Chance(4)) shape = {3, 0};
  return shape;
}
double Numbers(RandomNumbers& random, bool special) {
  if (special && random.Below(30) == 0) {
    return OneOf(random, {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::quiet_NaN(), -0.0, 0.0});
  }
  return static_cast<double>(random.Between(-3000, 3000)) / 1000;
}

OperatorSpec AdamW() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnApplyAdamWV2);
  const Shape shape = {2, 3};
  op.valid = {OutputArg("varRef", shape), OutputArg("mRef", shape),
              OutputArg("vRef", shape),   OutputArg("maxGradNormOptionalRef", shape),
              TensorArg("grad", shape),   TensorArg("step", {1}),
              RealArg("lr", 0.1),         RealArg("beta1", 0.9),
              RealArg("beta2", 0.99),     RealArg("weightDecay", 0.01),
              RealArg("eps", 0.01),       IntegerArg("amsgrad", 0),
              IntegerArg("maximize", 0)};
  const Listed dtypes = {{ACL_FLOAT, ACL_FLOAT16}, {ACL_BF16}};
  const auto shape_is = [](const std::string& name) {
    return Refuses(161002, name + " varRef", [=](PlanCall& call) {
      return !call[name].null && call[name].shape != call["varRef"].shape;
    });
  };
  op.rules = {
      NoNulls("varRef mRef vRef"),
      Refuses(
          161001, "maxGradNormOptionalRef",
          [](PlanCall& call) { return call["amsgrad"].integer != 0 && call["maxGradNormOptionalRef"].null; }),
      NoNulls("grad step"),
      DtypeIn("varRef mRef vRef", dtypes),
      Refuses(161002, "maxGradNormOptionalRef",
              [=](PlanCall& call) {
                const PlanArgument& maximum = call["maxGradNormOptionalRef"];
                return !maximum.null && !dtypes.Has(call.product, maximum.dtype);
              }),
      DtypeIn("grad", dtypes),
      Refuses(161002, "step",
              [](PlanCall& call) {
                return !Has({ACL_FLOAT, ACL_INT64}, call["step"].dtype);
              }),
      shape_is("mRef"),
      shape_is("vRef"),
      shape_is("maxGradNormOptionalRef"),
      shape_is("grad"),
      Refuses(161002, "step", [](PlanCall& call) { return NumElements(call["step"].shape) != 1; }),
      DoneIfEmpty("varRef"),
  };
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const Shape drawn = DrawOneShape(random);
    const bool mixed = random.Chance(40);
    const DtypeNumber dtype = DrawDtype(random, kFloats);
    for (const char* name : {"varRef", "mRef", "vRef", "maxGradNormOptionalRef", "grad"}) {
      call[name].shape = drawn;
      call[name].dtype = mixed ? DrawDtype(random, kFloats) : dtype;
    }
    call["step"].dtype = random.Chance(50) ? ACL_FLOAT : ACL_INT64;
    call["step"].shape = random.Chance(50) ? Shape{} : Shape{1};
    call["lr"].real = OneOf(random, {0.1, 0.001, 0});
    call["beta1"].real = OneOf(random, {0.9, 0.5, 0});
    call["beta2"].real = OneOf(random, {0.999, 0.5});
    call["weightDecay"].real = OneOf(random, {0, 0.01, 0.5});
    call["eps"].real = OneOf(random, {0.01, 0.5});
    call["amsgrad"].integer = random.Below(2);
    call["maximize"].integer = random.Below(2);
    call["maxGradNormOptionalRef"].null = call["amsgrad"].integer == 0 && random.Chance(50);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const bool special = random.Chance(25);
    for (size_t i = 0; i < tensors.size(); ++i) {
      for (int64_t k = 0; k < tensors[i].size(); ++k) {
        double value = Numbers(random, special);
        if (i == 2 || i == 3) value = std::fabs(value);
        if (i == 5 && tensors[i].dtype() == ACL_INT64) {
          const int64_t step = random.Below(20);
          std::memcpy(tensors[i].Element(k), &step, sizeof step);
          continue;
        }
        if (i == 5) value = static_cast<double>(random.Below(20));
        Put(tensors[i], k, value);
      }
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const bool amsgrad = call["amsgrad"].integer != 0;
    const double t = 1 + (tensors[5].dtype == ACL_INT64 ? static_cast<double>(tensors[5].Integer(0))
                                                        : RealAt(tensors[5], 0));
    const double beta1 = Real(call, "beta1");
    const double beta2 = Real(call, "beta2");
    const double lr = Real(call, "lr");
    std::vector<Outcome> outcomes(4);
    for (int64_t k = 0; k < std::ssize(tensors[0].elements); ++k) {
      const double g = RealAt(tensors[4], k) * (call["maximize"].integer != 0 ? -1 : 1);
      const double m = RealAt(tensors[1], k) + (1 - beta1) * (g - RealAt(tensors[1], k));
      const double v = beta2 * RealAt(tensors[2], k) + (1 - beta2) * g * g;
      double root_of = v;
      if (amsgrad) {
        const double maximum = RealAt(tensors[3], k);
        root_of = std::isnan(v) || std::isnan(maximum) ? std::nan("") : std::max(maximum, v);
      }
      const double divisor = std::sqrt(root_of) / std::sqrt(1 - std::pow(beta2, t)) + Real(call, "eps");
      const double var = RealAt(tensors[0], k) * (1 - lr * Real(call, "weightDecay")) -
                         lr / (1 - std::pow(beta1, t)) * (m / divisor);
      outcomes[0].push_back(ElementOf(tensors[0].dtype, var));
      outcomes[1].push_back(ElementOf(tensors[1].dtype, m));
      outcomes[2].push_back(ElementOf(tensors[2].dtype, v));
      if (amsgrad) outcomes[3].push_back(ElementOf(tensors[3].dtype, root_of));
    }
    return outcomes;
  };
  op.updates = true;
  op.is_inexact = true;
  op.tolerance = 5e-6;
  return op;
}

OperatorSpec Sgd() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnFusedSgd);
  const std::vector<Shape> shapes = {{2, 3}, {4}};
  const std::string buffers = "momentumBufferListOptionalRef";
  op.valid = {ListArg("paramsRef", shapes, true),
              ListArg("gradsRef", shapes, true),
              ListArg(buffers, shapes, true),
              TensorArg("gradScaleOptional", {1}),
              RealArg("weightDecay", 0.1),
              RealArg("momentum", 0.9),
              RealArg("lr", 0.1),
              RealArg("dampening", 0),
              IntegerArg("nesterov", 0),
              IntegerArg("maximize", 0),
              IntegerArg("isFirstStep", 0)};
  const auto has_buffers = [=](const PlanCall& call) {
    return !call[buffers].null && !call[buffers].entries.empty();
  };
  const std::string numbers = "weightDecay momentum lr dampening";
  const std::string lists = "paramsRef gradsRef " + buffers;
  const auto given = [=](const PlanCall& call) {
    std::vector<std::string> names = {"paramsRef", "gradsRef"};
    if (has_buffers(call)) names.push_back(buffers);
    return names;
  };
  op.rules = {
      Refuses(161002, numbers,
              [=](PlanCall& call) {
                const double momentum = Real(call, "momentum");
                if (Real(call, "weightDecay") < 0 || momentum < 0 || Real(call, "lr") < 0) return true;
                if (call["nesterov"].integer != 0 &&
                    (momentum <= 0 || std::fabs(Real(call, "dampening")) >= 1e-6))
                  return true;
                return has_buffers(call) ? momentum < 1e-6 : momentum >= 1e-6;
              }),
      Refuses(161001, lists,
              [=](PlanCall& call) {
                if (call["paramsRef"].null || call["gradsRef"].null) return true;
                for (const std::string& name : given(call)) {
                  for (const PlanArgument& entry : call[name].entries) {
                    if (entry.null) return true;
                  }
                }
                return false;
              }),
      Refuses(161002, lists,
              [=](PlanCall& call) {
                if (!IsNewProduct(call.product)) return true;
                const auto& first = call["paramsRef"].entries;
                if (first.empty() || !Has(kFloats, first[0].dtype)) return true;
                for (const std::string& name : given(call)) {
                  const auto& entries = call[name].entries;
                  if (entries.size() != first.size()) return true;
                  for (size_t i = 0; i < entries.size(); ++i) {
                    if (entries[i].dtype != first[0].dtype || entries[i].shape.size() > 8 ||
                        entries[i].shape != first[i].shape || entries[i].format == ACL_FORMAT_FRACTAL_NZ)
                      return true;
                  }
                }
                return false;
              }),
      Refuses(161002, "gradScaleOptional",
              [](PlanCall& call) {
                const PlanArgument& scale = call["gradScaleOptional"];
                const DtypeList castable = {ACL_FLOAT,  ACL_FLOAT16, ACL_BF16,  ACL_DOUBLE, ACL_INT8,
                                            ACL_UINT8,  ACL_INT16,   ACL_INT32, ACL_INT64,  ACL_BOOL,
                                            ACL_UINT16, ACL_UINT32,  ACL_UINT64};
                return !scale.null && NumElements(scale.shape) > 0 && !Has(castable, scale.dtype);
              }),
      SucceedsIf([](PlanCall& call) {
        const auto& first = call["paramsRef"].entries;
        return std::all_of(first.begin(), first.end(),
                           [](const PlanArgument& one) { return NumElements(one.shape) == 0; });
      }),
  };
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const std::vector<Shape> drawn = DrawShapes(random);
    const DtypeNumber dtype = DrawDtype(random, kFloats);
    const bool with_buffers = random.Chance(70);
    for (const std::string& name : {std::string("paramsRef"), std::string("gradsRef"), buffers})
      call[name] = ListArg(name, drawn, true, dtype);
    if (!with_buffers) call[buffers].entries.clear();
    if (!with_buffers && random.Chance(50)) call[buffers].null = true;
    call["momentum"].real = with_buffers ? 0.9 : 0;
    call["nesterov"].integer = with_buffers && random.Chance(40) ? 1 : 0;
    call["dampening"].real = call["nesterov"].integer != 0 ? 0 : OneOf(random, {0, 0.3});
    call["weightDecay"].real = OneOf(random, {0, 0.1});
    call["lr"].real = OneOf(random, {0.1, 0.5});
    call["maximize"].integer = random.Below(2);
    call["isFirstStep"].integer = random.Below(2);
    PlanArgument& scale = call["gradScaleOptional"];
    scale.null = random.Chance(30);
    scale.dtype = random.Chance(70) ? ACL_FLOAT : ACL_BF16;
    scale.shape = random.Chance(20) ? Shape{0} : random.Chance(50) ? Shape{} : Shape{2};
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const bool special = random.Chance(25);
    for (size_t i = 0; i < tensors.size(); ++i) {
      for (int64_t k = 0; k < tensors[i].size(); ++k)
        Put(tensors[i], k, i + 1 == tensors.size() ? OneOf(random, {2, 0.5, 4}) : Numbers(random, special));
    }
    (void)call;
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const size_t count = call["paramsRef"].entries.size();
    const bool with_buffers = has_buffers(call);
    const PlanArgument& scale_argument = call["gradScaleOptional"];
    const bool has_scale = !scale_argument.null && NumElements(scale_argument.shape) > 0;
    const double factor = has_scale ? 1 / RealAt(tensors.back(), 0) : 1;
    const double momentum = Real(call, "momentum");
    std::vector<Outcome> outcomes((with_buffers ? 3 : 2) * count);
    for (size_t i = 0; i < count; ++i) {
      const DtypeNumber dtype = tensors[i].dtype;
      for (int64_t k = 0; k < std::ssize(tensors[i].elements); ++k) {
        const double param = RealAt(tensors[i], k);
        const double scaled = RealAt(tensors[count + i], k) * factor;
        double g = call["maximize"].integer != 0 ? -scaled : scaled;
        if (Real(call, "weightDecay") != 0) g += Real(call, "weightDecay") * param;
        if (with_buffers) {
          const double before = RealAt(tensors[2 * count + i], k);
          const double buffer =
              call["isFirstStep"].integer != 0 ? g : momentum * before + (1 - Real(call, "dampening")) * g;
          outcomes[2 * count + i].push_back(ElementOf(dtype, buffer));
          g = call["nesterov"].integer != 0 ? g + momentum * buffer : buffer;
        }
        outcomes[i].push_back(ElementOf(dtype, param - Real(call, "lr") * g));
        outcomes[count + i].push_back(ElementOf(dtype, scaled));
      }
    }
    return outcomes;
  };
  op.updates = true;
  op.is_inexact = true;
  op.tolerance = 2e-6;
  return op;
}

OperatorSpec Unscale() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnForeachNonFiniteCheckAndUnscale);
  op.valid = {ListArg("scaledGrads", {{2, 3}, {4}}, true), OutputArg("foundInf", {1}),
              TensorArg("invScale", {1})};
  const std::string names = "scaledGrads foundInf invScale";
  op.rules = {
      Refuses(161001, names, [](PlanCall& call) { return AnyArgumentNull(call, true); }),
      Refuses(161002, names,
              [](PlanCall& call) {
                const bool inference = call.product == Product::k310P;
                if (!IsNewProduct(call.product) && !inference) return true;
                const auto& entries = call["scaledGrads"].entries;
                if (!entries.empty() &&
                    !Has(inference ? DtypeList{ACL_FLOAT, ACL_FLOAT16} : kFloats, entries[0].dtype))
                  return true;
                return call["foundInf"].dtype != ACL_FLOAT || call["invScale"].dtype != ACL_FLOAT;
              }),
      Refuses(561002, names,
              [](PlanCall& call) {
                const auto& entries = call["scaledGrads"].entries;
                if (entries.empty() || entries.size() > 256) return true;
                for (const PlanArgument& entry : entries) {
                  if (entry.dtype != entries[0].dtype || entry.shape.size() > 8 ||
                      entry.format == ACL_FORMAT_FRACTAL_NZ)
                    return true;
                }
                return NumElements(call["foundInf"].shape) != 1 || NumElements(call["invScale"].shape) != 1;
              }),
  };
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    call["scaledGrads"] = ListArg("scaledGrads", DrawShapes(random), true, DrawDtype(random, kFloats));
    call["foundInf"].shape = random.Chance(50) ? Shape{} : Shape{1};
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const bool special = random.Chance(40);
    for (size_t i = 0; i < tensors.size(); ++i) {
      for (int64_t k = 0; k < tensors[i].size(); ++k) {
        double value = Numbers(random, special);
        if (i + 2 == tensors.size()) value = OneOf(random, {0, 0, 1, 3});
        if (i + 1 == tensors.size()) value = OneOf(random, {0.5, 1.0 / 3, 65536});
        Put(tensors[i], k, value);
      }
    }
  };
  op.oracle = [](const PlanCall&, const std::vector<TensorValues>& tensors) {
    const size_t count = tensors.size() - 2;
    const double factor = RealAt(tensors.back(), 0);
    std::vector<Outcome> outcomes(count + 1);
    bool found = false;
    for (size_t i = 0; i < count; ++i) {
      for (int64_t k = 0; k < std::ssize(tensors[i].elements); ++k) {
        const double x = RealAt(tensors[i], k);
        found = found || !std::isfinite(x);
        outcomes[i].push_back(ElementOf(tensors[i].dtype, x * factor));
      }
    }
    outcomes[count].resize(1);
    if (found) outcomes[count][0] = ElementOf(ACL_FLOAT, 1);
    return outcomes;
  };
  op.updates = true;
  op.is_inexact = true;
  op.tolerance = 1e-6;
  return op;
}

OperatorSpec Scale() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAmpUpdateScale);
  op.valid = {TensorArg("currentScale", {1}), TensorArg("growthTracker", {1}, ACL_INT32),
              TensorArg("foundInf", {1}),     RealArg("growthFactor", 2),
              RealArg("backoffFactor", 0.5),  IntegerArg("growthInterval", 3),
              OutputArg("updatedScale", {1}), OutputArg("updatedGrowthTracker", {1}, ACL_INT32)};
  const std::string tensors = "currentScale growthTracker foundInf updatedScale updatedGrowthTracker";
  op.rules = {
      NoNulls(tensors),
      Refuses(161002, tensors,
              [](PlanCall& call) {
                const DtypeNumber dtype = call["currentScale"].dtype;
                return !IsNewProduct(call.product) || !Has(kFloats, dtype) ||
                       call["foundInf"].dtype != dtype || call["updatedScale"].dtype != dtype ||
                       call["growthTracker"].dtype != ACL_INT32 ||
                       call["updatedGrowthTracker"].dtype != ACL_INT32;
              }),
      Refuses(561002, tensors + " growthInterval",
              [=](PlanCall& call) {
                for (const std::string& name : Words(tensors)) {
                  if (NumElements(call[name].shape) != 1) return true;
                }
                return call["growthInterval"].integer < 1;
              }),
  };
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = DrawDtype(random, kFloats);
    for (const char* name : {"currentScale", "foundInf", "updatedScale"}) call[name].dtype = dtype;
    call["currentScale"].shape = random.Chance(50) ? Shape{} : Shape{1};
    call["growthInterval"].integer = random.Between(1, 4);
    call["growthFactor"].real = OneOf(random, {2, 1.5, 1e30});
    call["backoffFactor"].real = OneOf(random, {0.5, 0.25});
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& all, RandomNumbers& random) {
    Put(all[0], 0, OneOf(random, {65536, 1, 1e20}));
    const auto tracker = static_cast<int32_t>(random.Between(0, 4));
    std::memcpy(all[1].Element(0), &tracker, sizeof tracker);
    Put(all[2], 0, OneOf(random, {0, 0, 1, std::nan("")}));
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& all) {
    float scale = static_cast<float>(RealAt(all[0], 0));
    const double found = RealAt(all[2], 0);
    auto tracker = static_cast<int32_t>(all[1].Integer(0));
    if (found != 0) {
      scale *= static_cast<float>(call["backoffFactor"].real);
      tracker = 0;
    } else if (++tracker == call["growthInterval"].integer) {
      const float grown = scale * static_cast<float>(call["growthFactor"].real);
      scale = std::isfinite(grown) ? grown : scale;
      tracker = 0;
    }
    Element count(sizeof tracker);
    std::memcpy(count.data(), &tracker, sizeof tracker);
    return std::vector<Outcome>{{ElementOf(all[0].dtype, static_cast<double>(scale))}, {count}};
  };
  op.is_inexact = true;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {AdamW(), Sgd(), Unscale(), Scale()};
  return all;
}

PORTACL_OPERATOR_TESTS(Steps, Operators());

}  // namespace
}  // namespace portacl::testing
