// The signatures of the runtime's functions beyond those of signatures_test.cc, and the sizes of its
// structures.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "acl/acl.h"
#include "acl/acl_dump.h"
#include "acl/acl_tdt.h"

static_assert(std::is_same<decltype(&aclrtPeekAtLastError), aclError (*)(aclrtLastErrLevel)>::value, "");
static_assert(std::is_same<decltype(&aclrtGetLastError), aclError (*)(aclrtLastErrLevel)>::value, "");
static_assert(std::is_same<decltype(&aclsysGetVersionStr), aclError (*)(char*, char*)>::value, "");
static_assert(std::is_same<decltype(&aclsysGetVersionNum), aclError (*)(char*, int32_t*)>::value, "");
static_assert(std::is_same<decltype(&aclsysGetCANNVersion),
                           aclError (*)(aclCANNPackageName, aclCANNPackageVersion*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtGetVersion), aclError (*)(int32_t*, int32_t*, int32_t*)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclGetCannAttributeList), aclError (*)(const aclCannAttr**, size_t*)>::value, "");
static_assert(std::is_same<decltype(&aclGetCannAttribute), aclError (*)(aclCannAttr, int32_t*)>::value, "");
static_assert(
    std::is_same<decltype(&aclGetDeviceCapability), aclError (*)(uint32_t, aclDeviceInfo, int64_t*)>::value,
    "");
static_assert(std::is_same<decltype(&aclrtSetSysParamOpt), aclError (*)(aclSysParamOpt, int64_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtGetSysParamOpt), aclError (*)(aclSysParamOpt, int64_t*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtCtxSetSysParamOpt), aclError (*)(aclSysParamOpt, int64_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtCtxGetSysParamOpt), aclError (*)(aclSysParamOpt, int64_t*)>::value,
              "");
static_assert(std::is_same<decltype(&aclAppLog), void (*)(aclLogLevel, const char*, const char*, uint32_t,
                                                          const char*, ...)>::value,
              "");
static_assert(std::is_same<decltype(&aclmdlInitDump), aclError (*)()>::value, "");
static_assert(std::is_same<decltype(&aclmdlSetDump), aclError (*)(const char*)>::value, "");
static_assert(std::is_same<decltype(&aclmdlFinalizeDump), aclError (*)()>::value, "");
static_assert(std::is_same<decltype(&aclopStartDumpArgs), aclError (*)(uint32_t, const char*)>::value, "");
static_assert(std::is_same<decltype(&aclopStopDumpArgs), aclError (*)(uint32_t)>::value, "");
static_assert(std::is_same<decltype(&acltdtCreateChannelWithCapacity),
                           acltdtChannelHandle* (*)(uint32_t, const char*, size_t)>::value,
              "");
static_assert(std::is_same<decltype(&acltdtDestroyChannel), aclError (*)(acltdtChannelHandle*)>::value, "");
static_assert(std::is_same<decltype(&acltdtCreateDataset), acltdtDataset* (*)()>::value, "");
static_assert(std::is_same<decltype(&acltdtDestroyDataset), aclError (*)(acltdtDataset*)>::value, "");
static_assert(std::is_same<decltype(&acltdtReceiveTensor),
                           aclError (*)(const acltdtChannelHandle*, acltdtDataset*, int32_t)>::value,
              "");
static_assert(
    std::is_same<decltype(&acltdtGetDataItem), acltdtDataItem* (*)(const acltdtDataset*, size_t)>::value, "");
static_assert(std::is_same<decltype(&acltdtGetDatasetSize), size_t (*)(const acltdtDataset*)>::value, "");
static_assert(std::is_same<decltype(&acltdtGetDataAddrFromItem), void* (*)(const acltdtDataItem*)>::value,
              "");
static_assert(std::is_same<decltype(&acltdtGetDataSizeFromItem), size_t (*)(const acltdtDataItem*)>::value,
              "");
static_assert(
    std::is_same<decltype(&acltdtGetDataTypeFromItem), aclDataType (*)(const acltdtDataItem*)>::value, "");
