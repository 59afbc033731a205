// aclnnop/aclnn_one.h: aclnnInplaceOne, which fills a tensor with 1.
// SPDX-License-Identifier: Apache-2.0
//
// Every element of selfRef becomes 1 (true).
//
// Data types
//     FLOAT, FLOAT16, DOUBLE, INT8, UINT8, INT16, INT32, INT64 and BOOL on every product; BF16 on Atlas A2, A3 and
//     Ascend 950.
//
// Shapes, views, overlap: "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_ONE_H_
#define PORTACL_ACLNNOP_ACLNN_ONE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase 1: checks the argument and plans the work. Runs on the host and reads no tensor data.
//   selfRef        tensor to fill; written although CANN's signature has it const
//   workspaceSize  receives 0
//   executor       receives the executor for phase 2, which releases it
// Returns 0, or the code of the first check that fails, in this order; then nothing is stored:
//   161001  workspaceSize or executor is null
//   561101  no memory for an executor
//   161001  selfRef is null
//   161002  the type of selfRef is not in the product's list
//   161002  selfRef has more than 8 dimensions
//           (here success is returned when selfRef is empty)
ACLNN_API aclnnStatus aclnnInplaceOneGetWorkspaceSize(const aclTensor* selfRef, uint64_t* workspaceSize,
                                                      aclOpExecutor** executor);

// Phase 2: submits the work to a stream; selfRef is complete once the stream is synchronised. Workspace, executor, stream and
// codes: "The two phases" in aclnnop/aclnn_util.h.
ACLNN_API aclnnStatus aclnnInplaceOne(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ONE_H_
