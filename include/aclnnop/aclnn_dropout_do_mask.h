// aclnnop/aclnn_dropout_do_mask.h: aclnnDropoutDoMask, a dropout mask applied.
// SPDX-License-Identifier: Apache-2.0
//
//   out[i] = self[i] * c where the mask's bit is 1, else 0
//
// Values: self[i] * c in float32, rounded once, c = fl(1 / k), k = 1 - prob rounded to self's type. Elements that are not kept give
//   0, whatever they are. With prob within 2^-52 of 0 out is self, with prob within 2^-52 of 1 it is 0, whatever the mask.
// Types
//   self        floats.
//   mask        UINT8; bit i % 8 of byte i / 8, the least significant first, is that of element i: 1 keeps it.
//   out         any floating type.
#ifndef PORTACL_ACLNNOP_ACLNN_DROPOUT_DO_MASK_H_
#define PORTACL_ACLNNOP_ACLNN_DROPOUT_DO_MASK_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self        tensor of n elements
//   mask        at least (n + 127) / 128 * 16 bytes; what pads it does not count
//   prob        the probability of zeroing with which the mask was drawn; NaN passes
//   out         result
// Codes, after those that all operators share, in this order:
//   161001  self, mask or out is null
//           (here success is returned when self or mask is empty)
//   161002  self's type does not cast to out's; self's type is not in the list; mask is not UINT8
//   161002  prob is below 0 or above 1
//   161002  self has more than 8 dimensions
//   161002  out's shape is not self's
//   161002  mask has fewer elements
//           (here success is returned when self is empty)
//   561103  self or mask reaches outside its storage; mask has more than 8 dimensions; out's type is none that is
//           computed
ACLNN_API aclnnStatus aclnnDropoutDoMaskGetWorkspaceSize(const aclTensor* self, const aclTensor* mask,
                                                         double prob, aclTensor* out, uint64_t* workspaceSize,
                                                         aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnDropoutDoMask(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                         aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_DROPOUT_DO_MASK_H_
