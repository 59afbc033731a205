// Losses over classes and their gradients, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "row_calls.h"

#include "aclnnop/families/loss.h"
#include "gtest/gtest.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

const Listed kTargets = {{ACL_INT64, ACL_INT32, ACL_UINT8}};

size_t ClassDim(const Shape& shape) { return shape.size() == 1 ? 0 : 1; }
Shape TargetShape(const Shape& self) {
  Shape shape = self;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(ClassDim(self)));
  return shape;
}
IndexRule CanBe(const std::string& from, const std::string& to) {
  return Refuses(161002, to + " " + from,
                 [=](IndexCall& call) { return !CanCastDtype(call[from].dtype, call[to].dtype); });
}
IndexRule CanBeWritten(const std::string& from, const std::string& to) {
  return Refuses(561103, to + " " + from, [=](IndexCall& call) {
    const auto& all = ConvertibleDtypes();
    return std::find(all.begin(), all.end(), call[to].dtype) == all.end();
  });
}
IndexRule Modes() {
  return Refuses(161002, "reduction", [](IndexCall& call) {
    return call["reduction"].integer < 0 || call["reduction"].integer > 2;
  });
}
bool IsNone(const IndexCall& call) { return call["reduction"].integer == 0; }

void DrawClasses(IndexCall& call, RandomNumbers& random, bool two) {
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
void FillClasses(const IndexCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
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

IndexOperator LossOperator(const CFunction& function, bool two) {
  IndexOperator op;
  op.function = function;
  op.valid = {TensorArg("self", two ? Shape{2, 3, 2, 2} : Shape{2, 3}),
              TensorArg("target", two ? Shape{2, 2, 2} : Shape{2}, ACL_INT64),
              TensorArg("weight", {3}),
              IntegerArg("reduction", 1),
              IntegerArg("ignoreIndex", -100),
              OutputArg("out", {}),
              OutputArg("totalWeightOut", {})};
  op.rules = {NoNulls("self target weight out totalWeightOut")};
  if (two) op.rules.push_back(Listed_("self", kFloats));
  op.rules.push_back(OneDtype("self", "weight"));
  op.rules.push_back(CanBe("self", "out"));
  op.rules.push_back(CanBe("self", "totalWeightOut"));
  if (!two) op.rules.push_back(Listed_("self", kFloats));
  op.rules.push_back(Listed_("target", kTargets));
  op.rules.push_back(Modes());
  op.rules.push_back(Refuses(161002, "self", [=](IndexCall& call) {
    const size_t rank = call["self"].shape.size();
    return two ? rank != 4 : rank < 1 || rank > 2;
  }));
  op.rules.push_back(Refuses(161002, "target", [=](IndexCall& call) {
    return call["target"].shape != TargetShape(call["self"].shape);
  }));
  op.rules.push_back(Refuses(161002, "weight", [=](IndexCall& call) {
    const Shape& self = call["self"].shape;
    const Shape& weight = call["weight"].shape;
    const int64_t classes = self[ClassDim(self)];
    return two ? weight.empty() || weight[0] != classes || NumElements(weight) != classes
               : weight != Shape{classes};
  }));
  op.rules.push_back(Refuses(161002, "out", [](IndexCall& call) {
    const bool each = IsNone(call) && call["self"].shape.size() != 1;
    return each ? call["out"].shape != call["target"].shape : NumElements(call["out"].shape) != 1;
  }));
  op.rules.push_back(Refuses(161002, "totalWeightOut",
                             [](IndexCall& call) { return NumElements(call["totalWeightOut"].shape) != 1; }));
  op.rules.push_back(Refuses(161002, "self", [](IndexCall& call) {
    return call["self"].shape[ClassDim(call["self"].shape)] == 0 && NumElements(call["target"].shape) != 0;
  }));
  op.rules.push_back(
      SucceedsIf([](IndexCall& call) { return IsNone(call) && NumElements(call["self"].shape) == 0; }));
  op.rules.push_back(CanBeWritten("self", "out"));
  op.rules.push_back(CanBeWritten("self", "totalWeightOut"));
  op.draw = [=](IndexCall& call, RandomNumbers& random) {
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
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
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

IndexOperator LossGradient(const CFunction& function, bool two) {
  IndexOperator op;
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
    for (const IndexRule& rule :
         {Listed_("self", kFloats), OneDtype("self", "gradOutput"), OneDtype("self", "weight"),
          OneDtype("self", "out"), OneDtype("self", "totalWeight")})
      op.rules.push_back(rule);
  } else {
    for (const IndexRule& rule :
         {OneDtype("self", "weight"), OneDtype("self", "gradOutput"), OneDtype("self", "totalWeight"),
          CanBe("self", "out"), Listed_("self", kFloats)})
      op.rules.push_back(rule);
  }
  op.rules.push_back(Listed_("target", kTargets));
  if (!two) op.rules.push_back(Modes());
  op.rules.push_back(Refuses(161002, "self", [=](IndexCall& call) {
    const size_t rank = call["self"].shape.size();
    return two ? rank != 4 : rank < 1 || rank > 2;
  }));
  op.rules.push_back(Refuses(161002, "target", [=](IndexCall& call) {
    const Shape& self = call["self"].shape;
    const Shape& target = call["target"].shape;
    return target != TargetShape(self) && (two || self.size() != 1 || target != self);
  }));
  op.rules.push_back(Refuses(161002, "weight", [=](IndexCall& call) {
    const Shape& self = call["self"].shape;
    const int64_t classes = self[ClassDim(self)];
    return two ? NumElements(call["weight"].shape) != classes : call["weight"].shape != Shape{classes};
  }));
  op.rules.push_back(Refuses(161002, "totalWeight",
                             [](IndexCall& call) { return NumElements(call["totalWeight"].shape) != 1; }));
  op.rules.push_back(Refuses(161002, "gradOutput", [](IndexCall& call) {
    const bool each = IsNone(call) && call["self"].shape.size() != 1;
    return each ? call["gradOutput"].shape != call["target"].shape
                : NumElements(call["gradOutput"].shape) != 1;
  }));
  op.rules.push_back(OneShape("self", "out"));
  if (two) op.rules.push_back(Modes());
  op.rules.push_back(EmptyDone("self"));
  op.rules.push_back(CanBeWritten("self", "out"));
  op.draw = [=](IndexCall& call, RandomNumbers& random) {
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
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
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

// ---- cross entropy ----

// Of products since Atlas A2 alone.
IndexRule SinceA2(const std::string& name) {
  return Refuses(161002, name, [=](IndexCall& call) {
    const bool is_new = call.product <= Product::kA2;
    const DtypeNumber dtype = call[name].dtype;
    return !is_new || std::find(kRowDtypes.begin(), kRowDtypes.end(), dtype) == kRowDtypes.end();
  });
}
std::string ModeOf(const IndexCall& call) {
  const IndexArgument& mode = call["reductionOptional"];
  return mode.null ? "mean" : mode.text;
}
// What losses and gradients have in common: `rows` are the logits or their logarithms.
void CrossEntropyRules(IndexRules& rules, const std::string& rows, const std::string& loss) {
  rules.push_back(Tiling("reductionOptional", [](IndexCall& call) {
    return ModeOf(call) != "none" && ModeOf(call) != "mean" && ModeOf(call) != "sum";
  }));
  rules.push_back(Tiling("labelSmoothing", [](IndexCall& call) {
    return call["labelSmoothing"].real < 0 || call["labelSmoothing"].real > 1;
  }));
  rules.push_back(Tiling(
      rows, [=](IndexCall& call) { return call[rows].shape.size() != 2 || call[rows].shape[1] == 0; }));
  rules.push_back(
      Tiling("target", [=](IndexCall& call) { return call["target"].shape != Shape{call[rows].shape[0]}; }));
  rules.push_back(Given("weightOptional", Tiling("weightOptional", [=](IndexCall& call) {
                          return call["weightOptional"].shape != Shape{call[rows].shape[1]};
                        })));
  rules.push_back(Tiling(loss, [=](IndexCall& call) {
    return ModeOf(call) == "none" ? call[loss].shape != Shape{call[rows].shape[0]}
                                  : NumElements(call[loss].shape) != 1;
  }));
}

void DrawCrossEntropy(IndexCall& call, RandomNumbers& random, const std::string& rows,
                      const std::vector<std::string>& of_its_dtype) {
  const Shape shape = random.Below(12) == 0   ? Shape{random.Between(1, 2), random.Between(4000, 9000)}
                      : random.Below(20) == 0 ? Shape{random.Between(4000, 6000), random.Between(1, 4)}
                                              : Shape{random.Between(random.Below(4) == 0 ? 0 : 1, 40),
                                                      random.Between(1, random.Below(4) == 0 ? 70 : 12)};
  const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
  call[rows].shape = shape;
  for (const std::string& name : of_its_dtype) call[name].dtype = dtype;
  call["target"].shape = {shape[0]};
  call["target"].dtype = DrawDtype(random, {ACL_INT64, ACL_INT32});
  call["weightOptional"].shape = {shape[1]};
  call["weightOptional"].null = random.Below(2) == 0;
  const char* const modes[] = {"none", "mean", "sum"};
  call["reductionOptional"].text = modes[random.Below(3)];
  call["reductionOptional"].null = random.Below(8) == 0;
  call["ignoreIndex"].integer = random.Below(3) == 0 ? 1 : -100;
  call["labelSmoothing"].real = random.Below(2) == 0 ? 0 : static_cast<double>(random.Between(1, 10)) / 10;
  call["lseSquareScaleForZloss"].real = random.Below(4) == 0 ? 0.5 : 0;
}

// Classes, now and then the ignored one; weights are not negative.
auto FillCrossEntropy(const std::string& rows) {
  return [=](const IndexCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillRows(call, tensors, random);
    const auto arguments = TensorsOf(call);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (arguments[i]->null) continue;
      for (int64_t k = 0; k < tensors[i].size(); ++k) {
        if (arguments[i]->name == "target") {
          const bool ignored = random.Below(5) == 0;
          EncodeIntegerElement(
              tensors[i].dtype(),
              ignored ? call["ignoreIndex"].integer : random.Between(0, call[rows].shape[1] - 1),
              tensors[i].Element(k));
        } else if (arguments[i]->name == "weightOptional") {
          const Element element =
              ElementOfNumber(ACL_FLOAT, {static_cast<long double>(random.Between(1, 3000)) / 1000, 0});
          std::copy(element.begin(), element.end(), tensors[i].Element(k));
        }
      }
    }
  };
}

double WeightOf(const IndexCall& call, const TensorValues& weights, int64_t i) {
  return call["weightOptional"].null ? 1 : ValueAt(weights, i);
}
// The sum of weights of rows that count.
double TotalWeight(const IndexCall& call, const TensorValues& targets, const TensorValues& weights) {
  double total = 0;
  for (int64_t row = 0; row < NumElements(call["target"].shape); ++row) {
    if (targets.Integer(row) != call["ignoreIndex"].integer)
      total += WeightOf(call, weights, targets.Integer(row));
  }
  return total;
}
double SmoothingOf(const IndexCall& call) {
  return static_cast<double>(static_cast<float>(call["labelSmoothing"].real));
}

IndexOperator CrossEntropy() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnCrossEntropyLoss);
  op.valid = {TensorArg("input", {2, 3}),
              TensorArg("target", {2}, ACL_INT64),
              TensorArg("weightOptional", {3}),
              TextArg("reductionOptional", "mean"),
              IntegerArg("ignoreIndex", -100),
              RealArg("labelSmoothing", 0),
              RealArg("lseSquareScaleForZloss", 0),
              IntegerArg("returnZloss", 0),
              OutputArg("lossOut", {1}),
              OutputArg("logProbOut", {2, 3}),
              OutputArg("zlossOut", {0}),
              OutputArg("lseForZlossOut", {0})};
  op.rules = {NoNulls("input target lossOut logProbOut zlossOut lseForZlossOut"),
              SinceA2("input"),
              Listed_("target", {{ACL_INT64, ACL_INT32}}),
              Given("weightOptional", Listed_("weightOptional", {{ACL_FLOAT}})),
              OneDtype("input", "lossOut"),
              OneDtype("input", "logProbOut"),
              OneDtype("input", "zlossOut"),
              OneDtype("input", "lseForZlossOut")};
  CrossEntropyRules(op.rules, "input", "lossOut");
  op.rules.push_back(
      Tiling("logProbOut", [](IndexCall& call) { return call["logProbOut"].shape != call["input"].shape; }));
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawCrossEntropy(call, random, "input", {"input", "lossOut", "logProbOut", "zlossOut", "lseForZlossOut"});
    call["logProbOut"].shape = call["input"].shape;
    call["lossOut"].shape = ModeOf(call) == "none" ? call["target"].shape
                            : random.Below(2) == 0 ? Shape{1}
                                                   : Shape{};
  };
  op.fill = FillCrossEntropy("input");
  op.takes_workspace = true;
  op.tolerance = 1e-5;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t rows = call["input"].shape[0];
    const int64_t classes = call["input"].shape[1];
    const double smoothing = SmoothingOf(call);
    std::vector<double> logarithms;
    std::vector<double> each;
    double sum = 0;
    for (int64_t row = 0; row < rows; ++row) {
      const auto x = [&](int64_t i) { return ValueAt(tensors[0], row * classes + i); };
      double greatest = x(0);
      for (int64_t i = 1; i < classes; ++i) greatest = std::max(greatest, x(i));
      double powers = 0;
      for (int64_t i = 0; i < classes; ++i) powers += std::exp(x(i) - greatest);
      double all = 0;
      for (int64_t i = 0; i < classes; ++i) {
        logarithms.push_back(x(i) - greatest - std::log(powers));
        all -= WeightOf(call, tensors[2], i) * logarithms.back();
      }
      const int64_t target = tensors[1].Integer(row);
      each.push_back(0);
      if (target == call["ignoreIndex"].integer) continue;
      each.back() =
          -WeightOf(call, tensors[2], target) * logarithms[static_cast<size_t>(row * classes + target)];
      if (smoothing != 0)
        each.back() = (1 - smoothing) * each.back() + smoothing / static_cast<double>(classes) * all;
      sum += each.back();
    }
    const DtypeNumber dtype = call["input"].dtype;
    const Outcome all = AsOutcome(dtype, logarithms);
    if (ModeOf(call) == "none") return std::vector<Outcome>{AsOutcome(dtype, each), all, {}, {}};
    const double divisor = ModeOf(call) == "mean" ? TotalWeight(call, tensors[1], tensors[2]) : 1;
    return std::vector<Outcome>{AsOutcome(dtype, {sum / divisor}), all, {}, {}};
  };
  return op;
}

