// aclnnop/aclnn_sign.h: aclnnSign, the sign of each element.
// SPDX-License-Identifier: Apache-2.0
//
//   result = 1 where self > 0, -1 where self < 0, else 0; complex: self / |self|, 0 at 0
//
// Values: NaN gives 0, as Ascend 950 and PyTorch have it; zeros give +0.
// Types
//   self    FLOAT, FLOAT16, DOUBLE, complex, INT32, INT64, BOOL; BF16 on newer products.
//   result  self's type.
#ifndef PORTACL_ACLNNOP_ACLNN_SIGN_H_
#define PORTACL_ACLNNOP_ACLNN_SIGN_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self    operand
//   result  result
// Codes: those of "Unary functions", but without the limit of 8 dimensions. A BF16 self with a result of another type passes
//   the checks and gives 561103; so does, on Atlas 310P and 310B, any self whose type is not in the list, unless result has
//   the same type.
ACLNN_API aclnnStatus aclnnSignGetWorkspaceSize(const aclTensor* self, aclTensor* result,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSign(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SIGN_H_
