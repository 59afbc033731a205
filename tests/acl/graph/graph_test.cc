// Captures, graphs and their executions: what is recorded, what is refused, and what is left behind.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "acl/graph/graph_programs.h"
#include "acl/stream/graph.h"
#include "aclnnop/aclnn_neg.h"

namespace {

class GraphTest : public GraphPrograms {};

TEST_F(GraphTest, NothingRunsBeforeTheExecution) {
  L1Call first(kSmall);
  L1Call second(kLarge, 3);
  Begin();
  EXPECT_EQ(first.Launch(stream_), 0);
  EXPECT_EQ(second.Launch(stream_), 0);
  const aclmdlRI graph = End();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_TRUE(first.IsUntouched());
  EXPECT_TRUE(second.IsUntouched());
  for (int run = 0; run < 3; ++run) {
    first.Clear();
    second.Clear();
    Execute(graph);
    EXPECT_TRUE(first.IsDone());
    EXPECT_TRUE(second.IsDone());
  }
  // New values at the recorded addresses.
  for (float& value : first.grad) value += 1;
  Execute(graph);
  EXPECT_TRUE(first.IsDone());
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
  EXPECT_EQ(aclmdlRIDestroy(graph), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_NE(Message().find("aclmdlRIDestroy: parameter modelRI has the value "), std::string::npos);
}

TEST_F(GraphTest, CopiesFillsAndValuesInOrder) {
  char* const device = Device(64);
  char* const other = Device(64);
  auto* const value = reinterpret_cast<uint64_t*>(Device(8));
  Begin();
  EXPECT_EQ(aclrtMemsetAsync(device, 64, 7, 64, stream_), 0);
  EXPECT_EQ(aclrtMemcpyAsync(other, 64, device, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), 0);
  EXPECT_EQ(aclrtMemsetAsync(device, 64, 9, 32, stream_), 0);
  EXPECT_EQ(aclrtValueWrite(value, 4711, 0, stream_), 0);
  EXPECT_EQ(aclrtValueWait(value, 4711, ACL_STREAM_WAIT_VALUE_EQ, stream_), 0);
  const aclmdlRI graph = End();
  EXPECT_EQ(aclmdlRIExecute(graph, -1), 0);
  EXPECT_EQ(ByteAt(other + 0), 7);
  EXPECT_EQ(ByteAt(other + 63), 7);
  EXPECT_EQ(ByteAt(device + 31), 9);
  EXPECT_EQ(ByteAt(device + 32), 7);
  EXPECT_EQ(ValueAt(value), 4711u);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

TEST_F(GraphTest, HostFunctionsAtEveryExecution) {
  CallLog log;
  LogEntry one{&log, 1};
  LogEntry two{&log, 2};
  Begin();
  EXPECT_EQ(aclrtLaunchHostFunc(stream_, LogEntry::Call, &one), 0);
  EXPECT_EQ(aclrtLaunchHostFunc(stream_, LogEntry::Call, &two), 0);
  const aclmdlRI graph = End();
  EXPECT_TRUE(log.empty());
  Execute(graph);
  Execute(graph);
  EXPECT_EQ(log.values(), (std::vector<int>{1, 2, 1, 2}));
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

TEST_F(GraphTest, StreamsJoinByEvents) {
  const aclrtStream side = NewStream();
  const aclrtEvent fork = NewEvent();
  const aclrtEvent join = NewEvent();
  char* const a = Device(8);
  char* const b = Device(8);
  Begin();
  EXPECT_EQ(aclrtMemsetAsync(a, 8, 1, 8, stream_), 0);
  EXPECT_EQ(aclrtRecordEvent(fork, stream_), 0);
  EXPECT_EQ(StatusOfCapture(side), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  EXPECT_EQ(aclrtStreamWaitEvent(side, fork), 0);
  EXPECT_EQ(StatusOfCapture(side), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(aclrtMemcpyAsync(b, 8, a, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, side), 0);
  EXPECT_EQ(aclrtRecordEvent(join, side), 0);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, join), 0);
  EXPECT_EQ(aclrtMemsetAsync(a, 8, 2, 8, stream_), 0);
  const aclmdlRI graph = End();
  EXPECT_EQ(StatusOfCapture(side), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  Execute(graph);
  EXPECT_EQ(ByteAt(b + 7), 1);
  EXPECT_EQ(ByteAt(a + 7), 2);
  // The streams and events are free again.
  EXPECT_EQ(aclrtRecordEvent(fork, side), 0);
  EXPECT_EQ(aclrtSynchronizeEvent(fork), 0);
  EXPECT_EQ(aclrtMemsetAsync(b, 8, 5, 8, side), 0);
  EXPECT_EQ(aclrtSynchronizeStream(side), 0);
  EXPECT_EQ(ByteAt(b + 0), 5);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
  EXPECT_EQ(aclrtDestroyEvent(fork), 0);
  EXPECT_EQ(aclrtDestroyEvent(join), 0);
  EXPECT_EQ(aclrtDestroyStream(side), 0);
}

// A stream of the graph waits for a value that another one writes later in the order of the calls.
TEST_F(GraphTest, AStreamThatWaitsHoldsUpNoOther) {
  const aclrtStream side = NewStream();
  const aclrtEvent fork = NewEvent();
  const aclrtEvent join = NewEvent();
  auto* const value = reinterpret_cast<uint64_t*>(Device(8));
  Write(value, 0);
  char* const a = Device(8);
  Begin();
  EXPECT_EQ(aclrtRecordEvent(fork, stream_), 0);
  EXPECT_EQ(aclrtStreamWaitEvent(side, fork), 0);
  EXPECT_EQ(aclrtValueWait(value, 1, ACL_STREAM_WAIT_VALUE_EQ, side), 0);
  EXPECT_EQ(aclrtMemsetAsync(a, 8, 2, 8, side), 0);
  EXPECT_EQ(aclrtRecordEvent(join, side), 0);
  EXPECT_EQ(aclrtMemsetAsync(a, 8, 1, 8, stream_), 0);
  EXPECT_EQ(aclrtValueWrite(value, 1, 0, stream_), 0);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, join), 0);
  const aclmdlRI graph = End();
  Execute(graph);
  EXPECT_EQ(ByteAt(a + 0), 2);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
  EXPECT_EQ(aclrtDestroyEvent(fork), 0);
  EXPECT_EQ(aclrtDestroyEvent(join), 0);
  EXPECT_EQ(aclrtDestroyStream(side), 0);
}

TEST_F(GraphTest, AnUnjoinedStreamEndsTheCaptureWithoutAGraph) {
  const aclrtStream side = NewStream();
  const aclrtEvent fork = NewEvent();
  char* const a = Device(8);
  Begin();
  EXPECT_EQ(aclrtRecordEvent(fork, stream_), 0);
  EXPECT_EQ(aclrtStreamWaitEvent(side, fork), 0);
  EXPECT_EQ(aclrtMemsetAsync(a, 8, 1, 8, side), 0);
  aclmdlRI graph = &graph;
  EXPECT_EQ(aclmdlRICaptureEnd(side, &graph), ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED);
  EXPECT_EQ(StatusOfCapture(stream_), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE) << "that changes nothing";
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_ERROR_RT_STREAM_UNJOINED);
  EXPECT_EQ(graph, nullptr);
  EXPECT_NE(Message().find("aclmdlRICaptureEnd: a stream that joined the capture has work"),
            std::string::npos);
  EXPECT_EQ(portacl::LiveGraphs(), 0);
  ExpectCaptureWorks();
  EXPECT_EQ(aclrtDestroyEvent(fork), 0);
  EXPECT_EQ(aclrtDestroyStream(side), 0);
}

// As torch_npu's allocator of pinned memory records one when a tensor dies.
TEST_F(GraphTest, AnEventBehindTheJoinIsNoWork) {
  const aclrtStream side = NewStream();
  const aclrtEvent fork = NewEvent();
  const aclrtEvent join = NewEvent();
  const aclrtEvent behind = NewEvent();
  char* const a = Device(8);
  Begin();
  EXPECT_EQ(aclrtRecordEvent(fork, stream_), 0);
  EXPECT_EQ(aclrtStreamWaitEvent(side, fork), 0);
  EXPECT_EQ(aclrtMemsetAsync(a, 8, 1, 8, side), 0);
  EXPECT_EQ(aclrtRecordEvent(join, side), 0);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, join), 0);
  EXPECT_EQ(aclrtRecordEvent(behind, side), 0);
  const aclmdlRI graph = End();
  Execute(graph);
  EXPECT_EQ(ByteAt(a), 1);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
  for (const aclrtEvent event : {fork, join, behind}) EXPECT_EQ(aclrtDestroyEvent(event), 0);
  EXPECT_EQ(aclrtDestroyStream(side), 0);
}

