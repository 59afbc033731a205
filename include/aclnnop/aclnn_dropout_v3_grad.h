// aclnnop/aclnn_dropout_v3_grad.h: aclnnDropoutV3Grad, a dropout mask applied.
// SPDX-License-Identifier: Apache-2.0
//
//   gradX[i] = gradY[i] * c where the mask's bit is 1, else 0
//
// Values: gradY[i] * bit * c in float32, rounded once, c = fl(scale), any number: infinities and NaN that were not kept give
//   NaN. On Ascend 950 alone.
// Types
//   gradY       floats.
//   mask        UINT8; bit i % 8 of byte i / 8, the least significant first, is that of element i: 1 keeps it.
//   gradX       any floating type.
#ifndef PORTACL_ACLNNOP_ACLNN_DROPOUT_V3_GRAD_H_
#define PORTACL_ACLNNOP_ACLNN_DROPOUT_V3_GRAD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradY       tensor of n elements
//   mask         (n + 127) / 128 * 16 bytes; what pads it does not count
//   scale       what kept elements are multiplied by
//   gradX       result
// Codes, after those that all operators share, in this order:
//   161002  the product is not Ascend 950
//   161001  gradY, mask or gradX is null
//   161002  gradY's type does not cast to gradX's; gradY's type is not in the list; mask is not UINT8
//   161002  gradY has more than 8 dimensions
//   161002  gradX's shape is not gradY's
//   161002  mask has another number of elements
//           (here success is returned when gradY is empty)
//   561103  gradY or mask reaches outside its storage; mask has more than 8 dimensions; gradX's type is none that is
//           computed
ACLNN_API aclnnStatus aclnnDropoutV3GradGetWorkspaceSize(const aclTensor* gradY, const aclTensor* mask,
                                                         double scale, aclTensor* gradX,
                                                         uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnDropoutV3Grad(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                         aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_DROPOUT_V3_GRAD_H_
