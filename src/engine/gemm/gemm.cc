// Matrix products in tiles of the output, which threads take one by one (see gemm.h). Tiles do not depend on
// each other, and a tile adds all terms of its elements.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/gemm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/float_environment.h"
#include "engine/gemm/byte_pack.h"
#include "engine/gemm/integers.h"
#include "engine/gemm/pack.h"
#include "engine/gemm/quantised.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"
#include "engine/thread_memory.h"

namespace portacl::engine {
namespace {

// The layout of a thread's memory, in numbers: rows of the left operand, panels of the right one, and the
// sums of a tile if the output cannot hold them.
constexpr int64_t kMostRowsTogether = 224;
constexpr int64_t kLeftNumbers = kMostRowsTogether * kPackedRow;
constexpr int64_t kMostColumns = 768;
constexpr int64_t kRightNumbers = kMostColumns * kGemmDepth;
// The most columns of a one-row tile, whose block sums use that memory instead.
constexpr int64_t kMostRowColumns = 1 << 17;
constexpr int64_t kColumnsAcross = 16;
constexpr int64_t kSumColumns = 512;
constexpr int64_t kSumRows = 512;
constexpr int64_t kSumNumbers = kSumColumns * kSumRows;
static_assert(kMostRowColumns <= kRightNumbers && kMostRowColumns <= kSumNumbers);
static_assert((kLeftNumbers + kRightNumbers + kSumNumbers) * int64_t{sizeof(float)} + kPackMemory <=
              kGemmMemoryBytes);

// Thresholds in multiplications: below the first a second thread gains nothing. Above the second tiles take
// so long that having more of them than threads pays.
constexpr double kWorkOfThread = 1 << 18;
constexpr double kWorkOfLongTile = 1 << 24;
// Blocks of terms that a thread takes at a time in a product of two vectors.
constexpr int64_t kBlocksOfThread = 256;
// The fewest rows of a tile for which pairs of terms pay, for integers, or if packing reads the right operand
// in order.
constexpr int64_t kRowsOfPairs = 16;
// The fewest rows and columns of a product for which pairs of terms pay.
constexpr int64_t kRowsOfTiles = 4;
constexpr int64_t kColumnsOfTiles = 16;
// Panels that are packed as numbers before they become pairs.
constexpr int64_t kPanelsTogether = 4;
// Columns that are finished at a time.
constexpr int64_t kFinished = 512;

constexpr int64_t kNumber = sizeof(float);

// With pairs, memory of packed numbers holds the pairs in its first half. The second half holds the numbers
// being packed or widened.
constexpr int64_t kLeastPanelColumns = 16;
constexpr int64_t kMostTileRows = 32;
constexpr int64_t kMostTileColumns = 64;
static_assert(kMostRowsTogether * kPairedRow <= kLeftNumbers / 2 &&
              kMostTileRows * kPackedRow <= kLeftNumbers / 2);
static_assert(kPanelsTogether * kMostTileColumns * kGemmDepth <= kRightNumbers / 2);

static_assert(kPatchMemory <= kPackMemory);

int64_t DividedUp(int64_t n, int64_t by) { return n / by + (n % by != 0 ? 1 : 0); }
int64_t RoundedUp(int64_t n, int64_t to) { return DividedUp(n, to) * to; }

int32_t SizeOf(aclDataType dtype) {
  return dtype == ACL_FLOAT || dtype == ACL_INT32 ? 4 : dtype == ACL_INT8 ? 1 : 2;
}

size_t ElementOf(aclDataType dtype) {
  return static_cast<size_t>(dtype == ACL_FLOAT     ? GemmElement::kF32
                             : dtype == ACL_FLOAT16 ? GemmElement::kF16
                             : dtype == ACL_INT8    ? GemmElement::kI8
                                                    : GemmElement::kBf16);
}

// Whether both operands have 16 bits, which changes the order of terms.
bool IsEvenOdd(const Gemm& gemm) {
  if (gemm.integers != nullptr || gemm.right.quantised != nullptr) return false;
  return gemm.are_halves || (gemm.left.dtype == gemm.right.dtype &&
                             (gemm.left.dtype == ACL_FLOAT16 || gemm.left.dtype == ACL_BF16));
}

// Whether an operand is not a matrix in memory, so that only packing can read it.
bool IsPacked(const GemmOperand& operand) {
  return operand.patches != nullptr || operand.quantised != nullptr;
}

// A tile, and the addresses at which its operands begin.
struct Tile {
  int64_t rows;
  int64_t columns;
  const char* left;
  const char* right;
  const char* added;
  char* out;
  int64_t row;  // the first row and column
  int64_t column;
};

class TileRun {
 public:
  TileRun(const GemmJob& job, const Tile& tile) : job_(job), gemm_(job.gemm), tile_(tile) {}

  void Run() const {
    const Memory own = ThreadsOwn();
    if (own.pack == nullptr) return RunWithoutMemory();
    float* const sums = job_.is_direct ? reinterpret_cast<float*>(tile_.out) : own.sums;
    const int64_t sums_row = job_.is_direct ? gemm_.out.row / kNumber : RoundedUp(tile_.columns, 16);
    const PackSource rows = Source(gemm_.left, gemm_.left.row, gemm_.left.column, job_.load[0]);
    const PackSource columns = Source(gemm_.right, gemm_.right.column, gemm_.right.row, job_.load[1]);
    switch (job_.way) {
      case GemmJob::Way::kTiles:
        if (job_.tile_kernels != nullptr) {
          RunPairs(rows, columns, own, sums, sums_row);
          break;
        }
        if (job_.byte_kernels != nullptr) {
          RunBytes(own, sums, sums_row);
          break;
        }
        RunTiles(rows, columns, own, sums, sums_row);
        break;
      case GemmJob::Way::kPanels:
        if (gemm_.right.quantised != nullptr) {
          RunQuantisedRow(rows, own, sums);
          break;
        }
        if (job_.byte_kernels != nullptr) {
          RunByteLines(own, sums);
          break;
        }
        RunPanels(rows, columns, own, sums, sums_row);
        break;
      case GemmJob::Way::kRow:
        if (gemm_.right.quantised != nullptr) {
          RunQuantisedRow(rows, own, sums);
          break;
        }
        RunRow(rows, own, sums);
        break;
      case GemmJob::Way::kDot:
        sums[0] = Dot(own);
        break;
      case GemmJob::Way::kSmall:
        if (!IsAligned(tile_.left) || !IsAligned(tile_.right)) {
          RunTiles(rows, columns, own, sums, sums_row);
          break;
        }
        job_.kernels->multiply_small({reinterpret_cast<const float*>(tile_.left), gemm_.left.row / kNumber,
                                      gemm_.left.column / kNumber,
                                      reinterpret_cast<const float*>(tile_.right), gemm_.right.row / kNumber,
                                      sums, sums_row, tile_.rows, tile_.columns, gemm_.depth});
        break;
    }
    if (!job_.is_direct) Finish(sums, sums_row);
  }

