// aclnnSmoothL1LossBackward as the tests see it: gradInput = (f * gradOut) * c with d = self - target and f =
// sign(d) where |d| >= beta, else d / beta.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "support/float_formats.h"
#include "support/operator_under_test.h"

namespace portacl::testing {
namespace smooth_l1_loss_backward {

inline double Sign(double value) { return value > 0 ? 1.0 : value < 0 ? -1.0 : value == 0 ? 0.0 : value; }

inline double Factor(double d, double beta) { return std::fabs(d) >= beta ? Sign(d) : d / beta; }

inline Prediction Oracle(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  const LogicalTensor& grad_out = inputs[0];
  const LogicalTensor& self = inputs[1];
  const LogicalTensor& target = inputs[2];
  const auto beta = static_cast<double>(attributes.beta);

  Prediction result;
  result.shape = *Broadcast(*Broadcast(grad_out.shape, self.shape), target.shape);
  // The divisor counts self alone, before anything is broadcast.
  const int64_t n = attributes.reduction == 1 ? NumElements(self.shape) : 1;
  const double c = n > 0 ? static_cast<double>(NearestFloat(1.0 / static_cast<double>(n))) : 1.0;

  const std::vector<int64_t> grad_at = BroadcastPositions(grad_out.shape, result.shape);
  const std::vector<int64_t> self_at = BroadcastPositions(self.shape, result.shape);
  const std::vector<int64_t> target_at = BroadcastPositions(target.shape, result.shape);
  const auto rounded = [](double value) { return static_cast<double>(NearestFloat(value)); };
  for (size_t i = 0; i < static_cast<size_t>(NumElements(result.shape)); ++i) {
    const double g = grad_out.reals[static_cast<size_t>(grad_at[i])];
    const double x = self.reals[static_cast<size_t>(self_at[i])];
    const double y = target.reals[static_cast<size_t>(target_at[i])];
    // float64 has more than twice float32's digits, so rounding each of its results to float32 gives what one
    // operation of float32 gives.
    const double d = rounded(x - y);
    const double f = rounded(Factor(d, beta));
    result.value.push_back(rounded(rounded(f * g) * c));

    const bool overflows = std::isinf(d) && std::isfinite(x) && std::isfinite(y);
    result.truth.push_back(Factor(x - y, beta) * g / static_cast<double>(n));
    // What gradual underflow of f and of f * g costs.
    result.slack.push_back(overflows ? std::numeric_limits<double>::infinity()
                                     : 0x1p-149 * (std::fabs(g * c) + 1));
  }
  return result;
}

}  // namespace smooth_l1_loss_backward

inline const NumericDescription& DescribeSmoothL1LossBackward() {
  static const NumericDescription description = [] {
    NumericDescription op;
    op.binding.name = "aclnnSmoothL1LossBackward";
    op.binding.tensors = {"gradOut", "self", "target", "gradInput"};
    op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                         aclOpExecutor** executor) {
      return aclnnSmoothL1LossBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, a.beta, t[3], size,
                                                       executor);
    };
    op.binding.run = aclnnSmoothL1LossBackward;
    op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
    op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    op.attributes = {{.reduction = 0, .beta = 1.0f},      {.reduction = 1, .beta = 0.5f},
                     {.reduction = 2, .beta = 2.0f},      {.reduction = 0, .beta = 0.0f},
                     {.reduction = 1, .beta = 0.3f},      {.reduction = 0, .beta = kInfinity},
                     {.reduction = 2, .beta = -0.0f},     {.reduction = 1, .beta = 1e-40f},
                     {.reduction = 0, .beta = 0x1p-149f}, {.reduction = 1, .beta = 3.0e38f},
                     {.reduction = 2, .beta = 1e-6f}};
    op.max_ulp = 5;  // d, d / beta, the two products and c round once each
    op.oracle = smooth_l1_loss_backward::Oracle;
    op.loss = [](double self, double target, const Attributes& attributes) {
      const double d = std::fabs(self - target);
      const auto beta = static_cast<double>(attributes.beta);
      if (std::isinf(beta)) {
        return 0.0;  // the limit of d * d / (2 * beta)
      }
      return d < beta ? 0.5 * d * (d / beta) : d - 0.5 * beta;
    };
    op.loss_divisor = [](std::span<const Shape> shapes, const Attributes& attributes) {
      return attributes.reduction == 1 ? static_cast<double>(NumElements(shapes[1])) : 1.0;
    };
    // Where |d| is beta only the second derivative jumps, but differences see that too.
    op.kink_distance = [](double self, double target, const Attributes& attributes) {
      const double d = std::fabs(self - target);
      return std::min(d, std::fabs(d - static_cast<double>(attributes.beta)));
    };
    return op;
  }();
  return description;
}

}  // namespace portacl::testing
