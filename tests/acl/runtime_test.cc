// The runtime's base functions: initialisation, configuration, devices, contexts, streams, memory, error
// text.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_l1_loss_backward.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/two_phase.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PORTACL_TEST_WITH_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PORTACL_TEST_WITH_SANITIZER
#endif
#endif

#ifdef PORTACL_TEST_WITH_SANITIZER
// The sanitizers end the process at an allocation that is too large, unless told to behave like malloc.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }
#endif

namespace portacl::testing {
namespace {

using Start = ScopedEnvironment::Start;

void OnAnotherThread(const std::function<void()>& body) { std::thread(body).join(); }

// What a call that needs a device answers on this thread.
aclError ProbeDevice() {
  void* memory = nullptr;
  const aclError status = aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  if (status == 0) {
    EXPECT_EQ(aclrtFree(memory), 0);
  }
  return status;
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    char name[] = "/tmp/portacl-test-XXXXXX";
    const int file = mkstemp(name);
    EXPECT_GE(file, 0);
    close(file);
    path_ = name;
    std::ofstream(path_) << content;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

// ---- Initialisation ----

TEST(Initialisation, CountsAndRefusals) {
  const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);  // initialises once
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclFinalize(), 0) << "ends everything, however often aclInit was called";
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  for (int cycle = 0; cycle < 50; ++cycle) {
    EXPECT_EQ(aclInit(nullptr), 0);
    EXPECT_EQ(aclrtSetDevice(0), 0);
    EXPECT_EQ(ProbeDevice(), 0);
    EXPECT_EQ(aclrtResetDevice(0), 0);
    EXPECT_EQ(aclFinalize(), 0);
  }
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

TEST(Initialisation, References) {
  const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  uint64_t left = 99;
  EXPECT_EQ(aclFinalizeReference(&left), 0);
  EXPECT_EQ(left, 2u);
  EXPECT_EQ(aclFinalizeReference(nullptr), 0);
  EXPECT_EQ(aclFinalizeReference(&left), 0);
  EXPECT_EQ(left, 0u);
  EXPECT_EQ(aclFinalizeReference(&left), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_EQ(aclInit(nullptr), 0);
}

TEST(Initialisation, ConfigurationFile) {
  const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);
  EXPECT_EQ(aclFinalize(), 0);
  EXPECT_EQ(aclInit("/nonexistent/acl.json"), ACL_ERROR_INVALID_FILE);
  EXPECT_NE(TakeErrorMessage().find("/nonexistent/acl.json"), std::string::npos);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE) << "a failing aclInit initialises nothing";

