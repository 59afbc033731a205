// runtime/rt.h: the older interface to a device, as far as clients link to it.
// SPDX-License-Identifier: Apache-2.0
//
// Devices, streams and memory are those of acl/acl_rt.h: each function does what the aclrt function of its kind does, and returns its
// codes. A kernel is machine code of a device that is not there: functions of kernels do nothing, return 207000
// (ACL_ERROR_RT_FEATURE_NOT_SUPPORT) and leave a message that names them. Installed as experiment/runtime/runtime/rt.h, too.
#ifndef PORTACL_RUNTIME_RT_H_
#define PORTACL_RUNTIME_RT_H_

#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t rtError_t;
typedef void* rtStream_t;

#define RT_ERROR_NONE 0

// Kinds of memory of a device: there is one memory.
typedef uint32_t rtMemType_t;
#define RT_MEMORY_DEFAULT 0x0U
#define RT_MEMORY_HBM 0x2U
#define RT_MEMORY_HOST 0x81U

// Directions, as aclrtMemcpyKind numbers them.
typedef enum tagRtMemcpyKind {
  RT_MEMCPY_HOST_TO_HOST = 0,
  RT_MEMCPY_HOST_TO_DEVICE = 1,
  RT_MEMCPY_DEVICE_TO_HOST = 2,
  RT_MEMCPY_DEVICE_TO_DEVICE = 3
} rtMemcpyKind_t;

// Limits on kernels.
typedef enum tagRtLimitType {
  RT_LIMIT_TYPE_LOW_POWER_TIMEOUT = 0,
  RT_LIMIT_TYPE_SIMT_WARP_STACK_SIZE = 1,
  RT_LIMIT_TYPE_SIMT_DVG_WARP_STACK_SIZE = 2,
  RT_LIMIT_TYPE_STACK_SIZE = 3
} rtLimitType_t;

// The kinds of a kernel binary.
#define RT_DEV_BINARY_MAGIC_ELF 0x43554245U
#define RT_DEV_BINARY_MAGIC_ELF_AIVEC 0x41415246U

// Copies the product's name, as aclrtGetSocName returns it, with a terminating 0. Returns 107000 if it does not fit maxLen bytes.
ACL_FUNC_VISIBILITY rtError_t rtGetSocVersion(char* version, uint32_t maxLen);
// The number of cores of the thread's device, or of device 0.
ACL_FUNC_VISIBILITY rtError_t rtGetAiCoreCount(uint32_t* aiCoreCnt);
ACL_FUNC_VISIBILITY rtError_t rtSetDevice(int32_t devId);
// Accepts any limit of a device that exists, and does nothing.
ACL_FUNC_VISIBILITY rtError_t rtDeviceSetLimit(int32_t devId, rtLimitType_t type, uint32_t val);
// The priority is not used.
ACL_FUNC_VISIBILITY rtError_t rtStreamCreate(rtStream_t* stream, int32_t priority);
ACL_FUNC_VISIBILITY rtError_t rtStreamDestroy(rtStream_t stream);
// The kind of memory and the module are not used.
ACL_FUNC_VISIBILITY rtError_t rtMalloc(void** devPtr, uint64_t size, rtMemType_t type, uint16_t moduleId);
ACL_FUNC_VISIBILITY rtError_t rtFree(void* devPtr);
ACL_FUNC_VISIBILITY rtError_t rtMallocHost(void** hostPtr, uint64_t size, uint16_t moduleId);
ACL_FUNC_VISIBILITY rtError_t rtFreeHost(void* hostPtr);
ACL_FUNC_VISIBILITY rtError_t rtMemcpy(void* dst, uint64_t destMax, const void* src, uint64_t cnt,
                                       rtMemcpyKind_t kind);

// A file of kernels in memory, for rtDevBinaryRegister.
typedef struct tagRtDevBinary {
  uint32_t magic;
  uint32_t version;
  const void* data;
  uint64_t length;
} rtDevBinary_t;

// How a kernel shares a cache.
typedef struct tagRtSmCtrl rtSmDesc_t;

// Register a file of kernels, and a function in it; launch that.
ACL_FUNC_VISIBILITY rtError_t rtDevBinaryRegister(const rtDevBinary_t* bin, void** handle);
ACL_FUNC_VISIBILITY rtError_t rtFunctionRegister(void* binHandle, const void* stubFunc, const char* stubName,
                                                 const void* devFunc, uint32_t funcMode);
ACL_FUNC_VISIBILITY rtError_t rtKernelLaunch(const void* stubFunc, uint32_t blockDim, void* args,
                                             uint32_t argsSize, rtSmDesc_t* smDesc, rtStream_t stream);

// Ask for the memory by which the cores of a device synchronise.
ACL_FUNC_VISIBILITY rtError_t rtGetC2cCtrlAddr(uint64_t* addr, uint32_t* len);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_RUNTIME_RT_H_