IndexOperator CrossEntropyGradient() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnCrossEntropyLossGrad);
  op.valid = {TensorArg("gradLoss", {1}),
              TensorArg("logProb", {2, 3}),
              TensorArg("target", {2}, ACL_INT64),
              TensorArg("weightOptional", {3}),
              TensorArg("gradZlossOptional", {0}),
              TensorArg("lseForZlossOptional", {0}),
              TextArg("reductionOptional", "mean"),
              IntegerArg("ignoreIndex", -100),
              RealArg("labelSmoothing", 0),
              RealArg("lseSquareScaleForZloss", 0),
              OutputArg("out", {2, 3})};
  op.rules = {NoNulls("gradLoss logProb target out"),
              SinceA2("gradLoss"),
              OneDtype("gradLoss", "logProb"),
              Listed_("target", {{ACL_INT64, ACL_INT32}}),
              Given("weightOptional", Listed_("weightOptional", {{ACL_FLOAT}})),
              OneDtype("gradLoss", "out")};
  CrossEntropyRules(op.rules, "logProb", "gradLoss");
  op.rules.push_back(
      Tiling("out", [](IndexCall& call) { return call["out"].shape != call["logProb"].shape; }));
  op.rules.push_back(EmptyDone("logProb"));
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawCrossEntropy(call, random, "logProb", {"gradLoss", "logProb", "out"});
    call["out"].shape = call["logProb"].shape;
    call["gradLoss"].shape = ModeOf(call) == "none" ? call["target"].shape
                             : random.Below(2) == 0 ? Shape{1}
                                                    : Shape{};
    for (const char* name : {"gradZlossOptional", "lseForZlossOptional"})
      call[name].null = random.Below(2) == 0;
  };
  op.fill = FillCrossEntropy("logProb");
  op.takes_workspace = true;
  op.tolerance = 1e-5;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t rows = call["logProb"].shape[0];
    const int64_t classes = call["logProb"].shape[1];
    const double smoothing = SmoothingOf(call);
    const double divisor = ModeOf(call) == "mean" ? TotalWeight(call, tensors[2], tensors[3]) : 1;
    std::vector<double> out;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t target = tensors[2].Integer(row);
      const bool counts = target != call["ignoreIndex"].integer;
      const double g = ValueAt(tensors[0], tensors[0].elements.size() == 1 ? 0 : row) / divisor;
      std::vector<double> parts(static_cast<size_t>(classes));
      double sum = 0;
      for (int64_t i = 0; counts && i < classes; ++i) {
        double& part = parts[static_cast<size_t>(i)];
        if (smoothing != 0)
          part = -smoothing / static_cast<double>(classes) * WeightOf(call, tensors[3], i) * g;
        if (i == target) part -= (1 - smoothing) * WeightOf(call, tensors[3], i) * g;
        sum += part;
      }
      for (int64_t i = 0; i < classes; ++i)
        out.push_back(parts[static_cast<size_t>(i)] - std::exp(ValueAt(tensors[1], row * classes + i)) * sum);
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