  const TemporaryFile empty("{}");
  const TemporaryFile other(R"({"err_msg_mode": "1"})");
  EXPECT_EQ(aclInit(empty.path()), 0) << TakeErrorMessage();
  EXPECT_EQ(aclInit(empty.path()), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclInit(other.path()), ACL_ERROR_INVALID_PARAM) << "another content than the one in force";
  TakeErrorMessage();
  EXPECT_EQ(aclFinalize(), 0);
}

TEST(Initialisation, MessagesOfTheProcess) {
  const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);
  EXPECT_EQ(aclFinalize(), 0);
  const TemporaryFile process_mode(R"({"err_msg_mode": "1"})");
  ASSERT_EQ(aclInit(process_mode.path()), 0) << TakeErrorMessage();
  float value = 1;
  OnAnotherThread([&] { EXPECT_EQ(aclCreateScalar(&value, ACL_COMPLEX32), nullptr); });
  const std::string message = TakeErrorMessage();
  EXPECT_NE(message.find("EZ1006"), std::string::npos) << message;
  EXPECT_NE(message.find("[THREAD:"), std::string::npos) << message;
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST(Initialisation, AclnnInit) {
  EXPECT_EQ(aclnnInit(nullptr), 0);
  EXPECT_EQ(aclnnInit(nullptr), 0);
  EXPECT_EQ(aclnnInit("/nonexistent/acl.json"), 0) << "an unreadable file is tolerated";
  EXPECT_EQ(aclnnFinalize(), 0);
  EXPECT_EQ(aclnnFinalize(), 0);
  const ScopedEnvironment environment(Variables{});
  EXPECT_EQ(aclnnInit(nullptr), 0);
  EXPECT_EQ(ProbeDevice(), 0);
  EXPECT_EQ(aclnnFinalize(), 0);
  EXPECT_EQ(ProbeDevice(), 0);
}

// ---- Configuration ----

TEST(SocNames, DefaultAndKnown) {
  {
    const ScopedEnvironment environment(Variables{});
    EXPECT_STREQ(aclrtGetSocName(), "Ascend910B1");
  }
  for (const char* name :
       {"Ascend910A",       "Ascend910ProA",    "Ascend910PremiumA", "Ascend910B",       "Ascend910ProB",
        "Ascend910B1",      "Ascend910B2",      "Ascend910B2C",      "Ascend910B3",      "Ascend910B4",
        "Ascend910B4-1",    "Ascend910_9391",   "Ascend910_9392",    "Ascend910_9381",   "Ascend910_9382",
        "Ascend910_9372",   "Ascend910_9362",   "Ascend910_9363",    "Ascend950PR_957b", "Ascend950PR_9599",
        "Ascend950PR_950z", "Ascend950DT_9571", "Ascend950DT_95A2",  "Ascend950DT_950y", "Ascend310",
        "Ascend310P1",      "Ascend310P2",      "Ascend310P3",       "Ascend310P4",      "Ascend310P5",
        "Ascend310P6",      "Ascend310P7",      "Ascend310B1",       "Ascend310B2",      "Ascend310B3",
        "Ascend310B4"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", name}});
    EXPECT_EQ(environment.init_status(), 0) << name;
    EXPECT_STREQ(aclrtGetSocName(), name);
  }
}

TEST(SocNames, UnknownIsRefused) {
  for (const char* name : {"Ascend910B5", "Ascend910b1", "Ascend910_9399", "Ascend310P8", "Ascend310P0",
                           "Ascend310B5", "Ascend951", "Ascend950", "Ascend910B1 ", "A100"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", name}});
    EXPECT_EQ(environment.init_status(), ACL_ERROR_INVALID_PARAM) << name;
    const std::string message = TakeErrorMessage();
    for (const char* fragment : {"PORTACL_SOC", name, "Ascend910B1", "Ascend310P3", "Ascend910_9391",
                                 "Ascend310B1", "Ascend950PR_", "Ascend950DT_", "Ascend910A"}) {
      EXPECT_NE(message.find(fragment), std::string::npos) << fragment << " is missing in: " << message;
    }
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE) << "a failing aclInit initialises nothing";
  }
}

TEST(SocNames, StringsStayValid) {
  std::vector<const char*> strings;
  const std::vector<std::string> names = {"Ascend950PR_9599", "Ascend910B3", "Ascend950DT_9571",
                                          "Ascend910A"};
  for (const std::string& name : names) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", name}});
    strings.push_back(aclrtGetSocName());
  }
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(strings[i], names[i]);
  }
}

TEST(Configuration, ThreadCount) {
  for (const char* count : {"1", "3", "64"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", count}});
    EXPECT_EQ(environment.init_status(), 0) << count;
  }
  for (const char* count : {"0", "-1", "two", "1.5", "3 ", "99999999999999999999"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", count}});
    EXPECT_EQ(environment.init_status(), ACL_ERROR_INVALID_PARAM) << count;
    const std::string message = TakeErrorMessage();
    EXPECT_NE(message.find("PORTACL_NUM_THREADS"), std::string::npos) << message;
  }
}

// ---- Devices and contexts ----

TEST(Devices, CountAndNumbers) {
  const ScopedEnvironment environment(Variables{{"PORTACL_DEVICE_COUNT", "3"}}, Start::kWithoutDevice);
  uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), 0);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(aclrtGetDeviceCount(nullptr), ACL_ERROR_INVALID_PARAM);
  for (const int32_t device : {-1, 3, 100, INT32_MIN, INT32_MAX}) {
    EXPECT_EQ(aclrtSetDevice(device), ACL_ERROR_RT_INVALID_DEVICEID) << device;
    EXPECT_EQ(aclrtResetDevice(device), ACL_ERROR_RT_INVALID_DEVICEID) << device;
  }
  EXPECT_EQ(ProbeDevice(), ACL_ERROR_RT_CONTEXT_NULL) << "a refused number sets nothing";
  for (const int32_t device : {0, 1, 2}) {
    EXPECT_EQ(aclrtSetDevice(device), 0);
    int32_t current = -1;
    EXPECT_EQ(aclrtGetDevice(&current), 0);
    EXPECT_EQ(current, device);
    EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
  }
  for (const int32_t device : {0, 1, 2}) {
    EXPECT_EQ(aclrtResetDevice(device), 0);
  }
}

