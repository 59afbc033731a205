// A program's limits on files, and a program that closes descriptors which the library opened: no signal ends the process,
// and nothing is written to, mapped from or closed of a file that is not the library's.
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "gtest/gtest.h"
#include "process/child_process.h"

namespace portacl::testing {
namespace {

constexpr size_t kPage = 2 << 20;

class Descriptors : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/portacl-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  // Runs the body in a child, whose steps return false when they fail.
  template <class Body>
  void Child(const Body& body) {
    const ChildResult result = InChild([&] {
      for (const char* variable :
           {"ASCEND_GLOBAL_LOG_LEVEL", "ASCEND_LOG_PRINT_TO_STDOUT", "ASCEND_PROCESS_LOG_PATH",
            "ASCEND_WORK_PATH", "ASCEND_MODULE_LOG_LEVEL"}) {
        unsetenv(variable);
      }
      return body();
    });
    EXPECT_TRUE(result.Succeeded()) << (result.exited ? "line " : "signal ") << result.code << "\n"
                                    << result.out << result.err;
    out_ = result.out;
  }

  static std::string Read(const std::filesystem::path& path) {
    std::ostringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
  }

  // The content of all log files together.
  std::string Logged() {
    std::string text;
    if (!std::filesystem::exists(root_ / "log")) return text;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_ / "log")) {
      if (entry.is_regular_file()) text += Read(entry.path());
    }
    return text;
  }

  void LogToFiles() const { setenv("ASCEND_PROCESS_LOG_PATH", (root_ / "log").c_str(), 1); }

  std::filesystem::path root_;
  std::string out_;
};

// Exit codes are lines, of which only the last eight bits arrive.
#define STEP(condition) \
  if (!(condition)) return __LINE__ % 250 + 1

bool LimitFileSize(rlim_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
  limit.rlim_cur = bytes;
  return setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

bool FailOnce() { return aclrtFree(nullptr) == ACL_ERROR_INVALID_PARAM; }

aclrtPhysicalMemProp OfDevice() {
  aclrtPhysicalMemProp prop{};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  return prop;
}

std::atomic<int> signals{0};
void CountSignal(int) { ++signals; }

// What a signal would do to the calling thread: its handler, and whether it is blocked or pending.
struct SignalState {
  void (*handler)(int) = nullptr;
  bool is_blocked = false;
  bool is_pending = false;

  explicit SignalState(int number) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    handler = action.sa_handler;
    sigset_t set;
    pthread_sigmask(SIG_BLOCK, nullptr, &set);
    is_blocked = sigismember(&set, number) == 1;
    sigpending(&set);
    is_pending = sigismember(&set, number) == 1;
  }
  bool operator==(const SignalState&) const = default;
};

TEST_F(Descriptors, PhysicalMemoryBeyondTheLimitOfFiles) {
  const aclrtPhysicalMemProp prop = OfDevice();
  for (auto* const handler : {SIG_DFL, SIG_IGN, CountSignal}) {
    for (const bool blocked : {false, true}) {
      Child([&] {
        STEP(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0);
        signal(SIGXFSZ, handler);
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGXFSZ);
        if (blocked) pthread_sigmask(SIG_BLOCK, &set, nullptr);
        const SignalState before(SIGXFSZ);
        STEP(LimitFileSize(kPage));
        aclrtDrvMemHandle handle = nullptr;
        STEP(aclrtMallocPhysical(&handle, 2 * kPage, &prop, 0) == ACL_ERROR_RT_MEMORY_ALLOCATION);
        STEP(handle == nullptr);
        STEP(SignalState(SIGXFSZ) == before);
        STEP(signals == 0);
        STEP(std::strstr(aclGetRecentErrMsg(), "aclrtMallocPhysical") != nullptr);
        // What the limit allows is there.
        STEP(aclrtMallocPhysical(&handle, kPage, &prop, 0) == 0);
        STEP(aclrtFreePhysical(handle) == 0);
        // A signal that was pending before stays so.
        if (blocked && handler != SIG_IGN) {
          raise(SIGXFSZ);
          STEP(aclrtMallocPhysical(&handle, 2 * kPage, &prop, 0) == ACL_ERROR_RT_MEMORY_ALLOCATION);
          STEP(SignalState(SIGXFSZ).is_pending);
        }
        return 0;
      });
    }
  }
}

