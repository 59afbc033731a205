// aclnnop/aclnn_smooth_l1_loss_backward.h: aclnnSmoothL1LossBackward, gradient of the smooth L1 loss.
// SPDX-License-Identifier: Apache-2.0
//
// The loss is d * d / (2 * beta) where |d| < beta and |d| - beta / 2 elsewhere, d = self - target. With R the
// common shape to which gradOut, self and target broadcast:
//
//   gradInput = (f * gradOut) * c
//   f = d / beta where |d| < beta, else the sign of d (+1, -1, and +0 for d = 0)
//   c = 1 / (number of elements of self, before it is broadcast) for reduction "mean", else 1
//
// CANN's aclnnSmoothL1LossBackward and PyTorch's smooth_l1_loss_backward have this divisor and this formula;
// where CANN's products differ from each other at |d| = beta and for tiny beta, the formula above holds
// exactly.
//
// Numbers
//   Everything is computed in float32 in the order written, with a true division by beta and c = float(1.0 /
//   double(n)), and rounded once to gradInput's type, to nearest even. Hence f is exactly +1 or -1 at |d| =
//   beta; beta = 0 gives the gradient of the L1 loss (0 where d = 0); beta = infinity gives 0 for finite d
//   and +1 or -1 for infinite d. NaN in self or target gives NaN. The same inputs give the same bits on every
//   machine, instruction set and thread count, whatever floating-point environment the caller has set.
//
// Data types
//   Each of gradOut, self, target and gradInput has a type of the product's list; they may differ from each
//   other.
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
//   Rank 0 to 8. gradOut, self and target broadcast like NumPy's arrays: right-aligned, a missing axis or one
//   of length 1 takes the other's length (1 with 0 gives 0). gradInput has exactly the shape R, for every
//   reduction. When R is empty, the workspace is 0 and nothing is written. Any strides and offsets are read
//   and written in place; negative strides too. Formats change nothing, except that an operand of a private
//   format counts as dense.
//
// Overlap
//   gradInput may be the same view of the same storage as an input (in place). Any other overlap of gradInput
//   with an input, or with itself (stride 0), has an undefined result.
#ifndef PORTACL_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase 1: checks the arguments and plans the work. Runs on the host and reads no tensor data.
//   gradOut        gradient of the loss, input
//   self           prediction, input
//   target         truth, input
//   reduction      0 none, 1 mean, 2 sum: how the loss was reduced. none and sum give the same gradient
//   beta           where the quadratic part meets the linear one: 0 (also -0) or more, infinity included
//   gradInput      gradient for self, output
//   workspaceSize  receives the bytes of workspace that phase 2 needs: 0
//   executor       receives the executor for phase 2, which releases it. aclDestroyAclOpExecutor releases it
//                  instead if phase 2 is never called
// All pointers must be non-null. The tensors stay the caller's; their addresses are taken over here, so they
// must not be changed or destroyed before phase 2 has returned. May be called from several threads at once.
// Returns 0, or the code of the first check that fails, in this order; then nothing is stored:
//   161001  workspaceSize or executor is null
//   561101  no memory for an executor
//   161001  gradOut, self, target or gradInput is null
//   161002  the type of gradOut, self, target or gradInput is not in the product's list
//   161002  gradOut, self or target has more than 8 dimensions
//   161002  reduction is not 0, 1 or 2
//   161002  beta is negative or NaN
//   161002  the inputs do not broadcast, or gradInput's shape is not the result
//           (here success is returned when an input is empty)
//   561103  an input that is not dense and reaches outside its storage
// A negative dimension, or a shape whose number of elements does not fit into int64_t, is refused with 161002
// too.
ACLNN_API aclnnStatus aclnnSmoothL1LossBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclTensor* self, const aclTensor* target, int64_t reduction, float beta,
    aclTensor* gradInput, uint64_t* workspaceSize, aclOpExecutor** executor);

// Phase 2: submits the work to a stream. gradInput is complete once the stream is synchronised.
//   workspace, workspaceSize  what phase 1 asked for: null and 0
//   executor                  from phase 1; used up by this call, whatever it returns
//   stream                    null: the default stream of the calling thread's current context
// May run on another thread than phase 1. The data of all operands must live until the work is done.
// Returns 0, or, with nothing written:
//   161001  executor is null; workspaceSize is not 0 and workspace is null; or a tensor that has elements has
//           no data address
//   361001  stream is null and the thread has no device, or stream is unknown
//   561000  executor was used before or never existed
ACLNN_API aclnnStatus aclnnSmoothL1LossBackward(void* workspace, uint64_t workspaceSize,
                                                aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_BACKWARD_H_
