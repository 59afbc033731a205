// Parallel loops: every block once, and all of them done when the loop returns.
// SPDX-License-Identifier: Apache-2.0
#include "engine/parallel.h"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/free_processors.h"

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

// Whoever asks for more threads than there are processors has them: every block waits until as many threads have come. Rounds are
// 6 ms apart, so that it is known all the time how many processors are free.
TEST(ForEachBlock, HasMoreThreadsThanProcessors) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  struct State {
    std::atomic<int> threads;
    std::atomic<int> came{0};
  };
  for (int round = 0; round < 8; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(6));
    State state;
    state.threads = CPU_COUNT(&all) + 5;
    ForEachBlock(
        state.threads, state.threads,
        [&state](int64_t) {
          state.came.fetch_add(1);
          for (int i = 0; i < 10'000 && state.came < state.threads; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          if (state.came < state.threads) state.threads = 0;  // the others need not wait
        },
        BlockLength::kLong);
    ASSERT_EQ(state.came.load(), CPU_COUNT(&all) + 5);
    ASSERT_EQ(state.threads, CPU_COUNT(&all) + 5) << "not all came in round " << round;
  }
}

// Of four processors.
TEST(FreeProcessors, AreWhatOthersLeave) {
  constexpr int64_t kMs = 1'000'000;
  FreeProcessors free;
  EXPECT_EQ(free.HelpersOf(4), 3) << "nothing is known";
  int64_t now = 1000 * kMs;
  int64_t of_others = 700 * kMs;
  const auto count = [&](int64_t passed, int64_t taken) {
    now += passed;
    of_others += taken;
    free.Count(now, of_others, 4);
  };
  count(0, 0);
  EXPECT_EQ(free.HelpersOf(4), 3) << "the last time is long ago";
  count(10 * kMs, 10 * kMs);  // the calling thread is always busy
  EXPECT_EQ(free.HelpersOf(4), 3);
  EXPECT_EQ(free.HelpersOf(2), 1);
  EXPECT_EQ(free.HelpersOf(1), 0);
  count(10 * kMs, 24 * kMs);
  EXPECT_EQ(free.HelpersOf(4), 2) << "1.6 are";
  EXPECT_EQ(free.HelpersOf(5), 4) << "more than there are processors";
  count(10 * kMs, 26 * kMs);
  EXPECT_EQ(free.HelpersOf(4), 1) << "1.4 are";
  count(10 * kMs, 60 * kMs);
  EXPECT_EQ(free.HelpersOf(4), 0);
  EXPECT_EQ(free.HelpersOf(7), 6);
  // Who comes when another one has just counted changes nothing, also at the same time.
  EXPECT_FALSE(free.IsToBeCounted(now));
  EXPECT_FALSE(free.IsToBeCounted(now + FreeProcessors::kBetween - 1));
  EXPECT_TRUE(free.IsToBeCounted(now + FreeProcessors::kBetween));
  count(0, 0);
  EXPECT_EQ(free.HelpersOf(4), 0);
  count(kMs, 0);
  EXPECT_EQ(free.HelpersOf(4), 0);
  count(9 * kMs, 10 * kMs);  // of the 10 ms since it was counted
  EXPECT_EQ(free.HelpersOf(4), 3);
  count(10 * kMs, 40 * kMs);
  EXPECT_EQ(free.HelpersOf(4), 0);
  count(FreeProcessors::kForgotten, 400 * kMs);
  EXPECT_EQ(free.HelpersOf(4), 3) << "forgotten";
  count(10 * kMs, 40 * kMs);
  EXPECT_EQ(free.HelpersOf(4), 0);
  now += 10 * kMs;
  free.Count(now, of_others, 0);
  EXPECT_EQ(free.HelpersOf(4), 3) << "how many there are is not known";
}

// A helper sleeps as one that keeps off the calling thread's processor. Awake it may run wherever it might before,
// also where the loop comes from another processor than the one before.
TEST(ForEachBlock, EveryThreadMayRunWhereTheProgramMay) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &all)) processors.push_back(i);
  }
  struct State {
    std::thread::id caller = std::this_thread::get_id();
    const cpu_set_t* all;
    std::atomic<bool> helper_began{false};
    std::atomic<int> restricted{0};
  };
  for (int round = 0; round < 10; ++round) {
    State state;
    state.all = &all;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // helpers fall asleep
    ForEachBlock(64, 3, [&state](int64_t) {
      if (std::this_thread::get_id() != state.caller) {
        cpu_set_t now;
        if (sched_getaffinity(0, sizeof now, &now) != 0 || !CPU_EQUAL(&now, state.all))
          state.restricted.fetch_add(1);
        state.helper_began = true;
      }
      for (int i = 0; i < 10'000 && !state.helper_began; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    EXPECT_TRUE(state.helper_began.load()) << "nobody came to help in round " << round;
    EXPECT_EQ(state.restricted.load(), 0) << "in round " << round;
    // The calling thread moves on. Helpers that began in the first round are not bound by where it may run now.
    cpu_set_t next;
    CPU_ZERO(&next);
    CPU_SET(processors[static_cast<size_t>(round) % processors.size()], &next);
    ASSERT_EQ(sched_setaffinity(0, sizeof next, &next), 0);
  }
  EXPECT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

}  // namespace
}  // namespace portacl::engine
