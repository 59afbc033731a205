// The text of aclGetRecentErrMsg: envelope, titles, order of several messages, per thread or per process.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <sys/syscall.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "process/simple_call.h"
#include "process/text_form.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

const std::string kTraceBack = "TraceBack (most recent call last):";

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  EXPECT_EQ(begin, text.size()) << "every line ends in a newline: " << text;
  return lines;
}

// The headline of a message that is not internal.
std::string UserForm(const std::string& title_and_code) {
  return "[PID: " + std::to_string(getpid()) + "] " + kTimeForm + " " + title_and_code + ": *";
}

// Failures of different kinds; `which` makes their texts differ.
void FailParameter(int64_t reduction) {
  SimpleCall call(4);
  ASSERT_TRUE(call.CreateTensors());
  const int64_t dims[] = {4};
  float data[4] = {};
  aclTensor* tensor = aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, data);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnL1LossBackwardGetWorkspaceSize(tensor, tensor, tensor, reduction, tensor, &size, &executor),
            161002);
  aclDestroyTensor(tensor);
}

void FailRuntime() { EXPECT_EQ(aclrtMalloc(nullptr, 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM); }

void FailInner(uintptr_t executor) {
  EXPECT_EQ(aclnnL1LossBackward(nullptr, 0, reinterpret_cast<aclOpExecutor*>(executor), nullptr), 561000);
}

TEST(Messages, OneOfAUser) {
  const ScopedEnvironment environment(Variables{});
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr) << "nothing is pending";
  FailParameter(77);
  const std::string text = TakeErrorMessage();
  const std::vector<std::string> lines = Lines(text);
  ASSERT_GE(lines.size(), 1u);
  EXPECT_TRUE(HasForm(lines[0], UserForm("AclNN_Parameter_Error(EZ1001)"))) << text;
  for (const char* fragment : {"aclnnL1LossBackward", "reduction", "77", "0", "2"}) {
    EXPECT_NE(lines[0].find(fragment), std::string::npos) << fragment << " is missing in " << text;
  }
  for (size_t i = 1; i < lines.size(); ++i) {
    EXPECT_TRUE(HasForm(lines[i], "        Possible Cause: *") || HasForm(lines[i], "        Solution: *"))
        << text;
  }
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr) << "reading clears";
}

TEST(Messages, TimeIsNow) {
  const ScopedEnvironment environment(Variables{});
  const time_t before = time(nullptr);
  FailRuntime();
  const std::string text = TakeErrorMessage();
  const time_t after = time(nullptr);
  tm stamp{};
  const char* const at = text.c_str() + text.find("] ") + 2;
  ASSERT_NE(strptime(at, "%Y-%m-%d-%H:%M:%S", &stamp), nullptr) << text;
  stamp.tm_isdst = -1;
  const time_t said = mktime(&stamp);
  EXPECT_GE(said, before);
  EXPECT_LE(said, after);
}

TEST(Messages, OneOfTheInside) {
  const ScopedEnvironment environment(Variables{});
  FailInner(64);
  const std::string text = TakeErrorMessage();
  const std::vector<std::string> lines = Lines(text);
  ASSERT_EQ(lines.size(), 2u) << text;
  EXPECT_EQ(lines[0], "EZ9999: Internal error!");
  EXPECT_TRUE(HasForm(lines[1], "EZ9999[PID: " + std::to_string(getpid()) + "] " + kTimeForm +
                                    " AclNN_Inner_Error(EZ9999):  aclnnL1LossBackward*"))
      << text;
}

TEST(Messages, SeveralAreTracedBackNewestFirst) {
  const ScopedEnvironment environment(Variables{});
  FailParameter(101);  // the oldest
  FailRuntime();
  FailInner(64);
  FailParameter(102);  // the newest that is not internal: the headline
  FailInner(128);
  FailInner(192);
  const std::string text = TakeErrorMessage();
  const std::vector<std::string> lines = Lines(text);
  ASSERT_EQ(lines.size(), 7u) << text;
  EXPECT_TRUE(HasForm(lines[0], UserForm("AclNN_Parameter_Error(EZ1001)"))) << text;
  EXPECT_NE(lines[0].find("102"), std::string::npos) << text;
  EXPECT_EQ(lines[1], "        " + kTraceBack);
  const char* const order[] = {"0xc0", "0x80", "0x40", "devPtr", "101"};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(HasForm(lines[i + 2], "        acl*")) << text;
    EXPECT_NE(lines[i + 2].find(order[i]), std::string::npos)
        << order[i] << " is not line " << i + 2 << " of " << text;
  }
}

