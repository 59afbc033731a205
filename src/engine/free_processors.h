// Estimates how many processors the process's other threads leave to the helpers of parallel loops.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace portacl::engine {

// Threads that launch operators, as torch_npu's Python does, have priority over helpers. Taking their
// processor delays everybody, and a helper that loses its processor within a block delays the calling thread.
// Times are in nanoseconds.
class FreeProcessors {
 public:
  // Returns how many of a loop's helpers would find a free processor, as far as known. A caller that asks for
  // more threads than there are processors gets them without a limit.
  int64_t HelpersOf(int threads) const {
    const int64_t wanted = int64_t{threads} - 1;
    if (threads > processors_.load(std::memory_order_relaxed)) return wanted;
    return std::min<int64_t>(wanted, free_.load(std::memory_order_relaxed));
  }

  bool IsToBeCounted(int64_t now) const { return now >= next_.load(std::memory_order_relaxed); }

  // Updates the estimate. `of_others` is the processor time that the process's threads except helpers have
  // used in total. `processors` is the number of processors, or 0 if unknown. One thread at a time calls it.
  // It does nothing if another thread has counted just before, since the interval would be too short.
  void Count(int64_t now, int64_t of_others, int processors) {
    const int64_t passed = now - last_;
    if (!IsToBeCounted(now)) return;
    int known = 0;
    if (processors > 0 && passed < kForgotten) {
      const int64_t left = processors * passed - (of_others - of_others_);
      free_.store(static_cast<int>(std::clamp<int64_t>((left + passed / 2) / passed, 0, processors)),
                  std::memory_order_relaxed);
      known = processors;
    }
    processors_.store(known, std::memory_order_relaxed);
    last_ = now;
    of_others_ = of_others;
    next_.store(now + kBetween, std::memory_order_relaxed);
  }

  static constexpr int64_t kBetween = 5'000'000;
  // An estimate older than this is ignored.
  static constexpr int64_t kForgotten = 100'000'000;

 private:
  std::atomic<int> free_{0};
  std::atomic<int> processors_{0};  // 0: unknown, and there is no limit
  std::atomic<int64_t> next_{0};
  int64_t last_ = -kForgotten;
  int64_t of_others_ = 0;
};

}  // namespace portacl::engine
