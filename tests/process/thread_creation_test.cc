// Threads that cannot be created, as under a limit of processes: operators still give right results, on the threads
// that there are.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "gtest/gtest.h"
#include "process/child_process.h"
#include "process/simple_call.h"

namespace {

// How many threads may live beside the first one, and how many do.
std::atomic<int> limit{1 << 30};
std::atomic<int> living{0};
std::atomic<int> refused{0};

struct Start {
  void* (*function)(void*);
  void* argument;
};

void* RunAndCount(void* argument) {
  const Start start = *static_cast<Start*>(argument);
  delete static_cast<Start*>(argument);
  const struct Leaving {
    ~Leaving() { --living; }
  } leaving;  // also when the thread ends in the middle
  return start.function(start.argument);
}

}  // namespace

// Comes before the system's own, also for the libraries that this program uses.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                              void* argument) noexcept {
  if (++living > limit) {
    --living;
    ++refused;
    return EAGAIN;
  }
  using Function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, RunAndCount, new Start{function, argument});
}

namespace portacl::testing {
namespace {

// Operators while only `first` more threads can live, then while `later` can, below or above what there is by then.
// Ends by exit(), so that the end of the process is part of it.
ChildResult Compute(int first, int later) {
  return InChild([&] {
    if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 1;
    SimpleCall big(kBigCall);
    SimpleCall small(1000);
    limit = first;
    for (int i = 0; i < 20; ++i) {
      if (!big.Run(nullptr) || !small.Run(nullptr)) return 2;
    }
    if (first < 3 && refused == 0) return 3;
    limit = later;
    for (int i = 0; i < 20; ++i) {
      if (!big.Run(nullptr) || !small.Run(nullptr)) return 4;
    }
    // Another number of threads, so that new ones are wanted.
    if (aclrtResetDevice(0) != 0 || aclFinalize() != 0) return 5;
    setenv("PORTACL_NUM_THREADS", "6", 1);
    if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 6;
    for (int i = 0; i < 20; ++i) {
      if (!big.Run(nullptr) || !small.Run(nullptr)) return 7;
    }
    big.DestroyTensors();
    small.DestroyTensors();
    if (aclrtResetDevice(0) != 0 || aclFinalize() != 0) return 8;
    std::exit(0);
  });
}

class ThreadCreation : public ::testing::TestWithParam<int> {};

TEST_P(ThreadCreation, FailsOrSucceedsLater) {
  for (const int later : {0, 1, 2, 100}) {
    setenv("PORTACL_NUM_THREADS", "4", 1);
    const ChildResult result = Compute(GetParam(), later);
    EXPECT_TRUE(result.Succeeded()) << GetParam() << " threads, then " << later << ": "
                                    << (result.exited ? "exit code " : "signal ") << result.code << "\n"
                                    << result.out << result.err;
    EXPECT_EQ(result.out + result.err, "");
  }
}

// A host function ends its worker, and there cannot be another one: what is queued behind it is done all the same.
TEST(ThreadCreationOfWorkers, AWorkerThatEndsAndCannotBeReplaced) {
  const ChildResult result = InChild([] {
    setenv("PORTACL_NUM_THREADS", "1", 1);
    limit = 1;
    if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 1;
    aclrtStream streams[3];
    for (aclrtStream& one : streams) {
      if (aclrtCreateStream(&one) != 0) return 2;
    }
    static std::atomic<int> called{0};
    const auto end = [](void*) { pthread_exit(nullptr); };
    const auto count = [](void*) { ++called; };
    // The host functions of the other streams wait for the only worker.
    if (aclrtLaunchHostFunc(streams[0], end, nullptr) != 0) return 3;
    for (aclrtStream one : streams) {
      if (aclrtLaunchHostFunc(one, count, nullptr) != 0) return 4;
    }
    for (aclrtStream one : streams) {
      if (aclrtSynchronizeStreamWithTimeout(one, kPatience) != (one == streams[0] ? 507000 : 0)) return 5;
    }
    if (called != 3) return 6;
    // The next one is a new one, or still there.
    SimpleCall big(kBigCall);
    if (!big.Run(streams[0])) return 7;
    if (aclrtLaunchHostFunc(streams[1], count, nullptr) != 0) return 8;
    if (aclrtSynchronizeStreamWithTimeout(streams[1], kPatience) != 0) return 9;
    return called == 4 ? 0 : 10;
  });
  EXPECT_TRUE(result.Succeeded()) << (result.exited ? "exit code " : "signal ") << result.code << "\n"
                                  << result.out << result.err;
}

INSTANTIATE_TEST_SUITE_P(With, ThreadCreation, ::testing::Range(0, 5));

}  // namespace
}  // namespace portacl::testing
