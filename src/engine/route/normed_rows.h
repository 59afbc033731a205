// Adds rows to others and divides them by their root mean square: a listed op (OpList::Compute), trivially copyable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/buffer_ref.h"
#include "engine/route/route.h"

namespace portacl::engine {

// With s = source + added in float32: sum = round(s), reciprocal = 1 / sqrt(mean(s^2) + epsilon), whose mean is computed in
// float64, and normed = s * reciprocal * gamma, rounded once, or, with `rounds_quotient`, also before gamma.
struct NormedRows {
  NumberRows source, added;
  NumberRows gamma;  // one row
  NumberRows sum, normed;
  OptionalBuffer reciprocal;  // FLOAT of each row
  float epsilon;
  bool rounds_quotient;
  int64_t rows, columns;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
