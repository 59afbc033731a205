// The log: silent unless its variables ask, lines in CANN's form, to standard output or to files.
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "process/child_process.h"
#include "process/simple_call.h"
#include "process/text_form.h"
#include "support/environment.h"

namespace portacl::testing {
namespace {

constexpr const char* kLogVariables[] = {"ASCEND_GLOBAL_LOG_LEVEL",    "ASCEND_MODULE_LOG_LEVEL",
                                         "ASCEND_LOG_PRINT_TO_STDOUT", "ASCEND_SLOG_PRINT_TO_STDOUT",
                                         "ASCEND_PROCESS_LOG_PATH",    "ASCEND_WORK_PATH"};

// A program that fails in several ways and succeeds in others, with the given variables alone.
ChildResult FailingProgram(const Variables& variables) {
  return InChild([&] {
    for (const char* name : kLogVariables) unsetenv(name);
    for (const Variable& variable : variables) setenv(variable.name.c_str(), variable.value.c_str(), 1);
    if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 1;
    SimpleCall call(100);
    if (!call.Run(nullptr)) return 2;
    if (call.Execute(nullptr) != 561000) return 3;  // consumed
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    if (aclnnL1LossBackwardGetWorkspaceSize(nullptr, nullptr, nullptr, 0, nullptr, &size, &executor) !=
        161001)
      return 4;
    if (aclrtMalloc(nullptr, 1, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_ERROR_INVALID_PARAM) return 5;
    if (aclGetRecentErrMsg() == nullptr) return 6;
    return aclrtResetDevice(0) == 0 && aclFinalize() == 0 ? 0 : 7;
  });
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// A line of level ERROR whose part after the envelope has this form.
std::string ErrorForm(const std::string& rest) {
  return std::string("[ERROR] OP(#,") + program_invocation_short_name + "):" + kTimeForm +
         " [~.cc:#][NNOP][~][#] " + rest;
}

void ExpectErrorLines(const std::string& text) {
  const std::vector<std::string> lines = Lines(text);
  ASSERT_EQ(lines.size(), 3u) << text;
  EXPECT_TRUE(HasForm(lines[0], ErrorForm("errno[561000] OpName:[aclnnL1LossBackward_#] *executor*")))
      << text;
  EXPECT_TRUE(HasForm(lines[1], ErrorForm("errno[161001] OpName:[aclnnL1LossBackward_#] *gradOutput*")) ||
              HasForm(lines[1],
                      ErrorForm("errno[161001] OpName:[aclnnL1LossBackwardGetWorkspaceSize_#] *gradOutput*")))
      << text;
  EXPECT_TRUE(HasForm(lines[2], ErrorForm("errno[100000] *devPtr*"))) << text;
}

TEST(Log, AFailingProgramPrintsNothingByItself) {
  const ChildResult result = FailingProgram({});
  EXPECT_TRUE(result.Succeeded()) << result.code;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "");
}

// Neither do the libraries that this one uses, whatever the number of threads.
TEST(Log, ThreadsBeyondTheProcessorsPrintNothing) {
  const ChildResult result = InChild([] {
    for (const char* threads : {"2", "3", "5", "64", "1000", "2"}) {
      setenv("PORTACL_NUM_THREADS", threads, 1);
      if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 1;
      SimpleCall call(kBigCall);
      if (!call.Run(nullptr)) return 2;
      call.DestroyTensors();
      if (aclrtResetDevice(0) != 0 || aclFinalize() != 0) return 3;
    }
    return 0;
  });
  EXPECT_TRUE(result.Succeeded()) << result.code;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "");
}

TEST(Log, ToStandardOutput) {
  for (const Variables& variables :
       {Variables{{"ASCEND_LOG_PRINT_TO_STDOUT", "1"}}, Variables{{"ASCEND_SLOG_PRINT_TO_STDOUT", "1"}},
        Variables{{"ASCEND_LOG_PRINT_TO_STDOUT", "1"}, {"ASCEND_SLOG_PRINT_TO_STDOUT", "0"}},
        Variables{{"ASCEND_LOG_PRINT_TO_STDOUT", "1"}, {"ASCEND_GLOBAL_LOG_LEVEL", "3"}},
        Variables{{"ASCEND_LOG_PRINT_TO_STDOUT", "1"},
                  {"ASCEND_GLOBAL_LOG_LEVEL", "4"},
                  {"ASCEND_MODULE_LOG_LEVEL", "GE=0:OP=3:FE=4"}}}) {
    const ChildResult result = FailingProgram(variables);
    EXPECT_TRUE(result.Succeeded()) << result.code;
    ExpectErrorLines(result.out);
    EXPECT_EQ(result.err, "");
  }
}

TEST(Log, Silenced) {
  for (const Variables& variables :
       {Variables{{"ASCEND_LOG_PRINT_TO_STDOUT", "1"}, {"ASCEND_GLOBAL_LOG_LEVEL", "4"}},
        Variables{{"ASCEND_LOG_PRINT_TO_STDOUT", "0"}},
        Variables{{"ASCEND_LOG_PRINT_TO_STDOUT", "0"}, {"ASCEND_SLOG_PRINT_TO_STDOUT", "1"}},
        Variables{{"ASCEND_LOG_PRINT_TO_STDOUT", "1"}, {"ASCEND_MODULE_LOG_LEVEL", "OP=4"}},
        Variables{{"ASCEND_GLOBAL_LOG_LEVEL", "0"}}}) {
    const ChildResult result = FailingProgram(variables);
    EXPECT_TRUE(result.Succeeded()) << result.code;
    EXPECT_EQ(result.out, "") << variables.front().name;
    EXPECT_EQ(result.err, "");
  }
}

class LogFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/portacl-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  // Everything in the files below a directory, whose names must be those of a process log.
  static std::string Contents(const std::filesystem::path& directory, int* files) {
    std::string text;
    *files = 0;
    if (!std::filesystem::exists(directory)) return text;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
      if (!entry.is_regular_file()) continue;
      ++*files;
      EXPECT_TRUE(HasForm(entry.path().filename().string(), "plog-#_#.log")) << entry.path();
      std::ostringstream content;
      content << std::ifstream(entry.path()).rdbuf();
      text += content.str();
    }
    return text;
  }

