// What phase 1 of operators that draw random numbers answers, from CANN's rules, and their valid calls.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <utility>

#include "aclnnop/families/random.h"
#include "operators/random.h"
#include "operators/random_rules.h"
#include "support/call_changes.h"
#include "support/converted_value.h"
#include "support/rules.h"
#include "support/scalar_dtypes.h"

namespace portacl::testing {
namespace {

const DtypeList kFills = {ACL_FLOAT, ACL_INT32, ACL_INT64, ACL_FLOAT16,
                          ACL_INT16, ACL_INT8,  ACL_UINT8, ACL_DOUBLE};
const Listed kFilled = {kFills, {ACL_BF16}};
const Listed kFilledOrBool = kFilled + DtypeList{ACL_BOOL};

// ---- fills in place ----

void DrawFill(OperatorSpec& op, const DtypeList& dtypes) {
  op.bases = {OfShape("selfRef", {2, 0}), OfShape("selfRef", {}), OfShape("selfRef", Shape(8, 2)),
              OfShape("selfRef", {0, 1, 1, 1, 1, 1, 1, 1})};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    for (PlanArgument& one : call.arguments) {
      if (one.kind == ParameterKind::kReal) one.real = static_cast<double>(random.Between(-3, 3)) / 2;
    }
    call["selfRef"].shape = DrawShape(random, 0, 8);
    call["selfRef"].dtype = DrawDtype(random, dtypes);
  };
}
DtypeList And(DtypeList list, const DtypeList& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

OperatorSpec Uniform(const CFunction& function, bool by_tensor) {
  OperatorSpec op;
  op.function = function;
  op.valid = std::vector<PlanArgument>{OutputArg("selfRef", kMatrix), RealArg("from", 0), RealArg("to", 1)} +
             Seeds(by_tensor);
  op.rules = Rules{NoNulls("selfRef")} + If(by_tensor, NoNulls(kSeedTensors)) +
             Rules{DtypeIn("selfRef", kFilled), Ranks("selfRef"),
                   [](PlanCall& call) -> std::optional<Verdict> {
                     if (!(call["from"].real > call["to"].real)) return std::nullopt;
                     std::vector<std::string> says = Shown(call["from"].real);
                     says.push_back("from");
                     return Verdict{161002, {}, says};
                   },
                   Representable()} +
             If(by_tensor, OneOf(kSeedTensors, kWords)) +
             Rules{DoneIfEmpty("selfRef"), WithCode(161001, Inside("selfRef"))};
  DrawFill(op, And(kFills, {ACL_BF16}));
  for (const double to : {0.0, 5.0, std::numeric_limits<double>::quiet_NaN()})
    op.bases.push_back(Together({Real("from", to == 5 ? 5 : 0), Real("to", to)}));
  op.bases.push_back(Real("from", std::numeric_limits<double>::quiet_NaN()));
  return op;
}

OperatorSpec Normal(const CFunction& function, bool by_tensor) {
  OperatorSpec op;
  op.function = function;
  op.valid = std::vector<PlanArgument>{OutputArg("selfRef", kMatrix), RealArg("mean", 0), RealArg("std", 1)} +
             Seeds(by_tensor);
  // The tensors of seed and offset are looked at first, and have one dim.
  const Rules of_seeds = {NoNulls(kSeedTensors), OneOf(kSeedTensors, {ACL_INT64}),
                          HasShape(kSeedTensors, [](const PlanCall&) { return Shape{1}; })};
  op.rules = (by_tensor ? of_seeds : Rules{}) +
             Rules{NoNulls("selfRef"),
                   // In float32, as the parameter is.
                   RefusesReal("std", [](double std) { return static_cast<float>(std) < 0; }),
                   DtypeIn("selfRef", kFilledOrBool), Ranks("selfRef"), Representable(),
                   DoneIfEmpty("selfRef"), Inside("selfRef")};
  DrawFill(op, And(kFills, {ACL_BF16, ACL_BOOL}));
  op.bases.push_back(Real("std", 0));
  return op;
}

OperatorSpec Random(const CFunction& function, bool has_bounds, bool by_tensor) {
  OperatorSpec op;
  op.function = function;
  op.valid = std::vector<PlanArgument>{OutputArg("selfRef", kMatrix)} +
             (has_bounds ? std::vector<PlanArgument>{IntegerArg("from", 0), IntegerArg("to", 10)}
                         : std::vector<PlanArgument>{}) +
             Seeds(by_tensor);
  Listed listed = {And(kFills, {ACL_BOOL, ACL_BF16})};
  if (has_bounds) listed.before_950 = kComplexDtypes;
  op.rules =
      Rules{NoNulls("selfRef")} + If(by_tensor, NoNulls(kSeedTensors)) +
      Rules{DtypeIn("selfRef", listed), Ranks("selfRef")} +
      If(has_bounds,
         RefusesInteger("from",
                        [](const PlanCall& call) { return call["from"].integer >= call["to"].integer; })) +
      If(by_tensor, OneOf(kSeedTensors, kWords)) +
      Rules{Representable(), DoneIfEmpty("selfRef"), WithCode(161001, Inside("selfRef"))};
  DrawFill(op, listed.everywhere);
  if (has_bounds) op.bases.push_back(Integer("from", 9));
  return op;
}

OperatorSpec SimThreadExponential() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSimThreadExponential);
  op.valid = {OutputArg("selfRef", kMatrix), IntegerArg("count", 6), RealArg("lambda", 2), Seed(), Offset()};
  op.rules = {NoNulls("selfRef"),
              DtypeIn("selfRef", {{}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}}),
              RefusesInteger(
                  "count",
                  [](const PlanCall& call) {
                    return CountedElements(call["selfRef"].shape) != call["count"].integer;
                  },
                  561002),
              RefusesReal(
                  "lambda", [](double lambda) { return !(lambda > 0); }, 561002),
              Ranks("selfRef"),
              Representable(),
              DoneIfEmpty("selfRef"),
              Inside("selfRef")};
  DrawFill(op, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16});
  const auto counted = [](PlanCall& call) {
    call["count"].integer = CountedElements(call["selfRef"].shape).value_or(-1);
  };
  for (Change& base : op.bases) base = Together({base, counted});
  op.draw = [draw = op.draw, counted](PlanCall& call, RandomNumbers& random) {
    draw(call, random);
    if (random.Chance(80)) counted(call);
    if (random.Chance(80)) call["lambda"].real = 0.5;
  };
  return op;
}

