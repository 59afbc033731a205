// Instructions that multiply pairs of BF16 terms, in addition to the instruction set of all other kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace portacl {

// From slowest to fastest: none, AVX-512's VDPBF16PS, AMX's tiles. All but kNone require Isa::kAvx512.
enum class TermPairs : uint8_t { kNone, kDot, kAmx };

// The names in PORTACL_ISA; nullptr for kNone.
const char* TermPairsName(TermPairs pairs) noexcept;
std::optional<TermPairs> TermPairsFromName(std::string_view name) noexcept;

// Whether this machine has them in addition to AVX-512. The operating system may still refuse tiles.
bool MachineHas(TermPairs pairs) noexcept;

}  // namespace portacl
