// Bisection (see search.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/sort/search.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>

#include "base/float_environment.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kBlock = 2048;

// The first bad index of an order.
class FirstBad {
 public:
  void Note(int64_t at) {
    int64_t seen = at_.load(std::memory_order_relaxed);
    while (at < seen && !at_.compare_exchange_weak(seen, at, std::memory_order_relaxed)) {
    }
  }
  int64_t Get() const { return at_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> at_{std::numeric_limits<int64_t>::max()};
};

template <class T>
T At(const char* base, int64_t i) {
  return Load<T>(base + i * static_cast<int64_t>(sizeof(T)));
}

// Searches that run side by side, since each waits for memory at every step.
constexpr int64_t kAbreast = 8;

// A search through `left` elements from `low` on. is_there(mid) says whether the result is at most mid. Every
// step halves the elements without branches, half of which would be mispredicted.
struct Bisection {
  int64_t low = 0;
  int64_t left = 0;

  template <class IsThere>
  void Step(int64_t last, const IsThere& is_there) {
    const int64_t half = left >> 1;
    const bool is_beyond =
        static_cast<int>(left > 0) & static_cast<int>(!is_there(std::min(low + half, last)));
    const int64_t mask = -int64_t{is_beyond};
    low += (half + 1) & mask;
    left = half - ((2 * half + 1 - left) & mask);
  }
};

template <class T, bool kRight>
void SearchBlock(const Search& search, const JobContext& context, int64_t begin, int64_t end, FirstBad& bad) {
  const char* const number = search.number.Address(context);
  char* const positions = search.positions.Address(context);
  const char* const order = search.has_order ? search.order.Address(context) : nullptr;
  const char* const sequences = search.sequence.Address(context);
  const int64_t last = search.length - 1;
  const int steps = static_cast<int>(std::bit_width(static_cast<uint64_t>(search.length)));
  for (int64_t first = begin; first < end; first += kAbreast) {
    const int64_t n = std::min(kAbreast, end - first);
    T x[kAbreast];
    int64_t row[kAbreast];
    Bisection at[kAbreast];
    for (int64_t i = 0; i < n; ++i) {
      x[i] = At<T>(number, first + i);
      row[i] = search.rows == 1 ? 0 : (first + i) / search.numbers * search.length;
      at[i].left = search.length;
    }
    const auto is_there = [&](int64_t i, int64_t position) {
      const T value = At<T>(sequences, row[i] + position);
      return kRight ? value > x[i] : value >= x[i];
    };
    for (int step = 0; step < steps; ++step) {
      if (order == nullptr && n == kAbreast) {
        for (int64_t i = 0; i < kAbreast; ++i)
          at[i].Step(last, [&](int64_t mid) { return is_there(i, mid); });
        continue;
      }
      for (int64_t i = 0; i < n; ++i) {
        if (at[i].left == 0) continue;
        at[i].Step(last, [&](int64_t mid) {
          const int64_t position = order == nullptr ? mid : At<int64_t>(order, row[i] + mid);
          if (position >= 0 && position <= last) return is_there(i, position);
          bad.Note(row[i] + mid);
          return false;
        });
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      if (search.is_wide) {
        Store(positions + (first + i) * int64_t{sizeof(int64_t)}, at[i].low);
      } else {
        Store(positions + (first + i) * int64_t{sizeof(int32_t)}, static_cast<int32_t>(at[i].low));
      }
    }
  }
}

template <class T>
void RunSearch(const Search& search, const JobContext& context) {
  FirstBad bad;
  const int64_t count = search.rows * search.numbers;
  ForEachBlock((count + kBlock - 1) / kBlock, search.threads, [&](int64_t block) {
    const int64_t begin = block * kBlock;
    const int64_t end = std::min(count, begin + kBlock);
    search.is_right ? SearchBlock<T, true>(search, context, begin, end, bad)
                    : SearchBlock<T, false>(search, context, begin, end, bad);
  });
  const int64_t at = bad.Get();
  if (at == std::numeric_limits<int64_t>::max() || !search.raises) return;
  const auto position = At<int64_t>(search.order.Address(context), at);
  context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION,
               Text(context.api, ": ", search.order_name, " has the value ", position, " at position ", at,
                    ", accepted: 0 to ", search.length - 1, "."));
}

}  // namespace

void Search::Run(const JobContext& context) const noexcept {
  const DefaultFloatEnvironment environment;
  switch (dtype) {
    case ACL_FLOAT:
      return RunSearch<float>(*this, context);
    case ACL_DOUBLE:
      return RunSearch<double>(*this, context);
    case ACL_INT8:
      return RunSearch<int8_t>(*this, context);
    case ACL_UINT8:
      return RunSearch<uint8_t>(*this, context);
    case ACL_INT16:
      return RunSearch<int16_t>(*this, context);
    case ACL_INT32:
      return RunSearch<int32_t>(*this, context);
    default:
      return RunSearch<int64_t>(*this, context);
  }
}

}  // namespace portacl::engine
