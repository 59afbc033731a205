// The loss of alignments and its gradient, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/loss.h"
#include "norm/row_calls.h"
#include "operators/norms.h"

namespace portacl::testing {
namespace {

const Listed kCtcDtypes = {{ACL_FLOAT, ACL_DOUBLE}, {ACL_FLOAT16, ACL_BF16}};
const Listed kTargetDtypes = {{ACL_INT32, ACL_INT64, ACL_BOOL, ACL_FLOAT, ACL_FLOAT16}};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

int64_t Longest(const PlanCall& call) {
  int64_t most = 0;
  for (const int64_t length : call["targetLengths"].values) most = std::max(most, length);
  return most;
}
int64_t RoomOfStates(const PlanCall& call) {
  const int64_t states = 2 * Longest(call) + 1;
  return call.product == Product::k950 ? states : (states + 7) / 8 * 8;
}

// A call's sequences as numbers.
struct Sequences {
  int64_t steps, count, classes;
  std::vector<double> log_probability;
  std::vector<std::vector<int64_t>> targets;
  std::vector<int64_t> lengths;
  int64_t blank;

  double At(int64_t t, int64_t n, int64_t c) const {
    return log_probability[static_cast<size_t>((t * count + n) * classes + c)];
  }
};
Sequences SequencesOf(const PlanCall& call, const TensorValues& probabilities, const TensorValues& targets) {
  Sequences all;
  const Shape& shape = probabilities.shape;
  all.steps = shape[0];
  all.count = shape.size() == 3 ? shape[1] : 1;
  all.classes = shape.back();
  all.blank = call["blank"].integer;
  all.lengths = call["inputLengths"].values;
  for (int64_t i = 0; i < NumElements(shape); ++i) all.log_probability.push_back(ValueAt(probabilities, i));
  int64_t at = 0;
  for (int64_t n = 0; n < all.count; ++n) {
    const int64_t length = call["targetLengths"].values[static_cast<size_t>(n)];
    if (targets.shape.size() == 2) at = n * targets.shape[1];
    std::vector<int64_t> target;
    for (int64_t i = 0; i < length; ++i) target.push_back(static_cast<int64_t>(ValueAt(targets, at++)));
    all.targets.push_back(target);
  }
  return all;
}

// f(path, probability) for every path of a sequence that means its target: repeated classes are one, then blanks are nothing.
void ForEachPath(const Sequences& all, int64_t n,
                 const std::function<void(const std::vector<int64_t>&, double)>& f) {
  const int64_t steps = all.lengths[static_cast<size_t>(n)];
  std::vector<int64_t> path(static_cast<size_t>(steps), 0);
  for (;;) {
    std::vector<int64_t> meant;
    double log_probability = 0;
    for (int64_t t = 0; t < steps; ++t) {
      const int64_t c = path[static_cast<size_t>(t)];
      if (c != all.blank && (t == 0 || c != path[static_cast<size_t>(t - 1)])) meant.push_back(c);
      log_probability += all.At(t, n, c);
    }
    if (meant == all.targets[static_cast<size_t>(n)]) f(path, std::exp(log_probability));
    int64_t t = 0;
    while (t < steps && ++path[static_cast<size_t>(t)] == all.classes) path[static_cast<size_t>(t++)] = 0;
    if (t == steps) return;
  }
}
double LossOf(const Sequences& all, int64_t n) {
  double sum = 0;
  ForEachPath(all, n, [&](const std::vector<int64_t>&, double probability) { sum += probability; });
  return -std::log(sum);
}

// What prefixes of steps weigh that end in each state, as probabilities.
std::vector<double> AlphaOf(const Sequences& all, int64_t room) {
  std::vector<double> alpha(static_cast<size_t>(all.count * all.steps * room), -kInfinity);
  for (int64_t n = 0; n < all.count; ++n) {
    std::vector<int64_t> states = {all.blank};
    for (const int64_t target : all.targets[static_cast<size_t>(n)]) {
      states.push_back(target);
      states.push_back(all.blank);
    }
    const int64_t count = std::ssize(states);
    std::vector<double> before(states.size(), 0.0);
    for (int64_t t = 0; t < all.lengths[static_cast<size_t>(n)]; ++t) {
      std::vector<double> after(states.size(), 0.0);
      for (int64_t s = 0; s < count; ++s) {
        const auto at = static_cast<size_t>(s);
        double sum = t == 0 ? static_cast<double>(s < 2) : before[at];
        if (t > 0 && s > 0) sum += before[at - 1];
        if (t > 0 && s > 1 && states[at] != all.blank && states[at] != states[at - 2]) sum += before[at - 2];
        after[at] = sum * std::exp(all.At(t, n, states[at]));
        alpha[static_cast<size_t>((n * all.steps + t) * room + s)] = std::log(after[at]);
      }
      before = after;
    }
  }
  return alpha;
}

Rule LengthsFit(const std::string& name, const std::function<int64_t(const PlanCall&)>& count) {
  return Refuses(161002, name, [=](const PlanCall& call) {
    const auto& lengths = call[name].values;
    return std::ssize(lengths) != count(call) ||
           (name == "inputLengths" && std::any_of(lengths.begin(), lengths.end(), [&](int64_t length) {
              return length > call["logProbs"].shape[0];
            }));
  });
}
Rule TargetsFit(const std::function<int64_t(const PlanCall&)>& count) {
  return Refuses(161002, "targets", [=](const PlanCall& call) {
    const Shape& shape = call["targets"].shape;
    if (shape.size() == 2) return shape[0] != count(call) || shape[1] < Longest(call);
    int64_t sum = 0;
    for (const int64_t length : call["targetLengths"].values) sum += length;
    return shape.size() != 1 || shape[0] != sum;
  });
}

// Small enough for every path to be tried.
void DrawSequences(PlanCall& call, RandomNumbers& random, bool may_be_one) {
  const bool is_one = may_be_one && random.Below(4) == 0;
  const int64_t steps = random.Between(1, 5);
  const int64_t count = is_one ? 1 : random.Between(1, 3);
  const int64_t classes = random.Between(2, 3);
  call["logProbs"].shape = is_one ? Shape{steps, classes} : Shape{steps, count, classes};
  call["logProbs"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_DOUBLE});
  auto& inputs = call["inputLengths"].values;
  auto& lengths = call["targetLengths"].values;
  inputs.clear();
  lengths.clear();
  int64_t sum = 0;
  for (int64_t n = 0; n < count; ++n) {
    inputs.push_back(random.Between(1, steps));
    lengths.push_back(random.Between(0, 3));
    sum += lengths.back();
  }
  call["targets"].shape =
      random.Below(2) == 0 ? Shape{sum} : Shape{count, Longest(call) + random.Between(0, 2)};
  call["targets"].dtype = DrawDtype(random, {ACL_INT32, ACL_INT64, ACL_FLOAT});
  call["blank"].integer = random.Between(0, classes - 1);
  call["zeroInfinity"].integer = random.Between(0, 1);
}
void SetNumber(HostTensor& tensor, int64_t k, double value) {
  const Element element = ElementOfNumber(tensor.dtype(), {static_cast<long double>(value), 0});
  std::copy(element.begin(), element.end(), tensor.Element(k));
}
// Logarithms of probabilities, and targets that are classes but not blank where there are such.
void FillSequences(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  const auto arguments = TensorsOf(call);
  const int64_t classes = call["logProbs"].shape.back();
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (arguments[i] == nullptr || arguments[i]->null) continue;
    for (int64_t k = 0; k < tensors[i].size(); ++k) {
      if (arguments[i]->name == "targets") {
        SetNumber(tensors[i], k,
                  static_cast<double>(
                      (call["blank"].integer + 1 + random.Between(0, std::max<int64_t>(0, classes - 2))) %
                      classes));
      } else {
        SetNumber(tensors[i], k, -static_cast<double>(random.Between(1, 4096)) / 1024);
      }
    }
  }
}
TensorValues ValuesOf(HostTensor& tensor, const Shape& shape) {
  TensorValues values{tensor.dtype(), shape, {}};
  for (int64_t k = 0; k < tensor.size(); ++k)
    values.elements.emplace_back(tensor.Element(k), tensor.Element(k) + ElementSize(tensor.dtype()));
  return values;
}

