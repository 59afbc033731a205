// What goes wrong with operators that communicate: names that no communicator has, ranks that end, do not come or call
// something else, streams that are captured or destroyed. No test may hang, and the next right call is right.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "aclnnop/families/communication.h"
#include "host_operand.h"

namespace portacl::testing {
namespace {

using std::chrono::steady_clock;

class RankFaults : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Processes, RankFaults, ::testing::Values(2u, 4u));

void ExpectParts(const std::vector<std::string>& parts) {
  const std::string text = Rank::Message();
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
}

// A product of ones, whose sum over the ranks is their number times the terms.
class Ones {
 public:
  explicit Ones(int64_t rows = kRows)
      : x1_(ACL_FLOAT16, {rows, kTerms}, Matrix(static_cast<size_t>(rows * kTerms), 1)),
        x2_(ACL_FLOAT16, {kTerms, kColumns}, Matrix(kTerms * kColumns, 1)),
        out_(ACL_FLOAT16, {rows, kColumns}),
        count_(rows * kColumns) {}

  aclnnStatus Plan(const char* name, uint64_t* size, aclOpExecutor** executor, const char* op = "sum",
                   int64_t mode = 1) {
    return aclnnMatmulAllReduceGetWorkspaceSize(x1_.tensor(), x2_.tensor(), nullptr, name, op, 0, mode,
                                                out_.tensor(), size, executor);
  }
  int Call(Group& group) {
    return group.Call(
        [&](uint64_t* size, aclOpExecutor** executor) { return Plan(group.name(), size, executor); },
        aclnnMatmulAllReduce);
  }
  void IsRight(Group& group) {
    ASSERT_EQ(Call(group), 0) << Rank::Message();
    ExpectSumOf(group.size());
  }
  void ExpectSumOf(int64_t ranks) {
    out_.Expect(Matrix(static_cast<size_t>(count_), static_cast<double>(ranks * kTerms)), "sum");
  }

  static constexpr int64_t kRows = 3;
  static constexpr int64_t kTerms = 4;
  static constexpr int64_t kColumns = 50;

 private:
  HostOperand x1_;
  HostOperand x2_;
  HostOperand out_;
  int64_t count_;
};

TEST(NoRanks, NoCommunicatorYet) {
  InProcesses(1, [](Rank&) {
    Ones ones;
    uint64_t size = 77;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(ones.Plan("nobody", &size, &executor), 161002);
    ExpectParts({"aclnnMatmulAllReduce", "group", "\"nobody\"", "HcclGetCommName"});
    EXPECT_EQ(size, 77u);
    EXPECT_EQ(executor, nullptr);
  });
}

// Two ranks are threads of one process, whose communicators have one name: each finds that of its device.
TEST(NoRanks, RanksOfOneProcess) {
  setenv("PORTACL_DEVICE_COUNT", "2", 1);
  setenv("HCCL_EXEC_TIMEOUT", "300", 1);
  InProcesses(1, [](Rank& rank) {
    const HcclRootInfo& info = rank.Info(0, true);
    const auto work = [&info](uint32_t own) {
      ASSERT_EQ(aclrtSetDevice(static_cast<int32_t>(own)), ACL_SUCCESS);
      HcclCommConfig config;
      HcclCommConfigInit(&config);
      std::strcpy(config.hcclCommName, "ring");
      HcclComm comm = nullptr;
      ASSERT_EQ(HcclCommInitRootInfoConfig(2, &info, own, &config, &comm), HCCL_SUCCESS) << Rank::Message();
      aclrtStream stream = nullptr;
      ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
      for (int round = 0; round < 5; ++round) {
        Ones ones;
        uint64_t size = 0;
        aclOpExecutor* executor = nullptr;
        ASSERT_EQ(ones.Plan("ring", &size, &executor), 0) << Rank::Message();
        std::vector<char> workspace(size + 1);
        ASSERT_EQ(aclnnMatmulAllReduce(workspace.data(), size, executor, stream), 0) << Rank::Message();
        ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS) << Rank::Message();
        ones.ExpectSumOf(2);
      }
      EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
      EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
    };
    std::thread other(work, 1);
    work(0);
    other.join();
  });
  unsetenv("HCCL_EXEC_TIMEOUT");
  unsetenv("PORTACL_DEVICE_COUNT");
}

