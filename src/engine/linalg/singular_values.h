// Singular values and vectors of matrices, in batches, by one-sided Jacobi rotations in float64. The order of
// operations is the same for every layout, batch, thread count and instruction set (docs/numerics.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "base/isa.h"
#include "engine/linalg/factorize.h"

namespace portacl::engine {

// Numbers are dense rows of float64, padded with zeros to a multiple of kSingularLanes.
inline constexpr int64_t kSingularLanes = 8;

struct SingularKernels {
  Isa isa;
  double (*dot)(const double* x, const double* y, int64_t n);
  // x, y = c x - s y, s x + c y
  void (*rotate)(double* x, double* y, double c, double s, int64_t n);
  // The complex numbers of two rows, multiplied by one.
  void (*turn)(double* real, double* imaginary, double by_real, double by_imaginary, int64_t n);
  void (*scale)(double* x, double by, int64_t n);
  // y = y - a x
  void (*subtract)(const double* x, double a, double* y, int64_t n);
};
SingularKernels SingularKernelsOf(Isa isa) noexcept;

// input = u diag(sigma) v^T, without conjugation. Trivially copyable, so that an executor can hold it.
struct SingularValuesJob {
  bool gives_vectors;
  bool is_full;  // u and v are square
  aclDataType dtype;
  int64_t batch[kLinalgBatchDims];
  int64_t rows;
  int64_t columns;
  LinalgOperand matrix;
  LinalgOperand sigma;  // a row for each matrix
  LinalgOperand u;
  LinalgOperand v;
  SingularKernels kernels;
  int threads;

  uint64_t WorkspaceBytes() const noexcept;
  bool Touches(int operand) const noexcept {
    return operand == matrix.argument || operand == sigma.argument ||
           (gives_vectors && (operand == u.argument || operand == v.argument));
  }
  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
