// acl/acl_prof.h: profiles of a program: calls, tasks of streams, memory, collectives.
// SPDX-License-Identifier: Apache-2.0
//
// aclprofInit, aclprofStart, aclprofStop, aclprofFinalize, in this order; between the first and the last, profiling may start and
// stop several times. Results: PROF_*/host/data/portacl_trace.json in the folder of aclprofInit, for Chrome's viewer and
// Perfetto, and for the program msprof (docs/profiling.md). Unless they say otherwise, functions return 0, or 100000
// (ACL_ERROR_INVALID_PARAM) for null and for what they do not accept, and leave a message that says what they do. A forked
// child has no part in its parent's profile. All may be called from any thread.
#ifndef PORTACL_ACL_ACL_PROF_H_
#define PORTACL_ACL_ACL_PROF_H_

#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// The counters of a core that are read.
typedef enum {
  ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
  ACL_AICORE_PIPE_UTILIZATION = 1,
  ACL_AICORE_MEMORY_BANDWIDTH = 2,
  ACL_AICORE_L0B_AND_WIDTH = 3,
  ACL_AICORE_RESOURCE_CONFLICT_RATIO = 4,
  ACL_AICORE_MEMORY_UB = 5,
  ACL_AICORE_L2_CACHE = 6,
  ACL_AICORE_PIPE_EXECUTE_UTILIZATION = 7,
  ACL_AICORE_MEMORY_ACCESS = 8,
  ACL_AICORE_NONE = 0xFF,
} aclprofAicoreMetrics;

// The ends of a step of training.
typedef enum {
  ACL_STEP_START = 0,
  ACL_STEP_END = 1,
} aclprofStepTag;

// The settings of aclprofSetConfig.
typedef enum {
  ACL_PROF_ARGS_MIN = 0,
  ACL_PROF_STORAGE_LIMIT = 1,
  ACL_PROF_SYS_HARDWARE_MEM_FREQ = 3,
  ACL_PROF_LLC_MODE = 4,
  ACL_PROF_SYS_IO_FREQ = 5,
  ACL_PROF_SYS_INTERCONNECTION_FREQ = 6,
  ACL_PROF_DVPP_FREQ = 7,
  ACL_PROF_HOST_SYS = 8,
  ACL_PROF_HOST_SYS_USAGE = 9,
  ACL_PROF_HOST_SYS_USAGE_FREQ = 10,
  ACL_PROF_LOW_POWER_FREQ = 11,
  ACL_PROF_SYS_MEM_SERVICEFLOW = 12,
  ACL_PROF_SYS_CPU_FREQ = 13,
  ACL_PROF_OPTYPE = 14,
  ACL_PROF_NTS_METRICS = 15,
  ACL_PROF_PATH = 16,
  ACL_PROF_ARGS_MAX = 17,
} aclprofConfigType;

typedef struct aclprofConfig aclprofConfig;
typedef struct aclprofAicoreEvents aclprofAicoreEvents;
typedef struct aclprofStepInfo aclprofStepInfo;

// Prepares profiling into a folder. Creates the folder if its parent exists. Returns 100042 (ACL_ERROR_PROF_ALREADY_RUN) if
// profiling is prepared already, 500005 (ACL_ERROR_PROFILING_FAILURE) if the folder cannot be written.
ACL_FUNC_VISIBILITY aclError aclprofInit(const char* profilerResultPath, size_t length);
// Does nothing between aclprofInit and aclprofFinalize, else returns 100043 (ACL_ERROR_PROF_NOT_RUN). This and the next two return
// 100010 (ACL_ERROR_INVALID_PROFILING_CONFIG) for a configuration that aclprofCreateConfig did not return.
ACL_FUNC_VISIBILITY aclError aclprofWarmup(const aclprofConfig* profilerConfig);
// Begins to record everything, whatever the configuration names. Returns 100043 without aclprofInit, 100042 while recording, 500005
// if the results cannot be stored.
ACL_FUNC_VISIBILITY aclError aclprofStart(const aclprofConfig* profilerConfig);
// Ends recording and writes what was recorded since aclprofInit: tasks that are done. Returns 100043 while it does not record, 100010
// for a configuration that differs from that of aclprofStart, 500005 where it could not be written: what was written by an
// earlier stop stays.
ACL_FUNC_VISIBILITY aclError aclprofStop(const aclprofConfig* profilerConfig);
// Ends profiling, and recording. Returns 100043 without aclprofInit, else what aclprofStop would.
ACL_FUNC_VISIBILITY aclError aclprofFinalize(void);

// Create a configuration: the devices, which must exist; metrics and data types, which are stored and have no effect. Returns null
// for values that are not accepted. Settings have no effect, either, because there are no counters of a device.
ACL_FUNC_VISIBILITY aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums,
                                                       aclprofAicoreMetrics aicoreMetrics,
                                                       const aclprofAicoreEvents* aicoreEvents,
                                                       uint64_t dataTypeConfig);
ACL_FUNC_VISIBILITY aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig);
ACL_FUNC_VISIBILITY aclError aclprofSetConfig(aclprofConfigType configType, const char* config,
                                              size_t configLength);

// Steps of a training: ranges in the profile, of the thread that begins one; the stream is not used.
ACL_FUNC_VISIBILITY aclprofStepInfo* aclprofCreateStepInfo(void);
ACL_FUNC_VISIBILITY void aclprofDestroyStepInfo(aclprofStepInfo* stepinfo);
ACL_FUNC_VISIBILITY aclError aclprofGetStepTimestamp(aclprofStepInfo* stepInfo, aclprofStepTag tag,
                                                     aclrtStream stream);

// Marks a moment of this thread.
ACL_FUNC_VISIBILITY aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream stream);

// Query the features of the profiler's counters: not supported, 207000 (ACL_ERROR_RT_FEATURE_NOT_SUPPORT). The third does nothing.
ACL_FUNC_VISIBILITY aclError aclprofGetSupportedFeatures(size_t* featuresSize, void** featuresData);
ACL_FUNC_VISIBILITY aclError aclprofGetSupportedFeaturesV2(size_t* featuresSize, void** featuresData);
ACL_FUNC_VISIBILITY aclError aclprofRegisterDeviceCallback(void);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACL_ACL_PROF_H_
