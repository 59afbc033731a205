// Long short-term memory over sequences, forward and backward (docs/numerics.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/recurrent/network.h"

namespace portacl::engine {

// The values that every step saves for the gradient, in the order of the lists.
enum LstmSaved { kLstmI, kLstmG, kLstmF, kLstmO, kLstmH, kLstmC, kLstmTanhC };
inline constexpr int kLstmSaved = 7;
inline constexpr int kLstmGates = 4;

struct Lstm : RecurrentForward {
  RecurrentOperand c0;  // 0 if missing
  RecurrentOperand cy;

  uint64_t WorkspaceBytes() const noexcept;
  void Run(const JobContext& context) const noexcept;
};

struct LstmGradient : RecurrentGradient {
  RecurrentOperand c0;
  RecurrentOperand of_cy;
  RecurrentOperand of_c0;

  uint64_t WorkspaceBytes() const noexcept;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
