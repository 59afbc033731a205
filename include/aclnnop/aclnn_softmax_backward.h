// aclnnop/aclnn_softmax_backward.h: aclnnSoftmaxBackward, the gradient of aclnnSoftmax.
// SPDX-License-Identifier: Apache-2.0
//
// out = (gradOutput - sum(gradOutput * output)) * output, summed along dim.
//
// Types of gradOutput and output: FLOAT, FLOAT16; BF16 on newer products. out: any type that numbers are converted to.
#ifndef PORTACL_ACLNNOP_ACLNN_SOFTMAX_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_SOFTMAX_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT.
//   gradOutput  gradient of the result
//   output      result of aclnnSoftmax
//   dim         counted from the start or, negative, from the end
//   out         gradient of self, of their shape; may be gradOutput or output
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, output or out is null
//           (here success is returned when gradOutput or output is empty; on Ascend 950 after what follows)
//   161002  a type is not in the list; output's is not gradOutput's; dim is none of theirs; more than 8 dims; shapes differ
//   561103  out's type is none that numbers are converted to
// clang-format off
ACLNN_API aclnnStatus aclnnSoftmaxBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* output,
    int64_t dim, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSoftmaxBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SOFTMAX_BACKWARD_H_
