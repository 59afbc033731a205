// Computes tiles of products of BF16 (see pair_tile.h): packs pairs of terms and multiplies rows with panels.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/pair_tile.h"

#include <algorithm>

#include "engine/gemm/byte_tile.h"
#include "engine/gemm/finish.h"

namespace portacl::engine::gemm_tile {
namespace {

// Panels that are packed as numbers before they become pairs.
constexpr int64_t kPanelsTogether = 4;
constexpr int64_t kLeastPanelColumns = 16;
constexpr int64_t kMostTileRows = 32;

// A thread's memory holds rows, then panels, then numbers that are being packed or widened.
constexpr int64_t kRowNumbers = kMostTileRows * kPackedRow;
constexpr int64_t kPanelNumbers = kPanelsTogether * kMostTileColumns * kGemmDepth;
constexpr int64_t kPairs = kLeftNumbers + kRightNumbers - kRowNumbers - kPanelNumbers;
// Pairs of panels and bytes of rows with their sums that stay in the second-level cache together.
constexpr int64_t kPairsOfPanels = int64_t{144} * 1024;
constexpr int64_t kBytesOfRows = int64_t{256} * 1024;
// Packed rows, each with one block of terms.
constexpr int64_t kRowsOfBlocks = (kPairs - kPairsOfPanels) / kPairedRow;
static_assert(kMostColumns * kGemmDepth / 2 <= kPairsOfPanels);
// Blocks of terms that are packed at a time. Sums stay in the first-level cache while they are multiplied.
constexpr int64_t kMostBlocks = 4;
static_assert(kRowsOfBlocks / kMostBlocks >= kMostTileRows);

// Rows of sums that are a multiple of this long would start in few cache sets.
constexpr int64_t kColumnsOfSets = 256;

// The most rows, and rows times blocks of terms, that are packed once for all panels.
constexpr int64_t kFewRows = 64;
constexpr int64_t kMostPackedOnce = 1024;
static_assert(kMostPackedOnce * kPairedRow + kMostTileColumns * kGemmDepth / 2 <= kPairs);

class PairRun {
 public:
  PairRun(const GemmJob& job, const Tile& tile, float* memory, char* pack, float* sums, int64_t sums_row)
      : job_(job),
        gemm_(job.gemm),
        tiles_(*job.tile_kernels),
        tile_(tile),
        width_(job.kernels->columns),
        rows_(WordsOf(job, job.gemm.left.row, job.gemm.left.column, 2)),
        columns_(WordsOf(job, job.gemm.right.column, job.gemm.right.row, 2)),
        pairs_(reinterpret_cast<uint32_t*>(memory)),
        row_numbers_(memory + kPairs),
        panel_numbers_(row_numbers_ + kRowNumbers),
        pack_(pack),
        sums_(sums),
        sums_row_(sums_row) {}

  void Run() const {
    tiles_.begin();
    if (IsPackedOnce()) {
      RunPanels();
    } else {
      RunBlocks();
    }
    tiles_.end();
  }

 private:
  // Some rows of the tile, shared among calls of the kernel: evenly, or as many as it takes.
  struct Groups {
    int64_t count;
    int64_t each;
    int64_t longer;  // have one row more
    int64_t RowsOf(int64_t group) const { return each + (group < longer ? 1 : 0); }
  };
  Groups GroupsOf(int64_t rows) const {
    const int64_t count = DividedUp(rows, tiles_.rows);
    if (tiles_.takes_all_rows) return {count, tiles_.rows, 0};
    return {count, rows / count, rows % count};
  }
  int64_t Blocks() const { return gemm_.groups * DividedUp(gemm_.depth, kGemmDepth); }

  // Tells whether the rows are few and the right operand is dense along the terms. Then a panel passes through the
  // first-level cache with all its terms, which is the order of memory, and sums stay there.
  bool IsPackedOnce() const {
    return gemm_.left.patches == nullptr && gemm_.right.patches == nullptr &&
           columns_.term == columns_.size && tile_.rows <= kFewRows &&
           RoundedUp(tile_.rows, tiles_.rows) * Blocks() <= kMostPackedOnce;
  }

  // Terms of all rows and columns.
  struct Block {
    int64_t group;
    int64_t term;
    int64_t depth;
  };
  Block BlockOf(int64_t index) const {
    const int64_t of_group = DividedUp(gemm_.depth, kGemmDepth);
    const int64_t term = index % of_group * kGemmDepth;
    return {index / of_group, term, std::min(kGemmDepth, gemm_.depth - term)};
  }

