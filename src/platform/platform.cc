// libplatform.so: what a program with kernels of its own links to, beside CANN's public libraries, so that vllm-ascend's
// extension loads. Sizes of the device's memories, by which such a program divides the work of a kernel, are not
// known, and kernels are not launched: these calls fail. Lines for CANN's log go to portacl's.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "acl/acl.h"
#include "profiling/aprof_pub.h"

namespace {

constexpr size_t kLongestLine = 1024;

void AddLine(int level, const char* format, std::va_list arguments) {
  if (format == nullptr) return;
  char line[kLongestLine];
  if (std::vsnprintf(line, sizeof line, format, arguments) < 0) return;
  aclAppLog(static_cast<aclLogLevel>(level), "", "", 0, "%s", line);
}

aclError Refuse(const char* function) {
  aclAppLog(ACL_ERROR, function, "", 0,
            "%s is not supported: kernels are machine code of a device that is not there", function);
  return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
}

// Any object: programs hold a reference to it, and no more.
char the_manager;

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are CANN's.
extern "C" {

// ---- the log: a program asks before each line ----

int CheckLogLevel(int module, int level);
void DlogRecord(int module, int level, const char* format, ...);
int AlogCheckDebugLevel(uint32_t module, int32_t level);
int AlogRecord(uint32_t module, uint32_t type, int32_t level, const char* format, ...);
void DlogRecordByCppName(int module, int level, const char* format, ...) __asm__("_Z10DlogRecordiiPKcz");

// The log itself leaves out what its level does not ask for.
int CheckLogLevel(int /*module*/, int /*level*/) { return 1; }
int AlogCheckDebugLevel(uint32_t /*module*/, int32_t /*level*/) { return 1; }

void DlogRecord(int /*module*/, int level, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  AddLine(level, format, arguments);
  va_end(arguments);
}

void DlogRecordByCppName(int /*module*/, int level, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  AddLine(level, format, arguments);
  va_end(arguments);
}

int AlogRecord(uint32_t /*module*/, uint32_t /*type*/, int32_t level, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  AddLine(level, format, arguments);
  va_end(arguments);
  return 0;
}

// ---- profiles and threads ----

uint64_t MsprofStr2Id(const char* text, size_t length);
int mmGetTid();

uint64_t MsprofStr2Id(const char* text, size_t length) { return MsprofGetHashId(text, length); }
int mmGetTid() { return gettid(); }

// ---- kernels ----

#define REFUSED(name)  \
  aclError name(void); \
  aclError name(void) { return Refuse(#name); }

REFUSED(aclrtBinaryGetFunctionByEntry)
REFUSED(aclrtBinaryUnLoad)
REFUSED(aclrtGetHardwareSyncAddr)
REFUSED(aclrtLaunchKernelWithHostArgs)
REFUSED(aclrtRegStreamStateCallback)
REFUSED(rtDevBinaryUnRegister)
REFUSED(rtFunctionGetMetaInfo)
REFUSED(rtFunctionGetMetaInfoSize)
REFUSED(rtKernelLaunchWithFlagV2)
REFUSED(rtKernelLaunchWithHandle)
REFUSED(rtKernelLaunchWithHandleV2)
REFUSED(rtRegStreamStateCallback)
REFUSED(rtRegisterAllKernel)
REFUSED(rtVectorCoreKernelLaunchWithHandle)

// ---- fe::PlatformInfoManager and fe::PlatFormInfos, by the names that they have with std::string of before C++11 ----

#define NAMED(result, name, symbol) \
  result name() __asm__(#symbol);   \
  result name()

constexpr uint32_t kUnknown = 1;  // any but 0 is a failure

NAMED(void*, Instance, _ZN2fe19PlatformInfoManager8InstanceEv) { return &the_manager; }
NAMED(void*, GeInstance, _ZN2fe19PlatformInfoManager10GeInstanceEv) { return &the_manager; }
NAMED(uint32_t, Init, _ZN2fe19PlatformInfoManager24InitRuntimePlatformInfosERKSs) { return kUnknown; }
NAMED(uint32_t, OfProduct,
      _ZN2fe19PlatformInfoManager16GetPlatformInfosESsRNS_13PlatFormInfosERNS_13OptionalInfosE) {
  return kUnknown;
}
NAMED(uint32_t, OfDevice,
      _ZN2fe19PlatformInfoManager31GetRuntimePlatformInfosByDeviceERKjRNS_13PlatFormInfosEb) {
  return kUnknown;
}
NAMED(uint32_t, CoreCount, _ZNK2fe13PlatFormInfos10GetCoreNumEv) { return 0; }
NAMED(bool, Entry, _ZN2fe13PlatFormInfos22GetPlatformResWithLockERKSsS2_RSs) { return false; }
NAMED(void, SetCores, _ZN2fe13PlatFormInfos20SetCoreNumByCoreTypeERKSs) {}

void MemorySize(const void* infos, const int& kind,
                uint64_t& bytes) __asm__("_ZN2fe13PlatFormInfos15GetLocalMemSizeERKNS_12LocalMemTypeERm");
void MemorySize(const void* /*infos*/, const int& /*kind*/, uint64_t& bytes) { bytes = 0; }
void MemoryBandwidth(const void* infos, const int& kind,
                     uint64_t& bytes) __asm__("_ZN2fe13PlatFormInfos13GetLocalMemBwERKNS_12LocalMemTypeERm");
void MemoryBandwidth(const void* /*infos*/, const int& /*kind*/, uint64_t& bytes) { bytes = 0; }

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
