// aclnnop/aclnn_fill_scalar.h: aclnnInplaceFillScalar, which fills a tensor with a host value.
// SPDX-License-Identifier: Apache-2.0
//
// Every element of selfRef becomes `value`, converted to selfRef's type as "Conversions" in aclnnop/aclnn_util.h says, but
// for two, which are CANN's: a complex value becomes 0 where selfRef is not complex; and a float fills BOOL with true only
// from the machine epsilon of its type on (2^-52 for DOUBLE, 2^-23 for FLOAT, FLOAT16 and BF16), so that 1e-17 is false.
//
// Data types of selfRef
//     FLOAT, FLOAT16, DOUBLE, INT8, UINT8, INT16, INT32, INT64, BOOL, COMPLEX64 and COMPLEX128 on every product;
//     BF16, UINT16, UINT32 and UINT64 on Atlas A2, A3 and Ascend 950.
//   The type of `value` must promote with selfRef's, as two tensors would: UINT16, UINT32 and UINT64 do with
//   themselves alone (and, as first of the two, with complex types).
//
// Shapes, views, overlap: "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_FILL_SCALAR_H_
#define PORTACL_ACLNNOP_ACLNN_FILL_SCALAR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase 1: checks the arguments, reads the value and plans the work. Runs on the host and reads no tensor data.
//   selfRef        tensor to fill
//   value          scalar; may be destroyed when this call has returned
//   workspaceSize  receives 0
//   executor       receives the executor for phase 2, which releases it
// Returns 0, or the code of the first check that fails, in this order; then nothing is stored:
//   161001  workspaceSize or executor is null
//   561101  no memory for an executor
//   161001  selfRef or value is null
//   161002  the type of selfRef is not in the product's list
//   161002  the types of selfRef and value do not promote
//   161002  selfRef has more than 8 dimensions
//           (here success is returned when selfRef is empty)
//   561103  value has a type without conversion: a float of 8 bits or fewer
ACLNN_API aclnnStatus aclnnInplaceFillScalarGetWorkspaceSize(aclTensor* selfRef, const aclScalar* value,
                                                             uint64_t* workspaceSize,
                                                             aclOpExecutor** executor);

// Phase 2: submits the work to a stream; selfRef is complete once the stream is synchronised. Workspace, executor, stream and
// codes: "The two phases" in aclnnop/aclnn_util.h.
ACLNN_API aclnnStatus aclnnInplaceFillScalar(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                             aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FILL_SCALAR_H_
