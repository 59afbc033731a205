// The configuration: products by name, threads by default, aclInit's file, locales.
// SPDX-License-Identifier: Apache-2.0
#include "acl/settings/configuration.h"

#include <sched.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <locale>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnn/opdev/op_errno.h"
#include "gtest/gtest.h"
#include "process/child_process.h"
#include "process/simple_call.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

using Start = ScopedEnvironment::Start;

// A file that lives as long as the object.
class ConfigurationFile {
 public:
  explicit ConfigurationFile(const std::string& content) {
    char name[] = "/tmp/portacl-test-XXXXXX";
    const int file = mkstemp(name);
    EXPECT_GE(file, 0);
    close(file);
    path_ = name;
    Write(content);
  }
  ~ConfigurationFile() { std::remove(path_.c_str()); }

  void Write(const std::string& content) const { std::ofstream(path_) << content; }
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

// ---- products ----

struct NamedProduct {
  portacl::Product product;
  bool has_bf16;
  std::vector<std::string> names;
};

const std::vector<NamedProduct>& NamedProducts() {
  static const std::vector<NamedProduct> products = {
      {portacl::Product::kAtlasTraining,
       false,
       {"Ascend910A", "Ascend910ProA", "Ascend910PremiumA", "Ascend910B", "Ascend910ProB"}},
      {portacl::Product::kAtlasA2,
       true,
       {"Ascend910B1", "Ascend910B2", "Ascend910B2C", "Ascend910B3", "Ascend910B4", "Ascend910B4-1"}},
      {portacl::Product::kAtlasA3,
       true,
       {"Ascend910_9391", "Ascend910_9392", "Ascend910_9381", "Ascend910_9382", "Ascend910_9372",
        "Ascend910_9362", "Ascend910_9363"}},
      {portacl::Product::kAscend950,
       true,
       {"Ascend950PR_957b", "Ascend950PR_957c", "Ascend950PR_957d", "Ascend950PR_9579", "Ascend950PR_9589",
        "Ascend950PR_958b", "Ascend950PR_9599", "Ascend950PR_950z", "Ascend950DT_9571", "Ascend950DT_9596",
        "Ascend950DT_95A1", "Ascend950DT_95A2", "Ascend950DT_950x", "Ascend950DT_950y"}},
      {portacl::Product::kAtlasInference,
       false,
       {"Ascend310P1", "Ascend310P2", "Ascend310P3", "Ascend310P4", "Ascend310P5", "Ascend310P6",
        "Ascend310P7"}},
      {portacl::Product::kAtlas200I500A2,
       false,
       {"Ascend310B1", "Ascend310B2", "Ascend310B3", "Ascend310B4", "Ascend310"}},
  };
  return products;
}

// What phase 1 answers to bf16 tensors: tells products apart.
aclnnStatus PlanBf16() {
  const int64_t dims[] = {4};
  uint16_t data[4][4] = {};
  aclTensor* tensors[4];
  for (int i = 0; i < 4; ++i)
    tensors[i] = aclCreateTensor(dims, 1, ACL_BF16, nullptr, 0, ACL_FORMAT_ND, dims, 1, data[i]);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const aclnnStatus status = aclnnL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 0,
                                                                 tensors[3], &size, &executor);
  if (status == 0) aclDestroyAclOpExecutor(executor);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  return status;
}

TEST(Products, EveryNameSwitchesInOneProcess) {
  for (int round = 0; round < 2; ++round) {
    for (const NamedProduct& product : NamedProducts()) {
      for (const std::string& name : product.names) {
        const ScopedEnvironment environment(Variables{{"PORTACL_SOC", name}});
        ASSERT_EQ(environment.init_status(), ACL_SUCCESS) << name;
        EXPECT_STREQ(aclrtGetSocName(), name.c_str());
        EXPECT_EQ(CurrentConfiguration().soc->product, product.product) << name;
        EXPECT_EQ(PlanBf16(), product.has_bf16 ? ACL_SUCCESS : ACLNN_ERR_PARAM_INVALID) << name;
        aclGetRecentErrMsg();
        SimpleCall call(10);
        EXPECT_TRUE(call.Run(environment.stream())) << name;
      }
    }
  }
}

TEST(Products, UnknownNamesAreRefusedWithTheKnownOnes) {
  for (const char* name : {"Ascend",       "Ascend910",    "ascend910b1",      "Ascend910B5",  "Ascend910B1 ",
                           " Ascend910B1", "Ascend910B11", "Ascend910C",       "Ascend910_93", "Ascend950",
                           "Ascend950PR",  "Ascend950PR_", "Ascend950XX_9599", "Ascend310P",   "Ascend310P0",
                           "Ascend310P8",  "Ascend310B",   "Ascend310B5",      "none",         "910B1",
                           "Atlas A2"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", name}}, Start::kWithoutDevice);
    EXPECT_EQ(environment.init_status(), ACL_ERROR_INVALID_PARAM) << name;
    const std::string message = TakeErrorMessage();
    EXPECT_NE(message.find(std::string("[") + name + "]"), std::string::npos) << message;
    EXPECT_NE(message.find("PORTACL_SOC"), std::string::npos) << message;
    for (const NamedProduct& product : NamedProducts()) {
      if (product.product == portacl::Product::kAscend950) continue;
      for (const std::string& known : product.names) {
        EXPECT_NE(message.find(known), std::string::npos) << known << " is missing in " << message;
      }
    }
    EXPECT_NE(message.find("Ascend950PR_"), std::string::npos) << message;
    EXPECT_NE(message.find("Ascend950DT_"), std::string::npos) << message;
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE) << "a failing aclInit initialises nothing";
    // Without aclInit the environment counts too, and is as wrong.
    EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_INVALID_PARAM);
    aclGetRecentErrMsg();
  }
  const ScopedEnvironment environment(Variables{});
  EXPECT_EQ(environment.init_status(), ACL_SUCCESS) << "the next aclInit is not harmed";
  EXPECT_STREQ(aclrtGetSocName(), "Ascend910B1");
}

