// The coefficients of a piecewise polynomial: a function of non-negative float32 numbers, with one polynomial
// for each of sixteen intervals.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl::engine {

// Interval i holds the numbers x for which x * scale is nearest to i. Numbers beyond `limit`, which lies in
// the last interval, give the result of `limit`.
template <int kDegree>
struct PiecewisePolynomial {
  float limit;
  float scale;
  alignas(64) float node[16];                      // the polynomial's variable is the distance from it
  alignas(64) float coefficient[kDegree + 1][16];  // that of the highest power first
};

}  // namespace portacl::engine
