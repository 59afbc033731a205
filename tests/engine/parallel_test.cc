// Parallel loops: every block once, and all of them done when the loop returns.
// SPDX-License-Identifier: Apache-2.0
#include "engine/parallel.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace portacl::engine {
namespace {

TEST(ForEachBlock, TakesEveryBlockOnce) {
  for (const int threads : {0, 1, 2, 7}) {
    for (const int64_t blocks : {0, 1, 2, 31, 32, 1000}) {
      std::vector<std::atomic<int>> taken(static_cast<size_t>(blocks));
      ForEachBlock(blocks, threads, [&](int64_t block) { taken[static_cast<size_t>(block)].fetch_add(1); });
      for (const std::atomic<int>& times : taken) ASSERT_EQ(times.load(), 1) << blocks << " on " << threads;
    }
  }
}

// The calling thread runs out of blocks while another one is inside one, and must wait for it, longer than it looks
// out without falling asleep.
TEST(ForEachBlock, ReturnsWhenEveryBlockIsDone) {
  static constexpr int64_t kBlocks = 64;
  struct State {
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<bool> helper_began{false};
    std::atomic<int64_t> done{0};
  };
  static State state;  // outlives a loop that returns too early
  for (int round = 0; round < 5; ++round) {
    state.helper_began = false;
    state.done = 0;
    ForEachBlock(kBlocks, 2, [](int64_t) {
      if (std::this_thread::get_id() != state.caller) {
        state.helper_began = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
      for (int i = 0; i < 10'000 && !state.helper_began; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      state.done.fetch_add(1);
    });
    ASSERT_EQ(state.done.load(), kBlocks) << "round " << round;
    ASSERT_TRUE(state.helper_began.load()) << "nobody came to help";
  }
}

}  // namespace
}  // namespace portacl::engine