// ---- shares of all classes ----

IndexOperator LossOfShares() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnSoftmaxCrossEntropyWithLogits);
  op.valid = {TensorArg("features", {2, 3}), TensorArg("labels", {2, 3}), OutputArg("loss", {2}),
              OutputArg("backprop", {2, 3})};
  const auto is_shape = [](const IndexArgument& given, const Shape& shape) {
    return given.shape == shape || (NumElements(given.shape) == 1 && NumElements(shape) == 1);
  };
  op.rules = {NoNulls("features labels loss backprop"),
              Listed_("features labels loss backprop", kFloats),
              OneDtype("features", "loss"),
              OneDtype("features", "backprop"),
              RankRange("features labels loss backprop", 0, 8),
              RankRange("features labels", 2, 2),
              EmptyDone("features labels"),
              Refuses(561103, "labels",
                      [](IndexCall& call) {
                        const Shape& rows = call["features"].shape;
                        const Shape& shares = call["labels"].shape;
                        return (shares[0] != 1 && shares[0] != rows[0]) ||
                               (shares[1] != 1 && shares[1] != rows[1]);
                      }),
              Refuses(561103, "loss",
                      [=](IndexCall& call) { return !is_shape(call["loss"], {call["features"].shape[0]}); }),
              Refuses(561103, "backprop",
                      [=](IndexCall& call) { return !is_shape(call["backprop"], call["features"].shape); })};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    const int64_t rows = random.Between(1, 12);
    const int64_t classes = random.Below(8) == 0 ? random.Between(4000, 9000) : random.Between(1, 70);
    call["features"].shape = call["backprop"].shape = call["labels"].shape = {rows, classes};
    call["loss"].shape = {rows};
    if (rows == 1 && random.Below(2) == 0) call["loss"].shape = {};
    if (rows * classes == 1) call["backprop"].shape = {1, 1, 1};
    for (size_t dim = 0; dim < 2; ++dim) {
      if (random.Below(5) == 0) call["labels"].shape[dim] = 1;
    }
    call["features"].dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"labels", "loss", "backprop"}) call[name].dtype = call["features"].dtype;
    if (random.Below(3) == 0) call["labels"].dtype = DrawDtype(random, kRowDtypes);
  };
  op.fill = FillRows;
  op.takes_workspace = true;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& shape = call["features"].shape;
    std::vector<double> losses;
    std::vector<double> gradients;
    for (int64_t row = 0; row < shape[0]; ++row) {
      const auto x = [&](int64_t c) { return ValueAt(tensors[0], row * shape[1] + c); };
      const auto share = [&](int64_t c) { return ValueAt(tensors[1], Index{row, c}); };
      double greatest = x(0);
      for (int64_t c = 1; c < shape[1]; ++c) greatest = std::max(greatest, x(c));
      double powers = 0;
      for (int64_t c = 0; c < shape[1]; ++c) powers += std::exp(x(c) - greatest);
      losses.push_back(0);
      for (int64_t c = 0; c < shape[1]; ++c) {
        losses.back() -= share(c) * (x(c) - greatest - std::log(powers));
        gradients.push_back(std::exp(x(c) - greatest) / powers - share(c));
      }
    }
    return std::vector<Outcome>{AsOutcome(call["loss"].dtype, losses),
                                AsOutcome(call["backprop"].dtype, gradients)};
  };
  return op;
}