OperatorSpec Loss() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnCtcLoss);
  op.valid = {TensorArg("logProbs", {4, 2, 3}),
              TensorArg("targets", {2, 2}, ACL_INT64),
              ArrayArg("inputLengths", {4, 3}),
              ArrayArg("targetLengths", {2, 1}),
              IntegerArg("blank", 0),
              IntegerArg("zeroInfinity", 0),
              OutputArg("negLogLikelihood", {2}),
              OutputArg("logAlpha", {2, 4, 8})};
  const auto count = [](const PlanCall& call) {
    const Shape& shape = call["logProbs"].shape;
    return shape.size() == 3 ? shape[1] : int64_t{1};
  };
  op.rules = {NoNulls("logProbs targets inputLengths targetLengths negLogLikelihood logAlpha"),
              Refuses(161002, "logProbs",
                      [](const PlanCall& call) {
                        const Shape& shape = call["logProbs"].shape;
                        return (!shape.empty() && shape[0] == 0) || shape.size() < 2 || shape.size() > 3;
                      }),
              Refuses(161002, "blank",
                      [](const PlanCall& call) {
                        const int64_t blank = call["blank"].integer;
                        return blank < 0 || blank >= call["logProbs"].shape.back();
                      }),
              LengthsFit("inputLengths", count),
              LengthsFit("targetLengths", count),
              TargetsFit(count),
              HasShape("negLogLikelihood",
                       [=](const PlanCall& call) {
                         return call["logProbs"].shape.size() == 3 ? Shape{count(call)} : Shape{};
                       }),
              HasShape("logAlpha",
                       [=](const PlanCall& call) {
                         return Shape{count(call), call["logProbs"].shape[0], RoomOfStates(call)};
                       }),
              DtypeIn("logProbs", kCtcDtypes),
              SameDtype("logProbs", "negLogLikelihood"),
              SameDtype("logProbs", "logAlpha"),
              DtypeIn("targets", kTargetDtypes),
              DoneIfEmpty("negLogLikelihood")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DrawSequences(call, random, true);
    const Shape& shape = call["logProbs"].shape;
    call["negLogLikelihood"].shape = shape.size() == 3 ? Shape{shape[1]} : Shape{};
    call["logAlpha"].shape = {count(call), shape[0], RoomOfStates(call)};
    for (const char* name : {"negLogLikelihood", "logAlpha"}) call[name].dtype = call["logProbs"].dtype;
  };
  op.fill = FillSequences;
  op.takes_workspace = true;
  op.tolerance = 3e-6;
  op.is_inexact = true;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Sequences all = SequencesOf(call, tensors[0], tensors[1]);
    std::vector<double> losses;
    for (int64_t n = 0; n < all.count; ++n) {
      const double loss = LossOf(all, n);
      losses.push_back(loss == kInfinity && call["zeroInfinity"].integer != 0 ? 0 : loss);
    }
    return std::vector<Outcome>{AsOutcome(call["logProbs"].dtype, losses),
                                AsOutcome(call["logProbs"].dtype, AlphaOf(all, call["logAlpha"].shape[2]))};
  };
  return op;
}

