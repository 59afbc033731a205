// aclnn/aclnn_base.h: start and stop of the operator library; the base of every operator header.
// SPDX-License-Identifier: Apache-2.0
//
// Every operator header includes this one. Every operator is called in two phases:
//
//   // phase 1
//   uint64_t workspaceSize = 0;
//   aclOpExecutor* executor = NULL;
//   aclnnStatus status = aclnnXxxGetWorkspaceSize(inputs..., outputs..., &workspaceSize, &executor);
//   if (status != 0) return status;
//   void* workspace = NULL;
//   if (workspaceSize > 0) aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST);
//   // phase 2
//   status = aclnnXxx(workspace, workspaceSize, executor, stream);
//   aclrtSynchronizeStream(stream);
//   // now the results can be read
//
// Phase 1 works on the host, at once: it checks every argument and plans. On failure *workspaceSize and
// *executor stay as they were. Phase 2 submits the work to the stream and may return before it is done. It
// uses up the executor, whatever it returns, so a second phase 2 needs a new phase 1. The phases may run on
// different threads. Tensors and other descriptions may be destroyed once phase 2 has returned; data and
// workspace must live until the work is done.
#ifndef PORTACL_ACLNN_ACLNN_BASE_H_
#define PORTACL_ACLNN_ACLNN_BASE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// Start and stop the operator library. Both are optional where aclInit and aclFinalize (acl/acl_rt.h) are
// called, and both pairs may be used together; calling one twice is no error either.
//   configPath  null, or the path of a JSON file. CANN looks there for debug kernels; this library has none,
//               so nothing in the file changes a result, and a file that cannot be read is no error
// Return 0. Any thread may call them.
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char* configPath);
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNN_ACLNN_BASE_H_