// Each is refused with its code and a message that names it, and invalidates the capture; the next one works.
TEST_F(GraphTest, WhatIsRefusedInvalidatesTheCapture) {
  char* const device = Device(64);
  std::vector<char> host(64);
  aclrtStreamStatus status = {};
  aclrtEventRecordedStatus recorded = {};
  const aclrtEvent inside = NewEvent();
  const aclrtEvent outside = NewEvent();
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), 0);
  ASSERT_EQ(aclrtRecordEvent(outside, stream_), 0);
  struct Case {
    const char* name;
    aclError code;
    std::function<aclError()> call;
  };
  const std::vector<Case> cases = {
      {"aclrtSynchronizeStream", ACL_ERROR_RT_STREAM_CAPTURED,
       [&] { return aclrtSynchronizeStream(stream_); }},
      {"aclrtSynchronizeStreamWithTimeout", ACL_ERROR_RT_STREAM_CAPTURED,
       [&] { return aclrtSynchronizeStreamWithTimeout(stream_, 5); }},
      {"aclrtSynchronizeDevice", ACL_ERROR_RT_STREAM_CAPTURED, [] { return aclrtSynchronizeDevice(); }},
      {"aclrtStreamQuery", ACL_ERROR_RT_STREAM_CAPTURED, [&] { return aclrtStreamQuery(stream_, &status); }},
      {"aclrtStreamAbort", ACL_ERROR_RT_STREAM_CAPTURED, [&] { return aclrtStreamAbort(stream_); }},
      {"aclrtFreeWithDevSync", ACL_ERROR_RT_STREAM_CAPTURED, [&] { return aclrtFreeWithDevSync(device); }},
      {"aclmdlRICaptureBegin", ACL_ERROR_RT_STREAM_CAPTURED,
       [&] { return aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED); }},
      {"aclrtSynchronizeEvent", ACL_ERROR_RT_EVENT_CAPTURED,
       [&] {
         EXPECT_EQ(aclrtRecordEvent(inside, stream_), 0);
         return aclrtSynchronizeEvent(inside);
       }},
      {"aclrtQueryEventStatus", ACL_ERROR_RT_EVENT_CAPTURED,
       [&] {
         EXPECT_EQ(aclrtRecordEvent(inside, stream_), 0);
         return aclrtQueryEventStatus(inside, &recorded);
       }},
      {"aclrtStreamWaitEvent", ACL_ERROR_RT_CAPTURE_DEPENDENCY,
       [&] { return aclrtStreamWaitEvent(stream_, outside); }},
      {"aclrtMemcpyAsync", ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC,
       [&] { return aclrtMemcpyAsync(device, 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_); }},
      {"aclrtMemcpy", ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
       [&] { return aclrtMemcpy(device, 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE); }},
      {"aclrtMemset", ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, [&] { return aclrtMemset(device, 64, 1, 64); }},
      {"aclrtMemcpy2d", ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
       [&] { return aclrtMemcpy2d(device, 8, host.data(), 8, 8, 2, ACL_MEMCPY_HOST_TO_DEVICE); }},
      {"aclrtRecordNotify", ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
       [&] { return aclrtRecordNotify(notify, stream_); }},
      {"aclrtWaitAndResetNotify", ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
       [&] { return aclrtWaitAndResetNotify(notify, stream_, 0); }},
      {"aclrtLaunchCallback", ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
       [&] { return aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_NO_BLOCK, stream_); }},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    Message();
    host.assign(64, 3);
    EXPECT_EQ(aclrtMemset(device, 64, 5, 64), 0);
    Begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT_EQ(one.call(), one.code);
    EXPECT_NE(Message().find(std::string(one.name) + ": "), std::string::npos);
    EXPECT_EQ(StatusOfCapture(stream_), ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
    EXPECT_EQ(aclrtMemsetAsync(device, 64, 1, 64, stream_), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    aclmdlRI graph = &graph;
    EXPECT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(StatusOfCapture(stream_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    EXPECT_EQ(portacl::LiveGraphs(), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
    EXPECT_EQ(ByteAt(device), 5) << "nothing was written";
    ExpectCaptureWorks();
  }
  EXPECT_EQ(aclrtDestroyNotify(notify), 0);
  EXPECT_EQ(aclrtDestroyEvent(inside), 0);
  EXPECT_EQ(aclrtDestroyEvent(outside), 0);
}

TEST_F(GraphTest, ModesSayWhatMayBeDoneAtOnce) {
  char* const device = Device(8);
  const auto at_once = [&](aclmdlRICaptureMode of_thread) {
    aclmdlRICaptureMode mode = of_thread;
    EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), 0);
    const aclError status = aclrtMemset(device, 8, 1, 8);
    EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), 0);
    return status;
  };
  constexpr auto kGlobal = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
  constexpr auto kThread = ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
  constexpr auto kRelaxed = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
  constexpr aclError kNo = ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT;
  struct Case {
    aclmdlRICaptureMode capture, thread;
    aclError here, elsewhere;
  };
  for (const Case& one :
       {Case{kGlobal, kGlobal, kNo, kNo}, Case{kGlobal, kThread, kNo, 0}, Case{kGlobal, kRelaxed, 0, 0},
        Case{kThread, kGlobal, kNo, 0}, Case{kThread, kThread, kNo, 0}, Case{kThread, kRelaxed, 0, 0},
        Case{kRelaxed, kGlobal, 0, 0}, Case{kRelaxed, kThread, 0, 0}}) {
    SCOPED_TRACE(::testing::Message() << "capture " << one.capture << " thread " << one.thread);
    for (const bool here : {true, false}) {
      Begin(one.capture);
      aclError status = -1;
      if (here) {
        status = at_once(one.thread);
      } else {
        std::thread([&] { status = at_once(one.thread); }).join();
      }
      EXPECT_EQ(status, here ? one.here : one.elsewhere);
      aclmdlRI graph = nullptr;
      EXPECT_EQ(aclmdlRICaptureEnd(stream_, &graph),
                status == 0 ? 0 : ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
      if (graph != nullptr) {
        EXPECT_EQ(aclmdlRIDestroy(graph), 0);
      }
    }
  }
}

