// The signatures, numbers and sizes of what clients of the older interfaces look up: operators by name, recorded graphs,
// kernels, profiler, faults, settings of collectives. The numbers are those that the clients were compiled with.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <type_traits>

#include "acl/acl.h"
#include "acl/acl_op_compiler.h"
#include "acl/acl_prof.h"
#include "aclnn/opdev/huge_mem.h"
#include "driver/ascend_hal.h"
#include "hccl/hccl.h"
#include "hccl/hcomm.h"
#include "mspti/mspti.h"
#include "mstx/ms_tools_ext.h"
#include "profiling/aprof_pub.h"
#include "runtime/rt.h"

// acl/acl_base_mdl.h
static_assert(std::is_same<decltype(&aclCreateTensorDesc),
                           aclTensorDesc* (*)(aclDataType, int, int64_t const*, aclFormat)>::value,
              "");
static_assert(std::is_same<decltype(&aclDestroyTensorDesc), void (*)(aclTensorDesc const*)>::value, "");
static_assert(
    std::is_same<decltype(&aclGetTensorDescDimV2), int (*)(aclTensorDesc const*, uint64_t, int64_t*)>::value,
    "");
static_assert(
    std::is_same<decltype(&aclGetTensorDescElementCount), uint64_t (*)(aclTensorDesc const*)>::value, "");
static_assert(std::is_same<decltype(&aclGetTensorDescFormat), aclFormat (*)(aclTensorDesc const*)>::value,
              "");
static_assert(std::is_same<decltype(&aclGetTensorDescName), const char* (*)(aclTensorDesc*)>::value, "");
static_assert(std::is_same<decltype(&aclGetTensorDescNumDims), uint64_t (*)(aclTensorDesc const*)>::value,
              "");
static_assert(std::is_same<decltype(&aclGetTensorDescSize), uint64_t (*)(aclTensorDesc const*)>::value, "");
static_assert(std::is_same<decltype(&aclGetTensorDescType), aclDataType (*)(aclTensorDesc const*)>::value,
              "");
static_assert(std::is_same<decltype(&aclSetTensorDescName), void (*)(aclTensorDesc*, const char*)>::value,
              "");
static_assert(std::is_same<decltype(&aclSetTensorFormat), int (*)(aclTensorDesc*, aclFormat)>::value, "");
static_assert(std::is_same<decltype(&aclSetTensorPlaceMent), int (*)(aclTensorDesc*, aclMemType)>::value, "");
static_assert(std::is_same<decltype(&aclSetTensorShape), int (*)(aclTensorDesc*, int, int64_t const*)>::value,
              "");

// acl/acl_op.h
static_assert(ACL_ENGINE_SYS == 0, "");
static_assert(ACL_ENGINE_AICORE == 1, "");
static_assert(ACL_ENGINE_VECTOR == 2, "");
static_assert(std::is_same<decltype(&aclopCreateAttr), aclopAttr* (*)()>::value, "");
static_assert(std::is_same<decltype(&aclopSetModelDir), int (*)(const char*)>::value, "");
static_assert(std::is_same<decltype(&aclopDestroyAttr), void (*)(aclopAttr const*)>::value, "");
static_assert(std::is_same<decltype(&aclopSetAttrBool), int (*)(aclopAttr*, const char*, uint8_t)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclopSetAttrDataType), int (*)(aclopAttr*, const char*, aclDataType)>::value, "");
static_assert(std::is_same<decltype(&aclopSetAttrFloat), int (*)(aclopAttr*, const char*, float)>::value, "");
static_assert(std::is_same<decltype(&aclopSetAttrInt), int (*)(aclopAttr*, const char*, int64_t)>::value, "");
static_assert(std::is_same<decltype(&aclopSetAttrListBool),
                           int (*)(aclopAttr*, const char*, int, uint8_t const*)>::value,
              "");
static_assert(std::is_same<decltype(&aclopSetAttrListDataType),
                           int (*)(aclopAttr*, const char*, int, aclDataType const*)>::value,
              "");
static_assert(std::is_same<decltype(&aclopSetAttrListFloat),
                           int (*)(aclopAttr*, const char*, int, float const*)>::value,
              "");
static_assert(std::is_same<decltype(&aclopSetAttrListInt),
                           int (*)(aclopAttr*, const char*, int, int64_t const*)>::value,
              "");
static_assert(std::is_same<decltype(&aclopSetAttrListListInt),
                           int (*)(aclopAttr*, const char*, int, int const*, int64_t const* const*)>::value,
              "");
static_assert(std::is_same<decltype(&aclopSetAttrListString),
                           int (*)(aclopAttr*, const char*, int, const char**)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclopSetAttrString), int (*)(aclopAttr*, const char*, const char*)>::value, "");