TEST_F(Descriptors, ALogBeyondTheLimitOfFiles) {
  Child([&] {
    LogToFiles();
    STEP(aclInit(nullptr) == 0);
    const SignalState before(SIGXFSZ);
    STEP(FailOnce());
    // Lines are as long as the process's number is: the limit falls into one.
    const size_t line = Logged().size();
    STEP(line > 1);
    STEP(LimitFileSize(5 * line + line / 2));
    for (int i = 0; i < 100; ++i) STEP(FailOnce());
    STEP(SignalState(SIGXFSZ) == before);
    STEP(LimitFileSize(RLIM_INFINITY));
    STEP(FailOnce());
    return 0;
  });
  // Whole lines only.
  const std::string text = Logged();
  ASSERT_FALSE(text.empty());
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_EQ(line.rfind("[ERROR] OP("), 0u) << line;  // the last one in it
    EXPECT_NE(line.find("devPtr"), std::string::npos) << line;
  }
  EXPECT_EQ(text.back(), '\n');
  EXPECT_EQ(count, 6);  // five before the limit, one after it
}

TEST_F(Descriptors, StandardOutputThatNobodyReads) {
  for (auto* const handler : {SIG_DFL, CountSignal}) {
    Child([&] {
      int ends[2];
      STEP(pipe(ends) == 0 && dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
      close(ends[0]);
      signal(SIGPIPE, handler);
      setenv("ASCEND_LOG_PRINT_TO_STDOUT", "1", 1);
      STEP(aclInit(nullptr) == 0);
      const SignalState before(SIGPIPE);
      STEP(FailOnce() && FailOnce());
      STEP(SignalState(SIGPIPE) == before && signals == 0);
      return 0;
    });
  }
}

void CloseEverything() {
  for (int number = 0; number < 256; ++number) close(number);
}

// Opens files of the program's own until all the numbers up to 40 are taken.
bool OpenOwnFiles(const std::filesystem::path& directory) {
  for (int number = -1; number < 40;) {
    number =
        open((directory / ("own" + std::to_string(number + 1))).c_str(), O_RDWR | O_CREAT | O_APPEND, 0600);
    if (number < 0 || write(number, "own", 3) != 3) return false;
  }
  return true;
}

// As a daemon does.
TEST_F(Descriptors, ALogWhoseFileTheProgramClosed) {
  for (const bool is_relative : {false, true}) {
    Child([&] {
      if (chdir(root_.c_str()) != 0) return 1;
      setenv("ASCEND_PROCESS_LOG_PATH", is_relative ? "log" : (root_ / "log").c_str(), 1);
      STEP(aclInit(nullptr) == 0);
      STEP(FailOnce());
      CloseEverything();
      STEP(chdir("/") == 0);
      STEP(OpenOwnFiles(root_));
      STEP(FailOnce());
      STEP(FailOnce());
      // What closes the log's file closes no other.
      STEP(aclFinalize() == 0);
      unsetenv("ASCEND_PROCESS_LOG_PATH");
      STEP(aclInit(nullptr) == 0);
      for (int number = 0; number <= 40; ++number) STEP(fcntl(number, F_GETFD) >= 0);
      return 0;
    });
    for (int i = 0; i <= 40; ++i) {
      const auto path = root_ / ("own" + std::to_string(i));
      EXPECT_EQ(Read(path), "own") << i;
      std::filesystem::remove(path);
    }
    const std::string text = Logged();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
    std::filesystem::remove_all(root_ / "log");
  }
}

TEST_F(Descriptors, StandardOutputThatTheProgramClosed) {
  Child([&] {
    setenv("ASCEND_LOG_PRINT_TO_STDOUT", "1", 1);
    STEP(aclInit(nullptr) == 0);
    STEP(FailOnce());
    const int kept = fcntl(STDOUT_FILENO, F_DUPFD, 100);
    CloseEverything();
    STEP(FailOnce());
    STEP(OpenOwnFiles(root_));
    STEP(FailOnce());
    (void)kept;
    return 0;
  });
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 1) << out_;
  for (int i = 0; i <= 40; ++i) EXPECT_EQ(Read(root_ / ("own" + std::to_string(i))), "own") << i;
}

