// aclnnop/aclnn_prelu.h: aclnnPrelu, out = self where self is positive, else weight self.
// SPDX-License-Identifier: Apache-2.0
//
// Values: exact, or one multiplication, rounded in float32 and to out's type; NaN stays.
// Types
//   self, weight  floats; computed in their promoted type.
//   out           a float.
#ifndef PORTACL_ACLNNOP_ACLNN_PRELU_H_
#define PORTACL_ACLNNOP_ACLNN_PRELU_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Promotion" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self    operand
//   weight  one number, or one for each index of self's dim 1, of any shape; self of fewer than 2 dimensions takes one
//   out     result
// Codes, after those that all operators share, in this order:
//   161001  self, weight or out is null
//   161002  self's, weight's or out's type is not in the list
//   161002  self, weight or out has more than 8 dimensions
//   161002  out's shape is not self's
//   161002  weight has another number of elements
//           (here success is returned when self or weight is empty)
//   561103  weight's elements do not lie in even distances, and self with the dims that this takes has more than 8 dimensions
ACLNN_API aclnnStatus aclnnPreluGetWorkspaceSize(const aclTensor* self, const aclTensor* weight,
                                                 aclTensor* out, uint64_t* workspaceSize,
                                                 aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnPrelu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_PRELU_H_
