// PORTACL_PROFILE: the file of a whole process, and what stands in its way.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "gtest/gtest.h"
#include "process/child_process.h"
#include "profile/trace_file.h"

namespace portacl::testing {
namespace {

ChildResult RunProfiled(const std::string& file, const char* kind = "") {
  return InChild([&] {
    setenv("PORTACL_PROFILE", file.c_str(), 1);
    execl(PROFILED_PROGRAM, PROFILED_PROGRAM, kind, nullptr);
    return 127;
  });
}

size_t Calls(const std::string& path) {
  return Named(Spans(EventsOf(path), "operator"), "aclnnL1LossBackward").size();
}

TEST(ProfileFile, IsWrittenWhenTheProcessEnds) {
  const Folder folder;
  const std::string path = folder.path() + "/out.json";
  for (const char* kind : {"", "fork", "working", "twice"}) {
    EXPECT_TRUE(RunProfiled(path, kind).Succeeded()) << kind;
    EXPECT_EQ(Calls(path), 2u) << kind;
    EXPECT_EQ(folder.Names(), std::vector<std::string>{"out.json"}) << kind;
    std::filesystem::remove(path);
  }
}

TEST(ProfileFile, HasTheProcessInItsName) {
  const Folder folder;
  EXPECT_TRUE(RunProfiled(folder.path() + "/out-%p.json").Succeeded());
  ASSERT_EQ(folder.Names().size(), 1u);
  EXPECT_EQ(Calls(folder.path() + "/" + folder.Names()[0]), 2u);
  EXPECT_EQ(folder.Names()[0].find('%'), std::string::npos);
}

TEST(ProfileFile, OfASecondProcessLiesBeside) {
  const Folder folder;
  const std::string path = folder.path() + "/out.json";
  const int file = open((path + ".part").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  ASSERT_EQ(flock(file, LOCK_EX), 0);  // as the process does that has the file
  EXPECT_TRUE(RunProfiled(path).Succeeded());
  close(file);
  std::filesystem::remove(path + ".part");
  const std::vector<std::string> names = folder.Names();
  ASSERT_EQ(names.size(), 1u);
  EXPECT_EQ(names[0].substr(0, 4), "out-");
  EXPECT_EQ(Calls(folder.path() + "/" + names[0]), 2u);
}

TEST(ProfileFile, LeavesTheProgramItsDescriptors) {
  const Folder folder;
  const std::string path = folder.path() + "/out.json";
  EXPECT_TRUE(RunProfiled(path, "descriptors").Succeeded());
  EXPECT_EQ(Calls(path), 2u);
  EXPECT_EQ(folder.Names().size(), 13u);
  for (int i = 0; i < 12; ++i) {
    std::string text;
    std::getline(std::ifstream(path + ".own" + std::to_string(i)), text);
    EXPECT_EQ(text, "mine") << i;
  }
}

TEST(ProfileFile, LiesWhereTheProgramBegan) {
  const Folder folder;
  const ChildResult result = InChild([&] {
    if (chdir(folder.path().c_str()) != 0) return 126;
    setenv("PORTACL_PROFILE", "out.json", 1);
    execl(PROFILED_PROGRAM, PROFILED_PROGRAM, "elsewhere", nullptr);
    return 127;
  });
  EXPECT_TRUE(result.Succeeded()) << result.code;
  EXPECT_EQ(folder.Names(), std::vector<std::string>{"out.json"});
  EXPECT_EQ(Calls(folder.path() + "/out.json"), 2u);
}

TEST(ProfileFile, IsWrittenWhereALinkLeads) {
  const Folder folder;
  const Folder other;
  const std::string path = folder.path() + "/out.json";
  const std::string real = other.path() + "/real.json";
  std::ofstream(real) << "what was there";
  std::filesystem::create_symlink(real, path);
  EXPECT_TRUE(RunProfiled(path).Succeeded());
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  EXPECT_EQ(Calls(real), 2u);
  EXPECT_EQ(folder.Names().size() + other.Names().size(), 2u);
}

TEST(ProfileFile, ThatIsNoneIsRefused) {
  const Folder folder;
  const std::string inner = folder.path() + "/inner";
  const std::string pipe = folder.path() + "/pipe";
  std::filesystem::create_directory(inner);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);  // as a device is, which a test does not put at risk
  for (const auto& [path, reason] :
       {std::pair(inner, "Is a directory"), std::pair(pipe, "Invalid argument")}) {
    const ChildResult result = RunProfiled(path);
    EXPECT_EQ(result.code, 3);
    EXPECT_NE(result.out.find(path), std::string::npos) << result.out;
    EXPECT_NE(result.out.find(reason), std::string::npos) << result.out;
  }
  EXPECT_TRUE(std::filesystem::is_directory(inner) && std::filesystem::is_fifo(pipe));
  EXPECT_EQ(folder.Names().size(), 2u);
}

TEST(ProfileFile, ThatCannotBeWrittenIsRefused) {
  const ChildResult result = RunProfiled("/proc/nowhere/out.json");
  EXPECT_EQ(result.code, 3);
  EXPECT_NE(result.out.find("PORTACL_PROFILE"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("/proc/nowhere/out.json"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("No such file or directory"), std::string::npos) << result.out;
}

TEST(ProfileFile, LeavesNothingOnAFullDisk) {
  const Folder folder;
  const std::string path = folder.path() + "/out.json";
  EXPECT_TRUE(RunProfiled(path, "full").Succeeded());
  EXPECT_TRUE(folder.Names().empty());
  std::ofstream(path) << "what was there";
  EXPECT_TRUE(RunProfiled(path, "full").Succeeded());
  std::string text;
  std::getline(std::ifstream(path), text);
  EXPECT_EQ(text, "what was there");
}

}  // namespace
}  // namespace portacl::testing