// ---- 0 and 1 ----

OperatorSpec Bernoulli(const CFunction& function, bool by_tensor, bool in_place) {
  OperatorSpec op;
  op.function = function;
  const std::string self = in_place ? "selfRef" : "self";
  const std::string tensors = in_place ? self : "self out";
  const std::string out = in_place ? self : "out";
  const std::string prob = by_tensor ? " prob" : "";
  op.valid = {in_place ? OutputArg(self, kMatrix) : TensorArg(self, kMatrix),
              by_tensor ? TensorArg("prob", kMatrix) : ScalarArg("prob", {0.5L, 0}, ACL_DOUBLE), Seed(),
              Offset()};
  op.valid[0].is_unread = !in_place;  // only its shape and dtype count
  if (!in_place) op.valid.push_back(OutputArg("out", kMatrix));
  Listed listed = kFilledOrBool;
  listed.on_950 = {ACL_UINT16, ACL_UINT32, ACL_UINT64};
  op.rules =
      Rules{NoNulls(self + " prob"), NoNulls(out),
            // Two products have no dtype.
            On({Product::k310B, Product::k310P}, DtypeIn(self, {})), DtypeIn(self, listed),
            DtypeIn("prob", {{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE}, {ACL_BF16}})} +
      If(!in_place, SameDtype(self, out)) +
      If(!by_tensor,
         [](PlanCall& call) -> std::optional<Verdict> {
           const auto value = static_cast<double>(ScalarIn(call["prob"], ACL_DOUBLE).real);
           if (!IsNoProbability(value)) return std::nullopt;
           std::vector<std::string> says = Shown(value);
           says.push_back("prob");
           return Verdict{161002, {}, says};
         }) +
      Rules{Ranks(self + prob)} + If(!in_place, ShapeOf(out, self)) +
      Rules{NoPrivateFormat(self + prob), NoPrivateFormat(out), Representable(), DoneIfEmpty(out + prob)};
  if (by_tensor) {
    // CANN reads as many elements as there are; here prob broadcasts.
    op.rules.push_back([=](PlanCall& call) -> std::optional<Verdict> {
      if (Broadcast(call["prob"].shape, call[out].shape) == call[out].shape) return std::nullopt;
      return Verdict{161002, {}, {"prob", ToString(call["prob"].shape)}};
    });
    op.rules.push_back(Inside("prob"));
  }
  op.rules.push_back(Inside(self));
  const auto all_of = [=](const Shape& shape) {
    return [=](PlanCall& call) {
      for (const std::string& name : Words(tensors)) call[name].shape = shape;
    };
  };
  op.bases = {all_of({0}), all_of({}), all_of(Shape(8, 2))};
  if (by_tensor) {
    for (const Shape& shape : {Shape{0}, Shape{1}, Shape{3}, Shape{}, Shape{2, 1}})
      op.bases.push_back(OfShape("prob", shape));
    op.bases.push_back(OfDtype("prob", ACL_DOUBLE));
  } else {
    for (const long double value : {0.0L, 1.0L, 1.5L, std::numeric_limits<long double>::quiet_NaN()})
      op.bases.push_back([=](PlanCall& call) { call["prob"].number = {value, 0}; });
  }
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const std::vector<Shape> shapes = RandomBroadcastShapes(2, 8, random);
    const DtypeNumber dtype = DrawDtype(random, And(kFills, {ACL_BF16, ACL_BOOL, ACL_UINT16}));
    for (const std::string& name : Words(tensors)) {
      call[name].shape = *Broadcast(shapes);
      call[name].dtype = dtype;
    }
    call["prob"].shape = shapes[0];
    call["prob"].dtype = DrawDtype(random, kReals);
  };
  return op;
}

