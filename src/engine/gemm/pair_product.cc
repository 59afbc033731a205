// Products of paired rows and panels (see pair_product.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/pair_product.h"

#include <algorithm>

namespace portacl::engine {

bool TakesPairs(const GemmKernels& kernels, const TileKernels& tiles) noexcept {
  return kernels.columns % tiles.columns == 0;
}

int64_t PairedGroups(const TileKernels& tiles, int64_t rows) noexcept {
  return (rows + tiles.rows - 1) / tiles.rows;
}

int64_t PairedWords(const TileKernels& tiles, int64_t rows) noexcept {
  return PairedGroups(tiles, rows) * tiles.rows * kPairedRow;
}

void PairNumbers(const TileKernels& tiles, const float* numbers, int64_t rows, int64_t depth, uint32_t* pairs,
                 LeastExponent* least) noexcept {
  for (int64_t at = 0; at < rows; at += tiles.rows) {
    const int64_t some = std::min<int64_t>(tiles.rows, rows - at);
    uint32_t* const to = pairs + at * kPairedRow;
    *least++ = tiles.pair_rows(numbers + at * kPackedRow, some, depth, to);
    std::fill_n(to + some * kPairedRow, (tiles.rows - some) * kPairedRow, 0u);
  }
}

void MultiplyPairedPanels(const TileKernels& tiles, const GemmKernels& kernels, const PairedRows& a,
                          uint32_t* panels, int64_t columns, int64_t depth, float* c, int64_t c_row,
                          bool adds, float* widened) noexcept {
  const int64_t width = kernels.columns;
  for (int64_t column = 0; column < columns; column += width, panels += PairsOf(depth) * width) {
    const int64_t columns_here = std::min(width, columns - column);
    const LeastExponent least = tiles.order_panel(panels, width, depth);
    bool is_widened = false;
    for (int64_t at = 0; at < a.rows; at += tiles.rows) {
      const int64_t some = std::min<int64_t>(tiles.rows, a.rows - at);
      float* const to = c + at * c_row + column;
      if (AreMultiplesOfNormals(a.least[at / tiles.rows], least)) {
        // The sums that this is added to may be subnormal, if they were made by numbers.
        tiles.multiply(
            {a.pairs + at * kPairedRow, panels, to, c_row, some, columns_here, width, depth, adds, adds});
        continue;
      }
      if (!is_widened) tiles.widen_panel(panels, width, depth, widened);
      is_widened = true;
      kernels.even_odd.multiply(
          {a.numbers + at * kPackedRow, widened, to, c_row, some, columns_here, depth, adds});
    }
  }
}

}  // namespace portacl::engine
