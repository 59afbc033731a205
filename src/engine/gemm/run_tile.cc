// Runs a tile of a matrix product (see gemm_tile.h): packs its operands, multiplies block after block of terms, and finishes the sums.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/gemm_tile.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/gemm/byte_tile.h"
#include "engine/gemm/finish.h"
#include "engine/gemm/integer_result.h"
#include "engine/gemm/pair_tile.h"
#include "engine/gemm/quantised.h"
#include "engine/thread_memory.h"

namespace portacl::engine::gemm_tile {
namespace {

static_assert(kPatchMemory <= kPackMemory);

size_t ElementOf(aclDataType dtype) {
  return static_cast<size_t>(dtype == ACL_FLOAT     ? GemmElement::kF32
                             : dtype == ACL_FLOAT16 ? GemmElement::kF16
                             : dtype == ACL_INT8    ? GemmElement::kI8
                                                    : GemmElement::kBf16);
}

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
          RunPairs(job_, tile_, own.left, own.pack, sums, sums_row);
          return;
        }
        if (job_.byte_kernels != nullptr) {
          RunBytes(job_, tile_, reinterpret_cast<uint32_t*>(own.left), reinterpret_cast<uint32_t*>(own.right),
                   sums, sums_row);
          return;
        }
        RunTiles(rows, columns, own, sums, sums_row);
        break;
      case GemmJob::Way::kPanels:
        if (gemm_.right.quantised != nullptr) {
          RunQuantisedRow(rows, own, sums);
          break;
        }
        if (job_.byte_kernels != nullptr) {
          RunByteLines(job_, tile_, reinterpret_cast<uint32_t*>(own.left), sums);
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
    if (!job_.is_direct) Finish(job_, tile_, sums, sums_row);
  }

  // Parts of a product of two vectors whose blocks threads share: RunBlocks sums some blocks, FinishBlocks
  // does the rest when all are there.
  void RunBlocks(int64_t block, int64_t count, float* to) const {
    const Memory own = ThreadsOwn();
    for (int64_t i = 0; i < count; i += kMostPanelColumns)
      SumBlocks(/*group=*/0, block + i, std::min(kMostPanelColumns, count - i), own, to + i);
  }
  void FinishBlocks(const float* blocks) const {
    FinishElement(job_, tile_, AddedBlocks(blocks, job_.shared_blocks, 0, BeginsWithBlock()), 0, 0);
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

  // Tells whether numbers can be read as they are: matrices may begin at any byte.
  static bool IsAligned(const char* first) {
    return reinterpret_cast<uintptr_t>(first) % alignof(float) == 0;
  }

  bool IsInteger() const { return gemm_.integers != nullptr; }

  // Returns the terms of a block of two vectors, whose sums threads may share.
  int64_t TermsOfBlock() const { return job_.is_even_odd ? kEvenOddDepth : kGemmDepth; }
  // Tells whether a sum starts as that of its first block, instead of +0.
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
        PackPatchPanels(PatchSourceOf(job_, gemm_.right, tile_.right, job_.load[1]), tile_.column,
                        tile_.columns, term, depth, kernels.columns, memory.pack, memory.right);
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
          PackPatchRows(PatchSourceOf(job_, gemm_.left, tile_.left, job_.load[0]), tile_.row + row, count,
                        term, depth, memory.left);
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
        const int64_t rest = (gemm_.depth - term) * columns.term;
        if (tile_.rows == 1 && job_.is_even_odd) {
          kernels.even_odd.add_across[ElementOf(gemm_.right.dtype)](
              {packed, 0, right, columns.line, rest, sums + column, 0, 1, depth, count, !is_first});
        } else if (tile_.rows == 1) {
          float* const block = BlockOf(sums + column, memory, is_first);
          multiply_across(packed, right, columns.line, rest, depth, count, block);
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

  // Computes one row with quantised weights, which are widened in registers. If they are contiguous along the
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

  // Computes the same sums one after the other.
  void RunWithoutMemory() const {
    for (int64_t row = 0; row < tile_.rows; ++row) {
      for (int64_t column = 0; column < tile_.columns; ++column)
        FinishElement(job_, tile_, SumOf(row, column), row, column);
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
      return PatchElement(PatchSourceOf(job_, gemm_.left, tile_.left, job_.load[0]), tile_.row + row, term);
    float value;
    job_.load[0](tile_.left + row * gemm_.left.row + term * gemm_.left.column, &value, 1);
    return value;
  }

  // Returns an element of a right operand that is not a matrix in memory.
  float RightElement(int64_t column, int64_t term) const {
    if (gemm_.right.quantised != nullptr) return QuantisedElement(*gemm_.right.quantised, column, term);
    return PatchElement(PatchSourceOf(job_, gemm_.right, tile_.right, job_.load[1]), column, term);
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

}  // namespace

bool IsEvenOdd(const Gemm& gemm) {
  if (gemm.integers != nullptr || gemm.right.quantised != nullptr) return false;
  return gemm.are_halves || (gemm.left.dtype == gemm.right.dtype &&
                             (gemm.left.dtype == ACL_FLOAT16 || gemm.left.dtype == ACL_BF16));
}

void Run(const GemmJob& job, const Tile& tile) { TileRun(job, tile).Run(); }

void RunBlocks(const GemmJob& job, const Tile& tile, int64_t block, int64_t count, float* to) {
  TileRun(job, tile).RunBlocks(block, count, to);
}

void FinishBlocks(const GemmJob& job, const Tile& tile, const float* blocks) {
  TileRun(job, tile).FinishBlocks(blocks);
}

}  // namespace portacl::engine::gemm_tile
