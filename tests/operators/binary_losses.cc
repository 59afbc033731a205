// Losses of two classes and their gradients, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/loss.h"
#include "norm/row_calls.h"
#include "operators/norms.h"
#include "support/rules.h"

namespace portacl::testing {
namespace {

bool IsGiven(const PlanCall& call, const std::string& name) { return !call[name].null; }
int64_t ReductionOf(const PlanCall& call) { return call["reduction"].integer; }
bool IsEmpty(const PlanCall& call, const std::string& name) { return NumElements(call[name].shape) == 0; }

// Those of the tensors that are given.
std::optional<Shape> ShapeTogether(const PlanCall& call, const std::string& names) {
  std::vector<Shape> shapes;
  for (const std::string& name : Words(names)) {
    if (IsGiven(call, name)) shapes.push_back(call[name].shape);
  }
  return Broadcast(shapes);
}

bool IsNone(const PlanCall& call) { return ReductionOf(call) == 0; }
bool IsReduced(const PlanCall& call) { return !IsNone(call); }
void Ranks(Rules& rules, const std::string& names, aclnnStatus code = 161002) {
  for (const std::string& name : Words(names)) {
    rules.push_back(
        Given(name, Refuses(code, name, [=](PlanCall& call) { return call[name].shape.size() > 8; })));
  }
}
Rule BroadcastsTo(const std::string& names, const std::string& to, aclnnStatus code = 161002) {
  return Refuses(code, names,
                 [=](PlanCall& call) { return ShapeTogether(call, names + " " + to) != call[to].shape; });
}

// ---- drawing ----

Shape DrawLossShape(RandomNumbers& random) {
  if (random.Below(12) == 0) return {random.Between(1, 20000)};
  return DrawShape(random, 0, random.Below(8) == 0 ? 8 : 4, 5);
}
// A shape that broadcasts to another.
Shape DrawPart(RandomNumbers& random, Shape shape) {
  if (random.Below(2) == 0) return shape;
  while (!shape.empty() && random.Below(3) == 0) shape.erase(shape.begin());
  for (int64_t& dim : shape) dim = random.Below(3) == 0 ? 1 : dim;
  return shape;
}
void DrawDtypes(PlanCall& call, RandomNumbers& random) {
  const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
  for (PlanArgument& one : call.arguments) {
    if (one.kind == ParameterKind::kTensor) one.dtype = dtype;
  }
}

// Numbers from low to high, and now and then one that is not finite.
struct Span {
  double low;
  double high;
};
auto FillBetween(std::map<std::string, Span> spans) {
  return [spans = std::move(spans)](const PlanCall& call, std::vector<HostTensor>& tensors,
                                    RandomNumbers& random) {
    FillRows(call, tensors, random);
    const auto arguments = TensorsOf(call);
    for (size_t i = 0; i < tensors.size(); ++i) {
      const auto found = spans.find(arguments[i]->name);
      if (arguments[i]->null || found == spans.end()) continue;
      const Span span = found->second;
      for (int64_t k = 0; k < tensors[i].size(); ++k) {
        const double drawn = static_cast<double>(NumberOf(tensors[i].dtype(), tensors[i].Element(k)).real);
        if (!std::isfinite(drawn)) continue;
        const double value = span.low + (span.high - span.low) * (drawn + 3) / 6;
        const Element element = ElementOfNumber(tensors[i].dtype(), {static_cast<long double>(value), 0});
        std::copy(element.begin(), element.end(), tensors[i].Element(k));
      }
    }
  };
}

// The elements of a loss over a shape, reduced as the call says.
std::vector<Outcome> Reduced(const PlanCall& call, const Shape& shape,
                             const std::function<double(const Index&)>& term) {
  std::vector<double> all;
  double sum = 0;
  for (int64_t i = 0; i < NumElements(shape); ++i) {
    all.push_back(term(IndexAt(shape, i)));
    sum += all.back();
  }
  if (IsNone(call)) return {AsOutcome(call["out"].dtype, all)};
  const double count = static_cast<double>(all.size());
  return {AsOutcome(call["out"].dtype, {ReductionOf(call) == 1 ? sum / count : sum})};
}
std::vector<Outcome> Gradients(const PlanCall& call, const std::function<double(const Index&)>& slope) {
  const PlanArgument& out = call.arguments.back();
  const Shape& shape = out.shape;
  const double c = ReductionOf(call) == 1 ? 1 / static_cast<double>(NumElements(shape)) : 1;
  std::vector<double> all;
  for (int64_t i = 0; i < NumElements(shape); ++i) all.push_back(slope(IndexAt(shape, i)) * c);
  return {AsOutcome(out.dtype, all)};
}
double Logistic(double x) { return 1 / (1 + std::exp(-x)); }
double LogOfLogistic(double x) { return (x < 0 ? x : 0) - std::log1p(std::exp(-std::fabs(x))); }
// That of a weight, 1 where it is left out.
double WeightAt(const PlanCall& call, const std::string& name, const TensorValues& tensor,
                const Index& index) {
  return IsGiven(call, name) ? ValueAt(tensor, index) : 1;
}

OperatorSpec Loss(const CFunction& function) {
  OperatorSpec op;
  op.function = function;
  op.fill = FillBetween({{"self", {0, 1}}, {"target", {0, 1}}, {"weight", {0, 2}}});
  op.takes_workspace = true;
  op.tolerance = 2e-6;
  op.is_inexact = true;
  return op;
}

// ---- binary cross entropy ----

double AtLeastMinus100(double x) { return x < -100 ? -100 : x; }

OperatorSpec Entropy() {
  OperatorSpec op = Loss(PORTACL_C_FUNCTION(aclnnBinaryCrossEntropy));
  op.valid = {TensorArg("self", {2, 3}), TensorArg("target", {2, 3}), TensorArg("weight", {2, 3}),
              IntegerArg("reduction", 1), OutputArg("out", {})};
  op.rules = {NoNulls("self target out", 561103),
              DtypeIn("self target out", kFloats),
              Given("weight", DtypeIn("weight", kFloats)),
              Given("weight", SameDtype("self", "target")),
              Given("weight", SameDtype("self", "weight")),
              Given("weight", SameDtype("self", "out")),
              SameShape("self", "target"),
              IntegerFrom("reduction", 0, 2),
              When(IsNone, Refuses(161002, "out",
                                   [](PlanCall& call) {
                                     const Shape& self = call["self"].shape;
                                     const Shape& out = call["out"].shape;
                                     return self != out && (NumElements(self) != 1 || NumElements(out) != 1);
                                   })),
              When(IsReduced, HasOneElement("out", 161002)),
              DoneIfEmpty("self"),
              Given("weight", BroadcastsTo("weight", "self", 561103))};
  Ranks(op.rules, "self target weight", 561103);
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawDtypes(call, random);
    const Shape shape = DrawLossShape(random);
    call["self"].shape = call["target"].shape = shape;
    call["weight"].shape = DrawPart(random, shape);
    call["weight"].null = random.Below(3) == 0;
    call["reduction"].integer = random.Between(0, 2);
    call["out"].shape = IsNone(call) ? shape : Shape{};
    if (NumElements(shape) == 1 && random.Below(2) == 0) call["out"].shape = Shape(random.Below(4), 1);
    if (!IsGiven(call, "weight") && random.Below(3) == 0) call["out"].dtype = ACL_FLOAT;
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return Reduced(call, call["self"].shape, [&](const Index& index) {
      const double x = ValueAt(tensors[0], index);
      const double t = ValueAt(tensors[1], index);
      const double l = t * AtLeastMinus100(std::log(x)) + (1 - t) * AtLeastMinus100(std::log1p(-x));
      return -l * WeightAt(call, "weight", tensors[2], index);
    });
  };
  return op;
}

bool IsSelfFilled(const PlanCall& call) { return !IsEmpty(call, "self"); }

OperatorSpec EntropyGradient() {
  OperatorSpec op = Loss(PORTACL_C_FUNCTION(aclnnBinaryCrossEntropyBackward));
  op.valid = {TensorArg("gradOutput", {2, 3}),     TensorArg("self", {2, 3}),  TensorArg("target", {2, 3}),
              TensorArg("weightOptional", {2, 3}), IntegerArg("reduction", 1), OutputArg("out", {2, 3})};
  op.rules = {NoNulls("gradOutput self target out")};
  Ranks(op.rules, "gradOutput self target weightOptional out");
  op.rules.push_back(DtypeIn("self gradOutput target out", kFloats));
  op.rules.push_back(Given("weightOptional", DtypeIn("weightOptional", kFloats)));
  op.rules.push_back(Refuses(161002, "", [](PlanCall& call) {
    const int32_t format = call["self"].format;
    return call["target"].format != format ||
           (IsGiven(call, "weightOptional") && call["weightOptional"].format != format);
  }));
  op.rules.push_back(When(IsSelfFilled, SameShape("self", "out")));
  op.rules.push_back(When(IsSelfFilled, Refuses(161002, "", [](PlanCall& call) {
                            return ShapeTogether(call, "self target weightOptional gradOutput") !=
                                   call["self"].shape;
                          })));
  op.rules.push_back(IntegerFrom("reduction", 0, 2));
  op.rules.push_back(DoneIfEmpty("self"));
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawDtypes(call, random);
    const Shape shape = DrawLossShape(random);
    call["self"].shape = call["out"].shape = shape;
    for (const char* name : {"gradOutput", "target", "weightOptional"})
      call[name].shape = DrawPart(random, shape);
    if (random.Below(3) == 0) call["gradOutput"].shape = {};
    call["weightOptional"].null = random.Below(2) == 0;
    call["reduction"].integer = random.Between(0, 2);
    if (random.Below(4) == 0) call["target"].dtype = ACL_FLOAT;
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return Gradients(call, [&](const Index& index) {
      const double x = ValueAt(tensors[1], index);
      const double variance = (1 - x) * x;
      const double slope = (x - ValueAt(tensors[2], index)) / (variance < 1e-12 ? 1e-12 : variance);
      return slope * ValueAt(tensors[0], index) * WeightAt(call, "weightOptional", tensors[3], index);
    });
  };
  return op;
}

