// profiling/aprof_pub.h: what parts of a program report to a profiler, of what a profile (acl/acl_prof.h) has anyway.
// SPDX-License-Identifier: Apache-2.0
//
// Reports are dropped: the runtime records calls and tasks itself. The functions return 0
// (MSPROF_ERROR_NONE) and set no error text unless they say otherwise, and may be called from any thread at any time.
#ifndef PORTACL_PROFILING_APROF_PUB_H_
#define PORTACL_PROFILING_APROF_PUB_H_

#include <stddef.h>
#include <stdint.h>

#ifdef FUNC_VISIBILITY
#define MSVP_PROF_API __attribute__((visibility("default")))
#else
#define MSVP_PROF_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef void* VOID_PTR;

#define MSPROF_REPORT_DATA_MAGIC_NUM 0x5A5AU
#define MSPROF_COMPACT_INFO_DATA_LENGTH 40
#define MSPROF_ADDTIONAL_INFO_DATA_LENGTH 232

enum MsprofErrorCode { MSPROF_ERROR_NONE = 0 };

// A call of some layer: what (type, itemId), where and from when to when, by MsprofSysCycleTime.
struct MsprofApi {
  uint16_t magicNumber;  // MSPROF_REPORT_DATA_MAGIC_NUM
  uint16_t level;
  uint32_t type;
  uint32_t threadId;
  uint32_t reserve;
  uint64_t beginTime;
  uint64_t endTime;
  uint64_t itemId;
};

// A program's function that is called when a profiler starts, stops and so on.
typedef int32_t (*ProfCommandHandle)(uint32_t type, void* data, uint32_t len);

// Says whom a profiler tells that it starts. handle is never called: nothing is asked for.
// Returns 0, or 100000 for a null handle, with an error text.
MSVP_PROF_API int32_t MsprofRegisterCallback(uint32_t moduleId, ProfCommandHandle handle);

// Report a call, and facts about one. They are dropped.
MSVP_PROF_API int32_t MsprofReportApi(uint32_t nonPersistantFlag, const struct MsprofApi* api);
MSVP_PROF_API int32_t MsprofReportCompactInfo(uint32_t nonPersistantFlag, const VOID_PTR data,
                                              uint32_t length);
MSVP_PROF_API int32_t MsprofReportAdditionalInfo(uint32_t nonPersistantFlag, const VOID_PTR data,
                                                 uint32_t length);

// Returns a number for a text of `length` bytes: the same for the same text, in every process; 0 for null.
MSVP_PROF_API uint64_t MsprofGetHashId(const char* hashInfo, size_t length);

// Returns the time in nanoseconds of a clock that only goes forward: CLOCK_MONOTONIC_RAW, as in a profile.
MSVP_PROF_API uint64_t MsprofSysCycleTime(void);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_PROFILING_APROF_PUB_H_
