// Eight threads, sixty-four streams, everything at random; results are checked and nothing may be left over. Then
// threads against each other: one feeds and one waits, some record and some wait, some end in the middle.
// Three seconds and half a second each, or sixty and ten with PORTACL_LONG_TESTS=1 in the environment.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "acl/runtime_fixture.h"
#include "aclnnop/families/loss.h"

namespace {

constexpr int kThreads = 8;
constexpr int kOwnStreams = 7;     // of each thread; it alone submits to them and destroys them
constexpr int kSharedStreams = 8;  // used by all threads at once
constexpr int64_t kMostElements = 40'000;

struct Totals {
  std::atomic<int64_t> calls{0}, elements_checked{0}, waits{0}, streams_destroyed{0}, resets{0};
};

// Events that any thread may wait for. An event is only destroyed when no thread is about to use it.
class EventBoard {
 public:
  // Returns the event that was there before.
  aclrtEvent Put(size_t slot, aclrtEvent event) {
    std::lock_guard lock(slots_[slot].mutex);
    return std::exchange(slots_[slot].event, event);
  }
  // Calls use(event) while the event cannot be destroyed; not if there is none.
  template <class Use>
  void With(size_t slot, const Use& use) {
    std::lock_guard lock(slots_[slot].mutex);
    if (slots_[slot].event != nullptr) use(slots_[slot].event);
  }
  static constexpr size_t kSlots = 32;

 private:
  struct Slot {
    std::mutex mutex;
    aclrtEvent event = nullptr;
  };
  Slot slots_[kSlots];
};

struct Inputs {
  portacl::testing::MappedVector<float> grad, self, target;
};

const Inputs& TheInputs() {
  static const Inputs* inputs = [] {
    auto* made = new Inputs;
    for (int64_t i = 0; i < kMostElements; ++i) {
      made->grad.push_back(static_cast<float>(i % 1000) + 0.25f);
      made->self.push_back(static_cast<float>(i * 3 % 17));
      made->target.push_back(static_cast<float>(i * 5 % 13));
    }
    return made;
  }();
  return *inputs;
}

// The inputs are whole numbers, for which all three formulas are exact; with beta 1 the first two agree.
enum class Operator { kL1, kSmoothL1, kKlDiv };

float FactorAt(Operator of, int64_t i) {
  const Inputs& in = TheInputs();
  const auto k = static_cast<size_t>(i);
  if (of == Operator::kKlDiv) return -in.target[k];
  return in.self[k] > in.target[k] ? 1.0f : in.self[k] < in.target[k] ? -1.0f : 0.0f;
}

// What one stream has computed since it was last checked: each buffer holds the result of the last operator on
// it.
struct Buffer {
  portacl::testing::MappedVector<float> out = portacl::testing::MappedVector<float>(size_t{kMostElements});
  int64_t count = 0;
  Operator of = Operator::kL1;
  int times = 1;  // how many operators in a row, each over the result of the one before
};

class Client {
 public:
  Client(int number, aclrtContext context, aclrtStream* shared, EventBoard& board, Totals& totals)
      : random_(static_cast<unsigned>(number) + 1),
        number_(number),
        context_(context),
        shared_(shared),
        board_(board),
        totals_(totals) {}

  void Run(std::chrono::steady_clock::time_point end) {
    Check(aclrtSetCurrentContext(context_));
    for (auto& stream : own_) Check(aclrtCreateStream(&stream));
    for (int i = 0; i < 4; ++i) NewEvent(static_cast<size_t>(number_ * 4 + i));
    while (std::chrono::steady_clock::now() < end && !::testing::Test::HasFailure()) {
      for (int i = 0; i < 50; ++i) Step();
    }
    for (size_t i = 0; i < kOwnStreams; ++i) CheckOwn(i);
    for (size_t i = 0; i < kSharedStreams; ++i) CheckShared(i);
    for (auto& stream : own_) Check(aclrtDestroyStream(stream));
    for (int i = 0; i < 4; ++i) DropEvent(static_cast<size_t>(number_ * 4 + i));
    EXPECT_EQ(host_calls_.load(), host_calls_expected_);
  }

