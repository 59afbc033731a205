// Parts of graphs that are done on conditions: which part an execution does, what is refused, and what is left behind.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "acl/graph/graph_programs.h"
#include "acl/memory/memory.h"
#include "aclnnop/aclnn_add.h"

namespace {

constexpr auto kGlobal = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

class ConditionTest : public GraphPrograms {
 protected:
  void SetUp() override {
    GraphPrograms::SetUp();
    usage_ = portacl::UsageOfDevice(0).current;
  }
  void TearDown() override {
    GraphPrograms::TearDown();
    EXPECT_EQ(portacl::UsageOfDevice(0).current, usage_) << "memory of conditions is left";
  }

  // Captures what the function submits to the stream that it is given.
  template <class Work>
  aclmdlRI Captured(Work work) {
    Begin();
    work(stream_);
    return End();
  }
  aclmdlRI GraphOf(aclrtStream stream) {
    aclmdlRICaptureStatus status = {};
    aclmdlRI graph = nullptr;
    EXPECT_EQ(aclmdlRICaptureGetInfo(stream, &status, &graph), ACL_SUCCESS);
    EXPECT_EQ(status, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    return graph;
  }
  struct Condition {
    aclmdlRICondHandle handle = nullptr;
    uint64_t* place = nullptr;
  };
  // A condition of the graph that the stream records. Its value begins at `first`, or stays what it was.
  Condition NewCondition(aclrtStream stream, uint32_t first, bool begins_anew = true) {
    Condition condition;
    EXPECT_EQ(aclmdlRICondHandleCreate(
                  GraphOf(stream), first,
                  begins_anew ? ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT : aclmdlRICondHandleFlag{},
                  &condition.handle),
              ACL_SUCCESS);
    EXPECT_EQ(aclmdlRICondHandleGetCondPtr(condition.handle, &condition.place), ACL_SUCCESS);
    return condition;
  }
  std::vector<aclmdlRI> AddParts(aclrtStream stream, const Condition& condition, aclmdlRICondTaskType type,
                                 uint32_t parts) {
    std::vector<aclmdlRI> graphs(parts);
    EXPECT_EQ(aclmdlRIAddCondTask({condition.handle, type, parts, graphs.data()}, stream, 0), ACL_SUCCESS);
    return graphs;
  }
  // Captures a part on a stream of its own.
  template <class Work>
  void CapturePart(aclmdlRI part, Work work) {
    const aclrtStream own = NewStream();
    ASSERT_EQ(aclmdlRICaptureToModelRIBegin(own, part, kGlobal), ACL_SUCCESS);
    EXPECT_EQ(GraphOf(own), part);
    work(own);
    aclmdlRI ended = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(own, &ended), ACL_SUCCESS);
    EXPECT_EQ(ended, part);
    EXPECT_EQ(aclrtDestroyStream(own), ACL_SUCCESS);
  }
  template <class Work>
  void AddPart(aclrtStream stream, const Condition& condition, aclmdlRICondTaskType type, Work work) {
    CapturePart(AddParts(stream, condition, type, 1)[0], work);
  }
  // *to = *from in the stream's order.
  static void Copy(void* to, const void* from, aclrtStream stream) {
    EXPECT_EQ(aclrtMemcpyAsync(to, 8, from, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
  }
  // *address += delta in the stream's order.
  static void Add(void* address, int64_t delta, aclrtStream stream) {
    const int64_t one = 1;
    const int64_t stride = 1;
    int64_t factor = 1;
    aclTensor* const tensor =
        aclCreateTensor(&one, 1, ACL_INT64, &stride, 0, ACL_FORMAT_ND, &one, 1, address);
    aclScalar* const other = aclCreateScalar(&delta, ACL_INT64);
    aclScalar* const alpha = aclCreateScalar(&factor, ACL_INT64);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnInplaceAddsGetWorkspaceSize(tensor, other, alpha, &size, &executor), 0);
    EXPECT_EQ(size, 0u);
    EXPECT_EQ(aclnnInplaceAdds(nullptr, 0, executor, stream), 0);
    aclDestroyScalar(alpha);
    aclDestroyScalar(other);
    aclDestroyTensor(tensor);
  }
  uint64_t* Number(uint64_t value = 0) {
    auto* const number = reinterpret_cast<uint64_t*>(Device(8));
    Write(number, value);
    return number;
  }
  static void Refused(aclError status, aclError wanted, const std::string& text) {
    EXPECT_EQ(status, wanted);
    const std::string message = Message();
    EXPECT_NE(message.find(text), std::string::npos) << message << "\nlacks: " << text;
  }

 private:
  uint64_t usage_ = 0;
};

// Frees the memory of a condition that no task names yet.
TEST_F(ConditionTest, FreedMemoryOfAConditionInvalidatesTheCapture) {
  Begin();
  const Condition condition = NewCondition(stream_, 1);
  EXPECT_EQ(aclrtFree(condition.place), 0);
  aclmdlRI graph = nullptr;
  Refused(aclmdlRICaptureEnd(stream_, &graph), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "it freed memory");
}

TEST_F(ConditionTest, PartsAreAtMost64Deep) {
  Begin();
  std::vector<aclrtStream> streams = {stream_};
  while (streams.size() <= 64) {
    const Condition condition = NewCondition(streams.back(), 0);
    const aclmdlRI part = AddParts(streams.back(), condition, ACL_MODEL_RI_COND_TYPE_IF, 1)[0];
    streams.push_back(NewStream());
    ASSERT_EQ(aclmdlRICaptureToModelRIBegin(streams.back(), part, kGlobal), ACL_SUCCESS) << streams.size();
  }
  const Condition condition = NewCondition(streams.back(), 0);
  aclmdlRI part = nullptr;
  Refused(aclmdlRIAddCondTask({condition.handle, ACL_MODEL_RI_COND_TYPE_IF, 1, &part}, streams.back(), 0),
          ACL_ERROR_RT_PARAM_INVALID, "accepted: at most 64");
  aclmdlRI graph = nullptr;
  while (!streams.empty()) {
    EXPECT_EQ(aclmdlRICaptureEnd(streams.back(), &graph), ACL_SUCCESS) << streams.size();
    if (streams.back() != stream_) {
      EXPECT_EQ(aclrtDestroyStream(streams.back()), 0);
    }
    streams.pop_back();
  }
  Execute(graph);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

// As torch_npu does it: a byte of a tensor of BOOL, behind zeros.
TEST_F(ConditionTest, ThePartOfIfIsDoneByTheValueAtTheExecution) {
  char* const flag = Device(1);
  uint64_t* const count = Number();
  uint64_t* const calls = Number();
  const aclmdlRI graph = Captured([&](aclrtStream stream) {
    const Condition condition = NewCondition(stream, 0);
    EXPECT_EQ(aclrtMemsetAsync(condition.place, 8, 0, 8, stream), 0);
    EXPECT_EQ(aclrtMemcpyAsync(condition.place, 8, flag, 1, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), 0);
    AddPart(stream, condition, ACL_MODEL_RI_COND_TYPE_IF, [&](aclrtStream own) { Add(count, 1, own); });
    Add(calls, 1, stream);
  });
  EXPECT_EQ(ValueAt(count), 0u) << "nothing is done before an execution";
  uint64_t wanted = 0;
  for (const int value : {0, 1, 0, 1, 1, 0x80}) {
    EXPECT_EQ(aclrtMemset(flag, 1, value, 1), 0);
    Execute(graph);
    wanted += value != 0;
    EXPECT_EQ(ValueAt(count), wanted) << value;
  }
  EXPECT_EQ(ValueAt(calls), 6u);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

TEST_F(ConditionTest, TheSecondPartOfIfIsElse) {
  uint64_t* const input = Number();
  uint64_t* const yes = Number();
  uint64_t* const no = Number();
  const aclmdlRI graph = Captured([&](aclrtStream stream) {
    const Condition condition = NewCondition(stream, 0);
    Copy(condition.place, input, stream);
    const auto parts = AddParts(stream, condition, ACL_MODEL_RI_COND_TYPE_IF, 2);
    CapturePart(parts[1], [&](aclrtStream own) { Add(no, 1, own); });
    CapturePart(parts[0], [&](aclrtStream own) { Add(yes, 1, own); });
  });
  for (const uint64_t value : {uint64_t{0}, uint64_t{1} << 63, uint64_t{1}}) {
    Write(input, value);
    EXPECT_EQ(aclmdlRIExecute(graph, -1), 0);
  }
  EXPECT_EQ(ValueAt(yes), 2u) << "all 64 bits count";
  EXPECT_EQ(ValueAt(no), 1u);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

TEST_F(ConditionTest, WhileRepeatsItsPart) {
  uint64_t* const input = Number();
  uint64_t* const rounds = Number();
  const aclmdlRI graph = Captured([&](aclrtStream stream) {
    const Condition condition = NewCondition(stream, 0);
    Copy(condition.place, input, stream);
    AddPart(stream, condition, ACL_MODEL_RI_COND_TYPE_WHILE, [&](aclrtStream own) {
      Add(rounds, 1, own);
      Add(condition.place, -1, own);
    });
  });
  uint64_t wanted = 0;
  for (const uint64_t value : {0, 1, 5, 100}) {
    Write(input, value);
    Execute(graph);
    wanted += value;
    EXPECT_EQ(ValueAt(rounds), wanted);
  }
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

TEST_F(ConditionTest, SwitchDoesThePartOfItsNumber) {
  uint64_t* const input = Number();
  std::vector<uint64_t*> counts;
  for (int i = 0; i < 3; ++i) counts.push_back(Number());
  const aclmdlRI graph = Captured([&](aclrtStream stream) {
    const Condition condition = NewCondition(stream, 0);
    Copy(condition.place, input, stream);
    const auto parts = AddParts(stream, condition, ACL_MODEL_RI_COND_TYPE_SWITCH, 4);
    for (size_t i = 0; i < 3; ++i) CapturePart(parts[i], [&](aclrtStream own) { Add(counts[i], 1, own); });
    // The last part stays empty.
  });
  for (const uint64_t value : {0, 2, 2, 3, 4, 1 << 30}) {
    Write(input, value);
    Execute(graph);
  }
  EXPECT_EQ(ValueAt(counts[0]), 1u);
  EXPECT_EQ(ValueAt(counts[1]), 0u);
  EXPECT_EQ(ValueAt(counts[2]), 2u);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

TEST_F(ConditionTest, AConditionBeginsAnewOrKeepsItsValue) {
  for (const bool begins_anew : {true, false}) {
    uint64_t* const count = Number();
    const aclmdlRI graph = Captured([&](aclrtStream stream) {
      const Condition condition = NewCondition(stream, 3, begins_anew);
      AddPart(stream, condition, ACL_MODEL_RI_COND_TYPE_IF, [&](aclrtStream own) {
        Add(count, 1, own);
        Add(condition.place, -1, own);
      });
    });
    for (int i = 0; i < 5; ++i) Execute(graph);
    EXPECT_EQ(ValueAt(count), begins_anew ? 5u : 3u);
    EXPECT_EQ(aclmdlRIDestroy(graph), 0);
  }
}

TEST_F(ConditionTest, PartsHaveParts) {
  uint64_t* const rows = Number(3);
  uint64_t* const columns = Number(4);
  uint64_t* const inner_rounds = Number();
  uint64_t* const last = Number();
  const aclmdlRI graph = Captured([&](aclrtStream stream) {
    const Condition outer = NewCondition(stream, 0);
    Copy(outer.place, rows, stream);
    AddPart(stream, outer, ACL_MODEL_RI_COND_TYPE_WHILE, [&](aclrtStream row) {
      Add(outer.place, -1, row);
      const Condition inner = NewCondition(row, 0);
      Copy(inner.place, columns, row);
      AddPart(row, inner, ACL_MODEL_RI_COND_TYPE_WHILE, [&](aclrtStream column) {
        Add(inner_rounds, 1, column);
        Add(inner.place, -1, column);
      });
      // The condition of the outer graph is a number in memory here, too.
      const Condition any_left = NewCondition(row, 0);
      Copy(any_left.place, outer.place, row);
      const auto parts = AddParts(row, any_left, ACL_MODEL_RI_COND_TYPE_IF, 2);
      CapturePart(parts[1], [&](aclrtStream own) { Add(last, 1, own); });
    });
  });
  for (uint64_t run = 1; run <= 2; ++run) {
    Execute(graph);
    EXPECT_EQ(ValueAt(inner_rounds), run * 12);
    EXPECT_EQ(ValueAt(last), run);
  }
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

TEST_F(ConditionTest, AConditionOfAPartBeginsAnewWheneverThatIsDone) {
  uint64_t* const count = Number();
  const aclmdlRI graph = Captured([&](aclrtStream stream) {
    const Condition outer = NewCondition(stream, 4);
    AddPart(stream, outer, ACL_MODEL_RI_COND_TYPE_WHILE, [&](aclrtStream row) {
      Add(outer.place, -1, row);
      const Condition inner = NewCondition(row, 2);
      AddPart(row, inner, ACL_MODEL_RI_COND_TYPE_WHILE, [&](aclrtStream own) {
        Add(count, 1, own);
        Add(inner.place, -1, own);
      });
    });
  });
  Execute(graph);
  EXPECT_EQ(ValueAt(count), 8u);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

TEST_F(ConditionTest, APartOfSeveralStreams) {
  uint64_t* const first = Number();
  uint64_t* const second = Number();
  const aclmdlRI graph = Captured([&](aclrtStream stream) {
    const Condition condition = NewCondition(stream, 1);
    AddPart(stream, condition, ACL_MODEL_RI_COND_TYPE_IF, [&](aclrtStream own) {
      const aclrtStream other = NewStream();
      const aclrtEvent fork = NewEvent();
      const aclrtEvent join = NewEvent();
      Add(first, 5, own);
      EXPECT_EQ(aclrtRecordEvent(fork, own), 0);
      EXPECT_EQ(aclrtStreamWaitEvent(other, fork), 0);
      Copy(second, first, other);
      EXPECT_EQ(aclrtRecordEvent(join, other), 0);
      EXPECT_EQ(aclrtStreamWaitEvent(own, join), 0);
      Add(second, 1, own);
      EXPECT_EQ(aclrtDestroyEvent(fork), 0);
      EXPECT_EQ(aclrtDestroyEvent(join), 0);
    });
  });
  Execute(graph);
  EXPECT_EQ(ValueAt(second), 6u);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

// A wait in a part holds up its own lane alone, and goes on where it was.
TEST_F(ConditionTest, PartsWait) {
  uint64_t* const value = Number();
  uint64_t* const before = Number();
  uint64_t* const behind = Number();
  uint64_t* const beside = Number();
  const aclmdlRI graph = Captured([&](aclrtStream stream) {
    const aclrtStream other = NewStream();
    const aclrtEvent fork = NewEvent();
    const aclrtEvent join = NewEvent();
    const Condition condition = NewCondition(stream, 2);
    EXPECT_EQ(aclrtRecordEvent(fork, stream), 0);
    EXPECT_EQ(aclrtStreamWaitEvent(other, fork), 0);
    AddPart(stream, condition, ACL_MODEL_RI_COND_TYPE_WHILE, [&](aclrtStream own) {
      Add(before, 1, own);
      EXPECT_EQ(aclrtValueWait(value, 1, ACL_STREAM_WAIT_VALUE_EQ, own), 0);
      EXPECT_EQ(aclrtValueWrite(value, 0, 0, own), 0);
      Add(behind, 1, own);
      Add(condition.place, -1, own);
    });
    // Behind the part in the order of the calls, and it lets the first round go on.
    Add(beside, 1, other);
    EXPECT_EQ(aclrtValueWrite(value, 1, 0, other), 0);
    EXPECT_EQ(aclrtRecordEvent(join, other), 0);
    EXPECT_EQ(aclrtStreamWaitEvent(stream, join), 0);
    EXPECT_EQ(aclrtDestroyEvent(fork), 0);
    EXPECT_EQ(aclrtDestroyEvent(join), 0);
  });
  for (uint64_t run = 1; run <= 2; ++run) {
    EXPECT_EQ(aclmdlRIExecuteAsync(graph, stream_), 0);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 50), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_EQ(ValueAt(behind), 2 * run - 1);
    EXPECT_EQ(ValueAt(before), 2 * run) << "no task of a round is done twice";
    EXPECT_EQ(ValueAt(beside), run);
    Write(value, 1);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
    EXPECT_EQ(ValueAt(behind), 2 * run);
  }
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

TEST_F(ConditionTest, AnEndlessWhileCanBeAborted) {
  uint64_t* const count = Number();
  const aclmdlRI graph = Captured([&](aclrtStream stream) {
    const Condition condition = NewCondition(stream, 1);
    AddPart(stream, condition, ACL_MODEL_RI_COND_TYPE_WHILE, [&](aclrtStream own) { Add(count, 1, own); });
  });
  EXPECT_EQ(aclmdlRIExecute(graph, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, stream_), 0) << "it waits for its turn";
  EXPECT_EQ(aclmdlRIAbort(graph), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_MODEL_ABORT_NORMAL);
  EXPECT_GE(ValueAt(count), 1u);
  const aclrtStream forced = NewStream();
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, forced), 0);
  EXPECT_EQ(aclrtDestroyStreamForce(forced), 0);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

TEST_F(ConditionTest, TasksOfPartsAreReplaced) {
  uint64_t* const from = Number(1);
  uint64_t* const other = Number(2);
  uint64_t* const to = Number();
  aclrtTaskGrp group = nullptr;
  const aclmdlRI graph = Captured([&](aclrtStream stream) {
    const Condition condition = NewCondition(stream, 1);
    AddPart(stream, condition, ACL_MODEL_RI_COND_TYPE_IF, [&](aclrtStream own) {
      EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(own), 0);
      Copy(to, from, own);
      EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(own, &group), 0);
    });
    Refused(aclmdlRICaptureTaskUpdateBegin(NewStream(), group), ACL_ERROR_RT_MODEL_CAPTURED,
            "aclmdlRICaptureTaskUpdateBegin: the graph of the group is being captured");
  });
  Execute(graph);
  EXPECT_EQ(ValueAt(to), 1u);
  const aclrtStream updates = NewStream();
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(updates, group), 0);
  Copy(to, other, updates);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(updates), 0);
  EXPECT_EQ(aclrtSynchronizeStream(updates), 0);
  Execute(graph);
  EXPECT_EQ(ValueAt(to), 2u);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(updates, group), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(ConditionTest, ArgumentsAreChecked) {
  uint64_t* place = nullptr;
  aclmdlRICondHandle handle = nullptr;
  aclmdlRI part = nullptr;
  Message();
  Refused(aclmdlRICondHandleCreate(nullptr, 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &handle),
          ACL_ERROR_INVALID_PARAM, "aclmdlRICondHandleCreate: parameter modelRI is a null pointer");
  Refused(aclmdlRICondHandleCreate(&place, 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &handle),
          ACL_ERROR_RT_PARAM_INVALID, "aclmdlRICondHandleCreate: parameter modelRI has the value ");
  const aclmdlRI whole = Captured([](aclrtStream) {});
  Refused(aclmdlRICondHandleCreate(whole, 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &handle),
          ACL_ERROR_RT_PARAM_INVALID, "accepted: a graph that is being captured");
  Refused(aclmdlRICaptureToModelRIBegin(stream_, whole, kGlobal), ACL_ERROR_RT_PARAM_INVALID,
          "aclmdlRICaptureToModelRIBegin: parameter modelRI has the value ");
  EXPECT_EQ(aclmdlRIDestroy(whole), 0);

  Begin();
  const aclmdlRI graph = GraphOf(stream_);
  Refused(aclmdlRICondHandleCreate(graph, 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, nullptr),
          ACL_ERROR_INVALID_PARAM, "parameter handle is a null pointer");
  Refused(aclmdlRICondHandleCreate(graph, 0, static_cast<aclmdlRICondHandleFlag>(2), &handle),
          ACL_ERROR_INVALID_PARAM, "parameter flag has the value 2, accepted: 0 or 1");
  EXPECT_EQ(handle, nullptr);
  const Condition condition = NewCondition(stream_, 0);
  Refused(aclmdlRICondHandleGetCondPtr(nullptr, &place), ACL_ERROR_INVALID_PARAM, "parameter handle");
  Refused(aclmdlRICondHandleGetCondPtr(condition.handle, nullptr), ACL_ERROR_INVALID_PARAM, "parameter ptr");
  Refused(aclmdlRICondHandleGetCondPtr(graph, &place), ACL_ERROR_RT_PARAM_INVALID,
          "aclmdlRICondHandleGetCondPtr: parameter handle has the value ");
  EXPECT_EQ(place, nullptr);

  const auto add = [&](aclmdlRICondHandle of, int type, uint32_t size, aclmdlRI* graphs, aclrtStream stream,
                       uint32_t flags = 0) {
    return aclmdlRIAddCondTask({of, static_cast<aclmdlRICondTaskType>(type), size, graphs}, stream, flags);
  };
  Refused(add(nullptr, 0, 1, &part, stream_), ACL_ERROR_INVALID_PARAM, "parameter params.handle");
  Refused(add(condition.handle, 0, 1, nullptr, stream_), ACL_ERROR_INVALID_PARAM,
          "parameter params.modelRIArray");
  Refused(add(condition.handle, 3, 1, &part, stream_), ACL_ERROR_INVALID_PARAM,
          "parameter params.type has the value 3, accepted: 0 to 2");
  Refused(add(condition.handle, 0, 0, &part, stream_), ACL_ERROR_RT_PARAM_INVALID,
          "parameter params.size has the value 0, accepted: 1 or 2");
  Refused(add(condition.handle, 0, 3, &part, stream_), ACL_ERROR_RT_PARAM_INVALID, "accepted: 1 or 2");
  Refused(add(condition.handle, 1, 2, &part, stream_), ACL_ERROR_RT_PARAM_INVALID,
          "parameter params.size has the value 2, accepted: 1 for");
  Refused(add(condition.handle, 2, 0, &part, stream_), ACL_ERROR_RT_PARAM_INVALID, "accepted: 1 to 65536");
  Refused(add(condition.handle, 0, 1, &part, stream_, 1), ACL_ERROR_RT_PARAM_INVALID,
          "parameter flags has the value 1, accepted: 0");
  Refused(add(graph, 0, 1, &part, stream_), ACL_ERROR_RT_PARAM_INVALID,
          "aclmdlRIAddCondTask: parameter params.handle has the value ");
  const aclrtStream free = NewStream();
  Refused(add(condition.handle, 0, 1, &part, free), ACL_ERROR_RT_STREAM_NOT_CAPTURED,
          "aclmdlRIAddCondTask: the stream is not captured");
  aclrtTaskGrp group = nullptr;
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), 0);
  Refused(add(condition.handle, 0, 1, &part, stream_), ACL_ERROR_STREAM_TASK_GROUP_STATUS,
          "aclmdlRIAddCondTask: a group of tasks is open on the stream");
  EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group), 0);
  EXPECT_EQ(part, nullptr);

  part = AddParts(stream_, condition, ACL_MODEL_RI_COND_TYPE_IF, 1)[0];
  Refused(aclmdlRICaptureToModelRIBegin(free, part, static_cast<aclmdlRICaptureMode>(3)),
          ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureToModelRIBegin: parameter mode has the value 3");
  Refused(aclmdlRICaptureToModelRIBegin(nullptr, part, kGlobal), ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
          "aclmdlRICaptureToModelRIBegin: the default stream cannot be captured");
  EXPECT_EQ(aclmdlRICaptureToModelRIBegin(free, part, kGlobal), 0);
  // A condition belongs to the graph that it was made for.
  aclmdlRI inner = nullptr;
  Refused(add(condition.handle, 0, 1, &inner, free), ACL_ERROR_RT_PARAM_INVALID,
          "accepted: a condition that aclmdlRICondHandleCreate made for the graph that the stream records");
  Refused(aclmdlRICaptureToModelRIBegin(NewStream(), part, kGlobal), ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING,
          "aclmdlRICaptureToModelRIBegin: the graph is being captured on another stream");
  aclmdlRI ended = nullptr;
  EXPECT_EQ(aclmdlRICaptureEnd(free, &ended), 0);
  EXPECT_EQ(ended, part);
  Refused(aclmdlRICaptureToModelRIBegin(free, part, kGlobal), ACL_ERROR_RT_PARAM_INVALID,
          "accepted: a graph of aclmdlRIAddCondTask that has not been captured before");
  const aclmdlRI never = AddParts(stream_, condition, ACL_MODEL_RI_COND_TYPE_IF, 1)[0];
  EXPECT_EQ(End(), graph);

  Refused(aclmdlRICaptureToModelRIBegin(free, never, kGlobal), ACL_ERROR_RT_PARAM_INVALID,
          "accepted: a graph of aclmdlRIAddCondTask, until the capture ends that it is a part of");
  Refused(aclmdlRIExecuteAsync(part, stream_), ACL_ERROR_RT_PARAM_INVALID,
          "aclmdlRIExecuteAsync: parameter modelRI has the value ");
  EXPECT_EQ(aclmdlRIExecute(part, -1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclmdlRIAbort(part), ACL_ERROR_RT_PARAM_INVALID);
  Refused(aclmdlRIDestroy(part), ACL_ERROR_RT_PARAM_INVALID,
          "accepted: the graph that this one is a part of: only that is executed, aborted and destroyed");
  EXPECT_EQ(aclmdlRIExecute(graph, -1), 0);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
  uint32_t id = 0;
  EXPECT_EQ(aclmdlRIGetId(part, &id), ACL_ERROR_RT_PARAM_INVALID) << "parts end with their graph";
  EXPECT_EQ(aclmdlRICondHandleGetCondPtr(condition.handle, &place), ACL_ERROR_RT_PARAM_INVALID);
  ExpectCaptureWorks();
}

TEST_F(ConditionTest, AnOpenPartEndsBothCaptures) {
  uint64_t* const number = Number();
  const aclrtStream own = NewStream();
  Begin();
  const Condition condition = NewCondition(stream_, 1);
  const aclmdlRI part = AddParts(stream_, condition, ACL_MODEL_RI_COND_TYPE_IF, 1)[0];
  EXPECT_EQ(aclmdlRICaptureToModelRIBegin(own, part, kGlobal), 0);
  Add(number, 1, own);
  aclmdlRI graph = part;
  Message();
  Refused(aclmdlRICaptureEnd(stream_, &graph), ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING,
          "aclmdlRICaptureEnd: a part of the graph is being captured");
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(StatusOfCapture(own), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  EXPECT_EQ(portacl::LiveGraphs(), 0);
  EXPECT_EQ(aclmdlRICaptureEnd(own, &graph), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  EXPECT_EQ(ValueAt(number), 0u);
  ExpectCaptureWorks();
}

TEST_F(ConditionTest, WhatInvalidatesAPartInvalidatesTheCapture) {
  const aclrtStream own = NewStream();
  const auto begin = [&] {
    Begin();
    const Condition condition = NewCondition(stream_, 1);
    const aclmdlRI part = AddParts(stream_, condition, ACL_MODEL_RI_COND_TYPE_IF, 1)[0];
    EXPECT_EQ(aclmdlRICaptureToModelRIBegin(own, part, kGlobal), 0);
  };
  const auto ends = [&](const char* reason) {
    EXPECT_EQ(StatusOfCapture(own), ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED) << reason;
    EXPECT_EQ(StatusOfCapture(stream_), ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED) << reason;
    aclmdlRI graph = nullptr;
    Refused(aclmdlRICaptureEnd(own, &graph), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, reason);
    EXPECT_EQ(StatusOfCapture(own), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    EXPECT_EQ(StatusOfCapture(stream_), ACL_MODEL_RI_CAPTURE_STATUS_NONE) << "both are over";
    Refused(aclmdlRICaptureEnd(stream_, &graph), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, reason);
    EXPECT_EQ(portacl::LiveGraphs(), 0);
    ExpectCaptureWorks();
  };
  begin();
  EXPECT_EQ(aclrtSynchronizeStream(own), ACL_ERROR_RT_STREAM_CAPTURED);
  ends("aclrtSynchronizeStream: ");

  begin();
  char* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(reinterpret_cast<void**>(&memory), 8, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  EXPECT_EQ(aclrtMemsetAsync(memory, 8, 0, 8, own), 0);
  EXPECT_EQ(aclrtFree(memory), 0);
  ends("aclrtFree: it freed memory that recorded work uses");

  // Nobody ends the capture of the whole, as torch_npu does not.
  begin();
  EXPECT_EQ(aclrtSynchronizeStream(own), ACL_ERROR_RT_STREAM_CAPTURED);
  aclmdlRI graph = nullptr;
  EXPECT_EQ(aclmdlRICaptureEnd(own, &graph), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  ExpectCaptureWorks();
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_ERROR_RT_STREAM_NOT_CAPTURED);

  // The capture of the whole is invalidated by itself: only its own end says so.
  begin();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_CAPTURED);
  EXPECT_EQ(aclmdlRICaptureEnd(own, &graph), 0);
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);

  // The part is over, and what it recorded counts still.
  begin();
  EXPECT_EQ(aclrtMalloc(reinterpret_cast<void**>(&memory), 8, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  EXPECT_EQ(aclrtMemsetAsync(memory, 8, 0, 8, own), 0);
  EXPECT_EQ(aclmdlRICaptureEnd(own, &graph), 0);
  EXPECT_EQ(aclrtFree(memory), 0);
  Refused(aclmdlRICaptureEnd(stream_, &graph), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "aclrtFree: ");
  EXPECT_EQ(portacl::LiveGraphs(), 0);

  // An event of the outer graph orders nothing in a part.
  const aclrtEvent event = NewEvent();
  begin();
  EXPECT_EQ(aclrtRecordEvent(event, stream_), 0);
  EXPECT_EQ(aclrtStreamWaitEvent(own, event), ACL_ERROR_STREAM_CAPTURE_CONFLICT);
  ends("aclrtStreamWaitEvent: ");
  EXPECT_EQ(aclrtDestroyEvent(event), 0);

  // The stream of a part goes.
  Begin();
  const Condition condition = NewCondition(stream_, 1);
  const aclrtStream gone = NewStream();
  EXPECT_EQ(aclmdlRICaptureToModelRIBegin(gone, AddParts(stream_, condition, ACL_MODEL_RI_COND_TYPE_IF, 1)[0],
                                          kGlobal),
            0);
  EXPECT_EQ(aclrtDestroyStream(gone), 0);
  Message();
  graph = nullptr;
  const aclError status = aclmdlRICaptureEnd(stream_, &graph);
  EXPECT_TRUE(status == ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING ||
              status == ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED)
      << status;
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(portacl::LiveGraphs(), 0);
  ExpectCaptureWorks();
}

TEST_F(ConditionTest, MemoryOfPartsThatIsGoneIsAnErrorOfTheStream) {
  char* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(reinterpret_cast<void**>(&memory), 8, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  uint64_t* const count = Number();
  uint64_t* place = nullptr;
  const aclmdlRI graph = Captured([&](aclrtStream stream) {
    Add(count, 1, stream);
    const Condition condition = NewCondition(stream, 0);
    place = condition.place;
    AddPart(stream, condition, ACL_MODEL_RI_COND_TYPE_IF,
            [&](aclrtStream own) { EXPECT_EQ(aclrtMemsetAsync(memory, 8, 0, 8, own), 0); });
  });
  Execute(graph);
  EXPECT_EQ(aclrtFree(memory), 0);
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, stream_), 0);
  Message();
  Refused(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_MODEL_EXECUTE, "its task aclrtMemsetAsync uses");
  EXPECT_EQ(ValueAt(count), 1u) << "none of its tasks ran";
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);

  // A condition that the program freed by mistake.
  const aclmdlRI other = Captured([&](aclrtStream stream) { place = NewCondition(stream, 0).place; });
  EXPECT_EQ(aclrtFree(place), 0);
  EXPECT_EQ(aclmdlRIExecuteAsync(other, stream_), 0);
  Refused(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_MODEL_EXECUTE,
          "its task aclmdlRICondHandleCreate uses");
  EXPECT_EQ(aclmdlRIDestroy(other), 0);
}

TEST_F(ConditionTest, NamedAndPrinted) {
  uint64_t* const number = Number();
  std::vector<aclmdlRI> parts;
  const aclmdlRI graph = Captured([&](aclrtStream stream) {
    Add(number, 1, stream);
    const Condition condition = NewCondition(stream, 0);
    parts = AddParts(stream, condition, ACL_MODEL_RI_COND_TYPE_IF, 2);
    CapturePart(parts[0], [&](aclrtStream own) {
      Add(number, 2, own);
      EXPECT_EQ(aclrtMemsetAsync(number, 8, 0, 8, own), 0);
    });
    Refused(aclmdlRIDebugPrint(parts[0]), ACL_ERROR_RT_MODEL_CAPTURED, "aclmdlRIDebugPrint: ");
  });
  std::vector<std::string> ids;
  for (const aclmdlRI one : {graph, parts[0], parts[1]}) {
    uint32_t id = 0;
    EXPECT_EQ(aclmdlRIGetId(one, &id), 0);
    ids.push_back(std::to_string(id));
  }
  EXPECT_EQ(aclmdlRISetName(parts[0], "then"), 0);
  char name[8] = {};
  EXPECT_EQ(aclmdlRIGetName(parts[0], sizeof name, name), 0);
  EXPECT_STREQ(name, "then");
  const auto printed = [&](aclmdlRI one, const char* ending) {
    const std::string path = ::testing::TempDir() + "portacl_conditions" + ending;
    EXPECT_EQ(aclmdlRIDebugJsonPrint(one, path.c_str(), 0), 0);
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    std::remove(path.c_str());
    return text.str();
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
  };
  const std::string json = printed(graph, ".json");
  has(json, R"("name": "CONDITION_IF_0x)");
  has(json, R"("Task Type": "CONDITION")");
  has(json, R"("Graphs": [)" + ids[1] + ", " + ids[2] + "]");
  has(json, R"("ts": 3, "dur": 1, "pid": "graph )" + ids[1] + "\"");
  const std::string dot = printed(graph, ".dot");
  has(dot, "  n0 -> n1;\n");
  has(dot, "  subgraph \"cluster graph " + ids[1] + "\" {\n  label=\"graph " + ids[1] + "\";\n");
  has(dot, "  g" + ids[1] + "n0 -> g" + ids[1] + "n1;\n");
  has(dot, "  n1 -> g" + ids[1] + "n0 [style=dotted];\n");
  has(printed(parts[0], ".dot"), "digraph \"graph " + ids[1] + "\" {\n  n0 [label=");
  EXPECT_EQ(aclmdlRIDebugPrint(graph), 0);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

// Executions in several streams: each repeats its part as often as it wants.
TEST_F(ConditionTest, Threads) {
  constexpr int kRounds = PORTACL_TSAN || PORTACL_ASAN ? 10 : 50;
  uint64_t* const count = Number();
  const aclmdlRI graph = Captured([&](aclrtStream stream) {
    const Condition condition = NewCondition(stream, 3);
    AddPart(stream, condition, ACL_MODEL_RI_COND_TYPE_WHILE, [&](aclrtStream own) {
      Add(count, 1, own);
      Add(condition.place, -1, own);
    });
  });
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      ASSERT_EQ(aclrtSetCurrentContext(context), 0);
      const aclrtStream own = NewStream();
      for (int round = 0; round < kRounds; ++round) {
        EXPECT_EQ(aclmdlRIExecuteAsync(graph, own), 0);
        EXPECT_EQ(aclrtSynchronizeStream(own), 0);
      }
      EXPECT_EQ(aclrtDestroyStream(own), 0);
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(ValueAt(count), uint64_t{9} * kRounds);
  EXPECT_EQ(aclmdlRIDestroy(graph), 0);
}

}  // namespace