// ---- with logits ----

const Listed kWeights = {
    {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL}};
Rule ReadableWeight(const std::string& name) {
  return Given(name, Refuses(561103, name,
                             [=](PlanCall& call) { return !kWeights.Has(call.product, call[name].dtype); }));
}
Rule GoesWithTarget(const std::string& name) {
  return Given(name,
               Refuses(161002, name, [=](PlanCall& call) { return !ShapeTogether(call, "target " + name); }));
}

void DrawLogits(PlanCall& call, RandomNumbers& random) {
  DrawDtypes(call, random);
  const Shape shape = DrawLossShape(random);
  call["self"].shape = call["target"].shape = call["out"].shape = shape;
  for (const char* name : {"weightOptional", "posWeightOptional"}) {
    call[name].shape = DrawPart(random, shape);
    call[name].null = random.Below(2) == 0;
  }
  call["reduction"].integer = random.Between(0, 2);
  if (random.Below(4) == 0) call["self"].dtype = ACL_FLOAT;
}

OperatorSpec Logits() {
  OperatorSpec op = Loss(PORTACL_C_FUNCTION(aclnnBinaryCrossEntropyWithLogits));
  op.fill = FillBetween(
      {{"self", {-30, 30}}, {"target", {0, 1}}, {"weightOptional", {0, 3}}, {"posWeightOptional", {0, 3}}});
  op.valid = {TensorArg("self", {2, 3}),           TensorArg("target", {2, 3}),
              TensorArg("weightOptional", {2, 3}), TensorArg("posWeightOptional", {3}),
              IntegerArg("reduction", 1),          OutputArg("out", {})};
  op.rules = {NoNulls("self target out"), DtypeIn("self target out", kFloats), SameDtype("target", "out"),
              IntegerFrom("reduction", 0, 2)};
  Ranks(op.rules, "self target weightOptional posWeightOptional out");
  for (const Rule& rule :
       {SameShape("self", "target"), GoesWithTarget("weightOptional"), GoesWithTarget("posWeightOptional"),
        When(IsNone, DoneIfEmpty("self")),
        When([](const PlanCall& call) { return IsEmpty(call, "self"); }, HasOneElement("out", 561103)),
        DoneIfEmpty("self"), When(IsNone, SameShape("self", "out")),
        Given("weightOptional", BroadcastsTo("weightOptional", "target", 561103)),
        Given("posWeightOptional", BroadcastsTo("posWeightOptional", "target", 561103)),
        When(IsReduced, HasOneElement("out", 561103)), ReadableWeight("weightOptional"),
        ReadableWeight("posWeightOptional")})
    op.rules.push_back(rule);
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawLogits(call, random);
    if (IsReduced(call)) call["out"].shape = Shape(random.Below(3), 1);
    if (random.Below(4) == 0) call["posWeightOptional"].dtype = ACL_FLOAT;
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return Reduced(call, call["self"].shape, [&](const Index& index) {
      const double x = ValueAt(tensors[0], index);
      const double t = ValueAt(tensors[1], index);
      const bool is_weighted = IsGiven(call, "posWeightOptional");
      const double share = is_weighted ? 1 + (ValueAt(tensors[3], index) - 1) * t : 1;
      const double l = (1 - t) * x - share * LogOfLogistic(x);
      return l * WeightAt(call, "weightOptional", tensors[2], index);
    });
  };
  return op;
}

