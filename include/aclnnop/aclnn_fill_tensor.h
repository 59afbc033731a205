// aclnnop/aclnn_fill_tensor.h: aclnnInplaceFillTensor, which fills a tensor with the value of another one.
// SPDX-License-Identifier: Apache-2.0
//
// Every element of selfRef becomes the one element of `value`, converted to selfRef's type ("Conversions" in
// aclnnop/aclnn_util.h). It is read when the work runs, in stream order.
//
// Data types of selfRef
//     FLOAT, FLOAT16, DOUBLE, INT8, UINT8, INT16, INT32, INT64, BOOL, COMPLEX64 and COMPLEX128 on every product;
//     BF16 on Atlas A2, A3 and Ascend 950.
//   `value` has any of these, or UINT16, UINT32 or UINT64.
//
// Shapes, views, overlap: "Views" in aclnnop/aclnn_util.h.
//   `value` may be an element of selfRef.
#ifndef PORTACL_ACLNNOP_ACLNN_FILL_TENSOR_H_
#define PORTACL_ACLNNOP_ACLNN_FILL_TENSOR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase 1: checks the arguments and plans the work. Runs on the host and reads no tensor data.
//   selfRef        tensor to fill
//   value          tensor of shape [] or [1]
//   workspaceSize  receives 0
//   executor       receives the executor for phase 2, which releases it
// Returns 0, or the code of the first check that fails, in this order; then nothing is stored:
//   161001  workspaceSize or executor is null
//   561101  no memory for an executor
//   161001  selfRef or value is null
//   161002  the type of selfRef is not in the product's list
//   161002  selfRef has more than 8 dimensions
//   161002  value's shape is neither [] nor [1]
//           (here success is returned when selfRef is empty)
//   561103  no conversion from value's type
ACLNN_API aclnnStatus aclnnInplaceFillTensorGetWorkspaceSize(aclTensor* selfRef, const aclTensor* value,
                                                             uint64_t* workspaceSize,
                                                             aclOpExecutor** executor);

// Phase 2: submits the work to a stream; selfRef is complete once the stream is synchronised. Workspace, executor, stream and
// codes: "The two phases" in aclnnop/aclnn_util.h.
ACLNN_API aclnnStatus aclnnInplaceFillTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                             aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FILL_TENSOR_H_