TEST_F(GraphTest, TheThreadThatBeganEnds) {
  Begin(ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL);
  aclmdlRI graph = nullptr;
  std::thread([&] {
    EXPECT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  EXPECT_EQ(aclmdlRIDestroy(End()), 0);
  Begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  std::thread([&] { EXPECT_EQ(aclmdlRICaptureEnd(stream_, &graph), 0); }).join();
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

TEST_F(GraphTest, ArgumentsAreChecked) {
  aclmdlRI graph = nullptr;
  uint32_t id = 7;
  char name[8] = "before";
  int something = 0;
  const auto refuses = [](aclError status, aclError want, const char* text) {
    EXPECT_EQ(status, want) << text;
    EXPECT_NE(Message().find(text), std::string::npos) << text;
  };
  Message();
  refuses(aclmdlRICaptureBegin(nullptr, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
          ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, "aclmdlRICaptureBegin: the default stream");
  refuses(aclmdlRICaptureBegin(&something, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_ERROR_RT_STREAM_CONTEXT,
          "aclmdlRICaptureBegin: parameter stream");
  refuses(aclmdlRICaptureBegin(stream_, static_cast<aclmdlRICaptureMode>(3)), ACL_ERROR_INVALID_PARAM,
          "aclmdlRICaptureBegin: parameter mode has the value 3, accepted: 0 to 2");
  refuses(aclmdlRICaptureEnd(stream_, &graph), ACL_ERROR_RT_STREAM_NOT_CAPTURED, "aclmdlRICaptureEnd: ");
  refuses(aclmdlRICaptureEnd(stream_, nullptr), ACL_ERROR_INVALID_PARAM,
          "aclmdlRICaptureEnd: parameter modelRI");
  refuses(aclmdlRICaptureTaskGrpBegin(stream_), ACL_ERROR_RT_STREAM_NOT_CAPTURED,
          "aclmdlRICaptureTaskGrpBegin: ");
  refuses(aclmdlRICaptureTaskUpdateEnd(stream_), ACL_ERROR_STREAM_TASK_GROUP_STATUS,
          "aclmdlRICaptureTaskUpdateEnd: ");
  refuses(aclmdlRICaptureTaskUpdateBegin(stream_, &something), ACL_ERROR_RT_PARAM_INVALID,
          "aclmdlRICaptureTaskUpdateBegin: parameter handle");
  for (aclmdlRI unknown : {static_cast<aclmdlRI>(nullptr), static_cast<aclmdlRI>(&something)}) {
    const aclError want = unknown == nullptr ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_RT_PARAM_INVALID;
    refuses(aclmdlRIExecute(unknown, 100), want, "aclmdlRIExecute: parameter modelRI");
    refuses(aclmdlRIExecuteAsync(unknown, stream_), want, "aclmdlRIExecuteAsync: parameter modelRI");
    refuses(aclmdlRIAbort(unknown), want, "aclmdlRIAbort: parameter modelRI");
    refuses(aclmdlRIGetId(unknown, &id), want, "aclmdlRIGetId: parameter modelRI");
    refuses(aclmdlRISetName(unknown, "graph"), want, "aclmdlRISetName: parameter modelRI");
    refuses(aclmdlRIGetName(unknown, sizeof name, name), want, "aclmdlRIGetName: parameter modelRI");
    refuses(aclmdlRIDebugPrint(unknown), want, "aclmdlRIDebugPrint: parameter modelRI");
    refuses(aclmdlRIDebugJsonPrint(unknown, "graph.json", 0), want,
            "aclmdlRIDebugJsonPrint: parameter modelRI");
    refuses(aclmdlRIDestroy(unknown), want, "aclmdlRIDestroy: parameter modelRI");
  }
  EXPECT_EQ(id, 7u);
  EXPECT_STREQ(name, "before");

  Begin();
  aclmdlRICaptureStatus status = {};
  EXPECT_EQ(aclmdlRICaptureGetInfo(stream_, &status, &graph), 0);
  EXPECT_EQ(status, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(aclmdlRIGetId(graph, &id), 0) << "while it is captured, too";
  refuses(aclmdlRIExecuteAsync(graph, stream_), ACL_ERROR_RT_MODEL_CAPTURED, "aclmdlRIExecuteAsync: ");
  refuses(aclmdlRIDestroy(graph), ACL_ERROR_RT_MODEL_CAPTURED, "aclmdlRIDestroy: ");
  EXPECT_EQ(End(), graph);
  EXPECT_EQ(aclmdlRISetName(graph, "decode"), 0);
  EXPECT_EQ(aclmdlRIGetName(graph, sizeof name, name), 0);
  EXPECT_STREQ(name, "decode");
  refuses(aclmdlRIGetName(graph, 6, name), ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY,
          "parameter maxLen has the value 6, accepted: at least 7");
  refuses(aclmdlRIExecute(graph, -2), ACL_ERROR_RT_PARAM_INVALID, "aclmdlRIExecute: parameter timeout");
  EXPECT_EQ(aclmdlRIDebugPrint(graph), 0);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

TEST_F(GraphTest, TasksAreReplaced) {
  L1Call before(kSmall);
  L1Call after(kSmall, 5);
  L1Call fixed(kSmall, 9);
  aclrtTaskGrp group = nullptr;
  Begin();
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), 0);
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
  EXPECT_EQ(before.Launch(stream_), 0);
  EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group), 0);
  EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
  EXPECT_EQ(fixed.Launch(stream_), 0);
  const aclmdlRI graph = End();
  Execute(graph);
  EXPECT_TRUE(before.IsDone());

  const aclrtStream updates = NewStream();
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(updates, group), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
  EXPECT_EQ(after.Launch(updates), 0);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(updates), 0);
  EXPECT_EQ(aclrtSynchronizeStream(updates), 0);
  EXPECT_TRUE(after.IsUntouched());
  before.Clear();
  fixed.Clear();
  Execute(graph);
  EXPECT_TRUE(before.IsUntouched());
  EXPECT_TRUE(after.IsDone());
  EXPECT_TRUE(fixed.IsDone());

  // Other tasks than those that are recorded: nothing is replaced.
  Message();
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(updates), ACL_ERROR_RT_MODEL_UPDATE_FAILED);
  EXPECT_NE(Message().find("the group has 1 tasks and the stream was given 0"), std::string::npos);
  char* const device = Device(8);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
  EXPECT_EQ(aclrtMemsetAsync(device, 8, 1, 8, updates), 0);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(updates), ACL_ERROR_RT_MODEL_UPDATE_FAILED);
  EXPECT_NE(Message().find("task 0 of the group is aclnnL1LossBackward and the stream was given "
                           "aclrtMemsetAsync"),
            std::string::npos);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
  EXPECT_EQ(aclrtLaunchHostFunc(
                updates, [](void*) {}, nullptr),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP);
  EXPECT_EQ(after.Launch(updates), 0);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(updates), 0);
  after.Clear();
  EXPECT_EQ(aclrtSynchronizeStream(updates), 0);
  Execute(graph);
  EXPECT_TRUE(after.IsDone());
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(updates, group), ACL_ERROR_RT_PARAM_INVALID)
      << "it goes with the graph";
  EXPECT_EQ(aclrtDestroyStream(updates), 0);
}

