// Memory that a thread keeps for what its loops copy or compute beforehand, so that later calls allocate none.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace portacl::engine {

// Who uses it: each has memory of its own.
enum class MemoryUse : uint8_t { kBands, kHoisted, kSums, kGemm, kRows };
inline constexpr int kMemoryUses = 5;

// What a thread keeps for each use: it should stay in the second-level cache as far as possible.
inline constexpr int64_t kThreadMemoryBytes = int64_t{1} << 20;
// For products of matrices: packed panels stay in the second-level cache, the sums of a tile in the third.
inline constexpr int64_t kGemmMemoryBytes = 9 * (int64_t{1} << 18);

// The calling thread's, aligned to a cache line, its content of no meaning; nullptr when there is no memory. It stays
// with the thread (see acl/process/thread_end.h).
char* ThreadMemory(MemoryUse use) noexcept;

}  // namespace portacl::engine
