// aclnnMseLossBackward as the tests see it: ((self - target) * c) * gradOutput.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "aclnnop/aclnn_mse_loss_backward.h"
#include "support/float_formats.h"
#include "support/loss_terms.h"
#include "support/operator_under_test.h"

namespace portacl::testing {
namespace mse_loss_backward {

inline Prediction Oracle(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  const LogicalTensor& grad_output = inputs[0];
  const LogicalTensor& self = inputs[1];
  const LogicalTensor& target = inputs[2];
  // The divisor counts self alone, before anything is broadcast.
  const int64_t n = attributes.reduction == 1 ? NumElements(self.shape) : 1;
  const double c = n > 0 ? InFloat(2.0 / static_cast<double>(n)) : 2.0;

  LossTerms terms;
  terms.shape = *Broadcast(*Broadcast(grad_output.shape, self.shape), target.shape);
  const std::vector<int64_t> grad_at = BroadcastPositions(grad_output.shape, terms.shape);
  const std::vector<int64_t> self_at = BroadcastPositions(self.shape, terms.shape);
  const std::vector<int64_t> target_at = BroadcastPositions(target.shape, terms.shape);
  for (size_t i = 0; i < grad_at.size(); ++i) {
    const double g = grad_output.reals[static_cast<size_t>(grad_at[i])];
    const double x = self.reals[static_cast<size_t>(self_at[i])];
    const double y = target.reals[static_cast<size_t>(target_at[i])];
    const double scaled = InFloat(InFloat(x - y) * c);
    // What leaves the range of float32 on the way is covered by no bound; what underflows there costs 2^-150.
    const bool overflows = std::isinf(scaled) && std::isfinite(x) && std::isfinite(y);
    terms.Add(NearestFloat(scaled * g), (x - y) * (2.0 / static_cast<double>(n)) * g,
              overflows ? HUGE_VAL : 0x1p-149 * (std::fabs(g) + 1));
  }
  return Elements(terms);
}

}  // namespace mse_loss_backward

inline const NumericDescription& DescribeMseLossBackward() {
  static const NumericDescription description = [] {
    NumericDescription op;
    op.binding.name = "aclnnMseLossBackward";
    op.binding.tensors = {"gradOutput", "self", "target", "out"};
    op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                         aclOpExecutor** executor) {
      return aclnnMseLossBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, t[3], size, executor);
    };
    op.binding.run = aclnnMseLossBackward;
    op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
    op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
    op.accepts_dtypes = [](std::span<const DtypeNumber> dtypes) {
      return dtypes[1] == dtypes[0] && dtypes[2] == dtypes[0];
    };
    op.attributes = {{.reduction = 0}, {.reduction = 1}, {.reduction = 2}};
    op.max_ulp = 3.5;  // the difference, c and two products round once each
    op.oracle = mse_loss_backward::Oracle;
    op.loss = [](double self, double target, const Attributes&) { return (self - target) * (self - target); };
    op.loss_divisor = [](std::span<const Shape> shapes, const Attributes& attributes) {
      return attributes.reduction == 1 ? static_cast<double>(NumElements(shapes[1])) : 1.0;
    };
    op.kink_distance = [](double, double, const Attributes&) {
      return std::numeric_limits<double>::infinity();
    };
    return op;
  }();
  return description;
}

}  // namespace portacl::testing
