// Copies of elements that lie a stride apart to where they are dense, and back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/isa.h"

namespace portacl::engine {

// n elements of `size` bytes: 1 to 16, a power of two. Strides are in bytes. Gathering reads nothing beyond the last
// element, but may read what lies between two; scattering writes elements alone.
using GatherFunction = void (*)(const char* source, int64_t stride, int32_t size, void* destination,
                                int64_t n);
using ScatterFunction = void (*)(const void* source, char* destination, int64_t stride, int32_t size,
                                 int64_t n);

// For every machine.
void Gather(const char* source, int64_t stride, int32_t size, void* destination, int64_t n) noexcept;
void Scatter(const void* source, char* destination, int64_t stride, int32_t size, int64_t n) noexcept;

// Where elements come from. Asking for them ahead pays where nothing is written, and costs where there are more streams.
enum class GatherSource : uint8_t { kCache, kMemory, kMemoryAskedAhead };

// The fastest that an instruction set has. Where operands do not fit the caches, that is what every machine has: wide
// vectors are slower there, for reasons not known.
GatherFunction FindGather(Isa isa, GatherSource source) noexcept;
ScatterFunction FindScatter(Isa isa, bool from_memory) noexcept;

}  // namespace portacl::engine
