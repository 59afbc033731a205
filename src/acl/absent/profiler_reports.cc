// What parts of a program report to a profiler that never runs: dropped (profiling/aprof_pub.h, acl/acl_prof.h).
// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "acl/acl_prof.h"
#include "acl/errors.h"
#include "profiling/aprof_pub.h"

using namespace portacl;

int32_t MsprofRegisterCallback(uint32_t, ProfCommandHandle handle) {
  if (handle == nullptr) return FailNullPointer("MsprofRegisterCallback", "handle", "a function");
  return MSPROF_ERROR_NONE;
}

aclError aclprofMarkEx(const char* msg, size_t, aclrtStream) {
  if (msg == nullptr) return FailNullPointer("aclprofMarkEx", "msg", "a text");
  return ACL_SUCCESS;
}

int32_t MsprofReportApi(uint32_t, const MsprofApi*) { return MSPROF_ERROR_NONE; }

int32_t MsprofReportCompactInfo(uint32_t, const VOID_PTR, uint32_t) { return MSPROF_ERROR_NONE; }

int32_t MsprofReportAdditionalInfo(uint32_t, const VOID_PTR, uint32_t) { return MSPROF_ERROR_NONE; }

uint64_t MsprofGetHashId(const char* hashInfo, size_t length) {
  if (hashInfo == nullptr) return 0;
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, 64 bits
  for (size_t i = 0; i < length; ++i) {
    hash = (hash ^ static_cast<unsigned char>(hashInfo[i])) * 0x100000001b3u;
  }
  return hash;
}

uint64_t MsprofSysCycleTime(void) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}