// ---- normal numbers of given means and deviations ----

void DrawNormal(OperatorSpec& op, const std::string& out) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{0}, Shape(8, 2), Shape{2, 0, 3}}) {
    op.bases.push_back([=](PlanCall& call) {
      for (PlanArgument& one : call.arguments) {
        if (one.kind == ParameterKind::kTensor) one.shape = shape;
      }
    });
  }
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const std::vector<Shape> shapes = RandomBroadcastShapes(2, 8, random);
    size_t next = 0;
    for (PlanArgument& one : call.arguments) {
      if (one.kind != ParameterKind::kTensor) continue;
      one.dtype = DrawDtype(random, kReals);
      one.shape = one.name == out || random.Chance(20) ? *Broadcast(shapes) : shapes[next++];
    }
  };
}

OperatorSpec NormalTensorTensor() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnNormalTensorTensor);
  op.valid = {TensorArg("mean", {2, 1}), TensorArg("std", {3}), Seed(), Offset(), OutputArg("out", kMatrix)};
  op.rules = {NoNulls("mean std out"),
              Ranks("mean std out"),
              Broadcasts("mean std"),
              HasShape("out", [](const PlanCall& call) { return call.result; }),
              DtypeIn("mean std out", {kReals}),
              Representable(),
              DoneIfEmpty("out"),
              Inside("mean std")};
  DrawNormal(op, "out");
  op.bases.push_back(OfShapes({{"mean", {0}}, {"std", {1}}, {"out", {0}}}));
  return op;
}

OperatorSpec NormalTensorFloat() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnNormalTensorFloat);
  op.valid = {TensorArg("mean", {2, 1}), RealArg("std", 1), Seed(), Offset(), OutputArg("out", kMatrix)};
  op.rules = {NoNulls("mean out"),
              Ranks("mean out"),
              Broadcasts("mean out"),
              HasShape("out", [](const PlanCall& call) { return call.result; }),
              DtypeIn("mean out", {kReals}),
              Representable(),
              DoneIfEmpty("out"),
              Inside("mean")};
  DrawNormal(op, "out");
  op.bases.push_back(Real("std", -1));
  return op;
}