static_assert(std::is_same<decltype(&acltdtGetDimNumFromItem), size_t (*)(const acltdtDataItem*)>::value, "");
static_assert(std::is_same<decltype(&acltdtGetDimsFromItem),
                           aclError (*)(const acltdtDataItem*, int64_t*, size_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclInitCallbackRegister),
                           aclError (*)(aclRegisterCallbackType, aclInitCallbackFunc, void*)>::value,
              "");
static_assert(std::is_same<decltype(&aclInitCallbackUnRegister),
                           aclError (*)(aclRegisterCallbackType, aclInitCallbackFunc)>::value,
              "");
static_assert(std::is_same<decltype(&aclFinalizeCallbackRegister),
                           aclError (*)(aclRegisterCallbackType, aclFinalizeCallbackFunc, void*)>::value,
              "");
static_assert(std::is_same<decltype(&aclFinalizeCallbackUnRegister),
                           aclError (*)(aclRegisterCallbackType, aclFinalizeCallbackFunc)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclrtQueryDeviceStatus), aclError (*)(int32_t, aclrtDeviceStatus*)>::value, "");
static_assert(
    std::is_same<decltype(&aclrtGetDeviceInfo), aclError (*)(uint32_t, aclrtDevAttr, int64_t*)>::value, "");
static_assert(std::is_same<decltype(&aclrtGetDeviceCapability),
                           aclError (*)(int32_t, aclrtDevFeatureType, int32_t*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtGetDeviceUtilizationRate),
                           aclError (*)(int32_t, aclrtUtilizationInfo*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtDeviceGetUuid), aclError (*)(int32_t, aclrtUuid*)>::value, "");
static_assert(
    std::is_same<decltype(&aclrtDeviceGetStreamPriorityRange), aclError (*)(int32_t*, int32_t*)>::value, "");
static_assert(std::is_same<decltype(&aclrtSetDeviceSatMode), aclError (*)(aclrtFloatOverflowMode)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtGetDeviceSatMode), aclError (*)(aclrtFloatOverflowMode*)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclrtDeviceCanAccessPeer), aclError (*)(int32_t*, int32_t, int32_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtDeviceEnablePeerAccess), aclError (*)(int32_t, uint32_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtDeviceDisablePeerAccess), aclError (*)(int32_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtSetTsDevice), aclError (*)(aclrtTsId)>::value, "");
static_assert(std::is_same<decltype(&aclrtDeviceTaskAbort), aclError (*)(int32_t, uint32_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtDeviceGetBareTgid), aclError (*)(int32_t*)>::value, "");
static_assert(std::is_same<decltype(&aclrtGetLogicDevIdByUserDevId),
                           aclError (*)(const int32_t, int32_t* const)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclrtGetPrimaryCtxState), aclError (*)(int32_t, uint32_t*, int32_t*)>::value, "");
static_assert(std::is_same<decltype(&aclrtGetDeviceResLimit),
                           aclError (*)(int32_t, aclrtDevResLimitType, uint32_t*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtSetDeviceResLimit),
                           aclError (*)(int32_t, aclrtDevResLimitType, uint32_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtResetDeviceResLimit), aclError (*)(int32_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtGetStreamResLimit),
                           aclError (*)(aclrtStream, aclrtDevResLimitType, uint32_t*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtSetStreamResLimit),
                           aclError (*)(aclrtStream, aclrtDevResLimitType, uint32_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtResetStreamResLimit), aclError (*)(aclrtStream)>::value, "");
static_assert(std::is_same<decltype(&aclrtUseStreamResInCurrentThread), aclError (*)(aclrtStream)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtUnuseStreamResInCurrentThread), aclError (*)(aclrtStream)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclrtGetResInCurrentThread), aclError (*)(aclrtDevResLimitType, uint32_t*)>::value,
    "");
