// Losses of one class a row, from logarithms of probabilities, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/loss.h"
#include "norm/row_calls.h"
#include "operators/norm_rules.h"
#include "operators/norms.h"

namespace portacl::testing {
namespace {

using namespace norms;

const Listed kTargets = {{ACL_INT64, ACL_INT32, ACL_UINT8}};

size_t ClassDim(const Shape& shape) { return shape.size() == 1 ? 0 : 1; }
Shape TargetShape(const Shape& self) {
  Shape shape = self;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(ClassDim(self)));
  return shape;
}
Rule CanBe(const std::string& from, const std::string& to) {
  return Refuses(161002, to + " " + from,
                 [=](PlanCall& call) { return !CanCastDtype(call[from].dtype, call[to].dtype); });
}
Rule CanBeWritten(const std::string& from, const std::string& to) {
  return Refuses(561103, to + " " + from, [=](PlanCall& call) {
    const auto& all = ConvertibleDtypes();
    return std::find(all.begin(), all.end(), call[to].dtype) == all.end();
  });
}
Rule Modes() {
  return Refuses(161002, "reduction", [](PlanCall& call) {
    return call["reduction"].integer < 0 || call["reduction"].integer > 2;
  });
}

void DrawClasses(PlanCall& call, RandomNumbers& random, bool two) {
  Shape self =
      two ? Shape{random.Between(1, 3), random.Between(1, 5), random.Between(1, 4), random.Between(1, 4)}
      : random.Below(5) == 0
          ? Shape{random.Between(1, 6)}
          : Shape{random.Between(0, random.Below(8) == 0 ? 9000 : 40), random.Between(1, 12)};
  call["self"].shape = self;
  call["weight"].shape = {self[ClassDim(self)]};
  call["target"].shape = TargetShape(self);
  call["target"].dtype = DrawDtype(random, {ACL_INT64, ACL_INT32, ACL_UINT8});
  call["reduction"].integer = random.Between(0, 2);
  call["ignoreIndex"].integer = random.Below(3) == 0 ? 1 : -100;
  const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
  for (const char* name : {"self", "weight"}) call[name].dtype = dtype;
}

// Any dims that have as many elements as the one.
void DrawAsManyElements(Shape& shape, RandomNumbers& random) {
  const int64_t n = shape[0];
  int64_t first = random.Between(1, n);
  while (n % first != 0) --first;
  shape = {first, n / first};
  if (random.Below(2) == 0) shape.insert(shape.begin() + random.Between(0, 2), 1);
}

// Targets that are classes, now and then the ignored one.
void FillClasses(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  FillRows(call, tensors, random);
  const auto arguments = TensorsOf(call);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (arguments[i]->name != "target") continue;
    const Shape& self = call["self"].shape;
    for (int64_t k = 0; k < tensors[i].size(); ++k) {
      int64_t value = random.Between(0, self[ClassDim(self)] - 1);
      if (random.Below(5) == 0 && (call["target"].dtype != ACL_UINT8 || call["ignoreIndex"].integer >= 0))
        value = call["ignoreIndex"].integer;
      EncodeIntegerElement(tensors[i].dtype(), value, tensors[i].Element(k));
    }
  }
}

// The position in self of row r's class t.
int64_t Place(const Shape& self, int64_t row, int64_t target) {
  const size_t dim = ClassDim(self);
  int64_t inner = 1;
  for (size_t i = dim + 1; i < self.size(); ++i) inner *= self[i];
  return (row / inner * self[dim] + target) * inner + row % inner;
}

