// What goes wrong between processes: ranks that end, do not come, call something else; root information that is none; arguments. No test
// may hang, and who is left can go on.
// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "hccl/hccl.h"
#include "hccl/hcomm.h"
#include "processes.h"

namespace portacl::testing {
namespace {

using std::chrono::steady_clock;

class Faults : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Processes, Faults, ::testing::Values(2u, 4u));

HcclResult Sum(std::vector<float>& data, HcclComm comm, aclrtStream stream) {
  return HcclAllReduce(data.data(), data.data(), data.size(), HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm,
                       stream);
}

HcclResult AsyncError(HcclComm comm) {
  HcclResult error = HCCL_E_INTERNAL;
  EXPECT_EQ(HcclGetCommAsyncError(comm, &error), HCCL_SUCCESS);
  return error;
}

// Every part of `parts` is in the text.
void ExpectParts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
}

// A rank ends as soon as it has joined, while another one still writes to it: that one gets an error and no signal.
TEST(FaultsOfAFew, ARankEndsAsItHasJoined) {
  setenv("HCCL_CONNECT_TIMEOUT", "100", 1);
  for (int round = 0; round < 20; ++round) {
    InProcesses(2,
                [](Rank& rank) {
                  HcclComm comm = nullptr;
                  const HcclRootInfo& info = rank.Info(0, rank.rank() == 0);
                  const HcclResult joined = HcclCommInitRootInfo(2, &info, rank.rank(), &comm);
                  if (rank.rank() == 1) kill(getpid(), SIGKILL);
                  if (joined != HCCL_SUCCESS) return;
                  std::vector<float> data(3, 1);
                  aclrtStream stream = rank.NewStream();
                  EXPECT_EQ(Sum(data, comm, stream), HCCL_SUCCESS);
                  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
                  EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
                },
                {1});
  }
  unsetenv("HCCL_CONNECT_TIMEOUT");
}

// The last rank ends in the middle of a large operation, or before a small one: the others learn it, name it, and make a new communicator.
TEST_P(Faults, ARankEnds) {
  const uint32_t last = GetParam() - 1;
  constexpr int kMost = 100;  // operations, so that it cannot be done with all before it ends
  for (const size_t count : {size_t{100}, size_t{5000000}}) {
    InProcesses(
        GetParam(),
        [last, count](Rank& rank) {
          HcclComm comm = rank.Join();
          aclrtStream stream = rank.NewStream();
          std::vector<float> data(count, 1);
          EXPECT_EQ(Sum(data, comm, stream), HCCL_SUCCESS);
          EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
          if (rank.rank() == last) {
            if (count > 1000) {
              for (int i = 0; i < kMost; ++i) Sum(data, comm, stream);
              std::this_thread::sleep_for(std::chrono::milliseconds(10));
            }
            kill(getpid(), SIGKILL);
          }
          auto begin = steady_clock::now();
          aclError error = ACL_SUCCESS;
          for (int i = 0; i < kMost && error == ACL_SUCCESS; ++i) {
            begin = steady_clock::now();
            EXPECT_EQ(Sum(data, comm, stream), HCCL_SUCCESS);
            error = aclrtSynchronizeStream(stream);
          }
          EXPECT_EQ(error, ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
          // HCCL_EXEC_TIMEOUT is half an hour.
          EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(20));
          ExpectParts(Rank::Message(), {"HcclAllReduce", "the connection to rank " + std::to_string(last)});
          EXPECT_EQ(AsyncError(comm), HCCL_E_REMOTE);
          // The stream goes on, the communicator does not.
          EXPECT_EQ(Sum(data, comm, stream), HCCL_E_REMOTE);
          EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
          EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
          if (last == 0) return;
          comm = rank.Join(1, last, rank.rank());
          data.assign(count, 1);
          EXPECT_EQ(Sum(data, comm, stream), HCCL_SUCCESS);
          EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
          EXPECT_EQ(data, std::vector<float>(count, static_cast<float>(last)));
          EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
        },
        {last});
  }
}

