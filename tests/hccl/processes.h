// Several processes for a test of collectives: each is a rank, forked before the library was used, with a deadline against hangs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "hccl/hcomm.h"

namespace portacl::testing {

// What the processes of a test share: root information by number, and flags.
struct Shared {
  static constexpr int kInfos = 16;
  HcclRootInfo infos[kInfos];
  std::atomic<int> is_written[kInfos];
  std::atomic<int> flags[64];
};

class Rank {
 public:
  Rank(Shared& shared, uint32_t rank, uint32_t size) : rank_(rank), size_(size), shared_(shared) {}

  uint32_t rank() const { return rank_; }
  uint32_t size() const { return size_; }
  Shared& shared() { return shared_; }

  // Root information number `index`, which the maker writes and the others wait for.
  const HcclRootInfo& Info(int index, bool makes) {
    if (makes) {
      EXPECT_EQ(HcclGetRootInfo(&shared_.infos[index]), HCCL_SUCCESS) << aclGetRecentErrMsg();
      shared_.is_written[index].store(1);
    }
    while (shared_.is_written[index].load() == 0) std::this_thread::yield();
    return shared_.infos[index];
  }
  HcclComm Join(int index = 0) { return Join(index, size_, rank_); }
  HcclComm Join(int index, uint32_t size, uint32_t rank) {
    HcclComm comm = nullptr;
    EXPECT_EQ(HcclCommInitRootInfo(size, &Info(index, rank == 0), rank, &comm), HCCL_SUCCESS) << Message();
    return comm;
  }
  static std::string Message() {
    const char* const text = aclGetRecentErrMsg();
    return text == nullptr ? "" : text;
  }
  // Waits until `count` processes have come here.
  void Meet(int flag, int count) {
    shared_.flags[flag].fetch_add(1);
    while (shared_.flags[flag].load() < count) std::this_thread::yield();
  }

  aclrtStream NewStream() {
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    return stream;
  }

 private:
  uint32_t rank_;
  uint32_t size_;
  Shared& shared_;
};

// Runs body(rank) in `size` processes. Their failed expectations are printed by them and make this one fail. Those in `may_die` may end as they like.
inline void InProcesses(uint32_t size, const std::function<void(Rank&)>& body,
                        std::vector<uint32_t> may_die = {}) {
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const shared = new (memory) Shared{};
  std::vector<pid_t> processes;
  std::fflush(nullptr);
  for (uint32_t rank = 0; rank < size; ++rank) {
    const pid_t process = fork();
    ASSERT_GE(process, 0);
    if (process == 0) {
      alarm(600);
      EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Rank one(*shared, rank, size);
      body(one);
      std::fflush(nullptr);
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    processes.push_back(process);
  }
  for (uint32_t rank = 0; rank < size; ++rank) {
    int status = 0;
    ASSERT_EQ(waitpid(processes[rank], &status, 0), processes[rank]);
    bool is_free = false;
    for (const uint32_t one : may_die) is_free |= one == rank;
    EXPECT_TRUE(status == 0 || is_free) << "rank " << rank << " of " << size << ": " << status;
  }
  munmap(memory, sizeof(Shared));
}

}  // namespace portacl::testing
