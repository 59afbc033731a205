// aclnnop/aclnn_apply_adam_w_v2.h: aclnnApplyAdamWV2, a step of AdamW.
// SPDX-License-Identifier: Apache-2.0
//
// In float32, each tensor rounded to its type at the end, with t = step + 1 and g = grad, or -grad to maximize:
//   var = var * (1 - lr * weightDecay)
//   m = m + (1 - beta1) * (g - m), v = beta2 * v + (1 - beta2) * g * g
//   amsgrad: maximum = the greater of maximum and v, which takes the place of v in
//   var = var - lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
//
// Types: FLOAT, FLOAT16, BF16 (on older products without BF16), each tensor's own; step FLOAT or INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_APPLY_ADAM_W_V2_H_
#define PORTACL_ACLNNOP_ACLNN_APPLY_ADAM_W_V2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   varRef                              parameters, rewritten; any strides
//   mRef, vRef                          moments, rewritten
//   maxGradNormOptionalRef              the maximum, rewritten with amsgrad; else left alone, and may be null
//   grad                                gradient
//   step                                one element, read when phase 2 runs: how many steps have been done
//   lr, beta1, beta2, weightDecay, eps  any numbers
//   amsgrad, maximize                   see above
// Codes, after those that all operators share, in this order:
//   161001  a tensor is null (maxGradNormOptionalRef with amsgrad alone)
//   161002  a type is not in the list
//   161002  the shape of mRef, vRef, maxGradNormOptionalRef or grad is not varRef's; step has not one element
//           (here success is returned for an empty varRef)
//   561103  grad or step reaches outside its storage; more than 8 dims that are not contiguous
// clang-format off
ACLNN_API aclnnStatus aclnnApplyAdamWV2GetWorkspaceSize(aclTensor* varRef, aclTensor* mRef, aclTensor* vRef,
    aclTensor* maxGradNormOptionalRef, const aclTensor* grad, const aclTensor* step, float lr, float beta1, float beta2,
    float weightDecay, float eps, bool amsgrad, bool maximize, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnApplyAdamWV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_APPLY_ADAM_W_V2_H_