  std::filesystem::path root_;
};

TEST_F(LogFiles, UnderTheProcessLogPath) {
  const ChildResult result = FailingProgram({{"ASCEND_PROCESS_LOG_PATH", (root_ / "deep" / "er").string()}});
  EXPECT_TRUE(result.Succeeded()) << result.code;
  EXPECT_EQ(result.out + result.err, "");
  int files = 0;
  ExpectErrorLines(Contents(root_ / "deep" / "er" / "debug" / "plog", &files));
  EXPECT_EQ(files, 1);
}

TEST_F(LogFiles, UnderTheWorkPath) {
  const ChildResult result = FailingProgram({{"ASCEND_WORK_PATH", root_.string()}});
  EXPECT_TRUE(result.Succeeded()) << result.code;
  EXPECT_EQ(result.out + result.err, "");
  int files = 0;
  ExpectErrorLines(Contents(root_ / "log", &files));
  EXPECT_EQ(files, 1);
}

TEST_F(LogFiles, NotWhenTheLevelSilencesOrStandardOutputWins) {
  int files = 0;
  EXPECT_TRUE(FailingProgram({{"ASCEND_PROCESS_LOG_PATH", root_.string()}, {"ASCEND_GLOBAL_LOG_LEVEL", "4"}})
                  .Succeeded());
  EXPECT_EQ(Contents(root_, &files), "");
  const ChildResult result =
      FailingProgram({{"ASCEND_PROCESS_LOG_PATH", root_.string()}, {"ASCEND_LOG_PRINT_TO_STDOUT", "1"}});
  EXPECT_TRUE(result.Succeeded());
  ExpectErrorLines(result.out);
  EXPECT_EQ(Contents(root_, &files), "") << "instead of files";
}

TEST_F(LogFiles, APathThatCannotBeWrittenDoesNotMatter) {
  std::ofstream(root_ / "file") << "no directory";
  const ChildResult result = FailingProgram({{"ASCEND_PROCESS_LOG_PATH", (root_ / "file").string()}});
  EXPECT_TRUE(result.Succeeded()) << result.code;
  EXPECT_EQ(result.out + result.err, "");
}

// Each process has its own file, a forked one too.
TEST_F(LogFiles, AForkedChildHasItsOwn) {
  const ChildResult result = InChild([&] {
    setenv("ASCEND_PROCESS_LOG_PATH", root_.c_str(), 1);
    if (aclInit(nullptr) != 0 || aclrtMalloc(nullptr, 1, ACL_MEM_MALLOC_HUGE_FIRST) == 0) return 1;
    return InChild([] { return aclrtMalloc(nullptr, 1, ACL_MEM_MALLOC_HUGE_FIRST) == 0 ? 1 : 0; }).code;
  });
  EXPECT_TRUE(result.Succeeded()) << result.code;
  int files = 0;
  EXPECT_EQ(Lines(Contents(root_, &files)).size(), 2u);
  EXPECT_EQ(files, 2);
}

}  // namespace
}  // namespace portacl::testing