// Standard output goes elsewhere for a while.
TEST_F(Descriptors, StandardOutputThatComesBack) {
  Child([&] {
    setenv("ASCEND_LOG_PRINT_TO_STDOUT", "1", 1);
    STEP(aclInit(nullptr) == 0);
    const int kept = dup(STDOUT_FILENO);
    const int other = open((root_ / "other").c_str(), O_RDWR | O_CREAT, 0600);
    STEP(kept >= 0 && other >= 0 && dup2(other, STDOUT_FILENO) >= 0);
    STEP(FailOnce());
    STEP(dup2(kept, STDOUT_FILENO) >= 0);
    STEP(FailOnce());
    // Whoever wants it there says so by initialising again.
    STEP(dup2(other, STDOUT_FILENO) >= 0);
    STEP(aclFinalize() == 0 && aclInit(nullptr) == 0);
    STEP(FailOnce());
    return 0;
  });
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 1) << out_;
  const std::string other = Read(root_ / "other");
  EXPECT_EQ(std::count(other.begin(), other.end(), '\n'), 1) << other;
}

// A program without standard streams: the next file that it opens has one of their numbers.
TEST_F(Descriptors, NoFileOfTheLibraryIsAStandardStream) {
  const aclrtPhysicalMemProp prop = OfDevice();
  Child([&] {
    LogToFiles();
    STEP(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0);
    for (int number = 0; number < 3; ++number) close(number);
    STEP(FailOnce());
    aclrtDrvMemHandle handle = nullptr;
    STEP(aclrtMallocPhysical(&handle, kPage, &prop, 0) == 0);
    for (int number = 0; number < 3; ++number) STEP(fcntl(number, F_GETFD) < 0);
    STEP(aclrtFreePhysical(handle) == 0);
    return 0;
  });
  EXPECT_NE(Logged(), "");
}

// Memory that was mapped stays; what lost its descriptor cannot be mapped any more, and no other file is in its stead.
TEST_F(Descriptors, PhysicalMemoryThatTheProgramClosed) {
  const aclrtPhysicalMemProp prop = OfDevice();
  Child([&] {
    STEP(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0);
    void* address = nullptr;
    STEP(aclrtReserveMemAddress(&address, 2 * kPage, 0, nullptr, 1) == 0);
    auto* const bytes = static_cast<char*>(address);
    aclrtDrvMemHandle handle = nullptr;
    STEP(aclrtMallocPhysical(&handle, kPage, &prop, 0) == 0);
    STEP(aclrtMapMem(bytes, kPage, 0, handle, 0) == 0);
    std::memset(bytes, 7, kPage);
    CloseEverything();
    STEP(OpenOwnFiles(root_));
    STEP(bytes[kPage - 1] == 7);
    STEP(aclrtMapMem(bytes + kPage, kPage, 0, handle, 0) == ACL_ERROR_RT_INVALID_HANDLE);
    const char* const message = aclGetRecentErrMsg();
    STEP(message != nullptr && std::strstr(message, "closed the descriptor") != nullptr);
    STEP(aclrtFreePhysical(handle) == 0);
    STEP(aclrtUnmapMem(bytes) == 0);
    STEP(aclrtReleaseMemAddress(address) == 0);
    for (int number = 0; number <= 40; ++number) STEP(fcntl(number, F_GETFD) >= 0);
    // New memory is as ever.
    STEP(aclrtMallocPhysical(&handle, kPage, &prop, 0) == 0 && aclrtFreePhysical(handle) == 0);
    return 0;
  });
  for (int i = 0; i <= 40; ++i) EXPECT_EQ(Read(root_ / ("own" + std::to_string(i))), "own") << i;
}

}  // namespace
}  // namespace portacl::testing