OperatorSpec NormalFloatTensor() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnNormalFloatTensor);
  op.valid = {RealArg("mean", 0), TensorArg("std", kMatrix), Seed(), Offset(), OutputArg("out", kMatrix)};
  op.rules = {NoNulls("std out"),
              Ranks("std out"),
              [](PlanCall& call) -> std::optional<Verdict> {
                const Shape& std = call["std"].shape;
                const Shape& out = call["out"].shape;
                const bool fits = IsAnyEmpty(call, "out") ? CountedElements(std) == 1 : std == out;
                if (!IsAnyEmpty(call, "std") && fits) return std::nullopt;
                return Verdict{161002, {}, {"std", ToString(std), ToString(out)}};
              },
              DtypeIn("std out", {kReals}),
              Representable(),
              DoneIfEmpty("out"),
              Inside("std")};
  DrawNormal(op, "out");
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1}})
    op.bases.push_back(OfShapes({{"std", shape}, {"out", {0}}}));
  return op;
}

OperatorSpec NormalFloatFloat() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnNormalFloatFloat);
  op.valid = {RealArg("mean", 0), RealArg("std", 1), Seed(), Offset(), OutputArg("out", kMatrix)};
  op.rules = {NoNulls("out"), Ranks("out"), DtypeIn("out", {kReals}), Representable(), DoneIfEmpty("out")};
  DrawNormal(op, "out");
  return op;
}

// ---- indices ----

OperatorSpec Randperm() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnRandperm);
  op.takes_workspace = true;
  op.valid_takes_workspace = true;
  op.valid = {IntegerArg("n", 5), Seed(), Offset(), OutputArg("out", {5}, ACL_INT64)};
  op.rules = {NoNulls("out", 561103),
              DtypeIn("out", kFilled),
              [](PlanCall& call) -> std::optional<Verdict> {
                const int64_t n = call["n"].integer;
                if (call["out"].shape == Shape{n}) return std::nullopt;
                return Verdict{161002, {}, {"out", ToString(call["out"].shape), std::to_string(n)}};
              },
              IntegerFrom("n", 0, int64_t{1} << 60),
              Representable(),
              DoneIfEmpty("out")};
  const auto of_size = [](int64_t n) { return Together({Integer("n", n), OfShape("out", {n})}); };
  for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{1} << 40, int64_t{1} << 60,
                          (int64_t{1} << 60) + 1, std::numeric_limits<int64_t>::max()})
    op.bases.push_back(of_size(n));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    of_size(random.Between(-2, 20))(call);
    call["out"].dtype = DrawDtype(random, And(kFills, {ACL_BF16}));
  };
  return op;
}

