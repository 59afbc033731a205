// aclnnop/aclnn_mse_loss_out.h: aclnnMseLossOut, the mean squared error over the first axis.
// SPDX-License-Identifier: Apache-2.0
//
// With R the common shape to which self and target broadcast:
//
//   l   = (self - target)^2
//   out = l                                         reduction "none"
//         the sum of l over the first axis of R     "sum"
//         that sum * c, c = 1 / R[0]                "mean"
//
// as CANN's aclnnMseLossOut computes it, but without rounding l to the inputs' type before it is summed. A
// scalar R has no axis to lose: sum and mean are l. aclnnMseLoss reduces over everything.
//
// Numbers
//   Everything is computed in float32. A sum is accumulated in float64 in a fixed order from float32 terms,
//   multiplied by c in float64, and rounded once to out's type, so only that rounding can overflow; c =
//   float(1.0 / double(n)). Without a sum, l is rounded once. Infinities and NaN follow IEEE 754. The same
//   inputs give the same bits on every machine, instruction set and thread count, whatever floating-point
//   environment the caller has set.
//
// Data types
//   Each of self, target and out has a type of the product's list; they may differ from each other.
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
//   length 1 takes the other's length (1 with 0 gives 0). out has exactly the shape R for reduction none,
//   and R without its first axis for mean and sum. When self or target is empty, the workspace is 0 and
//   nothing is written, also where out has elements. Any strides and offsets are read and written in place;
//   negative strides too. Formats change nothing, except that an operand of a private format counts as
//   dense.
//
// Overlap
//   out may be the same view of the same storage as an input (in place). Any other overlap of out with an
//   input, or with itself (stride 0), has an undefined result.
#ifndef PORTACL_ACLNNOP_ACLNN_MSE_LOSS_OUT_H_
#define PORTACL_ACLNNOP_ACLNN_MSE_LOSS_OUT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase 1: checks the arguments and plans the work. Runs on the host and reads no tensor data.
//   self           prediction, input
//   target         truth, input
//   reduction      0 none, 1 mean over the first axis, 2 sum over the first axis
//   out            loss, output
//   workspaceSize  receives the bytes of workspace that phase 2 needs: 0 for reduction none, and for short
//                  sums
//   executor       receives the executor for phase 2, which releases it. aclDestroyAclOpExecutor releases it
//                  instead if phase 2 is never called
// All pointers must be non-null. The tensors stay the caller's; their addresses are taken over here, so they
// must not be changed or destroyed before phase 2 has returned. May be called from several threads at once.
// Returns 0, or the code of the first check that fails, in this order; then nothing is stored:
//   161001  workspaceSize or executor is null
//   561101  no memory for an executor
//   161001  self, target or out is null
//   161002  self and target do not promote, or to a type that is not in the product's list
//   161002  the type of self, target or out is not in the product's list
//   161002  reduction is not 0, 1 or 2
//   161002  self or target has more than 8 dimensions
//   161002  self and target do not broadcast
//   161002  out's shape is not R (none), or not R without its first axis (mean, sum)
//           (here success is returned when self or target is empty)
//   561103  an input that is not dense and reaches outside its storage
// A negative dimension, or a shape whose number of elements does not fit into int64_t, is refused with 161002
// too.
ACLNN_API aclnnStatus aclnnMseLossOutGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
                                                      int64_t reduction, aclTensor* out,
                                                      uint64_t* workspaceSize, aclOpExecutor** executor);

// Phase 2: submits the work to a stream. out is complete once the stream is synchronised.
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
ACLNN_API aclnnStatus aclnnMseLossOut(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MSE_LOSS_OUT_H_
