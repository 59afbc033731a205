// Solutions of triangular systems, inverses, QR and Cholesky factors and determinants of matrices, in batches. The
// order of operations is the same for every layout, batch, thread count and instruction set (docs/numerics.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "base/isa.h"
#include "engine/linalg/logarithm.h"
#include "engine/move/move.h"

namespace portacl::engine {

inline constexpr int kLinalgBatchDims = 6;

// A matrix for each index of a batch. Strides are in bytes.
struct LinalgOperand {
  int8_t argument = -1;  // operand of the executor; -1: there is none
  aclDataType dtype = ACL_FLOAT;
  int64_t offset = 0;
  int64_t row = 0;
  int64_t column = 0;
  int64_t batch[kLinalgBatchDims] = {};
};

struct LinalgJob {
  // kCholesky reads the upper triangle of a matrix, and gives the upper factor. kDeterminant gives a sign, as
  // `out`, and the logarithm of a size, as `r`, for each matrix.
  enum class Kind : uint8_t { kSolve, kInverse, kQr, kCholesky, kDeterminant };

  Kind kind;
  bool is_upper;    // of a triangular matrix: the part that is read
  bool transposes;  // ... and conjugates
  bool is_unit;     // ... its diagonal counts as ones
  bool copies;      // runs `copy` at the end, too
  int64_t batch[kLinalgBatchDims];
  int64_t rows;     // of the matrix
  int64_t columns;  // of the right-hand sides; for kInverse, as rows; for kQr, of the matrix; else 0
  int64_t factor;   // for kQr: columns of q, which may be 0
  int64_t kept;     // for kQr: rows of r
  LinalgOperand matrix;
  LinalgOperand right;
  LinalgOperand out;  // for kQr, q
  LinalgOperand r;
  aclDataType computed;  // FLOAT, DOUBLE, COMPLEX64 or COMPLEX128
  Logarithm logarithm;   // for kDeterminant
  Move copy;
  int8_t copied_from;  // operands; the workspace, after what a run takes, is the one after the call's
  int8_t copied_to;
  int8_t operands;  // of the executor
  Isa isa;
  int threads;

  uint64_t WorkspaceBytes() const noexcept;
  bool Touches(int operand) const noexcept {
    return operand == matrix.argument || operand == right.argument || operand == out.argument ||
           operand == r.argument || (copies && operand == copied_to);
  }
  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