static_assert(std::is_same<decltype(&aclrtGetStreamAvailableNum), aclError (*)(uint32_t*)>::value, "");
static_assert(std::is_same<decltype(&aclrtSetStreamAttribute),
                           aclError (*)(aclrtStream, aclrtStreamAttr, aclrtStreamAttrValue*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtGetStreamAttribute),
                           aclError (*)(aclrtStream, aclrtStreamAttr, aclrtStreamAttrValue*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtSetStreamFailureMode), aclError (*)(aclrtStream, uint64_t)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclrtSetStreamOverflowSwitch), aclError (*)(aclrtStream, uint32_t)>::value, "");
static_assert(
    std::is_same<decltype(&aclrtGetStreamOverflowSwitch), aclError (*)(aclrtStream, uint32_t*)>::value, "");
static_assert(std::is_same<decltype(&aclrtStreamAbort), aclError (*)(aclrtStream)>::value, "");
static_assert(std::is_same<decltype(&aclrtEventGetTimestamp), aclError (*)(aclrtEvent, uint64_t*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtGetEventId), aclError (*)(aclrtEvent, uint32_t*)>::value, "");
static_assert(std::is_same<decltype(&aclrtSetOpWaitTimeout), aclError (*)(uint32_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtSetOpExecuteTimeOut), aclError (*)(uint32_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtSetOpExecuteTimeOutV2), aclError (*)(uint64_t, uint64_t*)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclrtGetOverflowStatus), aclError (*)(void*, size_t, aclrtStream)>::value, "");
static_assert(std::is_same<decltype(&aclrtResetOverflowStatus), aclError (*)(aclrtStream)>::value, "");
static_assert(
    std::is_same<decltype(&aclrtValueWrite), aclError (*)(void*, uint64_t, uint32_t, aclrtStream)>::value,
    "");
static_assert(
    std::is_same<decltype(&aclrtValueWait), aclError (*)(void*, uint64_t, uint32_t, aclrtStream)>::value, "");
static_assert(
    std::is_same<decltype(&aclrtMallocAlign32), aclError (*)(void**, size_t, aclrtMemMallocPolicy)>::value,
    "");
static_assert(
    std::is_same<decltype(&aclrtMallocCached), aclError (*)(void**, size_t, aclrtMemMallocPolicy)>::value,
    "");
static_assert(std::is_same<decltype(&aclrtMallocWithCfg),
                           aclError (*)(void**, size_t, aclrtMemMallocPolicy, aclrtMallocConfig*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtMallocHostWithCfg),
                           aclError (*)(void**, uint64_t, aclrtMallocConfig*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtFreeWithDevSync), aclError (*)(void*)>::value, "");
static_assert(std::is_same<decltype(&aclrtFreeHostWithDevSync), aclError (*)(void*)>::value, "");
static_assert(
    std::is_same<decltype(&aclrtMemcpyAsyncWithCondition),
                 aclError (*)(void*, size_t, const void*, size_t, aclrtMemcpyKind, aclrtStream)>::value,
    "");
static_assert(std::is_same<decltype(&aclrtMemcpy2d), aclError (*)(void*, size_t, const void*, size_t, size_t,
                                                                  size_t, aclrtMemcpyKind)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclrtMemcpy2dAsync), aclError (*)(void*, size_t, const void*, size_t, size_t,
                                                             size_t, aclrtMemcpyKind, aclrtStream)>::value,
    "");
static_assert(std::is_same<decltype(&aclrtMemcpyBatch),
                           aclError (*)(void**, size_t*, void**, size_t*, size_t, aclrtMemcpyBatchAttr*,
                                        size_t*, size_t, size_t*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtMemcpyBatchAsync),
                           aclError (*)(void**, size_t*, void**, size_t*, size_t, aclrtMemcpyBatchAttr*,
                                        size_t*, size_t, size_t*, aclrtStream)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtGetMemUsageInfo),
                           aclError (*)(int32_t, aclrtMemUsageInfo*, size_t, size_t*)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclrtPointerGetAttributes), aclError (*)(const void*, aclrtPtrAttributes*)>::value,
    "");
