// aclnn/opdev/huge_mem.h: hooks that clients look up by name and call around every operator.
// SPDX-License-Identifier: Apache-2.0
//
// On an NPU they bracket a call whose small allocations come from memory of the calling thread. Here an operator
// allocates nothing in a steady state, so there is nothing to prepare and nothing to give back: they do nothing.
// They exist because a client that does not find them looks through every library for them at every call.
#ifndef PORTACL_ACLNN_OPDEV_HUGE_MEM_H_
#define PORTACL_ACLNN_OPDEV_HUGE_MEM_H_

#include <stdbool.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Before phase 1, after phase 2, and when the work of the call is done. Neither argument is looked at.
// InitHugeMemThreadLocal returns 0.
ACL_FUNC_VISIBILITY int InitHugeMemThreadLocal(void* arg, bool sync);
ACL_FUNC_VISIBILITY void UnInitHugeMemThreadLocal(void* arg, bool sync);
ACL_FUNC_VISIBILITY void ReleaseHugeMem(void* arg, bool sync);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNN_OPDEV_HUGE_MEM_H_
