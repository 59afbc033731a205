// The product of a matrix and a vector in types that gemm.h lacks: DOUBLE, integers modulo 2^n, BOOL, and
// float32 of converted operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "base/isa.h"
#include "engine/move/conversion.h"

namespace portacl::engine {

// Lengths are in bytes and may be 0 or negative. A vector has no rows.
struct VectorProductOperand {
  int8_t argument;  // operand of the executor
  aclDataType dtype;
  int64_t offset;
  int64_t row;
  int64_t term;
};

// Trivially copyable, so that an executor can hold it.
struct VectorProduct {
  struct Operand {
    VectorProductOperand strided;
    Conversion conversion;
  };
  // Adds `depth` terms of the product to each row's sum: matrix[term][row] * vector[term].
  using AddFunction = void (*)(const void* matrix, const void* vector, int64_t depth, void* sums);

  int64_t rows;
  int64_t depth;
  Operand matrix;
  Operand vector;
  Conversion result;
  AddFunction add;
  bool is_even_odd;  // terms have the order of 16-bit products (engine/gemm/gemm_kernel.h)
  aclDataType computed;
  int threads;

  // Writes the rows' results side by side.
  void Run(void* const* addresses, char* to) const noexcept;
};

// Makes a product. Operands are converted to `dtype` and multiplied as docs/numerics.md says. Results have
// that dtype, except that those of FLOAT16 and BF16 are float32, not rounded. Neither length is 0.
VectorProduct MakeVectorProduct(const VectorProductOperand& matrix, const VectorProductOperand& vector,
                                int64_t rows, int64_t depth, aclDataType dtype, Isa isa,
                                int threads) noexcept;

}  // namespace portacl::engine