static_assert(std::is_same<decltype(&aclrtHostRegister),
                           aclError (*)(void*, uint64_t, aclrtHostRegisterType, void**)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtHostRegisterV2), aclError (*)(void*, uint64_t, uint32_t)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclrtHostGetDevicePointer), aclError (*)(void*, void**, uint32_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtHostUnregister), aclError (*)(void*)>::value, "");
static_assert(std::is_same<decltype(&aclrtMemAllocManaged), aclError (*)(void**, uint64_t, uint32_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtMemFlush), aclError (*)(void*, size_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtMemInvalidate), aclError (*)(void*, size_t)>::value, "");
static_assert(
    std::is_same<decltype(&aclrtCmoAsync), aclError (*)(void*, size_t, aclrtCmoType, aclrtStream)>::value,
    "");
static_assert(std::is_same<decltype(&aclrtReserveMemAddress),
                           aclError (*)(void**, size_t, size_t, void*, uint64_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtReleaseMemAddress), aclError (*)(void*)>::value, "");
static_assert(
    std::is_same<decltype(&aclrtMallocPhysical),
                 aclError (*)(aclrtDrvMemHandle*, size_t, const aclrtPhysicalMemProp*, uint64_t)>::value,
    "");
static_assert(std::is_same<decltype(&aclrtFreePhysical), aclError (*)(aclrtDrvMemHandle)>::value, "");
static_assert(std::is_same<decltype(&aclrtMapMem),
                           aclError (*)(void*, size_t, size_t, aclrtDrvMemHandle, uint64_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtUnmapMem), aclError (*)(void*)>::value, "");
static_assert(std::is_same<decltype(&aclrtMemGetAllocationGranularity),
                           aclError (*)(aclrtPhysicalMemProp*, aclrtMemGranularityOptions, size_t*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtMemExportToShareableHandle),
                           aclError (*)(aclrtDrvMemHandle, aclrtMemHandleType, uint64_t, uint64_t*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtMemImportFromShareableHandle),
                           aclError (*)(uint64_t, int32_t, aclrtDrvMemHandle*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtIpcMemGetExportKey),
                           aclError (*)(void*, size_t, char*, size_t, uint64_t)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclrtIpcMemImportByKey), aclError (*)(void**, const char*, uint64_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtIpcMemClose), aclError (*)(const char*)>::value, "");
static_assert(std::is_same<decltype(&aclCreateDataBuffer), aclDataBuffer* (*)(void*, size_t)>::value, "");
static_assert(std::is_same<decltype(&aclDestroyDataBuffer), aclError (*)(const aclDataBuffer*)>::value, "");
static_assert(
    std::is_same<decltype(&aclUpdateDataBuffer), aclError (*)(aclDataBuffer*, void*, size_t)>::value, "");
static_assert(std::is_same<decltype(&aclGetDataBufferAddr), void* (*)(const aclDataBuffer*)>::value, "");
static_assert(std::is_same<decltype(&aclGetDataBufferSizeV2), size_t (*)(const aclDataBuffer*)>::value, "");

// On 64-bit machines
static_assert(sizeof(aclrtPtrAttributes) == 28, "");
static_assert(sizeof(aclrtMemLocation) == 8, "");
static_assert(sizeof(aclrtMallocConfig) == 16, "");
static_assert(sizeof(aclrtMallocAttribute) == 12, "");
static_assert(sizeof(aclrtUuid) == 16, "");
static_assert(sizeof(aclrtMemUsageInfo) == 112, "");
static_assert(sizeof(aclrtStreamAttrValue) == 16, "");
static_assert(sizeof(aclCANNPackageVersion) == 512, "");
static_assert(sizeof(aclrtUtilizationInfo) == 24, "");
static_assert(sizeof(aclrtMemcpyBatchAttr) == 32, "");
static_assert(sizeof(aclrtPhysicalMemProp) == 32, "");
static_assert(alignof(aclrtStreamAttrValue) == 8, "");