// ---- from the greatest and the sum of each row ----

IndexOperator LossFromSums() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnFusedCrossEntropyLossWithMaxSum);
  op.valid = {TensorArg("logitsMax", {2}),
              TensorArg("sumExpLogits", {2}),
              TensorArg("predictedLogits", {2}),
              RealArg("labelSmoothing", 0),
              TensorArg("inputOptional", {2, 3}),
              TensorArg("weightOptional", {2, 3}),
              TensorArg("vocabParallelLogitsOptional", {2, 3}),
              OutputArg("lossOut", {2}),
              OutputArg("softMaxOutOptional", {2, 3})};
  const auto with_logits = [](const IndexRule& rule) -> IndexRule {
    return [=](IndexCall& call) -> std::optional<Verdict> {
      return call["vocabParallelLogitsOptional"].null ? std::nullopt : rule(call);
    };
  };
  const std::string logits = "vocabParallelLogitsOptional";
  const std::string softmax = "softMaxOutOptional";
  op.rules = {
      NoNulls("logitsMax sumExpLogits predictedLogits lossOut"),
      with_logits(NoNulls(softmax)),
      Listed_("logitsMax sumExpLogits predictedLogits lossOut", {{ACL_FLOAT}}),
      with_logits(Listed_(logits, {kRowDtypes})),
      with_logits(Listed_(softmax, {{ACL_FLOAT}})),
      RankRange("logitsMax", 1, 1),
      OneShape("logitsMax", "sumExpLogits"),
      OneShape("logitsMax", "predictedLogits"),
      OneShape("logitsMax", "lossOut"),
      with_logits(RankRange(logits, 2, 2)),
      with_logits(
          Refuses(161002, logits,
                  [=](IndexCall& call) { return call[logits].shape[0] != call["logitsMax"].shape[0]; })),
      with_logits(OneShape(logits, softmax)),
      Refuses(161002, "labelSmoothing", [](IndexCall& call) { return call["labelSmoothing"].real != 0; }),
      EmptyDone("logitsMax")};
  op.draw = [=](IndexCall& call, RandomNumbers& random) {
    const Shape rows = {random.Between(1, random.Below(8) == 0 ? 3000 : 40)};
    for (const char* name : {"logitsMax", "sumExpLogits", "predictedLogits", "lossOut"})
      call[name].shape = rows;
    call[logits].shape = call[softmax].shape = {rows[0], random.Between(0, 50)};
    call[logits].dtype = DrawDtype(random, kRowDtypes);
    call[logits].null = random.Below(4) == 0;
    call[softmax].null = call[logits].null && random.Below(2) == 0;
    for (const char* name : {"inputOptional", "weightOptional"}) call[name].null = random.Below(2) == 0;
  };
  op.fill = FillRows;
  op.tolerance = 2e-6;
  op.is_inexact = true;
  op.oracle = [=](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    std::vector<double> losses;
    for (int64_t row = 0; row < call["logitsMax"].shape[0]; ++row)
      losses.push_back(std::log(ValueAt(tensors[1], row)) - ValueAt(tensors[2], row));
    std::vector<Outcome> outcomes = {AsOutcome(ACL_FLOAT, losses), {}};
    if (call[logits].null) return outcomes;
    std::vector<double> shares;
    const int64_t classes = call[logits].shape[1];
    for (int64_t i = 0; i < NumElements(call[logits].shape); ++i) {
      const double distance = ValueAt(tensors[5], i) - ValueAt(tensors[0], i / classes);
      shares.push_back(std::exp(distance) / ValueAt(tensors[1], i / classes));
    }
    outcomes[1] = AsOutcome(ACL_FLOAT, shares);
    return outcomes;
  };
  return op;
}

