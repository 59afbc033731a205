// aclnnop/aclnn_smooth_l1_loss.h: aclnnSmoothL1Loss, the smooth L1 loss.
// SPDX-License-Identifier: Apache-2.0
//
// With R the common shape to which self and target broadcast, and d = self - target:
//
//   l      = (d / 2) * (d / beta)     where |d| < beta
//            |d| - beta / 2           elsewhere
//   result = l                          reduction "none"
//            the sum of all of l        "sum"
//            the sum of all of l * c    "mean"
//   c      = 1 / (number of elements of R)
//
// as CANN's aclnnSmoothL1Loss and PyTorch's smooth_l1_loss define it. CANN multiplies by 1 / beta, which it takes for 0 below
// 1e-6; the formula above holds for every beta. Its gradient is aclnnSmoothL1LossBackward.
//
// Numbers: "Losses" in aclnnop/aclnn_util.h. A DOUBLE, COMPLEX64 or COMPLEX128 result holds what a FLOAT result would. beta = 0
//   gives the L1 loss; beta = infinity gives 0 for finite d and NaN for infinite d. NaN in self or target gives NaN.
// Types: each of the product's list ("Losses"). result may have any floating or complex type that this library writes: FLOAT,
//   FLOAT16, BF16, DOUBLE, COMPLEX64, COMPLEX128.
// Shapes: result has exactly the shape R for reduction none, and one element in any shape for mean and sum. When self or target
//   is empty, nothing is written for none, NaN for mean and 0 for sum. A 0-dim result must not have the format NCHW. Views and
//   overlap: "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_H_
#define PORTACL_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self, target   prediction and truth, inputs
//   reduction      0 none, 1 mean, 2 sum
//   beta           where the quadratic part meets the linear one: 0 (also -0) or more, infinity included
//   result         loss, output
// Codes, after those that all operators share, in this order:
//   161001  self, target or result is null
//   161002  the type of self or target is not in the product's list
//   161002  the type to which they promote cannot be cast to result's
//   161002  reduction is not 0, 1 or 2
//   161002  self or target has more than 8 dimensions
//   161002  self and target do not broadcast, or, for none, result has not the shape R
//   161002  beta is negative or NaN
//           (here success is returned when self or target is empty)
//   561103  an input that is not dense and reaches outside its storage
//   561103  result is 0-dim and in format NCHW; or has not one element (mean, sum), also when self or target is empty
//   561103  a type of result that the rules above let pass but this library does not write
ACLNN_API aclnnStatus aclnnSmoothL1LossGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
                                                        int64_t reduction, float beta, aclTensor* result,
                                                        uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSmoothL1Loss(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_H_