// As a serving stack does: the graph waits for each group until it is updated.
TEST_F(GraphTest, ExternalEventsLetUpdatesComeDuringTheExecution) {
  L1Call before(kSmall);
  L1Call after(kSmall, 5);
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_EXTERNAL), 0);
  aclrtTaskGrp group = nullptr;
  Begin();
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, event), 0);
  EXPECT_EQ(aclrtResetEvent(event, stream_), 0);
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), 0);
  EXPECT_EQ(before.Launch(stream_), 0);
  EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group), 0);
  const aclmdlRI graph = End();
  const aclrtStream updates = NewStream();
  for (int run = 0; run < 20; ++run) {
    SCOPED_TRACE(run);
    L1Call& call = run % 2 == 0 ? after : before;
    call.Clear();
    EXPECT_EQ(aclmdlRIExecuteAsync(graph, stream_), 0);
    EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY);
    EXPECT_TRUE(call.IsUntouched());
    EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
    EXPECT_EQ(call.Launch(updates), 0);
    EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(updates), 0);
    EXPECT_EQ(aclrtRecordEvent(event, updates), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
    EXPECT_TRUE(call.IsDone());
  }
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
  // Outside of graphs a stream waits for its recording, too, be it later.
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, event), 0);
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY);
  EXPECT_EQ(aclrtRecordEvent(event, updates), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
  EXPECT_EQ(aclrtDestroyStream(updates), 0);
}

