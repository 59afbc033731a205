// Operators called from inside a program's own TBB tasks: no deadlock, right results, and never a task of the
// program's run inside one of our calls.
// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "process/simple_call.h"
#include "support/environment.h"
#include "support/patience.h"

namespace portacl::testing {
namespace {

// Whether this thread is inside a call of ours.
thread_local bool inside_call = false;

class UserTbb : public ::testing::Test {
 protected:
  void SetUp() override {
    alarm(kPatienceSeconds);  // a deadlock ends the test
    environment_ = std::make_unique<ScopedEnvironment>(Variables{{"PORTACL_NUM_THREADS", "4"}});
  }
  void TearDown() override {
    environment_.reset();
    alarm(0);
  }

  // A task of the program: it must not be taken up by a thread that waits inside a call of ours.
  void Task(uint32_t variant, size_t n = kBigCall) {
    if (inside_call) ++stolen_;
    SimpleCall call(n, variant);
    aclrtStream stream = nullptr;
    const bool ready = aclrtSetDevice(0) == ACL_SUCCESS && aclrtCreateStream(&stream) == ACL_SUCCESS;
    inside_call = true;
    const bool right = ready && call.Run(variant % 2 == 0 ? stream : nullptr);
    inside_call = false;
    if (!right) ++wrong_;
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    ++done_;
  }

  void ExpectAll(int tasks) {
    EXPECT_EQ(done_, tasks);
    EXPECT_EQ(wrong_, 0);
    EXPECT_EQ(stolen_, 0) << "tasks of the program ran inside our calls";
  }

  // More threads than this machine may have processors: interleavings that it would not see otherwise.
  const tbb::global_control threads_{tbb::global_control::max_allowed_parallelism, 8};
  std::atomic<int> done_{0};
  std::atomic<int> wrong_{0};
  std::atomic<int> stolen_{0};

 private:
  std::unique_ptr<ScopedEnvironment> environment_;
};

TEST_F(UserTbb, InsideParallelFor) {
  tbb::parallel_for(
      0, 64, [&](int i) { Task(static_cast<uint32_t>(i)); }, tbb::simple_partitioner());
  ExpectAll(64);
}

TEST_F(UserTbb, InsideNestedParallelFor) {
  tbb::parallel_for(0, 6, [&](int i) {
    tbb::parallel_for(0, 6, [&](int j) {
      Task(static_cast<uint32_t>(i));
      tbb::parallel_for(0, 2, [&](int k) { Task(static_cast<uint32_t>(j + k), 50000); });
    });
  });
  ExpectAll(6 * 6 * 3);
}

TEST_F(UserTbb, InsideArenasOfTheProgram) {
  for (const int size : {1, 2, 3}) {
    tbb::task_arena arena(size);
    arena.execute([&] {
      tbb::parallel_for(
          0, 16, [&](int i) { Task(static_cast<uint32_t>(i)); }, tbb::simple_partitioner());
    });
  }
  ExpectAll(48);
}

TEST_F(UserTbb, InsideTaskGroup) {
  tbb::task_group group;
  for (int i = 0; i < 40; ++i) group.run([this, i] { Task(static_cast<uint32_t>(i)); });
  group.wait();
  ExpectAll(40);
}

TEST_F(UserTbb, BesideThreadsOfTheProgram) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 8; ++i) Task(static_cast<uint32_t>(t + i));
    });
  }
  tbb::parallel_for(
      0, 24, [&](int i) { Task(static_cast<uint32_t>(i)); }, tbb::simple_partitioner());
  for (std::thread& thread : threads) thread.join();
  ExpectAll(6 * 8 + 24);
}

// What a program limits for its own use of TBB must not stop us, only slow us down.
TEST_F(UserTbb, UnderALimitOfOneThread) {
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  tbb::parallel_for(0, 8, [&](int i) { Task(static_cast<uint32_t>(i)); });
  ExpectAll(8);
}

}  // namespace
}  // namespace portacl::testing
