// aclnnKlDivBackward as the tests see it: the terms -(t * gradOutput) * c with t = target or exp(target), over R =
// broadcast(self, target), summed to self's shape.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "aclnnop/aclnn_kl_div_backward.h"
#include "support/exact_sum.h"
#include "support/float_formats.h"
#include "support/operator_under_test.h"
#include "support/ordered_sum.h"

namespace portacl::testing {
namespace kl_div_backward {

inline bool Accepts(std::span<const Shape> shapes) {  // gradOutput, self, target
  const std::optional<Shape> r = Broadcast(shapes[1], shapes[2]);
  return r && Broadcast(shapes[0], *r) == r;
}

inline int64_t Divisor(const Shape& r, const Attributes& attributes) {
  switch (attributes.reduction) {
    case 1:
      return NumElements(r);
    case 3:
      return r.empty() ? 1 : r.front();
    default:
      return 1;
  }
}

// The float32 numbers at most one unit in the last place from exp(t); exact where the result is 0, 1, infinite or
// NaN.
struct ExpBounds {
  double low;
  double high;
  double truth;  // infinite where float32 is
};

inline ExpBounds BoundExp(double t) {
  if (std::isnan(t) || std::isinf(t) || t == 0) {
    const double exact = std::exp(t);
    return {exact, exact, exact};
  }
  const long double exact = std::exp(static_cast<long double>(t));
  const auto truth = static_cast<double>(exact);
  if (std::isinf(NearestFloat(truth))) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {kInfinity, kInfinity, kInfinity};
  }
  const auto ulp = static_cast<long double>(FloatUlp(truth));
  constexpr float kLargest = std::numeric_limits<float>::max();
  float low = NearestFloat(static_cast<double>(exact - ulp));
  if (static_cast<long double>(low) < exact - ulp) {
    low = std::nextafter(low, kLargest);
  }
  float high = std::fmin(NearestFloat(static_cast<double>(exact + ulp)), kLargest);
  if (static_cast<long double>(high) > exact + ulp) {
    high = std::nextafter(high, 0.0f);
  }
  return {std::fmax(static_cast<double>(low), 0.0), static_cast<double>(high), truth};
}

// The terms over R in row-major order, in float32, and what mathematics gives.
struct Terms {
  Shape shape;
  std::vector<float> low;
  std::vector<float> high;  // empty: as low
  std::vector<double> truth;
  std::vector<double> slack;
};

inline Terms MakeTerms(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  const LogicalTensor& grad_output = inputs[0];
  const LogicalTensor& target = inputs[2];
  Terms terms;
  terms.shape = *Broadcast(inputs[1].shape, target.shape);
  const int64_t n = Divisor(terms.shape, attributes);
  const double c = n > 0 ? static_cast<double>(NearestFloat(1.0 / static_cast<double>(n))) : 1.0;

  const std::vector<int64_t> grad_at = BroadcastPositions(grad_output.shape, terms.shape);
  const std::vector<int64_t> target_at = BroadcastPositions(target.shape, terms.shape);
  // Products of float32 numbers are exact in float64, so each rounds once.
  const auto product = [](double a, double b) { return static_cast<double>(NearestFloat(a * b)); };
  const auto term = [&](double t, double g) { return NearestFloat(-product(t, g) * c); };
  for (size_t i = 0; i < static_cast<size_t>(NumElements(terms.shape)); ++i) {
    const double g = grad_output.reals[static_cast<size_t>(grad_at[i])];
    double t = target.reals[static_cast<size_t>(target_at[i])];
    double largest = t;
    if (attributes.log_target) {
      const ExpBounds bounds = BoundExp(t);
      const float first = term(bounds.low, g);
      const float second = term(bounds.high, g);
      terms.low.push_back(first <= second ? first : second);
      terms.high.push_back(first <= second ? second : first);
      t = bounds.truth;
      largest = bounds.high;
    } else {
      terms.low.push_back(term(t, g));
    }
    terms.truth.push_back(-(t * g) / static_cast<double>(n));
    const bool overflows = std::isinf(product(largest, g)) && std::isfinite(largest) && std::isfinite(g);
    // What gradual underflow of exp and of the first product costs.
    terms.slack.push_back(overflows ? std::numeric_limits<double>::infinity()
                                    : 0x1p-149 * (std::fabs(g * c) + 1));
  }
  return terms;
}

// The truth of a sum is that of its float32 terms, without rounding, where those are known.
struct OutputSum {
  ExactSum exact;
  double truth = 0;
  double magnitude = 0;
  double slack = 0;
};

inline Prediction PredictSums(const Terms& terms, const Shape& output_shape) {
  Prediction result;
  result.shape = output_shape;
  result.value = OrderedSums(terms.shape, terms.low, output_shape);
  const bool exact_terms = terms.high.empty();
  if (!exact_terms) {
    // Every rounding is monotone, so sums in the same order bound the sum.
    result.upper = OrderedSums(terms.shape, terms.high, output_shape);
  }
  std::vector<OutputSum> sums(result.value.size());
  const std::vector<int64_t> position = OutputPositions(terms.shape, output_shape);
  for (size_t i = 0; i < terms.low.size(); ++i) {
    OutputSum& sum = sums[static_cast<size_t>(position[i])];
    if (!std::isfinite(terms.low[i]) || !std::isfinite(terms.truth[i])) {
      sum.slack = std::numeric_limits<double>::infinity();
      continue;
    }
    sum.magnitude += std::fabs(terms.truth[i]);
    if (exact_terms) {
      sum.exact.Add(terms.low[i]);
    } else {
      sum.truth += terms.truth[i];
      sum.slack += terms.slack[i] + 5 * FloatUlp(terms.truth[i]);
    }
  }
  for (const OutputSum& sum : sums) {
    result.truth.push_back(exact_terms ? sum.exact.ToDouble() : sum.truth);
    result.slack.push_back(sum.slack + sum.magnitude * 0x1p-48);  // the roundings of float64 sums
  }
  return result;
}

inline Prediction Oracle(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  const Terms terms = MakeTerms(inputs, attributes);
  const Shape& self_shape = inputs[1].shape;  // nothing else of self matters
  if (self_shape != terms.shape) {
    return PredictSums(terms, self_shape);
  }
  Prediction result;
  result.shape = self_shape;
  result.value.assign(terms.low.begin(), terms.low.end());
  result.upper.assign(terms.high.begin(), terms.high.end());
  result.truth = terms.truth;
  result.slack = terms.slack;
  return result;
}

}  // namespace kl_div_backward

