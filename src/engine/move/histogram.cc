// Counts and sums by bins (see histogram.h). Threads count blocks of the numbers; one thread adds weights, in
// order.
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/histogram.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/float_environment.h"
#include "engine/is_nan.h"
#include "engine/parallel.h"
#include "engine/tile_size.h"

namespace portacl::engine {
namespace {

// Fewer numbers are not worth another thread.
constexpr int64_t kFewestPerBlock = 32768;
constexpr int kMostBlocks = 64;

int64_t CountThreadBlocks(const Histogram& histogram) {
  if (histogram.is_weighed) return 1;
  // Each block has the cost of clearing and adding its own bins.
  const int64_t worth = histogram.count / std::max(kFewestPerBlock, 2 * histogram.bins);
  return std::clamp<int64_t>(worth, 1, std::clamp(histogram.threads, 1, kMostBlocks));
}

// Elements [first, first + n) of a stream, n <= kTile, dense and converted.
template <class T>
class Tiles {
 public:
  Tiles(const Histogram& histogram, const Histogram::Stream& stream, const JobContext& context)
      : histogram_(histogram), stream_(stream), base_(stream.buffer.Address(context)) {}

  const T* Get(int64_t first, int64_t n) {
    const Conversion& conversion = *stream_.conversion;
    const char* from = base_ + first * stream_.step;
    if (stream_.step != conversion.from_size) {
      histogram_.gather(from, stream_.step, conversion.from_size, gathered_, n);
      from = gathered_;
    }
    if (conversion.KeepsBytes()) {
      std::memcpy(converted_, from, static_cast<size_t>(n) * sizeof(T));
    } else {
      conversion.Run(from, converted_, static_cast<size_t>(n), /*stream=*/false);
    }
    return converted_;
  }