// acl/acl_op_compiler.h
static_assert(ACL_COMPILE_SYS == 0, "");
static_assert(ACL_COMPILE_UNREGISTERED == 1, "");
static_assert(ACL_PRECISION_MODE == 0, "");
static_assert(ACL_AICORE_NUM == 1, "");
static_assert(ACL_AUTO_TUNE_MODE == 2, "");
static_assert(ACL_OP_SELECT_IMPL_MODE == 3, "");
static_assert(ACL_OPTYPELIST_FOR_IMPLMODE == 4, "");
static_assert(ACL_OP_DEBUG_LEVEL == 5, "");
static_assert(ACL_DEBUG_DIR == 6, "");
static_assert(ACL_OP_COMPILER_CACHE_MODE == 7, "");
static_assert(ACL_OP_COMPILER_CACHE_DIR == 8, "");
static_assert(ACL_OP_PERFORMANCE_MODE == 9, "");
static_assert(ACL_OP_JIT_COMPILE == 10, "");
static_assert(ACL_OP_DETERMINISTIC == 11, "");
static_assert(ACL_CUSTOMIZE_DTYPES == 12, "");
static_assert(ACL_OP_PRECISION_MODE == 13, "");
static_assert(ACL_ALLOW_HF32 == 14, "");
static_assert(ACL_PRECISION_MODE_V2 == 15, "");
static_assert(ACL_OP_DEBUG_OPTION == 16, "");
static_assert(std::is_same<decltype(&aclGetCompileopt), int (*)(aclCompileOpt, char*, uint64_t)>::value, "");
static_assert(std::is_same<decltype(&aclGetCompileoptSize), uint64_t (*)(aclCompileOpt)>::value, "");
static_assert(std::is_same<decltype(&aclSetCompileopt), int (*)(aclCompileOpt, const char*)>::value, "");
static_assert(std::is_same<decltype(&aclopCompileAndExecute),
                           int (*)(const char*, int, aclTensorDesc const* const*, aclDataBuffer const* const*,
                                   int, aclTensorDesc const* const*, aclDataBuffer* const*, aclopAttr const*,
                                   aclEngineType, aclCompileType, const char*, void*)>::value,
              "");
static_assert(std::is_same<decltype(&aclopCompileAndExecuteV2),
                           int (*)(const char*, int, aclTensorDesc**, aclDataBuffer**, int, aclTensorDesc**,
                                   aclDataBuffer**, aclopAttr*, aclEngineType, aclCompileType, const char*,
                                   void*)>::value,
              "");

// acl/acl_prof.h
static_assert(ACL_AICORE_ARITHMETIC_UTILIZATION == 0, "");
static_assert(ACL_AICORE_PIPE_UTILIZATION == 1, "");
static_assert(ACL_AICORE_MEMORY_BANDWIDTH == 2, "");
static_assert(ACL_AICORE_L0B_AND_WIDTH == 3, "");
static_assert(ACL_AICORE_RESOURCE_CONFLICT_RATIO == 4, "");
static_assert(ACL_AICORE_MEMORY_UB == 5, "");
static_assert(ACL_AICORE_L2_CACHE == 6, "");
static_assert(ACL_AICORE_PIPE_EXECUTE_UTILIZATION == 7, "");
static_assert(ACL_AICORE_MEMORY_ACCESS == 8, "");
static_assert(ACL_AICORE_NONE == 255, "");
static_assert(ACL_STEP_START == 0, "");
static_assert(ACL_STEP_END == 1, "");
static_assert(ACL_PROF_ARGS_MIN == 0, "");
static_assert(ACL_PROF_STORAGE_LIMIT == 1, "");
static_assert(ACL_PROF_SYS_HARDWARE_MEM_FREQ == 3, "");
static_assert(ACL_PROF_LLC_MODE == 4, "");
static_assert(ACL_PROF_SYS_IO_FREQ == 5, "");
static_assert(ACL_PROF_SYS_INTERCONNECTION_FREQ == 6, "");
static_assert(ACL_PROF_DVPP_FREQ == 7, "");
static_assert(ACL_PROF_HOST_SYS == 8, "");
static_assert(ACL_PROF_HOST_SYS_USAGE == 9, "");
static_assert(ACL_PROF_HOST_SYS_USAGE_FREQ == 10, "");
static_assert(ACL_PROF_LOW_POWER_FREQ == 11, "");
static_assert(ACL_PROF_SYS_MEM_SERVICEFLOW == 12, "");
static_assert(ACL_PROF_SYS_CPU_FREQ == 13, "");
static_assert(ACL_PROF_OPTYPE == 14, "");
static_assert(ACL_PROF_NTS_METRICS == 15, "");
static_assert(ACL_PROF_PATH == 16, "");
static_assert(ACL_PROF_ARGS_MAX == 17, "");
static_assert(std::is_same<decltype(&aclprofCreateConfig),
                           aclprofConfig* (*)(uint32_t*, uint32_t, aclprofAicoreMetrics,
                                              aclprofAicoreEvents const*, uint64_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclprofCreateStepInfo), aclprofStepInfo* (*)()>::value, "");