  // Parts of a product of two vectors whose blocks threads share: RunBlocks sums some blocks, FinishBlocks
  // does the rest when all are there.
  void RunBlocks(int64_t block, int64_t count, float* to) const {
    const Memory own = ThreadsOwn();
    for (int64_t i = 0; i < count; i += kMostPanelColumns)
      SumBlocks(/*group=*/0, block + i, std::min(kMostPanelColumns, count - i), own, to + i);
  }
  void FinishBlocks(const float* blocks) const {
    float sum = AddedBlocks(blocks, job_.shared_blocks, 0, BeginsWithBlock());
    FinishColumns(&sum, 0, 0, 1);
  }

 private:
  // The parts of a thread's memory; nullptr if there is none.
  struct Memory {
    float* left;
    float* right;
    float* sums;
    char* pack;
  };

  static Memory ThreadsOwn() {
    char* const memory = ThreadMemory(MemoryUse::kGemm);
    if (memory == nullptr) return {};
    auto* const left = reinterpret_cast<float*>(memory);
    float* const right = left + kLeftNumbers;
    float* const sums = right + kRightNumbers;
    return {left, right, sums, reinterpret_cast<char*>(sums + kSumNumbers)};
  }

  // Whether numbers can be read as they are: matrices may begin at any byte.
  static bool IsAligned(const char* first) {
    return reinterpret_cast<uintptr_t>(first) % alignof(float) == 0;
  }

  bool IsInteger() const { return gemm_.integers != nullptr; }

  // Returns the terms of a block of two vectors, whose sums threads may share.
  int64_t TermsOfBlock() const { return job_.is_even_odd ? kEvenOddDepth : kGemmDepth; }
  // Whether a sum starts as that of its first block, instead of +0.
  bool BeginsWithBlock() const { return !job_.is_even_odd; }

  // Returns where a kernel writes the sums of a block. The first block's go straight to the result.
  float* BlockOf(float* sums, const Memory& memory, bool is_first) const {
    return is_first && !IsInteger() ? sums : memory.right;
  }
  // Adds a block's sums to the previous ones. Sums of integers are exact in float32 and are added as int32.
  void AddBlock(const float* block, int64_t n, bool is_first, float* sums) const {
    if (IsInteger()) return AddIntegers(block, n, is_first, sums);
    for (int64_t j = 0; j < n && !is_first; ++j) sums[j] += block[j];
  }

  void (*Multiply() const)(const PackedProduct&) {
    return job_.is_even_odd ? job_.kernels->even_odd.multiply : job_.kernels->multiply;
  }

  // Calls f(group, term, depth, is_first) for each block of terms, in ascending order.
  template <class F>
  void ForEachTerms(const F& f) const {
    for (int64_t group = 0; group < gemm_.groups; ++group) {
      for (int64_t term = 0; term < gemm_.depth; term += kGemmDepth)
        f(group, term, std::min(kGemmDepth, gemm_.depth - term), group == 0 && term == 0);
    }
  }

  // Packs a block of terms of all columns, then repeatedly as many rows as stay in the second-level cache.
  void RunTiles(const PackSource& rows, const PackSource& columns, const Memory& memory, float* sums,
                int64_t sums_row) const {
    const GemmKernels& kernels = *job_.kernels;
    const int64_t together = kMostRowsTogether / kernels.rows * kernels.rows;
    const int64_t each = DividedUp(tile_.rows, DividedUp(tile_.rows, together));
    const bool is_of_pairs = IsInteger() && kernels.multiply_pairs != nullptr && tile_.rows >= kRowsOfPairs;
    const auto multiply = is_of_pairs ? kernels.multiply_pairs : Multiply();
    ForEachTerms([&](int64_t group, int64_t term, int64_t depth, bool is_first) {
      if (gemm_.right.patches != nullptr) {
        PackPatchPanels(Patched(gemm_.right, tile_.right, job_.load[1]), tile_.column, tile_.columns, term,
                        depth, kernels.columns, memory.pack, memory.right);
      } else if (gemm_.right.quantised != nullptr) {
        PackQuantisedPanels(*gemm_.right.quantised, kernels.transpose[static_cast<size_t>(GemmElement::kF32)],
                            tile_.column, tile_.columns, term, depth, kernels.columns,
                            reinterpret_cast<float*>(memory.pack), memory.right);
      } else {
        PackPanels(columns, tile_.right + group * gemm_.right.group + term * columns.term, tile_.columns,
                   depth, kernels.columns, memory.pack, memory.right);
      }
      if (is_of_pairs) kernels.pair_panels(memory.right, DividedUp(tile_.columns, kernels.columns), depth);
      for (int64_t row = 0; row < tile_.rows; row += each) {
        const int64_t count = std::min(each, tile_.rows - row);
        if (gemm_.left.patches != nullptr) {
          PackPatchRows(Patched(gemm_.left, tile_.left, job_.load[0]), tile_.row + row, count, term, depth,
                        memory.left);
        } else {
          PackRows(rows, tile_.left + group * gemm_.left.group + row * rows.line + term * rows.term, count,
                   depth, memory.pack, memory.left);
        }
        if (is_of_pairs) kernels.pair_rows(memory.left, count, depth);
        multiply({memory.left, memory.right, sums + row * sums_row, sums_row, count, tile_.columns, depth,
                  !is_first, IsInteger()});
      }
    });
  }

  // Packs panels of numbers for a block of terms, from a column of the tile on.
  void PackNumbers(const PackSource& columns, int64_t column, int64_t count, int64_t group, int64_t term,
                   int64_t depth, char* memory, float* to) const {
    if (gemm_.right.patches != nullptr) {
      PackPatchPanels(Patched(gemm_.right, tile_.right, job_.load[1]), tile_.column + column, count, term,
                      depth, job_.kernels->columns, memory, to);
    } else {
      PackPanels(columns,
                 tile_.right + group * gemm_.right.group + column * columns.line + term * columns.term, count,
                 depth, job_.kernels->columns, memory, to);
    }
  }
  // Packs rows of numbers likewise.
  void PackNumbersOfRows(const PackSource& rows, int64_t row, int64_t count, int64_t group, int64_t term,
                         int64_t depth, char* memory, float* to) const {
    if (gemm_.left.patches != nullptr) {
      PackPatchRows(Patched(gemm_.left, tile_.left, job_.load[0]), tile_.row + row, count, term, depth, to);
    } else {
      PackRows(rows, tile_.left + group * gemm_.left.group + row * rows.line + term * rows.term, count, depth,
               memory, to);
    }
  }