 private:
  static void Check(int status) {
    if (status == ACL_SUCCESS) return;
    const char* text = aclGetRecentErrMsg();
    ADD_FAILURE() << status << ": " << (text == nullptr ? "" : text);
  }
  size_t Pick(size_t below) { return random_() % below; }

  void NewEvent(size_t slot) {
    aclrtEvent event = nullptr;
    Check(Pick(2) == 0 ? aclrtCreateEvent(&event) : aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    board_.Put(slot, event);
  }
  void DropEvent(size_t slot) {
    if (aclrtEvent event = board_.Put(slot, nullptr)) Check(aclrtDestroyEvent(event));
  }

  void Launch(aclrtStream stream, Operator of, const float* grad, float* out, int64_t n,
              bool repeatable = false) {
    const Inputs& in = TheInputs();
    const auto tensor = [n](const float* data) {
      return aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, const_cast<float*>(data));
    };
    aclTensor* const g = tensor(grad);
    aclTensor* const s = tensor(in.self.data());
    aclTensor* const t = tensor(in.target.data());
    aclTensor* const o = tensor(repeatable ? scratch_.data() : out);
    uint64_t workspace = 0;
    aclOpExecutor* executor = nullptr;
    auto phase2 = aclnnL1LossBackward;
    if (of == Operator::kL1) {
      Check(aclnnL1LossBackwardGetWorkspaceSize(g, s, t, 0, o, &workspace, &executor));
    } else if (of == Operator::kSmoothL1) {
      phase2 = aclnnSmoothL1LossBackward;
      Check(aclnnSmoothL1LossBackwardGetWorkspaceSize(g, s, t, 0, 1.0f, o, &workspace, &executor));
    } else {
      phase2 = aclnnKlDivBackward;
      Check(aclnnKlDivBackwardGetWorkspaceSize(g, s, t, 0, false, o, &workspace, &executor));
    }
    if (repeatable) {
      Check(aclSetAclOpExecutorRepeatable(executor));
      Check(aclSetOutputTensorAddr(executor, 0, o, out));
      Check(phase2(nullptr, 0, executor, stream));
    }
    Check(phase2(nullptr, 0, executor, stream));
    if (repeatable) Check(aclDestroyAclOpExecutor(executor));
    for (aclTensor* one : {g, s, t, o}) aclDestroyTensor(one);
    ++totals_.calls;
  }

  // Mostly small, so that both ways of running are met.
  int64_t Size() {
    return Pick(4) == 0 ? 1 + static_cast<int64_t>(Pick(kMostElements)) : 1 + static_cast<int64_t>(Pick(500));
  }

  void LaunchInto(aclrtStream stream, Buffer& buffer) {
    buffer.count = Size();
    buffer.times = 1;
    buffer.of = static_cast<Operator>(Pick(3));
    Launch(stream, buffer.of, TheInputs().grad.data(), buffer.out.data(), buffer.count, Pick(4) == 0);
  }

  void Verify(Buffer& buffer) {
    int64_t wrong = 0;
    for (int64_t i = 0; i < buffer.count; ++i) {
      float expected = TheInputs().grad[static_cast<size_t>(i)];
      for (int t = 0; t < buffer.times; ++t) expected *= FactorAt(buffer.of, i);
      wrong += buffer.out[static_cast<size_t>(i)] != expected;
    }
    EXPECT_EQ(wrong, 0) << "of " << buffer.count;
    totals_.elements_checked += buffer.count;
  }
  void CheckOwn(size_t i) {
    Check(aclrtSynchronizeStream(own_[i]));
    for (Buffer& one : own_buffers_[i]) Verify(one);
  }
  void CheckShared(size_t i) {
    Check(aclrtSynchronizeStream(shared_[i]));
    Verify(shared_buffers_[i]);
  }

