// Distances between all rows of one matrix and all rows of another, in batches. A distance is a sum over
// terms like that of a matrix product, of powers of differences, or their maximum. The order of additions is
// the same for every shape, layout, thread count and instruction set (docs/numerics.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "engine/conversions.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/gemm/pack.h"
#include "engine/strided.h"

namespace portacl::engine {

// An operand is a matrix for each index of up to this many batch dims.
inline constexpr int kDistanceBatchDims = 6;

// The norm of the difference of two rows: the count of terms other than 0, the sum of magnitudes, the root of
// the sum of squares, the maximum, or the p-th root of the sum of p-th powers.
enum class DistanceNorm : uint8_t { kCount, kSum, kSquares, kMost, kPowers };

// FLOAT, FLOAT16 or BF16. Lengths are in bytes; a stride may be 0 or negative.
struct DistanceOperand {
  int8_t argument;  // operand of the executor
  aclDataType dtype;
  int64_t offset;
  int64_t row;
  int64_t column;  // of inputs: the distance of terms
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
  // The operands are one: only distances from rows to later ones are written, row by row, `out.column` apart.
  bool is_triangle;
};

// Packed rows of both operands, and the sums to which their differences add.
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
  // Turns n sums into distances. May write as many numbers behind them as the widest vector has.
  void (*root)(DistanceNorm norm, float power, float* sums, int64_t n);
};

// Trivially copyable, so that an executor can hold it.
struct DistanceJob {
  Distances distances;
  DistanceKernels kernels;
  PackSource rows;  // packing of each operand's rows
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

// Makes a job. No length is 0.
DistanceJob MakeDistanceJob(const Distances& distances, Isa isa, int threads) noexcept;

}  // namespace portacl::engine
