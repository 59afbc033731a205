// aclnnop/aclnn_mse_loss_backward.h: aclnnMseLossBackward, the gradient of the mean squared error.
// SPDX-License-Identifier: Apache-2.0
//
// The loss is (self - target)^2. With R the common shape to which gradOutput, self and target broadcast:
//
//   out = ((self - target) * c) * gradOutput
//   c   = 2 / (number of elements of self, before it is broadcast) for reduction "mean", else 2
//
// CANN's aclnnMseLossBackward and PyTorch's mse_loss_backward have this divisor and this formula.
//
// Numbers
//   Everything is computed in float32 in the order written, with c = float(2.0 / double(n)), and rounded
//   once to out's type, to nearest even. Infinities and NaN follow IEEE 754. The same inputs give the same
//   bits on every machine, instruction set and thread count, whatever floating-point environment the caller
//   has set.
//
// Data types
//   gradOutput, self and target have the same type, of the product's list. out has a type of the list,
//   which may differ from theirs.
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
//   Rank 0 to 8. gradOutput, self and target broadcast like NumPy's arrays: right-aligned, a missing axis
//   or one of length 1 takes the other's length (1 with 0 gives 0). out has exactly the shape R, for every
//   reduction. When an input is empty, the workspace is 0 and nothing is written. Any strides and offsets
//   are read and written in place; negative strides too. Formats change nothing, except that an operand of
//   a private format counts as dense.
//
// Overlap
//   out may be the same view of the same storage as an input (in place). Any other overlap of out with an
//   input, or with itself (stride 0), has an undefined result.
#ifndef PORTACL_ACLNNOP_ACLNN_MSE_LOSS_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_MSE_LOSS_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase 1: checks the arguments and plans the work. Runs on the host and reads no tensor data.
//   gradOutput     gradient of the loss, input
//   self           prediction, input
//   target         truth, input
//   reduction      0 none, 1 mean, 2 sum: how the loss was reduced. none and sum give the same gradient
//   out            gradient for self, output
//   workspaceSize  receives the bytes of workspace that phase 2 needs: 0
//   executor       receives the executor for phase 2, which releases it. aclDestroyAclOpExecutor releases it
//                  instead if phase 2 is never called
// All pointers must be non-null. The tensors stay the caller's; their addresses are taken over here, so they
// must not be changed or destroyed before phase 2 has returned. May be called from several threads at once.
// Returns 0, or the code of the first check that fails, in this order; then nothing is stored:
//   161001  workspaceSize or executor is null
//   561101  no memory for an executor
//   161001  gradOutput, self, target or out is null
//   161002  the type of gradOutput or target is not self's
//   161002  the type of self or out is not in the product's list
//   161002  reduction is not 0, 1 or 2
//   161002  gradOutput, self or target has more than 8 dimensions
//   161002  the inputs do not broadcast, or out's shape is not R
//           (here success is returned when an input is empty)
//   561103  an input that is not dense and reaches outside its storage
// A negative dimension, or a shape whose number of elements does not fit into int64_t, is refused with 161002
// too.
ACLNN_API aclnnStatus aclnnMseLossBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                                           const aclTensor* target, int64_t reduction,
                                                           aclTensor* out, uint64_t* workspaceSize,
                                                           aclOpExecutor** executor);

// Phase 2: submits the work to a stream. out is complete once the stream is synchronised.
//   workspace, workspaceSize  what phase 1 asked for: null and 0
//   executor                  from phase 1; used up by this call, whatever it returns
//   stream                    null: the default stream of the calling thread's current context
// May run on another thread than phase 1. The data of all operands must live until the work is done.
// Returns 0, or, with nothing written:
//   161001  executor is null; workspaceSize is not 0 and workspace is null; or a tensor that has elements has
//           no data address
//   361001  stream is null and the thread has no device, or stream is unknown
//   561000  executor was used before or never existed
ACLNN_API aclnnStatus aclnnMseLossBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MSE_LOSS_BACKWARD_H_