TEST_P(RankFaults, Names) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    Ones ones;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(ones.Plan(nullptr, &size, &executor), 161001);
    ExpectParts({"aclnnMatmulAllReduce", "group", "null pointer"});
    for (const char* const name : {"", "another", "portacl"}) {
      EXPECT_EQ(ones.Plan(name, &size, &executor), 161002) << name;
      ExpectParts({"aclnnMatmulAllReduce", "group", "\"" + std::string(name) + "\"", "accepted"});
    }
    EXPECT_EQ(ones.Plan(group.name(), &size, &executor, "max"), 161002);
    ExpectParts({"reduceOp", "max", "\"sum\""});
    EXPECT_EQ(ones.Plan(group.name(), &size, &executor, nullptr), 161001);
    EXPECT_EQ(ones.Plan(group.name(), &size, &executor, "sum", 0), 161002);
    ExpectParts({"streamMode", "accepted: 1"});
    EXPECT_EQ(executor, nullptr);
    ones.IsRight(group);

    // A barrier of another number of ranks, and one whose ranks are left out.
    const HostOperand x(ACL_FLOAT, {1}, {5});
    const auto ranks = static_cast<int64_t>(rank.size());
    EXPECT_EQ(aclnnDistributeBarrierGetWorkspaceSize(x.tensor(), group.name(), ranks + 1, &size, &executor),
              161002);
    ExpectParts({"worldSize"});
    EXPECT_EQ(aclnnDistributeBarrierV2GetWorkspaceSize(x.tensor(), nullptr, x.tensor(), group.name(), ranks,
                                                       &size, &executor),
              561103);
    ExpectParts({"elasticInfoOptional"});
    EXPECT_EQ(aclnnDistributeBarrierV2GetWorkspaceSize(x.tensor(), x.tensor(), nullptr, group.name(), ranks,
                                                       &size, &executor),
              561103);
    ExpectParts({"timeOutOptional", "HCCL_EXEC_TIMEOUT"});
    EXPECT_EQ(executor, nullptr);
  });
}

// Every rank comes later than the one before it, and none leaves before the last one has come.
TEST_P(RankFaults, Barrier) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    const HostOperand x(ACL_INT32, {2}, {7, 8});
    for (int round = 0; round < 3; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30 * rank.rank()));
      rank.shared().flags[round].fetch_add(1);
      group.Works(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnDistributeBarrierGetWorkspaceSize(x.tensor(), group.name(), group.size(), size,
                                                          executor);
          },
          aclnnDistributeBarrier);
      EXPECT_EQ(rank.shared().flags[round].load(), static_cast<int>(rank.size()));
      x.Expect({7, 8}, "kept");
    }
  });
}

// One rank ends before it comes: the others learn it, name it, and the communicator is of no more use.
TEST_P(RankFaults, ARankEnds) {
  const uint32_t last = GetParam() - 1;
  InProcesses(GetParam(),
              [last](Rank& rank) {
                Group group(rank);
                Ones ones;
                ones.IsRight(group);
                if (rank.rank() == last) kill(getpid(), SIGKILL);
                const auto begin = steady_clock::now();
                EXPECT_EQ(ones.Call(group), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
                EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(100));
                ExpectParts({"aclnnMatmulAllReduce", "HcclAllReduce", "rank " + std::to_string(last)});
                HcclResult error = HCCL_SUCCESS;
                EXPECT_EQ(HcclGetCommAsyncError(group.comm(), &error), HCCL_SUCCESS);
                EXPECT_EQ(error, HCCL_E_REMOTE);
                EXPECT_EQ(ones.Call(group), 561000);
                ExpectParts({"aclnnMatmulAllReduce", "is broken"});
                // The stream goes on.
                EXPECT_EQ(aclrtSynchronizeStream(group.stream()), ACL_SUCCESS);
              },
              {last});
}

// The first rank never calls: HCCL_EXEC_TIMEOUT ends the others' waiting.
TEST_P(RankFaults, ARankDoesNotCall) {
  setenv("HCCL_EXEC_TIMEOUT", "2", 1);
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    if (rank.rank() > 0) {
      Ones ones;
      const auto begin = steady_clock::now();
      const int error = ones.Call(group);
      const auto took = steady_clock::now() - begin;
      // The first one whose time is over tells the others.
      EXPECT_TRUE(error == ACL_ERROR_RT_EVENT_SYNC_TIMEOUT || error == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR)
          << error;
      if (error == ACL_ERROR_RT_EVENT_SYNC_TIMEOUT) {
        EXPECT_GE(took, std::chrono::seconds(2));
      }
      EXPECT_LT(took, std::chrono::seconds(100));
      ExpectParts({"aclnnMatmulAllReduce", "rank "});
    }
    rank.Meet(0, static_cast<int>(rank.size()));
  });
  unsetenv("HCCL_EXEC_TIMEOUT");
}