  // Packs `count` rows of a block.
  void PackRows(int64_t row, int64_t count, const Block& block, uint32_t* to, LeastExponent* least) const {
    const int64_t group = block.group, term = block.term, depth = block.depth;
    constexpr auto kRow = kPairedRow * static_cast<int64_t>(sizeof(uint32_t));
    const bool is_image = gemm_.left.patches != nullptr;
    const auto from = [&](int64_t line) {
      return tile_.left + group * gemm_.left.group + line * rows_.line + term * rows_.term;
    };
    const bool are_whole = rows_.term == rows_.size && depth % kEvenOddDepth == 0;
    if (!is_image && !are_whole) PackWordRows(rows_, from(row), count, depth, PairsOf(depth), kPairedRow, to);
    const Groups groups = GroupsOf(count);
    for (int64_t i = 0; i < groups.count; ++i) {
      const int64_t some = std::min(groups.RowsOf(i), count);
      if (is_image) {
        PackPatchRows(PatchSourceOf(job_, gemm_.left, tile_.left, job_.load[0]), tile_.row + row, some, term,
                      depth, row_numbers_);
        least[i] = tiles_.pair_rows(row_numbers_, some, depth, to);
      } else if (are_whole) {
        least[i] = tiles_.order_rows(from(row), rows_.line, some, depth, to);
      } else {
        least[i] = tiles_.order_rows(to, kRow, some, depth, to);
      }
      if (tiles_.takes_all_rows) std::fill_n(to + some * kPairedRow, (tiles_.rows - some) * kPairedRow, 0u);
      to += some * kPairedRow;
      row += some;
      count -= some;
    }
  }

  // Packs `count` columns of a block as panels.
  void PackPanels(int64_t column, int64_t count, const Block& block, uint32_t* to,
                  LeastExponent* least) const {
    const int64_t group = block.group, term = block.term, depth = block.depth;
    const int64_t panel_pairs = PairsOf(depth) * width_;
    if (gemm_.right.patches == nullptr) {
      const char* const from =
          tile_.right + group * gemm_.right.group + column * columns_.line + term * columns_.term;
      PackWordPanels(columns_, from, count, depth, PairsOf(depth), width_, to);
      for (int64_t panel = 0; panel * width_ < count; ++panel)
        least[panel] = tiles_.order_panel(to + panel * panel_pairs, width_, depth);
      return;
    }
    for (int64_t at = 0; at < count; at += kPanelsTogether * width_) {
      const int64_t some = std::min(kPanelsTogether * width_, count - at);
      PackPatchPanels(PatchSourceOf(job_, gemm_.right, tile_.right, job_.load[1]), tile_.column + column + at,
                      some, term, depth, width_, pack_, panel_numbers_);
      for (int64_t j = 0; j < some; j += width_) {
        const int64_t panel = (at + j) / width_;
        least[panel] = tiles_.pair_panel(panel_numbers_ + j * depth, width_, depth, to + panel * panel_pairs);
      }
    }
  }

  struct Panel {
    const uint32_t* pairs;
    LeastExponent least;
    int64_t columns;
    int64_t depth;
    bool adds;
  };
  // Multiplies `count` packed rows with a panel. `are_small` tells whether sums may be subnormal, and is set if these may
  // be.
  void Multiply(const uint32_t* a, const LeastExponent* least, int64_t count, const Panel& panel,
                bool& are_small, float* c, int64_t c_row) const {
    const Groups groups = GroupsOf(count);
    const bool were_small = are_small;
    for (int64_t i = 0; i < groups.count; ++i) {
      const int64_t some = std::min(groups.RowsOf(i), count);
      if (AreMultiplesOfNormals(least[i], panel.least)) {
        tiles_.multiply(
            {a, panel.pairs, c, c_row, some, panel.columns, width_, panel.depth, panel.adds, were_small});
      } else {
        are_small = true;
        tiles_.widen_rows(a, some, panel.depth, row_numbers_);
        tiles_.widen_panel(panel.pairs, width_, panel.depth, panel_numbers_);
        job_.kernels->even_odd.multiply(
            {row_numbers_, panel_numbers_, c, c_row, some, panel.columns, panel.depth, panel.adds});
      }
      a += some * kPairedRow;
      c += some * c_row;
      count -= some;
    }
  }

  // Returns how many rows are multiplied with the panels of some blocks at a time.
  int64_t RowsTogether(int64_t blocks) const {
    constexpr int64_t kBytesOfBlock = kPairedRow * int64_t{sizeof(uint32_t)};
    const int64_t fitting = kBytesOfRows / (blocks * kBytesOfBlock + tile_.columns * kNumber);
    const int64_t most = std::min(fitting, kRowsOfBlocks / blocks) / tiles_.rows * tiles_.rows;
    const int64_t rows = std::max<int64_t>(most, tiles_.rows);
    return tiles_.takes_all_rows ? rows : DividedUp(tile_.rows, DividedUp(tile_.rows, rows));
  }

