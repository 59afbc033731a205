// When memory or threads cannot be had, and what a steady state costs: no heap, no threads, no growth.
// SPDX-License-Identifier: Apache-2.0
#include "acl/fault_hooks.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "acl/acl_op_compiler.h"
#include "acl/runtime_fixture.h"
#include "aclnn/opdev/op_errno.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"

namespace {

using FaultTest = RuntimeTest;

int64_t CallsToCount() {
  return (std::getenv("PORTACL_LONG_TESTS") != nullptr ? 1'000'000 : 100'000) / kSanitizerSlowness;
}

long ResidentKilobytes() {
  long pages = 0;
  long total = 0;
  FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &pages) != 2) pages = 0;
  if (file != nullptr) std::fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

// The tensors of a call, made once.
struct Operands {
  explicit Operands(L1Call& call) {
    const int64_t n = call.count();
    for (auto* data : {&call.grad, &call.self, &call.target, &call.out}) {
      tensors.push_back(aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, data->data()));
    }
  }
  ~Operands() {
    for (aclTensor* one : tensors) aclDestroyTensor(one);
  }
  aclnnStatus Plan(aclOpExecutor** executor) const {
    uint64_t workspace = 0;
    return aclnnL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 0, tensors[3], &workspace,
                                               executor);
  }
  aclnnStatus Launch(aclrtStream stream) const {
    aclOpExecutor* executor = nullptr;
    if (const aclnnStatus status = Plan(&executor)) return status;
    return aclnnL1LossBackward(nullptr, 0, executor, stream);
  }
  std::vector<aclTensor*> tensors;
};

// Fails each allocation of `call` in turn, undoing what succeeded in between; at the end it has succeeded with
// all of its memory. Whatever comes back is one of `codes` or success.
void FailEachAllocation(const char* name, const std::set<int>& codes, const std::function<int()>& call,
                        const std::function<void()>& undo = nullptr) {
  int failures = 0;
  for (long nth = 0;; ++nth) {
    int status = 0;
    bool happened = false;
    {
      const faults::FailingAllocation failing(nth);
      status = call();
      happened = failing.Happened();
    }
    if (!happened) {
      ASSERT_EQ(status, 0) << name;
      break;
    }
    ++failures;
    if (status != 0) {
      EXPECT_EQ(codes.count(status), 1u)
          << name << " returned " << status << " when allocation " << nth << " failed";
    } else if (undo != nullptr) {
      undo();
    } else {
      break;
    }
    ASSERT_LT(nth, 1000) << name;
  }
  std::printf("%-34s %d allocations failed\n", name, failures);
}