TEST_F(GraphTest, MemoryThatIsGoneIsAnErrorOfTheStream) {
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  char* const other = Device(64);
  Begin();
  EXPECT_EQ(aclrtMemsetAsync(other, 64, 7, 64, stream_), 0);
  EXPECT_EQ(aclrtMemsetAsync(static_cast<char*>(device) + 32, 32, 7, 32, stream_), 0);
  const aclmdlRI graph = End();
  EXPECT_EQ(aclmdlRISetName(graph, "decode"), 0);
  Execute(graph);
  EXPECT_EQ(ByteAt(other + 0), 7);
  EXPECT_EQ(aclrtMemset(other, 64, 1, 1), 0);
  EXPECT_EQ(aclrtFree(device), 0);
  void* again = nullptr;  // perhaps the same address: it is other memory all the same
  ASSERT_EQ(aclrtMalloc(&again, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  Message();
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, stream_), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_MODEL_EXECUTE);
  const std::string message = Message();
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<void*>(static_cast<char*>(device) + 32));
  EXPECT_NE(message.find(" (decode) was executed after the memory at " + std::string(address) +
                         " had been freed, which its task aclrtMemsetAsync uses"),
            std::string::npos)
      << message;
  EXPECT_EQ(ByteAt(other + 0), 1) << "none of its tasks ran";
  EXPECT_EQ(aclmdlRIExecute(graph, -1), ACL_ERROR_RT_MODEL_EXECUTE);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
  ExpectCaptureWorks();
  EXPECT_EQ(aclrtFree(again), 0);
}

