// Matrix products of 8-bit or 4-bit integers: the engine's products with exact sums, and the conversion of
// these sums to results.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/gemm/gemm.h"
#include "engine/gemm/integer_result.h"

namespace portacl::engine {

// Trivially copyable.
struct IntegerGemmJob {
  // 4-bit elements, two in a byte, the lower half first. They are widened to bytes of the workspace, which
  // become the product's operand.
  struct Halves {
    int8_t argument;
    int64_t first;
    int64_t count;  // 0: there are none
    int64_t to;
  };
  // See IntegerNumbers; argument -1 means that there are none.
  struct Numbers {
    int8_t argument;
    int64_t offset;
    int64_t row;
    int64_t column;
    aclDataType dtype;
  };

  Gemm gemm;  // `integers` is set when the job runs
  Halves halves[2];
  Numbers scale;
  Numbers factor;
  Numbers offset;
  bool has_words;
  Isa isa;
  int threads;

  bool Touches(int operand) const noexcept;
  int64_t Elements() const noexcept;
  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