// In a process of its own every pool is still empty, so that first uses are met too.
TEST(AllocationFailure, ComesBackAsACodeFromEveryCall) {
  const std::set<int> acl{ACL_ERROR_BAD_ALLOC, ACL_ERROR_RT_MEMORY_ALLOCATION};
  const std::set<int> nullptr_returned{-1};
  FailEachAllocation(
      "aclInit", acl, [] { return aclInit(nullptr); }, [] { aclFinalize(); });
  FailEachAllocation(
      "aclrtSetDevice", acl, [] { return aclrtSetDevice(0); }, [] { aclrtResetDevice(0); });
  FailEachAllocation(
      "aclrtSetDevice, another", acl, [] { return aclrtSetDevice(0); }, [] { aclrtResetDevice(0); });
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);

  // A stream takes a slot; every so many of them the table grows.
  std::vector<aclrtStream> streams;
  streams.reserve(200);
  for (int i = 0; i < 100; ++i) {
    aclrtStream stream = nullptr;
    FailEachAllocation(
        "aclrtCreateStream", {ACL_ERROR_RT_NO_STREAM_RESOURCE}, [&] { return aclrtCreateStream(&stream); },
        [&] { aclrtDestroyStream(stream); });
    streams.push_back(stream);
  }
  std::vector<aclrtEvent> events;
  events.reserve(200);
  for (int i = 0; i < 100; ++i) {
    aclrtEvent event = nullptr;
    FailEachAllocation(
        "aclrtCreateEvent", {ACL_ERROR_RT_NO_EVENT_RESOURCE}, [&] { return aclrtCreateEvent(&event); },
        [&] { aclrtDestroyEvent(event); });
    events.push_back(event);
  }
  aclrtContext before = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&before), ACL_SUCCESS);
  std::vector<aclrtContext> contexts;
  contexts.reserve(100);
  for (int i = 0; i < 50; ++i) {
    aclrtContext context = nullptr;
    FailEachAllocation(
        "aclrtCreateContext", acl, [&] { return aclrtCreateContext(&context, 0); },
        [&] { aclrtDestroyContext(context); });
    contexts.push_back(context);
  }
  ASSERT_EQ(aclrtSetCurrentContext(before), ACL_SUCCESS);
  for (aclrtContext context : contexts) ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);

  void* memory = nullptr;
  FailEachAllocation(
      "aclrtMalloc", acl, [&] { return aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST); },
      [&] { aclrtFree(memory); });
  ASSERT_EQ(aclrtFree(memory), ACL_SUCCESS);
  FailEachAllocation(
      "aclrtHostRegister", acl, [&] { return aclrtHostRegisterV2(&memory, 8, ACL_HOST_REG_MAPPED); },
      [&] { aclrtHostUnregister(&memory); });
  ASSERT_EQ(aclrtHostUnregister(&memory), ACL_SUCCESS);
  const size_t page = size_t{2} << 20;
  FailEachAllocation(
      "aclrtReserveMemAddress", acl, [&] { return aclrtReserveMemAddress(&memory, page, 0, nullptr, 0); },
      [&] { aclrtReleaseMemAddress(memory); });
  aclrtPhysicalMemProp properties{};
  aclrtDrvMemHandle physical = nullptr;
  FailEachAllocation(
      "aclrtMallocPhysical", acl, [&] { return aclrtMallocPhysical(&physical, page, &properties, 0); },
      [&] { aclrtFreePhysical(physical); });
  FailEachAllocation(
      "aclrtMapMem", acl, [&] { return aclrtMapMem(memory, page, 0, physical, 0); },
      [&] { aclrtUnmapMem(memory); });
  ASSERT_EQ(aclrtUnmapMem(memory), ACL_SUCCESS);
  ASSERT_EQ(aclrtFreePhysical(physical), ACL_SUCCESS);
  ASSERT_EQ(aclrtReleaseMemAddress(memory), ACL_SUCCESS);
  std::vector<aclrtNotify> notifies;
  notifies.reserve(100);
  for (int i = 0; i < 50; ++i) {
    aclrtNotify notify = nullptr;
    FailEachAllocation(
        "aclrtCreateNotify", {ACL_ERROR_RT_NO_NOTIFY_RESOURCE}, [&] { return aclrtCreateNotify(&notify, 0); },
        [&] { aclrtDestroyNotify(notify); });
    notifies.push_back(notify);
  }
  aclDataBuffer* buffer = nullptr;
  FailEachAllocation(
      "aclCreateDataBuffer", nullptr_returned,
      [&] {
        buffer = aclCreateDataBuffer(&memory, 8);
        return buffer == nullptr ? -1 : 0;
      },
      [&] { aclDestroyDataBuffer(buffer); });
  ASSERT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
  const auto at_start = [](const char*, size_t, void*) -> aclError { return 0; };
  FailEachAllocation(
      "aclInitCallbackRegister", acl,
      [&] { return aclInitCallbackRegister(ACL_REG_TYPE_OTHER, at_start, nullptr); },
      [&] { aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, at_start); });
  ASSERT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, at_start), ACL_SUCCESS);

  const int64_t n = 10;
  aclTensor* tensor = nullptr;
  FailEachAllocation(
      "aclCreateTensor", nullptr_returned,
      [&] {
        tensor = aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, nullptr);
        return tensor == nullptr ? -1 : 0;
      },
      [&] { aclDestroyTensor(tensor); });
  int64_t* dims = nullptr;
  uint64_t count = 0;
  FailEachAllocation("aclGetViewShape", {561103}, [&] { return aclGetViewShape(tensor, &dims, &count); });
  delete[] dims;
  aclDestroyTensor(tensor);
  aclIntArray* array = nullptr;
  FailEachAllocation(
      "aclCreateIntArray", nullptr_returned,
      [&] {
        array = aclCreateIntArray(&n, 1);
        return array == nullptr ? -1 : 0;
      },
      [&] { aclDestroyIntArray(array); });
  aclDestroyIntArray(array);

  // Everything that is queued stays queued behind a gate, so that each pool grows in turn.
  Gate gate;
  FailEachAllocation(
      "aclrtLaunchHostFunc", {ACL_ERROR_RT_MEMORY_ALLOCATION, ACL_ERROR_RT_RESOURCE_ALLOC_FAIL},
      [&] {
        return aclrtLaunchHostFunc(
            streams[0], [](void*) {}, nullptr);
      },
      [] {});
  ASSERT_EQ(aclrtSynchronizeStream(streams[0]), ACL_SUCCESS);
  gate.Close(streams[0]);
  gate.WaitUntilEntered();
  const auto pthread_id = static_cast<uint64_t>(pthread_self());
  FailEachAllocation(
      "aclrtSubscribeReport", acl, [&] { return aclrtSubscribeReport(pthread_id, streams[1]); },
      [&] { aclrtUnSubscribeReport(pthread_id, streams[1]); });
  L1Call small(100);
  L1Call large(kLarge);
  std::vector<char> bytes(8);
  uint64_t value = 0;
  const Operands small_operands(small);
  const Operands large_operands(large);
  aclOpExecutor* repeatable = nullptr;
  ASSERT_EQ(small_operands.Plan(&repeatable), ACL_SUCCESS);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(repeatable), ACL_SUCCESS);
  for (int i = 0; i < 100; ++i) {
    const auto index = static_cast<size_t>(i);
    aclOpExecutor* executor = nullptr;
    FailEachAllocation(
        "phase 1", {561101}, [&] { return small_operands.Plan(&executor); },
        [&] { aclDestroyAclOpExecutor(executor); });
    const long before_phase2 = faults::Allocations();
    ASSERT_EQ(aclnnL1LossBackward(nullptr, 0, executor, streams[0]), ACL_SUCCESS);
    EXPECT_EQ(faults::Allocations(), before_phase2);  // there is nothing to fail in it
    FailEachAllocation(
        "phase 2, repeatable", {561101},
        [&] { return aclnnL1LossBackward(nullptr, 0, repeatable, streams[0]); }, [] {});
    FailEachAllocation(
        "aclrtRecordEvent", acl, [&] { return aclrtRecordEvent(events[index], streams[0]); }, [] {});
    FailEachAllocation(
        "aclrtStreamWaitEvent", acl, [&] { return aclrtStreamWaitEvent(streams[index], events[0]); }, [] {});
    FailEachAllocation(
        "aclrtResetEvent", acl, [&] { return aclrtResetEvent(events[index], streams[0]); }, [] {});
    FailEachAllocation(
        "aclrtMemsetAsync", acl, [&] { return aclrtMemsetAsync(bytes.data(), 8, 1, 8, streams[0]); }, [] {});
    FailEachAllocation(
        "aclrtRecordNotify", acl, [&] { return aclrtRecordNotify(notifies[0], streams[0]); }, [] {});
    FailEachAllocation(
        "aclrtValueWrite", acl, [&] { return aclrtValueWrite(&value, 7, 0, streams[0]); }, [] {});
    FailEachAllocation(
        "aclrtValueWait", acl,
        [&] { return aclrtValueWait(&value, 7, ACL_STREAM_WAIT_VALUE_EQ, streams[0]); }, [] {});
    FailEachAllocation(
        "aclrtLaunchHostFunc", acl,
        [&] {
          return aclrtLaunchHostFunc(
              streams[0], [](void*) {}, nullptr);
        },
        [] {});
    FailEachAllocation(
        "aclrtLaunchCallback", acl,
        [&] { return aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_NO_BLOCK, streams[1]); }, [] {});
  }
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  while (aclrtProcessReport(1) == ACL_SUCCESS) {
  }
  EXPECT_TRUE(small.IsDone());
  EXPECT_EQ(aclDestroyAclOpExecutor(repeatable), ACL_SUCCESS);
  ASSERT_EQ(aclrtUnSubscribeReport(pthread_id, streams[1]), ACL_SUCCESS);

  // Large work: whatever fails, in whichever thread, the result is right.
  for (long nth = 0; nth < 100 / kSanitizerSlowness; ++nth) {
    large.Clear();
    int status = 0;
    {
      const faults::FailingAllocation failing(nth);
      status = large_operands.Launch(streams[2]);
      if (status == 0) status = aclrtSynchronizeStream(streams[2]);
    }
    if (status == 0) {
      EXPECT_TRUE(large.IsDone()) << nth;
    } else {
      EXPECT_EQ(status, 561101) << nth;
    }
  }
  for (aclrtStream stream : streams) EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  for (aclrtEvent event : events) EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  for (aclrtNotify notify : notifies) EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
  // Usable after: a whole call from the start.
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(
      portacl::LiveStreams() + portacl::LiveEvents() + portacl::LiveRecordings() + portacl::LiveExecutors(),
      0);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  large.Clear();
  EXPECT_EQ(large_operands.Launch(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_TRUE(large.IsDone());
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

TEST_F(FaultTest, ASteadyStateUsesNoHeapAndStartsNoThread) {
  // With a sanitizer a call may take so long that the workers which the next one needs have ended.
  constexpr bool kCountsStarts = kSanitizerSlowness == 1;
  L1Call small(kSmall);
  L1Call large(kLarge);
  const Operands small_operands(small);
  const Operands large_operands(large);
  aclrtStream other = NewStream();
  aclrtEvent event = NewEvent();
  aclOpExecutor* repeatable = nullptr;
  ASSERT_EQ(large_operands.Plan(&repeatable), ACL_SUCCESS);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(repeatable), ACL_SUCCESS);
  std::vector<char> bytes(100'000);

  const struct {
    const char* name;
    std::function<int()> call;
  } paths[] = {
      {"small operator", [&] { return small_operands.Launch(stream_); }},
      {"large operator", [&] { return large_operands.Launch(stream_); }},
      {"repeatable executor", [&] { return aclnnL1LossBackward(nullptr, 0, repeatable, stream_); }},
      {"fill", [&] { return aclrtMemsetAsync(bytes.data(), bytes.size(), 1, bytes.size(), stream_); }},
      {"host function",
       [&] {
         return aclrtLaunchHostFunc(
             stream_, [](void*) {}, nullptr);
       }},
      {"event between streams",
       [&] {
         int status = large_operands.Launch(other);
         if (status == 0) status = aclrtRecordEvent(event, other);
         if (status == 0) status = aclrtStreamWaitEvent(stream_, event);
         if (status == 0) status = small_operands.Launch(stream_);
         return status;
       }},
  };
  for (const auto& path : paths) {
    const auto run = [&](int times) {
      int failures = 0;
      for (int i = 0; i < times; ++i) {
        failures += path.call() != 0;
        if (i % 8 == 7) failures += aclrtSynchronizeStream(stream_) != 0;
      }
      return failures + (aclrtSynchronizeStream(stream_) != 0);
    };
    ASSERT_EQ(run(200 / kSanitizerSlowness), 0) << path.name;
    // How many workers there are at once, and whether one had nothing to do for so long that it ended, is for the
    // machine's scheduler to say: where that changed, the state was not steady yet.
    long used = 1;
    long started = 1;
    for (int attempt = 0; attempt < 5 && (used != 0 || (started != 0 && kCountsStarts)); ++attempt) {
      const long allocations = faults::Allocations();
      const long threads = faults::ThreadStarts();
      const int failures = run(2000 / kSanitizerSlowness);
      used = faults::Allocations() - allocations;
      started = faults::ThreadStarts() - threads;
      ASSERT_EQ(failures, 0) << path.name;
    }
    EXPECT_EQ(used, 0) << path.name;
    if (kCountsStarts) {
      EXPECT_EQ(started, 0) << path.name;
    }
  }
  EXPECT_TRUE(small.IsDone());
  EXPECT_TRUE(large.IsDone());
  EXPECT_EQ(aclDestroyAclOpExecutor(repeatable), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(FaultTest, MemoryStaysFlat) {
  // The kernel may give what lies in a huge page memory of its own at any time, two mebibytes at once.
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  // Whole calls as programs make them, tensors and all, with streams and events coming and going.
  L1Call call(kSmall);
  L1Call queued(20'000);
  const Operands operands(call);
  // What fails keeps neither its executor nor its message.
  const auto fail_in_both_phases = [&] {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    if (aclnnL1LossBackwardGetWorkspaceSize(nullptr, nullptr, nullptr, 0, nullptr, &size, &executor) !=
        ACLNN_ERR_PARAM_NULLPTR) {
      return false;
    }
    if (operands.Plan(&executor) != ACL_SUCCESS) return false;
    const bool failed = aclnnSmoothL1LossBackward(nullptr, 0, executor, stream_) != ACL_SUCCESS;
    aclGetRecentErrMsg();
    return failed;
  };
  const auto run = [&](int64_t calls) {
    for (int64_t i = 0; i < calls; ++i) {
      if (call.Launch(stream_) != ACL_SUCCESS) return false;
      if (i % 16 == 0 && queued.Launch(stream_) != ACL_SUCCESS) return false;
      if (i % 4 == 0 && !fail_in_both_phases()) return false;
      if (i % 64 == 0) {
        aclrtStream other = nullptr;
        aclrtEvent event = nullptr;
        if (aclrtCreateStream(&other) != 0 || aclrtCreateEvent(&event) != 0 ||
            aclrtRecordEvent(event, stream_) != 0 || aclrtStreamWaitEvent(other, event) != 0 ||
            aclrtDestroyEvent(event) != 0 || aclrtDestroyStream(other) != 0) {
          return false;
        }
      }
      if (i % 256 == 0 && aclrtSynchronizeStream(stream_) != ACL_SUCCESS) return false;
    }
    return aclrtSynchronizeStream(stream_) == ACL_SUCCESS;
  };
  ASSERT_TRUE(run(CallsToCount() / 10));
  const long before = ResidentKilobytes();
  ASSERT_TRUE(run(CallsToCount()));
  const long grown = ResidentKilobytes() - before;
  std::printf("%ld calls, resident memory %ld KiB, grown by %ld KiB\n", static_cast<long>(CallsToCount()),
              before, grown);
#if !PORTACL_ASAN && !PORTACL_TSAN  // those keep freed memory
  EXPECT_LT(grown, 2048);
#endif
}

TEST_F(FaultTest, WithoutThreadsWorkIsDoneOnTheCallingThread) {
  WaitForWorkersToEnd();
  const faults::NoThreads no_threads;
  aclrtStream other = NewStream();
  aclrtEvent event = NewEvent();
  L1Call first(kLarge, 1);
  L1Call second(kLarge, 2);
  ASSERT_EQ(first.Launch(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
  ASSERT_EQ(second.Launch(other), ACL_SUCCESS);
  EXPECT_TRUE(first.IsDone());
  EXPECT_TRUE(second.IsDone());
  // User code and clocks need a thread.
  EXPECT_EQ(aclrtLaunchHostFunc(
                stream_, [](void*) {}, nullptr),
            ACL_ERROR_RT_RESOURCE_ALLOC_FAIL);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  // Streams that are held by a callback go on where it is processed.
  ASSERT_EQ(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  first.Clear();
  ASSERT_EQ(first.Launch(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEventWithTimeout(other, event, 1000), ACL_ERROR_RT_RESOURCE_ALLOC_FAIL);
  ASSERT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
  second.Clear();
  ASSERT_EQ(second.Launch(other), ACL_SUCCESS);
  EXPECT_TRUE(first.IsUntouched());
  ASSERT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  EXPECT_TRUE(first.IsDone());
  EXPECT_TRUE(second.IsDone());
  ASSERT_EQ(aclrtUnSubscribeReport(static_cast<uint64_t>(pthread_self()), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(FaultTest, WithOneThreadEverythingIsDoneInTheEnd) {
  WaitForWorkersToEnd();
  aclrtStream other = NewStream();
  aclrtStream third = NewStream();
  aclrtEvent event = NewEvent();
  CallLog log;
  LogEntry entries[] = {{&log, 0}, {&log, 1}};
  Gate gate;
  gate.Close(stream_);
  gate.WaitUntilEntered();
  const faults::NoThreads no_threads;
  L1Call behind(kLarge, 1);
  L1Call on_other(kLarge, 2);
  L1Call on_third(kLarge, 3);
  ASSERT_EQ(behind.Launch(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
  ASSERT_EQ(on_other.Launch(other), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(other, LogEntry::Call, &entries[0]), ACL_SUCCESS);
  ASSERT_EQ(on_third.Launch(third), ACL_SUCCESS);
  EXPECT_TRUE(on_third.IsDone());  // here and now
  ASSERT_EQ(aclrtLaunchHostFunc(third, LogEntry::Call, &entries[1]), ACL_SUCCESS);
  on_third.Clear();
  ASSERT_EQ(on_third.Launch(third), ACL_SUCCESS);
  EXPECT_TRUE(log.empty());
  gate.Open();
  for (aclrtStream one : {stream_, other, third}) EXPECT_EQ(aclrtSynchronizeStream(one), ACL_SUCCESS);
  EXPECT_TRUE(behind.IsDone());
  EXPECT_TRUE(on_other.IsDone());
  EXPECT_TRUE(on_third.IsDone());
  EXPECT_EQ(log.values().size(), 2u);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(third), ACL_SUCCESS);
}

// Large work that submits the next such: who waits for the first runs it, and must not go on with the others.
class ChainedTask final : public portacl::Task {
 public:
  Outcome Run(portacl::Stream&) noexcept override {
    threads.push_back(std::this_thread::get_id());
    if (next != nullptr) stream.Submit(next);
    return Outcome::kDone;
  }
  void Finish(portacl::StreamList&) noexcept override { finished = true; }

  portacl::FoundStream stream;
  ChainedTask* next = nullptr;
  std::atomic<bool> finished{false};
  std::vector<std::thread::id> threads;
};

// Waits for the first of 50 such, which submit(first) submits; returns whether this thread ran it.
template <class Submit>
bool WaitForFirstOfAChain(aclrtStream stream, const Submit& submit) {
  std::vector<ChainedTask> chain(50);
  for (size_t i = 0; i < chain.size(); ++i) {
    chain[i].affinity = portacl::Task::Affinity::kWorker;
    chain[i].stream = portacl::FindStream(stream);
    chain[i].next = i + 1 < chain.size() ? &chain[i + 1] : nullptr;
  }
  submit(chain[0]);
  portacl::Stream::Failure failure;
  chain[0].stream.stream->Synchronize(chain[0].stream.handle, portacl::kForever, &failure);
  const auto here = std::this_thread::get_id();
  const bool ran_first = chain[0].threads.front() == here;
  // With a time limit nothing is run by the thread that waits.
  while (!chain.back().finished) EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, kPatience), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, kPatience), ACL_SUCCESS);
  for (size_t i = 1; ran_first && i < chain.size(); ++i) {
    EXPECT_EQ(chain[i].threads.size(), 1u);
    EXPECT_NE(chain[i].threads.front(), here) << "task " << i << " came after the call";
  }
  return ran_first;
}

TEST_F(FaultTest, ASynchronisationEndsAtItsMark) {
  const Watchdog watchdog;
  WaitForWorkersToEnd();
  const aclrtStream other = NewStream();
  Gate gate;
  struct Submission {
    ChainedTask* first;
    Gate* gate;
  };
  Submission submission{nullptr, &gate};
  // By the only worker, which goes on with something else, while there is no other worker to be had: nobody but the
  // thread that waits can run it.
  EXPECT_TRUE(WaitForFirstOfAChain(stream_, [&](ChainedTask& first) {
    submission.first = &first;
    ASSERT_EQ(aclrtLaunchHostFunc(
                  other,
                  [](void* argument) {
                    const auto* const it = static_cast<const Submission*>(argument);
                    {
                      const faults::NoThreads no_threads;
                      it->first->stream.Submit(it->first);
                    }
                    it->gate->Wait();
                  },
                  &submission),
              ACL_SUCCESS);
    gate.WaitUntilEntered();
  }));
  gate.Open();
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
  // As it comes: by this thread or by a worker.
  for (int round = 0; round < 200 && !HasFailure(); ++round) {
    WaitForFirstOfAChain(stream_, [](ChainedTask& first) { first.stream.Submit(&first); });
  }
}

TEST_F(FaultTest, WaitingStreamsHoldNoThread) {
  aclrtEvent event = NewEvent();
  std::vector<aclrtStream> streams(64);
  for (aclrtStream& one : streams) one = NewStream();
  Gate gate;
  gate.Close(stream_);
  gate.WaitUntilEntered();
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  const long before = faults::ThreadStarts();
  std::vector<L1Call> calls(streams.size(), L1Call(kSmall));
  for (size_t i = 0; i < streams.size(); ++i) {
    ASSERT_EQ(aclrtStreamWaitEvent(streams[i], event), ACL_SUCCESS);
    ASSERT_EQ(calls[i].Launch(streams[i]), ACL_SUCCESS);
  }
  EXPECT_EQ(faults::ThreadStarts(), before);
  for (const L1Call& call : calls) EXPECT_TRUE(call.IsUntouched());
  gate.Open();
  for (aclrtStream one : streams) EXPECT_EQ(aclrtDestroyStream(one), ACL_SUCCESS);
  for (const L1Call& call : calls) EXPECT_TRUE(call.IsDone());
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

TEST_F(FaultTest, IdleWorkersEnd) {
  std::vector<aclrtStream> streams(8);
  Gate gate;
  for (aclrtStream& one : streams) {
    one = NewStream();
    gate.Close(one);
  }
  L1Call call(kLarge);
  ASSERT_EQ(call.Launch(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_GE(portacl::workers::Count(), 8);
  gate.Open();
  for (aclrtStream one : streams) EXPECT_EQ(aclrtDestroyStream(one), ACL_SUCCESS);
  WaitForWorkersToEnd();
  call.Clear();
  ASSERT_EQ(call.Launch(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(call.IsDone());
}

// Descriptions, attributes and options keep what they had when there is no memory for what is new.
TEST(AllocationFailure, LeavesDescriptionsAttributesAndOptionsAsTheyWere) {
  const std::set<int> acl{ACL_ERROR_BAD_ALLOC, ACL_ERROR_RT_MEMORY_ALLOCATION};
  const std::set<int> none{ACL_ERROR_BAD_ALLOC};
  const std::string name(100, 'n');  // longer than what a string holds in itself
  const std::string value(100, 'v');
  const int64_t dims[] = {2, 3, 4};
  aclTensorDesc* description = nullptr;
  FailEachAllocation(
      "aclCreateTensorDesc", none,
      [&] {
        description = aclCreateTensorDesc(ACL_FLOAT, 3, dims, ACL_FORMAT_ND);
        return description == nullptr ? ACL_ERROR_BAD_ALLOC : 0;
      },
      [&] { aclDestroyTensorDesc(description); });
  FailEachAllocation("aclSetTensorShape", none, [&] { return aclSetTensorShape(description, 3, dims); });
  FailEachAllocation("aclSetTensorDescName", none, [&] {
    aclSetTensorDescName(description, name.c_str());
    const char* const kept = aclGetTensorDescName(description);
    EXPECT_TRUE(kept == name || *kept == 0) << kept;
    return kept == name ? 0 : ACL_ERROR_BAD_ALLOC;
  });
  aclDestroyTensorDesc(description);

  aclopAttr* attributes = nullptr;
  FailEachAllocation(
      "aclopCreateAttr", none,
      [&] { return (attributes = aclopCreateAttr()) == nullptr ? ACL_ERROR_BAD_ALLOC : 0; },
      [&] { aclopDestroyAttr(attributes); });
  const int lengths[] = {3, 3};
  const int64_t* const lists[] = {dims, dims};
  FailEachAllocation("aclopSetAttrListListInt", none,
                     [&] { return aclopSetAttrListListInt(attributes, name.c_str(), 2, lengths, lists); });
  FailEachAllocation("aclopSetAttrString", none,
                     [&] { return aclopSetAttrString(attributes, name.c_str(), value.c_str()); });
  const char* strings[] = {name.c_str(), value.c_str()};
  FailEachAllocation("aclopSetAttrListString", none,
                     [&] { return aclopSetAttrListString(attributes, "strings", 2, strings); });
  aclopDestroyAttr(attributes);

  FailEachAllocation("aclSetCompileopt", none, [&] {
    const aclError status = aclSetCompileopt(ACL_DEBUG_DIR, value.c_str());
    EXPECT_EQ(aclGetCompileoptSize(ACL_DEBUG_DIR), status == 0 ? 101u : 1u);
    return status;
  });
  EXPECT_EQ(aclSetCompileopt(ACL_DEBUG_DIR, ""), 0);

  ASSERT_EQ(aclrtSetDevice(0), 0);
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 4096), 0);
  FailEachAllocation("aclrtHostRegister, pinned memory", acl,
                     [&] { return aclrtHostRegisterV2(pinned, 4096, ACL_HOST_REG_MAPPED); });
  EXPECT_EQ(aclrtFreeHost(pinned), 0);
  EXPECT_EQ(aclrtResetDevice(0), 0);
  aclGetRecentErrMsg();
}

}  // namespace
