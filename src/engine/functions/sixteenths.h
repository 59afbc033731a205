// A function of non-negative float32 numbers as a polynomial in each of sixteen intervals: the coefficients.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl::engine {

// Interval i has the numbers whose product with `scale` is nearest to i. Beyond `limit`, which is in the last one, is as at it.
template <int kDegree>
struct Sixteenths {
  float limit;
  float scale;
  alignas(64) float node[16];                      // that the distance is taken from
  alignas(64) float coefficient[kDegree + 1][16];  // the highest power's first
};

}  // namespace portacl::engine
