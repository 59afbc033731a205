// aclnnop/aclnn_slice.h: aclnnSlice, every step-th element of a dim between two places.
// SPDX-License-Identifier: Apache-2.0
//
// The elements start, start + step, ... before end along dim. start and end may count from the end; what is outside self is cut
// off.
//
// Types: FLOAT, FLOAT16, INT64, INT8, INT32, UINT8, BOOL; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_SLICE_H_
#define PORTACL_ACLNNOP_ACLNN_SLICE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self        tensor
//   dim         counted from the start or, negative, from the end
//   start, end  first element, and the one behind the last
//   step        at least 1
//   out         result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  out's type is not self's, or is not in the list
//   161002  self has no dims or more than 8; dim is none of them; step is not positive
//   161002  out's shape is not the result's
//           (here success is returned when self or out is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnSliceGetWorkspaceSize(const aclTensor* self, int64_t dim, int64_t start, int64_t end, int64_t
    step, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSlice(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SLICE_H_