  // Like RunTiles, with BF16 numbers packed as pairs of terms. Rows and panels whose products may be
  // subnormal are widened to numbers again.
  void RunPairs(const PackSource& rows, const PackSource& columns, const Memory& memory, float* sums,
                int64_t sums_row) const {
    const TileKernels& tiles = *job_.tile_kernels;
    const int64_t width = job_.kernels->columns;
    auto* const left = reinterpret_cast<uint32_t*>(memory.left);
    auto* const right = reinterpret_cast<uint32_t*>(memory.right);
    float* const left_numbers = memory.left + kLeftNumbers / 2;
    float* const right_numbers = memory.right + kRightNumbers / 2;
    const int64_t together = kMostRowsTogether / tiles.rows * tiles.rows;
    LeastExponent left_least[kMostRowsTogether];
    LeastExponent right_least[kMostColumns / kLeastPanelColumns];
    // Whether any partial sum may be subnormal.
    bool are_small = false;
    const WordSource row_words = Words(gemm_.left.row, gemm_.left.column, 2);
    const WordSource column_words = Words(gemm_.right.column, gemm_.right.row, 2);
    tiles.begin();
    ForEachTerms([&](int64_t group, int64_t term, int64_t depth, bool is_first) {
      const int64_t pairs_of_line = PairsOf(depth);
      const int64_t panel_pairs = pairs_of_line * width;
      if (gemm_.right.patches == nullptr) {
        PackWordPanels(column_words, tile_.right + group * gemm_.right.group + term * column_words.term,
                       tile_.columns, depth, pairs_of_line, width, right);
        for (int64_t panel = 0; panel * width < tile_.columns; ++panel)
          right_least[panel] = tiles.order_panel(right + panel * panel_pairs, width, depth);
      }
      const int64_t packed_columns = gemm_.right.patches == nullptr ? 0 : tile_.columns;
      for (int64_t column = 0; column < packed_columns; column += kPanelsTogether * width) {
        const int64_t count = std::min(kPanelsTogether * width, packed_columns - column);
        PackNumbers(columns, column, count, group, term, depth, memory.pack, right_numbers);
        for (int64_t at = 0; at < count; at += width) {
          const int64_t panel = (column + at) / width;
          right_least[panel] =
              tiles.pair_panel(right_numbers + at * depth, width, depth, right + panel * panel_pairs);
        }
      }
      const bool were_small = are_small;
      for (int64_t row = 0; row < tile_.rows; row += together) {
        const int64_t count = std::min(together, tile_.rows - row);
        for (int64_t at = 0; at < count; at += tiles.rows) {
          const int64_t some = std::min<int64_t>(tiles.rows, count - at);
          uint32_t* const pairs = left + at * kPairedRow;
          if (gemm_.left.patches == nullptr) {
            PackWordRows(
                row_words,
                tile_.left + group * gemm_.left.group + (row + at) * row_words.line + term * row_words.term,
                some, depth, pairs_of_line, kPairedRow, pairs);
            left_least[at / tiles.rows] = tiles.order_rows(pairs, some, depth);
          } else {
            PackNumbersOfRows(rows, row + at, some, group, term, depth, memory.pack, left_numbers);
            left_least[at / tiles.rows] = tiles.pair_rows(left_numbers, some, depth, pairs);
          }
          std::fill_n(pairs + some * kPairedRow, (tiles.rows - some) * kPairedRow, 0u);
        }
        for (int64_t column = 0; column < tile_.columns; column += width) {
          const int64_t panel = column / width;
          for (int64_t at = 0; at < count; at += tiles.rows) {
            const int64_t some = std::min<int64_t>(tiles.rows, count - at);
            const int64_t columns_here = std::min(width, tile_.columns - column);
            const uint32_t* const a = left + at * kPairedRow;
            const uint32_t* const b = right + panel * panel_pairs;
            float* const c = sums + (row + at) * sums_row + column;
            if (AreMultiplesOfNormals(left_least[at / tiles.rows], right_least[panel])) {
              tiles.multiply({a, b, c, sums_row, some, columns_here, width, depth, !is_first, were_small});
              continue;
            }
            are_small = true;
            tiles.widen_rows(a, some, depth, left_numbers);
            tiles.widen_panel(b, width, depth, right_numbers);
            job_.kernels->even_odd.multiply(
                {left_numbers, right_numbers, c, sums_row, some, columns_here, depth, !is_first});
          }
        }
      }
    });
    tiles.end();
  }

  // Like RunTiles, with INT8 terms packed as words of four.
  void RunBytes(const Memory& memory, float* sums, int64_t sums_row) const {
    const ByteKernels& bytes = *job_.byte_kernels;
    const int64_t width = job_.kernels->columns;
    const WordSource rows = Words(gemm_.left.row, gemm_.left.column, 1);
    const WordSource columns = Words(gemm_.right.column, gemm_.right.row, 1);
    auto* const left = reinterpret_cast<uint32_t*>(memory.left);
    auto* const right = reinterpret_cast<uint32_t*>(memory.right);
    const int64_t together = kMostRowsTogether / bytes.rows * bytes.rows;
    bytes.begin();
    for (int64_t term = 0; term < gemm_.depth; term += kByteDepth) {
      const int64_t depth = std::min(kByteDepth, gemm_.depth - term);
      const int64_t panel_row = bytes.WordsOf(depth);
      PackBytePanels(columns, bytes, tile_.right + term * columns.term, tile_.columns, depth, width, right);
      for (int64_t row = 0; row < tile_.rows; row += together) {
        const int64_t count = std::min(together, tile_.rows - row);
        // Rows are shared evenly among calls, unless a call costs the same for fewer of them.
        const int64_t each =
            bytes.takes_all_rows ? bytes.rows : DividedUp(count, DividedUp(count, int64_t{bytes.rows}));
        PackByteRows(rows, bytes, tile_.left + row * rows.line + term * rows.term, count, depth, left);
        for (int64_t column = 0; column < tile_.columns; column += width) {
          const uint32_t* const panel = right + column * panel_row;
          for (int64_t at = 0; at < count; at += each) {
            bytes.multiply({left + at * kPackedRow, panel, sums + (row + at) * sums_row + column, sums_row,
                            std::min(each, count - at), std::min(width, tile_.columns - column), width, depth,
                            term > 0, false});
          }
        }
      }
    }
    bytes.end();
  }

