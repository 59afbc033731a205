// aclnnop/aclnn_l1_loss_backward.h: aclnnL1LossBackward, the gradient of the L1 loss |self - target|.
// SPDX-License-Identifier: Apache-2.0
//
// With R the common shape to which gradOutput, self and target broadcast:
//
//   gradInput = s * (gradOutput * c)
//   s = +1 where self > target, -1 where self < target, 0 where they are equal or either is NaN
//   c = 1 / (number of elements of R) for reduction "mean", else 1
//
// It is the derivative of c * |self - target|, as CANN's aclnnL1LossBackward and PyTorch's l1_loss define it.
//
// Numbers: "Losses" in aclnnop/aclnn_util.h. s is really multiplied: s = 0 gives a zero that keeps gradOutput's sign, and NaN
//   where gradOutput is infinite or NaN. Nothing is subtracted, so values of any size compare rightly, and equal infinities
//   count as equal.
// Types: gradOutput, self and target are promoted to one type P, which must be in the product's list: - equal types stay;
//   FLOAT16 with BF16 gives FLOAT; FLOAT with either gives FLOAT; - INT8, UINT8, INT16, INT32, INT64 and BOOL take the floating
//   type that they meet. Such inputs are first rounded to P (an INT32 of 100000 meeting FLOAT16 becomes infinite), and a
//   non-zero BOOL byte counts as 1. gradInput may be FLOAT, FLOAT16, BF16 (on every product), DOUBLE, COMPLEX64 or COMPLEX128
//   (imaginary part 0), whatever P is.
// Shapes: gradInput has exactly the shape R. When R is empty, the workspace is 0 and nothing is written. Views and overlap:
//   "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_L1_LOSS_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_L1_LOSS_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput     gradient of the loss, input
//   self, target   prediction and truth, inputs
//   reduction      0 none, 1 mean, 2 sum: how the loss was reduced. none and sum give the same gradient
//   gradInput      gradient for self, output
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, target or gradInput is null
//   161002  reduction is not 0, 1 or 2
//   161002  the inputs' types promote to no common type
//   161002  P cannot be cast to gradInput's type (BOOL, integers of 8 bits and more)
//   161002  P is not in the product's list
//   161002  self, target, gradOutput or gradInput has more than 8 dimensions
//   161002  the inputs do not broadcast, or gradInput's shape is not the result
//           (here success is returned when an input is empty)
//   561103  an input of a type that is promoted but cannot be read (an 8-bit float meeting FLOAT), or a
//           gradInput of a type to which no cast exists (COMPLEX32, INT4, 8-bit floats)
//   561103  an input that is not dense and reaches outside its storage
ACLNN_API aclnnStatus aclnnL1LossBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                                          const aclTensor* target, int64_t reduction,
                                                          aclTensor* gradInput, uint64_t* workspaceSize,
                                                          aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnL1LossBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                          aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_L1_LOSS_BACKWARD_H_