// ---- several labels ----

Shape OneDimOf(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

IndexOperator LabelMargin() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnMultilabelMarginLoss);
  op.valid = {TensorArg("self", {2, 3}), TensorArg("target", {2, 3}, ACL_INT64), IntegerArg("reduction", 1),
              OutputArg("out", {}), OutputArg("isTarget", {2, 3})};
  op.rules = {
      NoNulls("self target out isTarget"),
      Listed_("self", kFloats),
      Listed_("target", {{ACL_INT64, ACL_INT32}}),
      OneDtype("self", "out"),
      OneDtype("self", "isTarget"),
      Refuses(161002, "self",
              [](IndexCall& call) {
                const Shape& self = call["self"].shape;
                return self.size() > 2 || (!self.empty() && self.back() == 0);
              }),
      Refuses(161002, "target",
              [](IndexCall& call) { return OneDimOf(call["target"].shape) != OneDimOf(call["self"].shape); }),
      Refuses(161002, "out",
              [](IndexCall& call) {
                const Shape& self = call["self"].shape;
                return IsNone(call) && self.size() == 2 ? call["out"].shape != Shape{self[0]}
                                                        : NumElements(call["out"].shape) != 1;
              }),
      OneShape("target", "isTarget"),
      EmptyDone("self")};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    const int64_t classes = random.Below(8) == 0 ? random.Between(250, 320) : random.Between(1, 40);
    Shape self = {random.Below(20) == 0 ? random.Between(4000, 9000) : random.Between(0, 20), classes};
    if (self[0] > 1000) self[1] = random.Between(1, 4);
    if (random.Below(5) == 0) self = {classes};
    if (random.Below(10) == 0) self = random.Below(2) == 0 ? Shape{} : Shape{1};
    call["self"].shape = call["target"].shape = self;
    if (OneDimOf(self) == Shape{1} && random.Below(2) == 0)
      call["target"].shape = self.empty() ? Shape{1} : Shape{};
    call["isTarget"].shape = call["target"].shape;
    call["target"].dtype = DrawDtype(random, {ACL_INT64, ACL_INT32});
    const int64_t modes[] = {0, 1, 2, 3, -1};
    call["reduction"].integer = modes[random.Below(5)];
    call["out"].shape = self.size() != 2 ? (random.Below(2) == 0 ? Shape{} : Shape{1, 1})
                        : IsNone(call)   ? Shape{self[0]}
                                         : Shape{};
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"self", "out", "isTarget"}) call[name].dtype = dtype;
  };
  // Classes, some of them several times, behind some of which there is a -1.
  op.fill = [](const IndexCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillRows(call, tensors, random);
    const int64_t classes = OneDimOf(call["self"].shape).back();
    int64_t left = 0;
    for (int64_t k = 0; k < tensors[1].size(); ++k) {
      if (k % classes == 0) left = random.Between(0, classes + 1);
      const int64_t value = left-- == 0 ? -1 : random.Between(0, classes - 1);
      EncodeIntegerElement(tensors[1].dtype(), value, tensors[1].Element(k));
    }
  };
  op.takes_workspace = true;
  op.tolerance = 1e-6;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const Shape self = OneDimOf(call["self"].shape);
    const int64_t classes = self.back();
    const int64_t rows = self.size() == 2 ? self[0] : 1;
    std::vector<double> each;
    std::vector<double> marks;
    double sum = 0;
    for (int64_t row = 0; row < rows; ++row) {
      std::vector<int64_t> labels;
      for (int64_t k = 0; k < classes && tensors[1].Integer(row * classes + k) >= 0; ++k)
        labels.push_back(tensors[1].Integer(row * classes + k));
      each.push_back(0);
      for (int64_t i = 0; i < classes; ++i) {
        marks.push_back(std::find(labels.begin(), labels.end(), i) != labels.end() ? 1 : 0);
        if (marks.back() != 0) continue;
        for (const int64_t label : labels) {
          const double gap =
              1 - (ValueAt(tensors[0], row * classes + label) - ValueAt(tensors[0], row * classes + i));
          if (gap > 0) each.back() += gap / static_cast<double>(classes);
        }
      }
      sum += each.back();
    }
    if (rows == 0) return std::vector<Outcome>{Outcome(call["out"].shape.empty() ? 1 : 0), {}};  // as it was
    if (call["reduction"].integer == 1) sum /= static_cast<double>(rows);
    const bool is_each = IsNone(call) && rows != 1;
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, is_each ? each : std::vector<double>{sum}),
                                AsOutcome(call["isTarget"].dtype, marks)};
  };
  return op;
}

