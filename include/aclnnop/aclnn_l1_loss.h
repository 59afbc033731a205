// aclnnop/aclnn_l1_loss.h: aclnnL1Loss, the L1 loss.
// SPDX-License-Identifier: Apache-2.0
//
// With R the common shape to which self and target broadcast:
//
//   l   = |self - target|
//   out = l                          reduction "none"
//         the sum of all of l        "sum"
//         the sum of all of l * c    "mean"
//   c   = 1 / (number of elements of R)
//
// as CANN's aclnnL1Loss and PyTorch's l1_loss compute it. Its gradient is aclnnL1LossBackward.
//
// Numbers: "Losses" in aclnnop/aclnn_util.h. A DOUBLE, COMPLEX64 or COMPLEX128 out holds what a FLOAT out would. Infinity minus
//   itself is NaN. Where self and target promote to INT64, everything is exact in 64-bit integers that wrap around: the
//   difference, its absolute value (that of -2^63 is itself) and the sum, which is then cast to out's type: an integer type
//   takes the low bits, a floating one rounds once.
// Types: self and target may be FLOAT, FLOAT16, BF16, an integer or BOOL, such that the type to which they promote is in the
//   product's list. (FLOAT16 with BF16 promotes to FLOAT.) Integers and BOOL beside a floating type are first converted to the
//   promoted type, in one rounding; a BOOL byte other than 0 counts as 1. For reduction none a floating target asks for a
//   floating self; for mean one of the two must be floating. out may have any type to which the promoted type can be cast and
//   that this library writes: FLOAT, FLOAT16, BF16, DOUBLE, COMPLEX64, COMPLEX128, and for INT64 also every integer type of 8
//   to 64 bits. The product's list is that of "Losses" and INT64.
// Shapes: out has exactly the shape R for reduction none, and is 0-dim for mean and sum: [1] is refused. When self or target is
//   empty, nothing is written for none, NaN for mean and 0 for sum. Views and overlap: "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_L1_LOSS_H_
#define PORTACL_ACLNNOP_ACLNN_L1_LOSS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self, target   prediction and truth, inputs
//   reduction      0 none, 1 mean, 2 sum
//   out            loss, output
// Codes, after those that all operators share, in this order:
//   161001  self, target or out is null
//   161002  reduction is not 0, 1 or 2
//   161002  reduction is none, target is floating and self is not; or reduction is mean and neither is floating
//   161002  self and target do not promote, or not to a type of the product's list, or to one that cannot be cast to out's
//   161002  self or target has more than 8 dimensions, or they do not broadcast
//   161002  out's shape is not R (none), or out is not 0-dim (mean, sum)
//           (here success is returned when self or target is empty)
//   561103  an input that is not dense and reaches outside its storage
//   561103  a type that the rules above let pass but this library does not read or write
ACLNN_API aclnnStatus aclnnL1LossGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
                                                  int64_t reduction, aclTensor* out, uint64_t* workspaceSize,
                                                  aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnL1Loss(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                  aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_L1_LOSS_H_