OperatorSpec LogitsGradient() {
  OperatorSpec op = Loss(PORTACL_C_FUNCTION(aclnnBinaryCrossEntropyWithLogitsBackward));
  op.fill = FillBetween({{"self", {-30, 30}}, {"target", {0, 1}}, {"posWeightOptional", {0, 3}}});
  op.valid = {TensorArg("gradOutput", {2, 3}),
              TensorArg("self", {2, 3}),
              TensorArg("target", {2, 3}),
              TensorArg("weightOptional", {2, 3}),
              TensorArg("posWeightOptional", {3}),
              IntegerArg("reduction", 1),
              OutputArg("out", {2, 3})};
  op.rules = {NoNulls("gradOutput self target out")};
  Ranks(op.rules, "gradOutput self target weightOptional posWeightOptional out");
  op.rules.push_back(DtypeIn("gradOutput self target", kFloats));
  op.rules.push_back(Given("weightOptional", DtypeIn("weightOptional", kFloats)));
  op.rules.push_back(Given("posWeightOptional", DtypeIn("posWeightOptional", kFloats)));
  op.rules.push_back(DtypeIn("out", kFloats));
  op.rules.push_back(SameDtype("target", "out"));
  op.rules.push_back(Refuses(161002, "", [](PlanCall& call) {
    return call["target"].format != call["self"].format || call["out"].format != call["self"].format;
  }));
  op.rules.push_back(When(IsSelfFilled, SameShape("self", "target")));
  op.rules.push_back(When(IsSelfFilled, SameShape("self", "out")));
  op.rules.push_back(When(IsSelfFilled, Refuses(161002, "", [](PlanCall& call) {
                            return ShapeTogether(call, "self gradOutput weightOptional posWeightOptional") !=
                                   call["self"].shape;
                          })));
  op.rules.push_back(IntegerFrom("reduction", 0, 2));
  op.rules.push_back(DoneIfEmpty("self"));
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawLogits(call, random);
    call["gradOutput"].shape = random.Below(3) == 0 ? Shape{} : DrawPart(random, Shape(call["self"].shape));
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return Gradients(call, [&](const Index& index) {
      const double x = ValueAt(tensors[1], index);
      const double t = ValueAt(tensors[2], index);
      double slope = Logistic(x) - t;
      if (IsGiven(call, "posWeightOptional")) {
        const double p = ValueAt(tensors[4], index);
        slope = (p * t + 1 - t) * Logistic(x) - p * t;
      }
      return slope * ValueAt(tensors[0], index) * WeightAt(call, "weightOptional", tensors[3], index);
    });
  };
  return op;
}

