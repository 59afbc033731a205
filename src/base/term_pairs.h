// Instructions that multiply pairs of BF16 terms, in addition to the instruction set of all other kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/isa.h"

namespace portacl {

// From slowest to fastest: none, AVX-512's VDPBF16PS, AMX's tiles. All but kNone require Isa::kAvx512.
enum class TermPairs : uint8_t { kNone, kDot, kAmx };

// The names in PORTACL_ISA; nullptr for kNone.
const char* TermPairsName(TermPairs pairs) noexcept;
std::optional<TermPairs> TermPairsFromName(std::string_view name) noexcept;

// Whether this machine has them in addition to AVX-512. The operating system may still refuse tiles.
bool MachineHas(TermPairs pairs) noexcept;

// Whether this machine adds the products of four INT8 terms at once: in vectors of an instruction set
// (AVX512-VNNI, AVX-VNNI, SDOT), or in AMX's tiles, which the operating system may still refuse.
bool MachineHasByteDot(Isa isa) noexcept;
bool MachineHasByteTiles() noexcept;

}  // namespace portacl