static_assert(std::is_same<decltype(&aclprofDestroyConfig), int (*)(aclprofConfig const*)>::value, "");
static_assert(std::is_same<decltype(&aclprofDestroyStepInfo), void (*)(aclprofStepInfo*)>::value, "");
static_assert(std::is_same<decltype(&aclprofFinalize), int (*)()>::value, "");
static_assert(
    std::is_same<decltype(&aclprofGetStepTimestamp), int (*)(aclprofStepInfo*, aclprofStepTag, void*)>::value,
    "");
static_assert(std::is_same<decltype(&aclprofGetSupportedFeatures), int (*)(uint64_t*, void**)>::value, "");
static_assert(std::is_same<decltype(&aclprofGetSupportedFeaturesV2), int (*)(uint64_t*, void**)>::value, "");
static_assert(std::is_same<decltype(&aclprofInit), int (*)(const char*, uint64_t)>::value, "");
static_assert(std::is_same<decltype(&aclprofMarkEx), int (*)(const char*, uint64_t, void*)>::value, "");
static_assert(std::is_same<decltype(&aclprofRegisterDeviceCallback), int (*)()>::value, "");
static_assert(
    std::is_same<decltype(&aclprofSetConfig), int (*)(aclprofConfigType, const char*, uint64_t)>::value, "");
static_assert(std::is_same<decltype(&aclprofStart), int (*)(aclprofConfig const*)>::value, "");
static_assert(std::is_same<decltype(&aclprofStop), int (*)(aclprofConfig const*)>::value, "");
static_assert(std::is_same<decltype(&aclprofWarmup), int (*)(aclprofConfig const*)>::value, "");

// acl/acl_rt.h
static_assert(ACL_RT_AICORE_ERROR_UNKNOWN == 0, "");
static_assert(ACL_RT_AICORE_ERROR_SW == 1, "");
static_assert(ACL_RT_AICORE_ERROR_HW_LOCAL == 2, "");
static_assert(ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT == 1, "");
static_assert(ACL_MODEL_RI_COND_TYPE_IF == 0, "");
static_assert(ACL_MODEL_RI_COND_TYPE_WHILE == 1, "");
static_assert(ACL_MODEL_RI_COND_TYPE_SWITCH == 2, "");
static_assert(ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD == 1, "");
static_assert(ACL_RT_BINARY_LOAD_OPT_LAZY_MAGIC == 2, "");
static_assert(ACL_RT_BINARY_LOAD_OPT_MAGIC == 2, "");
static_assert(ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE == 3, "");
static_assert(
    std::is_same<decltype(&aclmdlRIAddCondTask), int (*)(tagAclmdlRICondTaskParams, void*, uint32_t)>::value,
    "");
static_assert(std::is_same<decltype(&aclmdlRICaptureBegin), int (*)(void*, aclmdlRICaptureMode)>::value, "");
static_assert(std::is_same<decltype(&aclmdlRICaptureEnd), int (*)(void*, void**)>::value, "");
static_assert(
    std::is_same<decltype(&aclmdlRICaptureGetInfo), int (*)(void*, aclmdlRICaptureStatus*, void**)>::value,
    "");
static_assert(std::is_same<decltype(&aclmdlRICaptureTaskGrpBegin), int (*)(void*)>::value, "");
static_assert(std::is_same<decltype(&aclmdlRICaptureTaskGrpEnd), int (*)(void*, void**)>::value, "");
static_assert(std::is_same<decltype(&aclmdlRICaptureTaskUpdateBegin), int (*)(void*, void*)>::value, "");
static_assert(std::is_same<decltype(&aclmdlRICaptureTaskUpdateEnd), int (*)(void*)>::value, "");
static_assert(
    std::is_same<decltype(&aclmdlRICaptureThreadExchangeMode), int (*)(aclmdlRICaptureMode*)>::value, "");
static_assert(
    std::is_same<decltype(&aclmdlRICaptureToModelRIBegin), int (*)(void*, void*, aclmdlRICaptureMode)>::value,
    "");
static_assert(std::is_same<decltype(&aclmdlRICondHandleCreate),
                           int (*)(void*, uint32_t, aclmdlRICondHandleFlag, void**)>::value,
              "");
