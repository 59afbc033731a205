// repeat_interleave (see repeat_by_counts.h): sums blocks of counts, then each block writes after those before it.
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/repeat_by_counts.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kRepeatBlock = 16384;
constexpr int64_t kFew = 4;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t CountAt(const RepeatInterleave& interleave, const char* counts, int64_t element) {
  const char* const at = counts + element * interleave.stride;
  return interleave.is_wide ? Load<int64_t>(at) : Load<int32_t>(at);
}

// Adds with saturation; such sums are only compared with lengths.
int64_t Added(int64_t sum, int64_t count) { return count > kMost - sum ? kMost : sum + count; }

// Returns the sum of dense counts, or -1 if one is negative or so large that they must be examined one by
// one.
template <class T>
int64_t PlainSum(const char* counts, int64_t n) {
  int64_t sum = 0;
  T all = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T count = Load<T>(counts + i * static_cast<int64_t>(sizeof(T)));
    all |= count;
    sum = static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(count));
  }
  return all < 0 || static_cast<int64_t>(all) >= kMost / kRepeatBlock ? -1 : sum;
}

}  // namespace

int64_t RepeatInterleaveBlocks(int64_t elements) noexcept {
  return elements / kRepeatBlock + (elements % kRepeatBlock != 0 ? 1 : 0);
}

void RepeatInterleave::Run(const JobContext& context) const noexcept {
  const char* const from = counts.Address(context);
  auto* const before = reinterpret_cast<int64_t*>(sums.Address(context));
  auto* const to = reinterpret_cast<int64_t*>(offsets.Address(context));
  const int64_t blocks = RepeatInterleaveBlocks(elements);
  std::atomic<int64_t> negative{kMost};  // the first element with such a count
  ForEachBlock(blocks, threads, [&](int64_t block) {
    const int64_t end = std::min(elements, (block + 1) * kRepeatBlock);
    const int64_t begin = block * kRepeatBlock;
    int64_t sum = -1;
    if (stride == (is_wide ? 8 : 4)) {
      sum = is_wide ? PlainSum<int64_t>(from + begin * stride, end - begin)
                    : PlainSum<int32_t>(from + begin * stride, end - begin);
    }
    if (sum >= 0) {
      before[block] = sum;
      return;
    }
    sum = 0;
    for (int64_t i = begin; i < end; ++i) {
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
    const int64_t end = std::min(elements, (block + 1) * kRepeatBlock);
    int64_t at = before[block];
    // The next block's start.
    const int64_t stop = std::min(length, block + 1 < blocks ? before[block + 1] : total);
    for (int64_t i = block * kRepeatBlock; i < end && at < stop; ++i) {
      const int64_t count = std::clamp<int64_t>(CountAt(*this, from, i), 0, stop - at);
      const int64_t offset_of_element = i * step;
      if (stop - at >= kFew) {
        // Writes a fixed number of entries, because a branch on a small count would often be mispredicted. Later
        // elements overwrite the excess.
        for (int64_t k = 0; k < kFew; ++k) to[at + k] = offset_of_element;
        if (count > kFew) std::fill_n(to + at + kFew, count - kFew, offset_of_element);
      } else {
        std::fill_n(to + at, count, offset_of_element);
      }
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
