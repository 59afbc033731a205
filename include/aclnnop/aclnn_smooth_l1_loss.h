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
// as CANN's aclnnSmoothL1Loss and PyTorch's smooth_l1_loss define it. CANN multiplies by 1 / beta, which it
// takes for 0 below 1e-6; the formula above holds for every beta. Its gradient is aclnnSmoothL1LossBackward.
//
// Numbers
//   Everything is computed in float32 in the order written, with a true division by beta. A sum is
//   accumulated in float64 in a fixed order from float32 terms, multiplied by c in float64, and rounded
//   once to result's type, so only that rounding can overflow; c = float(1.0 / double(n)). Without a sum, l
//   is rounded once. A DOUBLE, COMPLEX64 or COMPLEX128 result holds what a FLOAT result would. beta = 0
//   gives the L1 loss; beta = infinity gives 0 for finite d and NaN for infinite d. NaN in self or target
//   gives NaN. The same inputs give the same bits on every machine, instruction set and thread count,
//   whatever floating-point environment the caller has set.
//
// Data types
//   Each of self and target has a type of the product's list; they may differ from each other. result may
//   have any floating or complex type that this library writes: FLOAT, FLOAT16, BF16, DOUBLE, COMPLEX64,
//   COMPLEX128.
//
//     product (what aclrtGetSocName says)                  types
//     Atlas A2 (Ascend910B1 to B4-1), the default          FLOAT, FLOAT16, BF16
//     Atlas A3 (Ascend910_93...)                           FLOAT, FLOAT16, BF16
//     Ascend 950PR, 950DT (Ascend950...)                   FLOAT, FLOAT16, BF16
//     Atlas training (Ascend910A, Ascend910B, ...)         FLOAT, FLOAT16
//     Atlas inference (Ascend310P...)                      FLOAT, FLOAT16
//     Atlas 200I/500 A2 (Ascend310B...)                    FLOAT, FLOAT16
//     no device set in the calling thread                  FLOAT, FLOAT16
//
// Shapes
//   Rank 0 to 8. self and target broadcast like NumPy's arrays: right-aligned, a missing axis or one of
//   length 1 takes the other's length (1 with 0 gives 0). result has exactly the shape R for reduction
//   none, and one element in any shape for mean and sum. When self or target is empty, nothing is written
//   for none, NaN for mean and 0 for sum. Any strides and offsets are read and written in place; negative
//   strides too. Formats change nothing, except that an operand of a private format counts as dense. A
//   0-dim result must not have the format NCHW.
//
// Overlap
//   result may be the same view of the same storage as an input (in place). Any other overlap of result
//   with an input, or with itself (stride 0), has an undefined result.
#ifndef PORTACL_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_H_
#define PORTACL_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase 1: checks the arguments and plans the work. Runs on the host and reads no tensor data.
//   self           prediction, input
//   target         truth, input
//   reduction      0 none, 1 mean, 2 sum
//   beta           where the quadratic part meets the linear one: 0 (also -0) or more, infinity included
//   result         loss, output
//   workspaceSize  receives the bytes of workspace that phase 2 needs: 0 for reduction none, and for short
//                  sums
//   executor       receives the executor for phase 2, which releases it. aclDestroyAclOpExecutor releases it
//                  instead if phase 2 is never called
// All pointers must be non-null. The tensors stay the caller's; their addresses are taken over here, so they
// must not be changed or destroyed before phase 2 has returned. May be called from several threads at once.
// Returns 0, or the code of the first check that fails, in this order; then nothing is stored:
//   161001  workspaceSize or executor is null
//   561101  no memory for an executor
//   161001  self, target or result is null
//   161002  the type of self or target is not in the product's list
//   161002  the type to which they promote cannot be cast to result's
//   161002  reduction is not 0, 1 or 2
//   161002  self or target has more than 8 dimensions
//   161002  self and target do not broadcast, or, for none, result has not the shape R
//   161002  beta is negative or NaN
//           (here success is returned when self or target is empty)
//   561103  an input that is not dense and reaches outside its storage
//   561103  result is 0-dim and in format NCHW
//   561103  result has not exactly one element (mean, sum); also when self or target is empty
//   561103  a type of result that the rules above let pass but this library does not write
// A negative dimension, or a shape whose number of elements does not fit into int64_t, is refused with 161002
// too.
ACLNN_API aclnnStatus aclnnSmoothL1LossGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
                                                        int64_t reduction, float beta, aclTensor* result,
                                                        uint64_t* workspaceSize, aclOpExecutor** executor);

// Phase 2: submits the work to a stream. result is complete once the stream is synchronised.
//   workspace, workspaceSize  device memory of the size that phase 1 asked for; null and 0 when that was 0
//   executor                  from phase 1; used up by this call, whatever it returns
//   stream                    null: the default stream of the calling thread's current context
// May run on another thread than phase 1. The data of all operands and the workspace must live until the work
// is done.
// Returns 0, or, with nothing written:
//   161001  executor is null; a workspace is needed, or workspaceSize is not 0, and workspace is null; or a
//           tensor that has elements has no data address
//   161002  workspaceSize is smaller than what phase 1 asked for
//   361001  stream is null and the thread has no device, or stream is unknown
//   561000  executor was used before or never existed
ACLNN_API aclnnStatus aclnnSmoothL1Loss(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_H_
