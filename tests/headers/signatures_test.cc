// The signatures of the public functions are CANN's: a call through another one would break in binaries. The
// compiler checks every one of them; there is nothing to run.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "acl/acl.h"
#include "aclnnop/aclnn_l1_loss_backward.h"

static_assert(std::is_same<decltype(&aclrtMalloc), aclError (*)(void**, size_t, aclrtMemMallocPolicy)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtSynchronizeStream), aclError (*)(aclrtStream)>::value, "");
static_assert(std::is_same<decltype(&aclrtMemcpy),
                           aclError (*)(void*, size_t, const void*, size_t, aclrtMemcpyKind)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtCreateStream), aclError (*)(aclrtStream*)>::value, "");
static_assert(std::is_same<decltype(&aclrtSetDevice), aclError (*)(int32_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtFree), aclError (*)(void*)>::value, "");
static_assert(std::is_same<decltype(&aclrtDestroyStream), aclError (*)(aclrtStream)>::value, "");
static_assert(std::is_same<decltype(&aclCreateTensor),
                           aclTensor* (*)(const int64_t*, uint64_t, aclDataType, const int64_t*, int64_t,
                                          aclFormat, const int64_t*, uint64_t, void*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtResetDevice), aclError (*)(int32_t)>::value, "");
static_assert(std::is_same<decltype(&aclInit), aclError (*)(const char*)>::value, "");
static_assert(std::is_same<decltype(&aclFinalize), aclError (*)()>::value, "");
static_assert(std::is_same<decltype(&aclDestroyTensor), aclnnStatus (*)(const aclTensor*)>::value, "");
static_assert(std::is_same<decltype(&aclCreateScalar), aclScalar* (*)(void*, aclDataType)>::value, "");
static_assert(std::is_same<decltype(&aclDestroyScalar), aclnnStatus (*)(const aclScalar*)>::value, "");
static_assert(std::is_same<decltype(&aclCreateIntArray), aclIntArray* (*)(const int64_t*, uint64_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclDestroyIntArray), aclnnStatus (*)(const aclIntArray*)>::value, "");
static_assert(std::is_same<decltype(&aclCreateTensorList),
                           aclTensorList* (*)(const aclTensor* const*, uint64_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclDestroyTensorList), aclnnStatus (*)(const aclTensorList*)>::value,
              "");
static_assert(std::is_same<decltype(&aclGetRecentErrMsg), const char* (*)()>::value, "");
static_assert(std::is_same<decltype(&aclFloatToFloat16), aclFloat16 (*)(float)>::value, "");
static_assert(std::is_same<decltype(&aclCreateBoolArray), aclBoolArray* (*)(const bool*, uint64_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtMemset), aclError (*)(void*, size_t, int32_t, size_t)>::value, "");
static_assert(std::is_same<decltype(&aclFloat16ToFloat), float (*)(aclFloat16)>::value, "");
static_assert(std::is_same<decltype(&aclDestroyBoolArray), aclnnStatus (*)(const aclBoolArray*)>::value, "");
static_assert(std::is_same<decltype(&aclrtGetSocName), const char* (*)()>::value, "");
static_assert(std::is_same<decltype(&aclCreateScalarList),
                           aclScalarList* (*)(const aclScalar* const*, uint64_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclDestroyScalarList), aclnnStatus (*)(const aclScalarList*)>::value,
              "");
static_assert(std::is_same<decltype(&aclnnInit), aclnnStatus (*)(const char*)>::value, "");
static_assert(std::is_same<decltype(&aclnnFinalize), aclnnStatus (*)()>::value, "");
static_assert(std::is_same<decltype(&aclrtCreateContext), aclError (*)(aclrtContext*, int32_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtDestroyContext), aclError (*)(aclrtContext)>::value, "");
static_assert(std::is_same<decltype(&aclCreateFloatArray), aclFloatArray* (*)(const float*, uint64_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclDestroyFloatArray), aclnnStatus (*)(const aclFloatArray*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtFreeHost), aclError (*)(void*)>::value, "");
static_assert(std::is_same<decltype(&aclrtMallocHost), aclError (*)(void**, size_t)>::value, "");
static_assert(std::is_same<decltype(&aclInitTensor),
                           aclnnStatus (*)(aclTensor*, const int64_t*, uint64_t, aclDataType, const int64_t*,
                                           int64_t, aclFormat, const int64_t*, uint64_t, void*)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclGetViewShape), aclnnStatus (*)(const aclTensor*, int64_t**, uint64_t*)>::value,
    "");