// What is freed before the end of the capture cannot be missed by who looks at the end what there is.
TEST_F(GraphTest, MemoryThatIsFreedDuringTheCaptureInvalidatesIt) {
  char* const other = Device(64);
  struct Case {
    const char* name;
    std::function<void*()> allocate;
    std::function<aclError(void*)> free;
  };
  const std::vector<Case> cases = {
      {"aclrtFree",
       [] {
         void* address = nullptr;
         EXPECT_EQ(aclrtMalloc(&address, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
         return address;
       },
       aclrtFree},
      {"aclrtFreeHost",
       [] {
         void* address = nullptr;
         EXPECT_EQ(aclrtMallocHost(&address, 64), 0);
         return address;
       },
       aclrtFreeHost},
      {"aclrtHostUnregister",
       [] {
         void* const address = std::malloc(64);
         void* of_device = nullptr;
         EXPECT_EQ(aclrtHostRegister(address, 64, ACL_HOST_REGISTER_MAPPED, &of_device), 0);
         return address;
       },
       [](void* address) {
         const aclError status = aclrtHostUnregister(address);
         std::free(address);
         return status;
       }},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    void* const used = one.allocate();
    Begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    EXPECT_EQ(aclrtMemcpyAsync(other, 32, static_cast<char*>(used) + 32, 32, ACL_MEMCPY_DEFAULT, stream_), 0);
    void* unused = nullptr;
    EXPECT_EQ(aclrtMalloc(&unused, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    EXPECT_EQ(aclrtFree(unused), 0);
    EXPECT_EQ(StatusOfCapture(stream_), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    EXPECT_EQ(one.free(used), 0);
    EXPECT_EQ(StatusOfCapture(stream_), ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
    Message();
    aclmdlRI graph = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(graph, nullptr);
    EXPECT_NE(Message().find(std::string(one.name) + ": it freed memory that recorded work uses"),
              std::string::npos);
  }
  ExpectCaptureWorks();
}

TEST_F(GraphTest, MemoryOfGroupsMayGoUntilTheyRun) {
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  char* const device = Device(64);
  char* const before = Device(8);
  EXPECT_EQ(aclrtMemset(device, 64, 1, 64), 0);
  EXPECT_EQ(aclrtMemset(before, 8, 1, 8), 0);
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_EXTERNAL), 0);
  aclrtTaskGrp group = nullptr;
  Begin();
  EXPECT_EQ(aclrtMemsetAsync(before, 8, 2, 8, stream_), 0);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, event), 0);
  EXPECT_EQ(aclrtResetEvent(event, stream_), 0);
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), 0);
  EXPECT_EQ(aclrtMemsetAsync(freed, 64, 2, 64, stream_), 0);
  EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group), 0);
  EXPECT_EQ(aclrtMemsetAsync(device + 32, 32, 3, 32, stream_), 0);
  const aclmdlRI graph = End();
  const aclrtStream updates = NewStream();
  EXPECT_EQ(aclrtFree(freed), 0);

  // Without an update: what is before the group runs, and nothing behind that.
  EXPECT_EQ(aclrtRecordEvent(event, updates), 0);
  EXPECT_EQ(aclrtSynchronizeStream(updates), 0);
  Message();
  EXPECT_EQ(aclmdlRIExecute(graph, -1), ACL_ERROR_RT_MODEL_EXECUTE);
  const std::string message = Message();
  EXPECT_NE(message.find("had been freed, which its task aclrtMemsetAsync uses; it ended there"),
            std::string::npos)
      << message;
  EXPECT_EQ(ByteAt(before), 2);
  EXPECT_EQ(ByteAt(device + 63), 1);

  // An update that comes while the execution waits for it.
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, stream_), 0);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
  EXPECT_EQ(aclrtMemsetAsync(device, 64, 7, 64, updates), 0);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(updates), 0);
  EXPECT_EQ(aclrtRecordEvent(event, updates), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(ByteAt(device + 31), 7);
  EXPECT_EQ(ByteAt(device + 63), 3);

  // One whose memory goes before its end.
  void* gone = nullptr;
  ASSERT_EQ(aclrtMalloc(&gone, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
  EXPECT_EQ(aclrtMemsetAsync(gone, 64, 7, 64, updates), 0);
  EXPECT_EQ(aclrtFree(gone), 0);
  Message();
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(updates), ACL_ERROR_RT_MODEL_UPDATE_FAILED);
  EXPECT_NE(Message().find("nothing was updated. It was aclrtFree: it freed memory"), std::string::npos);
  EXPECT_EQ(aclrtRecordEvent(event, updates), 0);
  EXPECT_EQ(aclrtSynchronizeStream(updates), 0);
  Execute(graph);
  EXPECT_EQ(ByteAt(device + 31), 7);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
  EXPECT_EQ(aclrtDestroyStream(updates), 0);
}

TEST_F(GraphTest, WhoWaitsForItsTurnCanBeAborted) {
  auto* const value = reinterpret_cast<uint64_t*>(Device(8));
  Write(value, 0);
  Begin();
  EXPECT_EQ(aclrtValueWait(value, 1, ACL_STREAM_WAIT_VALUE_EQ, stream_), 0);
  const aclmdlRI graph = End();
  const aclrtStream aborted = NewStream();
  const aclrtStream forced = NewStream();
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, stream_), 0);
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY);
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, aborted), 0);
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, forced), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // one of them runs
  EXPECT_EQ(aclrtStreamAbort(aborted), 0);
  EXPECT_EQ(aclrtDestroyStreamForce(forced), 0);
  Write(value, 1);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
  EXPECT_EQ(aclrtDestroyStream(aborted), 0);
}

