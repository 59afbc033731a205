// How many processors the process's other threads leave to the helpers of parallel loops.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace portacl::engine {

// A thread that launches, as torch_npu's Python does, is worth more than a helper: who takes its processor makes everybody wait, and a helper
// that has lost its own in the middle of a block makes the calling thread wait. Times are in nanoseconds.
class FreeProcessors {
 public:
  // How many of a loop's helpers would find a processor, as far as is known. Who asks for more threads than there are processors gets them:
  // it is not for these that they are asked for.
  int64_t HelpersOf(int threads) const {
    const int64_t wanted = int64_t{threads} - 1;
    if (threads > processors_.load(std::memory_order_relaxed)) return wanted;
    return std::min<int64_t>(wanted, free_.load(std::memory_order_relaxed));
  }

  bool IsToBeCounted(int64_t now) const { return now >= next_.load(std::memory_order_relaxed); }

  // From what the process's threads but helpers have taken of the processors since the last time; of which there are so many, or 0: not
  // known. One thread at a time. It does nothing where another one has counted meanwhile: of less time there is nothing to tell.
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
  // What lies so far back says nothing about the present.
  static constexpr int64_t kForgotten = 100'000'000;

 private:
  std::atomic<int> free_{0};
  std::atomic<int> processors_{0};  // 0: not known, so there is no cap
  std::atomic<int64_t> next_{0};
  int64_t last_ = -kForgotten;
  int64_t of_others_ = 0;
};

}  // namespace portacl::engine
