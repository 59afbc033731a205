// Shuffles (see permutation.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/random/permutation.h"

#include <algorithm>
#include <utility>

#include "base/float_environment.h"
#include "engine/tile_size.h"

namespace portacl::engine {
namespace {

__extension__ typedef unsigned __int128 Uint128;

template <class T>
void Shuffle(const PermutationJob& job, T* values) {
  const int64_t n = job.copy.plan.count;
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(i);
  const IntegerNumbers numbers{job.source, 0, 0};
  alignas(64) int64_t drawn[kTile];
  for (int64_t first = 0; first < n; first += kTile) {
    const int64_t count = std::min<int64_t>(n - first, kTile);
    job.draw(&numbers, {first, static_cast<size_t>(count), drawn, false, {}, nullptr});
    // Prefetches the numbers before the first is needed, as most of them come from memory.
    for (int64_t k = 0; k < count; ++k) {
      const auto left = static_cast<uint64_t>(n - first - k);
      drawn[k] = first + k + static_cast<int64_t>(Uint128{static_cast<uint64_t>(drawn[k])} * left >> 64);
      __builtin_prefetch(values + drawn[k], 1);
    }
    for (int64_t k = 0; k < count; ++k) std::swap(values[first + k], values[drawn[k]]);
  }
}

void CopyListed(const void* parameters, const ThreadBlock& thread_block) {
  const auto& numbers = *static_cast<const ListedNumbers*>(parameters);
  auto* const to = static_cast<int64_t*>(thread_block.to);
  for (size_t i = 0; i < thread_block.n; ++i) {
    const size_t position = static_cast<size_t>(thread_block.first) + i;
    to[i] = numbers.bytes == 4 ? static_cast<int64_t>(static_cast<const uint32_t*>(numbers.values)[position])
                               : static_cast<const int64_t*>(numbers.values)[position];
  }
}

}  // namespace

SequenceFunction FindSequence(Isa, const ListedNumbers&) noexcept { return CopyListed; }

void PermutationJob::Run(void* const* addresses, void* workspace) const noexcept {
  const int bytes = BytesOf(copy.plan.count);
  {
    const DefaultFloatEnvironment environment;
    if (bytes == 4) {
      Shuffle(*this, static_cast<uint32_t*>(workspace));
    } else {
      Shuffle(*this, static_cast<int64_t*>(workspace));
    }
  }
  SequenceJob job = copy;
  const ListedNumbers numbers{workspace, bytes};
  std::memcpy(job.parameters, &numbers, sizeof numbers);
  job.Run(addresses, nullptr);
}

}  // namespace portacl::engine
