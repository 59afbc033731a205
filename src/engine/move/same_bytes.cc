// Bytes that are the same (see same_bytes.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/same_bytes.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "engine/parallel.h"

namespace portacl::engine {

void CompareBytes::Run(const JobContext& context) const noexcept {
  constexpr int64_t kPiece = int64_t{1} << 16;  // bytes that a thread takes
  const char* const a = first.Address(context);
  const char* const b = second.Address(context);
  std::atomic<uint32_t> differs{0};
  ForEachBlock((bytes + kPiece - 1) / kPiece, threads, [&](int64_t piece) {
    if (differs.load(std::memory_order_relaxed) != 0) return;
    const int64_t begin = piece * kPiece;
    const auto count = static_cast<size_t>(std::min(kPiece, bytes - begin));
    if (std::memcmp(a + begin, b + begin, count) != 0) differs.store(1, std::memory_order_relaxed);
  });
  Store(to.Address(context), differs.load(std::memory_order_relaxed));
}

}  // namespace portacl::engine