// The last rank calls with another shape: all learn it.
TEST_P(RankFaults, AnotherShape) {
  setenv("HCCL_EXEC_TIMEOUT", "20", 1);
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    Ones ones(rank.rank() == rank.size() - 1 ? 5 : 3);
    EXPECT_NE(ones.Call(group), 0);
    ExpectParts({"aclnnMatmulAllReduce", "rank "});
  });
  unsetenv("HCCL_EXEC_TIMEOUT");
}

// What follows a failed exchange is not computed.
TEST_P(RankFaults, NothingBehindAFailure) {
  setenv("HCCL_EXEC_TIMEOUT", "1", 1);
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    if (rank.rank() > 0) {
      constexpr int64_t kTermsOfAll = 256;
      const int64_t rows = 2 * group.size();
      const HostOperand x1(ACL_FLOAT16, {2, kTermsOfAll}, Matrix(2 * kTermsOfAll, 1));
      const HostOperand x2(ACL_FLOAT16, {kTermsOfAll, 3}, Matrix(kTermsOfAll * 3, 1));
      const Matrix before(static_cast<size_t>(3 * rows), 7);
      const HostOperand out(ACL_FLOAT16, {rows, 3}, before);
      EXPECT_NE(group.Call(
                    [&](uint64_t* size, aclOpExecutor** executor) {
                      return aclnnAllGatherMatmulGetWorkspaceSize(x1.tensor(), x2.tensor(), nullptr,
                                                                  group.name(), 0, 0, 1, out.tensor(),
                                                                  nullptr, size, executor);
                    },
                    aclnnAllGatherMatmul),
                0);
      ExpectParts({"aclnnAllGatherMatmul", "rank "});
      out.Expect(before, "kept");
    }
    rank.Meet(0, static_cast<int>(rank.size()));
  });
  unsetenv("HCCL_EXEC_TIMEOUT");
}

// A captured stream refuses the work and its capture is invalid; the next call outside is right.
TEST_P(RankFaults, Capture) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    Ones ones;
    ASSERT_EQ(aclmdlRICaptureBegin(group.stream(), ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
    EXPECT_NE(ones.Call(group), 0);
    aclmdlRI graph = nullptr;
    EXPECT_NE(aclmdlRICaptureEnd(group.stream(), &graph), ACL_SUCCESS);
    ExpectParts({"aclnnMatmulAllReduce", "other ranks"});
    ones.IsRight(group);
  });
}

// A stream that is aborted gives up the communicator, whether its work waits for the other ranks or has not begun. So
// they do not wait in vain. The same with a collective.
TEST_P(RankFaults, AnAbortedStream) {
  enum class Work { kWaits, kIsQueued, kCollectiveIsQueued };
  for (const Work work : {Work::kWaits, Work::kIsQueued, Work::kCollectiveIsQueued}) {
    InProcesses(GetParam(), [work](Rank& rank) {
      Group group(rank);
      Ones ones;
      const auto ranks = static_cast<int>(rank.size());
      if (rank.rank() == 0) {
        uint64_t size = 0;
        aclOpExecutor* executor = nullptr;
        ASSERT_EQ(ones.Plan(group.name(), &size, &executor), 0);
        std::vector<char> workspace(size);
        uint64_t gate = 0;
        float number = 1;
        if (work != Work::kWaits) {
          ASSERT_EQ(aclrtValueWait(&gate, 1, 0, group.stream()), ACL_SUCCESS);
        }
        if (work == Work::kCollectiveIsQueued) {
          ASSERT_EQ(HcclAllReduce(&number, &number, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, group.comm(),
                                  group.stream()),
                    HCCL_SUCCESS);
          EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
        } else {
          ASSERT_EQ(aclnnMatmulAllReduce(workspace.data(), size, executor, group.stream()), 0);
        }
        if (work == Work::kWaits) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        EXPECT_EQ(aclrtStreamAbort(group.stream()), ACL_SUCCESS);
        rank.Meet(0, ranks);
        rank.Meet(1, ranks);
        return;
      }
      rank.Meet(0, ranks);
      EXPECT_EQ(ones.Call(group), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
      rank.Meet(1, ranks);
    });
  }
}

// A rank that cannot take what the others send fails, and they learn it.
TEST_P(RankFaults, MoreRowsThanFit) {
  setenv("HCCL_EXEC_TIMEOUT", "500", 1);
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    constexpr int64_t kWidth = 4;
    const auto ranks = static_cast<int64_t>(rank.size());
    const int64_t tokens = rank.rank() == rank.size() - 1 ? 9 : 1;
    const HostOperand x(ACL_FLOAT16, {tokens, kWidth}, Matrix(static_cast<size_t>(tokens * kWidth), 1));
    const HostOperand ids(ACL_INT32, {tokens, 1}, Matrix(static_cast<size_t>(tokens), 0));
    const int64_t most = tokens * ranks;
    const HostOperand rows(ACL_FLOAT16, {most, kWidth});
    const HostOperand info(ACL_INT32, {3 * most});
    const HostOperand counts(ACL_INT64, {1});
    const HostOperand received(ACL_INT32, {ranks});
    const HostOperand total(ACL_INT32, {1});
    const int error = group.Call(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnMoeDistributeDispatchV2GetWorkspaceSize(
              x.tensor(), ids.tensor(), nullptr, nullptr, nullptr, group.name(), ranks, group.rank(), ranks,
              "", 0, 0, 0, 0, 0, 0, 0, 1, "", rows.tensor(), nullptr, info.tensor(), counts.tensor(),
              received.tensor(), total.tensor(), nullptr, size, executor);
        },
        aclnnMoeDistributeDispatchV2);
    EXPECT_EQ(error, rank.rank() == 0 ? ACL_ERROR_RT_AICORE_EXCEPTION : ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
    ExpectParts({"aclnnMoeDistributeDispatchV2", rank.rank() == 0 ? "the ranks send" : "rank "});
    Ones ones;
    EXPECT_EQ(ones.Call(group), 561000);
    ExpectParts({"is broken"});
  });
  unsetenv("HCCL_EXEC_TIMEOUT");
}

