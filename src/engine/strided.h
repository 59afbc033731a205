// Copies strided elements to dense ones, and back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"

namespace portacl::engine {

// Copies n elements of `size` bytes, a power of two from 1 to 16. Strides are in bytes. Gathering may read
// the gaps between elements, but nothing beyond the last one; scattering writes only elements.
using GatherFunction = void (*)(const char* source, int64_t stride, int32_t size, void* destination,
                                int64_t n);
using ScatterFunction = void (*)(const void* source, char* destination, int64_t stride, int32_t size,
                                 int64_t n);

// Run on every machine.
void Gather(const char* source, int64_t stride, int32_t size, void* destination, int64_t n) noexcept;
void Scatter(const void* source, char* destination, int64_t stride, int32_t size, int64_t n) noexcept;

// The elements' origin. Prefetching pays if nothing is written, and costs if there are more streams.
enum class GatherSource : uint8_t { kCache, kMemory, kMemoryAskedAhead };

// Return the fastest functions of an instruction set. For operands larger than the caches these are the
// portable ones: wide vectors are slower there, for unknown reasons.
GatherFunction FindGather(Isa isa, GatherSource source) noexcept;
ScatterFunction FindScatter(Isa isa, bool from_memory) noexcept;

}  // namespace portacl::engine
