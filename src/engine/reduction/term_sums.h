// Sums of float32 terms in memory, in the order that docs/numerics.md defines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/isa.h"

namespace portacl::engine {

// Sums float32 terms that have been written to memory: for sums and rows too short for a formula's own sum
// kernel, and for inputs that are dense across the rows. The bits are the same on every instruction set. For
// the short ones, kLanes more terms than are summed must be readable.
struct TermSums {
  // sums[s] = the sum of terms [s * length, (s + 1) * length), in lanes; length < kLanes.
  void (*short_sums)(const float* terms, size_t length, size_t count, double* sums);
  // sums[g * kLanes + i] += terms[g * stride + r * width + i] for r = 0, 1, ..., rows - 1, i in [0, width), g
  // in [0, groups); width < kLanes. Sums from `width` on become unspecified.
  void (*narrow_rows)(const float* terms, size_t stride, size_t groups, size_t rows, size_t width,
                      double* sums);
  // sums[i] += terms[i * pitch + r] for r = 0, 1, ..., rows - 1, i in [0, kLanes).
  void (*across)(const float* terms, size_t pitch, size_t rows, double* sums);
};
TermSums FindTermSums(Isa isa) noexcept;

}  // namespace portacl::engine