static_assert(std::is_same<decltype(&aclDataTypeSize), size_t (*)(aclDataType)>::value, "");
static_assert(std::is_same<decltype(&aclDestroyAclOpExecutor), aclnnStatus (*)(aclOpExecutor*)>::value, "");
static_assert(std::is_same<decltype(&aclFinalizeReference), aclError (*)(uint64_t*)>::value, "");
static_assert(std::is_same<decltype(&aclrtGetRunMode), aclError (*)(aclrtRunMode*)>::value, "");
static_assert(std::is_same<decltype(&aclrtGetDevice), aclError (*)(int32_t*)>::value, "");
static_assert(std::is_same<decltype(&aclrtGetDeviceCount), aclError (*)(uint32_t*)>::value, "");
static_assert(std::is_same<decltype(&aclrtSetCurrentContext), aclError (*)(aclrtContext)>::value, "");
static_assert(std::is_same<decltype(&aclrtGetCurrentContext), aclError (*)(aclrtContext*)>::value, "");
static_assert(std::is_same<decltype(&aclrtGetMemInfo), aclError (*)(aclrtMemAttr, size_t*, size_t*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtResetDeviceForce), aclError (*)(int32_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtSynchronizeDevice), aclError (*)()>::value, "");
static_assert(std::is_same<decltype(&aclrtSynchronizeDeviceWithTimeout), aclError (*)(int32_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtCtxGetCurrentDefaultStream), aclError (*)(aclrtStream*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtCreateStreamWithConfig),
                           aclError (*)(aclrtStream*, uint32_t, uint32_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtDestroyStreamForce), aclError (*)(aclrtStream)>::value, "");
static_assert(
    std::is_same<decltype(&aclrtSynchronizeStreamWithTimeout), aclError (*)(aclrtStream, int32_t)>::value,
    "");
static_assert(std::is_same<decltype(&aclrtStreamQuery), aclError (*)(aclrtStream, aclrtStreamStatus*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtStreamGetPriority), aclError (*)(aclrtStream, uint32_t*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtStreamGetFlags), aclError (*)(aclrtStream, uint32_t*)>::value, "");
static_assert(std::is_same<decltype(&aclrtStreamGetId), aclError (*)(aclrtStream, int32_t*)>::value, "");
static_assert(std::is_same<decltype(&aclrtStreamWaitEvent), aclError (*)(aclrtStream, aclrtEvent)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtStreamWaitEventWithTimeout),
                           aclError (*)(aclrtStream, aclrtEvent, int32_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtCreateEvent), aclError (*)(aclrtEvent*)>::value, "");
static_assert(std::is_same<decltype(&aclrtCreateEventWithFlag), aclError (*)(aclrtEvent*, uint32_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtCreateEventExWithFlag), aclError (*)(aclrtEvent*, uint32_t)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtDestroyEvent), aclError (*)(aclrtEvent)>::value, "");
static_assert(std::is_same<decltype(&aclrtRecordEvent), aclError (*)(aclrtEvent, aclrtStream)>::value, "");
static_assert(std::is_same<decltype(&aclrtResetEvent), aclError (*)(aclrtEvent, aclrtStream)>::value, "");
static_assert(std::is_same<decltype(&aclrtQueryEvent), aclError (*)(aclrtEvent, aclrtEventStatus*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtQueryEventStatus),
                           aclError (*)(aclrtEvent, aclrtEventRecordedStatus*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtQueryEventWaitStatus),
                           aclError (*)(aclrtEvent, aclrtEventWaitStatus*)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtSynchronizeEvent), aclError (*)(aclrtEvent)>::value, "");
static_assert(
    std::is_same<decltype(&aclrtSynchronizeEventWithTimeout), aclError (*)(aclrtEvent, int32_t)>::value, "");
static_assert(
    std::is_same<decltype(&aclrtEventElapsedTime), aclError (*)(float*, aclrtEvent, aclrtEvent)>::value, "");
static_assert(std::is_same<decltype(&aclrtSubscribeReport), aclError (*)(uint64_t, aclrtStream)>::value, "");
static_assert(std::is_same<decltype(&aclrtLaunchCallback),
                           aclError (*)(aclrtCallback, void*, aclrtCallbackBlockType, aclrtStream)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtProcessReport), aclError (*)(int32_t)>::value, "");
static_assert(std::is_same<decltype(&aclrtUnSubscribeReport), aclError (*)(uint64_t, aclrtStream)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclrtLaunchHostFunc), aclError (*)(aclrtStream, aclrtHostFunc, void*)>::value, "");
static_assert(std::is_same<decltype(&aclrtMemcpyAsync), aclError (*)(void*, size_t, const void*, size_t,
                                                                     aclrtMemcpyKind, aclrtStream)>::value,
              "");
static_assert(std::is_same<decltype(&aclrtMemsetAsync),
                           aclError (*)(void*, size_t, int32_t, size_t, aclrtStream)>::value,
              "");
static_assert(std::is_same<decltype(&aclGetStorageShape),
                           aclnnStatus (*)(const aclTensor*, int64_t**, uint64_t*)>::value,
              "");
