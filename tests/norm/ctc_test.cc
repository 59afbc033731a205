// Connectionist temporal classification from its descriptions; the oracle goes over every path that there is.
// SPDX-License-Identifier: Apache-2.0
#include "row_calls.h"

#include "aclnnop/families/loss.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

const Listed kCtcDtypes = {{ACL_FLOAT, ACL_DOUBLE}, {ACL_FLOAT16, ACL_BF16}};
const Listed kTargetDtypes = {{ACL_INT32, ACL_INT64, ACL_BOOL, ACL_FLOAT, ACL_FLOAT16}};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

int64_t Longest(const IndexCall& call) {
  int64_t most = 0;
  for (const int64_t length : call["targetLengths"].values) most = std::max(most, length);
  return most;
}
int64_t RoomOfStates(const IndexCall& call) {
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
Sequences SequencesOf(const IndexCall& call, const TensorValues& probabilities, const TensorValues& targets) {
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

IndexRule LengthsFit(const std::string& name, const std::function<int64_t(const IndexCall&)>& count) {
  return Refuses(161002, name, [=](const IndexCall& call) {
    const auto& lengths = call[name].values;
    return std::ssize(lengths) != count(call) ||
           (name == "inputLengths" && std::any_of(lengths.begin(), lengths.end(), [&](int64_t length) {
              return length > call["logProbs"].shape[0];
            }));
  });
}
IndexRule TargetsFit(const std::function<int64_t(const IndexCall&)>& count) {
  return Refuses(161002, "targets", [=](const IndexCall& call) {
    const Shape& shape = call["targets"].shape;
    if (shape.size() == 2) return shape[0] != count(call) || shape[1] < Longest(call);
    int64_t sum = 0;
    for (const int64_t length : call["targetLengths"].values) sum += length;
    return shape.size() != 1 || shape[0] != sum;
  });
}

// Small enough for every path to be tried.
void DrawSequences(IndexCall& call, RandomNumbers& random, bool may_be_one) {
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
void FillSequences(const IndexCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
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

IndexOperator Loss() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnCtcLoss);
  op.valid = {TensorArg("logProbs", {4, 2, 3}),
              TensorArg("targets", {2, 2}, ACL_INT64),
              ArrayArg("inputLengths", {4, 3}),
              ArrayArg("targetLengths", {2, 1}),
              IntegerArg("blank", 0),
              IntegerArg("zeroInfinity", 0),
              OutputArg("negLogLikelihood", {2}),
              OutputArg("logAlpha", {2, 4, 8})};
  const auto count = [](const IndexCall& call) {
    const Shape& shape = call["logProbs"].shape;
    return shape.size() == 3 ? shape[1] : int64_t{1};
  };
  op.rules = {NoNulls("logProbs targets inputLengths targetLengths negLogLikelihood logAlpha"),
              Refuses(161002, "logProbs",
                      [](const IndexCall& call) {
                        const Shape& shape = call["logProbs"].shape;
                        return (!shape.empty() && shape[0] == 0) || shape.size() < 2 || shape.size() > 3;
                      }),
              Refuses(161002, "blank",
                      [](const IndexCall& call) {
                        const int64_t blank = call["blank"].integer;
                        return blank < 0 || blank >= call["logProbs"].shape.back();
                      }),
              LengthsFit("inputLengths", count),
              LengthsFit("targetLengths", count),
              TargetsFit(count),
              HasShape("negLogLikelihood",
                       [=](const IndexCall& call) {
                         return call["logProbs"].shape.size() == 3 ? Shape{count(call)} : Shape{};
                       }),
              HasShape("logAlpha",
                       [=](const IndexCall& call) {
                         return Shape{count(call), call["logProbs"].shape[0], RoomOfStates(call)};
                       }),
              Listed_("logProbs", kCtcDtypes),
              OneDtype("logProbs", "negLogLikelihood"),
              OneDtype("logProbs", "logAlpha"),
              Listed_("targets", kTargetDtypes),
              EmptyDone("negLogLikelihood")};
  op.draw = [=](IndexCall& call, RandomNumbers& random) {
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
  op.oracle = [=](const IndexCall& call, const std::vector<TensorValues>& tensors) {
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

IndexOperator Gradient() {
  IndexOperator op;
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
  for (IndexArgument& argument : op.valid)
    argument.is_distinct = argument.name == "negLogLikelihood" || argument.name == "logAlpha";
  const auto count = [](const IndexCall& call) { return call["logProbs"].shape[1]; };
  const auto of_sequences = [=](const IndexCall& call) { return Shape{count(call)}; };
  op.rules = {NoNulls("gradOut logProbs targets inputLengths targetLengths negLogLikelihood logAlpha out"),
              Refuses(161002, "logProbs",
                      [](const IndexCall& call) {
                        return !call["logProbs"].shape.empty() && call["logProbs"].shape[0] == 0;
                      }),
              RankRange("gradOut negLogLikelihood", 1, 1),
              RankRange("logProbs logAlpha", 3, 3),
              RankRange("targets", 1, 2),
              RankRange("out", 3, 3),
              Refuses(161002, "blank",
                      [](const IndexCall& call) {
                        const int64_t blank = call["blank"].integer;
                        return blank < 0 || blank >= call["logProbs"].shape.back();
                      }),
              Refuses(161002, "targetLengths",
                      [=](const IndexCall& call) {
                        const int64_t states = call["logAlpha"].shape[2];
                        return (states < 1 && count(call) > 0) || Longest(call) > (states - 1) / 2;
                      }),
              LengthsFit("inputLengths", count),
              LengthsFit("targetLengths", count),
              HasShape("gradOut", of_sequences),
              HasShape("negLogLikelihood", of_sequences),
              HasShape("logAlpha",
                       [=](const IndexCall& call) {
                         return Shape{count(call), call["logProbs"].shape[0], call["logAlpha"].shape[2]};
                       }),
              TargetsFit(count),
              HasShape("out", [](const IndexCall& call) { return call["logProbs"].shape; }),
              Listed_("logProbs", kCtcDtypes)};
  for (const char* name : {"gradOut", "negLogLikelihood", "logAlpha", "out"})
    op.rules.push_back(OneDtype("logProbs", name));
  op.rules.push_back(Listed_("targets", kTargetDtypes));
  op.rules.push_back(EmptyDone("out"));
  op.draw = [=](IndexCall& call, RandomNumbers& random) {
    DrawSequences(call, random, false);
    const Shape& shape = call["logProbs"].shape;
    for (const char* name : {"gradOut", "negLogLikelihood"}) call[name].shape = {shape[1]};
    call["logAlpha"].shape = {shape[1], shape[0], 2 * Longest(call) + 1 + random.Between(0, 7)};
    call["out"].shape = shape;
    for (const char* name : {"gradOut", "negLogLikelihood", "logAlpha", "out"})
      call[name].dtype = call["logProbs"].dtype;
  };
  op.fill = [](const IndexCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
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
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
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

const IndexOperator kOperators[] = {Loss(), Gradient()};
PORTACL_INDEX_TESTS(Ctc, kOperators);

// The gradient of one sequence's log-probabilities, from probabilities in double that are scaled at each step.
std::vector<double> ScaledGradient(const std::vector<float>& log_probability, int64_t classes,
                                   const std::vector<int64_t>& states) {
  const auto steps = std::ssize(log_probability) / classes;
  const auto n = std::ssize(states);
  const auto probability = [&](int64_t step, int64_t state) {
    const int64_t c = states[static_cast<size_t>(state)];
    return std::exp(static_cast<double>(log_probability[static_cast<size_t>(step * classes + c)]));
  };
  const auto sum = [&](const std::vector<double>& from, int64_t state, int64_t side) {
    const auto at = [&](int64_t s) { return s >= 0 && s < n ? from[static_cast<size_t>(s)] : 0; };
    const int64_t beyond = state + 2 * side;
    const bool skips = state % 2 == 1 && beyond >= 0 && beyond < n &&
                       states[static_cast<size_t>(state)] != states[static_cast<size_t>(beyond)];
    return at(state) + at(state + side) + (skips ? at(beyond) : 0);
  };
  const auto scale = [](std::vector<double>& numbers) {
    double total = 0;
    for (const double number : numbers) total += number;
    for (double& number : numbers) number /= total;
  };
  std::vector<std::vector<double>> prefixes(static_cast<size_t>(steps), std::vector<double>(states.size()));
  for (int64_t t = 0; t < steps; ++t) {
    std::vector<double>& to = prefixes[static_cast<size_t>(t)];
    for (int64_t s = 0; s < n; ++s) {
      const double ways =
          t == 0 ? static_cast<double>(s < 2) : sum(prefixes[static_cast<size_t>(t - 1)], s, -1);
      to[static_cast<size_t>(s)] = ways * probability(t, s);
    }
    scale(to);
  }
  std::vector<double> gradient(log_probability.size());
  std::vector<double> suffixes(states.size());  // without what the step itself emits
  suffixes[states.size() - 1] = suffixes[states.size() - 2] = 1;
  for (int64_t t = steps - 1; t >= 0; --t) {
    std::vector<double> shares = suffixes;
    for (size_t s = 0; s < states.size(); ++s) shares[s] *= prefixes[static_cast<size_t>(t)][s];
    scale(shares);
    for (int64_t c = 0; c < classes; ++c) {
      const auto at = static_cast<size_t>(t * classes + c);
      gradient[at] = std::exp(static_cast<double>(log_probability[at]));
    }
    for (size_t s = 0; s < states.size(); ++s)
      gradient[static_cast<size_t>(t * classes + states[s])] -= shares[s];
    std::vector<double> emitted = suffixes;
    for (int64_t s = 0; s < n; ++s) emitted[static_cast<size_t>(s)] *= probability(t, s);
    for (int64_t s = 0; s < n; ++s) suffixes[static_cast<size_t>(s)] = sum(emitted, s, 1);
    scale(suffixes);
  }
  return gradient;
}

// Logarithms of a thousand steps are large beside what their differences make of the gradient.
TEST(CtcLossBackward, OfLongSequencesIsAsNear) {
  const ScopedEnvironment environment(Variables{});
  constexpr int64_t kSteps = 1000, kClasses = 29, kTargets = 80, kRoom = 2 * kTargets + 8;
  RandomNumbers random(39);
  std::vector<float> log_probability(kSteps * kClasses), gradient(kSteps * kClasses), loss(1), of_loss = {1};
  for (int64_t t = 0; t < kSteps; ++t) {
    double total = 0;
    for (int64_t c = 0; c < kClasses; ++c) {
      const double drawn = static_cast<double>(random.Between(-2000, 2000)) / 1000;
      log_probability[static_cast<size_t>(t * kClasses + c)] = static_cast<float>(drawn);
      total += std::exp(drawn);
    }
    for (int64_t c = 0; c < kClasses; ++c)
      log_probability[static_cast<size_t>(t * kClasses + c)] -= static_cast<float>(std::log(total));
  }
  std::vector<int64_t> target, states = {0};
  for (int64_t i = 0; i < kTargets; ++i) {
    target.push_back(random.Between(1, kClasses - 1));
    states.insert(states.end(), {target.back(), 0});
  }
  std::vector<float> alpha(kSteps * kRoom);
  const auto make = [](const Shape& shape, aclDataType dtype, void* data) {
    return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                           shape.size(), data);
  };
  aclTensor* const t_given = make({kSteps, 1, kClasses}, ACL_FLOAT, log_probability.data());
  aclTensor* const t_target = make({kTargets}, ACL_INT64, target.data());
  aclTensor* const t_loss = make({1}, ACL_FLOAT, loss.data());
  aclTensor* const t_alpha = make({1, kSteps, kRoom}, ACL_FLOAT, alpha.data());
  aclTensor* const t_of_loss = make({1}, ACL_FLOAT, of_loss.data());
  aclTensor* const t_gradient = make({kSteps, 1, kClasses}, ACL_FLOAT, gradient.data());
  aclIntArray* const steps = aclCreateIntArray(&kSteps, 1);
  aclIntArray* const targets = aclCreateIntArray(&kTargets, 1);
  for (const bool is_loss : {true, false}) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(is_loss
                  ? aclnnCtcLossGetWorkspaceSize(t_given, t_target, steps, targets, 0, false, t_loss, t_alpha,
                                                 &size, &executor)
                  : aclnnCtcLossBackwardGetWorkspaceSize(t_of_loss, t_given, t_target, steps, targets, t_loss,
                                                         t_alpha, 0, false, t_gradient, &size, &executor),
              0)
        << TakeErrorMessage();
    const GuardedBuffer workspace(size);
    const auto run = is_loss ? aclnnCtcLoss : aclnnCtcLossBackward;
    ASSERT_EQ(run(workspace.device(), size, executor, environment.stream()), 0);
    ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  }
  const std::vector<double> expected = ScaledGradient(log_probability, kClasses, states);
  double most = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    most = std::max(most, std::fabs(static_cast<double>(gradient[i]) - expected[i]));
  EXPECT_LE(most, 2e-6);
  for (aclTensor* one : {t_given, t_target, t_loss, t_alpha, t_of_loss, t_gradient}) aclDestroyTensor(one);
  aclDestroyIntArray(steps);
  aclDestroyIntArray(targets);
}

// A NaN among the alignments makes every class of the sequence's steps NaN, as PyTorch's formula does; other sequences keep their numbers.
TEST(CtcLossBackward, OfANanLoss) {
  const ScopedEnvironment environment(Variables{});
  constexpr int64_t kSteps = 3, kSequences = 2, kClasses = 4, kRoom = 8;
  for (const bool zeroes : {false, true}) {
    std::vector<float> given(kSteps * kSequences * kClasses, std::log(0.25f));
    given[0] = std::numeric_limits<float>::quiet_NaN();  // the first sequence's blank at the first step
    std::vector<float> gradient(given.size()), loss(kSequences), of_loss(kSequences, 1);
    std::vector<float> alpha(kSequences * kSteps * kRoom);
    std::vector<int64_t> target = {1, 2};
    const int64_t step_counts[] = {2, 3}, target_counts[] = {1, 1};
    const auto make = [](const Shape& shape, aclDataType dtype, void* data) {
      return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                             shape.size(), data);
    };
    aclTensor* const t_given = make({kSteps, kSequences, kClasses}, ACL_FLOAT, given.data());
    aclTensor* const t_target = make({2}, ACL_INT64, target.data());
    aclTensor* const t_loss = make({kSequences}, ACL_FLOAT, loss.data());
    aclTensor* const t_alpha = make({kSequences, kSteps, kRoom}, ACL_FLOAT, alpha.data());
    aclTensor* const t_of_loss = make({kSequences}, ACL_FLOAT, of_loss.data());
    aclTensor* const t_gradient = make({kSteps, kSequences, kClasses}, ACL_FLOAT, gradient.data());
    aclIntArray* const steps = aclCreateIntArray(step_counts, 2);
    aclIntArray* const targets = aclCreateIntArray(target_counts, 2);
    for (const bool is_loss : {true, false}) {
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      ASSERT_EQ(
          is_loss ? aclnnCtcLossGetWorkspaceSize(t_given, t_target, steps, targets, 0, zeroes, t_loss,
                                                 t_alpha, &size, &executor)
                  : aclnnCtcLossBackwardGetWorkspaceSize(t_of_loss, t_given, t_target, steps, targets, t_loss,
                                                         t_alpha, 0, zeroes, t_gradient, &size, &executor),
          0)
          << TakeErrorMessage();
      const GuardedBuffer workspace(size);
      const auto run = is_loss ? aclnnCtcLoss : aclnnCtcLossBackward;
      ASSERT_EQ(run(workspace.device(), size, executor, environment.stream()), 0);
      ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
    }
    EXPECT_TRUE(std::isnan(loss[0]));
    EXPECT_TRUE(std::isfinite(loss[1]));
    for (int64_t t = 0; t < kSteps; ++t) {
      for (int64_t c = 0; c < kClasses; ++c) {
        const auto at = static_cast<size_t>(t * kSequences * kClasses + c);
        EXPECT_EQ(std::isnan(gradient[at]), t < 2) << t << " " << c;
        EXPECT_TRUE(t < 2 || gradient[at] == 0) << c;
        EXPECT_TRUE(std::isfinite(gradient[at + kClasses])) << t << " " << c;
      }
    }
    for (aclTensor* one : {t_given, t_target, t_loss, t_alpha, t_of_loss, t_gradient}) aclDestroyTensor(one);
    aclDestroyIntArray(steps);
    aclDestroyIntArray(targets);
  }
}

// Operands that must be copied, of more elements than memory has bytes.
TEST(CtcLoss, RefusesWorkspacesThatCannotBeCounted) {
  const ScopedEnvironment environment(Variables{});
  constexpr int64_t kSteps = int64_t{1} << 59;
  float value = 0;
  int64_t target = 0;
  const int64_t none = 0;
  const int64_t one = 1;
  const int64_t shape[] = {kSteps, 1, 8};
  const int64_t alpha_shape[] = {1, kSteps, 8};
  const int64_t strides[] = {0, 0, 0};
  aclTensor* const tensors[] = {
      aclCreateTensor(shape, 3, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, &one, 1, &value),
      aclCreateTensor(&none, 1, ACL_INT64, &one, 0, ACL_FORMAT_ND, &none, 1, &target),
      aclCreateTensor(&one, 1, ACL_FLOAT, &one, 0, ACL_FORMAT_ND, &one, 1, &value),
      aclCreateTensor(alpha_shape, 3, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, &one, 1, &value)};
  aclIntArray* const input_lengths = aclCreateIntArray(&one, 1);
  aclIntArray* const target_lengths = aclCreateIntArray(&none, 1);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnCtcLossGetWorkspaceSize(tensors[0], tensors[1], input_lengths, target_lengths, 0, false,
                                         tensors[2], tensors[3], &size, &executor),
            561101);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("logProbs"), std::string::npos);
  EXPECT_EQ(executor, nullptr);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  aclDestroyIntArray(input_lengths);
  aclDestroyIntArray(target_lengths);
}

}  // namespace
}  // namespace portacl::testing