  // Packs some blocks of terms of all columns, then repeatedly as many rows as stay in the second-level cache.
  void RunBlocks() const {
    const int64_t block_pairs = RoundedUp(tile_.columns, width_) * kGemmDepth / 2;
    const int64_t together = std::clamp<int64_t>(kPairsOfPanels / block_pairs, 1, kMostBlocks);
    bool are_small = false;
    for (int64_t first = 0; first < Blocks(); first += together) {
      const int64_t blocks = std::min(together, Blocks() - first);
      uint32_t* const panels = pairs_ + kPairs - kPairsOfPanels;
      LeastExponent least[kMostBlocks][kMostColumns / kLeastPanelColumns];
      for (int64_t i = 0; i < blocks; ++i)
        PackPanels(0, tile_.columns, BlockOf(first + i), panels + i * block_pairs, least[i]);
      const int64_t rows = RowsTogether(blocks);
      const int64_t row_pairs = RoundedUp(rows, tiles_.rows) * kPairedRow;
      const bool finishes = first + blocks == Blocks() && !job_.is_direct;
      // Sums that no other block adds to are finished before the next rows take their place.
      const bool are_kept = !finishes || first > 0;
      const bool share_sets = tile_.columns % kColumnsOfSets == 0;
      const int64_t sums_row = are_kept || !share_sets ? sums_row_ : sums_row_ + kLeastPanelColumns;
      for (int64_t row = 0; row < tile_.rows; row += rows) {
        const int64_t count = std::min(rows, tile_.rows - row);
        LeastExponent row_least[kMostBlocks][kRowsOfBlocks];
        for (int64_t i = 0; i < blocks; ++i)
          PackRows(row, count, BlockOf(first + i), pairs_ + i * row_pairs, row_least[i]);
        float* const sums = are_kept ? sums_ + row * sums_row : sums_;
        for (int64_t column = 0; column < tile_.columns; column += width_) {
          for (int64_t i = 0; i < blocks; ++i) {
            const int64_t depth = BlockOf(first + i).depth;
            const Panel panel{panels + i * block_pairs + column * PairsOf(depth), least[i][column / width_],
                              std::min(width_, tile_.columns - column), depth, first + i > 0};
            Multiply(pairs_ + i * row_pairs, row_least[i], count, panel, are_small, sums + column, sums_row);
          }
        }
        if (finishes) Finish(job_, RowsOf(job_, tile_, row, count), sums, sums_row);
      }
    }
  }

  // Packs the rows once, with all terms, and multiplies them with one panel after the other.
  void RunPanels() const {
    const int64_t groups = DividedUp(tile_.rows, tiles_.rows);
    const int64_t row_pairs = groups * tiles_.rows * kPairedRow;
    LeastExponent row_least[kMostPackedOnce];
    for (int64_t i = 0; i < Blocks(); ++i)
      PackRows(0, tile_.rows, BlockOf(i), pairs_ + i * row_pairs, row_least + i * groups);
    uint32_t* const packed = pairs_ + Blocks() * row_pairs;
    for (int64_t column = 0; column < tile_.columns; column += width_) {
      const int64_t columns = std::min(width_, tile_.columns - column);
      bool are_small = false;
      for (int64_t i = 0; i < Blocks(); ++i) {
        Panel panel{packed, 0, columns, BlockOf(i).depth, i > 0};
        PackPanels(column, columns, BlockOf(i), packed, &panel.least);
        Multiply(pairs_ + i * row_pairs, row_least + i * groups, tile_.rows, panel, are_small, sums_ + column,
                 sums_row_);
      }
    }
    if (!job_.is_direct) Finish(job_, tile_, sums_, sums_row_);
  }

  const GemmJob& job_;
  const Gemm& gemm_;
  const TileKernels& tiles_;
  const Tile& tile_;
  const int64_t width_;  // of a panel
  const WordSource rows_;
  const WordSource columns_;
  uint32_t* const pairs_;
  float* const row_numbers_;
  float* const panel_numbers_;
  char* const pack_;
  float* const sums_;
  const int64_t sums_row_;
};

}  // namespace

void RunPairs(const GemmJob& job, const Tile& tile, float* memory, char* pack, float* sums,
              int64_t sums_row) {
  PairRun(job, tile, memory, pack, sums, sums_row).Run();
}

}  // namespace portacl::engine::gemm_tile