OperatorSpec Gradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnCtcLossBackward);
  op.valid = {TensorArg("gradOut", {2}),
              TensorArg("logProbs", {4, 2, 3}),
              TensorArg("targets", {2, 2}, ACL_INT64),
              ArrayArg("inputLengths", {4, 3}),
              ArrayArg("targetLengths", {2, 1}),
              TensorArg("negLogLikelihood", {2}),
              TensorArg("logAlpha", {2, 4, 8}),
              IntegerArg("blank", 0),
              IntegerArg("zeroInfinity", 0),
              OutputArg("out", {4, 2, 3})};
  // What the loss left goes with the other tensors, element by element.
  for (PlanArgument& argument : op.valid)
    argument.is_distinct = argument.name == "negLogLikelihood" || argument.name == "logAlpha";
  const auto count = [](const PlanCall& call) { return call["logProbs"].shape[1]; };
  const auto of_sequences = [=](const PlanCall& call) { return Shape{count(call)}; };
  op.rules = {NoNulls("gradOut logProbs targets inputLengths targetLengths negLogLikelihood logAlpha out"),
              Refuses(161002, "logProbs",
                      [](const PlanCall& call) {
                        return !call["logProbs"].shape.empty() && call["logProbs"].shape[0] == 0;
                      }),
              Ranks("gradOut negLogLikelihood", 1, 1),
              Ranks("logProbs logAlpha", 3, 3),
              Ranks("targets", 1, 2),
              Ranks("out", 3, 3),
              Refuses(161002, "blank",
                      [](const PlanCall& call) {
                        const int64_t blank = call["blank"].integer;
                        return blank < 0 || blank >= call["logProbs"].shape.back();
                      }),
              Refuses(161002, "targetLengths",
                      [=](const PlanCall& call) {
                        const int64_t states = call["logAlpha"].shape[2];
                        return (states < 1 && count(call) > 0) || Longest(call) > (states - 1) / 2;
                      }),
              LengthsFit("inputLengths", count),
              LengthsFit("targetLengths", count),
              HasShape("gradOut", of_sequences),
              HasShape("negLogLikelihood", of_sequences),
              HasShape("logAlpha",
                       [=](const PlanCall& call) {
                         return Shape{count(call), call["logProbs"].shape[0], call["logAlpha"].shape[2]};
                       }),
              TargetsFit(count),
              HasShape("out", [](const PlanCall& call) { return call["logProbs"].shape; }),
              DtypeIn("logProbs", kCtcDtypes)};
  for (const char* name : {"gradOut", "negLogLikelihood", "logAlpha", "out"})
    op.rules.push_back(SameDtype("logProbs", name));
  op.rules.push_back(DtypeIn("targets", kTargetDtypes));
  op.rules.push_back(DoneIfEmpty("out"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DrawSequences(call, random, false);
    const Shape& shape = call["logProbs"].shape;
    for (const char* name : {"gradOut", "negLogLikelihood"}) call[name].shape = {shape[1]};
    call["logAlpha"].shape = {shape[1], shape[0], 2 * Longest(call) + 1 + random.Between(0, 7)};
    call["out"].shape = shape;
    for (const char* name : {"gradOut", "negLogLikelihood", "logAlpha", "out"})
      call[name].dtype = call["logProbs"].dtype;
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillSequences(call, tensors, random);
    const Sequences all = SequencesOf(call, ValuesOf(tensors[1], call["logProbs"].shape),
                                      ValuesOf(tensors[2], call["targets"].shape));
    const std::vector<double> alpha = AlphaOf(all, call["logAlpha"].shape[2]);
    for (int64_t n = 0; n < all.count; ++n) SetNumber(tensors[3], n, LossOf(all, n));
    for (int64_t k = 0; k < std::ssize(alpha); ++k) SetNumber(tensors[4], k, alpha[static_cast<size_t>(k)]);
  };
  op.takes_workspace = true;
  op.tolerance = 1e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Sequences all = SequencesOf(call, tensors[1], tensors[2]);
    std::vector<double> out(static_cast<size_t>(all.steps * all.count * all.classes), 0.0);
    for (int64_t n = 0; n < all.count; ++n) {
      const double loss = LossOf(all, n);
      const double gradient = ValueAt(tensors[0], n);
      for (int64_t t = 0; t < all.lengths[static_cast<size_t>(n)]; ++t) {
        for (int64_t c = 0; c < all.classes; ++c) {
          double& to = out[static_cast<size_t>((t * all.count + n) * all.classes + c)];
          to = loss < kInfinity                    ? std::exp(all.At(t, n, c)) * gradient
               : call["zeroInfinity"].integer != 0 ? 0
                                                   : std::nan("");
        }
      }
      if (loss == kInfinity) continue;
      ForEachPath(all, n, [&](const std::vector<int64_t>& path, double probability) {
        for (int64_t t = 0; t < std::ssize(path); ++t)
          out[static_cast<size_t>((t * all.count + n) * all.classes + path[static_cast<size_t>(t)])] -=
              probability * std::exp(loss) * gradient;
      });
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

}  // namespace

const std::vector<OperatorSpec>& CtcOperators() {
  static const std::vector<OperatorSpec> all = {Loss(), Gradient()};
  return all;
}

}  // namespace portacl::testing
