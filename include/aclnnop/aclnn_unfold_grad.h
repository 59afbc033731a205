// aclnnop/aclnn_unfold_grad.h: aclnnUnfoldGrad, the gradient of windows along a dim.
// SPDX-License-Identifier: Apache-2.0
//
// gradOut[.., w, .., k] is the gradient of the element w * step + k of dim `dim`, of windows w = 0, 1, ..; k is its last dim. gradIn's
// elements are the sums of their gradients, in the order of windows, from +0 on. Float32, rounded once.
//
// Types: float32, float16, BF16 (CANN's page: on newer products alone).
#ifndef PORTACL_ACLNNOP_ACLNN_UNFOLD_GRAD_H_
#define PORTACL_ACLNNOP_ACLNN_UNFOLD_GRAD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOut     gradient of the windows
//   inputSizes  gradIn's shape
//   dim         which one was cut into windows: 0 to gradIn's last, not from the end
//   size, step  length of a window, and from one to the next
//   gradIn      result, of gradOut's type
// Codes, after those that all operators share, in this order:
//   561103  gradOut, inputSizes or gradIn is null
//   161002  a type is not in the list; gradOut or gradIn does not have 1 to 8 dims
//   161002  inputSizes does not have one value less than gradOut has dims, or is not gradIn's shape
//   161002  dim is out of range; size or step is less than 1; a format is a private one
//           (here success is returned when gradOut or gradIn is empty)
//   561103  gradIn's type is not gradOut's
//   161002  size is greater than the dim, or gradOut's shape is not that of its windows
// clang-format off
ACLNN_API aclnnStatus aclnnUnfoldGradGetWorkspaceSize(const aclTensor* gradOut, const aclIntArray* inputSizes, int64_t
    dim, int64_t size, int64_t step, const aclTensor* gradIn, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnUnfoldGrad(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_UNFOLD_GRAD_H_