 private:
  const Histogram& histogram_;
  const Histogram::Stream& stream_;
  const char* base_;
  alignas(64) char gathered_[kRawBytes];
  alignas(64) T converted_[kTile];
};

template <class Use>
void ForEachTile(int64_t begin, int64_t end, const Use& use) {
  for (int64_t first = begin; first < end; first += kTile) use(first, std::min<int64_t>(end - first, kTile));
}

template <class T>
struct Bounds {
  T low;
  T high;
};

template <class T>
void Find(const Histogram& histogram, const JobContext& context, Bounds<T>& bounds) {
  Tiles<T> tiles(histogram, histogram.numbers, context);
  bool is_any = false;
  ForEachTile(0, histogram.count, [&](int64_t first, int64_t n) {
    const T* const x = tiles.Get(first, n);
    for (int64_t i = 0; i < n; ++i) {
      if (IsNan(x[i])) continue;
      bounds.low = is_any ? std::min(bounds.low, x[i]) : x[i];
      bounds.high = is_any ? std::max(bounds.high, x[i]) : x[i];
      is_any = true;
    }
  });
  if (bounds.low == bounds.high) {
    // The extreme integers cannot be widened.
    if (bounds.low > std::numeric_limits<T>::lowest()) bounds.low -= 1;
    if (bounds.high < std::numeric_limits<T>::max()) bounds.high += 1;
  }
}

int64_t BinOf(float x, int64_t bins, const Bounds<float>& bounds) {
  const float scaled = (x - bounds.low) * static_cast<float>(bins) / (bounds.high - bounds.low);
  if (!(scaled >= 0)) return -1;  // between infinite bounds
  return scaled < static_cast<float>(bins) ? std::min(static_cast<int64_t>(scaled), bins - 1) : bins - 1;
}
__extension__ typedef __int128 Wide;
int64_t BinOf(int64_t x, int64_t bins, const Bounds<int64_t>& bounds) {
  const Wide scaled = (Wide{x} - bounds.low) * bins / (Wide{bounds.high} - bounds.low);
  return std::min(static_cast<int64_t>(scaled), bins - 1);
}

// Adds all blocks' counts to those of the first.
void AddBlocks(int64_t* counts, int64_t bins, int64_t blocks) {
  for (int64_t block = 1; block < blocks; ++block) {
    for (int64_t bin = 0; bin < bins; ++bin) counts[bin] += counts[block * bins + bin];
  }
}

// Clears a set of bins for each block and calls count(begin, end, bins).
template <class Count>
void CountBlocks(const Histogram& histogram, const JobContext& context, const Count& count) {
  auto* const counts = reinterpret_cast<int64_t*>(histogram.sums.Address(context));
  const int64_t blocks = CountThreadBlocks(histogram);
  const int64_t thread_block = (histogram.count + blocks - 1) / blocks;
  ForEachBlock(blocks, histogram.threads, [&](int64_t block) {
    int64_t* const own = counts + block * histogram.bins;
    std::fill_n(own, histogram.bins, 0);
    count(block * thread_block, std::min(histogram.count, (block + 1) * thread_block), own);
  });
  AddBlocks(counts, histogram.bins, blocks);
}

template <class T>
void CountBetween(const Histogram& histogram, const JobContext& context, Bounds<T> bounds) {
  if (histogram.finds_bounds) Find(histogram, context, bounds);
  CountBlocks(histogram, context, [&](int64_t begin, int64_t end, int64_t* counts) {
    Tiles<T> tiles(histogram, histogram.numbers, context);
    ForEachTile(begin, end, [&](int64_t first, int64_t n) {
      const T* const x = tiles.Get(first, n);
      for (int64_t i = 0; i < n; ++i) {
        if (!(x[i] >= bounds.low && x[i] <= bounds.high)) continue;
        const int64_t bin = BinOf(x[i], histogram.bins, bounds);
        if (bin >= 0) ++counts[bin];
      }
    });
  });
}

// Calls add(i, bin) for each integer of the tile; returns the position of the first bad one.
template <class Add>
int64_t ForEachInteger(const Histogram& histogram, int64_t first, int64_t n, const int64_t* integers,
                       const Add& add) {
  int64_t bad = std::numeric_limits<int64_t>::max();
  const auto bins = static_cast<uint64_t>(histogram.bins);
  for (int64_t i = 0; i < n; ++i) {
    if (static_cast<uint64_t>(integers[i]) < bins) {
      add(i, integers[i]);
    } else {
      bad = std::min(bad, first + i);
    }
  }
  return bad;
}

template <class T>
int64_t SumWeights(const Histogram& histogram, const JobContext& context) {
  auto* const sums = reinterpret_cast<T*>(histogram.sums.Address(context));
  std::fill_n(sums, histogram.bins, T{0});
  Tiles<int64_t> integers(histogram, histogram.numbers, context);
  Tiles<T> weights(histogram, histogram.weights, context);
  int64_t bad = std::numeric_limits<int64_t>::max();
  ForEachTile(0, histogram.count, [&](int64_t first, int64_t n) {
    const T* const weight = weights.Get(first, n);
    bad = std::min(bad, ForEachInteger(histogram, first, n, integers.Get(first, n),
                                       [&](int64_t i, int64_t bin) { sums[bin] += weight[i]; }));
  });
  return bad;
}

int64_t CountIntegers(const Histogram& histogram, const JobContext& context) {
  std::atomic<int64_t> bad{std::numeric_limits<int64_t>::max()};
  CountBlocks(histogram, context, [&](int64_t begin, int64_t end, int64_t* counts) {
    Tiles<int64_t> integers(histogram, histogram.numbers, context);
    int64_t found = std::numeric_limits<int64_t>::max();
    ForEachTile(begin, end, [&](int64_t first, int64_t n) {
      found = std::min(found, ForEachInteger(histogram, first, n, integers.Get(first, n),
                                             [&](int64_t, int64_t bin) { ++counts[bin]; }));
    });
    int64_t seen = bad.load(std::memory_order_relaxed);
    while (found < seen && !bad.compare_exchange_weak(seen, found, std::memory_order_relaxed)) {
    }
  });
  return bad.load(std::memory_order_relaxed);
}

}  // namespace

int64_t HistogramMemory(const Histogram& histogram) noexcept {
  return CountThreadBlocks(histogram) * histogram.bins * int64_t{sizeof(int64_t)};
}

void Histogram::Run(const JobContext& context) const noexcept {
  const DefaultFloatEnvironment environment;
  if (kind == Kind::kFloat) return CountBetween<float>(*this, context, {low, high});
  if (kind == Kind::kInteger) return CountBetween<int64_t>(*this, context, {integer_low, integer_high});
  int64_t bad = 0;
  if (is_weighed) {
    bad = is_weight_float ? SumWeights<float>(*this, context) : SumWeights<double>(*this, context);
  } else {
    bad = CountIntegers(*this, context);
  }
  if (bad == std::numeric_limits<int64_t>::max() || !raises) return;
  Tiles<int64_t> integers(*this, numbers, context);
  context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION,
               Text(context.api, ": ", name, " has the value ", *integers.Get(bad, 1), " at position ", bad,
                    ", accepted: 0 to ", bins - 1, "."));
}

}  // namespace portacl::engine
