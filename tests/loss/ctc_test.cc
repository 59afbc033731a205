// Connectionist temporal classification from its descriptions; the oracle goes over every path that there is.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "aclnnop/families/loss.h"
#include "gtest/gtest.h"
#include "operators/norms.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

PORTACL_OPERATOR_TESTS(Ctc, CtcOperators());

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
