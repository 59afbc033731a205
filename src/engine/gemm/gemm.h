// Matrix products: out = beta * added + alpha * (left @ right), in batches. The order of additions is the
// same for every shape, layout, thread count and instruction set (docs/numerics.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "engine/conversions.h"
#include "engine/gemm/byte_kernel.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/gemm/patches.h"
#include "engine/gemm/quantised_row.h"
#include "engine/gemm/tile_kernel.h"
#include "engine/strided.h"

namespace portacl::engine {

struct QuantisedSource;
struct IntegerResult;

// An operand is a matrix for each index of up to this many batch dims.
inline constexpr int kGemmBatchDims = 4;

// FLOAT, FLOAT16 or BF16; for integers see Gemm::integers. Lengths are in bytes; a stride may be 0 or
// negative.
struct GemmOperand {
  int8_t argument;  // operand of the executor; -1: the workspace
  aclDataType dtype;
  int64_t offset;
  int64_t row;
  int64_t column;
  int64_t group;  // see Gemm::groups
  int64_t batch[kGemmBatchDims];
  // A source other than a matrix, for the left or right operand. If set, `row` and `column` are unused. It
  // outlives the job.
  const Patches* patches;
  // Quantised weights as another source, for the right operand only (engine/gemm/quantised.h).
  const QuantisedSource* quantised;
};

// Columns of the output along several dims, the last one fastest. Strides are in bytes.
struct GemmColumns {
  static constexpr int kDims = 4;
  int64_t length[kDims];
  int64_t stride[kDims];
};

struct Gemm {
  int64_t batch[kGemmBatchDims];  // lengths; the last one varies fastest
  int64_t rows;
  int64_t columns;
  int64_t depth;   // 0: without a product, out = beta * added
  int64_t groups;  // of `depth` terms each: products that are added up
  GemmOperand left;
  GemmOperand right;
  GemmOperand out;
  GemmOperand added;
  bool adds;  // if false, `added` is not read
  float alpha;
  float beta;
  const GemmColumns* out_columns;  // nullptr: columns are out.column apart; outlives the job
  // The operands' numbers have 16 bits, whatever they are in memory, and the order of terms is that of two
  // 16-bit operands.
  bool are_halves;
  // If set, left and right are INT8 and sums are exact modulo 2^32, or 0 without terms. It says how sums
  // become results (engine/gemm/integer_result.h). Then alpha and beta are unused and there is one group of terms.
  // It outlives the job.
  const IntegerResult* integers;
};

// Trivially copyable, so that an executor can hold it.
struct GemmJob {
  Gemm gemm;
  enum class Way : uint8_t { kTiles, kPanels, kRow, kDot, kSmall };

  const GemmKernels* kernels;
  const TileKernels* tile_kernels;               // for BF16; nullptr if there are none or they do not pay
  const ByteKernels* byte_kernels;               // for integers, likewise
  const QuantisedRowKernels* quantised_kernels;  // for one row and quantised weights
  LoadFunction load[3];                          // left, right, added
  StoreFunction store;
  GatherFunction gather;
  ScatterFunction scatter;
  int64_t tile_rows;
  int64_t tile_columns;
  int64_t row_tiles;
  int64_t column_tiles;
  Way way;
  bool is_direct;      // sums are made in the output: it is dense float32, and nothing is added
  bool is_long;        // see BlockLength
  bool is_transposed;  // rows are the caller's columns
  bool is_even_odd;    // terms have the order of 16-bit products (kEvenOddDepth)
  // Blocks of terms of a product of two vectors, whose sums threads write to the workspace; or 0.
  int64_t shared_blocks;
  int threads;

  int64_t WorkspaceBytes() const noexcept { return shared_blocks * static_cast<int64_t>(sizeof(float)); }
  bool Touches(int operand) const noexcept;
  int64_t Elements() const noexcept;
  void Run(void* const* addresses, void* workspace) const noexcept;
  // Runs single tiles, which are independent. Jobs of several matrix products run all their tiles in one
  // loop.
  int64_t Tiles() const noexcept;
  void RunTile(void* const* addresses, void* workspace, int64_t block) const noexcept;
};

// Returns the cost of a matrix product: the elements of an elementwise job that takes as long.
int64_t MultiplicationsOf(const Gemm& gemm) noexcept;

// Makes a job. No length but the depth is 0. With a depth of 0 the result is the addend, or 0 without one.
GemmJob MakeGemmJob(const Gemm& gemm, Isa isa, int threads) noexcept;
// Makes one with kernels for pairs of BF16 terms and for words of INT8 terms, which may be nullptr.
GemmJob MakeGemmJob(const Gemm& gemm, Isa isa, int threads, const TileKernels* tiles,
                    const ByteKernels* bytes = nullptr) noexcept;

}  // namespace portacl::engine
