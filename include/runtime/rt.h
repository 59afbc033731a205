// runtime/rt.h: the older interface to kernels of a device, as far as clients link to it. Not supported.
// SPDX-License-Identifier: Apache-2.0
//
// A kernel is machine code of a device that is not there. The functions do nothing, return 207000
// (ACL_ERROR_RT_FEATURE_NOT_SUPPORT) and leave a message that names them.
#ifndef PORTACL_RUNTIME_RT_H_
#define PORTACL_RUNTIME_RT_H_

#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t rtError_t;
typedef void* rtStream_t;

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
