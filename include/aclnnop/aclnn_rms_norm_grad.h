// aclnnop/aclnn_rms_norm_grad.h: aclnnRmsNormGrad, the gradients of aclnnRmsNorm.
// SPDX-License-Identifier: Apache-2.0
//
// h = x * rstd, g = dy * gamma: dxOut = rstd * (g - h * mean(g * h)), the mean that of each row; dgammaOut = the sum of dy * h over rows.
//
// Types: those of aclnnRmsNorm; dy, x and dxOut have one. rstd, dgammaOut: FLOAT.
#ifndef PORTACL_ACLNNOP_ACLNN_RMS_NORM_GRAD_H_
#define PORTACL_ACLNNOP_ACLNN_RMS_NORM_GRAD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT. Sums over rows ask for workspace.
//   dy, x      tensors of one shape, of 2 to 8 dims
//   rstd       as aclnnRmsNorm gives it: x's leading dims, then dims of 1; dims of 1 at its end may be missing
//   gamma      of the shape of x's last dims
//   dxOut      gradient of x;  dgammaOut  gradient of gamma
// Codes, after those that all operators share, in this order:
//   161001  an argument is null
//   161002  a type is not in the list or does not go with dy's
//   561002  a rank or shape is another; gamma is empty
// clang-format off
ACLNN_API aclnnStatus aclnnRmsNormGradGetWorkspaceSize(const aclTensor* dy, const aclTensor* x, const aclTensor* rstd,
    const aclTensor* gamma, const aclTensor* dxOut, const aclTensor* dgammaOut, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRmsNormGrad(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_RMS_NORM_GRAD_H_
