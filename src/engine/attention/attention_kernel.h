// The loops over rows of scores that attention has beside products of matrices, compiled for each instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/isa.h"
#include "engine/random/source.h"

namespace portacl::engine {

// Rows are taken sixteen numbers at a time: `count` is a multiple of that, what lies behind a row's end is the caller's to fill.
inline constexpr int64_t kAttentionLanes = 16;

struct AttentionKernels {
  // s = scale * s, scale * (s + shift), or scale * s + shift where `shift_first` is false; `shift` may be nullptr. Returns the greatest
  // that is a number, at least the lowest of all.
  float (*scale)(float* s, const float* shift, int64_t count, float scale, bool shift_first);
  float (*greatest)(const float* s, int64_t count);
  // s = -infinity where the byte of `mask` is not 0; whether any is left.
  bool (*hide)(float* s, const unsigned char* mask, int64_t n);
  // s = exp(s - greatest). Returns their sum: sixteen lanes, each in ascending order, then halves.
  float (*exponentials)(float* s, int64_t count, float greatest);
  // s = exp(s - greatest) * factor.
  void (*weights)(float* s, int64_t count, float greatest, float factor);
  // to = to * factor + term, fused.
  void (*add)(float* to, const float* term, int64_t count, float factor);
  void (*multiply)(float* values, int64_t count, float factor);
  // The sum of a * b, fused: sixteen lanes, then halves.
  float (*dot)(const float* a, const float* b, int64_t count);
  // to = weights * (to - delta).
  void (*gradients)(float* to, const float* weights, int64_t count, float delta);
  // values = values * factor where a bit is 1, else 0. Bits begin at bit `first` of the first byte, the lowest first. Any count.
  void (*keep)(float* values, const unsigned char* bits, int first, int64_t count, float factor);
  // values = values * factor where the first word of the random elements from `first` on is at most `most`, else 0. Any count.
  void (*drop)(float* values, const RandomSource& source, uint64_t first, int64_t count, uint32_t most,
               float factor);
  // greatest + log(sum).
  float (*log_sum)(float greatest, float sum);
};

AttentionKernels FindAttentionKernels(Isa isa) noexcept;

}  // namespace portacl::engine
