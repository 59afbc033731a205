// Gated recurrent units over sequences, forward and backward (docs/numerics.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/recurrent/network.h"

namespace portacl::engine {

// The values that every step saves for the gradient, in the order of the lists. hn is the hidden state's part
// of n, which r multiplies.
enum GruSaved { kGruR, kGruZ, kGruN, kGruHn, kGruH };
inline constexpr int kGruSaved = 5;
inline constexpr int kGruGates = 3;

struct Gru : RecurrentForward {
  uint64_t WorkspaceBytes() const noexcept;
  void Run(const JobContext& context) const noexcept;
};

struct GruGradient : RecurrentGradient {
  uint64_t WorkspaceBytes() const noexcept;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
