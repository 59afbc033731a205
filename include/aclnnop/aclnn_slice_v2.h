// aclnnop/aclnn_slice_v2.h: aclnnSliceV2, every step-th element of several dims between two places each.
// SPDX-License-Identifier: Apache-2.0
//
// As aclnnSlice along each of axes. As in CANN, no more axes are cut than steps has values.
//
// Types: FLOAT, FLOAT16, INT64, INT8, INT32, UINT8, BOOL; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_SLICE_V2_H_
#define PORTACL_ACLNNOP_ACLNN_SLICE_V2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self          tensor
//   starts, ends  for each of axes, as aclnnSlice has them
//   axes          dims, counted from the start or, negative, from the end
//   steps         at least 1 each
//   out           result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, out, starts, ends, axes or steps is null
//   161002  out's type is not self's, or is not in the list
//   161002  self has more than 8 dims; a value of axes is no dim, or names one twice
//   161002  starts or ends has not as many values as axes; a step is not positive
//   161002  out's shape is not the result's
//           (here success is returned when self is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnSliceV2GetWorkspaceSize(const aclTensor* self, const aclIntArray* starts, const aclIntArray* ends,
    const aclIntArray* axes, const aclIntArray* steps, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSliceV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SLICE_V2_H_
