// hccl/hcomm.h: what libhcomm.so has: groups of sends and receives, and memory for pools.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTACL_HCCL_HCOMM_H_
#define PORTACL_HCCL_HCOMM_H_

#include "acl/acl.h"
#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// HcclSend, HcclRecv and HcclBatchSendRecv that a thread calls between the two wait for the outermost HcclGroupEnd and then start together,
// those of one communicator and stream as one batch. Groups nest; everything else goes to its stream at once.
// Return HCCL_SUCCESS; HCCL_E_PARA for an end without a start; the first error of what started at the end.
ACL_FUNC_VISIBILITY HcclResult HcclGroupStart(void);
ACL_FUNC_VISIBILITY HcclResult HcclGroupEnd(void);

// Memory as that of aclrtMalloc. Return HCCL_SUCCESS; HCCL_E_PTR for null; HCCL_E_OOM; HCCL_E_PARA for what is no such memory, or size 0.
ACL_FUNC_VISIBILITY HcclResult HcommMemAlloc(void** ptr, uint64_t size);
ACL_FUNC_VISIBILITY HcclResult HcommMemFree(void* ptr);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_HCCL_HCOMM_H_
