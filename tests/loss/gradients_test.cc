// Every loss against its gradients: central differences of the loss, in float64 as the oracle has it and in the
// library's own float32 results, are what the backward operators give.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "operators/losses.h"
#include "support/environment.h"
#include "support/loss_terms.h"
#include "support/tensor_view.h"
#include "support/two_phase.h"

#include "gtest/gtest.h"

namespace portacl::testing {
namespace {

struct Pair {
  const char* name;
  const NumericDescription& (*elements)();  // the loss without a reduction
  const NumericDescription& (*reduced)();
  const NumericDescription& (*gradient)();
  size_t by;  // the input of the loss by which the gradient is: 0 self, 1 target
  float beta = 1.0f;
  bool log_target = false;
};

void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.name; }

const Pair kPairs[] = {
    {"L1", DescribeL1Loss, DescribeReducedL1Loss, DescribeL1LossBackward, 0},
    {"SmoothL1", DescribeSmoothL1Loss, DescribeReducedSmoothL1Loss, DescribeSmoothL1LossBackward, 0},
    {"SmoothL1Narrow", DescribeSmoothL1Loss, DescribeReducedSmoothL1Loss, DescribeSmoothL1LossBackward, 0,
     0.25f},
    {"SmoothL1Wide", DescribeSmoothL1Loss, DescribeReducedSmoothL1Loss, DescribeSmoothL1LossBackward, 0,
     3.0f},
    {"Mse", DescribeMseLoss, DescribeReducedMseLoss, DescribeMseLossBackward, 0},
    {"MseOut", DescribeMseLossOut, DescribeReducedMseLossOut, DescribeMseLossBackward, 0},
    {"KlDiv", DescribeKlDiv, DescribeReducedKlDiv, DescribeKlDivBackward, 0},
    {"KlDivLogTarget", DescribeKlDiv, DescribeReducedKlDiv, DescribeKlDivBackward, 0, 1.0f, true},
    {"KlDivByTarget", DescribeKlDiv, DescribeReducedKlDiv, DescribeKlDivTargetBackward, 1},
    {"KlDivLogTargetByTarget", DescribeKlDiv, DescribeReducedKlDiv, DescribeKlDivTargetBackward, 1, 1.0f,
     true},
};

// Steps are powers of two and points multiples of it, so that a step changes nothing but what it should.
constexpr double kGrid = 0x1p-10;
constexpr double kLargestStep = 0x1p-5;  // half of how far points are from kinks

class LossGradients : public ::testing::TestWithParam<Pair> {
 protected:
  // Points away from where the loss has no derivative or a large third one.
  void SetUp() override {
    RandomNumbers random(0x6AD1E);
    const bool has_log = GetParam().elements == &DescribeKlDiv && !GetParam().log_target;
    while (self_.size() < kCount) {
      const double self = kGrid * static_cast<double>(random.Between(-4096, 4096));
      double target = kGrid * static_cast<double>(random.Between(-2048, 2048));
      if (has_log) {
        target = kGrid * static_cast<double>(random.Between(512, 2048));
      }
      const double d = std::fabs(self - target);
      const auto beta = static_cast<double>(GetParam().beta);
      if (d > 0x1p-4 && std::fabs(d - beta) > 0x1p-4) {
        self_.push_back(self);
        target_.push_back(target);
      }
    }
  }

  Attributes With(int64_t reduction) const {
    return {.reduction = reduction, .beta = GetParam().beta, .log_target = GetParam().log_target};
  }

  // Bounds, at a point, of: the third derivative within one step; what one loss is rounded by on the way, which are a few
  // last places of the parts that it consists of.
  double Third(size_t i) const {
    const double x = self_[i];
    const double t = target_[i];
    if (GetParam().elements != &DescribeKlDiv) {
      return 0;  // at most quadratic between kinks
    }
    if (GetParam().by == 0) {
      return 0;
    }
    const double near = t - kLargestStep;
    return GetParam().log_target ? std::exp(t + kLargestStep) * (std::fabs(t - x) + 3 + kLargestStep)
                                 : 1 / (near * near);
  }
  double Parts(size_t i) const {
    const double t = target_[i];
    const double weight = GetParam().log_target ? std::exp(t) : 1;
    return weight * (std::fabs(self_[i]) + std::fabs(t) + 1);
  }
  double Rounding(size_t i, double loss) const {
    return 0x1p-24 * (2 * std::fabs(loss) + (GetParam().log_target ? 1 : std::fabs(target_[i])) * Parts(i));
  }

  // The step at which both errors of a central difference together are least, as a power of two.
  double Step(size_t i, double loss) const {
    const double third = Third(i);
    double step = kLargestStep;
    if (third > 0) {
      step = std::min(step, std::exp2(std::round(std::log2(std::cbrt(3 * Rounding(i, loss) / third)))));
    }
    return std::max(step, kGrid);
  }

