// aclnnop/aclnn_fused_sgd.h: aclnnFusedSgd, a step of SGD for lists of tensors.
// SPDX-License-Identifier: Apache-2.0
//
// In float32, each tensor rounded at the end: with gradScaleOptional grad = grad / scale, which is written to gradsRef; g = grad, or
// -grad to maximize; g = g + weightDecay * param; with momentum buffer = g in the first step, else
// momentum * buffer + (1 - dampening) * g, and g = g + momentum * buffer with nesterov, else buffer;
// param = param - lr * g.
//
// Types: FLOAT, FLOAT16, BF16, one for all lists; on Atlas A2, Atlas A3 and Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_FUSED_SGD_H_
#define PORTACL_ACLNNOP_ACLNN_FUSED_SGD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   paramsRef                      parameters, rewritten; at least one tensor
//   gradsRef                       gradients, scaled where there is a scale
//   momentumBufferListOptionalRef  buffers, rewritten; null or of no tensor: none
//   gradScaleOptional              its first element, read when phase 2 runs; null or empty: none
//   weightDecay, momentum, lr      at least 0
//   dampening, nesterov, maximize  see above
//   isFirstStep                    whether buffers hold nothing yet
// Codes, after those that all operators share, in this order:
//   161002  weightDecay, momentum or lr is negative; nesterov without momentum or with dampening (1e-6 and more)
//   161002  momentum (1e-6 and more) without buffers, or buffers without momentum
//   161001  paramsRef, gradsRef or an entry is null
//   161002  no tensor; no type on this product; lists of different lengths, an entry of another type or shape, of more than
//           8 dims, of a private format; gradScaleOptional's type is not cast to FLOAT
//   561103  an entry reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnFusedSgdGetWorkspaceSize(const aclTensorList* paramsRef, const aclTensorList* gradsRef,
    const aclTensorList* momentumBufferListOptionalRef, const aclTensor* gradScaleOptional, float weightDecay, float momentum,
    float lr, float dampening, bool nesterov, bool maximize, bool isFirstStep, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFusedSgd(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FUSED_SGD_H_