  // A result goes from one stream to the next one, and the first waits until it was read.
  void PassOn(size_t from, size_t to) {
    if (from == to) return;
    Buffer& source = own_buffers_[from][0];
    Buffer& target = own_buffers_[to][1];
    source.count = target.count = Size();
    source.times = 1;
    target.times = 2;
    aclrtEvent written = nullptr;
    aclrtEvent read = nullptr;
    Check(aclrtCreateEvent(&written));
    Check(aclrtCreateEvent(&read));
    source.of = target.of = static_cast<Operator>(Pick(3));
    Launch(own_[from], source.of, TheInputs().grad.data(), source.out.data(), source.count);
    Check(aclrtRecordEvent(written, own_[from]));
    Check(aclrtStreamWaitEvent(own_[to], written));
    Launch(own_[to], source.of, source.out.data(), target.out.data(), target.count);
    Check(aclrtRecordEvent(read, own_[to]));
    Check(aclrtStreamWaitEvent(own_[from], read));
    Check(aclrtDestroyEvent(written));
    if (Pick(2) == 0) Check(aclrtSynchronizeEvent(read));
    Check(aclrtDestroyEvent(read));
    totals_.waits += 2;
  }

  void OtherDevice() {
    Check(aclrtSetDevice(1));
    aclrtStream stream = nullptr;
    Check(aclrtCreateStream(&stream));
    LaunchInto(nullptr, elsewhere_);
    Check(aclrtSynchronizeStream(nullptr));
    Verify(elsewhere_);
    LaunchInto(stream, elsewhere_);
    if (Pick(2) == 0) {
      Check(aclrtSynchronizeDevice());
    } else {
      Check(aclrtDestroyStream(stream));
      stream = nullptr;
    }
    Verify(elsewhere_);
    if (stream != nullptr) Check(aclrtDestroyStream(stream));
    Check(aclrtResetDevice(1));
    Check(aclrtSetCurrentContext(context_));
    ++totals_.resets;
  }

  void OwnContext() {
    aclrtContext context = nullptr;
    Check(aclrtCreateContext(&context, 0));
    LaunchInto(nullptr, elsewhere_);
    Check(aclrtDestroyContext(context));
    Verify(elsewhere_);
    Check(aclrtSetCurrentContext(context_));
  }

  void Step() {
    const size_t own = Pick(kOwnStreams);
    const size_t shared = Pick(kSharedStreams);
    const size_t slot = static_cast<size_t>(number_ * 4) + Pick(4);
    switch (Pick(20)) {
      case 0:
      case 1:
      case 2:
      case 3:
        LaunchInto(own_[own], own_buffers_[own][2 + Pick(2)]);
        break;
      case 4:
      case 5:
        LaunchInto(shared_[shared], shared_buffers_[shared]);
        break;
      case 6:
        ++host_calls_expected_;
        Check(aclrtLaunchHostFunc(
            Pick(2) == 0 ? own_[own] : shared_[shared],
            [](void* count) { ++*static_cast<std::atomic<int64_t>*>(count); }, &host_calls_));
        break;
      case 7:
      case 8:
        board_.With(slot, [&](aclrtEvent event) {
          Check(aclrtRecordEvent(event, Pick(2) == 0 ? own_[own] : shared_[shared]));
        });
        break;
      case 9:
      case 10:
        board_.With(Pick(EventBoard::kSlots), [&](aclrtEvent event) {
          Check(aclrtStreamWaitEvent(Pick(2) == 0 ? own_[own] : shared_[shared], event));
        });
        ++totals_.waits;
        break;
      case 11:
        board_.With(slot, [&](aclrtEvent event) { Check(aclrtResetEvent(event, own_[own])); });
        break;
      case 12:
        board_.With(slot, [&](aclrtEvent event) {
          aclrtEventRecordedStatus status;
          aclrtEventWaitStatus waits;
          Check(aclrtQueryEventStatus(event, &status));
          Check(aclrtQueryEventWaitStatus(event, &waits));
          const int waited = aclrtSynchronizeEventWithTimeout(event, static_cast<int>(Pick(2)));
          EXPECT_TRUE(waited == ACL_SUCCESS || waited == ACL_ERROR_RT_EVENT_SYNC_TIMEOUT) << waited;
        });
        break;
      case 13:
        DropEvent(slot);
        NewEvent(slot);
        break;
      case 14:
        CheckOwn(own);
        break;
      case 15:
        CheckShared(shared);
        break;
      case 16: {  // a stream dies, by force or not, and another takes its place
        const bool by_force = Pick(4) == 0;
        if (by_force) {
          Check(aclrtSynchronizeStream(own_[own]));
          Launch(own_[own], Operator::kL1, TheInputs().grad.data(), scratch_.data(), Size());
          Check(aclrtDestroyStreamForce(own_[own]));
        } else {
          Check(aclrtDestroyStream(own_[own]));
        }
        for (Buffer& one : own_buffers_[own]) Verify(one);
        Check(aclrtCreateStream(&own_[own]));
        ++totals_.streams_destroyed;
        break;
      }
      case 17:
        PassOn(own, Pick(kOwnStreams));
        break;
      case 18:
        if (Pick(4) == 0) OtherDevice();
        if (Pick(8) == 0) OwnContext();
        break;
      default: {
        aclrtStreamStatus status;
        Check(aclrtStreamQuery(own_[own], &status));
        const int waited = aclrtSynchronizeStreamWithTimeout(shared_[shared], 0);
        EXPECT_TRUE(waited == ACL_SUCCESS || waited == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) << waited;
        break;
      }
    }
  }