TEST(Devices, OneByDefault) {
  const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);
  uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), 0);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(aclrtSetDevice(1), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST(Devices, NothingWorksWithoutOne) {
  const ScopedEnvironment environment(Variables{});
  OnAnotherThread([&] {
    void* memory = nullptr;
    EXPECT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(memory, nullptr);
    EXPECT_EQ(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM)
        << "the size is looked at before the device";
    int32_t device = -1;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_CONTEXT_NULL);
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSetDevice(0), 0);
    EXPECT_EQ(ProbeDevice(), 0);
    EXPECT_EQ(aclrtResetDevice(0), 0);
  });
  EXPECT_EQ(ProbeDevice(), 0);
}

TEST(Devices, EverySetIsCounted) {
  const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR) << "nothing was set";
  EXPECT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtResetDevice(0), 0);
  EXPECT_EQ(ProbeDevice(), 0) << "one set is left";
  EXPECT_EQ(aclrtResetDevice(0), 0);
  EXPECT_EQ(ProbeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
}

TEST(Devices, LastResetTakesTheDeviceFromEveryThread) {
  const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);
  EXPECT_EQ(aclrtSetDevice(0), 0);
  OnAnotherThread([&] {
    EXPECT_EQ(aclrtSetDevice(0), 0);
    EXPECT_EQ(aclrtResetDevice(0), 0);
    EXPECT_EQ(ProbeDevice(), 0) << "the other thread's set is still counted";
    EXPECT_EQ(aclrtResetDevice(0), 0) << "the count is the process's";
  });
  EXPECT_EQ(ProbeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(ProbeDevice(), 0) << "until the device is set again";
  EXPECT_EQ(aclrtResetDevice(0), 0);
}

TEST(Devices, LastResetFreesTheContextsStreams) {
  const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);
  EXPECT_EQ(aclrtSetDevice(0), 0);
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCreateStream(&stream), 0);
  EXPECT_EQ(aclrtResetDevice(0), 0);
  EXPECT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtResetDevice(0), 0);
}

TEST(Devices, RunModeAndMemory) {
  const ScopedEnvironment environment(Variables{});
  aclrtRunMode mode = ACL_DEVICE;
  EXPECT_EQ(aclrtGetRunMode(&mode), 0);
  EXPECT_EQ(mode, ACL_HOST);
  EXPECT_EQ(aclrtGetRunMode(nullptr), ACL_ERROR_INVALID_PARAM);
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes), 0);
  EXPECT_GT(free_bytes, 0u);
  EXPECT_GE(total_bytes, free_bytes);
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, nullptr, &total_bytes), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST(Contexts, OwnOnes) {
  const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);
  OnAnotherThread([] {
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtCreateContext(nullptr, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtCreateContext(&context, 7), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(context, nullptr);
    EXPECT_EQ(aclrtCreateContext(&context, 0), 0);
    EXPECT_EQ(ProbeDevice(), 0) << "the new context is current";
    aclrtContext current = nullptr;
    EXPECT_EQ(aclrtGetCurrentContext(&current), 0);
    EXPECT_EQ(current, context);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0) << "it has a default stream";

    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStream(&stream), 0);
    aclrtContext second = nullptr;
    EXPECT_EQ(aclrtCreateContext(&second, 0), 0);
    EXPECT_NE(second, context);
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_STREAM_CONTEXT) << "a stream of another context";
    EXPECT_EQ(aclrtSetCurrentContext(context), 0);
    EXPECT_EQ(aclrtDestroyStream(stream), 0);
    EXPECT_EQ(aclrtSetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtDestroyContext(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtDestroyContext(second), 0);
    EXPECT_EQ(ProbeDevice(), 0);
    EXPECT_EQ(aclrtDestroyContext(context), 0);
    EXPECT_EQ(ProbeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
  });
}

TEST(Contexts, DefaultOneCannotBeDestroyed) {
  const ScopedEnvironment environment(Variables{});
  aclrtContext context = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  EXPECT_NE(aclrtDestroyContext(context), 0);
  EXPECT_EQ(ProbeDevice(), 0);
  OnAnotherThread([&] {
    EXPECT_EQ(aclrtSetCurrentContext(context), 0);
    EXPECT_EQ(ProbeDevice(), 0) << "a context may be current in several threads";
    int32_t device = -1;
    EXPECT_EQ(aclrtGetDevice(&device), 0);
    EXPECT_EQ(device, 0);
  });
}

