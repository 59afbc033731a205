// aclnnKlDivTargetBackward as the tests see it: with G = gradOutput * c, (G * log(t) - G * self) + (G * t) / t, or (G *
// (t - self)) * exp(t) + G * exp(t) with logTarget, summed to target's shape.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "aclnnop/aclnn_kl_div_target_backward.h"
#include "operators/kl_div.h"
#include "operators/kl_div_backward.h"
#include "support/float_formats.h"
#include "support/loss_terms.h"

namespace portacl::testing {
namespace kl_div_target_backward {

inline LossTerms Terms(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  const LogicalTensor& grad_output = inputs[0];
  const LogicalTensor& self = inputs[1];
  const LogicalTensor& target = inputs[2];
  LossTerms terms;
  terms.shape = *Broadcast(self.shape, target.shape);
  const int64_t n = kl_div_backward::Divisor(terms.shape, attributes);
  const double c = static_cast<double>(MeanFactor(n));

  const std::vector<int64_t> grad_at = BroadcastPositions(grad_output.shape, terms.shape);
  const std::vector<int64_t> self_at = BroadcastPositions(self.shape, terms.shape);
  const std::vector<int64_t> target_at = BroadcastPositions(target.shape, terms.shape);
  for (size_t i = 0; i < grad_at.size(); ++i) {
    const double g = grad_output.reals[static_cast<size_t>(grad_at[i])];
    const double x = self.reals[static_cast<size_t>(self_at[i])];
    const double t = target.reals[static_cast<size_t>(target_at[i])];
    const double scaled = InFloat(g * c);
    const double exact_scaled = g / static_cast<double>(n);
    // What is added may cancel, so the error is that of its parts; what underflows on the way costs 2^-150 times what
    // it is multiplied by.
    const double parts = std::fabs(exact_scaled) * (std::fabs(t) + std::fabs(x) + 1);
    const auto known = [](double slack) { return std::isfinite(slack) ? slack : HUGE_VAL; };
    if (attributes.log_target) {
      const double weight = kl_div::LibraryExpOf(t);
      const double product = InFloat(scaled * InFloat(t - x));
      const double exact_weight = std::exp(t);
      terms.Add(NearestFloat(InFloat(product * weight) + InFloat(scaled * weight)),
                (exact_scaled * (t - x)) * exact_weight + exact_scaled * exact_weight,
                known(exact_weight * parts * 0x1p-21 +
                      0x1p-148 * (parts + exact_weight + 1) * (std::fabs(t) + std::fabs(x) + 1)));
    } else {
      const double log = kl_div::NearestLog(t);
      const double exact_log = std::log(t);
      const double difference = InFloat(InFloat(scaled * log) - InFloat(scaled * x));
      const double one = InFloat(InFloat(scaled * t) / t);
      const double log_parts = std::fabs(exact_scaled) * (std::fabs(exact_log) + std::fabs(x) + 1);
      const double slack = known(log_parts * 0x1p-21 +
                                 0x1p-147 * (std::fabs(exact_log) + std::fabs(x) + 1 + 1 / std::fabs(t)));
      terms.Add(NearestFloat(difference + one),
                exact_scaled * exact_log - exact_scaled * x + exact_scaled * t / t, slack);
    }
  }
  return terms;
}

}  // namespace kl_div_target_backward

inline const NumericDescription& DescribeKlDivTargetBackward() {
  static const NumericDescription description = [] {
    NumericDescription op;
    op.binding.name = "aclnnKlDivTargetBackward";
    op.binding.tensors = {"gradOutput", "self", "target", "gradTarget"};
    op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                         aclOpExecutor** executor) {
      return aclnnKlDivTargetBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, a.log_target, t[3], size,
                                                      executor);
    };
    op.binding.run = aclnnKlDivTargetBackward;
    op.binding.may_need_workspace = [](std::span<const Shape> shapes) {
      return Broadcast(shapes[1], shapes[2]) != shapes[2];
    };
    op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
    op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
    op.output_has_dtype_of = 2;
    op.attributes = DescribeKlDivBackward().attributes;
    op.max_ulp = 0.5;
    op.oracle = [](std::span<const LogicalTensor> inputs, const Attributes& attributes) {
      const LossTerms terms = kl_div_target_backward::Terms(inputs, attributes);
      const Shape& target = inputs[2].shape;
      return terms.shape == target ? Elements(terms) : Sums(terms, target, target, 1.0f);
    };
    op.accepts = [](std::span<const Shape> shapes) {
      // Where self is empty nothing is written, also where gradTarget has elements: a test of its own.
      return kl_div_backward::Accepts(shapes) && (NumElements(shapes[1]) > 0 || NumElements(shapes[2]) == 0);
    };
    op.output_shape = [](std::span<const Shape> shapes) { return shapes[2]; };
    op.loss = [](double self, double target, const Attributes& attributes) {
      return (attributes.log_target ? std::exp(target) : target) *
             ((attributes.log_target ? target : std::log(target)) - self);
    };
    op.loss_divisor = DescribeKlDivBackward().loss_divisor;
    // Without logTarget the loss has large higher derivatives near 0, and is none below.
    op.kink_distance = [](double, double target, const Attributes& attributes) {
      return attributes.log_target ? HUGE_VAL : target - 0.25;
    };
    op.gradient_by = 2;
    op.derivative_parts = [](double self, double target, const Attributes& attributes) {
      return attributes.log_target ? std::exp(target) * (std::fabs(target - self) + 1)
                                   : std::fabs(std::log(target)) + std::fabs(self) + 1;
    };
    return op;
  }();
  return description;
}

}  // namespace portacl::testing