// One rank never calls: HCCL_EXEC_TIMEOUT ends the others' waiting.
TEST_P(Faults, ARankDoesNotCall) {
  setenv("HCCL_EXEC_TIMEOUT", "2", 1);
  InProcesses(GetParam(), [](Rank& rank) {
    HcclComm comm = rank.Join();
    aclrtStream stream = rank.NewStream();
    if (rank.rank() > 0) {
      std::vector<float> data(70000, 1);
      const auto begin = steady_clock::now();
      EXPECT_EQ(Sum(data, comm, stream), HCCL_SUCCESS);
      const aclError error = aclrtSynchronizeStream(stream);
      EXPECT_TRUE(error == ACL_ERROR_RT_EVENT_SYNC_TIMEOUT || error == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR)
          << error;
      const auto took = steady_clock::now() - begin;
      EXPECT_GT(took, std::chrono::milliseconds(1500));
      EXPECT_LT(took, std::chrono::seconds(20));
      ExpectParts(Rank::Message(), {"HcclAllReduce", "rank "});
      EXPECT_NE(AsyncError(comm), HCCL_SUCCESS);
    }
    rank.Meet(0, static_cast<int>(rank.size()));
    EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
  });
  unsetenv("HCCL_EXEC_TIMEOUT");
}

// The last rank calls with another count, type, operation or function: all learn it, and nobody's memory is touched beyond the buffers.
TEST_P(Faults, ARankCallsSomethingElse) {
  setenv("HCCL_EXEC_TIMEOUT", "20", 1);
  for (int what = 0; what < 5; ++what) {
    for (const uint64_t count : {uint64_t{50}, uint64_t{60000}}) {
      InProcesses(GetParam(), [what, count](Rank& rank) {
        HcclComm comm = rank.Join();
        aclrtStream stream = rank.NewStream();
        const bool is_other = rank.rank() == rank.size() - 1;
        std::vector<float> data(2 * count + 16, 3);
        HcclResult result = HCCL_SUCCESS;
        if (is_other && what == 3) {
          result = HcclBroadcast(data.data(), count, HCCL_DATA_TYPE_FP32, 0, comm, stream);
        } else if (is_other && what == 4) {
          result = HcclAllReduce(data.data(), data.data(), count / 10, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM,
                                 comm, stream);
        } else {
          result = HcclAllReduce(data.data(), data.data(), is_other && what == 0 ? 2 * count : count,
                                 is_other && what == 1 ? HCCL_DATA_TYPE_INT32 : HCCL_DATA_TYPE_FP32,
                                 is_other && what == 2 ? HCCL_REDUCE_MAX : HCCL_REDUCE_SUM, comm, stream);
        }
        EXPECT_EQ(result, HCCL_SUCCESS);
        EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
        ExpectParts(Rank::Message(), {"rank ", "Hccl"});
        EXPECT_EQ(AsyncError(comm), HCCL_E_REMOTE);
        for (size_t i = is_other ? 2 * count : count; i < data.size(); ++i) ASSERT_EQ(data[i], 3.0f) << i;
        rank.Meet(0, static_cast<int>(rank.size()));
        HcclCommDestroy(comm);
      });
    }
  }
  unsetenv("HCCL_EXEC_TIMEOUT");
}

TEST_P(Faults, SendsOfAnotherSize) {
  InProcesses(GetParam(), [](Rank& rank) {
    HcclComm comm = rank.Join();
    aclrtStream stream = rank.NewStream();
    std::vector<float> data(40000, 3);
    if (rank.rank() < 2) {
      const uint64_t count = rank.rank() == 0 ? 30000 : 20000;
      EXPECT_EQ(rank.rank() == 0 ? HcclSend(data.data(), count, HCCL_DATA_TYPE_FP32, 1, comm, stream)
                                 : HcclRecv(data.data(), count, HCCL_DATA_TYPE_FP32, 0, comm, stream),
                HCCL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
      ExpectParts(Rank::Message(), {"20000", "30000"});
    }
    rank.Meet(0, static_cast<int>(rank.size()));
    HcclCommDestroy(comm);
  });
}

// Destroyed, or its stream, while an operation waits: it ends, and so does everybody.
TEST(FaultsOfAFew, DestroyedWhileItWaits) {
  InProcesses(2, [](Rank& rank) {
    for (int how = 0; how < 2; ++how) {
      HcclComm comm = rank.Join(how);
      if (rank.rank() == 0) {
        aclrtStream stream = rank.NewStream();
        std::vector<float> data(70000, 1);
        EXPECT_EQ(Sum(data, comm, stream), HCCL_SUCCESS);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        if (how == 0) {
          EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
          EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
          EXPECT_EQ(HcclCommDestroy(comm), HCCL_E_PARA);
          EXPECT_EQ(Sum(data, comm, stream), HCCL_E_PARA);
        } else {
          EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
          EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
        }
      }
      rank.Meet(how, 2);
      if (rank.rank() == 1) {
        EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
      }
    }
  });
}

TEST(FaultsOfAFew, NotEverybodyComes) {
  setenv("HCCL_CONNECT_TIMEOUT", "2", 1);
  InProcesses(2, [](Rank& rank) {
    const HcclRootInfo& info = rank.Info(0, rank.rank() == 0);
    HcclComm comm = nullptr;
    const auto begin = steady_clock::now();
    EXPECT_EQ(HcclCommInitRootInfo(4, &info, rank.rank(), &comm), HCCL_E_TIMEOUT);
    EXPECT_EQ(comm, nullptr);
    EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(20));
    ExpectParts(Rank::Message(), {"HcclCommInitRootInfo", "2 3", "HCCL_CONNECT_TIMEOUT"});
  });
  unsetenv("HCCL_CONNECT_TIMEOUT");
}

