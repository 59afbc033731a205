// Computes a tile of a product of BF16 (see gemm_tile.h) by the kernels for pairs of terms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/gemm/gemm_tile.h"

namespace portacl::engine::gemm_tile {

// Multiplies a tile and finishes its sums where they are not direct. Rows and panels whose products may be subnormal are
// multiplied as numbers. `memory` has kLeftNumbers + kRightNumbers numbers, `pack` has kPackMemory bytes.
void RunPairs(const GemmJob& job, const Tile& tile, float* memory, char* pack, float* sums, int64_t sums_row);

}  // namespace portacl::engine::gemm_tile
