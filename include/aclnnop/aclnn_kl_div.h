// aclnnop/aclnn_kl_div.h: aclnnKlDiv, the Kullback-Leibler divergence.
// SPDX-License-Identifier: Apache-2.0
//
// With R the common shape to which self and target broadcast:
//
//   l   = t * (log(t) - self)       t = target; log(0) counts as 0
//   l   = exp(t) * (t - self)       when logTarget is true
//   out = l                                        reduction "none"
//         the sum of all of l                      "sum"
//         the sum of all of l * c                  "mean" and "batchmean"
//   c   = 1 / (number of elements of R) for mean, 1 / R[0] for batchmean (1 for rank 0)
//
// as CANN's aclnnKlDiv computes it. PyTorch differs in one point: its "batchmean" divides by self's first
// dimension before broadcasting. The gradient for self is aclnnKlDivBackward, that for target
// aclnnKlDivTargetBackward.
//
// Numbers
//   Everything is computed in float32 in the order written; log and exp are exact to 1 unit in the last
//   place. A sum is accumulated in float64 in a fixed order from float32 terms, multiplied by c in float64,
//   and rounded once to out's type, so only that rounding can overflow; c = float(1.0 / double(n)). Without
//   a sum, l is rounded once. A zero target multiplies like any other: its term is a zero of either sign,
//   and NaN where self is infinite or NaN. A negative target without logTarget gives NaN. The same inputs
//   give the same bits on every machine, instruction set and thread count, whatever floating-point
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
//   length 1 takes the other's length (1 with 0 gives 0). out has exactly the shape R for reduction none
//   ([] or [1] when both are scalars), and one element in any shape for the others. When self or target is empty, whether or not they
//   broadcast, nothing is written for none, NaN for mean, 0 for sum, and for batchmean NaN where self's
//   first dimension is 0, else 0. Any strides and offsets are read and written in place; negative strides
//   too. Formats change nothing, except that an operand of a private format counts as dense.
//
// Overlap
//   out may be the same view of the same storage as an input (in place). Any other overlap of out with an
//   input, or with itself (stride 0), has an undefined result.
#ifndef PORTACL_ACLNNOP_ACLNN_KL_DIV_H_
#define PORTACL_ACLNNOP_ACLNN_KL_DIV_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase 1: checks the arguments and plans the work. Runs on the host and reads no tensor data.
//   self           logarithm of the predicted distribution, input
//   target         true distribution, or its logarithm, input
//   reduction      0 none, 1 mean, 2 sum, 3 batchmean
//   logTarget      whether target holds logarithms
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
//   161002  the type of self, target or out is not in the product's list
//   161002  self or target has more than 8 dimensions
//   161002  reduction is not 0, 1, 2 or 3
//   561103  self or target is empty and out has not exactly one element (mean, sum, batchmean)
//           (here success is returned when self or target is empty)
//   561103  an input that is not dense and reaches outside its storage
//   161002  self and target do not broadcast
//   161002  out has not the shape R, nor [1] for two scalars (none), or not exactly one element (the others)
// A negative dimension, or a shape whose number of elements does not fit into int64_t, is refused with 161002
// too.
ACLNN_API aclnnStatus aclnnKlDivGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
                                                 int64_t reduction, bool logTarget, aclTensor* out,
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
ACLNN_API aclnnStatus aclnnKlDiv(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_KL_DIV_H_