// Root information that was damaged or forged, that two ranks use alike, or whose maker is gone; and strangers at the open port.
TEST(FaultsOfAFew, RootInformation) {
  setenv("HCCL_CONNECT_TIMEOUT", "5", 1);
  InProcesses(1, [](Rank& rank) {
    HcclRootInfo info = rank.Info(0, true);
    HcclComm comm = nullptr;
    HcclRootInfo other{};
    EXPECT_EQ(HcclCommInitRootInfo(1, &other, 0, &comm), HCCL_E_PARA);
    for (const size_t at : {size_t{0}, size_t{20}, size_t{60}}) {
      other = info;
      other.internal[at] = static_cast<char>(other.internal[at] ^ 1);
      EXPECT_EQ(HcclCommInitRootInfo(1, &other, 0, &comm), HCCL_E_PARA) << at;
    }
    EXPECT_EQ(HcclCommInitRootInfo(1, nullptr, 0, &comm), HCCL_E_PTR);
    EXPECT_EQ(HcclCommInitRootInfo(0, &info, 0, &comm), HCCL_E_PARA);
    EXPECT_EQ(HcclCommInitRootInfo(2, &info, 2, &comm), HCCL_E_PARA);
    // The place of one meeting with the secret of another one: refused there, and the right one still works.
    HcclRootInfo second;
    ASSERT_EQ(HcclGetRootInfo(&second), HCCL_SUCCESS);
    HcclRootInfo forged = info;
    std::memcpy(forged.internal + 16, second.internal + 16, 32);
    uint32_t check = 2166136261u;
    for (size_t i = 16; i < 48 + sizeof(sockaddr_storage); ++i) {
      check = (check ^ static_cast<unsigned char>(forged.internal[i])) * 16777619u;
    }
    std::memcpy(forged.internal + 12, &check, sizeof check);
    EXPECT_EQ(HcclCommInitRootInfo(1, &forged, 0, &comm), HCCL_E_TCP_CONNECT);
    ExpectParts(Rank::Message(), {"secret"});
    // A stranger who says nothing, and one who says nonsense.
    sockaddr_in address{};
    std::memcpy(&address, info.internal + 48, sizeof address);
    EXPECT_EQ(address.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    int strangers[2];
    for (int& one : strangers) {
      one = socket(AF_INET, SOCK_STREAM, 0);
      ASSERT_EQ(connect(one, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
    const std::string nonsense(100, 'x');
    EXPECT_GT(send(strangers[1], nonsense.data(), nonsense.size(), MSG_NOSIGNAL), 0);
    EXPECT_EQ(HcclCommInitRootInfo(1, &info, 0, &comm), HCCL_SUCCESS);
    EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
    for (const int one : strangers) close(one);
    // It was for one communicator.
    EXPECT_EQ(HcclCommInitRootInfo(1, &info, 0, &comm), HCCL_E_TCP_CONNECT);
  });
  InProcesses(2, [](Rank& rank) {
    const HcclRootInfo& info = rank.Info(0, rank.rank() == 0);
    HcclComm comm = nullptr;
    const HcclResult result = HcclCommInitRootInfo(2, &info, 1, &comm);  // both are rank 1
    EXPECT_TRUE(result == HCCL_E_PARA || result == HCCL_E_TIMEOUT) << result;
    rank.Meet(0, 2);  // where the maker of the information lives, the others are answered
  });
  unsetenv("HCCL_CONNECT_TIMEOUT");
}

// No socket of the process listens at all addresses.
TEST(FaultsOfAFew, ListensAtOneAddress) {
  InProcesses(2, [](Rank& rank) {
    HcclComm comm = rank.Join();
    HcclRootInfo info;
    EXPECT_EQ(HcclGetRootInfo(&info), HCCL_SUCCESS);
    int listening = 0;
    for (const char* const name : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
      std::ifstream table(name);
      std::string line;
      std::getline(table, line);
      while (std::getline(table, line)) {
        std::istringstream fields(line);
        std::string number, local, remote, state;
        fields >> number >> local >> remote >> state;
        if (state != "0A" || std::stoul(local.substr(local.find(':') + 1), nullptr, 16) !=
                                 ntohs(reinterpret_cast<const sockaddr_in*>(info.internal + 48)->sin_port)) {
          continue;
        }
        ++listening;
        EXPECT_EQ(local.substr(0, local.find(':')), "0100007F");
      }
    }
    EXPECT_EQ(listening, 1);
    setenv("HCCL_IF_IP", "0.0.0.0", 1);
    EXPECT_EQ(HcclGetRootInfo(&info), HCCL_E_PARA);
    setenv("HCCL_IF_IP", "nonsense", 1);
    EXPECT_EQ(HcclGetRootInfo(&info), HCCL_E_PARA);
    unsetenv("HCCL_IF_IP");
    setenv("HCCL_SOCKET_IFNAME", "=no-such-interface", 1);
    EXPECT_EQ(HcclGetRootInfo(&info), HCCL_E_NOT_FOUND);
    setenv("HCCL_SOCKET_IFNAME", "=lo", 1);
    EXPECT_EQ(HcclGetRootInfo(&info), HCCL_SUCCESS);
    unsetenv("HCCL_SOCKET_IFNAME");
    rank.Meet(0, 2);
    HcclCommDestroy(comm);
  });
}

TEST(FaultsOfAFew, Arguments) {
  InProcesses(1, [](Rank& rank) {
    HcclComm comm = rank.Join();
    aclrtStream stream = rank.NewStream();
    float x[4] = {1, 2, 3, 4};
    float y[4] = {};
    const auto f32 = HCCL_DATA_TYPE_FP32;
    const auto sum = HCCL_REDUCE_SUM;
    EXPECT_EQ(HcclAllReduce(nullptr, nullptr, 0, f32, sum, nullptr, nullptr), HCCL_SUCCESS);
    EXPECT_EQ(HcclAllReduce(x, y, 4, f32, sum, nullptr, stream), HCCL_E_PTR);
    EXPECT_EQ(HcclAllReduce(x, y, 4, f32, sum, comm, nullptr), HCCL_E_PTR);
    EXPECT_EQ(HcclAllReduce(nullptr, y, 4, f32, sum, comm, stream), HCCL_E_PTR);
    EXPECT_EQ(HcclAllReduce(x, nullptr, 4, f32, sum, comm, stream), HCCL_E_PTR);
    EXPECT_EQ(HcclAllReduce(x, y, 0x800000000, f32, sum, comm, stream), HCCL_E_PARA);
    EXPECT_EQ(HcclAllReduce(x, y, 4, static_cast<HcclDataType>(13), sum, comm, stream), HCCL_E_PARA);
    EXPECT_EQ(HcclAllReduce(x, y, 4, f32, static_cast<HcclReduceOp>(4), comm, stream), HCCL_E_PARA);
    EXPECT_EQ(HcclAllReduce(x, y, 1, HCCL_DATA_TYPE_INT128, sum, comm, stream), HCCL_E_NOT_SUPPORT);
    EXPECT_EQ(HcclAllReduce(x, y, 1, HCCL_DATA_TYPE_FP8E5M2, sum, comm, stream), HCCL_E_NOT_SUPPORT);
    EXPECT_EQ(HcclAllReduce(x, y, 4, f32, sum, reinterpret_cast<HcclComm>(12345), stream), HCCL_E_PARA);
    EXPECT_EQ(HcclAllReduce(x, y, 4, f32, sum, comm, reinterpret_cast<aclrtStream>(12345)), HCCL_E_PARA);
    EXPECT_EQ(HcclBroadcast(x, 4, f32, 1, comm, stream), HCCL_E_PARA);
    EXPECT_EQ(HcclReduce(x, y, 4, f32, sum, 1, comm, stream), HCCL_E_PARA);
    EXPECT_EQ(HcclSend(x, 4, f32, 1, comm, stream), HCCL_E_PARA);
    EXPECT_EQ(HcclAlltoAll(x, 4, f32, x, 4, f32, comm, stream), HCCL_E_PARA);
    EXPECT_EQ(HcclAlltoAll(x, 4, f32, y, 3, f32, comm, stream), HCCL_E_PARA);
    EXPECT_EQ(HcclAlltoAll(x, 4, f32, y, 4, HCCL_DATA_TYPE_INT32, comm, stream), HCCL_E_PARA);
    EXPECT_EQ(HcclBatchSendRecv(nullptr, 0, comm, stream), HCCL_SUCCESS);
    EXPECT_EQ(HcclBatchSendRecv(nullptr, 1, comm, stream), HCCL_E_PTR);
    ExpectParts(Rank::Message(), {"HcclBatchSendRecv", "sendRecvInfo"});

    uint32_t number = 9;
    EXPECT_EQ(HcclGetRankSize(comm, &number), HCCL_SUCCESS);
    EXPECT_EQ(number, 1u);
    EXPECT_EQ(HcclGetRankId(comm, &number), HCCL_SUCCESS);
    EXPECT_EQ(number, 0u);
    char name[128] = "";
    EXPECT_EQ(HcclGetCommName(comm, name), HCCL_SUCCESS);
    EXPECT_STRNE(name, "");
    EXPECT_EQ(HcclGetCommConfigCapability(), 12u);
    EXPECT_STREQ(HcclGetErrorString(HCCL_SUCCESS), "no error");
    EXPECT_STREQ(HcclGetErrorString(static_cast<HcclResult>(99)), "unknown error");

    EXPECT_EQ(HcclCommSuspend(comm), HCCL_SUCCESS);
    EXPECT_EQ(HcclAllReduce(x, y, 4, f32, sum, comm, stream), HCCL_E_SUSPENDING);
    EXPECT_EQ(HcclCommResume(comm), HCCL_SUCCESS);
    EXPECT_EQ(HcclAllReduce(x, y, 4, f32, sum, comm, stream), HCCL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_EQ(y[3], 4.0f);

    void* memory = nullptr;
    EXPECT_EQ(HcommMemAlloc(&memory, 0), HCCL_E_PARA);
    EXPECT_EQ(HcommMemAlloc(nullptr, 8), HCCL_E_PTR);
    EXPECT_EQ(HcommMemAlloc(&memory, 1000), HCCL_SUCCESS);
    EXPECT_EQ(HcommMemFree(memory), HCCL_SUCCESS);
    EXPECT_EQ(HcommMemFree(x), HCCL_E_PARA);
    EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
  });
}

// Counts and displacements whose bytes are no addresses: refused by every rank before anything is sent, and the next call is right.
TEST(FaultsOfAFew, PlacesWithoutAddresses) {
  InProcesses(2, [](Rank& rank) {
    HcclComm comm = rank.Join();
    aclrtStream stream = rank.NewStream();
    const auto f32 = HCCL_DATA_TYPE_FP32;
    constexpr uint64_t kWrong[] = {
        ~uint64_t{0},      uint64_t{1} << 63, uint64_t{1} << 62, (uint64_t{1} << 62) + 1,
        uint64_t{1} << 61, uint64_t{1} << 60, uint64_t{1} << 55};
    std::vector<float> send(8, 1);
    std::vector<float> memory(24, 7);
    float* const recv = memory.data() + 8;
    const std::vector<uint64_t> ones = {1, 1};
    const std::vector<uint64_t> right = {0, 1};
    for (const uint64_t wrong : kWrong) {
      for (const size_t at : {size_t{0}, size_t{1}}) {
        std::vector<uint64_t> places = right;
        places[at] = wrong;
        const auto refused = [&](HcclResult result, const char* function, const char* parameter) {
          EXPECT_EQ(result, HCCL_E_PARA) << function << " " << wrong;
          ExpectParts(Rank::Message(), {function, parameter, std::to_string(wrong)});
        };
        refused(HcclAllGatherV(send.data(), 1, recv, ones.data(), places.data(), f32, comm, stream),
                "HcclAllGatherV", "recvDispls");
        refused(HcclReduceScatterV(send.data(), ones.data(), places.data(), recv, 1, f32, HCCL_REDUCE_SUM,
                                   comm, stream),
                "HcclReduceScatterV", "sendDispls");
        refused(HcclAlltoAllV(send.data(), ones.data(), places.data(), f32, recv, ones.data(), right.data(),
                              f32, comm, stream),
                "HcclAlltoAllV", "sdispls");
        refused(HcclAlltoAllV(send.data(), ones.data(), right.data(), f32, recv, ones.data(), places.data(),
                              f32, comm, stream),
                "HcclAlltoAllV", "rdispls");
        // As counts, they are more than any buffer has.
        refused(HcclAllGatherV(send.data(), 1, recv, places.data(), right.data(), f32, comm, stream),
                "HcclAllGatherV", "recvCounts");
        refused(HcclReduceScatterV(send.data(), places.data(), right.data(), recv, 1, f32, HCCL_REDUCE_SUM,
                                   comm, stream),
                "HcclReduceScatterV", "sendCounts");
        refused(HcclAlltoAllV(send.data(), places.data(), right.data(), f32, recv, ones.data(), right.data(),
                              f32, comm, stream),
                "HcclAlltoAllV", "sendCounts");
        refused(HcclAlltoAllV(send.data(), ones.data(), right.data(), f32, recv, places.data(), right.data(),
                              f32, comm, stream),
                "HcclAlltoAllV", "recvCounts");
        // In any row, also of what goes from another rank to itself.
        for (size_t entry = 0; entry < 4; ++entry) {
          std::vector<uint64_t> matrix(4, 1);
          matrix[entry] = wrong;
          refused(HcclAlltoAllVC(send.data(), matrix.data(), f32, recv, f32, comm, stream), "HcclAlltoAllVC",
                  "sendCountMatrix");
        }
      }
      // Where there is nothing, the place may be any.
      const std::vector<uint64_t> counts = {rank.rank() == 0 ? 1u : 0u, rank.rank() == 0 ? 0u : 1u};
      const std::vector<uint64_t> places = {rank.rank() == 0 ? 0 : wrong, rank.rank() == 0 ? wrong : 0};
      EXPECT_EQ(HcclAlltoAllV(send.data(), counts.data(), places.data(), f32, recv, counts.data(),
                              places.data(), f32, comm, stream),
                HCCL_SUCCESS)
          << Rank::Message();
      EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
      EXPECT_EQ(recv[0], 1);
      recv[0] = 7;
    }
    EXPECT_EQ(memory, std::vector<float>(24, 7));
    EXPECT_EQ(HcclAllGatherV(send.data(), 1, recv, ones.data(), right.data(), f32, comm, stream),
              HCCL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_EQ(recv[0] + recv[1], 2);
    rank.Meet(0, 2);
    EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
  });
}

// One rank's matrix differs where neither it nor who learns it has a part, or in what a rank keeps for itself.
TEST_P(Faults, MatricesThatDiffer) {
  for (const uint32_t entry : {0u, 1u}) {
    InProcesses(GetParam(), [entry](Rank& rank) {
      HcclComm comm = rank.Join();
      aclrtStream stream = rank.NewStream();
      const uint32_t size = rank.size();
      std::vector<uint64_t> matrix(size * size, 2);
      std::vector<float> send(2 * size + 2, 1);
      std::vector<float> recv(2 * size + 2, 0);
      if (rank.rank() == size - 1) matrix[entry] = 1;
      EXPECT_EQ(HcclAlltoAllVC(send.data(), matrix.data(), HCCL_DATA_TYPE_FP32, recv.data(),
                               HCCL_DATA_TYPE_FP32, comm, stream),
                HCCL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
      ExpectParts(Rank::Message(), {"HcclAlltoAllVC", "rank "});
      EXPECT_EQ(AsyncError(comm), HCCL_E_REMOTE);
      rank.Meet(0, static_cast<int>(size));
      HcclCommDestroy(comm);
    });
  }
}

// Both layouts of the configuration, the short one of older clients, names; several ranks in one process; ranks of ranks.
TEST(FaultsOfAFew, WaysToMakeACommunicator) {
  InProcesses(1, [](Rank& rank) {
    HcclCommConfig config;
    std::memset(&config, 0x7E, sizeof config);
    HcclCommConfigInit(&config);
    EXPECT_EQ(config.size, 2240u);
    std::strcpy(config.hcclCommName, "mine");
    for (const size_t size : {size_t{2240}, size_t{2232}, size_t{32}}) {
      config.size = size;
      HcclRootInfo info;
      HcclComm comm = nullptr;
      ASSERT_EQ(HcclGetRootInfo(&info), HCCL_SUCCESS);
      ASSERT_EQ(HcclCommInitRootInfoConfig(1, &info, 0, &config, &comm), HCCL_SUCCESS) << Rank::Message();
      char name[128];
      EXPECT_EQ(HcclGetCommName(comm, name), HCCL_SUCCESS);
      EXPECT_EQ(std::string(name) == "mine", size > 32) << name;
      HcclCommDestroy(comm);
    }
    config.size = 31;
    HcclRootInfo info = rank.Info(0, true);
    HcclComm comm = nullptr;
    EXPECT_EQ(HcclCommInitRootInfoConfig(1, &info, 0, &config, &comm), HCCL_E_PARA);
    config.size = sizeof config;
    ASSERT_EQ(HcclCommInitRootInfoScalable(1, 1, &info, 0, 0, &config, &comm), HCCL_SUCCESS);
    HcclCommDestroy(comm);

    int32_t devices[] = {0, 1, 2};
    HcclComm comms[3];
    ASSERT_EQ(HcclCommInitAll(3, devices, comms), HCCL_SUCCESS) << Rank::Message();
    std::vector<std::vector<float>> data(3, std::vector<float>(50000, 2));
    aclrtStream streams[3];
    // One thread calls for one rank after the other: nothing may block.
    for (int i = 0; i < 3; ++i) {
      streams[i] = rank.NewStream();
      EXPECT_EQ(Sum(data[static_cast<size_t>(i)], comms[i], streams[i]), HCCL_SUCCESS);
    }
    for (aclrtStream stream : streams) EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    for (const auto& one : data) EXPECT_EQ(one, std::vector<float>(50000, 6));
    for (HcclComm one : comms) HcclCommDestroy(one);
  });
  InProcesses(4, [](Rank& rank) {
    HcclComm world = rank.Join();
    aclrtStream stream = rank.NewStream();
    HcclCommConfig config;
    HcclCommConfigInit(&config);
    // Pairs in turned order, twice with one id.
    uint32_t ranks[2] = {rank.rank() / 2 * 2 + 1, rank.rank() / 2 * 2};
    for (int again = 0; again < 2; ++again) {
      HcclComm pair = nullptr;
      ASSERT_EQ(HcclCreateSubCommConfig(&world, 2, ranks, 77, 1 - rank.rank() % 2, &config, &pair),
                HCCL_SUCCESS)
          << Rank::Message();
      std::vector<float> data(20000, static_cast<float>(rank.rank()));
      EXPECT_EQ(HcclBroadcast(data.data(), data.size(), HCCL_DATA_TYPE_FP32, 0, pair, stream), HCCL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
      EXPECT_EQ(data, std::vector<float>(20000, static_cast<float>(ranks[0])));
      HcclCommDestroy(pair);
    }
    HcclComm none = nullptr;
    EXPECT_EQ(HcclCreateSubCommConfig(&world, 2, ranks, 77, 2, &config, &none), HCCL_E_PARA);
    ranks[0] = ranks[1];
    EXPECT_EQ(HcclCreateSubCommConfig(&world, 2, ranks, 77, 1, &config, &none), HCCL_E_PARA);
    rank.Meet(0, 4);
    HcclCommDestroy(world);
  });
}

// A child has none of the threads that communicate: it is refused, and the parent goes on.
TEST(FaultsOfAFew, Forked) {
  InProcesses(2, [](Rank& rank) {
    HcclComm comm = rank.Join();
    aclrtStream stream = rank.NewStream();
    std::vector<float> data(1000, 1);
    const pid_t child = fork();
    if (child == 0) {
      const bool refused = Sum(data, comm, stream) == HCCL_E_UNAVAIL && HcclCommDestroy(comm) == HCCL_SUCCESS;
      HcclRootInfo info;
      HcclComm own = nullptr;
      const bool works =
          HcclGetRootInfo(&info) == HCCL_SUCCESS && HcclCommInitRootInfo(1, &info, 0, &own) == HCCL_SUCCESS;
      _exit(refused && works ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(Sum(data, comm, stream), HCCL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_EQ(data[0], 2.0f);
    rank.Meet(0, 2);
    HcclCommDestroy(comm);
  });
}

}  // namespace
}  // namespace portacl::testing
