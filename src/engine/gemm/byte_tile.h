// Computes a tile of a product of INT8 (see gemm_tile.h) by the kernels for words of four terms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/gemm/gemm_tile.h"
#include "engine/gemm/word_pack.h"

namespace portacl::engine::gemm_tile {

// Returns lines of a job's operand as a source of words of elements of `size` bytes.
inline WordSource WordsOf(const GemmJob& job, int64_t line, int64_t term, int64_t size) {
  return WordSourceOf(*job.kernels, job.gather, line, term, size);
}

// Packs a block of terms of all columns, then repeatedly as many rows as stay in the second-level cache, whose sums it
// finishes where they are not direct. `left` and `right` have kLeftNumbers and kRightNumbers words.
void RunBytes(const GemmJob& job, const Tile& tile, uint32_t* left, uint32_t* right, float* sums,
              int64_t sums_row);

// Computes the sums of one row with columns whose terms are contiguous, which are not packed.
void RunByteLines(const GemmJob& job, const Tile& tile, uint32_t* left, float* sums);

}  // namespace portacl::engine::gemm_tile