  std::mt19937 random_;
  const int number_;
  const aclrtContext context_;
  aclrtStream* const shared_;
  EventBoard& board_;
  Totals& totals_;
  aclrtStream own_[kOwnStreams] = {};
  Buffer own_buffers_[kOwnStreams][4];
  Buffer shared_buffers_[kSharedStreams];
  Buffer elsewhere_;
  portacl::testing::MappedVector<float> scratch_ =
      portacl::testing::MappedVector<float>(size_t{kMostElements});
  std::atomic<int64_t> host_calls_{0};
  int64_t host_calls_expected_ = 0;
};

class StressTest : public RuntimeTest {
 protected:
  void SetUp() override {
    setenv("PORTACL_DEVICE_COUNT", "2", 1);
    RuntimeTest::SetUp();
    unsetenv("PORTACL_DEVICE_COUNT");
  }
};

bool IsLong() { return std::getenv("PORTACL_LONG_TESTS") != nullptr; }

TEST_F(StressTest, EverythingAtOnce) {
  const Watchdog watchdog(600);
  const auto duration = std::chrono::seconds(IsLong() ? 60 : 3);
  TheInputs();
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  aclrtStream shared[kSharedStreams];
  for (aclrtStream& one : shared) one = NewStream();
  EventBoard board;
  Totals totals;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < kThreads; ++i) {
    clients.push_back(std::make_unique<Client>(i, context, shared, board, totals));
  }
  const auto end = std::chrono::steady_clock::now() + duration;
  std::vector<std::thread> threads;
  for (auto& client : clients) threads.emplace_back([&client, end] { client->Run(end); });
  for (std::thread& thread : threads) thread.join();
  for (aclrtStream one : shared) EXPECT_EQ(aclrtDestroyStream(one), ACL_SUCCESS);
  std::printf(
      "%ld operator calls, %ld elements checked, %ld waits, %ld streams destroyed, %ld devices reset\n",
      static_cast<long>(totals.calls), static_cast<long>(totals.elements_checked),
      static_cast<long>(totals.waits), static_cast<long>(totals.streams_destroyed),
      static_cast<long>(totals.resets));
}

std::chrono::steady_clock::time_point EndOfShortTest() {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(IsLong() ? 10'000 : 500);
}

// One thread never stops submitting until the others have waited often enough; a wait that went on with what
// comes after it would hang.
TEST_F(StressTest, AFeederDoesNotHoldThoseWhoWait) {
  const Watchdog watchdog(600);
  constexpr size_t kBytes = 128 << 10;  // goes to a worker
  // Each wait is for a queue full of work.
  const int rounds = IsLong() ? 200 : PORTACL_TSAN || PORTACL_ASAN ? 3 : 10;
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  void* memory = nullptr;
  void* marks = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&marks, 3, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  std::atomic<bool> stop{false};
  std::atomic<int64_t> fed{0};
  std::thread feeder([&] {
    L1Call call(kSmall);
    for (int i = 0; !stop; ++i) {
      ASSERT_EQ(aclrtMemsetAsync(memory, kBytes, i, kBytes, stream_), ACL_SUCCESS);
      if (i % 8 == 0) {
        ASSERT_EQ(call.Launch(stream_), ACL_SUCCESS);
      }
      ++fed;
    }
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  });
  while (fed < 100) std::this_thread::yield();
  std::vector<std::thread> waiting;
  for (int kind = 0; kind < 3; ++kind) {
    waiting.emplace_back([&, kind] {
      ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      auto* mark = static_cast<unsigned char*>(marks) + kind;
      const aclrtEvent event = NewEvent();
      for (int i = 1; i <= rounds; ++i) {
        ASSERT_EQ(aclrtMemsetAsync(mark, 1, i, 1, stream_), ACL_SUCCESS);
        if (kind == 0) {
          ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
        } else if (kind == 1) {
          ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
        } else {
          ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
          ASSERT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
        }
        ASSERT_EQ(*mark, static_cast<unsigned char>(i)) << "what came before is done";
      }
      EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    });
  }
  for (std::thread& one : waiting) one.join();
  stop = true;
  feeder.join();
  std::printf("%ld submitted meanwhile\n", static_cast<long>(fed.load()));
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(marks), ACL_SUCCESS);
}