TEST(Messages, SeveralOfTheInside) {
  const ScopedEnvironment environment(Variables{});
  FailInner(64);
  FailInner(128);
  const std::string text = TakeErrorMessage();
  const std::vector<std::string> lines = Lines(text);
  ASSERT_EQ(lines.size(), 4u) << text;
  EXPECT_EQ(lines[0], "EZ9999: Internal error!");
  EXPECT_NE(lines[1].find("0x80"), std::string::npos) << text;
  EXPECT_EQ(lines[2], "       " + kTraceBack);
  EXPECT_TRUE(HasForm(lines[3], "       acl*0x40*")) << text;
}

TEST(Messages, EqualOnesAreKeptOnceAndTheNumberIsBounded) {
  const ScopedEnvironment environment(Variables{});
  for (int i = 0; i < 10; ++i) FailParameter(200);
  EXPECT_EQ(Lines(TakeErrorMessage()).size(), 1u);
  for (int64_t i = 0; i < 1500; ++i) FailParameter(1000 + i);
  const std::vector<std::string> lines = Lines(TakeErrorMessage());
  EXPECT_LE(lines.size(), 1001u);
  ASSERT_GE(lines.size(), 100u);
  EXPECT_NE(lines[0].find("2499"), std::string::npos) << "the newest leads: " << lines[0];
  EXPECT_NE(lines[2].find("2498"), std::string::npos) << lines[2];
}

TEST(Messages, LongOnesAreCut) {
  const ScopedEnvironment environment(Variables{}, ScopedEnvironment::Start::kWithoutDevice);
  ASSERT_EQ(aclFinalize(), 0);
  const std::string path = "/nonexistent/" + std::string(5000, 'x');
  EXPECT_EQ(aclInit(path.c_str()), ACL_ERROR_INVALID_FILE);
  const std::string text = TakeErrorMessage();
  const size_t message = text.find("aclInit");
  ASSERT_NE(message, std::string::npos);
  EXPECT_LE(text.size() - message, 1024u);
  EXPECT_NE(text.find("xxxx"), std::string::npos);
}

TEST(Messages, ThePointerIsValidUntilTheThreadsNextCall) {
  const ScopedEnvironment environment(Variables{});
  FailParameter(301);
  const char* const text = aclGetRecentErrMsg();
  ASSERT_NE(text, nullptr);
  std::thread([] {
    FailParameter(302);
    EXPECT_NE(TakeErrorMessage().find("302"), std::string::npos);
  }).join();
  EXPECT_NE(std::string(text).find("301"), std::string::npos) << "another thread's calls do not matter";
}

TEST(Messages, BelongToTheThread) {
  const ScopedEnvironment environment(Variables{});
  FailParameter(401);
  std::thread([] { EXPECT_EQ(aclGetRecentErrMsg(), nullptr); }).join();
  EXPECT_NE(TakeErrorMessage().find("401"), std::string::npos);
}

TEST(Messages, OrToTheProcess) {
  const ScopedEnvironment environment(Variables{}, ScopedEnvironment::Start::kWithoutDevice);
  ASSERT_EQ(aclFinalize(), 0);
  char path[] = "/tmp/portacl-test-XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  close(file);
  std::ofstream(path) << R"({"err_msg_mode": "1"})";
  ASSERT_EQ(aclInit(path), 0);
  std::remove(path);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  FailParameter(501);
  const long this_thread = syscall(SYS_gettid);
  long other_thread = 0;
  std::thread([&] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    other_thread = syscall(SYS_gettid);
    FailParameter(502);
    ASSERT_EQ(aclrtResetDevice(0), 0);
  }).join();
  const std::string text = TakeErrorMessage();
  const std::vector<std::string> lines = Lines(text);
  ASSERT_EQ(lines.size(), 3u) << text;
  EXPECT_TRUE(HasForm(lines[0], UserForm("AclNN_Parameter_Error(EZ1001)"))) << text;
  EXPECT_NE(lines[0].find("502"), std::string::npos) << text;
  EXPECT_TRUE(lines[0].ends_with("[THREAD:" + std::to_string(other_thread) + "]")) << text;
  EXPECT_NE(lines[2].find("501"), std::string::npos) << text;
  EXPECT_TRUE(lines[2].ends_with("[THREAD:" + std::to_string(this_thread) + "]")) << text;
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  // The mode ends with the configuration.
  EXPECT_EQ(aclrtResetDevice(0), 0);
  EXPECT_EQ(aclFinalize(), 0);
  EXPECT_EQ(aclInit(nullptr), 0);
  FailRuntime();
  EXPECT_EQ(TakeErrorMessage().find("[THREAD:"), std::string::npos);
}

}  // namespace
}  // namespace portacl::testing