// The gradient for the targets has the same checks, and the names of its own.
OperatorSpec TargetGradient() {
  OperatorSpec op = Loss(PORTACL_C_FUNCTION(aclnnBinaryCrossEntropyWithLogitsTargetBackward));
  op.fill = FillBetween({{"self", {-30, 30}}, {"target", {0, 1}}, {"posWeight", {0, 3}}});
  op.valid = {TensorArg("gradOutput", {2, 3}), TensorArg("self", {2, 3}),   TensorArg("target", {2, 3}),
              TensorArg("weight", {2, 3}),     TensorArg("posWeight", {3}), IntegerArg("reduction", 1),
              OutputArg("gradTarget", {2, 3})};
  op.rules = {NoNulls("gradOutput self target gradTarget")};
  Ranks(op.rules, "gradOutput self target weight posWeight gradTarget");
  for (const Rule& rule :
       {DtypeIn("gradOutput self target", kFloats), Given("weight", DtypeIn("weight", kFloats)),
        Given("posWeight", DtypeIn("posWeight", kFloats)), DtypeIn("gradTarget", kFloats),
        SameDtype("target", "gradTarget"),
        Refuses(161002, "",
                [](PlanCall& call) {
                  return call["target"].format != call["self"].format ||
                         call["gradTarget"].format != call["self"].format;
                }),
        When(IsSelfFilled, SameShape("self", "target")), When(IsSelfFilled, SameShape("self", "gradTarget")),
        When(IsSelfFilled, Refuses(161002, "",
                                   [](PlanCall& call) {
                                     return ShapeTogether(call, "self gradOutput weight posWeight") !=
                                            call["self"].shape;
                                   })),
        IntegerFrom("reduction", 0, 2), DoneIfEmpty("self")})
    op.rules.push_back(rule);
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawDtypes(call, random);
    const Shape shape = DrawLossShape(random);
    for (const char* name : {"self", "target", "gradTarget"}) call[name].shape = shape;
    for (const char* name : {"weight", "posWeight"}) {
      call[name].shape = DrawPart(random, shape);
      call[name].null = random.Below(2) == 0;
    }
    call["gradOutput"].shape = random.Below(3) == 0 ? Shape{} : DrawPart(random, shape);
    call["reduction"].integer = random.Between(0, 2);
    if (random.Below(4) == 0) call["self"].dtype = ACL_FLOAT;
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return Gradients(call, [&](const Index& index) {
      const double x = ValueAt(tensors[1], index);
      const double p = IsGiven(call, "posWeight") ? ValueAt(tensors[4], index) : 1;
      const double slope = IsGiven(call, "posWeight") ? LogOfLogistic(-x) - p * LogOfLogistic(x) : -x;
      return slope * ValueAt(tensors[0], index) * WeightAt(call, "weight", tensors[3], index);
    });
  };
  return op;
}