// Its work is missing in the recording: nobody may execute that.
TEST_F(GraphTest, APhase2ThatFailsInvalidatesTheCaptureOfAStreamThatStops) {
  char* const device = Device(64);
  const aclrtStream stops = NewStream();
  ASSERT_EQ(aclrtSetStreamFailureMode(stops, ACL_STOP_ON_FAILURE), 0);
  const int64_t size = 8;
  aclTensor* const result = aclCreateTensor(&size, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &size, 1, device);
  aclTensor* const nowhere =
      aclCreateTensor(&size, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &size, 1, nullptr);
  uint64_t workspace = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclmdlRICaptureBegin(stops, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
  EXPECT_EQ(aclrtMemsetAsync(device, 64, 0, 32, stops), 0);
  ASSERT_EQ(aclnnNegGetWorkspaceSize(nowhere, result, &workspace, &executor), 0);
  EXPECT_EQ(aclnnNeg(nullptr, workspace, executor, stops), 0) << "the end tells";
  EXPECT_EQ(StatusOfCapture(stops), ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
  Message();
  aclmdlRI graph = nullptr;
  EXPECT_EQ(aclmdlRICaptureEnd(stops, &graph), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  const std::string message = Message();
  EXPECT_NE(message.find("there is no graph. It was aclnnNeg: "), std::string::npos) << message;
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(aclrtSynchronizeStream(stops), 0);
  EXPECT_EQ(aclDestroyTensor(result), 0);
  EXPECT_EQ(aclDestroyTensor(nowhere), 0);
  EXPECT_EQ(aclrtDestroyStream(stops), 0);
}

TEST_F(GraphTest, HostFunctionsDoNotWaitForTheirGraph) {
  struct Call {
    aclmdlRI graph = nullptr;
    std::function<aclError(aclmdlRI)> function;
    aclError status = -1;
    static void Do(void* call) {
      auto& self = *static_cast<Call*>(call);
      self.status = self.function(self.graph);
    }
  } call;
  Begin();
  EXPECT_EQ(aclrtLaunchHostFunc(stream_, Call::Do, &call), 0);
  call.graph = End();
  call.function = [](aclmdlRI graph) { return aclmdlRIExecute(graph, -1); };
  Execute(call.graph);
  EXPECT_EQ(call.status, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  call.status = -1;
  EXPECT_EQ(aclmdlRIExecute(call.graph, -1), 0);
  EXPECT_EQ(call.status, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  call.function = aclmdlRIDestroy;
  EXPECT_EQ(aclmdlRIExecute(call.graph, -1), 0);
  EXPECT_EQ(call.status, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  // Of another stream's execution, nothing has to be waited for.
  Execute(call.graph);
  EXPECT_EQ(call.status, 0);
  EXPECT_EQ(aclmdlRIDestroy(call.graph), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(GraphTest, DestroyedWhileItRuns) {
  Gate gate;
  L1Call call(kSmall);
  Begin();
  gate.Close(stream_);
  EXPECT_EQ(call.Launch(stream_), 0);
  const aclmdlRI graph = End();
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, stream_), 0);
  gate.WaitUntilEntered();
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_TRUE(call.IsUntouched());
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_TRUE(call.IsDone());
}

TEST_F(GraphTest, AbortEndsWhatRunsAndWhatIsSubmitted) {
  L1Call call(kSmall);
  auto* const value = reinterpret_cast<uint64_t*>(Device(8));
  Write(value, 0);
  Begin();
  EXPECT_EQ(aclrtValueWait(value, 1, ACL_STREAM_WAIT_VALUE_EQ, stream_), 0);
  EXPECT_EQ(call.Launch(stream_), 0);
  const aclmdlRI graph = End();
  EXPECT_EQ(aclmdlRIExecute(graph, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, stream_), 0);
  EXPECT_EQ(aclmdlRIAbort(graph), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_MODEL_ABORT_NORMAL);
  EXPECT_TRUE(call.IsUntouched());
  Write(value, 1);
  Execute(graph);
  EXPECT_TRUE(call.IsDone());
  // A stream that is destroyed by force does not wait for the value.
  Write(value, 0);
  const aclrtStream forced = NewStream();
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, forced), 0);
  EXPECT_EQ(aclrtDestroyStreamForce(forced), 0);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

TEST_F(GraphTest, AStreamThatIsDestroyedEndsItsCapture) {
  const aclrtStream captured = NewStream();
  char* const device = Device(8);
  EXPECT_EQ(aclmdlRICaptureBegin(captured, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
  EXPECT_EQ(aclrtMemsetAsync(device, 8, 1, 8, captured), 0);
  EXPECT_EQ(aclrtDestroyStream(captured), 0);
  EXPECT_EQ(aclrtMemset(device, 8, 2, 8), 0) << "no capture forbids it any more";
  EXPECT_EQ(portacl::LiveGraphs(), 0);
}

TEST_F(GraphTest, PrintedAsJsonAndDot) {
  char* const device = Device(8);
  const aclrtEvent event = NewEvent();
  Begin();
  EXPECT_EQ(aclrtMemsetAsync(device, 8, 1, 8, stream_), 0);
  EXPECT_EQ(aclrtRecordEvent(event, stream_), 0);
  const aclmdlRI graph = End();
  const std::string base = ::testing::TempDir() + "portacl_graph";
  const auto printed = [&](const char* ending) {
    const std::string path = base + ending;
    EXPECT_EQ(aclmdlRIDebugJsonPrint(graph, path.c_str(), 0), 0);
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    std::remove(path.c_str());
    return text.str();
  };
  const std::string json = printed(".json");
  EXPECT_EQ(json.front(), '[');
  EXPECT_NE(json.find(R"("name": "aclrtMemsetAsync", "cat": "task", "ph": "X", "ts": 0)"), std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("name": "EVENT_RECORD_1")"), std::string::npos) << json;
  const std::string dot = printed(".dot");
  EXPECT_EQ(dot.find("digraph "), 0u) << dot;
  EXPECT_NE(dot.find("n0 -> n1;"), std::string::npos) << dot;
  Message();
  EXPECT_EQ(aclmdlRIDebugJsonPrint(graph, (base + "/no/file.json").c_str(), 0), ACL_ERROR_RT_FILE_OPEN);
  EXPECT_NE(Message().find("aclmdlRIDebugJsonPrint: parameter path"), std::string::npos);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
}

// Executions in several streams, updates and captures on other threads: one execution of a graph waits for another.
TEST_F(GraphTest, Threads) {
  constexpr int kRounds = PORTACL_TSAN || PORTACL_ASAN ? 30 : 200;
  L1Call first(kSmall);
  L1Call second(kSmall, 3);
  aclrtTaskGrp group = nullptr;
  Begin();
  EXPECT_EQ(first.Launch(stream_), 0);
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), 0);
  EXPECT_EQ(second.Launch(stream_), 0);
  EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group), 0);
  const aclmdlRI graph = End();
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      ASSERT_EQ(aclrtSetCurrentContext(context), 0);
      const aclrtStream own = NewStream();
      L1Call call(kSmall, t);
      for (int round = 0; round < kRounds; ++round) {
        if (t == 0) {
          EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(own, group), 0);
          EXPECT_EQ(second.Launch(own), 0);
          EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(own), 0);
        } else if (t == 1) {
          EXPECT_EQ(aclmdlRICaptureBegin(own, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL), 0);
          EXPECT_EQ(call.Launch(own), 0);
          aclmdlRI mine = nullptr;
          EXPECT_EQ(aclmdlRICaptureEnd(own, &mine), 0);
          EXPECT_EQ(aclmdlRIExecuteAsync(mine, own), 0);
          EXPECT_EQ(aclmdlRIDestroy(mine), 0);
        }
        EXPECT_EQ(aclmdlRIExecuteAsync(graph, own), 0);
        EXPECT_EQ(aclrtSynchronizeStream(own), 0);
      }
      EXPECT_EQ(aclrtDestroyStream(own), 0);
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_TRUE(first.IsDone());
  EXPECT_TRUE(second.IsDone());
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

}  // namespace