inline const NumericDescription& DescribeKlDivBackward() {
  static const NumericDescription description = [] {
    NumericDescription op;
    op.binding.name = "aclnnKlDivBackward";
    op.binding.tensors = {"gradOutput", "self", "target", "out"};
    op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                         aclOpExecutor** executor) {
      return aclnnKlDivBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, a.log_target, t[3], size,
                                                executor);
    };
    op.binding.run = aclnnKlDivBackward;
    op.binding.unread_inputs = {"self"};
    op.binding.may_need_workspace = [](std::span<const Shape> shapes) {
      return Broadcast(shapes[1], shapes[2]) != shapes[1];
    };
    op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
    op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
    op.attributes = {{.reduction = 0, .log_target = false}, {.reduction = 1, .log_target = true},
                     {.reduction = 2, .log_target = false}, {.reduction = 3, .log_target = true},
                     {.reduction = 1, .log_target = false}, {.reduction = 0, .log_target = true},
                     {.reduction = 3, .log_target = false}, {.reduction = 2, .log_target = true},
                     {.reduction = 6, .log_target = false}, {.reduction = -1, .log_target = true}};
    // Relative errors in units of 2^-24: 2 for exp, which is within 1 ulp, and 1 for each product and for c.
    op.max_ulp = 5;
    op.oracle = kl_div_backward::Oracle;
    op.accepts = kl_div_backward::Accepts;
    op.output_shape = [](std::span<const Shape> shapes) { return shapes[1]; };
    op.loss = [](double self, double target, const Attributes& attributes) {
      if (attributes.log_target) {
        return std::exp(target) * (target - self);
      }
      // For negative targets, where there is no logarithm, only the part that depends on self.
      return (target > 0 ? target * std::log(target) : 0.0) - target * self;
    };
    op.loss_divisor = [](std::span<const Shape> shapes, const Attributes& attributes) {
      return static_cast<double>(kl_div_backward::Divisor(*Broadcast(shapes[1], shapes[2]), attributes));
    };
    op.kink_distance = [](double, double, const Attributes&) {
      return std::numeric_limits<double>::infinity();
    };
    return op;
  }();
  return description;
}

}  // namespace portacl::testing