static_assert(std::is_same<decltype(&aclmdlRICondHandleGetCondPtr), int (*)(void*, uint64_t**)>::value, "");
static_assert(std::is_same<decltype(&aclmdlRIDebugJsonPrint), int (*)(void*, const char*, uint32_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclmdlRIDebugPrint), int (*)(void*)>::value, "");
static_assert(std::is_same<decltype(&aclmdlRIDestroy), int (*)(void*)>::value, "");
static_assert(std::is_same<decltype(&aclmdlRIAbort), int (*)(void*)>::value, "");
static_assert(std::is_same<decltype(&aclmdlRIExecute), int (*)(void*, int32_t)>::value, "");
static_assert(std::is_same<decltype(&aclmdlRIExecuteAsync), int (*)(void*, void*)>::value, "");
static_assert(std::is_same<decltype(&aclmdlRIGetName), int (*)(void*, uint32_t, char*)>::value, "");
static_assert(std::is_same<decltype(&aclmdlRISetName), int (*)(void*, const char*)>::value, "");
static_assert(std::is_same<decltype(&aclmdlRIGetId), int (*)(void*, uint32_t*)>::value, "");
static_assert(std::is_same<decltype(&aclrtBinaryGetFunction), int (*)(void*, const char*, void**)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtBinaryLoadFromData),
                           int (*)(const void*, uint64_t, aclrtBinaryLoadOptions const*, void**)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtGetErrorVerbose), int (*)(int, aclrtErrorInfo*)>::value, "");
static_assert(std::is_same<decltype(&aclrtGetFunctionAddr), int (*)(void*, void**, void**)>::value, "");
static_assert(
    std::is_same<decltype(&aclrtGetMemUceInfo), int (*)(int, aclrtMemUceInfo*, uint64_t, uint64_t*)>::value,
    "");
static_assert(std::is_same<decltype(&aclrtIpcGetEventHandle), int (*)(void*, aclrtIpcEventHandle*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtIpcMemSetImportPid), int (*)(const char*, int*, uint64_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtIpcOpenEventHandle), int (*)(aclrtIpcEventHandle, void**)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclrtMemSetPidToShareableHandle), int (*)(uint64_t, int*, uint64_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtMemUceRepair), int (*)(int, aclrtMemUceInfo*, uint64_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtRepairError), int (*)(int, aclrtErrorInfo const*)>::value, "");

// profiling/aprof_pub.h
static_assert(std::is_same<decltype(&MsprofGetHashId), uint64_t (*)(const char*, uint64_t)>::value, "");
static_assert(std::is_same<decltype(&MsprofRegisterCallback),
                           int (*)(uint32_t, int (*)(uint32_t, void*, uint32_t))>::value,
              "");
static_assert(std::is_same<decltype(&MsprofReportAdditionalInfo), int (*)(uint32_t, void*, uint32_t)>::value,
              "");
static_assert(std::is_same<decltype(&MsprofReportApi), int (*)(uint32_t, MsprofApi const*)>::value, "");
static_assert(std::is_same<decltype(&MsprofReportCompactInfo), int (*)(uint32_t, void*, uint32_t)>::value,
              "");
static_assert(std::is_same<decltype(&MsprofSysCycleTime), uint64_t (*)()>::value, "");

// hccl/hccl.h
static_assert(HCCL_SUCCESS == 0, "");
static_assert(HCCL_E_PARA == 1, "");
static_assert(HCCL_E_PTR == 2, "");
static_assert(HCCL_E_MEMORY == 3, "");
static_assert(HCCL_E_INTERNAL == 4, "");
static_assert(HCCL_E_NOT_SUPPORT == 5, "");
static_assert(HCCL_E_NOT_FOUND == 6, "");
static_assert(HCCL_E_UNAVAIL == 7, "");
static_assert(HCCL_E_SYSCALL == 8, "");
static_assert(HCCL_E_TIMEOUT == 9, "");
static_assert(HCCL_E_OPEN_FILE_FAILURE == 10, "");
static_assert(HCCL_E_TCP_CONNECT == 11, "");
static_assert(HCCL_E_ROCE_CONNECT == 12, "");
static_assert(HCCL_E_TCP_TRANSFER == 13, "");
static_assert(HCCL_E_ROCE_TRANSFER == 14, "");
static_assert(HCCL_E_RUNTIME == 15, "");
static_assert(HCCL_E_DRV == 16, "");
static_assert(HCCL_E_PROFILING == 17, "");
static_assert(HCCL_E_CCE == 18, "");
static_assert(HCCL_E_NETWORK == 19, "");
static_assert(HCCL_E_AGAIN == 20, "");
static_assert(HCCL_E_REMOTE == 21, "");
static_assert(HCCL_E_SUSPENDING == 22, "");
static_assert(HCCL_E_OPRETRY_FAIL == 23, "");
static_assert(HCCL_E_OOM == 24, "");
static_assert(HCCL_E_RESERVED == 25, "");
static_assert(HCCL_DETERMINISTIC == 0, "");
static_assert(HCCL_ACCELERATOR == 1, "");
static_assert(HCCL_CONFIG_RESERVED == 2, "");
static_assert(std::is_same<decltype(&HcclGetConfig), HcclResult (*)(HcclConfig, HcclConfigValue*)>::value,
              "");
static_assert(std::is_same<decltype(&HcclSetConfig), HcclResult (*)(HcclConfig, HcclConfigValue)>::value, "");

