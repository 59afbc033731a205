// The terms of a loss over the broadcast of its inputs, and their reductions, for the oracles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "operator_under_test.h"

namespace portacl::testing {

// One term for each element of `shape`, in row-major order.
struct LossTerms {
  Shape shape;
  std::vector<float> value;   // in float32, exact to the bit
  std::vector<double> truth;  // the mathematical value
  std::vector<double> slack;  // see Prediction::slack

  // The slack is `tolerance`, but infinite for a term that overflows although the true value is finite.
  void Add(float term, double exact, double tolerance);
};

// The terms themselves.
Prediction Elements(const LossTerms& terms);

// Sums the terms to the shape `kept`, which broadcasts to theirs, and multiplies by c. The output has
// `output_shape`.
Prediction Sums(const LossTerms& terms, const Shape& kept, const Shape& output_shape, float c);

// Returns c of a mean over n elements, which is infinite for n = 0.
float MeanFactor(int64_t n);

// Calls term(x, y) with the values of two inputs at each element of their broadcast. Returns the broadcast
// shape.
template <typename Term>
Shape ForEachPair(const LogicalTensor& self, const LogicalTensor& target, const Term& term) {
  const Shape shape = *Broadcast(self.shape, target.shape);
  const std::vector<int64_t> self_at = BroadcastPositions(self.shape, shape);
  const std::vector<int64_t> target_at = BroadcastPositions(target.shape, shape);
  for (size_t i = 0; i < self_at.size(); ++i) {
    term(self.reals[static_cast<size_t>(self_at[i])], target.reals[static_cast<size_t>(target_at[i])]);
  }
  return shape;
}

// Rounds to float32. float64 has more than twice float32's digits, so one operation on float32 numbers,
// rounded twice, gives the result of float32 arithmetic.
double InFloat(double value);

}  // namespace portacl::testing
