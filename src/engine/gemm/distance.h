// Distances of all rows of one matrix from all rows of another, in batches: sums over a row's terms like those of a product, of powers of
// differences, or the largest of these; one order of additions for every shape, layout, thread count and instruction set (docs/numerics.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "engine/conversions.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/gemm/pack.h"
#include "engine/strided.h"

namespace portacl::engine {

// An operand is a matrix for each index of up to so many dims.
inline constexpr int kDistanceBatchDims = 6;

// What becomes of the differences of two rows: how many are not 0, the sum of their sizes, the root of the sum of their squares, the
// largest, or the root of a power of the sum of their powers.
enum class DistanceNorm : uint8_t { kCount, kSum, kSquares, kMost, kPowers };

// FLOAT, FLOAT16 or BF16. Lengths in bytes; a stride may be 0 or negative.
struct DistanceOperand {
  int8_t argument;  // operand of the executor
  aclDataType dtype;
  int64_t offset;
  int64_t row;
  int64_t column;  // of an input: from a term to the next
  int64_t batch[kDistanceBatchDims];
};

struct Distances {
  int64_t batch[kDistanceBatchDims];  // lengths; the last one varies fastest
  int64_t rows;
  int64_t columns;  // rows of the right operand
  int64_t depth;    // terms; not 0
  DistanceOperand left;
  DistanceOperand right;
  DistanceOperand out;
  DistanceNorm norm;
  float power;  // of kPowers: greater than 0
};

// Rows of both operands as they are packed, and what their differences add to.
struct PackedDistances {
  const float* a;  // rows x depth, kPackedRow apart
  const float* b;  // panels of columns, one behind the other: depth x width
  float* c;
  int64_t c_row;  // numbers from one row of c to the next
  int64_t rows;
  int64_t panels;
  int64_t width;  // of a panel: pairs of vectors
  int64_t depth;
  float power;
  bool continues;  // chains begin with c, else with 0
};

struct DistanceKernels {
  Isa isa;
  void (*add[5])(const PackedDistances& distances);  // by norm
  // Of n sums their distances; as many as the widest vector has may be written behind them.
  void (*root)(DistanceNorm norm, float power, float* sums, int64_t n);
};

// Trivially copyable, so that an executor can hold it.
struct DistanceJob {
  Distances distances;
  DistanceKernels kernels;
  PackSource rows;  // how either operand's are packed
  PackSource columns;
  StoreFunction store;
  ScatterFunction scatter;
  int64_t width;
  int64_t tile_rows;
  int64_t tile_columns;
  int64_t row_tiles;
  int64_t column_tiles;
  int threads;
  bool is_long;  // see BlockLength

  bool Touches(int operand) const noexcept;
  int64_t Elements() const noexcept;
  void Run(void* const* addresses, void* workspace) const noexcept;
};

// No length is 0.
DistanceJob MakeDistanceJob(const Distances& distances, Isa isa, int threads) noexcept;

}  // namespace portacl::engine