// ---- Streams ----

TEST(Streams, LifeAndRefusals) {
  const ScopedEnvironment environment(Variables{});
  EXPECT_EQ(aclrtCreateStream(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyStream(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0) << "the default stream";
  alignas(64) std::byte zeros[4096] = {};
  EXPECT_EQ(aclrtSynchronizeStream(zeros), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtDestroyStream(zeros), ACL_ERROR_RT_STREAM_CONTEXT);
  std::vector<aclrtStream> streams(300);
  for (aclrtStream& stream : streams) {
    ASSERT_EQ(aclrtCreateStream(&stream), 0);
  }
  std::vector<aclrtStream> distinct = streams;
  std::sort(distinct.begin(), distinct.end());
  EXPECT_EQ(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (const aclrtStream stream : streams) {
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
    EXPECT_EQ(aclrtDestroyStream(stream), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_CONTEXT) << "it is no more";
  }
}

// ---- Memory ----

TEST(Memory, MallocAndFree) {
  const ScopedEnvironment environment(Variables{});
  EXPECT_EQ(aclrtMalloc(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  for (const size_t size : {size_t{1}, size_t{31}, size_t{32}, size_t{33}, size_t{4096}, size_t{100001},
                            size_t{1} << 21, (size_t{1} << 22) + 5}) {
    for (const int policy : {0, 1, 2, 3, 4, 5, 6, 7, 256, 4096, 1048576, 12345}) {
      memory = nullptr;
      ASSERT_EQ(aclrtMalloc(&memory, size, static_cast<aclrtMemMallocPolicy>(policy)), 0)
          << size << " " << policy;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 512, 0u);
      const size_t rounded = (size + 31) / 32 * 32;
      std::memset(memory, 0x5A, rounded);
      EXPECT_EQ(aclrtFree(memory), 0);
    }
  }
}

TEST(Memory, FreeKnowsItsOwn) {
  const ScopedEnvironment environment(Variables{});
  std::vector<std::byte> foreign(4096);
  EXPECT_EQ(aclrtFree(foreign.data()), ACL_ERROR_RT_PARAM_INVALID);
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  EXPECT_EQ(aclrtFree(static_cast<std::byte*>(memory) + 64), ACL_ERROR_RT_PARAM_INVALID) << "not the start";
  std::memset(memory, 1, 4096);  // still there
  EXPECT_EQ(aclrtFreeHost(memory), ACL_ERROR_RT_PARAM_INVALID) << "not host memory";
  EXPECT_EQ(aclrtFree(memory), 0);
  EXPECT_EQ(aclrtFree(memory), ACL_ERROR_RT_PARAM_INVALID) << "freed before";

  void* host = nullptr;
  EXPECT_EQ(aclrtMallocHost(nullptr, 64), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocHost(&host, 0), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclrtMallocHost(&host, 4096), 0);
  std::memset(host, 1, 4096);
  EXPECT_EQ(aclrtFree(host), ACL_ERROR_RT_PARAM_INVALID) << "not device memory";
  EXPECT_EQ(aclrtFreeHost(host), 0);
  EXPECT_EQ(aclrtFreeHost(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST(Memory, Exhaustion) {
  const ScopedEnvironment environment(Variables{});
  for (const size_t size : {SIZE_MAX, SIZE_MAX - 31, SIZE_MAX / 2, size_t{1} << 60}) {
    void* memory = &memory;
    EXPECT_EQ(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION) << size;
    EXPECT_EQ(aclrtMallocHost(&memory, size), ACL_ERROR_RT_MEMORY_ALLOCATION) << size;
  }
  EXPECT_EQ(ProbeDevice(), 0);
}

TEST(Memory, Memcpy) {
  const ScopedEnvironment environment(Variables{});
  std::vector<uint8_t> from(1000);
  for (size_t i = 0; i < from.size(); ++i) {
    from[i] = static_cast<uint8_t>(i * 7);
  }
  for (const int kind : {0, 1, 2, 3, 4, 5}) {
    std::vector<uint8_t> to(1000, 0xEE);
    EXPECT_EQ(aclrtMemcpy(to.data(), 999, from.data(), 998, static_cast<aclrtMemcpyKind>(kind)), 0) << kind;
    EXPECT_TRUE(std::equal(to.begin(), to.begin() + 998, from.begin()));
    EXPECT_EQ(to[998], 0xEE);
    EXPECT_EQ(aclrtMemcpy(to.data(), 10, to.data(), 10, static_cast<aclrtMemcpyKind>(kind)), 0);
  }
  std::vector<uint8_t> to(1000, 0xEE);
  const std::vector<uint8_t> untouched = to;
  for (const int kind : {6, 7, 8, 63}) {
    EXPECT_EQ(aclrtMemcpy(to.data(), 10, from.data(), 10, static_cast<aclrtMemcpyKind>(kind)),
              ACL_ERROR_INVALID_PARAM)
        << kind;
  }
  EXPECT_EQ(aclrtMemcpy(nullptr, 10, from.data(), 10, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpy(to.data(), 10, nullptr, 10, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpy(to.data(), 9, from.data(), 10, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(to, untouched);
  EXPECT_EQ(aclrtMemcpy(nullptr, 0, nullptr, 0, ACL_MEMCPY_HOST_TO_DEVICE), 0) << "nothing to copy";
  EXPECT_EQ(aclrtMemcpy(to.data(), 10, from.data(), 0, ACL_MEMCPY_DEVICE_TO_HOST), 0);
  EXPECT_EQ(to, untouched);
}

TEST(Memory, Memset) {
  const ScopedEnvironment environment(Variables{});
  std::vector<uint8_t> to(100, 0xEE);
  EXPECT_EQ(aclrtMemset(to.data(), 100, 0x1A5, 99), 0);
  EXPECT_TRUE(std::all_of(to.begin(), to.begin() + 99, [](uint8_t b) { return b == 0xA5; }))
      << "the low 8 bits";
  EXPECT_EQ(to[99], 0xEE);
  const std::vector<uint8_t> untouched = to;
  EXPECT_EQ(aclrtMemset(nullptr, 10, 0, 10), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(aclrtMemset(to.data(), 9, 0, 10), 0) << "more than there is room for";
  EXPECT_EQ(aclrtMemset(nullptr, 0, 0, 0), 0) << "nothing to set";
  EXPECT_EQ(aclrtMemset(to.data(), 10, 0, 0), 0);
  EXPECT_EQ(to, untouched);
}

// ---- Error text ----

TEST(ErrorText, PerThreadAndClearedByReading) {
  const ScopedEnvironment environment(Variables{});
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  float value = 1;
  EXPECT_EQ(aclCreateScalar(&value, ACL_STRING), nullptr);
  OnAnotherThread([] { EXPECT_EQ(aclGetRecentErrMsg(), nullptr); });
  const char* message = aclGetRecentErrMsg();
  ASSERT_NE(message, nullptr);
  EXPECT_NE(std::string(message).find("EZ1006"), std::string::npos) << message;
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST(ErrorText, NewestFirst) {
  const ScopedEnvironment environment(Variables{});
  const int64_t dims[] = {1};
  aclTensor* tensor = aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, nullptr);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  for (const int64_t reduction : {111222333, 444555666, 777888999}) {
    EXPECT_EQ(
        aclnnL1LossBackwardGetWorkspaceSize(tensor, tensor, tensor, reduction, tensor, &size, &executor),
        161002);
  }
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
  const std::string message = TakeErrorMessage();
  const size_t oldest = message.find("111222333");
  const size_t middle = message.find("444555666");
  const size_t newest = message.find("777888999");
  const size_t trace = message.find("\n        TraceBack (most recent call last):\n");
  EXPECT_LT(newest, trace) << message;
  EXPECT_LT(trace, middle) << message;
  EXPECT_LT(middle, oldest) << message;
  EXPECT_NE(oldest, std::string::npos) << message;
}

// A message that is pending is stored once, however often its cause repeats.
TEST(ErrorText, IdenticalOnesOnce) {
  const ScopedEnvironment environment(Variables{});
  float value = 1;
  EXPECT_EQ(aclCreateScalar(&value, ACL_STRING), nullptr);
  const std::string once = TakeErrorMessage();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(aclCreateScalar(&value, ACL_STRING), nullptr);
  }
  const std::string repeated = TakeErrorMessage();
  EXPECT_EQ(repeated.size(), once.size()) << repeated;
}

}  // namespace
}  // namespace portacl::testing
