// Finishes the sums of a tile of a matrix product (see gemm_tile.h): scales them, adds to them and stores them as the output's type.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/gemm/gemm_tile.h"

namespace portacl::engine::gemm_tile {

// Finishes the sums of all of a tile's elements. Rows of sums are `sums_row` numbers apart.
void Finish(const GemmJob& job, const Tile& tile, float* sums, int64_t sums_row);

// Finishes the sum of one element.
void FinishElement(const GemmJob& job, const Tile& tile, float sum, int64_t row, int64_t column);

}  // namespace portacl::engine::gemm_tile