// The numbers of bytes that a client passes.
static_assert(sizeof(aclrtErrorInfo) == 2576 && alignof(aclrtErrorInfo) == 8, "");
static_assert(sizeof(aclrtMemUceInfo) == 128 && alignof(aclrtMemUceInfo) == 8, "");
static_assert(sizeof(aclrtIpcEventHandle) == 64 && alignof(aclrtIpcEventHandle) == 1, "");
static_assert(sizeof(aclmdlRICondTaskParams) == 24 && alignof(aclmdlRICondTaskParams) == 8, "");
static_assert(sizeof(aclrtBinaryLoadOptions) == 16 && alignof(aclrtBinaryLoadOptions) == 8, "");
static_assert(sizeof(aclrtBinaryLoadOption) == 20 && alignof(aclrtBinaryLoadOption) == 4, "");
static_assert(sizeof(MsprofApi) == 40 && alignof(MsprofApi) == 8, "");
static_assert(sizeof(HcclConfigValue) == 4 && alignof(HcclConfigValue) == 4, "");
static_assert(sizeof(aclrtErrorInfoDetail) == 2568 && alignof(aclrtErrorInfoDetail) == 8, "");
static_assert(ACL_UNKNOWN_RANK == 0xFFFFFFFFFFFFFFFEu && ACL_IPC_EVENT_HANDLE_SIZE == 64, "");
static_assert(MSPROF_REPORT_DATA_MAGIC_NUM == 0x5A5A && MSPROF_ERROR_NONE == 0, "");

// runtime/rt.h and aclnn/opdev/huge_mem.h
#define IS(function, ...) \
  static_assert(std::is_same<decltype(&function), int32_t (*)(__VA_ARGS__)>::value, "")
IS(rtGetSocVersion, char*, uint32_t);
IS(rtGetAiCoreCount, uint32_t*);
IS(rtSetDevice, int32_t);
IS(rtDeviceSetLimit, int32_t, rtLimitType_t, uint32_t);
IS(rtStreamCreate, void**, int32_t);
IS(rtStreamDestroy, void*);
IS(rtMalloc, void**, uint64_t, uint32_t, uint16_t);
IS(rtFree, void*);
IS(rtMallocHost, void**, uint64_t, uint16_t);
IS(rtFreeHost, void*);
IS(rtMemcpy, void*, uint64_t, const void*, uint64_t, rtMemcpyKind_t);
#undef IS
static_assert(std::is_same<decltype(&rtDevBinaryRegister), int32_t (*)(const rtDevBinary_t*, void**)>::value,
              "");
static_assert(std::is_same<decltype(&rtFunctionRegister),
                           int32_t (*)(void*, const void*, const char*, const void*, uint32_t)>::value,
              "");
static_assert(std::is_same<decltype(&rtKernelLaunch),
                           int32_t (*)(const void*, uint32_t, void*, uint32_t, rtSmDesc_t*, void*)>::value,
              "");
static_assert(std::is_same<decltype(&rtGetC2cCtrlAddr), int32_t (*)(uint64_t*, uint32_t*)>::value, "");
static_assert(sizeof(rtDevBinary_t) == 24, "");
static_assert(std::is_same<decltype(&InitHugeMemThreadLocal), int (*)(void*, bool)>::value, "");
static_assert(std::is_same<decltype(&UnInitHugeMemThreadLocal), void (*)(void*, bool)>::value, "");
static_assert(std::is_same<decltype(&ReleaseHugeMem), void (*)(void*, bool)>::value, "");

