// Computes one tile of a matrix product (see gemm.h), by the way that its job has chosen. A tile adds all terms of its elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/gemm/gemm.h"
#include "engine/gemm/pack.h"
#include "engine/thread_memory.h"

namespace portacl::engine::gemm_tile {

// The layout of a thread's memory, in numbers: rows of the left operand, panels of the right one, and the
// sums of a tile if the output cannot hold them.
inline constexpr int64_t kMostRowsTogether = 224;
inline constexpr int64_t kLeftNumbers = kMostRowsTogether * kPackedRow;
inline constexpr int64_t kMostColumns = 768;
inline constexpr int64_t kRightNumbers = kMostColumns * kGemmDepth;
// The most columns of a one-row tile, whose block sums use that memory instead.
inline constexpr int64_t kMostRowColumns = 1 << 17;
inline constexpr int64_t kColumnsAcross = 16;
inline constexpr int64_t kSumColumns = 512;
inline constexpr int64_t kSumRows = 512;
inline constexpr int64_t kSumNumbers = kSumColumns * kSumRows;
static_assert(kMostRowColumns <= kRightNumbers && kMostRowColumns <= kSumNumbers);
static_assert((kLeftNumbers + kRightNumbers + kSumNumbers) * int64_t{sizeof(float)} + kPackMemory <=
              kGemmMemoryBytes);

// The fewest rows of a tile of integers for which pairs of terms pay.
inline constexpr int64_t kRowsOfPairs = 16;

inline constexpr int64_t kNumber = sizeof(float);

// The most columns of a panel if terms are paired.
inline constexpr int64_t kMostTileColumns = 64;

inline int64_t DividedUp(int64_t n, int64_t by) { return n / by + (n % by != 0 ? 1 : 0); }
inline int64_t RoundedUp(int64_t n, int64_t to) { return DividedUp(n, to) * to; }

inline int32_t SizeOf(aclDataType dtype) {
  return dtype == ACL_FLOAT || dtype == ACL_INT32 ? 4 : dtype == ACL_INT8 ? 1 : 2;
}

// Tells whether an operand is not a matrix in memory, so that only packing can read it.
inline bool IsPacked(const GemmOperand& operand) {
  return operand.patches != nullptr || operand.quantised != nullptr;
}

// Tells whether both operands have 16 bits, which changes the order of terms.
bool IsEvenOdd(const Gemm& gemm);

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

// Returns an operand that is an image's patches as a source of packing.
inline PatchSource PatchSourceOf(const GemmJob& job, const GemmOperand& operand, const char* base,
                                 LoadFunction load) {
  return {operand.patches,
          base,
          SizeOf(operand.dtype),
          load,
          job.gather,
          job.kernels->transpose[static_cast<size_t>(GemmElement::kF32)]};
}

// Returns some rows of a tile.
inline Tile RowsOf(const GemmJob& job, const Tile& tile, int64_t row, int64_t count) {
  Tile part = tile;
  part.rows = count;
  part.row += row;
  part.left += row * job.gemm.left.row;
  if (part.added != nullptr) part.added += row * job.gemm.added.row;
  part.out += row * job.gemm.out.row;
  return part;
}

// Computes a tile, and stores the output's elements.
void Run(const GemmJob& job, const Tile& tile);

// Computes the sums of some blocks of terms of a product of two vectors.
void RunBlocks(const GemmJob& job, const Tile& tile, int64_t block, int64_t count, float* to);

// Adds the sums of all blocks in order, and stores the element.
void FinishBlocks(const GemmJob& job, const Tile& tile, const float* blocks);

}  // namespace portacl::engine::gemm_tile
