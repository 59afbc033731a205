// aclnnop/aclnn_eye.h: aclnnEye, a matrix with ones on its diagonal.
// SPDX-License-Identifier: Apache-2.0
//
//   out[i][j] = 1 where i = j, else 0
//
// Types
//   out  FLOAT, FLOAT16, INT8, UINT8, INT16, INT32, INT64, BOOL; BF16 on every product but Atlas 310B, 310P and 910.
#ifndef PORTACL_ACLNNOP_ACLNN_EYE_H_
#define PORTACL_ACLNNOP_ACLNN_EYE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   n, m  rows and columns
//   out   result, of shape (n, m)
// Codes, after those that all operators share, in this order:
//   161001  out is null
//   161002  out's type is not in its list
//   161002  out has not 2 dimensions, n or m is negative, or out's shape is not (n, m)
//           (here success is returned when n or m is 0)
ACLNN_API aclnnStatus aclnnEyeGetWorkspaceSize(int64_t n, int64_t m, aclTensor* out, uint64_t* workspaceSize,
                                               aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnEye(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                               aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_EYE_H_
