// aclnnop/aclnn_nan_to_num.h: aclnnNanToNum and aclnnInplaceNanToNum, which replace NaN and infinities by numbers.
// SPDX-License-Identifier: Apache-2.0
//
//   out = nan where self is NaN, posinf where it is +infinity, neginf where it is -infinity, else self
//
// Values: each element is looked at once, so a replacement is not replaced again. The numbers are rounded to self's type: a
//   posinf of 1e38 is infinite in FLOAT16. Integers and BOOL are copied.
// Types
//   self     FLOAT, FLOAT16, BF16, integers, BOOL on newer products; nothing on older ones.
//   out      self's type.
//   selfRef  the same list; integers and BOOL stay as they are.
#ifndef PORTACL_ACLNNOP_ACLNN_NAN_TO_NUM_H_
#define PORTACL_ACLNNOP_ACLNN_NAN_TO_NUM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self                 operand
//   nan, posinf, neginf  what takes the place of NaN and infinities
//   out                  result
//   selfRef              operand and result
ACLNN_API aclnnStatus aclnnNanToNumGetWorkspaceSize(const aclTensor* self, float nan, float posinf,
                                                    float neginf, aclTensor* out, uint64_t* workspaceSize,
                                                    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnNanToNum(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                    aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceNanToNumGetWorkspaceSize(aclTensor* selfRef, float nan, float posinf,
                                                           float neginf, uint64_t* workspaceSize,
                                                           aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceNanToNum(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_NAN_TO_NUM_H_
