// Random permutations.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/random/random_numbers.h"

namespace portacl::engine {

// Returns number i of a list with this many bytes for each.
struct ListedNumbers {
  const void* values;
  int bytes;
};
SequenceFunction FindSequence(Isa isa, const ListedNumbers&) noexcept;
constexpr ElementType TypeOf(const ListedNumbers&) { return ElementType::kI64; }

// The Fisher-Yates shuffle of 0 to n - 1, in the workspace, then copied to the output. For i from 0 on,
// number i is swapped with that at i + floor(w * (n - i) / 2^64), where w is the first 64 bits of element i.
struct PermutationJob {
  SequenceJob copy;  // of ListedNumbers
  SequenceFunction draw;
  RandomSource source;

  static int BytesOf(int64_t n) noexcept { return n >> 32 == 0 ? 4 : 8; }
  static uint64_t WorkspaceBytes(int64_t n) noexcept {
    return static_cast<uint64_t>(n) * static_cast<uint64_t>(BytesOf(n));
  }

  bool Touches(int operand) const noexcept { return copy.Touches(operand); }
  int64_t Elements() const noexcept { return copy.Elements(); }
  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
