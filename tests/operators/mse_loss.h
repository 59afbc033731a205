// aclnnMseLoss as the tests see it: (self - target)^2, or its sum.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "aclnnop/aclnn_mse_loss.h"
#include "operators/forward_losses.h"
#include "support/float_formats.h"

namespace portacl::testing {
namespace mse_loss {

inline LossTerms Terms(std::span<const LogicalTensor> inputs, const Attributes&) {
  LossTerms terms;
  terms.shape = ForEachPair(inputs[0], inputs[1], [&](double x, double y) {
    const double d = InFloat(x - y);
    terms.Add(NearestFloat(d * d), (x - y) * (x - y), 0x1p-149);
  });
  return terms;
}

inline NumericDescription Common() {
  NumericDescription op;
  op.binding.name = "aclnnMseLoss";
  op.binding.tensors = {"self", "target", "out"};
  op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                       aclOpExecutor** executor) {
    return aclnnMseLossGetWorkspaceSize(t[0], t[1], a.reduction, t[2], size, executor);
  };
  op.binding.run = aclnnMseLoss;
  op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.max_ulp = 2.5;  // the difference rounds once and enters twice
  return op;
}

}  // namespace mse_loss

inline const NumericDescription& DescribeMseLoss() {
  static const NumericDescription description = [] {
    NumericDescription op = WithoutReduction(mse_loss::Common(), mse_loss::Terms);
    op.attributes = {{.reduction = 0}};
    return op;
  }();
  return description;
}

inline const NumericDescription& DescribeReducedMseLoss() {
  static const NumericDescription description = [] {
    NumericDescription op = WithReduction(mse_loss::Common(), mse_loss::Terms);
    op.attributes = {{.reduction = 1}, {.reduction = 2}};
    return op;
  }();
  return description;
}

}  // namespace portacl::testing
