// Cross entropies, from logits, shares and sums, and margins of labels, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/loss.h"
#include "norm/row_calls.h"
#include "operators/norm_rules.h"
#include "operators/norms.h"

namespace portacl::testing {
namespace {

using namespace norms;

// ---- cross entropy ----

// Of products since Atlas A2 alone.
Rule SinceA2(const std::string& name) {
  return Refuses(161002, name, [=](PlanCall& call) {
    const bool is_new = call.product <= Product::kA2;
    const DtypeNumber dtype = call[name].dtype;
    return !is_new || std::find(kRowDtypes.begin(), kRowDtypes.end(), dtype) == kRowDtypes.end();
  });
}
std::string ModeOf(const PlanCall& call) {
  const PlanArgument& mode = call["reductionOptional"];
  return mode.null ? "mean" : mode.text;
}
// What losses and gradients have in common: `rows` are the logits or their logarithms.
void CrossEntropyRules(Rules& rules, const std::string& rows, const std::string& loss) {
  rules.push_back(Tiling("reductionOptional", [](PlanCall& call) {
    return ModeOf(call) != "none" && ModeOf(call) != "mean" && ModeOf(call) != "sum";
  }));
  rules.push_back(Tiling("labelSmoothing", [](PlanCall& call) {
    return call["labelSmoothing"].real < 0 || call["labelSmoothing"].real > 1;
  }));
  rules.push_back(
      Tiling(rows, [=](PlanCall& call) { return call[rows].shape.size() != 2 || call[rows].shape[1] == 0; }));
  rules.push_back(
      Tiling("target", [=](PlanCall& call) { return call["target"].shape != Shape{call[rows].shape[0]}; }));
  rules.push_back(Given("weightOptional", Tiling("weightOptional", [=](PlanCall& call) {
                          return call["weightOptional"].shape != Shape{call[rows].shape[1]};
                        })));
  rules.push_back(Tiling(loss, [=](PlanCall& call) {
    return ModeOf(call) == "none" ? call[loss].shape != Shape{call[rows].shape[0]}
                                  : NumElements(call[loss].shape) != 1;
  }));
}

void DrawCrossEntropy(PlanCall& call, RandomNumbers& random, const std::string& rows,
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
  return [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
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

double WeightOf(const PlanCall& call, const TensorValues& weights, int64_t i) {
  return call["weightOptional"].null ? 1 : ValueAt(weights, i);
}
// The sum of weights of rows that count.
double TotalWeight(const PlanCall& call, const TensorValues& targets, const TensorValues& weights) {
  double total = 0;
  for (int64_t row = 0; row < NumElements(call["target"].shape); ++row) {
    if (targets.Integer(row) != call["ignoreIndex"].integer)
      total += WeightOf(call, weights, targets.Integer(row));
  }
  return total;
}
double SmoothingOf(const PlanCall& call) {
  return static_cast<double>(static_cast<float>(call["labelSmoothing"].real));
}

OperatorSpec CrossEntropy() {
  OperatorSpec op;
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
              DtypeIn("target", {{ACL_INT64, ACL_INT32}}),
              Given("weightOptional", DtypeIn("weightOptional", {{ACL_FLOAT}})),
              SameDtype("input", "lossOut"),
              SameDtype("input", "logProbOut"),
              SameDtype("input", "zlossOut"),
              SameDtype("input", "lseForZlossOut")};
  CrossEntropyRules(op.rules, "input", "lossOut");
  op.rules.push_back(
      Tiling("logProbOut", [](PlanCall& call) { return call["logProbOut"].shape != call["input"].shape; }));
  op.draw = [](PlanCall& call, RandomNumbers& random) {
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
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
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

OperatorSpec CrossEntropyGradient() {
  OperatorSpec op;
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
              SameDtype("gradLoss", "logProb"),
              DtypeIn("target", {{ACL_INT64, ACL_INT32}}),
              Given("weightOptional", DtypeIn("weightOptional", {{ACL_FLOAT}})),
              SameDtype("gradLoss", "out")};
  CrossEntropyRules(op.rules, "logProb", "gradLoss");
  op.rules.push_back(
      Tiling("out", [](PlanCall& call) { return call["out"].shape != call["logProb"].shape; }));
  op.rules.push_back(DoneIfEmpty("logProb"));
  op.draw = [](PlanCall& call, RandomNumbers& random) {
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
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
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

OperatorSpec LossOfShares() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSoftmaxCrossEntropyWithLogits);
  op.valid = {TensorArg("features", {2, 3}), TensorArg("labels", {2, 3}), OutputArg("loss", {2}),
              OutputArg("backprop", {2, 3})};
  const auto is_shape = [](const PlanArgument& given, const Shape& shape) {
    return given.shape == shape || (NumElements(given.shape) == 1 && NumElements(shape) == 1);
  };
  op.rules = {NoNulls("features labels loss backprop"),
              DtypeIn("features labels loss backprop", kFloats),
              SameDtype("features", "loss"),
              SameDtype("features", "backprop"),
              Ranks("features labels loss backprop", 0, 8),
              Ranks("features labels", 2, 2),
              DoneIfEmpty("features labels"),
              Refuses(561103, "labels",
                      [](PlanCall& call) {
                        const Shape& rows = call["features"].shape;
                        const Shape& shares = call["labels"].shape;
                        return (shares[0] != 1 && shares[0] != rows[0]) ||
                               (shares[1] != 1 && shares[1] != rows[1]);
                      }),
              Refuses(561103, "loss",
                      [=](PlanCall& call) { return !is_shape(call["loss"], {call["features"].shape[0]}); }),
              Refuses(561103, "backprop",
                      [=](PlanCall& call) { return !is_shape(call["backprop"], call["features"].shape); })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
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
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
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

OperatorSpec LossFromSums() {
  OperatorSpec op;
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
  const auto with_logits = [](const Rule& rule) -> Rule {
    return [=](PlanCall& call) -> std::optional<Verdict> {
      return call["vocabParallelLogitsOptional"].null ? std::nullopt : rule(call);
    };
  };
  const std::string logits = "vocabParallelLogitsOptional";
  const std::string softmax = "softMaxOutOptional";
  op.rules = {
      NoNulls("logitsMax sumExpLogits predictedLogits lossOut"),
      with_logits(NoNulls(softmax)),
      DtypeIn("logitsMax sumExpLogits predictedLogits lossOut", {{ACL_FLOAT}}),
      with_logits(DtypeIn(logits, {kRowDtypes})),
      with_logits(DtypeIn(softmax, {{ACL_FLOAT}})),
      Ranks("logitsMax", 1, 1),
      SameShape("logitsMax", "sumExpLogits"),
      SameShape("logitsMax", "predictedLogits"),
      SameShape("logitsMax", "lossOut"),
      with_logits(Ranks(logits, 2, 2)),
      with_logits(
          Refuses(161002, logits,
                  [=](PlanCall& call) { return call[logits].shape[0] != call["logitsMax"].shape[0]; })),
      with_logits(SameShape(logits, softmax)),
      Refuses(161002, "labelSmoothing", [](PlanCall& call) { return call["labelSmoothing"].real != 0; }),
      DoneIfEmpty("logitsMax")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
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
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
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

OperatorSpec LabelMargin() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMultilabelMarginLoss);
  op.valid = {TensorArg("self", {2, 3}), TensorArg("target", {2, 3}, ACL_INT64), IntegerArg("reduction", 1),
              OutputArg("out", {}), OutputArg("isTarget", {2, 3})};
  op.rules = {
      NoNulls("self target out isTarget"),
      DtypeIn("self", kFloats),
      DtypeIn("target", {{ACL_INT64, ACL_INT32}}),
      SameDtype("self", "out"),
      SameDtype("self", "isTarget"),
      Refuses(161002, "self",
              [](PlanCall& call) {
                const Shape& self = call["self"].shape;
                return self.size() > 2 || (!self.empty() && self.back() == 0);
              }),
      Refuses(161002, "target",
              [](PlanCall& call) { return OneDimOf(call["target"].shape) != OneDimOf(call["self"].shape); }),
      Refuses(161002, "out",
              [](PlanCall& call) {
                const Shape& self = call["self"].shape;
                return IsNone(call) && self.size() == 2 ? call["out"].shape != Shape{self[0]}
                                                        : NumElements(call["out"].shape) != 1;
              }),
      SameShape("target", "isTarget"),
      DoneIfEmpty("self")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
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
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
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
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
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

}  // namespace

std::vector<OperatorSpec> norms::Entropies() {
  return {CrossEntropy(), CrossEntropyGradient(), LossOfShares(), LossFromSums(), LabelMargin()};
}

}  // namespace portacl::testing
