// Memory that a thread keeps for the copies and precomputed values of its loops, so that later calls allocate
// nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace portacl::engine {

// The users, each of which has separate memory.
enum class MemoryUse : uint8_t { kRowCopies, kPrecomputed, kSums, kGemm, kRows };
inline constexpr int kMemoryUses = 5;

// The size for each use, which should stay in the second-level cache as far as possible.
inline constexpr int64_t kThreadMemoryBytes = int64_t{1} << 20;
// The size for matrix products: packed panels stay in the second-level cache, the sums of a tile in the
// third.
inline constexpr int64_t kGemmMemoryBytes = 9 * (int64_t{1} << 18);

// Returns the calling thread's memory, aligned to a cache line and with unspecified content, or nullptr if
// there is none. It stays with the thread (see base/process/thread_end.h).
char* ThreadMemory(MemoryUse use) noexcept;

}  // namespace portacl::engine