  // Computes one row of integers with lines that lie side by side along the terms, which are not packed.
  void RunByteLines(const Memory& memory, float* sums) const {
    const ByteKernels& bytes = *job_.byte_kernels;
    const WordSource rows = Words(gemm_.left.row, gemm_.left.column, 1);
    auto* const left = reinterpret_cast<uint32_t*>(memory.left);
    for (int64_t term = 0; term < gemm_.depth; term += kByteDepth) {
      const int64_t depth = std::min(kByteDepth, gemm_.depth - term);
      PackByteRows(rows, bytes, tile_.left + term * rows.term, 1, depth,
                   left + term / kByteDepth * kPackedRow);
    }
    for (int64_t column = 0; column < tile_.columns; column += kColumnsAcross) {
      const int64_t count = std::min(kColumnsAcross, tile_.columns - column);
      const char* const right = tile_.right + column * gemm_.right.column;
      for (int64_t term = 0; term < gemm_.depth; term += kByteDepth) {
        bytes.multiply_lines(left + term / kByteDepth * kPackedRow, right + term, gemm_.right.column,
                             std::min(kByteDepth, gemm_.depth - term), count, sums + column, term > 0);
      }
    }
  }

  WordSource Words(int64_t line, int64_t term, int64_t size) const {
    return WordSourceOf(*job_.kernels, job_.gather, line, term, size);
  }

  // Computes few rows: they are packed once, with all terms. Then each panel passes through the first-level
  // cache, one block of terms after the other. That is the memory order of a right operand that is dense
  // along the terms.
  void RunPanels(const PackSource& rows, const PackSource& columns, const Memory& memory, float* sums,
                 int64_t sums_row) const {
    const GemmKernels& kernels = *job_.kernels;
    float* packed = memory.left;
    ForEachTerms([&](int64_t group, int64_t term, int64_t depth, bool) {
      PackRows(rows, tile_.left + group * gemm_.left.group + term * rows.term, tile_.rows, depth, memory.pack,
               packed);
      packed += tile_.rows * kPackedRow;
    });
    const auto multiply = Multiply();
    const MultiplyAcrossFunction multiply_across = kernels.multiply_across[ElementOf(gemm_.right.dtype)];
    // One row takes fewer columns at a time, as many streams as hardware prefetchers follow.
    const int64_t step = tile_.rows == 1 ? kColumnsAcross : kernels.columns;
    for (int64_t column = 0; column < tile_.columns; column += step) {
      const int64_t count = std::min<int64_t>(step, tile_.columns - column);
      packed = memory.left;
      ForEachTerms([&](int64_t group, int64_t term, int64_t depth, bool is_first) {
        const char* const right =
            tile_.right + group * gemm_.right.group + column * columns.line + term * columns.term;
        if (tile_.rows == 1 && job_.is_even_odd) {
          kernels.even_odd.add_across[ElementOf(gemm_.right.dtype)](packed, right, columns.line, depth, count,
                                                                    sums + column, !is_first);
        } else if (tile_.rows == 1) {
          float* const block = BlockOf(sums + column, memory, is_first);
          multiply_across(packed, right, columns.line, depth, count, block);
          AddBlock(block, count, is_first, sums + column);
        } else {
          PackPanels(columns, right, count, depth, kernels.columns, memory.pack, memory.right);
          multiply({packed, memory.right, sums + column, sums_row, tile_.rows, count, depth, !is_first,
                    IsInteger()});
        }
        packed += tile_.rows * kPackedRow;
      });
    }
  }

  // Computes one row with a right operand that the kernel reads directly from memory.
  void RunRow(const PackSource& rows, const Memory& memory, float* sums) const {
    const MultiplyRowFunction multiply = job_.kernels->multiply_row[ElementOf(gemm_.right.dtype)];
    ForEachTerms([&](int64_t group, int64_t term, int64_t depth, bool is_first) {
      PackRows(rows, tile_.left + group * gemm_.left.group + term * rows.term, 1, depth, memory.pack,
               memory.left);
      const char* const right = tile_.right + group * gemm_.right.group + term * gemm_.right.row;
      if (job_.is_even_odd) {
        return job_.kernels->even_odd.add_row[ElementOf(gemm_.right.dtype)](
            memory.left, right, gemm_.right.row, depth, tile_.columns, sums, !is_first);
      }
      float* const block = BlockOf(sums, memory, is_first);
      multiply(memory.left, right, gemm_.right.row, depth, tile_.columns, block);
      AddBlock(block, tile_.columns, is_first, sums);
    });
  }

  // Computes one row with quantised weights, which are widened in registers. If they lie side by side along the
  // terms, few columns pass through the first-level cache with all terms.
  void RunQuantisedRow(const PackSource& rows, const Memory& memory, float* sums) const {
    const GemmKernels& kernels = *job_.kernels;
    const QuantisedRow row{job_.quantised_kernels, kernels.transpose[static_cast<size_t>(GemmElement::kF32)],
                           kernels.columns, reinterpret_cast<float*>(memory.pack)};
    const bool is_of_terms = job_.way == GemmJob::Way::kPanels;
    const int64_t step = is_of_terms ? kernels.columns : tile_.columns;
    for (int64_t column = 0; column < tile_.columns; column += step) {
      const int64_t count = std::min(step, tile_.columns - column);
      float* packed = memory.left;
      ForEachTerms([&](int64_t group, int64_t term, int64_t depth, bool is_first) {
        if (column == 0) {
          PackRows(rows, tile_.left + group * gemm_.left.group + term * rows.term, 1, depth, memory.pack,
                   packed);
        }
        float* const here = sums + column;
        float* const block = BlockOf(here, memory, is_first);
        MultiplyQuantisedRow(*gemm_.right.quantised, row, packed, tile_.column + column, count, term, depth,
                             block);
        AddBlock(block, count, is_first, here);
        if (is_of_terms) packed += kPackedRow;
      });
    }
  }

  // Computes one element: its blocks of terms are independent chains.
  float Dot(const Memory& memory) const {
    float sum = 0;
    const int64_t blocks = DividedUp(gemm_.depth, TermsOfBlock());
    for (int64_t group = 0; group < gemm_.groups; ++group) {
      for (int64_t block = 0; block < blocks; block += kMostPanelColumns) {
        float sums[kMostPanelColumns];
        const int64_t count = std::min(kMostPanelColumns, blocks - block);
        SumBlocks(group, block, count, memory, sums);
        sum = AddedBlocks(sums, count, sum, BeginsWithBlock() && group == 0 && block == 0);
      }
    }
    return sum;
  }