  // The operator's result for dense float32 inputs.
  std::vector<double> Call(const NumericDescription& op, const std::vector<std::vector<double>>& inputs,
                           const Attributes& attributes, const Shape& output_shape) {
    RandomNumbers random(1);
    std::vector<HostTensor> tensors;
    for (const std::vector<double>& values : inputs) {
      const Shape shape = values.size() == 1 ? Shape{} : Shape{std::ssize(values)};
      tensors.emplace_back(ACL_FLOAT, MakeView(shape, Layout::kDense, random));
      for (int64_t i = 0; i < std::ssize(values); ++i) {
        tensors.back().Set(i, values[static_cast<size_t>(i)]);
      }
    }
    tensors.emplace_back(ACL_FLOAT, MakeView(output_shape, Layout::kDense, random));
    std::vector<aclTensor*> handles;
    for (HostTensor& tensor : tensors) {
      handles.push_back(tensor.Handle());
    }
    const CallResult call = CallTwoPhase(op.binding, handles, attributes, environment_.stream());
    EXPECT_TRUE(call.Succeeded()) << call.message;
    std::vector<double> result;
    for (int64_t i = 0; i < tensors.back().size(); ++i) {
      result.push_back(tensors.back().Real(i));
    }
    return result;
  }

  std::vector<double> Gradient(int64_t reduction, size_t count) {
    const std::vector<double> self(self_.begin(), self_.begin() + static_cast<int64_t>(count));
    const std::vector<double> target(target_.begin(), target_.begin() + static_cast<int64_t>(count));
    return Call(GetParam().gradient(), {{1.0}, self, target}, With(reduction), {static_cast<int64_t>(count)});
  }

  static constexpr size_t kCount = 2000;
  const ScopedEnvironment environment_{Variables{}};
  std::vector<double> self_, target_;
};

TEST_P(LossGradients, DifferencesOfTheOracle) {
  const std::vector<double> gradient = Gradient(0, kCount);
  constexpr double kStep = 0x1p-16;
  const auto losses = [&](double step) {
    LogicalTensor inputs[2];
    inputs[0].shape = inputs[1].shape = {static_cast<int64_t>(kCount)};
    inputs[0].reals = self_;
    inputs[1].reals = target_;
    for (double& value : inputs[GetParam().by].reals) {
      value += step;
    }
    return GetParam().elements().oracle(inputs, With(0)).truth;
  };
  const std::vector<double> above = losses(kStep);
  const std::vector<double> below = losses(-kStep);
  for (size_t i = 0; i < kCount; ++i) {
    const double difference = (above[i] - below[i]) / (2 * kStep);
    EXPECT_NEAR(gradient[i], difference, 1e-6 * (std::fabs(difference) + 1))
        << "self " << self_[i] << " target " << target_[i];
  }
}

TEST_P(LossGradients, DifferencesOfTheLibrarysResults) {
  const std::vector<double> gradient = Gradient(0, kCount);
  const Attributes none = With(0);
  const std::vector<double> loss = Call(GetParam().elements(), {self_, target_}, none, {kCount});
  std::vector<double> step;
  for (size_t i = 0; i < kCount; ++i) {
    step.push_back(Step(i, loss[i]));
  }
  const auto losses = [&](double direction) {
    std::vector<std::vector<double>> inputs = {self_, target_};
    for (size_t i = 0; i < kCount; ++i) {
      inputs[GetParam().by][i] += direction * step[i];
    }
    return Call(GetParam().elements(), inputs, none, {kCount});
  };
  const std::vector<double> above = losses(1);
  const std::vector<double> below = losses(-1);
  for (size_t i = 0; i < kCount; ++i) {
    const double difference = (above[i] - below[i]) / (2 * step[i]);
    // What the losses were rounded by, over the step, and what the third derivative leaves. The gradient itself, in
    // float32, and derivatives of higher order are within the rest.
    const double tolerance = 1.1 * (Rounding(i, loss[i]) / step[i] + step[i] * step[i] * Third(i) / 6) +
                             0x1p-21 * (std::fabs(gradient[i]) + Parts(i));
    EXPECT_NEAR(gradient[i], difference, tolerance)
        << "self " << self_[i] << " target " << target_[i] << " step " << step[i];
  }
}

// One element at a time, in the mean and in the sum.
TEST_P(LossGradients, DifferencesOfReducedResults) {
  constexpr size_t kFew = 16;
  constexpr double kStep = 0x1p-6;
  for (const int64_t reduction : {1, 2}) {
    const std::vector<double> gradient = Gradient(reduction, kFew);
    const std::vector<double> self(self_.begin(), self_.begin() + kFew);
    const std::vector<double> target(target_.begin(), target_.begin() + kFew);
    for (size_t i = 0; i < kFew; ++i) {
      const auto loss = [&](double step) {
        std::vector<std::vector<double>> inputs = {self, target};
        inputs[GetParam().by][i] += step;
        return Call(GetParam().reduced(), inputs, With(reduction), {}).front();
      };
      const double above = loss(kStep);
      const double difference = (above - loss(-kStep)) / (2 * kStep);
      const double scale = reduction == 1 ? 1.0 / kFew : 1.0;
      const double third = GetParam().log_target ? 8 * std::exp(target[i]) + std::fabs(gradient[i]) : 8;
      const double tolerance =
          0x1p-21 * (std::fabs(above) + 8 * scale) / kStep + kStep * kStep * third * scale;
      EXPECT_NEAR(gradient[i], difference, tolerance) << "reduction " << reduction << ", element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, LossGradients, ::testing::ValuesIn(kPairs),
                         [](const ::testing::TestParamInfo<Pair>& pair) {
                           return std::string(pair.param.name);
                         });

}  // namespace
}  // namespace portacl::testing