// hccl/hccl_types.h, hccl/hccl.h, hccl/hccl_comm.h, hccl/hcomm.h: collectives
static_assert(HCCL_REDUCE_SUM == 0, "");
static_assert(HCCL_REDUCE_PROD == 1, "");
static_assert(HCCL_REDUCE_MAX == 2, "");
static_assert(HCCL_REDUCE_MIN == 3, "");
static_assert(HCCL_REDUCE_RESERVED == 255, "");
static_assert(HCCL_DATA_TYPE_INT8 == 0, "");
static_assert(HCCL_DATA_TYPE_INT16 == 1, "");
static_assert(HCCL_DATA_TYPE_INT32 == 2, "");
static_assert(HCCL_DATA_TYPE_FP16 == 3, "");
static_assert(HCCL_DATA_TYPE_FP32 == 4, "");
static_assert(HCCL_DATA_TYPE_INT64 == 5, "");
static_assert(HCCL_DATA_TYPE_UINT64 == 6, "");
static_assert(HCCL_DATA_TYPE_UINT8 == 7, "");
static_assert(HCCL_DATA_TYPE_UINT16 == 8, "");
static_assert(HCCL_DATA_TYPE_UINT32 == 9, "");
static_assert(HCCL_DATA_TYPE_FP64 == 10, "");
static_assert(HCCL_DATA_TYPE_BFP16 == 11, "");
static_assert(HCCL_DATA_TYPE_INT128 == 12, "");
static_assert(HCCL_DATA_TYPE_HIF8 == 14, "");
static_assert(HCCL_DATA_TYPE_FP8E4M3 == 15, "");
static_assert(HCCL_DATA_TYPE_FP8E5M2 == 16, "");
static_assert(HCCL_DATA_TYPE_FP8E8M0 == 17, "");
static_assert(HCCL_DATA_TYPE_RESERVED == 255, "");
static_assert(HCCL_SEND == 0, "");
static_assert(HCCL_RECV == 1, "");
static_assert(HCCL_SEND_RECV_RESERVED == 2, "");
static_assert(HCCL_COMM_CONFIG_BUFFER_SIZE == 0, "");
static_assert(HCCL_COMM_CONFIG_DETERMINISTIC == 1, "");
static_assert(HCCL_COMM_CONFIG_COMM_NAME == 2, "");
static_assert(HCCL_COMM_CONFIG_OP_EXPANSION_MODE == 3, "");
static_assert(HCCL_COMM_CONFIG_SUPPORT_INIT_BY_ENV == 4, "");
static_assert(HCCL_COMM_CONFIG_WORLD_RANKID == 5, "");
static_assert(HCCL_COMM_CONFIG_JOBID == 6, "");
static_assert(HCCL_COMM_CONFIG_ACLGRAPH_ZEROCOPY_ENABLE == 7, "");
static_assert(HCCL_COMM_CONFIG_EXEC_TIMEOUT == 8, "");
static_assert(HCCL_COMM_CONFIG_ALGO == 9, "");
static_assert(HCCL_COMM_CONFIG_RETRY == 10, "");
static_assert(HCCL_COMM_CONFIG_BUFFER_NAME == 11, "");
static_assert(HCCL_COMM_CONFIG_RESERVED == 12, "");
static_assert(sizeof(HcclRootInfo) == 4108 && alignof(HcclRootInfo) == 1, "");
static_assert(sizeof(HcclSendRecvItem) == 32 && offsetof(HcclSendRecvItem, buf) == 8 &&
                  offsetof(HcclSendRecvItem, count) == 16,
              "");
static_assert(offsetof(HcclSendRecvItem, dataType) == 24 && offsetof(HcclSendRecvItem, remoteRank) == 28, "");
static_assert(sizeof(HcclCommConfig) == 2240 && alignof(HcclCommConfig) == 8, "");
static_assert(offsetof(HcclCommConfig, magic) == 8, "");
static_assert(offsetof(HcclCommConfig, version) == 12, "");
static_assert(offsetof(HcclCommConfig, reserved) == 16, "");
static_assert(offsetof(HcclCommConfig, hcclBufferSize) == 24, "");
static_assert(offsetof(HcclCommConfig, hcclDeterministic) == 28, "");
static_assert(offsetof(HcclCommConfig, hcclCommName) == 32, "");
static_assert(offsetof(HcclCommConfig, hcclUdi) == 160, "");
static_assert(offsetof(HcclCommConfig, hcclOpExpansionMode) == 288, "");
static_assert(offsetof(HcclCommConfig, hcclRdmaTrafficClass) == 292, "");
static_assert(offsetof(HcclCommConfig, hcclRdmaServiceLevel) == 296, "");
static_assert(offsetof(HcclCommConfig, hcclWorldRankID) == 300, "");
static_assert(offsetof(HcclCommConfig, hcclJobID) == 304, "");
static_assert(offsetof(HcclCommConfig, aclGraphZeroCopyEnable) == 312, "");
static_assert(offsetof(HcclCommConfig, hcclExecTimeOut) == 316, "");
static_assert(offsetof(HcclCommConfig, hcclAlgo) == 320, "");
static_assert(offsetof(HcclCommConfig, hcclRetryEnable) == 1920, "");
static_assert(offsetof(HcclCommConfig, hcclRetryParams) == 1970, "");
static_assert(offsetof(HcclCommConfig, hcclBufferName) == 2098, "");
static_assert(offsetof(HcclCommConfig, hcclQos) == 2228, "");
static_assert(offsetof(HcclCommConfig, hcclSymWinMaxMemSizePerRank) == 2232, "");
static_assert(
    std::is_same<decltype(&HcclAllReduce), HcclResult (*)(void*, void*, uint64_t, HcclDataType, HcclReduceOp,
                                                          HcclComm, aclrtStream)>::value,
    "");
static_assert(std::is_same<decltype(&HcclBroadcast), HcclResult (*)(void*, uint64_t, HcclDataType, uint32_t,
                                                                    HcclComm, aclrtStream)>::value,
              "");
static_assert(
    std::is_same<decltype(&HcclReduce), HcclResult (*)(void*, void*, uint64_t, HcclDataType, HcclReduceOp,
                                                       uint32_t, HcclComm, aclrtStream)>::value,
    "");