  static float AddedBlocks(const float* blocks, int64_t count, float sum, bool is_first) {
    for (int64_t i = 0; i < count; ++i) sum = is_first && i == 0 ? blocks[i] : sum + blocks[i];
    return sum;
  }

  // Sums `count` blocks of terms from `block` on, at most kMostPanelColumns. The very last block may be
  // shorter.
  void SumBlocks(int64_t group, int64_t block, int64_t count, const Memory& memory, float* sums) const {
    const int64_t terms = TermsOfBlock();
    const int64_t whole = std::min(count, gemm_.depth / terms - block);
    if (whole > 0) SumEqualBlocks(group, block, whole, terms, memory, sums);
    if (whole < count) SumEqualBlocks(group, block + whole, 1, gemm_.depth % terms, memory, sums + whole);
  }

  void SumEqualBlocks(int64_t group, int64_t block, int64_t count, int64_t depth, const Memory& memory,
                      float* sums) const {
    const GemmKernels& kernels = *job_.kernels;
    const int64_t a_line = gemm_.left.column * TermsOfBlock();
    const int64_t b_line = gemm_.right.row * TermsOfBlock();
    const char* const a = tile_.left + group * gemm_.left.group + block * a_line;
    const char* const b = tile_.right + group * gemm_.right.group + block * b_line;
    const int32_t size = SizeOf(gemm_.left.dtype);
    if (gemm_.left.dtype == gemm_.right.dtype && gemm_.left.column == size && gemm_.right.row == size) {
      const size_t element = ElementOf(gemm_.left.dtype);
      const auto multiply =
          job_.is_even_odd ? kernels.even_odd.multiply_lines[element] : kernels.multiply_lines[element];
      return multiply(a, a_line, b, b_line, depth, count, sums);
    }
    if (memory.pack == nullptr) {
      for (int64_t i = 0; i < count; ++i) {
        Chains chains;
        AddTerms(a + i * a_line, b + i * b_line, depth, chains);
        sums[i] = chains.Sum(job_.is_even_odd);
      }
      return;
    }
    const PackSource left = Source(gemm_.left, a_line, gemm_.left.column, job_.load[0]);
    const PackSource right = Source(gemm_.right, b_line, gemm_.right.row, job_.load[1]);
    for (int64_t i = 0; i < count; i += kernels.columns) {
      const int64_t some = std::min<int64_t>(kernels.columns, count - i);
      alignas(64) float columns[kMostPanelColumns];
      PackPanels(left, a + i * a_line, some, depth, kernels.columns, memory.pack, memory.left);
      PackPanels(right, b + i * b_line, some, depth, kernels.columns, memory.pack, memory.right);
      (job_.is_even_odd ? kernels.even_odd.multiply_panels : kernels.multiply_panels)(
          memory.left, memory.right, depth, columns);
      std::copy_n(columns, some, sums + i);
    }
  }

  PackSource Source(const GemmOperand& operand, int64_t line, int64_t term, LoadFunction load) const {
    const size_t element = ElementOf(operand.dtype);
    return {line,
            term,
            SizeOf(operand.dtype),
            load,
            job_.kernels->pack_columns[element],
            job_.kernels->transpose[element],
            job_.gather};
  }

  PatchSource Patched(const GemmOperand& operand, const char* base, LoadFunction load) const {
    return {operand.patches,       base,
            SizeOf(operand.dtype), load,
            job_.gather,           job_.kernels->transpose[static_cast<size_t>(GemmElement::kF32)]};
  }

  // Scales, adds and stores the sums of a row's columns from `column` on, at most kFinished of them.
  void FinishColumns(float* sums, int64_t row, int64_t column, int64_t n) const {
    if (IsInteger()) {
      if (gemm_.depth == 0) std::fill_n(sums, n, 0.0f);
      return FinishIntegers(sums, row, column, n);
    }
    if (gemm_.alpha != 1.0f && gemm_.depth > 0) {
      for (int64_t j = 0; j < n; ++j) sums[j] *= gemm_.alpha;
    }
    const auto count = static_cast<size_t>(n);
    if (gemm_.adds && gemm_.added.column == 0) {
      float value;
      job_.load[2](tile_.added + row * gemm_.added.row, &value, 1);
      if (gemm_.beta != 1.0f) value *= gemm_.beta;
      for (int64_t j = 0; j < n; ++j) sums[j] = gemm_.depth > 0 ? value + sums[j] : value;
    } else if (gemm_.adds) {
      alignas(64) float values[kFinished];
      alignas(64) char elements[kFinished * sizeof(float)];
      const int32_t size = SizeOf(gemm_.added.dtype);
      const char* from = tile_.added + row * gemm_.added.row + column * gemm_.added.column;
      if (gemm_.added.column != size && n > 1) {
        job_.gather(from, gemm_.added.column, size, elements, n);
        from = elements;
      }
      job_.load[2](from, values, count);
      if (gemm_.beta != 1.0f) {
        for (int64_t j = 0; j < n; ++j) values[j] *= gemm_.beta;
      }
      for (int64_t j = 0; j < n; ++j) sums[j] = gemm_.depth > 0 ? values[j] + sums[j] : values[j];
    }
    if (!gemm_.adds && gemm_.depth == 0) std::fill_n(sums, n, 0.0f);
    char* const to = tile_.out + row * gemm_.out.row;
    if (gemm_.out_columns == nullptr) {
      StoreColumns(sums, to + column * gemm_.out.column, gemm_.out.column, n);
    } else {
      StoreAlongDims(sums, to, tile_.column + column, n);
    }
  }

  void FinishIntegers(const float* sums, int64_t row, int64_t column, int64_t n) const {
    const char* const added =
        gemm_.adds ? tile_.added + row * gemm_.added.row + column * gemm_.added.column : nullptr;
    alignas(64) char elements[kFinished * sizeof(float)];
    const IntegerSums all{sums,
                          n,
                          tile_.row + row,
                          tile_.column + column,
                          job_.is_transposed,
                          {added, gemm_.added.column, gemm_.added.dtype}};
    ResultOfIntegers(*gemm_.integers, all, job_.store, elements);
    const int32_t size = SizeOf(gemm_.out.dtype);
    char* const to = tile_.out + row * gemm_.out.row + column * gemm_.out.column;
    if (gemm_.out.column == size || n == 1) {
      std::memcpy(to, elements, static_cast<size_t>(n * size));
    } else {
      job_.scatter(elements, to, gemm_.out.column, size, n);
    }
  }

