// hccl/hccl.h: settings of the collective library. There are no communicators and no collectives.
// SPDX-License-Identifier: Apache-2.0
//
// The functions are here because clients set their determinism when they start, whether they communicate or not. They
// need neither aclInit nor a device, and may be called from any thread at any time.
#ifndef PORTACL_HCCL_HCCL_H_
#define PORTACL_HCCL_HCCL_H_

#include "acl/acl.h"
#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Set and get a setting of the process: a number, 0 at first. It is kept and given back; nothing depends on it.
//   config       HCCL_DETERMINISTIC or HCCL_ACCELERATOR
//   configValue  the number; any is accepted
// Return HCCL_SUCCESS; HCCL_E_PARA for another setting; HCCL_E_PTR for null. A refusal leaves an error text.
ACL_FUNC_VISIBILITY HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue);
ACL_FUNC_VISIBILITY HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_HCCL_HCCL_H_
