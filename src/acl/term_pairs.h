// Instructions that multiply pairs of terms of BF16, beside the instruction set that all else runs on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace portacl {

// From slowest to fastest: none, AVX-512's VDPBF16PS, AMX's tiles. All but kNone are beside Isa::kAvx512.
enum class TermPairs : uint8_t { kNone, kDot, kAmx };

// As PORTACL_ISA names them; nullptr for kNone.
const char* TermPairsName(TermPairs pairs) noexcept;
std::optional<TermPairs> TermPairsFromName(std::string_view name) noexcept;

// Whether this machine has them beside AVX-512. The operating system may refuse tiles when they are asked for.
bool MachineHas(TermPairs pairs) noexcept;

}  // namespace portacl
