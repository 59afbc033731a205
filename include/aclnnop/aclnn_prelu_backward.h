// aclnnop/aclnn_prelu_backward.h: aclnnPreluBackward, the gradients of aclnnPrelu for its self and its weight.
// SPDX-License-Identifier: Apache-2.0
//
//   gradInput  = gradOutput where self is positive, else weight gradOutput
//   gradWeight = the sum, for each weight, of self gradOutput where self is not positive
//
// Values: products in float32, their sums in float64 in the order that docs/numerics.md fixes; each result rounded once.
// Types
//   all five  floats, one type.
#ifndef PORTACL_ACLNNOP_ACLNN_PRELU_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_PRELU_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h. gradInput may be gradOutput or self. Takes a workspace.
//   gradOutput  gradient of the result; it broadcasts to self's shape
//   self        operand of the function
//   weight      its weights: one, or one for each index of self's dim 1
//   gradInput   result, of self's shape
//   gradWeight  result: of weight's shape if that has one element, else of one dimension
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, weight, gradInput or gradWeight is null
//   161002  gradOutput's type is not in the list
//   161002  the five types are not one
//   161002  one of the five has more than 8 dimensions
//   161002  gradInput's shape is not self's
//   161002  weight has another number of elements
//   161002  gradWeight has another shape
//   161002  gradOutput does not broadcast to self's shape
//           (here success is returned, and nothing is written, when gradOutput, self or weight is empty)
//   561103  as aclnnPrelu
ACLNN_API aclnnStatus aclnnPreluBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                                         const aclTensor* weight, aclTensor* gradInput,
                                                         aclTensor* gradWeight, uint64_t* workspaceSize,
                                                         aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnPreluBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                         aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_PRELU_BACKWARD_H_