// ---- threads ----

class Affinity {
 public:
  Affinity() { EXPECT_EQ(sched_getaffinity(0, sizeof saved_, &saved_), 0); }
  ~Affinity() { sched_setaffinity(0, sizeof saved_, &saved_); }

  int count() const { return CPU_COUNT(&saved_); }
  void LimitTo(int wanted) const {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu = 0, found = 0; cpu < CPU_SETSIZE && found < wanted; ++cpu) {
      if (CPU_ISSET(cpu, &saved_)) {
        CPU_SET(cpu, &set);
        ++found;
      }
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
  }

 private:
  cpu_set_t saved_;
};

// The quota of the control group that this process sees as its root, in processors rounded up; a large number
// without one.
int QuotaAtTheRoot() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  long quota = 0;
  long period = 0;
  return file >> quota >> period ? static_cast<int>((quota + period - 1) / period) : 1 << 20;
}

TEST(Threads, DefaultIsWhatThisProcessMayUse) {
  const Affinity affinity;
  for (const int cpus : {affinity.count(), 1, (affinity.count() + 1) / 2}) {
    ASSERT_NO_FATAL_FAILURE(affinity.LimitTo(cpus));
    const ScopedEnvironment environment(Variables{});
    const int threads = CurrentConfiguration().num_threads;
    EXPECT_GE(threads, 1);
    EXPECT_LE(threads, std::min(cpus, QuotaAtTheRoot()));
    if (cpus == 1) {
      EXPECT_EQ(threads, 1);
    }
    if (QuotaAtTheRoot() >= cpus && !std::ifstream("/proc/self/cgroup").fail()) {
      std::ifstream groups("/proc/self/cgroup");
      std::string line;
      if (std::getline(groups, line) && line == "0::/") {
        EXPECT_EQ(threads, cpus) << "nothing but the affinity limits";
      }
    }
    SimpleCall call(kBigCall);
    EXPECT_TRUE(call.Run(environment.stream()));
  }
  ASSERT_NO_FATAL_FAILURE(affinity.LimitTo(1));
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  EXPECT_EQ(CurrentConfiguration().num_threads, 3) << "what is configured wins";
}

// ---- aclInit's file ----

TEST(ConfigurationFileOfAclInit, ErrorMessageMode) {
  const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);
  ASSERT_EQ(aclFinalize(), 0);
  struct Case {
    const char* content;
    aclError status;
    bool process_wide;
  };
  for (const Case& c :
       {Case{R"({"err_msg_mode": "0"})", 0, false}, Case{R"({"err_msg_mode": "1"})", 0, true},
        Case{R"({"err_msg_mode": 1})", 0, true}, Case{R"({})", 0, false}, Case{"", 0, false},
        Case{" \n", 0, false}, Case{R"({"profiler": {"switch": "on", "x": [1.5, null, true]}})", 0, false},
        Case{R"({"err_msg_mode": "2"})", 100000, false}, Case{R"({"err_msg_mode": "on"})", 100000, false},
        Case{R"({"err_msg_mode": null})", 100000, false}, Case{R"({"err_msg_mode": "1)", 100000, false},
        Case{"[]", 100000, false}, Case{"7", 100000, false}, Case{"not json", 100000, false}}) {
    const ConfigurationFile file(c.content);
    EXPECT_EQ(aclInit(file.path()), c.status) << c.content;
    const std::string message = TakeErrorMessage();
    if (c.status == 0) {
      EXPECT_EQ(message, "");
      EXPECT_EQ(CurrentConfiguration().process_wide_messages, c.process_wide) << c.content;
      EXPECT_EQ(aclFinalize(), 0);
    } else {
      EXPECT_NE(message.find(file.path()), std::string::npos) << c.content << ": " << message;
      EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE) << c.content;
      aclGetRecentErrMsg();
    }
  }
}

