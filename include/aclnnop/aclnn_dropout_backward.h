// aclnnop/aclnn_dropout_backward.h: aclnnDropoutBackward, a dropout mask applied.
// SPDX-License-Identifier: Apache-2.0
//
//   out[i] = gradOutput[i] * c where the mask's bit is 1, else 0
//
// Values: as aclnnDropoutDoMask with prob = 1 - 1 / scale, or 1 for a scale of 0: gradOutput[i] * c in float32, rounded once,
//   c = fl(1 / k), k = 1 - prob rounded to gradOutput's type. A scale of 1 copies, one of 0 gives 0, whatever the mask.
// Types
//   gradOutput  floats.
//   mask        UINT8; bit i % 8 of byte i / 8, the least significant first, is that of element i: 1 keeps it.
//   out         any floating type.
#ifndef PORTACL_ACLNNOP_ACLNN_DROPOUT_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_DROPOUT_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput  tensor of n elements
//   mask         (n + 127) / 128 * 16 bytes; what pads it does not count
//   scale       1 over the probability of keeping, or 0
//   out         result
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, mask or out is null
//   161002  gradOutput's type does not cast to out's; gradOutput's type is not in the list; mask is not UINT8
//   161002  scale is negative, or above 0 and below 1
//   161002  gradOutput has more than 8 dimensions
//   161002  out's shape is not gradOutput's
//   161002  mask has another number of elements
//           (here success is returned when gradOutput is empty)
//   561103  gradOutput or mask reaches outside its storage; mask has more than 8 dimensions; out's type is none that is
//           computed
ACLNN_API aclnnStatus aclnnDropoutBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* mask,
                                                           double scale, aclTensor* out,
                                                           uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnDropoutBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_DROPOUT_BACKWARD_H_