  void StoreColumns(const float* sums, char* to, int64_t step, int64_t n) const {
    const int32_t size = SizeOf(gemm_.out.dtype);
    const auto count = static_cast<size_t>(n);
    if (step == size || n == 1) return job_.store(sums, to, count, false);
    alignas(64) char elements[kFinished * sizeof(float)];
    job_.store(sums, elements, count, false);
    job_.scatter(elements, to, step, size, n);
  }

  void StoreAlongDims(const float* sums, char* to, int64_t column, int64_t n) const {
    const GemmColumns& columns = *gemm_.out_columns;
    constexpr int kLast = GemmColumns::kDims - 1;
    while (n > 0) {
      const int64_t along = column % columns.length[kLast];
      const int64_t some = std::min(n, columns.length[kLast] - along);
      char* first = to + along * columns.stride[kLast];
      int64_t rest = column / columns.length[kLast];
      for (int dim = kLast - 1; dim >= 0; --dim) {
        first += rest % columns.length[dim] * columns.stride[dim];
        rest /= columns.length[dim];
      }
      StoreColumns(sums, first, columns.stride[kLast], some);
      sums += some;
      column += some;
      n -= some;
    }
  }

  void Finish(float* sums, int64_t sums_row) const {
    for (int64_t row = 0; row < tile_.rows; ++row) {
      for (int64_t column = 0; column < tile_.columns; column += kFinished)
        FinishColumns(sums + row * sums_row + column, row, column,
                      std::min(kFinished, tile_.columns - column));
    }
  }

  // Computes the same sums one after the other.
  void RunWithoutMemory() const {
    for (int64_t row = 0; row < tile_.rows; ++row) {
      for (int64_t column = 0; column < tile_.columns; ++column) {
        float sum = SumOf(row, column);
        FinishColumns(&sum, row, column, 1);
      }
    }
  }

  // The chains of a block. The first one takes all terms, unless even and odd terms have one each.
  struct Chains {
    float even = 0;
    float odd = 0;
    void Add(float a, float b, int64_t parity, bool is_even_odd) {
      float& chain = is_even_odd && parity % 2 != 0 ? odd : even;
      chain = std::fma(a, b, chain);
    }
    float Sum(bool is_even_odd) const { return is_even_odd ? even + odd : even; }
  };

  float SumOf(int64_t row, int64_t column) const {
    float sum = 0;
    bool is_first = BeginsWithBlock();
    for (int64_t group = 0; group < gemm_.groups; ++group) {
      for (int64_t term = 0; term < gemm_.depth; term += TermsOfBlock()) {
        const int64_t depth = std::min(TermsOfBlock(), gemm_.depth - term);
        Chains chains;
        if (IsPacked(gemm_.right)) {
          for (int64_t k = 0; k < depth; ++k) {
            chains.Add(LeftElement(row, term + k), RightElement(tile_.column + column, term + k), k,
                       job_.is_even_odd);
          }
        } else {
          AddTerms(
              tile_.left + group * gemm_.left.group + row * gemm_.left.row + term * gemm_.left.column,
              tile_.right + group * gemm_.right.group + column * gemm_.right.column + term * gemm_.right.row,
              depth, chains);
        }
        const float block = chains.Sum(job_.is_even_odd);
        if (IsInteger()) {
          AddIntegers(&block, 1, is_first, &sum);
        } else {
          sum = is_first ? block : sum + block;
        }
        is_first = false;
      }
    }
    return sum;
  }

  float LeftElement(int64_t row, int64_t term) const {
    if (gemm_.left.patches != nullptr)
      return PatchElement(Patched(gemm_.left, tile_.left, job_.load[0]), tile_.row + row, term);
    float value;
    job_.load[0](tile_.left + row * gemm_.left.row + term * gemm_.left.column, &value, 1);
    return value;
  }

  // Returns an element of a right operand that is not a matrix in memory.
  float RightElement(int64_t column, int64_t term) const {
    if (gemm_.right.quantised != nullptr) return QuantisedElement(*gemm_.right.quantised, column, term);
    return PatchElement(Patched(gemm_.right, tile_.right, job_.load[1]), column, term);
  }

  // Adds the terms of a block whose operands lie in memory.
  void AddTerms(const char* left, const char* right, int64_t depth, Chains& chains) const {
    for (int64_t k = 0; k < depth; ++k) {
      float a, b;
      job_.load[0](left + k * gemm_.left.column, &a, 1);
      job_.load[1](right + k * gemm_.right.row, &b, 1);
      chains.Add(a, b, k, job_.is_even_odd);
    }
  }