// Of the two communicators of an operator one fails: the other one's ranks learn it.
TEST_P(RankFaults, OneOfTwoCommunicators) {
  setenv("HCCL_EXEC_TIMEOUT", "500", 1);
  const uint32_t last = GetParam() - 1;
  InProcesses(
      GetParam(),
      [last](Rank& rank) {
        const uint32_t tp = rank.size() / 2;
        const uint32_t me = rank.rank() / tp;
        const uint32_t part = rank.rank() % tp;
        Group group(rank);
        const HcclComm ep_comm = rank.Join(1 + static_cast<int>(part), 2, me);
        const HcclComm tp_comm = rank.Join(4 + static_cast<int>(me), tp, part);
        char ep_name[128] = {};
        char tp_name[128] = {};
        EXPECT_EQ(HcclGetCommName(ep_comm, ep_name), HCCL_SUCCESS);
        EXPECT_EQ(HcclGetCommName(tp_comm, tp_name), HCCL_SUCCESS);
        rank.Meet(0, static_cast<int>(rank.size()));
        if (rank.rank() == last) kill(getpid(), SIGKILL);
        const auto parts = static_cast<int64_t>(tp);
        const HostOperand x(ACL_FLOAT16, {2, 1, 4}, Matrix(8, 1));
        const HostOperand weight(ACL_FLOAT16, {1, 4 * parts, 3}, Matrix(static_cast<size_t>(12 * parts), 1));
        const HostOperand y(ACL_FLOAT16, {1, 2, 3});
        EXPECT_EQ(group.Call(
                      [&](uint64_t* size, aclOpExecutor** executor) {
                        return aclnnAlltoAllAllGatherBatchMatMulGetWorkspaceSize(
                            x.tensor(), weight.tensor(), nullptr, ep_name, tp_name, 2, parts, 0, 0,
                            y.tensor(), nullptr, nullptr, size, executor);
                      },
                      aclnnAlltoAllAllGatherBatchMatMul),
                  ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
        ExpectParts({"aclnnAlltoAllAllGatherBatchMatMul", "rank "});
        EXPECT_EQ(HcclCommDestroy(ep_comm), HCCL_SUCCESS);
        EXPECT_EQ(HcclCommDestroy(tp_comm), HCCL_SUCCESS);
      },
      {last});
  unsetenv("HCCL_EXEC_TIMEOUT");
}

// Operators and collectives of one communicator in two streams belong together in the order of calls; a repeatable
// executor runs again.
TEST_P(RankFaults, TwoStreams) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    const aclrtStream other = rank.NewStream();
    Ones ones;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(ones.Plan(group.name(), &size, &executor), 0);
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
    std::vector<char> workspaces[2] = {std::vector<char>(size), std::vector<char>(size)};
    std::vector<float> numbers(9, 2);
    for (int round = 0; round < 4; ++round) {
      EXPECT_EQ(aclnnMatmulAllReduce(workspaces[round % 2].data(), size, executor,
                                     round % 2 == 0 ? group.stream() : other),
                0);
      EXPECT_EQ(HcclAllReduce(numbers.data(), numbers.data(), numbers.size(), HCCL_DATA_TYPE_FP32,
                              HCCL_REDUCE_MAX, group.comm(), round % 2 == 0 ? other : group.stream()),
                HCCL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    }
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
    ones.IsRight(group);
  });
}

}  // namespace
}  // namespace portacl::testing
