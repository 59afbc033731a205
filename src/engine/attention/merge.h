// Merges attention's results for several parts of the keys. Each part's rows are weighted by its fraction of
// the sum of exponentials.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/attention/attention.h"

namespace portacl::engine {

inline constexpr int kMostMergedParts = 16;

// Statistics are the greatest score and the sum of exponentials; without `sum`, `greatest` is their
// logarithm. A part with an infinite logarithm has no keys.
struct MergedPart {
  AttentionOperand out;
  AttentionOperand greatest;
  AttentionOperand sum;
};

struct AttentionMerge {
  int64_t batches;
  int64_t heads;
  int64_t rows;
  int64_t depth;
  int parts;
  int64_t copies;     // of written statistics, side by side
  MergedPart result;  // operands that are missing are not written
};

// Room for the parts, for the caller to fill before the job is made; nullptr when there is no memory.
MergedPart* ReserveMergedParts(JobMemory& job, int parts) noexcept;

// Makes the job. No dim is 0. `left_out` is an operand of the call that the job does not use, or there is none.
AnyJob MakeAttentionMergeJob(const AttentionMerge& merge, int left_out, Isa isa, int threads) noexcept;

}  // namespace portacl::engine