static_assert(std::is_same<decltype(&aclGetViewStrides),
                           aclnnStatus (*)(const aclTensor*, int64_t**, uint64_t*)>::value,
              "");
static_assert(std::is_same<decltype(&aclGetViewOffset), aclnnStatus (*)(const aclTensor*, int64_t*)>::value,
              "");
static_assert(std::is_same<decltype(&aclGetFormat), aclnnStatus (*)(const aclTensor*, aclFormat*)>::value,
              "");
static_assert(std::is_same<decltype(&aclGetDataType), aclnnStatus (*)(const aclTensor*, aclDataType*)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclGetIntArraySize), aclnnStatus (*)(const aclIntArray*, uint64_t*)>::value, "");
static_assert(
    std::is_same<decltype(&aclGetFloatArraySize), aclnnStatus (*)(const aclFloatArray*, uint64_t*)>::value,
    "");
static_assert(
    std::is_same<decltype(&aclGetBoolArraySize), aclnnStatus (*)(const aclBoolArray*, uint64_t*)>::value, "");
static_assert(
    std::is_same<decltype(&aclGetTensorListSize), aclnnStatus (*)(const aclTensorList*, uint64_t*)>::value,
    "");
static_assert(
    std::is_same<decltype(&aclGetScalarListSize), aclnnStatus (*)(const aclScalarList*, uint64_t*)>::value,
    "");
static_assert(std::is_same<decltype(&aclSetRawTensorAddr), aclnnStatus (*)(aclTensor*, void*)>::value, "");
static_assert(std::is_same<decltype(&aclGetRawTensorAddr), aclnnStatus (*)(const aclTensor*, void**)>::value,
              "");
static_assert(std::is_same<decltype(&aclSetAclOpExecutorRepeatable), aclnnStatus (*)(aclOpExecutor*)>::value,
              "");
static_assert(std::is_same<decltype(&aclSetInputTensorAddr),
                           aclnnStatus (*)(aclOpExecutor*, const size_t, aclTensor*, void*)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclSetDynamicInputTensorAddr),
                 aclnnStatus (*)(aclOpExecutor*, size_t, const size_t, aclTensorList*, void*)>::value,
    "");
static_assert(std::is_same<decltype(&aclSetOutputTensorAddr),
                           aclnnStatus (*)(aclOpExecutor*, const size_t, aclTensor*, void*)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclSetDynamicOutputTensorAddr),
                 aclnnStatus (*)(aclOpExecutor*, size_t, const size_t, aclTensorList*, void*)>::value,
    "");
static_assert(std::is_same<decltype(&aclSetTensorAddr),
                           aclnnStatus (*)(aclOpExecutor*, const size_t, aclTensor*, void*)>::value,
              "");
static_assert(
    std::is_same<decltype(&aclSetDynamicTensorAddr),
                 aclnnStatus (*)(aclOpExecutor*, size_t, const size_t, aclTensorList*, void*)>::value,
    "");
static_assert(std::is_same<decltype(&AclSetInputTensorAddr),
                           aclnnStatus (*)(aclOpExecutor*, const size_t, aclTensor*, void*)>::value,
              "");
static_assert(
    std::is_same<decltype(&AclSetDynamicInputTensorAddr),
                 aclnnStatus (*)(aclOpExecutor*, size_t, const size_t, aclTensorList*, void*)>::value,
    "");
static_assert(std::is_same<decltype(&AclSetOutputTensorAddr),
                           aclnnStatus (*)(aclOpExecutor*, const size_t, aclTensor*, void*)>::value,
              "");
static_assert(
    std::is_same<decltype(&AclSetDynamicOutputTensorAddr),
                 aclnnStatus (*)(aclOpExecutor*, size_t, const size_t, aclTensorList*, void*)>::value,
    "");
static_assert(std::is_same<decltype(&AclSetTensorAddr),
                           aclnnStatus (*)(aclOpExecutor*, const size_t, aclTensor*, void*)>::value,
              "");
static_assert(
    std::is_same<decltype(&AclSetDynamicTensorAddr),
                 aclnnStatus (*)(aclOpExecutor*, size_t, const size_t, aclTensorList*, void*)>::value,
    "");
static_assert(std::is_same<aclrtCallback, void (*)(void*)>::value, "");
static_assert(std::is_same<aclrtHostFunc, void (*)(void*)>::value, "");
static_assert(std::is_same<decltype(&aclnnL1LossBackwardGetWorkspaceSize),
                           aclnnStatus (*)(const aclTensor*, const aclTensor*, const aclTensor*, int64_t,
                                           aclTensor*, uint64_t*, aclOpExecutor**)>::value,
              "");
static_assert(std::is_same<decltype(&aclnnL1LossBackward),
                           aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream)>::value,
              "");