const std::vector<IndexOperator>& Operators() {
  static const std::vector<IndexOperator> all = {
      LossOperator(PORTACL_C_FUNCTION(aclnnNLLLoss), false),
      LossOperator(PORTACL_C_FUNCTION(aclnnNLLLoss2d), true),
      LossGradient(PORTACL_C_FUNCTION(aclnnNLLLossBackward), false),
      LossGradient(PORTACL_C_FUNCTION(aclnnNLLLoss2dBackward), true),
      CrossEntropy(),
      CrossEntropyGradient(),
      LossOfShares(),
      LossFromSums(),
      LabelMargin()};
  return all;
}

PORTACL_INDEX_TESTS(Classes, Operators());

// They count like ignored ones, and fail the stream once, with the first of them.
TEST(ClassTargets, ThatAreNoClassFailTheStream) {
  constexpr int64_t kRows = 9000;
  for (const bool raises : {true, false}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_INDEX_ERRORS", raises ? "raise" : "ignore"}});
    std::vector<float> self(kRows * 3, 2), weight = {9, 1, 2, 3}, out(1), total(1), gradient(kRows * 3, 7);
    std::vector<int64_t> target(kRows, 0);
    target[4200] = 3;
    target[8800] = -1;
    const int64_t rows[] = {kRows, 3}, classes[] = {3};
    const auto tensor = [](const int64_t* shape, uint64_t rank, aclDataType dtype, void* data) {
      return aclCreateTensor(shape, rank, dtype, nullptr, 0, ACL_FORMAT_ND, shape, rank, data);
    };
    const std::vector<aclTensor*> all = {
        tensor(rows, 2, ACL_FLOAT, self.data()),          tensor(rows, 1, ACL_INT64, target.data()),
        tensor(classes, 1, ACL_FLOAT, weight.data() + 1), tensor(nullptr, 0, ACL_FLOAT, out.data()),
        tensor(nullptr, 0, ACL_FLOAT, total.data()),      tensor(rows, 2, ACL_FLOAT, gradient.data())};
    const auto fails = [&] {
      EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), raises ? 507015 : 0);
      const std::string message = TakeErrorMessage();
      EXPECT_EQ(message.find("target has the value 3 at element 4200, accepted: 0 to 2") != std::string::npos,
                raises)
          << message;
    };
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnNLLLossGetWorkspaceSize(all[0], all[1], all[2], 1, -100, all[3], all[4], &size, &executor),
              0);
    const GuardedBuffer workspace(size);
    ASSERT_EQ(aclnnNLLLoss(workspace.device(), size, executor, environment.stream()), 0);
    fails();
    EXPECT_EQ(total[0], kRows - 2.0f);
    EXPECT_EQ(out[0], -2.0f);
    ASSERT_EQ(aclnnNLLLossBackwardGetWorkspaceSize(all[3], all[0], all[1], all[2], 2, -100, all[4], all[5],
                                                   &size, &executor),
              0);
    ASSERT_EQ(aclnnNLLLossBackward(workspace.device(), size, executor, environment.stream()), 0);
    fails();
    for (size_t i = 0; i < gradient.size(); ++i)
      ASSERT_EQ(gradient[i], i % 3 == 0 && i != 4200 * 3 && i != 8800 * 3 ? 2.0f : 0.0f) << i;
    for (const aclTensor* one : all) aclDestroyTensor(one);
  }
}

