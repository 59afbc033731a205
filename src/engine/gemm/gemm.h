// Products of matrices: out = beta * added + alpha * (left @ right), in batches, with one order of additions for every shape, layout, thread
// count and instruction set (docs/numerics.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "engine/conversions.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/gemm/patches.h"
#include "engine/gemm/tile_kernel.h"
#include "engine/strided.h"

namespace portacl::engine {

struct QuantisedSource;
struct IntegerResult;

// An operand is a matrix for each index of up to so many dims.
inline constexpr int kGemmBatchDims = 4;

// FLOAT, FLOAT16 or BF16; of a product of integers see Gemm::integers. Lengths in bytes; a stride may be 0 or negative.
struct GemmOperand {
  int8_t argument;  // operand of the executor; -1: the workspace
  aclDataType dtype;
  int64_t offset;
  int64_t row;
  int64_t column;
  int64_t group;  // see Gemm::groups
  int64_t batch[kGemmBatchDims];
  // Of the left or right one: what it is made of instead, and then rows and columns have no lengths. It outlives the job.
  const Patches* patches;
  // Of the right one alone: the same of quantised weights (engine/gemm/quantised.h).
  const QuantisedSource* quantised;
};

// Columns of the output along dims, the last one fastest, that are not one. Strides in bytes.
struct GemmColumns {
  static constexpr int kDims = 4;
  int64_t length[kDims];
  int64_t stride[kDims];
};

struct Gemm {
  int64_t batch[kGemmBatchDims];  // lengths; the last one varies fastest
  int64_t rows;
  int64_t columns;
  int64_t depth;   // 0: there is no product, and out = beta * added
  int64_t groups;  // of terms, each of `depth`: products that are added up
  GemmOperand left;
  GemmOperand right;
  GemmOperand out;
  GemmOperand added;
  bool adds;  // else `added` is not read
  float alpha;
  float beta;
  const GemmColumns* out_columns;  // nullptr: out.column apart. It outlives the job
  // Whatever the operands are in memory, their numbers have 16 bits, and terms are added in the order of two operands of such.
  bool are_halves;
  // Left and right are INT8, sums exact modulo 2^32, and this says what becomes of them (engine/gemm/integers.h), 0 without terms: then
  // neither alpha nor beta are looked at, and terms are of one group. It outlives the job.
  const IntegerResult* integers;
};

// Trivially copyable, so that an executor can hold it.
struct GemmJob {
  Gemm gemm;
  enum class Way : uint8_t { kTiles, kPanels, kRow, kDot };

  const GemmKernels* kernels;
  const TileKernels* tile_kernels;  // of BF16; nullptr: there are none, or they are no gain
  LoadFunction load[3];             // left, right, added
  StoreFunction store;
  GatherFunction gather;
  ScatterFunction scatter;
  int64_t tile_rows;
  int64_t tile_columns;
  int64_t row_tiles;
  int64_t column_tiles;
  Way way;
  bool is_direct;      // sums are where the output is: nothing is added, and it is float32 and dense
  bool is_long;        // see BlockLength
  bool is_transposed;  // rows are the columns that the caller has
  bool is_even_odd;    // terms are added in the order of products of 16 bits (kEvenOddDepth)
  int64_t
      shared_blocks;  // of terms, of a product of two vectors, whose sums threads put into the workspace; or 0
  int threads;

  int64_t WorkspaceBytes() const noexcept { return shared_blocks * static_cast<int64_t>(sizeof(float)); }
  bool Touches(int operand) const noexcept;
  int64_t Elements() const noexcept;
  void Run(void* const* addresses, void* workspace) const noexcept;
  // The same in parts, each of which no other one waits for: jobs of several products run theirs in one loop.
  int64_t Tiles() const noexcept;
  void RunTile(void* const* addresses, void* workspace, int64_t block) const noexcept;
};

// Elements of other kinds of computing that take as long.
int64_t MultiplicationsOf(const Gemm& gemm) noexcept;

// No length but the depth is 0; something is added where that is, or out becomes 0.
GemmJob MakeGemmJob(const Gemm& gemm, Isa isa, int threads) noexcept;
// With what multiplies pairs of terms, which may be nullptr.
GemmJob MakeGemmJob(const Gemm& gemm, Isa isa, int threads, const TileKernels* tiles) noexcept;

}  // namespace portacl::engine
