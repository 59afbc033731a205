// aclnnop/aclnn_kl_div_target_backward.h: aclnnKlDivTargetBackward, the gradient of the KL divergence for target.
// SPDX-License-Identifier: Apache-2.0
//
// The loss (Kullback-Leibler divergence) is target * (log(target) - self), or exp(target) * (target - self)
// when target holds logarithms. With R the common shape to which self and target broadcast, gradOutput
// broadcast to R, and G = gradOutput * c:
//
//   y          = (G * log(target) - G * self) + (G * target) / target
//   y          = (G * (target - self)) * exp(target) + G * exp(target)      when logTarget is true
//   gradTarget = y, summed over the axes along which target was broadcast
//   c          = 1 / (number of elements of R) for reduction "mean", 1 / R[0] for "batchmean" (1 for rank 0), else 1
//
// as PyTorch's autograd has it for a mean over R, and CANN's aclnnKlDivTargetBackward on Atlas A2 and A3; on
// Ascend 950 CANN divides by the elements of self before broadcasting, this library by those of R everywhere.
//
// Numbers
//   Everything is computed in float32 in the order written, with c = float(1.0 / double(n)) and log and exp
//   exact to 1 unit in the last place; sums are accumulated in float64 in a fixed order; the result is
//   rounded once to gradTarget's type, to nearest even. Without logTarget a zero target gives NaN, from 0 /
//   0, and a negative one NaN, from its logarithm. The same inputs give the same bits on every machine,
//   instruction set and thread count, whatever floating-point environment the caller has set.
//
// Data types
//   Each of gradOutput, self and target has a type of the product's list; they may differ from each other.
//   gradTarget has target's type.
//
//     product (what aclrtGetSocName says)                  types
//     Atlas A2 (Ascend910B1 to B4-1), the default          FLOAT, FLOAT16, BF16
//     Atlas A3 (Ascend910_93...)                           FLOAT, FLOAT16, BF16
//     Ascend 950PR, 950DT (Ascend950...)                   FLOAT, FLOAT16, BF16
//     Atlas training (Ascend910A, Ascend910B, ...)         none
//     Atlas inference (Ascend310P...)                      none
//     Atlas 200I/500 A2 (Ascend310B...)                    none
//     no device set in the calling thread                  none
//
// Shapes
//   Rank 0 to 8. self and target broadcast like NumPy's arrays: right-aligned, a missing axis or one of
//   length 1 takes the other's length (1 with 0 gives 0). gradOutput must broadcast to R without enlarging
//   it. gradTarget has exactly target's shape. When self or target is empty, the workspace is 0 and nothing
//   is written: also where gradTarget has elements. Any strides and offsets are read and written in place;
//   negative strides too. Private formats are refused; other formats change nothing.
//
// Overlap
//   gradTarget may be the same view of the same storage as an input (in place) when that has the shape R.
//   Any other overlap of gradTarget with an input, or with itself (stride 0), has an undefined result.
#ifndef PORTACL_ACLNNOP_ACLNN_KL_DIV_TARGET_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_KL_DIV_TARGET_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase 1: checks the arguments and plans the work. Runs on the host and reads no tensor data.
//   gradOutput     gradient of the loss, input
//   self           logarithm of the predicted distribution, input
//   target         true distribution, or its logarithm, input
//   reduction      0 none, 1 mean, 2 sum, 3 batchmean: how the loss was reduced. none and sum give the same
//                  gradient. Any other value is accepted and acts as none, as in CANN
//   logTarget      whether target holds logarithms
//   gradTarget     gradient for target, output
//   workspaceSize  receives the bytes of workspace that phase 2 needs: 0 unless target was broadcast
//   executor       receives the executor for phase 2, which releases it. aclDestroyAclOpExecutor releases it
//                  instead if phase 2 is never called
// All pointers must be non-null. The tensors stay the caller's; their addresses are taken over here, so they
// must not be changed or destroyed before phase 2 has returned. May be called from several threads at once.
// Returns 0, or the code of the first check that fails, in this order; then nothing is stored:
//   161001  workspaceSize or executor is null
//   561101  no memory for an executor
//   161001  gradOutput, self, target or gradTarget is null
//   161002  self's type cannot be cast to gradTarget's
//   161002  the type of gradOutput, self, target or gradTarget is not in the product's list
//   161002  gradTarget's type is not target's
//   161002  gradOutput, self, target or gradTarget has more than 8 dimensions
//   161002  self and target do not broadcast
//   161002  gradOutput does not broadcast to R
//   161002  gradTarget's shape is not target's
//   161002  a tensor is in a private format
//           (here success is returned when self is empty)
//   561103  an input that is not dense and reaches outside its storage
//           (here success is returned when target is empty)
// A negative dimension, or a shape whose number of elements does not fit into int64_t, is refused with 161002
// too.
ACLNN_API aclnnStatus aclnnKlDivTargetBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                               const aclTensor* self, const aclTensor* target,
                                                               int64_t reduction, bool logTarget,
                                                               aclTensor* gradTarget, uint64_t* workspaceSize,
                                                               aclOpExecutor** executor);

// Phase 2: submits the work to a stream. gradTarget is complete once the stream is synchronised.
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
ACLNN_API aclnnStatus aclnnKlDivTargetBackward(void* workspace, uint64_t workspaceSize,
                                               aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_KL_DIV_TARGET_BACKWARD_H_