static_assert(
    std::is_same<decltype(&HcclReduceScatter), HcclResult (*)(void*, void*, uint64_t, HcclDataType,
                                                              HcclReduceOp, HcclComm, aclrtStream)>::value,
    "");
static_assert(std::is_same<decltype(&HcclReduceScatterV),
                           HcclResult (*)(void*, const void*, const void*, void*, uint64_t, HcclDataType,
                                          HcclReduceOp, HcclComm, aclrtStream)>::value,
              "");
static_assert(std::is_same<decltype(&HcclScatter), HcclResult (*)(void*, void*, uint64_t, HcclDataType,
                                                                  uint32_t, HcclComm, aclrtStream)>::value,
              "");
static_assert(std::is_same<decltype(&HcclAllGather), HcclResult (*)(void*, void*, uint64_t, HcclDataType,
                                                                    HcclComm, aclrtStream)>::value,
              "");
static_assert(
    std::is_same<decltype(&HcclAllGatherV), HcclResult (*)(void*, uint64_t, void*, const void*, const void*,
                                                           HcclDataType, HcclComm, aclrtStream)>::value,
    "");
static_assert(std::is_same<decltype(&HcclSend), HcclResult (*)(void*, uint64_t, HcclDataType, uint32_t,
                                                               HcclComm, aclrtStream)>::value,
              "");
static_assert(std::is_same<decltype(&HcclRecv), HcclResult (*)(void*, uint64_t, HcclDataType, uint32_t,
                                                               HcclComm, aclrtStream)>::value,
              "");
static_assert(std::is_same<decltype(&HcclBatchSendRecv),
                           HcclResult (*)(HcclSendRecvItem*, uint32_t, HcclComm, aclrtStream)>::value,
              "");
static_assert(std::is_same<decltype(&HcclAlltoAll),
                           HcclResult (*)(const void*, uint64_t, HcclDataType, const void*, uint64_t,
                                          HcclDataType, HcclComm, aclrtStream)>::value,
              "");
static_assert(
    std::is_same<decltype(&HcclAlltoAllV),
                 HcclResult (*)(const void*, const void*, const void*, HcclDataType, const void*, const void*,
                                const void*, HcclDataType, HcclComm, aclrtStream)>::value,
    "");
static_assert(std::is_same<decltype(&HcclAlltoAllVC),
                           HcclResult (*)(const void*, const void*, HcclDataType, const void*, HcclDataType,
                                          HcclComm, aclrtStream)>::value,
              "");
static_assert(std::is_same<decltype(&HcclBarrier), HcclResult (*)(HcclComm, aclrtStream)>::value, "");
static_assert(std::is_same<decltype(&HcclGetRootInfo), HcclResult (*)(HcclRootInfo*)>::value, "");
static_assert(std::is_same<decltype(&HcclGetRootInfoScalable), HcclResult (*)(HcclRootInfo*)>::value, "");
static_assert(std::is_same<decltype(&HcclCommInitRootInfo),
                           HcclResult (*)(uint32_t, const HcclRootInfo*, uint32_t, HcclComm*)>::value,
              "");
static_assert(std::is_same<decltype(&HcclCommInitRootInfoConfig),
                           HcclResult (*)(uint32_t, const HcclRootInfo*, uint32_t, const HcclCommConfig*,
                                          HcclComm*)>::value,
              "");
static_assert(std::is_same<decltype(&HcclCommInitRootInfoScalable),
                           HcclResult (*)(uint32_t, uint32_t, const HcclRootInfo*, uint32_t, uint32_t,
                                          const HcclCommConfig*, HcclComm*)>::value,
              "");
static_assert(std::is_same<decltype(&HcclCommInitAll), HcclResult (*)(uint32_t, int32_t*, HcclComm*)>::value,
              "");
static_assert(std::is_same<decltype(&HcclCreateSubCommConfig),
                           HcclResult (*)(HcclComm*, uint32_t, uint32_t*, uint64_t, uint32_t, HcclCommConfig*,
                                          HcclComm*)>::value,
              "");
static_assert(std::is_same<decltype(&HcclCommDestroy), HcclResult (*)(HcclComm)>::value, "");
static_assert(std::is_same<decltype(&HcclCommSuspend), HcclResult (*)(HcclComm)>::value, "");
static_assert(std::is_same<decltype(&HcclCommResume), HcclResult (*)(HcclComm)>::value, "");
static_assert(std::is_same<decltype(&HcclGetCommAsyncError), HcclResult (*)(HcclComm, HcclResult*)>::value,
              "");
