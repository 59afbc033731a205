// aclnnL1LossBackward as the tests see it: gradInput = sign(self - target) * (gradOutput * c).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "aclnnop/aclnn_l1_loss_backward.h"
#include "support/float_formats.h"
#include "support/operator_under_test.h"

namespace portacl::testing {
namespace l1_loss_backward {

// The value of an element as the operator sees it: integers go to the common type of all inputs by one
// rounding, floating values are exact in float32 as they are.
inline double ValueOf(const LogicalTensor& tensor, int64_t position, DtypeNumber promoted) {
  const auto at = static_cast<size_t>(position);
  return tensor.IsFloating() ? tensor.reals[at] : IntegerConvertedTo(promoted, tensor.integers[at]);
}

inline Prediction Oracle(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  const LogicalTensor& grad_output = inputs[0];
  const LogicalTensor& self = inputs[1];
  const LogicalTensor& target = inputs[2];
  const DtypeNumber promoted = PromoteDtypes(target.dtype, PromoteDtypes(grad_output.dtype, self.dtype));

  Prediction result;
  result.shape = *Broadcast(*Broadcast(self.shape, grad_output.shape), target.shape);
  const int64_t count = NumElements(result.shape);
  const bool mean = attributes.reduction == 1;
  const double c =
      mean && count > 0 ? static_cast<double>(NearestFloat(1.0 / static_cast<double>(count))) : 1.0;

  const std::vector<int64_t> grad_at = BroadcastPositions(grad_output.shape, result.shape);
  const std::vector<int64_t> self_at = BroadcastPositions(self.shape, result.shape);
  const std::vector<int64_t> target_at = BroadcastPositions(target.shape, result.shape);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const double g = ValueOf(grad_output, grad_at[i], promoted);
    const double x = ValueOf(self, self_at[i], promoted);
    const double y = ValueOf(target, target_at[i], promoted);
    const double s = x > y ? 1.0 : x < y ? -1.0 : 0.0;
    // Both factors are float32, so the product is exact in float64 and rounds once; s is 1, 0 or -1 and exact
    // again.
    const double product = static_cast<double>(NearestFloat(g * c));
    result.value.push_back(s * product);
    result.truth.push_back(s * (mean ? g / static_cast<double>(count) : g));
  }
  return result;
}

}  // namespace l1_loss_backward

inline const NumericDescription& DescribeL1LossBackward() {
  static const NumericDescription description = [] {
    NumericDescription op;
    op.binding.name = "aclnnL1LossBackward";
    op.binding.tensors = {"gradOutput", "self", "target", "gradInput"};
    op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                         aclOpExecutor** executor) {
      return aclnnL1LossBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, t[3], size, executor);
    };
    op.binding.run = aclnnL1LossBackward;
    op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
    op.integer_dtypes = {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL};
    op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};
    op.attributes = {{.reduction = 0}, {.reduction = 1}, {.reduction = 2}};
    op.max_ulp = 2;  // c and the product round once each
    op.oracle = l1_loss_backward::Oracle;
    op.loss = [](double self, double target, const Attributes&) { return std::fabs(self - target); };
    op.loss_divisor = [](std::span<const Shape> shapes, const Attributes& attributes) {
      return attributes.reduction == 1 ? static_cast<double>(NumElements(*Broadcast(shapes))) : 1.0;
    };
    op.kink_distance = [](double self, double target, const Attributes&) { return std::fabs(self - target); };
    return op;
  }();
  return description;
}

}  // namespace portacl::testing