// Weights of ten dims, none of which goes on in the next, are more than are walked along; as one of memory they are not.
TEST(ClassWeights, OfManyDims) {
  const ScopedEnvironment environment(Variables{});
  constexpr int64_t kClasses = 1024;
  const std::vector<int64_t> dims(10, 2);
  std::vector<int64_t> ascending, descending;
  for (int64_t stride = 1; stride < kClasses; stride *= 2) ascending.push_back(stride);
  descending.assign(ascending.rbegin(), ascending.rend());
  std::vector<float> weight(kClasses), gradient = {1}, total = {1}, out(kClasses);
  for (size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i);
  std::vector<int64_t> target = {600};
  const int64_t image[] = {1, kClasses, 1, 1}, place[] = {1, 1, 1};
  const auto tensor = [](const int64_t* shape, uint64_t rank, aclDataType dtype, const int64_t* strides,
                         void* data) {
    return aclCreateTensor(shape, rank, dtype, strides, 0, ACL_FORMAT_ND, shape, rank, data);
  };
  aclTensor* const g = tensor(nullptr, 0, ACL_FLOAT, nullptr, gradient.data());
  aclTensor* const sum = tensor(nullptr, 0, ACL_FLOAT, nullptr, total.data());
  aclTensor* const of = tensor(place, 3, ACL_INT64, nullptr, target.data());
  aclTensor* const to = tensor(image, 4, ACL_FLOAT, nullptr, out.data());
  for (const auto& strides : {descending, ascending}) {
    aclTensor* const weights = tensor(dims.data(), 10, ACL_FLOAT, strides.data(), weight.data());
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus status =
        aclnnNLLLoss2dBackwardGetWorkspaceSize(g, to, of, weights, 2, -100, sum, to, &size, &executor);
    if (strides == ascending) {
      EXPECT_EQ(status, 561103);
      EXPECT_NE(TakeErrorMessage().find("weight"), std::string::npos);
    } else {
      ASSERT_EQ(status, 0);
      ASSERT_EQ(aclnnNLLLoss2dBackward(nullptr, size, executor, environment.stream()), 0);
      ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
      for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i == 600 ? -600.0f : 0.0f);
    }
    aclDestroyTensor(weights);
  }
  for (const aclTensor* one : {g, sum, of, to}) aclDestroyTensor(one);
}

// A target that is no class counts as one that is ignored, and the stream fails once.
TEST(Classes, ABadTargetFailsTheStream) {
  for (const bool raises : {true, false}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_INDEX_ERRORS", raises ? "raise" : "ignore"}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    for (const IndexOperator& op : Operators()) {
      if (op.valid[0].name != "input" && op.valid[0].name != "gradLoss") continue;
      for (const int64_t bad : {int64_t{3}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
        const bool is_loss = op.valid[0].name == "input";
        const Shape shape = {2, 3};
        const Shape rows = {2};
        const Shape one = {1};
        std::vector<float> x = {0, 1, 2, 3, 4, 5};
        std::vector<float> loss = {1};
        std::vector<float> result(6, -7);
        std::vector<int64_t> target = {bad, 1};
        const auto make = [](const Shape& dims, aclDataType dtype, void* data) {
          return aclCreateTensor(dims.data(), dims.size(), dtype, nullptr, 0, ACL_FORMAT_ND, dims.data(),
                                 dims.size(), data);
        };
        aclTensor* const t_x = make(shape, ACL_FLOAT, x.data());
        aclTensor* const t_target = make(rows, ACL_INT64, target.data());
        aclTensor* const t_loss = make(one, ACL_FLOAT, loss.data());
        aclTensor* const t_result = make(shape, ACL_FLOAT, result.data());
        char mean[] = "mean";
        uint64_t bytes = 0;
        aclOpExecutor* executor = nullptr;
        if (is_loss) {
          ASSERT_EQ(
              aclnnCrossEntropyLossGetWorkspaceSize(t_x, t_target, nullptr, mean, -100, 0, 0, false, t_loss,
                                                    t_result, t_loss, t_loss, &bytes, &executor),
              0);
        } else {
          ASSERT_EQ(
              aclnnCrossEntropyLossGradGetWorkspaceSize(t_loss, t_x, t_target, nullptr, nullptr, nullptr,
                                                        mean, -100, 0, 0, t_result, &bytes, &executor),
              0);
        }
        const GuardedBuffer workspace(bytes);
        const auto run = is_loss ? aclnnCrossEntropyLoss : aclnnCrossEntropyLossGrad;
        ASSERT_EQ(run(workspace.device(), bytes, executor, environment.stream()), 0);
        EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), raises ? 507015 : 0);
        EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
        if (is_loss) {
          EXPECT_NEAR(loss[0], 1.407605964, 1e-6) << "the loss of the other row";
        } else {
          for (int i = 0; i < 3; ++i) EXPECT_EQ(result[static_cast<size_t>(i)], 0);
        }
        for (aclTensor* const tensor : {t_x, t_target, t_loss, t_result}) aclDestroyTensor(tensor);
      }
    }
  }
}

