// Eight threads, sixty-four streams, everything at random; results are checked and nothing may be left over.
// Three seconds, or sixty with PORTACL_LONG_TESTS=1 in the environment.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "acl/runtime_fixture.h"
#include "aclnnop/aclnn_kl_div_backward.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"

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
  std::vector<float> grad, self, target;
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
  std::vector<float> out = std::vector<float>(static_cast<size_t>(kMostElements));
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
  std::vector<float> scratch_ = std::vector<float>(static_cast<size_t>(kMostElements));
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

TEST_F(StressTest, EverythingAtOnce) {
  const auto duration = std::chrono::seconds(std::getenv("PORTACL_LONG_TESTS") != nullptr ? 60 : 3);
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

}  // namespace