static_assert(std::is_same<decltype(&HcclGetCommName), HcclResult (*)(HcclComm, char*)>::value, "");
static_assert(std::is_same<decltype(&HcclGetRankSize), HcclResult (*)(HcclComm, uint32_t*)>::value, "");
static_assert(std::is_same<decltype(&HcclGetRankId), HcclResult (*)(HcclComm, uint32_t*)>::value, "");
static_assert(std::is_same<decltype(&HcclGroupStart), HcclResult (*)()>::value, "");
static_assert(std::is_same<decltype(&HcclGroupEnd), HcclResult (*)()>::value, "");
static_assert(std::is_same<decltype(&HcommMemAlloc), HcclResult (*)(void**, uint64_t)>::value, "");
static_assert(std::is_same<decltype(&HcommMemFree), HcclResult (*)(void*)>::value, "");
static_assert(std::is_same<decltype(&HcclGetErrorString), const char* (*)(HcclResult)>::value, "");
static_assert(std::is_same<decltype(&HcclGetCommConfigCapability), uint32_t (*)()>::value, "");

// What torch_npu's profilers look up; the layouts are those that it reads.
static_assert(std::is_same<decltype(&msptiSubscribe),
                           msptiResult (*)(msptiSubscriberHandle*, msptiCallbackFunc, void*)>::value,
              "");
static_assert(std::is_same<decltype(&msptiUnsubscribe), msptiResult (*)(msptiSubscriberHandle)>::value, "");
static_assert(std::is_same<decltype(&msptiActivityRegisterCallbacks),
                           msptiResult (*)(void (*)(uint8_t**, size_t*, size_t*),
                                           void (*)(uint8_t*, size_t, size_t))>::value,
              "");
static_assert(std::is_same<decltype(&msptiActivityEnable), msptiResult (*)(msptiActivityKind)>::value, "");
static_assert(std::is_same<decltype(&msptiActivityDisable), msptiResult (*)(msptiActivityKind)>::value, "");
static_assert(std::is_same<decltype(&msptiActivityIsEnabled), msptiResult (*)(msptiActivityKind)>::value, "");
static_assert(std::is_same<decltype(&msptiActivityFlushAll), msptiResult (*)(uint32_t)>::value, "");
static_assert(std::is_same<decltype(&msptiActivityGetNextRecord),
                           msptiResult (*)(uint8_t*, size_t, msptiActivity**)>::value,
              "");
static_assert(std::is_same<decltype(&msptiActivityPushExternalCorrelationId),
                           msptiResult (*)(msptiExternalCorrelationKind, uint64_t)>::value,
              "");
static_assert(std::is_same<decltype(&msptiActivityPopExternalCorrelationId),
                           msptiResult (*)(msptiExternalCorrelationKind, uint64_t*)>::value,
              "");
static_assert(MSPTI_ACTIVITY_KIND_KERNEL == 2 && MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION == 8 &&
                  MSPTI_ACTIVITY_KIND_COMMUNICATION == 9,
              "");
static_assert(offsetof(msptiActivityKernel, start) == 0x4 && offsetof(msptiActivityKernel, ds) == 0x14 &&
                  offsetof(msptiActivityKernel, correlationId) == 0x1c &&
                  offsetof(msptiActivityKernel, type) == 0x24 && offsetof(msptiActivityKernel, name) == 0x2c,
              "");
static_assert(offsetof(msptiActivityExternalCorrelation, externalId) == 0x8 &&
                  offsetof(msptiActivityExternalCorrelation, correlationId) == 0x10,
              "");
static_assert(offsetof(msptiActivityCommunication, ds) == 0x10 &&
                  offsetof(msptiActivityCommunication, start) == 0x18 &&
                  offsetof(msptiActivityCommunication, end) == 0x20 &&
                  offsetof(msptiActivityCommunication, name) == 0x30 &&
                  offsetof(msptiActivityCommunication, commName) == 0x38,
              "");
static_assert(std::is_same<decltype(&mstxMarkA), void (*)(const char*, void*)>::value, "");
static_assert(std::is_same<decltype(&mstxRangeStartA), uint64_t (*)(const char*, void*)>::value, "");
static_assert(std::is_same<decltype(&mstxRangeEnd), void (*)(uint64_t)>::value, "");
static_assert(std::is_same<decltype(&mstxDomainCreateA), mstxDomainHandle_t (*)(const char*)>::value, "");
static_assert(
    std::is_same<decltype(&mstxDomainMarkA), void (*)(mstxDomainHandle_t, const char*, void*)>::value, "");
static_assert(std::is_same<decltype(&mstxDomainRangeStartA),
                           uint64_t (*)(mstxDomainHandle_t, const char*, void*)>::value,
              "");
static_assert(std::is_same<decltype(&mstxDomainRangeEnd), void (*)(mstxDomainHandle_t, uint64_t)>::value, "");
static_assert(
    std::is_same<decltype(&halGetDeviceInfo), drvError_t (*)(uint32_t, int32_t, int32_t, int64_t*)>::value,
    "");
static_assert(std::is_same<decltype(&halGetAPIVersion), drvError_t (*)(int32_t*)>::value, "");
