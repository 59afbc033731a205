// A device's memory is accounted: its size is configured, and what its processes hold is not free.
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;
constexpr unsigned kPatience = 60;  // seconds

// Devices that no other program uses at the same time, each with 64 MiB.
Variables Only(const char* devices) {
  return {{"PORTACL_DEVICE_COUNT", "1024"},
          {"ASCEND_RT_VISIBLE_DEVICES", devices},
          {"PORTACL_DEVICE_MEMORY", "64M"}};
}

struct Info {
  size_t free = 0;
  size_t total = 0;
};
Info ReadInfo() {
  Info info;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &info.free, &info.total), ACL_SUCCESS);
  return info;
}

void* Take(size_t bytes) {
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  return memory;
}

// A child that runs body(write, read): the ends of two pipes, to the parent and from it.
class Child {
 public:
  template <class Body>
  explicit Child(const Body& body) {
    int to_parent[2];
    int to_child[2];
    EXPECT_EQ(pipe(to_parent), 0);
    EXPECT_EQ(pipe(to_child), 0);
    pid_ = fork();
    if (pid_ == 0) {
      alarm(kPatience);
      close(to_child[1]);
      _exit(body(to_parent[1], to_child[0]));
    }
    close(to_parent[1]);
    close(to_child[0]);
    from_ = to_parent[0];
    to_ = to_child[1];
  }
  ~Child() {
    close(from_);
    close(to_);
  }
  bool Waits() const {
    char byte = 0;
    return read(from_, &byte, 1) == 1;
  }
  void Kill() { EXPECT_EQ(kill(pid_, SIGKILL), 0); }
  void LetGo() { EXPECT_EQ(write(to_, "x", 1), 1); }
  int Status() {
    int status = -1;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = 0;
  int from_ = -1;
  int to_ = -1;
};

// Says that it is ready, and waits to be let go.
void Wait(int to, int from) {
  char byte = 0;
  if (write(to, "x", 1) != 1 || read(from, &byte, 1) != 1) _exit(99);
}

// In the child, which has a device of its own: takes memory, and holds it until it is let go.
int Holds(size_t bytes, int to, int from) {
  void* memory = nullptr;
  if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  if (aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 2;
  Wait(to, from);
  return aclrtFree(memory) == ACL_SUCCESS ? 0 : 3;
}

// Whether there is a table of this device.
bool HasTable(const std::string& device) {
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = entry.path().filename();
    if (name.starts_with("portacl." + std::to_string(geteuid()) + ".") && name.ends_with(".device" + device))
      return true;
  }
  return false;
}

TEST(DeviceMemory, IsWhatTheVariableSays) {
  for (const auto& [text, bytes] : {std::pair<const char*, size_t>{"1048576", kMebibyte},
                                    {"512M", 512 * kMebibyte},
                                    {"3G", 3072 * kMebibyte},
                                    {"2T", size_t{2} << 40},
                                    {"700K", 700 * size_t{1024}}}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_DEVICE_MEMORY", text}});
    EXPECT_EQ(ReadInfo().total, bytes) << text;
  }
  for (const char* text : {"0", "-1", "G", "1.5G", "1GB", "0G", "16777216T", "1 G", "99999999999999999999"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_DEVICE_MEMORY", text}},
                                        ScopedEnvironment::Start::kWithoutDevice);
    EXPECT_EQ(environment.init_status(), ACL_ERROR_INVALID_PARAM) << text;
  }
}

TEST(DeviceMemory, IsHalfOfTheMachinesSharedByDevices) {
  size_t of_one = 0;
  {
    const ScopedEnvironment environment(Variables{});
    of_one = ReadInfo().total;
    EXPECT_GT(of_one, 0u);
  }
  const ScopedEnvironment environment(
      Variables{{"PORTACL_DEVICE_COUNT", "4"}, {"ASCEND_RT_VISIBLE_DEVICES", "2"}});
  EXPECT_NEAR(static_cast<double>(ReadInfo().total), static_cast<double>(of_one) / 4, 4.0)
      << "also of those that the program does not see";
}

TEST(DeviceMemory, FreeIsWhatNobodyHolds) {
  const ScopedEnvironment environment(Only("1016,1017"));
  const Info before = ReadInfo();
  void* memory = Take(10 * kMebibyte);
  EXPECT_EQ(ReadInfo().free, before.free - 10 * kMebibyte);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  const size_t other = ReadInfo().free;
  void* there = Take(kMebibyte);
  EXPECT_EQ(ReadInfo().free, other - kMebibyte) << "each device has its own";
  EXPECT_EQ(aclrtFree(there), ACL_SUCCESS);
  EXPECT_EQ(ReadInfo().free, other);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* host = nullptr;
  ASSERT_EQ(aclrtMallocHost(&host, kMebibyte), ACL_SUCCESS);
  EXPECT_EQ(ReadInfo().free, before.free - 10 * kMebibyte) << "memory of the host is no device's";
  EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(ReadInfo().free, before.free);

  aclrtPhysicalMemProp prop = {};
  prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
  prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtDrvMemHandle physical = nullptr;
  ASSERT_EQ(aclrtMallocPhysical(&physical, 4 * kMebibyte, &prop, 0), ACL_SUCCESS) << TakeErrorMessage();
  EXPECT_EQ(ReadInfo().free, before.free - 4 * kMebibyte);
  EXPECT_EQ(aclrtFreePhysical(physical), ACL_SUCCESS);
  EXPECT_EQ(ReadInfo().free, before.free);
}

TEST(DeviceMemory, IsALimitWhereItIsSet) {
  const ScopedEnvironment environment(Only("1018"));
  const size_t before = ReadInfo().free;
  void* half = Take(before / 2);
  void* refused = &refused;
  EXPECT_EQ(aclrtMalloc(&refused, before / 2 + 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(refused, &refused);
  const std::string message = TakeErrorMessage();
  EXPECT_NE(message.find("of the 67108864 of device 0 (PORTACL_DEVICE_MEMORY)"), std::string::npos)
      << message;
  EXPECT_EQ(aclrtMalloc(&refused, SIZE_MAX - 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(ReadInfo().free, before - before / 2) << "a refusal takes nothing";
  void* rest = Take(before - before / 2);
  EXPECT_EQ(ReadInfo().free, 0u);
  EXPECT_EQ(aclrtFree(half), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(rest), ACL_SUCCESS);
  EXPECT_EQ(ReadInfo().free, before);
}

TEST(DeviceMemory, OfOtherProcesses) {
  const Variables variables = Only("1019");
  // The children start before this process uses the library, as other programs do.
  for (const Variable& variable : variables) setenv(variable.name.c_str(), variable.value.c_str(), 1);
  Child ends([](int to, int from) { return Holds(8 * kMebibyte, to, from); });
  Child is_killed([](int to, int from) { return Holds(16 * kMebibyte, to, from); });
  for (const Variable& variable : variables) unsetenv(variable.name.c_str());
  ASSERT_TRUE(ends.Waits() && is_killed.Waits());
  const ScopedEnvironment environment(variables);
  EXPECT_EQ(ReadInfo().free, 40 * kMebibyte);
  void* refused = nullptr;
  EXPECT_EQ(aclrtMalloc(&refused, 41 * kMebibyte, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
  ends.LetGo();
  EXPECT_EQ(ends.Status(), 0);
  EXPECT_EQ(ReadInfo().free, 48 * kMebibyte);
  is_killed.Kill();
  size_t free = 0;
  for (int i = 0; i < 6000 && (free = ReadInfo().free) != 64 * kMebibyte; ++i) usleep(10000);
  EXPECT_EQ(free, 64 * kMebibyte) << "who was killed holds nothing, before its parent has asked, too";
  EXPECT_EQ(is_killed.Status(), -SIGKILL);
}

TEST(DeviceMemory, OfAForkedChildIsItsOwn) {
  const ScopedEnvironment environment(Only("1020"));
  void* memory = Take(4 * kMebibyte);
  const size_t before = ReadInfo().free;
  Child child([](int, int) {
    size_t free = 0;
    size_t total = 0;
    void* own = nullptr;
    if (aclrtMalloc(&own, kMebibyte, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 1;
    if (aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) != ACL_SUCCESS) return 2;
    return 0;
  });
  EXPECT_EQ(child.Status(), 0);
  EXPECT_EQ(ReadInfo().free, before);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(ReadInfo().free, before + 4 * kMebibyte);
}

TEST(DeviceMemory, TheLastProcessLeavesNothingBehind) {
  for (const Variable& variable : Only("1021")) setenv(variable.name.c_str(), variable.value.c_str(), 1);
  Child child([](int to, int from) {
    if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
    Take(kMebibyte);
    if (!HasTable("1021")) return 2;
    Wait(to, from);
    exit(0);
  });
  ASSERT_TRUE(child.Waits());
  child.LetGo();
  EXPECT_EQ(child.Status(), 0);
  EXPECT_FALSE(HasTable("1021"));
  for (const Variable& variable : Only("1021")) unsetenv(variable.name.c_str());
}

TEST(DeviceMemory, TheNextProcessRemovesTheTableOfAKilledOne) {
  for (const Variable& variable : Only("1022")) setenv(variable.name.c_str(), variable.value.c_str(), 1);
  const auto body = [](int to, int from) {
    if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
    if (ReadInfo().free != 64 * kMebibyte) return 2;
    Take(kMebibyte);
    Wait(to, from);
    exit(0);
  };
  Child killed(body);
  ASSERT_TRUE(killed.Waits());
  killed.Kill();
  EXPECT_EQ(killed.Status(), -SIGKILL);
  EXPECT_TRUE(HasTable("1022"));
  Child next(body);
  ASSERT_TRUE(next.Waits());
  next.LetGo();
  EXPECT_EQ(next.Status(), 0);
  EXPECT_FALSE(HasTable("1022"));
  for (const Variable& variable : Only("1022")) unsetenv(variable.name.c_str());
}

}  // namespace
}  // namespace portacl::testing
