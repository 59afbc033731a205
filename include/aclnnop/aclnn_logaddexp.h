// aclnnop/aclnn_logaddexp.h: aclnnLogAddExp, the logarithm of the sum of two powers.
// SPDX-License-Identifier: Apache-2.0
//
//   out = log(e^self + e^other)
//
// Values: computed as m + log1p(e^-|self - other|), m the larger one, so that nothing overflows; equal infinities give
//   themselves.
// Types
//   self, other  floats, DOUBLE, integers, unsigned, BOOL; converted to out's type first.
//   out          floats, to which self's and other's types cast (not DOUBLE).
#ifndef PORTACL_ACLNNOP_ACLNN_LOGADDEXP_H_
#define PORTACL_ACLNNOP_ACLNN_LOGADDEXP_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self, other  operands
//   out          result
// Codes, after those that all operators share, in this order:
//   161001  self, other or out is null
//   161002  the type of self, other or out is not in its list
//   161002  self's or other's type does not cast to out's
//   161002  self or other has more than 8 dimensions
//   161002  self and other do not broadcast, or out's shape is not R
//   161002  Ascend 950: the storage formats of self, other and out differ, or are private
//           (here success is returned when self or other is empty)
ACLNN_API aclnnStatus aclnnLogAddExpGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                     aclTensor* out, uint64_t* workspaceSize,
                                                     aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLogAddExp(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                     aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LOGADDEXP_H_
