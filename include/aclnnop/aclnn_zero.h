// aclnnop/aclnn_zero.h: aclnnInplaceZero, which fills a tensor with 0.
// SPDX-License-Identifier: Apache-2.0
//
// Every element of selfRef becomes 0: all its bits are 0.
//
// Data types
//     FLOAT, FLOAT16, BF16, DOUBLE, INT8, UINT8, INT16, UINT16, INT32, INT64, BOOL, COMPLEX64 and COMPLEX128 on every
//     product; HIFLOAT8, FLOAT8_E5M2 and FLOAT8_E4M3FN on Ascend 950, which lists FLOAT4_E2M1 and FLOAT4_E1M2 too,
//     but those are not implemented (561103).
//
// Shapes, views, overlap: "Views" in aclnnop/aclnn_util.h.
//   More than 8 dimensions are accepted where those that continue each other merge to 8, as all of a dense tensor do, but not of
//   DOUBLE, INT16, UINT16, COMPLEX64 and COMPLEX128.
#ifndef PORTACL_ACLNNOP_ACLNN_ZERO_H_
#define PORTACL_ACLNNOP_ACLNN_ZERO_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase 1: checks the argument and plans the work. Runs on the host and reads no tensor data.
//   selfRef        tensor to fill
//   workspaceSize  receives 0
//   executor       receives the executor for phase 2, which releases it
// Returns 0, or the code of the first check that fails, in this order; then nothing is stored:
//   161001  workspaceSize or executor is null
//   561101  no memory for an executor
//   161001  selfRef is null
//   161002  the type of selfRef is not in the product's list
//           (here success is returned when selfRef is empty)
//   561103  selfRef is not dense and reaches outside its storage
//   561103  selfRef has more than 8 dimensions and one of the types named above
//   561103  selfRef has more than 8 dimensions that do not merge, or elements of less than a byte
ACLNN_API aclnnStatus aclnnInplaceZeroGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);

// Phase 2: submits the work to a stream; selfRef is complete once the stream is synchronised. Workspace, executor, stream and
// codes: "The two phases" in aclnnop/aclnn_util.h.
ACLNN_API aclnnStatus aclnnInplaceZero(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ZERO_H_