TEST(ConfigurationFileOfAclInit, DefaultDevice) {
  const ScopedEnvironment environment(Variables{{"PORTACL_DEVICE_COUNT", "3"}}, Start::kWithoutDevice);
  ASSERT_EQ(aclFinalize(), 0);
  for (const char* content :
       {R"({"defaultDevice": {"default_device": "2"}})", R"({"defaultDevice": {"default_device": 2}})"}) {
    const ConfigurationFile file(content);
    ASSERT_EQ(aclInit(file.path()), 0) << TakeErrorMessage();
    int32_t device = -1;
    std::thread([&] {  // a thread that sets no device
      EXPECT_EQ(aclrtGetDevice(&device), 0);
      SimpleCall call(100);
      EXPECT_TRUE(call.Run(nullptr));
    })
        .join();
    EXPECT_EQ(device, 2);
    EXPECT_EQ(aclFinalize(), 0);
  }
  for (const char* content :
       {R"({"defaultDevice": {"default_device": "3"}})", R"({"defaultDevice": {"default_device": "-1"}})",
        R"({"defaultDevice": {"default_device": "x"}})", R"({"defaultDevice": "2"})",
        R"({"defaultDevice": {}})"}) {
    const ConfigurationFile file(content);
    EXPECT_EQ(aclInit(file.path()), ACL_ERROR_INVALID_PARAM) << content;
    EXPECT_NE(TakeErrorMessage().find("defaultDevice"), std::string::npos) << content;
  }
  EXPECT_EQ(aclInit(nullptr), 0);
  int32_t device = -1;
  std::thread([&] { EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL); }).join();
}

TEST(ConfigurationFileOfAclInit, PathsAndRepeatedCalls) {
  const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);
  ASSERT_EQ(aclFinalize(), 0);
  for (const char* path : {"/nonexistent/acl.json", "/tmp", ""}) {
    EXPECT_EQ(aclInit(path), ACL_ERROR_INVALID_FILE) << path;
    EXPECT_NE(TakeErrorMessage().find(std::string("[") + path + "]"), std::string::npos) << path;
  }
  const ConfigurationFile file(R"({"err_msg_mode": "0"})");
  const ConfigurationFile same(R"({"err_msg_mode": "0"})");
  const ConfigurationFile other(R"({"err_msg_mode": "1"})");
  ASSERT_EQ(aclInit(file.path()), 0);
  EXPECT_EQ(aclInit(file.path()), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclInit(same.path()), ACL_ERROR_REPEAT_INITIALIZE) << "the content counts, not the path";
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  TakeErrorMessage();
  EXPECT_EQ(aclInit(other.path()), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(TakeErrorMessage().find(other.path()), std::string::npos);
  EXPECT_FALSE(CurrentConfiguration().process_wide_messages) << "what is in force stays";
  uint64_t left = 0;
  EXPECT_EQ(aclFinalizeReference(&left), 0);
  EXPECT_EQ(left, 3u) << "refused calls do not count";
  EXPECT_EQ(aclFinalize(), 0);
  EXPECT_EQ(aclInit(other.path()), 0) << "after aclFinalize another content is fine";
  EXPECT_TRUE(CurrentConfiguration().process_wide_messages);
}

// ---- locales ----

struct CommaPunctuation : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

// Numbers in messages, and numbers read from files, must not depend on the program's locale.
void ExpectLocaleIndependence(const std::string& name) {
  const ConfigurationFile file(R"({"err_msg_mode": "0", "a": 1.5, "b": 1234567})");
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "1234"}}, Start::kWithoutDevice);
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS) << name;
  EXPECT_EQ(CurrentConfiguration().num_threads, 1234) << name;
  ASSERT_EQ(aclFinalize(), 0);
  EXPECT_EQ(aclInit("/nonexistent/acl.json"), ACL_ERROR_INVALID_FILE);
  const std::string unreadable = TakeErrorMessage();
  EXPECT_NE(unreadable.find("No such file or directory"), std::string::npos) << name << ": " << unreadable;
  ASSERT_EQ(aclInit(file.path()), ACL_SUCCESS) << name << TakeErrorMessage();
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  size_t free = 0;
  size_t total = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_DDR_MEM, &free, &total), ACL_SUCCESS);
  EXPECT_GT(total, size_t{64} << 20) << name;
  char bytes[8] = {};
  EXPECT_EQ(aclrtMemcpy(bytes, 1234567, bytes, 7654321, ACL_MEMCPY_HOST_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
  const std::string message = TakeErrorMessage();
  EXPECT_NE(message.find("1234567"), std::string::npos) << name << ": " << message;
  EXPECT_NE(message.find("7654321"), std::string::npos) << name << ": " << message;
  EXPECT_NE(message.find("[PID: " + std::to_string(getpid()) + "] 20"), std::string::npos)
      << name << ": " << message;
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST(Locale, OfCxxDoesNotMatter) {
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new CommaPunctuation));
  ExpectLocaleIndependence("a C++ locale with decimal comma");
  std::locale::global(before);
}

TEST(Locale, OfCDoesNotMatter) {
  int tried = 0;
  for (const char* name :
       {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8", "pl_PL.UTF-8", "C.UTF-8"}) {
    if (std::setlocale(LC_ALL, name) == nullptr) continue;
    ++tried;
    ExpectLocaleIndependence(name);
  }
  std::setlocale(LC_ALL, "C");
  if (tried == 0) GTEST_SKIP() << "no locale but C is installed";
}

}  // namespace
}  // namespace portacl::testing
