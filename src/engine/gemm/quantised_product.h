// Matrix products with quantised weights: the engine's products, whose right operand is packed from them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/gemm/gemm.h"
#include "engine/gemm/quantised.h"

namespace portacl::engine {

// A matrix product with quantised weights as right operand; gemm.right is unused. Trivially copyable.
struct QuantisedGemmJob {
  Gemm gemm;
  QuantisedWeights weights;
  Isa isa;
  int threads;

  bool Touches(int operand) const noexcept;
  int64_t Elements() const noexcept;
  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
