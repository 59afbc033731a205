// The library at the end of threads: calls in the destructors of pthread_key_create and of thread_local objects, threads
// that end in the middle of what they do.
// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "acl/sanitizers.h"
#include "base/process/thread_end.h"
#include "gtest/gtest.h"
#include "process/child_process.h"
#include "process/prepared_call.h"
#include "process/simple_call.h"

namespace portacl::testing {
namespace {

constexpr int kRounds = PTHREAD_DESTRUCTOR_ITERATIONS;

// Operators that use all memory that threads keep, a call that fails, and what is known of it afterwards: nullptr when
// all is right.
const char* UseEverything() {
  if (aclrtSetDevice(0) != 0) return "aclrtSetDevice";
  for (auto make : {RepeatedTargets, WideColumns, ShortRowsThatLieAcross}) {
    PreparedCall call = make();
    if (!call.CreateTensors() || call.Plan() != 0 || !call.CreateWorkspace()) return "phase 1";
    if (call.Execute(nullptr) != 0 || aclrtSynchronizeStream(nullptr) != 0) return "phase 2";
    if (!call.Right()) return "result";
  }
  while (aclGetRecentErrMsg() != nullptr) {
  }
  if (aclrtMalloc(nullptr, 1, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_ERROR_INVALID_PARAM) return "aclrtMalloc";
  const char* const message = aclGetRecentErrMsg();
  if (message == nullptr || std::string(message).find("devPtr") == std::string::npos) return "message";
  if (aclrtGetLastError(ACL_RT_THREAD_LEVEL) != ACL_ERROR_INVALID_PARAM) return "last error";
  aclrtContext context = nullptr;
  if (aclrtGetCurrentContext(&context) != 0 || context == nullptr) return "context";
  // A message that nobody asks for is kept.
  return aclrtFree(nullptr) == ACL_ERROR_INVALID_PARAM ? nullptr : "aclrtFree";
}

// The first thing that went wrong in a destructor, and how many there were.
std::atomic<const char*> wrong{nullptr};
std::atomic<int> destructors{0};

void UseInDestructor() {
  ++destructors;
  if (const char* what = UseEverything()) wrong = what;
}

// A key whose destructor uses the library, in each of the rounds from `first` on that its thread has.
struct Key {
  pthread_key_t key;
  int first;

  struct Value {
    const Key* of;
    int round = 0;
  };

  explicit Key(int first_round) : first(first_round) { pthread_key_create(&key, Destroy); }
  ~Key() { pthread_key_delete(key); }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  void Set() const { pthread_setspecific(key, new Value{this}); }

  static void Destroy(void* argument) {
    auto* const value = static_cast<Value*>(argument);
    if (++value->round >= value->of->first) UseInDestructor();
    if (value->round == kRounds) {
      delete value;
    } else {
      pthread_setspecific(value->of->key, value);
    }
  }
};

// Made before the library can have a key of its own, whose destructor therefore comes later in a round.
const Key& EarlyKey(int first_round) {
  static const std::unique_ptr<const Key> keys[] = {
      std::make_unique<const Key>(1), std::make_unique<const Key>(2), std::make_unique<const Key>(3),
      std::make_unique<const Key>(4)};
  return *keys[first_round - 1];
}
const Key& first_early_key = EarlyKey(1);

void RunThread(const std::function<void()>& body) { std::thread(body).join(); }

class ThreadEnd : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(kRounds, 4);
    ASSERT_EQ(aclInit(nullptr), 0);
    ASSERT_EQ(UseEverything(), nullptr);
    wrong = nullptr;
    destructors = 0;
  }
  void TearDown() override {
    EXPECT_EQ(wrong.load(), nullptr) << wrong.load();
    EXPECT_EQ(aclrtResetDeviceForce(0), 0);
    EXPECT_EQ(aclFinalize(), 0);
  }
};

class InRound : public ThreadEnd, public ::testing::WithParamInterface<int> {};

TEST_P(InRound, OfAKeyThatIsOlder) {
  for (const bool used_before : {false, true}) {
    RunThread([&] {
      EarlyKey(GetParam()).Set();
      EXPECT_EQ(used_before ? UseEverything() : nullptr, nullptr);
    });
  }
  EXPECT_EQ(destructors, 2 * (kRounds + 1 - GetParam()));
}

TEST_P(InRound, OfAKeyThatIsYounger) {
  const Key late(GetParam());
  for (const bool used_before : {false, true}) {
    RunThread([&] {
      late.Set();
      EXPECT_EQ(used_before ? UseEverything() : nullptr, nullptr);
    });
  }
  EXPECT_EQ(destructors, 2 * (kRounds + 1 - GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Destructors, InRound, ::testing::Range(1, kRounds + 1));

struct UsesAtItsEnd {
  ~UsesAtItsEnd() { UseInDestructor(); }
};

TEST_F(ThreadEnd, InDestructorsOfThreadLocalObjects) {
  RunThread([] {
    thread_local UsesAtItsEnd made_before;  // destroyed after everything that the call below makes
    (void)&made_before;
    EXPECT_EQ(UseEverything(), nullptr);
    thread_local UsesAtItsEnd made_after;
    (void)&made_after;
  });
  EXPECT_EQ(destructors, 2);
}

TEST_F(ThreadEnd, InADestructorAlone) {
  RunThread([] {
    thread_local UsesAtItsEnd only;
    (void)&only;
  });
  EXPECT_EQ(destructors, 1);
}

// What a thread kept is freed with it; what nobody can free any more, since it was made in the last round of destructors
// or by threads without one, does not pile up.
TEST_F(ThreadEnd, NothingPilesUp) {
  // Threads that help keep something, too, and come when they like.
  ASSERT_EQ(aclFinalize(), 0);
  setenv("PORTACL_NUM_THREADS", "1", 1);
  ASSERT_EQ(aclInit(nullptr), 0);
  unsetenv("PORTACL_NUM_THREADS");
  const size_t before = CountKept();
  constexpr size_t kThreads = 20;
  // Not only when others come.
  std::atomic<size_t> done{0};
  std::atomic<bool> may_end{false};
  std::vector<std::thread> threads;
  for (size_t k = 0; k < kThreads; ++k) {
    threads.emplace_back([&] {
      EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);  // its message is kept, and by nobody else
      ++done;
      while (!may_end) std::this_thread::yield();
    });
  }
  while (done < kThreads) std::this_thread::yield();
  EXPECT_GE(CountKept(), kThreads);
  may_end = true;
  for (std::thread& one : threads) one.join();
  EXPECT_LE(CountKept(), before);
  // Half of what would pile up: the kernel may know a thread for a while after it was joined.
  const Key late(kRounds);
  for (int i = 0; i < 100; ++i) RunThread([&] { late.Set(); });
  EXPECT_EQ(destructors, 100);
  EXPECT_LE(CountKept(), before + 50);
  // Neither while many live: they end together.
  for (int i = 0; i < 5; ++i) {
    threads.clear();
    for (size_t k = 0; k < kThreads; ++k) threads.emplace_back([&] { late.Set(); });
    for (std::thread& one : threads) one.join();
  }
  EXPECT_LE(CountKept(), before + 6 * kThreads);
}

// A forked child's only thread has another number than in the parent, by which it is not taken for one that is gone.
TEST_F(ThreadEnd, AfterFork) {
  const ChildResult result = InChild([] {
    if (aclrtFree(nullptr) != ACL_ERROR_INVALID_PARAM) return 1;
    const Key late(kRounds);
    for (int i = 0; i < 20; ++i) RunThread([&] { late.Set(); });
    const char* const message = aclGetRecentErrMsg();
    if (message == nullptr || std::string(message).find("aclrtFree") == std::string::npos) return 2;
    if (wrong != nullptr || UseEverything() != nullptr) return 3;
    return CountKept() < 20 ? 0 : 4;
  });
  EXPECT_TRUE(result.Succeeded()) << result.code << result.out << result.err;
}

// Threads that end while their work is queued or running, each with a stream of its own or in one for all.
TEST_F(ThreadEnd, WithWorkUnderWay) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  aclrtStream of_all = nullptr;
  ASSERT_EQ(aclrtCreateStream(&of_all), 0);
  constexpr size_t kThreads = 40;
  std::vector<std::unique_ptr<SimpleCall>> calls;
  std::vector<aclrtStream> streams(kThreads, nullptr);
  for (size_t i = 0; i < kThreads; ++i) {
    calls.push_back(std::make_unique<SimpleCall>(i % 4 == 0 ? kBigCall + (1 << 16) : 1000, i));
  }
  for (size_t i = 0; i < kThreads; ++i) {
    std::thread([&, i] {
      EXPECT_EQ(aclrtSetCurrentContext(context), 0);
      EXPECT_EQ(aclrtCreateStream(&streams[i]), 0);
      const aclrtStream stream = i % 2 == 0 ? of_all : streams[i];
      EXPECT_EQ(aclrtLaunchHostFunc(
                    stream, [](void*) { usleep(2000); }, nullptr),
                0);
      EXPECT_TRUE(calls[i]->CreateTensors());
      EXPECT_EQ(calls[i]->Plan(), 0);
      EXPECT_EQ(calls[i]->Execute(stream), 0);
      EXPECT_NE(aclrtFree(nullptr), 0);
    }).join();
  }
  ASSERT_EQ(aclrtSynchronizeDevice(), 0);
  for (const auto& one : calls) EXPECT_TRUE(one->Right());
  for (const aclrtStream one : streams) EXPECT_EQ(aclrtDestroyStream(one), 0);
  EXPECT_EQ(aclrtDestroyStream(of_all), 0);
}

// Its context becomes nobody's current one; others use and destroy it.
TEST_F(ThreadEnd, WithAContextOfItsOwn) {
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  RunThread([&] {
    EXPECT_EQ(aclrtCreateContext(&context, 0), 0);
    EXPECT_EQ(aclrtCreateStream(&stream), 0);
    EXPECT_EQ(aclrtUseStreamResInCurrentThread(stream), 0);
  });
  ASSERT_EQ(aclrtSetCurrentContext(context), 0);
  SimpleCall call(kBigCall);
  EXPECT_TRUE(call.Run(stream));
  EXPECT_EQ(aclrtDestroyContext(context), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
}

// A thread that was subscribed and is gone: nobody calls the callback, but whoever ends the subscription, or the stream,
// does not wait for it.
TEST_F(ThreadEnd, OfAReportThread) {
  for (const bool unsubscribes : {true, false}) {
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), 0);
    uint64_t id = 0;
    RunThread([&] {
      id = pthread_self();
      EXPECT_EQ(aclrtSubscribeReport(id, stream), 0);
    });
    int called = 0;
    const auto count = [](void* number) { ++*static_cast<int*>(number); };
    ASSERT_EQ(aclrtLaunchCallback(count, &called, ACL_CALLBACK_BLOCK, stream), 0);
    SimpleCall call(1000);
    ASSERT_TRUE(call.CreateTensors());
    ASSERT_EQ(call.Plan(), 0);
    ASSERT_EQ(call.Execute(stream), 0);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
    if (unsubscribes) {
      EXPECT_EQ(aclrtUnSubscribeReport(id, stream), 0);
      EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, kPatience), 107015);
      EXPECT_TRUE(call.Right());
    }
    EXPECT_EQ(aclrtDestroyStreamForce(stream), 0);
    EXPECT_EQ(called, 0);
  }
}

}  // namespace
}  // namespace portacl::testing