OperatorSpec LossOperator(const CFunction& function, bool two) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("self", two ? Shape{2, 3, 2, 2} : Shape{2, 3}),
              TensorArg("target", two ? Shape{2, 2, 2} : Shape{2}, ACL_INT64),
              TensorArg("weight", {3}),
              IntegerArg("reduction", 1),
              IntegerArg("ignoreIndex", -100),
              OutputArg("out", {}),
              OutputArg("totalWeightOut", {})};
  op.rules = {NoNulls("self target weight out totalWeightOut")};
  if (two) op.rules.push_back(DtypeIn("self", kFloats));
  op.rules.push_back(SameDtype("self", "weight"));
  op.rules.push_back(CanBe("self", "out"));
  op.rules.push_back(CanBe("self", "totalWeightOut"));
  if (!two) op.rules.push_back(DtypeIn("self", kFloats));
  op.rules.push_back(DtypeIn("target", kTargets));
  op.rules.push_back(Modes());
  op.rules.push_back(Refuses(161002, "self", [=](PlanCall& call) {
    const size_t rank = call["self"].shape.size();
    return two ? rank != 4 : rank < 1 || rank > 2;
  }));
  op.rules.push_back(Refuses(161002, "target", [=](PlanCall& call) {
    return call["target"].shape != TargetShape(call["self"].shape);
  }));
  op.rules.push_back(Refuses(161002, "weight", [=](PlanCall& call) {
    const Shape& self = call["self"].shape;
    const Shape& weight = call["weight"].shape;
    const int64_t classes = self[ClassDim(self)];
    return two ? weight.empty() || weight[0] != classes || NumElements(weight) != classes
               : weight != Shape{classes};
  }));
  op.rules.push_back(Refuses(161002, "out", [](PlanCall& call) {
    const bool each = IsNone(call) && call["self"].shape.size() != 1;
    return each ? call["out"].shape != call["target"].shape : NumElements(call["out"].shape) != 1;
  }));
  op.rules.push_back(Refuses(161002, "totalWeightOut",
                             [](PlanCall& call) { return NumElements(call["totalWeightOut"].shape) != 1; }));
  op.rules.push_back(Refuses(161002, "self", [](PlanCall& call) {
    return call["self"].shape[ClassDim(call["self"].shape)] == 0 && NumElements(call["target"].shape) != 0;
  }));
  op.rules.push_back(
      SucceedsIf([](PlanCall& call) { return IsNone(call) && NumElements(call["self"].shape) == 0; }));
  op.rules.push_back(CanBeWritten("self", "out"));
  op.rules.push_back(CanBeWritten("self", "totalWeightOut"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DrawClasses(call, random, two);
    // Dims behind that of the classes are not asked for.
    for (int64_t more = two ? random.Between(0, 3) : 0; more > 0; --more) call["weight"].shape.push_back(1);
    call["out"].shape = IsNone(call) ? call["target"].shape : Shape{};
    call["out"].dtype = random.Below(4) == 0 ? DtypeNumber{ACL_FLOAT} : call["self"].dtype;
    call["totalWeightOut"].dtype = call["self"].dtype;
  };
  op.fill = FillClasses;
  op.takes_workspace = true;
  op.tolerance = 1e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t rows = NumElements(call["target"].shape);
    std::vector<double> each;
    double sum = 0;
    double total = 0;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t target = tensors[1].Integer(row);
      each.push_back(0);
      if (target == call["ignoreIndex"].integer || NumElements(call["self"].shape) == 0) continue;
      const double weight = ValueAt(tensors[2], target);
      each.back() = -weight * ValueAt(tensors[0], Place(call["self"].shape, row, target));
      sum += each.back();
      total += weight;
    }
    if (IsNone(call)) return std::vector<Outcome>{AsOutcome(call["out"].dtype, each), {}};
    return std::vector<Outcome>{
        AsOutcome(call["out"].dtype, {call["reduction"].integer == 1 ? sum / total : sum}),
        AsOutcome(call["totalWeightOut"].dtype, {total})};
  };
  return op;
}

