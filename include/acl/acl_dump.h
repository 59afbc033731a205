// acl/acl_dump.h: writing operands to files while a program runs. Not supported.
// SPDX-License-Identifier: Apache-2.0
//
// Operands are host memory, which a program or a debugger can read itself. The functions are here because
// clients link to them.
#ifndef PORTACL_ACL_ACL_DUMP_H_
#define PORTACL_ACL_ACL_DUMP_H_

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Prepare dumping, start it with a configuration file, end it. They return 207000 and do nothing.
ACL_FUNC_VISIBILITY aclError aclmdlInitDump(void);
ACL_FUNC_VISIBILITY aclError aclmdlSetDump(const char* dumpCfgPath);
ACL_FUNC_VISIBILITY aclError aclmdlFinalizeDump(void);

// Begin and end writing the arguments of operators of a kind (ACL_OP_DUMP_OP_AICORE_ARGS) to a folder. They return 207000.
#define ACL_OP_DUMP_OP_AICORE_ARGS 0x00000001U
ACL_FUNC_VISIBILITY aclError aclopStartDumpArgs(uint32_t dumpType, const char* path);
ACL_FUNC_VISIBILITY aclError aclopStopDumpArgs(uint32_t dumpType);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACL_ACL_DUMP_H_
