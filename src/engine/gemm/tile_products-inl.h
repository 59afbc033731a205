// Products by tiles of sixteen rows of sixteen words, as AMX has them (see tile_kernel.h). `Tiles` are the
// instructions or a model of them:
//   Tiles::Zero(t), Load(t, memory, bytes), Store(t, memory, bytes)   tile t; rows are `bytes` bytes apart
//   Tiles::Multiply(sums, a, b)                                       TDPBF16PS or TDPBSSD
//   Tiles::kTerms                                                     the terms of a row of a tile
//   Tiles::kRow                                                       the distance of packed rows in words
// Tiles 0 to 3 are sums, 4 and 5 rows, 6 and 7 columns.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/byte_kernel.h"
#include "engine/gemm/tile_pairs-inl.h"

namespace portacl::engine::PORTACL_TILE_NAMESPACE {
namespace {

// Pairs of adjacent terms.
struct NeighbourOrder {
  static constexpr int kLow[kPairsOfBlock] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
  static constexpr int kHigh[kPairsOfBlock] = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
  PORTACL_TILE_TARGET static void Pair(const uint32_t* terms, uint32_t* pairs) {
    for (int64_t i = 0; i < kPairsOfBlock; ++i)
      pairs[i] = terms[2 * i] >> 16 | (terms[2 * i + 1] & 0xFFFF0000u);
  }
  PORTACL_TILE_TARGET static void Order(uint32_t&, uint32_t&) {}
  PORTACL_TILE_TARGET static void OrderBlock(uint32_t*) {}
};

inline constexpr int64_t kTileSide = 16;
inline constexpr int64_t kTileRows = 2 * kTileSide;
inline constexpr int64_t kWord = sizeof(uint32_t);
// The words of a row of a tile, and so the rows of a panel that a tile takes.
inline constexpr int64_t kTileWords = kTileSide;

// Multiplies two tiles of rows with one or two of columns. The sums are a whole square of `c`.
template <class Tiles, bool kTwo>
PORTACL_TILE_TARGET void MultiplySquare(const uint32_t* a, const uint32_t* b, int64_t width, int64_t blocks,
                                        float* c, int64_t c_row, bool adds) {
  const int64_t step = c_row * static_cast<int64_t>(sizeof(float));
  float* const below = c + kTileSide * c_row;
  if (adds) {
    Tiles::template Load<0>(c, step);
    if constexpr (kTwo) Tiles::template Load<1>(c + kTileSide, step);
    Tiles::template Load<2>(below, step);
    if constexpr (kTwo) Tiles::template Load<3>(below + kTileSide, step);
  } else {
    Tiles::template Zero<0>();
    if constexpr (kTwo) Tiles::template Zero<1>();
    Tiles::template Zero<2>();
    if constexpr (kTwo) Tiles::template Zero<3>();
  }
  for (int64_t block = 0; block < blocks; ++block) {
    Tiles::template Load<6>(b, width * kWord);
    Tiles::template Load<4>(a, Tiles::kRow * kWord);
    Tiles::template Multiply<0, 4, 6>();
    if constexpr (kTwo) {
      Tiles::template Load<7>(b + kTileSide, width * kWord);
      Tiles::template Multiply<1, 4, 7>();
    }
    Tiles::template Load<5>(a + kTileSide * Tiles::kRow, Tiles::kRow * kWord);
    Tiles::template Multiply<2, 5, 6>();
    if constexpr (kTwo) Tiles::template Multiply<3, 5, 7>();
    a += kTileWords;
    b += kTileWords * width;
  }
  Tiles::template Store<0>(c, step);
  if constexpr (kTwo) Tiles::template Store<1>(c + kTileSide, step);
  Tiles::template Store<2>(below, step);
  if constexpr (kTwo) Tiles::template Store<3>(below + kTileSide, step);
}

// Uses a square in separate memory if `c` lacks some of its rows or columns, or if each block's sums are
// added outside of tiles.
template <class Tiles>
PORTACL_TILE_TARGET void MultiplyTiles(const TileProduct& product) {
  const int64_t blocks = (product.depth + Tiles::kTerms - 1) / Tiles::kTerms;
  for (int64_t column = 0; column < product.columns; column += kTileRows) {
    const bool has_two = product.width - column >= kTileRows;
    const auto multiply = has_two ? MultiplySquare<Tiles, true> : MultiplySquare<Tiles, false>;
    const int64_t side = has_two ? kTileRows : kTileSide;
    const int64_t columns = product.columns - column < side ? product.columns - column : side;
    const uint32_t* const b = product.b + column;
    float* const c = product.c + column;
    const bool is_apart = product.adds && product.adds_apart;
    if (product.rows == kTileRows && columns == side && !is_apart) {
      multiply(product.a, b, product.width, blocks, c, product.c_row, product.adds);
      continue;
    }
    alignas(64) float square[kTileRows * kTileRows] = {};
    const auto size = static_cast<size_t>(columns) * sizeof(float);
    if (is_apart) {
      for (int64_t block = 0; block < blocks; ++block) {
        multiply(product.a + block * kTileWords, b + block * kTileWords * product.width, product.width, 1,
                 square, kTileRows, false);
        for (int64_t r = 0; r < product.rows; ++r) {
          for (int64_t j = 0; j < columns; ++j) c[r * product.c_row + j] += square[r * kTileRows + j];
        }
      }
      continue;
    }
    for (int64_t r = 0; r < product.rows && product.adds; ++r)
      std::memcpy(square + r * kTileRows, c + r * product.c_row, size);
    multiply(product.a, b, product.width, blocks, square, kTileRows, product.adds);
    for (int64_t r = 0; r < product.rows; ++r)
      std::memcpy(c + r * product.c_row, square + r * kTileRows, size);
  }
}

template <class Tiles>
constexpr TileKernels KernelsOfTiles(const char* name, void (*begin)(), void (*end)()) {
  return {name,
          kTileRows,
          kTileSide,
          /*flushes_sums=*/true,
          /*takes_all_rows=*/true,
          PairRows<NeighbourOrder>,
          PairPanel<NeighbourOrder>,
          WidenRows<NeighbourOrder>,
          WidenPanel<NeighbourOrder>,
          OrderRows<NeighbourOrder>,
          OrderPanel<NeighbourOrder>,
          MultiplyTiles<Tiles>,
          begin,
          end};
}

template <class Tiles>
constexpr ByteKernels ByteKernelsOfTiles(const char* name, void (*begin)(), void (*end)()) {
  return {name,
          kTileRows,
          kTileSide,
          Tiles::kTerms,
          /*takes_all_rows=*/true,
          /*has_unsigned_panels=*/false,
          MultiplyTiles<Tiles>,
          nullptr,
          begin,
          end};
}

}  // namespace
}  // namespace portacl::engine::PORTACL_TILE_NAMESPACE
