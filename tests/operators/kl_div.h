// aclnnKlDiv as the tests see it: t * (log(t) - self), or exp(t) * (t - self) with logTarget, or its sum.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "aclnnop/aclnn_kl_div.h"
#include "operators/forward_losses.h"
#include "support/float_formats.h"
#include "support/library_exp.h"

namespace portacl::testing {
namespace kl_div {

// log's own test shows that this is what the library has, but for a few numbers out of 2^32.
inline double NearestLog(double t) {
  return static_cast<double>(static_cast<float>(std::log(static_cast<long double>(t))));
}

inline double LibraryExpOf(double t) { return static_cast<double>(LibraryExp(static_cast<float>(t))); }

inline LossTerms Terms(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  LossTerms terms;
  terms.shape = ForEachPair(inputs[0], inputs[1], [&](double x, double t) {
    if (attributes.log_target) {
      const double difference = InFloat(t - x);
      const bool overflows = std::isinf(difference) && std::isfinite(x) && std::isfinite(t);
      const double truth = std::exp(t) * (t - x);
      // exp is within 0.91 units in the last place, the difference within half of one; each may count double in the
      // product's.
      const double error = std::isfinite(truth) ? 2.9 * FloatUlp(truth) : 0;
      terms.Add(NearestFloat(LibraryExpOf(t) * difference), truth,
                overflows ? HUGE_VAL : error + 0x1p-149 * (std::fabs(t - x) + 1));
    } else {
      const double positive = t == 0 ? 1 : t;
      const double difference = InFloat(NearestLog(positive) - x);
      // The difference may cancel: then the error of the logarithm is what counts.
      const double exact = std::log(positive);
      const double error = 0.51 * FloatUlp(exact) + 0.5 * FloatUlp(exact - x);
      const bool overflows = std::isinf(difference) && std::isfinite(x) && t != 0;
      terms.Add(NearestFloat(t * difference), t * (exact - x),
                overflows              ? HUGE_VAL
                : std::isfinite(error) ? std::fabs(t) * error + 0x1p-149
                                       : 0);
    }
  });
  return terms;
}

inline NumericDescription Common() {
  NumericDescription op;
  op.binding.name = "aclnnKlDiv";
  op.binding.tensors = {"self", "target", "out"};
  op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                       aclOpExecutor** executor) {
    return aclnnKlDivGetWorkspaceSize(t[0], t[1], a.reduction, a.log_target, t[2], size, executor);
  };
  op.binding.run = aclnnKlDiv;
  op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.max_ulp = 0.5;  // and what the terms add
  return op;
}

}  // namespace kl_div

inline const NumericDescription& DescribeKlDiv() {
  static const NumericDescription description = [] {
    NumericDescription op = WithoutReduction(kl_div::Common(), kl_div::Terms);
    op.attributes = {{.reduction = 0, .log_target = false}, {.reduction = 0, .log_target = true}};
    return op;
  }();
  return description;
}

inline const NumericDescription& DescribeReducedKlDiv() {
  static const NumericDescription description = [] {
    NumericDescription op = WithReduction(kl_div::Common(), kl_div::Terms);
    op.attributes = {{.reduction = 1, .log_target = false}, {.reduction = 2, .log_target = true},
                     {.reduction = 3, .log_target = false}, {.reduction = 1, .log_target = true},
                     {.reduction = 2, .log_target = false}, {.reduction = 3, .log_target = true}};
    return op;
  }();
  return description;
}

}  // namespace portacl::testing
