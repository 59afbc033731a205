// aclnnop/aclnn_cast.h: aclnnCast, which converts a tensor to another type.
// SPDX-License-Identifier: Apache-2.0
//
// out = self converted to `dtype`. Values: "Conversions" in aclnnop/aclnn_util.h.
//
// Data types of self and `dtype`
//     FLOAT, FLOAT16, DOUBLE, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, BOOL, COMPLEX64 and
//     COMPLEX128 on every product; BF16 on Atlas A2, A3 and Ascend 950. Any of them into any.
//     Ascend 950 lists COMPLEX32, HIFLOAT8, FLOAT8_E5M2, FLOAT8_E4M3FN, FLOAT4_E2M1 and FLOAT4_E1M2 too, and INT4
//     as `dtype`. Of these, those of whole bytes go into themselves; there is no other conversion (561103).
//
// Shapes, views, overlap: "Views" in aclnnop/aclnn_util.h.
//   out may be self itself where both types take as many bytes.
#ifndef PORTACL_ACLNNOP_ACLNN_CAST_H_
#define PORTACL_ACLNNOP_ACLNN_CAST_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase 1: checks the arguments and plans the work. Runs on the host and reads no tensor data.
//   self           source
//   dtype          the type to convert to
//   out            result, of self's shape and of type `dtype`
//   workspaceSize  receives 0
//   executor       receives the executor for phase 2, which releases it
// Returns 0, or the code of the first check that fails, in this order; then nothing is stored:
//   161001  workspaceSize or executor is null
//   561101  no memory for an executor
//   161001  self or out is null
//   161002  the type of self, then dtype, is not in the product's list
//   161002  self has more than 8 dimensions
//   161002  out's shape is not self's
//   161002  out is INT4 and self is not dense
//           (here success is returned when self is empty)
//   561103  self is not dense and reaches outside its storage
//   561103  the type of out is not dtype, or there is no conversion from self's
ACLNN_API aclnnStatus aclnnCastGetWorkspaceSize(const aclTensor* self, const aclDataType dtype,
                                                aclTensor* out, uint64_t* workspaceSize,
                                                aclOpExecutor** executor);

// Phase 2: submits the work to a stream; out is complete once the stream is synchronised. Workspace, executor, stream and
// codes: "The two phases" in aclnnop/aclnn_util.h.
ACLNN_API aclnnStatus aclnnCast(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_CAST_H_
