// The loops over rows of scores that attention needs besides matrix products, compiled for each instruction
// set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/random/source.h"

namespace portacl::engine {

// Rows are processed sixteen numbers at a time. `count` is a multiple of that; the caller pads the end of a
// row.
inline constexpr int64_t kAttentionLanes = 16;

struct AttentionKernels {
  // s = scale * s, scale * (s + shift), or scale * s + shift if `shift_first` is false; `shift` may be
  // nullptr. Returns the greatest number, at least the lowest float.
  float (*scale)(float* s, const float* shift, int64_t count, float scale, bool shift_first);
  float (*greatest)(const float* s, int64_t count);
  // Sets s = -infinity where the byte of `mask` is not 0. Returns whether any score is left.
  bool (*hide)(float* s, const unsigned char* mask, int64_t n);
  // s = exp(s - greatest). Returns the sum in sixteen lanes, each in ascending order, which are then reduced
  // in halves.
  float (*exponentials)(float* s, int64_t count, float greatest);
  // s = exp(s - greatest) * factor.
  void (*weights)(float* s, int64_t count, float greatest, float factor);
  // to = to * factor + term, fused.
  void (*add)(float* to, const float* term, int64_t count, float factor);
  void (*multiply)(float* values, int64_t count, float factor);
  // Returns the sum of a * b, fused, in sixteen lanes that are then reduced in halves.
  float (*dot)(const float* a, const float* b, int64_t count);
  // to = weights * (to - delta).
  void (*gradients)(float* to, const float* weights, int64_t count, float delta);
  // values = values * factor if the bit is 1, else 0. Bits begin at bit `first` of the first byte, the lowest
  // first. Any count.
  void (*keep)(float* values, const unsigned char* bits, int first, int64_t count, float factor);
  // values = values * factor if the first word of the random element is at most `most`, else 0. Elements are
  // numbered from `first` on. Any count.
  void (*drop)(float* values, const RandomSource& source, uint64_t first, int64_t count, uint32_t most,
               float factor);
  // Returns greatest + log(sum).
  float (*log_sum)(float greatest, float sum);
};

AttentionKernels FindAttentionKernels(Isa isa) noexcept;

}  // namespace portacl::engine
