// aclnnop/aclnn_isposinf.h: aclnnIsPosInf, whether each element is +infinity.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self is +infinity
//
// Values: integers and BOOL give false.
// Types
//   self  floats, integers, BOOL, on newer products and Atlas 310P (without BF16); none on Atlas 910 and 310B.
//   out   BOOL.
#ifndef PORTACL_ACLNNOP_ACLNN_ISPOSINF_H_
#define PORTACL_ACLNNOP_ACLNN_ISPOSINF_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self  operand
//   out   result
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  out's shape is not self's, or self has more than 8 dimensions
//   161002  self's type is not in its list, or out is not BOOL
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnIsPosInfGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnIsPosInf(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                    aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ISPOSINF_H_
