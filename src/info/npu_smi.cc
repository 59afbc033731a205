// npu-smi: prints the table of devices that build scripts of NPU programs read, with the fields that a CPU
// can fill.
// SPDX-License-Identifier: Apache-2.0
//
// Scripts take the product's name from the third word of line 7, so the number of lines before it is fixed.
#include <cstdio>
#include <cstring>
#include <string>

#include "acl/acl.h"

namespace {

constexpr const char* kUsage =
    "usage: npu-smi info\n"
    "Prints the devices that portacl emulates on this machine's processors, in the form of the NPU tool of "
    "this name.\n";

int Fail(const char* what) {
  const char* why = aclGetRecentErrMsg();
  std::fprintf(stderr, "npu-smi: %s: %s\n", what, why == nullptr ? "no reason is known" : why);
  return 1;
}

void PrintLine(const char* left, const char* middle, const char* right) {
  std::printf("| %-25.25s | %-13.13s | %-52.52s |\n", left, middle, right);
}

void PrintRule(char c) {
  const auto dashes = [c](size_t count) { return std::string(count, c); };
  std::printf("+%s+%s+%s+\n", dashes(27).c_str(), dashes(15).c_str(), dashes(54).c_str());
}

int PrintInfo() {
  char version[ACL_PKG_VERSION_MAX_SIZE] = "";
  char package[] = "cann";
  uint32_t count = 0;
  const char* soc =
      aclrtGetSocName();  // "Ascend910B1", of which the tool prints what follows the family's name
  if (soc == nullptr) return Fail("cannot name the product");
  if (aclrtGetDeviceCount(&count) != ACL_SUCCESS || aclsysGetVersionStr(package, version) != ACL_SUCCESS) {
    return Fail("cannot count the devices");
  }
  if (std::strncmp(soc, "Ascend", 6) == 0) soc += 6;
  const std::string title =
      std::string("portacl ") + PORTACL_VERSION + " on a CPU: no NPU is here. Version: " + version;
  std::printf("+%s+\n| %-98.98s |\n", std::string(100, '-').c_str(), title.c_str());
  PrintRule('-');
  PrintLine("NPU   Name", "Health", "Power(W)    Temp(C)           Hugepages-Usage(page)");
  PrintLine("Chip", "Bus-Id", "AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)");
  PrintRule('=');
  for (uint32_t device = 0; device < count; ++device) {
    size_t free = 0;
    size_t total = 0;
    if (aclrtSetDevice(static_cast<int32_t>(device)) != ACL_SUCCESS ||
        aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) != ACL_SUCCESS) {
      return Fail("cannot use a device");
    }
    char left[32];
    char memory[64];
    std::snprintf(left, sizeof left, "%-5u %s", device, soc);
    std::snprintf(memory, sizeof memory, "-           -                 %zu / %zu", (total - free) >> 20,
                  total >> 20);
    PrintLine(left, "OK", "-           -                 - / -");
    PrintLine("0", "host memory", memory);
    PrintRule('=');
    aclrtResetDevice(static_cast<int32_t>(device));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "info") == 0) return PrintInfo();
  const bool help = argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0);
  std::fputs(kUsage, help ? stdout : stderr);
  return help ? 0 : 2;
}