OperatorSpec LossGradient(const CFunction& function, bool two) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("gradOutput", {}),
              TensorArg("self", two ? Shape{2, 3, 2, 2} : Shape{2, 3}),
              TensorArg("target", two ? Shape{2, 2, 2} : Shape{2}, ACL_INT64),
              TensorArg("weight", {3}),
              IntegerArg("reduction", 1),
              IntegerArg("ignoreIndex", -100),
              TensorArg("totalWeight", {}),
              OutputArg("out", two ? Shape{2, 3, 2, 2} : Shape{2, 3})};
  op.rules = {NoNulls("gradOutput self target weight totalWeight out")};
  if (two) {
    for (const Rule& rule :
         {DtypeIn("self", kFloats), SameDtype("self", "gradOutput"), SameDtype("self", "weight"),
          SameDtype("self", "out"), SameDtype("self", "totalWeight")})
      op.rules.push_back(rule);
  } else {
    for (const Rule& rule :
         {SameDtype("self", "weight"), SameDtype("self", "gradOutput"), SameDtype("self", "totalWeight"),
          CanBe("self", "out"), DtypeIn("self", kFloats)})
      op.rules.push_back(rule);
  }
  op.rules.push_back(DtypeIn("target", kTargets));
  if (!two) op.rules.push_back(Modes());
  op.rules.push_back(Refuses(161002, "self", [=](PlanCall& call) {
    const size_t rank = call["self"].shape.size();
    return two ? rank != 4 : rank < 1 || rank > 2;
  }));
  op.rules.push_back(Refuses(161002, "target", [=](PlanCall& call) {
    const Shape& self = call["self"].shape;
    const Shape& target = call["target"].shape;
    return target != TargetShape(self) && (two || self.size() != 1 || target != self);
  }));
  op.rules.push_back(Refuses(161002, "weight", [=](PlanCall& call) {
    const Shape& self = call["self"].shape;
    const int64_t classes = self[ClassDim(self)];
    return two ? NumElements(call["weight"].shape) != classes : call["weight"].shape != Shape{classes};
  }));
  op.rules.push_back(Refuses(161002, "totalWeight",
                             [](PlanCall& call) { return NumElements(call["totalWeight"].shape) != 1; }));
  op.rules.push_back(Refuses(161002, "gradOutput", [](PlanCall& call) {
    const bool each = IsNone(call) && call["self"].shape.size() != 1;
    return each ? call["gradOutput"].shape != call["target"].shape
                : NumElements(call["gradOutput"].shape) != 1;
  }));
  op.rules.push_back(SameShape("self", "out"));
  if (two) op.rules.push_back(Modes());
  op.rules.push_back(DoneIfEmpty("self"));
  op.rules.push_back(CanBeWritten("self", "out"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DrawClasses(call, random, two);
    if (two) DrawAsManyElements(call["weight"].shape, random);
    call["gradOutput"].shape = IsNone(call) ? call["target"].shape : Shape{};
    call["out"].shape = call["self"].shape;
    for (const char* name : {"gradOutput", "totalWeight", "out"}) call[name].dtype = call["self"].dtype;
    if (!two && random.Below(4) == 0) call["out"].dtype = ACL_FLOAT;
  };
  op.fill = FillClasses;
  op.tolerance = 1e-6;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    std::vector<double> out(static_cast<size_t>(NumElements(call["self"].shape)));
    for (int64_t row = 0; row < NumElements(call["target"].shape); ++row) {
      const int64_t target = tensors[2].Integer(row);
      if (target == call["ignoreIndex"].integer) continue;
      const double g = ValueAt(tensors[0], tensors[0].elements.size() == 1 ? 0 : row);
      const double by = call["reduction"].integer == 1 ? ValueAt(tensors[4], int64_t{0}) : 1;
      out[static_cast<size_t>(Place(call["self"].shape, row, target))] =
          -ValueAt(tensors[3], target) * g / by;
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

}  // namespace

const std::vector<OperatorSpec>& ClassOperators() {
  static const std::vector<OperatorSpec> all = [] {
    std::vector<OperatorSpec> every = {LossOperator(PORTACL_C_FUNCTION(aclnnNLLLoss), false),
                                       LossOperator(PORTACL_C_FUNCTION(aclnnNLLLoss2d), true),
                                       LossGradient(PORTACL_C_FUNCTION(aclnnNLLLossBackward), false),
                                       LossGradient(PORTACL_C_FUNCTION(aclnnNLLLoss2dBackward), true)};
    for (const OperatorSpec& op : norms::Entropies()) every.push_back(op);
    return every;
  }();
  return all;
}

}  // namespace portacl::testing
