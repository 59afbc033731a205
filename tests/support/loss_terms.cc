// Terms of losses and their sums: see loss_terms.h.
// SPDX-License-Identifier: Apache-2.0
#include "loss_terms.h"

#include <cmath>
#include <limits>

#include "exact_sum.h"
#include "float_formats.h"
#include "ordered_sum.h"

namespace portacl::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

double InFloat(double value) { return static_cast<double>(NearestFloat(value)); }

float MeanFactor(int64_t n) { return n == 0 ? HUGE_VALF : NearestFloat(1.0 / static_cast<double>(n)); }

void LossTerms::Add(float term, double exact, double tolerance) {
  value.push_back(term);
  truth.push_back(exact);
  slack.push_back(!std::isfinite(term) && std::isfinite(exact) ? kInfinity : tolerance);
}

Prediction Elements(const LossTerms& terms) {
  Prediction result;
  result.shape = terms.shape;
  result.value.assign(terms.value.begin(), terms.value.end());
  result.truth = terms.truth;
  result.slack = terms.slack;
  return result;
}

Prediction Sums(const LossTerms& terms, const Shape& kept, const Shape& output_shape, float c) {
  const auto factor = static_cast<double>(c);
  Prediction result;
  result.shape = output_shape;
  if (terms.value.empty()) {
    result.value.assign(static_cast<size_t>(NumElements(output_shape)), 0.0 * factor);
    result.truth = result.value;
    return result;
  }
  result.value = OrderedSums(terms.shape, terms.value, kept);
  for (double& sum : result.value) {
    sum = (0.0 + sum) * factor;  // a sum starts at +0, so it is never -0
  }

  // The true sum is that of the float32 terms, without rounding.
  const size_t outputs = result.value.size();
  std::vector<ExactSum> exact(outputs);
  result.slack.assign(outputs, 0.0);
  const std::vector<int64_t> position = OutputPositions(terms.shape, kept);
  for (size_t i = 0; i < terms.value.size(); ++i) {
    const auto at = static_cast<size_t>(position[i]);
    if (std::isfinite(terms.value[i])) {
      exact[at].Add(terms.value[i]);
      // Adds the rounding errors of float64 sums.
      result.slack[at] += std::fabs(static_cast<double>(terms.value[i])) * 0x1p-48 * factor;
    } else {
      result.slack[at] = kInfinity;
    }
  }
  for (const ExactSum& sum : exact) {
    result.truth.push_back(sum.ToDouble() * factor);
  }
  return result;
}

}  // namespace portacl::testing