// Labels that are no class are left out wherever they stand, nothing is read where they point to, and the first of them fails the stream
// where the product does not skip them.
TEST(Labels, ThatAreNoClassFailTheStream) {
  constexpr int64_t kRows = 50, kClasses = 300;
  struct {
    const char* errors;
    Product product;
    bool raises;
  } const cases[] = {{"raise", Product::kA2, true},
                     {"raise", Product::k310P, true},
                     {"raise", Product::k950, false},
                     {"ignore", Product::kA2, false}};
  for (const auto& [errors, product, raises] : cases) {
    SCOPED_TRACE(SocNameOf(product));
    const ScopedEnvironment environment(
        Variables{{"PORTACL_INDEX_ERRORS", errors}, {"PORTACL_SOC", SocNameOf(product)}});
    std::vector<float> self(kRows * kClasses, 2), out(kRows), marks(kRows * kClasses, 7);
    std::vector<int64_t> target(kRows * kClasses, -1);
    for (int64_t row = 0; row < kRows; ++row) target[static_cast<size_t>(row * kClasses)] = row;
    const auto bad = [&](size_t element, int64_t value) { target[element] = value; };
    bad(7 * kClasses, kClasses);
    bad(7 * kClasses + 1, 5);
    bad(9 * kClasses, INT64_MAX);
    bad(11 * kClasses, INT64_MIN);
    bad(13 * kClasses, -2);
    bad(15 * kClasses + 2, kClasses);  // behind a -1 nothing is looked at
    const int64_t rows[] = {kRows, kClasses};
    const auto tensor = [&](uint64_t rank, aclDataType dtype, void* data) {
      return aclCreateTensor(rows, rank, dtype, nullptr, 0, ACL_FORMAT_ND, rows, rank, data);
    };
    const std::vector<aclTensor*> all = {
        tensor(2, ACL_FLOAT, self.data()), tensor(2, ACL_INT64, target.data()),
        tensor(1, ACL_FLOAT, out.data()), tensor(2, ACL_FLOAT, marks.data())};
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnMultilabelMarginLossGetWorkspaceSize(all[0], all[1], 0, all[2], all[3], &size, &executor),
              0);
    const GuardedBuffer workspace(size);
    ASSERT_EQ(aclnnMultilabelMarginLoss(workspace.device(), size, executor, environment.stream()), 0);
    EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), raises ? 507015 : 0);
    const std::string message = TakeErrorMessage();
    const char* const said = "target has the value 300 at element 2100, accepted: 0 to 299, or -1";
    EXPECT_EQ(message.find(said) != std::string::npos, raises) << message;
    for (int64_t row = 0; row < kRows; ++row) {
      const bool has_none = row == 9 || row == 11 || row == 13;
      const int64_t label = row == 7 ? 5 : row;
      EXPECT_EQ(out[static_cast<size_t>(row)], has_none ? 0.0f : 299.0f / 300.0f) << row;
      for (int64_t i = 0; i < kClasses; ++i)
        ASSERT_EQ(marks[static_cast<size_t>(row * kClasses + i)], !has_none && i == label ? 1.0f : 0.0f);
    }
    for (const aclTensor* one : all) aclDestroyTensor(one);
  }
}

// A row may be one number that is repeated: classes cost no memory but in the workspace, whose size must not wrap.
TEST(Labels, MoreThanAWorkspaceHolds) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "4"}});
  struct {
    int64_t rows, classes;
    uint64_t bytes;  // 0: there is none of this size
  } const cases[] = {{1, int64_t{1} << 61, 0},
                     {1, int64_t{1} << 59, 0},
                     {1, int64_t{1} << 58, 8 + 24 * (uint64_t{1} << 58)},
                     {8, int64_t{1} << 57, 0},
                     {int64_t{1} << 60, 1, 0}};
  for (const auto& one : cases) {
    const int64_t dims[] = {one.rows, one.classes};
    const int64_t one_number[] = {0, 0};
    const auto tensor = [&](uint64_t rank, aclDataType dtype, const int64_t* strides) {
      return aclCreateTensor(dims, rank, dtype, strides, 0, ACL_FORMAT_ND, dims, rank, ForbiddenAddress());
    };
    const std::vector<aclTensor*> all = {tensor(2, ACL_FLOAT16, one_number), tensor(2, ACL_INT32, one_number),
                                         tensor(1, ACL_FLOAT16, nullptr), tensor(2, ACL_FLOAT16, nullptr)};
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus status =
        aclnnMultilabelMarginLossGetWorkspaceSize(all[0], all[1], 0, all[2], all[3], &size, &executor);
    EXPECT_EQ(status, one.bytes == 0 ? 161002 : 0) << one.rows << " " << one.classes;
    EXPECT_EQ(size, one.bytes) << one.rows << " " << one.classes;
    if (status == 0) {
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    } else {
      EXPECT_NE(TakeErrorMessage().find("workspace"), std::string::npos);
    }
    for (const aclTensor* tensor_made : all) aclDestroyTensor(tensor_made);
  }
}

// A pair with a NaN is not above 0, as in PyTorch; neither is one of equal infinities.
TEST(Labels, NumbersThatAreNotFinite) {
  const ScopedEnvironment environment(Variables{});
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> self = {nan, 1, 1, 1, 1, nan, 1, 1, inf, 1, 1, inf, -inf, 1, -inf, 1, 1, inf, 1, 1};
  std::vector<int32_t> target = {0, -1, 0, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0};
  std::vector<float> out(5), marks(20);
  const int64_t rows[] = {5, 4};
  const auto tensor = [&](uint64_t rank, aclDataType dtype, void* data) {
    return aclCreateTensor(rows, rank, dtype, nullptr, 0, ACL_FORMAT_ND, rows, rank, data);
  };
  const std::vector<aclTensor*> all = {tensor(2, ACL_FLOAT, self.data()), tensor(2, ACL_INT32, target.data()),
                                       tensor(1, ACL_FLOAT, out.data()), tensor(2, ACL_FLOAT, marks.data())};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMultilabelMarginLossGetWorkspaceSize(all[0], all[1], 0, all[2], all[3], &size, &executor),
            0);
  const GuardedBuffer workspace(size);
  ASSERT_EQ(aclnnMultilabelMarginLoss(workspace.device(), size, executor, environment.stream()), 0);
  ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  EXPECT_EQ(out, (std::vector<float>{0, 0.5f, 0, inf, inf}));
  for (const aclTensor* one : all) aclDestroyTensor(one);
}

}  // namespace
}  // namespace portacl::testing
