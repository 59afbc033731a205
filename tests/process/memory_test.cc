// Memory from the library: aligned, huge pages asked for only where they can help, and what each kind of it has.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "gtest/gtest.h"
#include "support/environment.h"

namespace portacl::testing {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;

TEST(Memory, IsAlignedTo512Bytes) {
  const ScopedEnvironment environment(Variables{});
  std::vector<void*> taken;
  for (const size_t size : {size_t{1}, size_t{15}, size_t{16}, size_t{31}, size_t{33}, size_t{64},
                            size_t{100}, size_t{4095}, size_t{4097}, size_t{100000}, 2 * kMebibyte - 64,
                            2 * kMebibyte - 1, 2 * kMebibyte, 3 * kMebibyte + 1}) {
    for (const aclrtMemMallocPolicy policy :
         {ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_ONLY, ACL_MEM_MALLOC_NORMAL_ONLY}) {
      for (int i = 0; i < 5; ++i) {
        void* memory = nullptr;
        ASSERT_EQ(aclrtMalloc(&memory, size, policy), ACL_SUCCESS);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 512, 0u) << size;
        std::memset(memory, 0x55, size);
        taken.push_back(memory);
      }
    }
    void* host = nullptr;
    ASSERT_EQ(aclrtMallocHost(&host, size), ACL_SUCCESS);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(host) % 512, 0u) << size;
    std::memset(host, 0x55, size);
    EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
  }
  for (void* memory : taken) EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

// The kernel's flags of the mapping in which an address lies: "hg" is there where huge pages were asked for. Empty if
// the kernel does not tell.
std::string MappingFlags(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      inside = begin <= wanted && wanted < end;
    } else if (inside && line.starts_with("VmFlags:")) {
      return line;
    }
  }
  return "";
}

bool AsksForHugePages(const void* address) {
  std::istringstream flags(MappingFlags(address));
  for (std::string flag; flags >> flag;) {
    if (flag == "hg") return true;
  }
  return false;
}

// Every CANN program asks for ACL_MEM_MALLOC_HUGE_FIRST, even for 16 bytes.
TEST(Memory, HugePagesAreAskedForFromTwoMebibytesOn) {
  const ScopedEnvironment environment(Variables{});
  for (const size_t size : {size_t{16}, size_t{4096}, size_t{200000}, kMebibyte, 2 * kMebibyte - 128}) {
    void* memory = nullptr;
    ASSERT_EQ(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    std::memset(memory, 1, size);
    EXPECT_FALSE(AsksForHugePages(memory)) << size << " bytes";
    EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  }
  if (MappingFlags(&environment).empty() ||
      access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) != 0) {
    GTEST_SKIP() << "this kernel does not tell, or has no huge pages";
  }
  for (const size_t size : {2 * kMebibyte, 64 * kMebibyte}) {
    void* memory = nullptr;
    ASSERT_EQ(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_TRUE(AsksForHugePages(memory)) << size << " bytes: " << MappingFlags(memory);
    EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  }
}

TEST(Memory, InformationIsTheDevices) {
  {
    const ScopedEnvironment environment(Variables{}, ScopedEnvironment::Start::kWithoutDevice);
    size_t free = 1;
    size_t total = 2;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(free, 1u);
    EXPECT_EQ(total, 2u);
    aclGetRecentErrMsg();
  }
  const ScopedEnvironment environment(Variables{{"PORTACL_DEVICE_COUNT", "1024"},
                                                {"ASCEND_RT_VISIBLE_DEVICES", "1015"},
                                                {"PORTACL_DEVICE_MEMORY", "512M"}});
  for (const aclrtMemAttr attribute : {ACL_DDR_MEM, ACL_HBM_MEM, ACL_DDR_MEM_HUGE, ACL_DDR_MEM_NORMAL,
                                       ACL_HBM_MEM_HUGE, ACL_HBM_MEM_NORMAL}) {
    size_t free = 0;
    size_t total = 0;
    ASSERT_EQ(aclrtGetMemInfo(attribute, &free, &total), ACL_SUCCESS);
    EXPECT_EQ(total, 512 * kMebibyte) << attribute;
    EXPECT_EQ(free, total) << attribute;
  }
  for (const aclrtMemAttr attribute : {ACL_DDR_MEM_P2P_HUGE, ACL_DDR_MEM_P2P_NORMAL, ACL_HBM_MEM_P2P_HUGE,
                                       ACL_HBM_MEM_P2P_NORMAL, static_cast<aclrtMemAttr>(99)}) {
    size_t free = 1;
    size_t total = 1;
    EXPECT_EQ(aclrtGetMemInfo(attribute, &free, &total), ACL_SUCCESS);
    EXPECT_EQ(free, 0u) << "there is no such pool: " << attribute;
    EXPECT_EQ(total, 0u) << attribute;
  }
}

}  // namespace
}  // namespace portacl::testing