TEST_F(StressTest, RecordersAgainstWaiters) {
  const Watchdog watchdog(600);
  const aclrtStream streams[] = {stream_, NewStream(), NewStream()};
  const aclrtEvent events[] = {NewEvent(), NewEvent(), NewEvent()};
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  const auto end = EndOfShortTest();
  std::atomic<int64_t> calls{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      std::mt19937 random(t + 77);
      char memory[3] = {};  // streams are not in any order to each other
      while (std::chrono::steady_clock::now() < end) {
        for (int i = 0; i < 300; ++i) {
          const size_t which = random() % 3;
          const aclrtStream stream = streams[which];
          const aclrtEvent event = events[random() % 3];
          switch (random() % 8) {
            case 0:
            case 1:
              ASSERT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
              break;
            case 2:
            case 3:
              ASSERT_EQ(aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
              break;
            case 4:
              ASSERT_EQ(aclrtResetEvent(event, stream), ACL_SUCCESS);
              break;
            case 5:  // one that is raised lets one pass, in whichever stream: those of one stream are in order
              ASSERT_EQ(aclrtRecordNotify(notify, stream), ACL_SUCCESS);
              break;
            case 6:
              ASSERT_EQ(aclrtMemsetAsync(&memory[which], 1, i, 1, stream), ACL_SUCCESS);
              break;
            default:
              if (i % 16 == 0) {
                ASSERT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
              } else if (i % 64 == 1) {
                ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
              }
          }
          ++calls;
        }
        ASSERT_EQ(aclrtSynchronizeDeviceWithTimeout(120'000), ACL_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(aclrtSynchronizeDeviceWithTimeout(120'000), ACL_SUCCESS);
  std::printf("%ld calls\n", static_cast<long>(calls.load()));
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
  for (const aclrtEvent event : events) EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  for (const aclrtStream stream : {streams[1], streams[2]})
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

// Threads that end with work queued, events pending, an executor not run, and callbacks that nobody processes any
// more: what they submitted is done, and another thread can clear away the rest.
TEST_F(StressTest, ThreadsEndInTheMiddle) {
  const Watchdog watchdog(600);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  const auto end = EndOfShortTest();
  int rounds = 0;
  while (std::chrono::steady_clock::now() < end) {
    struct Left {
      aclrtStream stream = nullptr;
      aclrtEvent event = nullptr;
      aclOpExecutor* executor = nullptr;
      uint64_t thread = 0;
      std::atomic<int> functions{0};
      std::atomic<int> callbacks{0};
      L1Call call{3000}, unused{10};
    };
    Left left[4];
    std::vector<std::thread> threads;
    for (Left& mine : left) {
      threads.emplace_back([&mine, context] {
        mine.thread = static_cast<uint64_t>(pthread_self());
        ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
        mine.stream = NewStream();
        mine.event = NewEvent();
        const auto count = [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); };
        ASSERT_EQ(aclrtSubscribeReport(mine.thread, mine.stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtLaunchHostFunc(mine.stream, count, &mine.functions), ACL_SUCCESS);
        ASSERT_EQ(mine.call.Launch(mine.stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtRecordEvent(mine.event, mine.stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtLaunchCallback(count, &mine.callbacks, ACL_CALLBACK_BLOCK, mine.stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtLaunchHostFunc(mine.stream, count, &mine.functions), ACL_SUCCESS);
        ASSERT_EQ(mine.unused.Plan(&mine.executor), ACL_SUCCESS);
        ASSERT_NE(aclrtSynchronizeStreamWithTimeout(mine.stream, -2), ACL_SUCCESS);  // leaves a message
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (Left& one : left) {
      ASSERT_EQ(aclrtStreamWaitEvent(stream_, one.event), ACL_SUCCESS);
      ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
      EXPECT_TRUE(one.call.IsDone());
      ASSERT_EQ(aclrtUnSubscribeReport(one.thread, one.stream), ACL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(one.stream), ACL_ERROR_RT_STREAM_NO_CB_REG);
      EXPECT_EQ(one.functions, 2);
      EXPECT_EQ(one.callbacks, 0);
      EXPECT_EQ(aclDestroyAclOpExecutor(one.executor), ACL_SUCCESS);
      EXPECT_EQ(aclrtDestroyEvent(one.event), ACL_SUCCESS);
      EXPECT_EQ(aclrtDestroyStream(one.stream), ACL_SUCCESS);
    }
    ++rounds;
  }
  std::printf("%d rounds\n", rounds);
}

// Source and destination overlap, one copy after the other: as memmove would have it.
TEST_F(StressTest, CopiesMayOverlap) {
  const Watchdog watchdog(600);
  constexpr size_t kBytes = 400'000;
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  auto* bytes = static_cast<unsigned char*>(memory);
  std::vector<unsigned char> expected(kBytes);
  for (size_t i = 0; i < kBytes; ++i) expected[i] = bytes[i] = static_cast<unsigned char>(i * 7 + i / 251);
  std::mt19937 random(5);
  const aclrtStream other = NewStream();
  const aclrtEvent event = NewEvent();
  for (int i = 0; i < (IsLong() ? 20'000 : 1000); ++i) {
    const aclrtStream stream = i % 7 < 5 ? stream_ : other;
    const aclrtStream before = i % 7 == 0 ? other : i % 7 == 5 ? stream_ : nullptr;
    if (before != nullptr) {  // from one stream to the other and back
      ASSERT_EQ(aclrtRecordEvent(event, before), ACL_SUCCESS);
      ASSERT_EQ(aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
    }
    const size_t count = 1 + random() % (i % 3 == 0 ? kBytes / 2 : 500);
    const size_t from = random() % (kBytes - count);
    const size_t shift = random() % count;
    const size_t to = i % 2 == 0 ? std::min(from + shift, kBytes - count) : from - std::min(shift, from);
    ASSERT_EQ(aclrtMemcpyAsync(bytes + to, count, bytes + from, count, ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
              ACL_SUCCESS);
    std::memmove(expected.data() + to, expected.data() + from, count);
  }
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(std::memcmp(bytes, expected.data(), kBytes), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

// One repeatable executor, launched by several threads: into one stream as it is, and into a stream of each with
// an output of each.
TEST_F(StressTest, ARepeatableExecutorHasManyUsers) {
  const Watchdog watchdog(600);
  constexpr size_t kUsers = 4;
  constexpr int kRounds = 300;
  L1Call call(3000);
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(call.Plan(&executor), ACL_SUCCESS);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACL_SUCCESS);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kUsers; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        ASSERT_EQ(aclnnL1LossBackward(nullptr, 0, executor, stream_), ACL_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(call.IsDone());

  std::mutex address_and_launch;
  const int64_t n = call.count();
  aclTensor* const any = aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, call.out.data());
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  for (size_t t = 0; t < kUsers; ++t) {
    threads.emplace_back([&] {
      ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      const aclrtStream stream = NewStream();
      std::vector<decltype(call.out)> outs(8, decltype(call.out)(call.out.size(), -1));
      for (int i = 0; i < kRounds; ++i) {
        const std::lock_guard lock(address_and_launch);
        ASSERT_EQ(aclSetOutputTensorAddr(executor, 0, any, outs[static_cast<size_t>(i) % 8].data()),
                  ACL_SUCCESS);
        ASSERT_EQ(aclnnL1LossBackward(nullptr, 0, executor, stream), ACL_SUCCESS);
      }
      ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
      for (const auto& out : outs) EXPECT_EQ(out, call.out);
    });
  }
  for (std::thread& thread : threads) thread.join();
  aclDestroyTensor(any);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACL_SUCCESS);
}

}  // namespace
