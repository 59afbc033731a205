// aclnnop/aclnn_gelu_v2.h: aclnnGeluV2, the Gaussian error linear unit, in either form.
// SPDX-License-Identifier: Apache-2.0
//
//   y = 0.5 x (1 + erf(x / sqrt(2)))
//   y = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))   where approximate is 1
//
// Values: NaN for -infinity, as in IEEE 754 the formula is; infinity stays. Within 2 units in the last place.
// Types
//   x  floats.
//   y  x's.
#ifndef PORTACL_ACLNNOP_ACLNN_GELU_V2_H_
#define PORTACL_ACLNNOP_ACLNN_GELU_V2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   x            operand; of any number of dimensions where those that no stride keeps apart are at most 8
//   approximate  1: the form with tanh; any other number: that with erf
//   y            result
// Codes, after those that all operators share, in this order:
//   161001  x or y is null
//   161002  x's type is not in its list
//   161002  y's type is not x's
//   161002  y's shape is not x's
//           (here success is returned when x is empty)
ACLNN_API aclnnStatus aclnnGeluV2GetWorkspaceSize(const aclTensor* x, int64_t approximate, aclTensor* y,
                                                  uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGeluV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                  aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GELU_V2_H_