// ---- soft margin ----

OperatorSpec SoftMargin() {
  OperatorSpec op = Loss(PORTACL_C_FUNCTION(aclnnSoftMarginLoss));
  op.fill = FillRows;
  op.valid = {TensorArg("self", {2, 3}), TensorArg("target", {2, 3}), IntegerArg("reduction", 1),
              OutputArg("out", {})};
  op.rules = {NoNulls("self target out"), DtypeIn("self target out", kFloats)};
  Ranks(op.rules, "self target out");
  op.rules.push_back(Refuses(161002, "", [](PlanCall& call) { return !ShapeTogether(call, "self target"); }));
  op.rules.push_back(When(IsNone, Refuses(161002, "out", [](PlanCall& call) {
                            return ShapeTogether(call, "self target") != call["out"].shape;
                          })));
  op.rules.push_back(
      When(IsReduced, Refuses(161002, "out", [](PlanCall& call) { return !call["out"].shape.empty(); })));
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawDtypes(call, random);
    const Shape shape = DrawLossShape(random);
    call["self"].shape = DrawPart(random, shape);
    call["target"].shape = DrawPart(random, shape);
    call["reduction"].integer = random.Between(-1, 3);
    call["out"].shape = IsNone(call) ? *ShapeTogether(call, "self target") : Shape{};
    if (random.Below(4) == 0) call["target"].dtype = ACL_FLOAT;
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape shape = *ShapeTogether(call, "self target");
    const int64_t reduction = ReductionOf(call);
    if (NumElements(shape) == 0 && (reduction < 0 || reduction > 2)) return std::vector<Outcome>{{}};
    return Reduced(call, shape, [&](const Index& index) {
      const double z = -ValueAt(tensors[1], index) * ValueAt(tensors[0], index);
      return -LogOfLogistic(-z);
    });
  };
  return op;
}

OperatorSpec SoftMarginGradient() {
  OperatorSpec op = Loss(PORTACL_C_FUNCTION(aclnnSoftMarginLossBackward));
  op.fill = FillRows;
  op.valid = {TensorArg("gradOutput", {2, 3}), TensorArg("self", {2, 3}), TensorArg("target", {2, 3}),
              IntegerArg("reduction", 1), OutputArg("out", {2, 3})};
  op.rules = {NoNulls("gradOutput self target out"), DtypeIn("gradOutput self target out", kFloats)};
  Ranks(op.rules, "gradOutput self target out");
  op.rules.push_back(
      Refuses(161002, "", [](PlanCall& call) { return !ShapeTogether(call, "gradOutput self target"); }));
  op.rules.push_back(Refuses(161002, "out", [](PlanCall& call) {
    return ShapeTogether(call, "gradOutput self target") != call["out"].shape;
  }));
  op.rules.push_back(IntegerFrom("reduction", 0, 2));
  op.rules.push_back(DoneIfEmpty("gradOutput self target"));
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawDtypes(call, random);
    const Shape shape = DrawLossShape(random);
    for (const char* name : {"gradOutput", "self", "target"}) call[name].shape = DrawPart(random, shape);
    call["out"].shape = *ShapeTogether(call, "gradOutput self target");
    call["reduction"].integer = random.Between(0, 2);
    if (random.Below(4) == 0) call["target"].dtype = ACL_FLOAT;
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return Gradients(call, [&](const Index& index) {
      const double t = ValueAt(tensors[2], index);
      return -t * Logistic(-t * ValueAt(tensors[1], index)) * ValueAt(tensors[0], index);
    });
  };
  return op;
}

}  // namespace

const std::vector<OperatorSpec>& BinaryLossOperators() {
  static const std::vector<OperatorSpec> all = {Entropy(),           EntropyGradient(), Logits(),
                                                LogitsGradient(),    TargetGradient(),  SoftMargin(),
                                                SoftMarginGradient()};
  return all;
}

}  // namespace portacl::testing
