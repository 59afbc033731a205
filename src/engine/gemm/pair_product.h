// Products of BF16 rows that are there as numbers and as pairs of terms, with panels of pairs (see
// tile_kernel.h). Rows and panels whose products may be subnormal are multiplied as numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/gemm/gemm_kernel.h"
#include "engine/gemm/tile_kernel.h"

namespace portacl::engine {

// Tells whether panels of these kernels can be multiplied by pairs.
bool TakesPairs(const GemmKernels& kernels, const TileKernels& tiles) noexcept;

// Rows of at most kGemmDepth terms.
struct PairedRows {
  const float* numbers;        // kPackedRow apart
  const uint32_t* pairs;       // kPairedRow apart, PairedWords(tiles, rows) of them
  const LeastExponent* least;  // of each group of the kernel's rows
  int64_t rows;
};
int64_t PairedWords(const TileKernels& tiles, int64_t rows) noexcept;
int64_t PairedGroups(const TileKernels& tiles, int64_t rows) noexcept;

// Makes pairs of rows of BF16 numbers.
void PairNumbers(const TileKernels& tiles, const float* numbers, int64_t rows, int64_t depth, uint32_t* pairs,
                 LeastExponent* least) noexcept;
// c = a * b, or c += a * b. `panels` are packed words of adjacent terms, PairsOf(depth) in a line, which are put
// into order in place. `widened` has room for a panel of numbers. Call it between the kernels' begin and end.
void MultiplyPairedPanels(const TileKernels& tiles, const GemmKernels& kernels, const PairedRows& a,
                          uint32_t* panels, int64_t columns, int64_t depth, float* c, int64_t c_row,
                          bool adds, float* widened) noexcept;

}  // namespace portacl::engine