  const GemmJob& job_;
  const Gemm& gemm_;
  const Tile& tile_;
};

// Transposes a product. The numbers stay the same, since multiplication is commutative.
void Transpose(Gemm& gemm) {
  std::swap(gemm.left, gemm.right);
  std::swap(gemm.rows, gemm.columns);
  for (GemmOperand* operand : {&gemm.left, &gemm.right, &gemm.out, &gemm.added})
    std::swap(operand->row, operand->column);
}

// Turns the innermost batch dim into further rows of the left operand, if the right one is the same for all.
void JoinBatchToRows(Gemm& gemm) {
  constexpr int kLast = kGemmBatchDims - 1;
  if (gemm.integers != nullptr && gemm.integers->factor.row != 0) return;  // factors begin again with each
  const auto continues = [&](const GemmOperand& operand) {
    return gemm.rows == 1 || gemm.batch[kLast] == 1 || operand.batch[kLast] == gemm.rows * operand.row;
  };
  for (int dim = 0; dim < kGemmBatchDims; ++dim) {
    if (gemm.right.batch[kLast] != 0 || !continues(gemm.left) || !continues(gemm.out) ||
        (gemm.adds && !continues(gemm.added))) {
      return;
    }
    if (gemm.rows == 1) {
      for (GemmOperand* operand : {&gemm.left, &gemm.out, &gemm.added}) operand->row = operand->batch[kLast];
    }
    gemm.rows *= gemm.batch[kLast];
    for (int i = kLast; i > 0; --i) {
      gemm.batch[i] = gemm.batch[i - 1];
      for (GemmOperand* operand : {&gemm.left, &gemm.right, &gemm.out, &gemm.added})
        operand->batch[i] = operand->batch[i - 1];
    }
    gemm.batch[0] = 1;
    for (GemmOperand* operand : {&gemm.left, &gemm.right, &gemm.out, &gemm.added}) operand->batch[0] = 0;
  }
}

double WorkOf(const Gemm& gemm) {
  double work = 1;
  for (int64_t length : gemm.batch) work *= static_cast<double>(length);
  return work * static_cast<double>(gemm.rows) * static_cast<double>(gemm.columns) *
         static_cast<double>(std::max<int64_t>(gemm.depth, 1)) *
         static_cast<double>(std::max<int64_t>(gemm.groups, 1));
}

// Chooses how a job computes its tiles.
GemmJob::Way WayOf(const Gemm& gemm) {
  using Way = GemmJob::Way;
  const int64_t blocks = gemm.groups * DividedUp(gemm.depth, kGemmDepth);
  const int32_t size = SizeOf(gemm.right.dtype);
  if (gemm.rows == 1 && gemm.columns == 1 && gemm.depth > kGemmDepth && gemm.integers == nullptr)
    return Way::kDot;
  if (gemm.rows == 1 && gemm.right.column == size) return Way::kRow;
  if (gemm.right.row == size && gemm.rows * blocks <= kMostRowsTogether) return Way::kPanels;
  return Way::kTiles;
}

// Whether both operands are float32 that are read where they lie, since packing costs as much as it gains.
bool IsSmall(const Gemm& gemm) {
  return gemm.rows > 1 && gemm.rows <= kSmallSide && gemm.columns <= kSmallSide && gemm.depth > 0 &&
         gemm.depth <= kSmallSide && gemm.groups == 1 && gemm.left.patches == nullptr &&
         gemm.left.dtype == ACL_FLOAT && gemm.right.dtype == ACL_FLOAT && gemm.right.column == kNumber &&
         gemm.right.row % kNumber == 0 && gemm.left.row % kNumber == 0 && gemm.left.column % kNumber == 0;
}

GemmJob::Way WayOfQuantisedRow(const Gemm& gemm) {
  using Way = GemmJob::Way;
  if (gemm.left.patches != nullptr) return Way::kTiles;
  const QuantisedOrder order = OrderOf(*gemm.right.quantised, gemm.depth);
  if (order == QuantisedOrder::kColumns) return Way::kRow;
  const bool fits = gemm.groups * DividedUp(gemm.depth, kGemmDepth) <= kMostRowsTogether;
  return order == QuantisedOrder::kTerms && fits ? Way::kPanels : Way::kTiles;
}

// Makes tiles as large as memory allows, but enough of them for the threads. Columns are cut first: each cut
// packs the left operand once more, which is mostly a copy of rows.
void ChooseTiles(GemmJob& job, int threads) {
  const Gemm& gemm = job.gemm;
  const int64_t width = job.kernels->columns;
  const double work = WorkOf(gemm);
  job.threads = static_cast<int>(std::clamp(work / kWorkOfThread, 1.0, static_cast<double>(threads)));
  int64_t batches = 1;
  for (int64_t length : gemm.batch) batches *= length;
  int64_t row_tiles = job.is_direct ? 1 : DividedUp(gemm.rows, kSumRows);
  const bool is_row = job.way == GemmJob::Way::kRow;
  const int64_t most_columns = is_row ? kMostRowColumns : job.is_direct ? kMostColumns : kSumColumns;
  int64_t column_tiles = DividedUp(gemm.columns, most_columns / width * width);
  if (job.threads > 1) {
    const double wanted = std::max(1.0, std::min(4.0, work / kWorkOfLongTile / job.threads));
    const int64_t tiles = static_cast<int64_t>(wanted) * job.threads;
    while (batches * row_tiles * column_tiles < tiles) {
      const int64_t rows = DividedUp(gemm.rows, row_tiles);
      const int64_t columns = DividedUp(gemm.columns, column_tiles);
      if (columns >= 2 * rows && columns > width) {
        ++column_tiles;
      } else if (rows > job.kernels->rows) {
        ++row_tiles;
      } else if (columns > width) {
        ++column_tiles;
      } else {
        break;
      }
    }
  }
  job.tile_rows = DividedUp(gemm.rows, row_tiles);
  job.tile_columns = RoundedUp(DividedUp(gemm.columns, column_tiles), width);
  job.row_tiles = DividedUp(gemm.rows, job.tile_rows);
  job.column_tiles = DividedUp(gemm.columns, job.tile_columns);
  const int64_t tiles = batches * job.row_tiles * job.column_tiles;
  job.is_long = work / static_cast<double>(tiles) > kWorkOfThread * 8;
}

// Computes one element whose blocks of terms are shared by threads. Their sums are added in order when all
// are there.
void RunSharedBlocks(const GemmJob& job, void* const* addresses, float* sums) {
  const auto at = [&](const GemmOperand& operand) {
    return static_cast<char*>(addresses[operand.argument]) + operand.offset;
  };
  const Gemm& gemm = job.gemm;
  const Tile tile{1, 1, at(gemm.left), at(gemm.right), gemm.adds ? at(gemm.added) : nullptr, at(gemm.out),
                  0, 0};
  const TileRun run(job, tile);
  ForEachBlock(DividedUp(job.shared_blocks, kBlocksOfThread), job.threads, [&](int64_t part) {
    const DefaultFloatEnvironment environment;
    const int64_t block = part * kBlocksOfThread;
    run.RunBlocks(block, std::min(kBlocksOfThread, job.shared_blocks - block), sums + block);
  });
  const DefaultFloatEnvironment environment;
  run.FinishBlocks(sums);
}

// Begins a job, with the rows and columns that its kernels see.
GemmJob BegunJob(const Gemm& gemm, Isa isa) {
  GemmJob job{};
  job.gemm = gemm;
  job.kernels = &FindGemmKernels(isa);
  Gemm& made = job.gemm;
  const bool is_packed = IsPacked(made.right);
  if (!is_packed) JoinBatchToRows(made);
  // Vectors run along the columns. The product is transposed if the output is dense along its rows, or has
  // too few columns for a vector.
  const bool is_narrow = made.columns < job.kernels->columns && made.rows > made.columns;
  const bool is_across = made.out.column != SizeOf(made.out.dtype) &&
                         made.out.row == SizeOf(made.out.dtype) &&
                         (made.rows >= job.kernels->columns || made.rows >= made.columns);
  job.is_transposed = !is_packed && (is_narrow || is_across);
  if (job.is_transposed) Transpose(made);
  return job;
}

GemmJob FinishedJob(GemmJob job, Isa isa, int threads, const TileKernels* tiles, const ByteKernels* bytes) {
  const Gemm& made = job.gemm;
  const bool is_packed = IsPacked(made.right);
  job.is_even_odd = IsEvenOdd(made);
  job.load[0] = FindLoad(isa, made.left.dtype, ACL_FLOAT);
  job.load[1] = FindLoad(isa, made.right.dtype, ACL_FLOAT);
  job.load[2] = FindLoad(isa, made.added.dtype, ACL_FLOAT);
  job.store = FindStore(isa, made.out.dtype);
  job.gather = FindGather(isa, GatherSource::kCache);
  job.scatter = FindScatter(isa, /*from_memory=*/false);
  job.is_direct = !is_packed && made.integers == nullptr && made.out.dtype == ACL_FLOAT && !made.adds &&
                  made.alpha == 1.0f && made.depth > 0 && (made.out.column == kNumber || made.columns == 1) &&
                  made.out.row % kNumber == 0;
  job.way = is_packed ? GemmJob::Way::kTiles : WayOf(made);
  if (!is_packed && !job.is_even_odd && job.kernels->multiply_small != nullptr && IsSmall(made))
    job.way = GemmJob::Way::kSmall;
  if (made.right.quantised != nullptr && made.rows == 1 && made.depth > 0) {
    job.quantised_kernels = &FindQuantisedRowKernels(isa);
    job.way = WayOfQuantisedRow(made);
  }
  const bool is_of_tiles =
      job.way == GemmJob::Way::kTiles || (job.way == GemmJob::Way::kPanels && made.rows >= kRowsOfPairs);
  if (tiles != nullptr && is_of_tiles && made.left.dtype == ACL_BF16 && made.right.dtype == ACL_BF16 &&
      made.depth > 0 && made.rows >= kRowsOfTiles && made.columns >= kColumnsOfTiles &&
      job.kernels->columns % tiles->columns == 0 && job.kernels->columns <= kMostTileColumns) {
    job.tile_kernels = tiles;
    job.way = GemmJob::Way::kTiles;
  }
  if (bytes != nullptr && made.integers != nullptr && made.depth > 0 &&
      job.kernels->columns % bytes->columns == 0) {
    // The right operand of one row is not packed.
    const bool has_lines = job.way == GemmJob::Way::kPanels && made.rows == 1;
    if (has_lines && bytes->multiply_lines != nullptr) {
      job.byte_kernels = bytes;
    } else if (job.way == GemmJob::Way::kTiles || made.rows > 1) {
      job.byte_kernels = bytes;
      job.way = GemmJob::Way::kTiles;
    }
  }
  ChooseTiles(job, threads);
  if (job.way == GemmJob::Way::kDot && job.threads > 1 && made.groups == 1 && made.out.argument >= 0 &&
      std::all_of(std::begin(made.batch), std::end(made.batch), [](int64_t length) { return length == 1; })) {
    job.shared_blocks = DividedUp(made.depth, job.is_even_odd ? kEvenOddDepth : kGemmDepth);
  }
  return job;
}

}  // namespace

GemmJob MakeGemmJob(const Gemm& gemm, Isa isa, int threads) noexcept {
  const GemmJob begun = BegunJob(gemm, isa);
  if (gemm.integers == nullptr) return FinishedJob(begun, isa, threads, TileKernelsInUse(isa), nullptr);
  return FinishedJob(begun, isa, threads, nullptr, ByteKernelsInUse(isa, begun.gemm.rows));
}

GemmJob MakeGemmJob(const Gemm& gemm, Isa isa, int threads, const TileKernels* tiles,
                    const ByteKernels* bytes) noexcept {
  return FinishedJob(BegunJob(gemm, isa), isa, threads, tiles, bytes);
}

bool GemmJob::Touches(int operand) const noexcept {
  return (gemm.depth > 0 && (operand == gemm.left.argument || operand == gemm.right.argument)) ||
         operand == gemm.out.argument || (gemm.adds && operand == gemm.added.argument);
}

int64_t GemmJob::Elements() const noexcept { return MultiplicationsOf(gemm); }

int64_t MultiplicationsOf(const Gemm& gemm) noexcept {
  constexpr double kMultiplicationsOfElement = 32;
  const double elements = WorkOf(gemm) / kMultiplicationsOfElement;
  constexpr double kMost = double{1LL << 62};
  return static_cast<int64_t>(std::min(elements, kMost));
}

void GemmJob::Run(void* const* addresses, void* workspace) const noexcept {
  if (shared_blocks > 0) {
    RunSharedBlocks(*this, addresses, static_cast<float*>(workspace));
    return ReportIsaThatRan(kernels->isa);
  }
  ForEachBlock(
      Tiles(), threads, [&](int64_t tile) { RunTile(addresses, workspace, tile); },
      is_long ? BlockLength::kLong : BlockLength::kShort);
  ReportIsaThatRan(kernels->isa);
}

int64_t GemmJob::Tiles() const noexcept {
  int64_t tiles = row_tiles * column_tiles;
  for (int64_t length : gemm.batch) tiles *= length;
  return tiles;
}

void GemmJob::RunTile(void* const* addresses, void* workspace, int64_t block) const noexcept {
  const DefaultFloatEnvironment environment;
  const int64_t column = block % column_tiles * tile_columns;
  block /= column_tiles;
  const int64_t row = block % row_tiles * tile_rows;
  block /= row_tiles;
  int64_t index[kGemmBatchDims];
  for (int dim = kGemmBatchDims - 1; dim >= 0; --dim) {
    index[dim] = block % gemm.batch[dim];
    block /= gemm.batch[dim];
  }
  const auto at = [&](const GemmOperand& operand, int64_t rows, int64_t columns) {
    void* const base = operand.argument < 0 ? workspace : addresses[operand.argument];
    char* address = static_cast<char*>(base) + operand.offset + rows * operand.row + columns * operand.column;
    for (int dim = 0; dim < kGemmBatchDims; ++dim) address += index[dim] * operand.batch[dim];
    return address;
  };
  const Tile tile{std::min(tile_rows, gemm.rows - row),
                  std::min(tile_columns, gemm.columns - column),
                  gemm.depth > 0 ? at(gemm.left, row, 0) : nullptr,
                  gemm.depth > 0 ? at(gemm.right, 0, column) : nullptr,
                  gemm.adds ? at(gemm.added, row, column) : nullptr,
                  at(gemm.out, row, column),
                  row,
                  column};
  TileRun(*this, tile).Run();
}

}  // namespace portacl::engine
