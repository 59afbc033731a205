// Loading the library must do no work: no thread, no allocation, no file, nothing printed, before its first call.
// Usage: static_initialisation PATH-OF-A-LIBRARY
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"
#include "process/allocation_hook.h"

namespace {

int CountEntries(const char* directory) {
  DIR* const entries = opendir(directory);
  if (entries == nullptr) return -1;
  int count = 0;
  while (const dirent* entry = readdir(entries)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(entries);
  return count;
}

bool Same(const char* what, long before, long after) {
  if (before != after) std::printf("%s: %ld before, %ld after loading\n", what, before, after);
  return before == after;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const int threads = CountEntries("/proc/self/task");
  const int files = CountEntries("/proc/self/fd");
  const long allocated = portacl::testing::AllocationsMade();
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  const long allocated_after = portacl::testing::AllocationsMade();
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  bool right = Same("threads", threads, CountEntries("/proc/self/task"));
  right = Same("open files", files, CountEntries("/proc/self/fd")) && right;
  right = Same("allocations", allocated, allocated_after) && right;
  // The count is no proof unless it sees the library's allocations.
  void* const init = dlsym(library, "aclInit");
  if (init == nullptr || reinterpret_cast<decltype(&aclInit)>(init)(nullptr) != ACL_SUCCESS ||
      portacl::testing::AllocationsMade() == allocated_after) {
    std::printf("aclInit fails or its allocations are not counted\n");
    right = false;
  }
  // Reading the configuration starts no thread either.
  right = Same("threads at aclInit", threads, CountEntries("/proc/self/task")) && right;
  right = Same("open files at aclInit", files, CountEntries("/proc/self/fd")) && right;
  return right ? 0 : 1;
}
