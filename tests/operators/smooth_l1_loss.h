// aclnnSmoothL1Loss as the tests see it: with d = self - target, (d / 2) * (d / beta) where |d| < beta, else |d| - beta
// / 2, or its sum.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "operators/forward_losses.h"
#include "support/float_formats.h"

namespace portacl::testing {
namespace smooth_l1_loss {

inline LossTerms Terms(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  const auto beta = static_cast<double>(attributes.beta);
  LossTerms terms;
  terms.shape = ForEachPair(inputs[0], inputs[1], [&](double x, double y) {
    const double d = InFloat(x - y);
    const double term =
        std::fabs(d) < beta ? InFloat(0.5 * d) * InFloat(d / beta) : std::fabs(d) - InFloat(0.5 * beta);
    const double exact_d = x - y;
    const double exact =
        std::fabs(exact_d) < beta ? 0.5 * exact_d * (exact_d / beta) : std::fabs(exact_d) - 0.5 * beta;
    terms.Add(NearestFloat(term), exact, std::isinf(d) && !std::isinf(exact_d) ? HUGE_VAL : 0x1p-148);
  });
  return terms;
}

inline NumericDescription Common() {
  NumericDescription op;
  op.binding.name = "aclnnSmoothL1Loss";
  op.binding.tensors = {"self", "target", "result"};
  op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                       aclOpExecutor** executor) {
    return aclnnSmoothL1LossGetWorkspaceSize(t[0], t[1], a.reduction, a.beta, t[2], size, executor);
  };
  op.binding.run = aclnnSmoothL1Loss;
  op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.max_ulp = 3.5;  // d enters squared; the quotient and the product round once each
  return op;
}

inline std::vector<Attributes> Betas(std::span<const int64_t> reductions) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<Attributes> all;
  for (const float beta :
       {1.0f, 0.5f, 2.0f, 0.0f, 0.3f, kInfinity, -0.0f, 1e-40f, 0x1p-149f, 3.0e38f, 1e-6f}) {
    all.push_back({.reduction = reductions[all.size() % reductions.size()], .beta = beta});
  }
  return all;
}

}  // namespace smooth_l1_loss

inline const NumericDescription& DescribeSmoothL1Loss() {
  static const NumericDescription description = [] {
    NumericDescription op = WithoutReduction(smooth_l1_loss::Common(), smooth_l1_loss::Terms);
    op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};
    op.attributes = smooth_l1_loss::Betas(std::vector<int64_t>{0});
    return op;
  }();
  return description;
}

inline const NumericDescription& DescribeReducedSmoothL1Loss() {
  static const NumericDescription description = [] {
    NumericDescription op = WithReduction(smooth_l1_loss::Common(), smooth_l1_loss::Terms);
    op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_COMPLEX64};
    op.attributes = smooth_l1_loss::Betas(std::vector<int64_t>{1, 2});
    return op;
  }();
  return description;
}

}  // namespace portacl::testing
