// Several processes that use the library at the same time: each for itself, over memory that they share, and with one log.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "process/prepared_call.h"
#include "process/simple_call.h"
#include "support/patience.h"

namespace portacl::testing {
namespace {

constexpr int kProcesses = 6;

// Runs body(number) in so many processes at once; returns how many did not end with 0.
template <class Body>
int AtOnce(const Body& body) {
  std::vector<pid_t> children;
  for (int number = 0; number < kProcesses; ++number) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(kPatienceSeconds);
      _exit(body(number));
    }
    children.push_back(child);
  }
  int failed = 0;
  for (const pid_t child : children) {
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
      ++failed;
  }
  return failed;
}

class SeveralProcesses : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/portacl-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::filesystem::path root_;
};

TEST_F(SeveralProcesses, EachForItself) {
  EXPECT_EQ(AtOnce([](int number) {
              setenv("PORTACL_NUM_THREADS", std::to_string(1 + number % 4).c_str(), 1);
              if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 1;
              for (int round = 0; round < 5; ++round) {
                SimpleCall big(kBigCall, static_cast<uint32_t>(number));
                if (!big.Run(nullptr)) return 2;
                PreparedCall rows = RowsOfBlocksThatLieAcross();
                if (!rows.CreateTensors() || rows.Plan() != 0 || !rows.CreateWorkspace()) return 3;
                if (rows.Execute(nullptr) != 0 || aclrtSynchronizeStream(nullptr) != 0 || !rows.Right())
                  return 4;
              }
              return aclrtResetDevice(0) == 0 && aclFinalize() == 0 ? 0 : 5;
            }),
            0);
}

// Lines of all processes in one file, and of each in a file of its own: whole, none lost.
TEST_F(SeveralProcesses, OneLog) {
  constexpr int kLines = 200;
  const std::filesystem::path shared = root_ / "stdout";
  for (const bool to_stdout : {true, false}) {
    ASSERT_EQ(AtOnce([&](int) {
                if (to_stdout) {
                  const int file = open(shared.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
                  if (file < 0 || dup2(file, STDOUT_FILENO) < 0) return 1;
                }
                setenv("ASCEND_LOG_PRINT_TO_STDOUT", to_stdout ? "1" : "0", 1);
                setenv("ASCEND_PROCESS_LOG_PATH", (root_ / "log").c_str(), 1);
                if (aclInit(nullptr) != 0) return 2;
                for (int line = 0; line < kLines; ++line) {
                  if (aclrtFree(nullptr) == 0) return 3;
                }
                return 0;
              }),
              0);
    std::vector<std::filesystem::path> files;
    if (to_stdout) {
      files.push_back(shared);
    } else {
      for (const auto& one : std::filesystem::recursive_directory_iterator(root_ / "log")) {
        if (one.is_regular_file()) files.push_back(one.path());
      }
    }
    EXPECT_EQ(files.size(), to_stdout ? 1u : kProcesses);
    int lines = 0;
    for (const auto& file : files) {
      std::ifstream content(file);
      for (std::string line; std::getline(content, line); ++lines) {
        EXPECT_EQ(line.rfind("[ERROR] OP(", 0), 0u) << line;
        EXPECT_EQ(line.find("devPtr"), line.rfind("devPtr")) << line;
        EXPECT_NE(line.find("devPtr"), std::string::npos) << line;
      }
    }
    EXPECT_EQ(lines, kProcesses * kLines);
  }
}

// A chain: each process's stream waits for a value that the one before it writes, then computes what the next one needs.
TEST_F(SeveralProcesses, OverSharedMemory) {
  constexpr size_t kElements = 10000;
  struct Shared {
    std::atomic<uint64_t> turn{0};
    float data[kProcesses + 1][kElements];
  };
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const shared = new (memory) Shared;
  for (size_t i = 0; i < kElements; ++i) shared->data[0][i] = static_cast<float>(i);
  EXPECT_EQ(AtOnce([&](int number) {
              if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 1;
              aclrtStream stream = nullptr;
              if (aclrtCreateStream(&stream) != 0) return 2;
              const int64_t dim = kElements;
              std::vector<float> ones(kElements, 1.0f);
              std::vector<float> zeros(kElements, 0.0f);
              const auto tensor = [&](float* data) {
                return aclCreateTensor(&dim, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &dim, 1, data);
              };
              // sign(1 - 0) * gradOutput: a copy.
              aclTensor* tensors[] = {tensor(shared->data[number]), tensor(ones.data()), tensor(zeros.data()),
                                      tensor(shared->data[number + 1])};
              uint64_t size = 0;
              aclOpExecutor* executor = nullptr;
              const auto turn = static_cast<uint64_t>(number);
              if (aclrtValueWait(&shared->turn, turn, 1, stream) != 0) return 3;
              if (aclnnL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 2, tensors[3],
                                                      &size, &executor) != 0)
                return 4;
              if (aclnnL1LossBackward(nullptr, size, executor, stream) != 0) return 5;
              if (aclrtValueWrite(&shared->turn, turn + 1, 0, stream) != 0) return 6;
              return aclrtSynchronizeStream(stream) == 0 ? 0 : 7;
            }),
            0);
  for (size_t i = 0; i < kElements; ++i) ASSERT_EQ(shared->data[kProcesses][i], static_cast<float>(i));
  munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace portacl::testing
