// Elements as often as they are counted (see spread.h): blocks of counts are added up, then each block writes behind those before it.
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/spread.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kSpreadBlock = 16384;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t CountAt(const Spread& spread, const char* counts, int64_t element) {
  const char* const at = counts + element * spread.stride;
  return spread.is_wide ? Load<int64_t>(at) : Load<int32_t>(at);
}

// Sums of counts stay at the largest number: they are compared with lengths alone.
int64_t Added(int64_t sum, int64_t count) { return count > kMost - sum ? kMost : sum + count; }

}  // namespace

int64_t SpreadBlocks(int64_t elements) noexcept { return (elements + kSpreadBlock - 1) / kSpreadBlock; }

void Spread::Run(const JobContext& context) const noexcept {
  const char* const from = counts.Address(context);
  auto* const before = reinterpret_cast<int64_t*>(sums.Address(context));
  auto* const to = reinterpret_cast<int64_t*>(places.Address(context));
  const int64_t blocks = SpreadBlocks(elements);
  std::atomic<int64_t> negative{kMost};  // the first element with such a count
  ForEachBlock(blocks, threads, [&](int64_t block) {
    const int64_t end = std::min(elements, (block + 1) * kSpreadBlock);
    int64_t sum = 0;
    for (int64_t i = block * kSpreadBlock; i < end; ++i) {
      const int64_t count = CountAt(*this, from, i);
      if (count >= 0) {
        sum = Added(sum, count);
        continue;
      }
      int64_t seen = negative.load(std::memory_order_relaxed);
      while (i < seen && !negative.compare_exchange_weak(seen, i, std::memory_order_relaxed)) {
      }
    }
    before[block] = sum;
  });
  int64_t total = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t sum = before[block];
    before[block] = total;
    total = Added(total, sum);
  }
  ForEachBlock(blocks, threads, [&](int64_t block) {
    const int64_t end = std::min(elements, (block + 1) * kSpreadBlock);
    int64_t at = before[block];
    for (int64_t i = block * kSpreadBlock; i < end && at < length; ++i) {
      const int64_t count = std::clamp<int64_t>(CountAt(*this, from, i), 0, length - at);
      std::fill_n(to + at, count, i * step);
      at += count;
    }
  });
  for (int64_t i = total; i < length; ++i) to[i] = missing;
  if (!raises) return;
  const int64_t wrong = negative.load(std::memory_order_relaxed);
  if (wrong != kMost) {
    return context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION,
                        Text(context.api, ": ", name, " has the value ", CountAt(*this, from, wrong),
                             " at element ", wrong, ", accepted: at least 0."));
  }
  if (total != length) {
    context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION, Text(context.api, ": ", name, " adds up to ", total,
                                                     ", accepted: ", length, ", as outputSize says."));
  }
}

}  // namespace portacl::engine