OperatorSpec Multinomial(const CFunction& function, bool by_tensor) {
  OperatorSpec op;
  op.function = function;
  op.takes_workspace = true;
  op.valid_takes_workspace = true;
  op.valid = std::vector<PlanArgument>{TensorArg("self", kMatrix), IntegerArg("numsamples", 2),
                                       IntegerArg("replacement", 0)} +
             Seeds(by_tensor);
  op.valid.push_back(OutputArg("out", {2, 2}, ACL_INT64));
  const auto weights = [](const PlanCall& call) { return call["self"].shape.back(); };
  op.rules = Rules{NoNulls("self")} + If(by_tensor, NoNulls(kSeedTensors)) +
             Rules{NoNulls("out"),
                   DtypeIn("self", {{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE}, {ACL_BF16}}),
                   DtypeIn("out", {{ACL_INT64}}),
                   [](PlanCall& call) -> std::optional<Verdict> {
                     const Shape& self = call["self"].shape;
                     const Shape& out = call["out"].shape;
                     Shape expected = self;
                     if (!expected.empty()) expected.back() = call["numsamples"].integer;
                     if ((self.size() == 1 || self.size() == 2) && out == expected) return std::nullopt;
                     return Verdict{161002, {}, {"self", ToString(self), "out", ToString(out)}};
                   },
                   RefusesInteger("numsamples",
                                  [=](const PlanCall& call) {
                                    const int64_t samples = call["numsamples"].integer;
                                    const bool replaces = call["replacement"].integer != 0;
                                    return samples <= 0 || (!replaces && samples > weights(call));
                                  }),
                   [=](PlanCall& call) -> std::optional<Verdict> {
                     if (weights(call) <= 1 << 24) return std::nullopt;
                     return Verdict{161002, {}, {"self", std::to_string(weights(call))}};
                   }} +
             If(by_tensor, OneOf(kSeedTensors, {ACL_INT64})) +
             Rules{Representable(), DoneIfEmpty("self"), Inside("self")};
  const auto drawing = [](const Shape& self, int64_t samples, bool replaces) {
    return [=](PlanCall& call) {
      call["self"].shape = call["out"].shape = self;
      if (!self.empty()) call["out"].shape.back() = samples;
      call["numsamples"].integer = samples;
      call["replacement"].integer = replaces ? 1 : 0;
    };
  };
  for (const bool replaces : {false, true}) {
    for (const auto& [self, samples] : {std::pair<Shape, int64_t>{{2, 3}, 3},
                                        {{2, 3}, 4},
                                        {{2, 3}, 0},
                                        {{2, 3}, -1},
                                        {{3}, 2},
                                        {{1}, 1},
                                        {{0, 3}, 2},
                                        {{2, 0}, 2},
                                        {{0}, 1},
                                        {{1, 2, 3}, 2},
                                        {{2, 1 << 24}, 2},
                                        {{2, (1 << 24) + 1}, 2}})
      op.bases.push_back(drawing(self, samples, replaces));
  }
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    drawing(DrawShape(random, 1, 2), random.Between(0, 4), random.Chance(50))(call);
    call["self"].dtype = DrawDtype(random, kReals);
  };
  return op;
}

}  // namespace

std::vector<const OperatorSpec*> RandomOperators() {
  // Never destroyed: programs call operators until they have ended.
  static const auto& all = *new std::vector<OperatorSpec>([] {
    std::vector<OperatorSpec> operators = {
        Uniform(PORTACL_C_FUNCTION(aclnnInplaceUniform), false),
        Uniform(PORTACL_C_FUNCTION(aclnnInplaceUniformTensor), true),
        Normal(PORTACL_C_FUNCTION(aclnnInplaceNormal), false),
        Normal(PORTACL_C_FUNCTION(aclnnInplaceNormalTensor), true),
        Random(PORTACL_C_FUNCTION(aclnnInplaceRandom), true, false),
        Random(PORTACL_C_FUNCTION(aclnnInplaceRandomTensor), true, true),
        Random(PORTACL_C_FUNCTION(aclnnInplaceRandomWithoutFromTo), false, false),
        Random(PORTACL_C_FUNCTION(aclnnInplaceRandomWithoutFromToTensor), false, true),
        Bernoulli(PORTACL_C_FUNCTION(aclnnBernoulli), false, false),
        Bernoulli(PORTACL_C_FUNCTION(aclnnInplaceBernoulli), false, true),
        Bernoulli(PORTACL_C_FUNCTION(aclnnBernoulliTensor), true, false),
        Bernoulli(PORTACL_C_FUNCTION(aclnnInplaceBernoulliTensor), true, true),
        NormalTensorTensor(),
        NormalTensorFloat(),
        NormalFloatTensor(),
        NormalFloatFloat(),
        SimThreadExponential(),
        Randperm(),
        Multinomial(PORTACL_C_FUNCTION(aclnnMultinomial), false),
        Multinomial(PORTACL_C_FUNCTION(aclnnMultinomialTensor), true)};
    const std::vector<OperatorSpec> dropouts = DropoutOperators();
    operators.insert(operators.end(), dropouts.begin(), dropouts.end());
    return operators;
  }());
  std::vector<const OperatorSpec*> pointers;
  for (const OperatorSpec& op : all) pointers.push_back(&op);
  return pointers;
}

}  // namespace portacl::testing
