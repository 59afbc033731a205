// The kernels' vector instruction sets: those of the build and the machine, and the choice of PORTACL_ISA.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace portacl {

// From slowest to fastest within an architecture. kPortable is the compiler's fallback, always available.
enum class Isa : uint8_t { kPortable, kAvx2, kAvx512, kNeon, kSve };

const char* IsaName(Isa isa) noexcept;
std::optional<Isa> IsaFromName(std::string_view name) noexcept;

// Returns the instruction sets that this build contains and this machine can run, best last. Never empty.
std::span<const Isa> SupportedIsas() noexcept;

}  // namespace portacl
