// aclnnop/aclnn_logsoftmax_backward.h: aclnnLogSoftmaxBackward, the gradient of aclnnLogSoftmax.
// SPDX-License-Identifier: Apache-2.0
//
// out = gradOutput - exp(output) * sum(gradOutput), summed along dim.
//
// Types of gradOutput and output: FLOAT, FLOAT16; BF16 on newer products. out: any type that numbers are converted to.
#ifndef PORTACL_ACLNNOP_ACLNN_LOGSOFTMAX_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_LOGSOFTMAX_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT.
//   gradOutput  gradient of the result
//   output      result of aclnnLogSoftmax
//   dim         counted from the start or, negative, from the end
//   out         gradient of self, of their shape; may be gradOutput or output
// Codes, after those that all operators share, in this order:
//   161001  output, gradOutput or out is null
//           (here success is returned when gradOutput or output is empty; on Ascend 950 after what follows)
//   161002  a type is not in the list; output's is not gradOutput's; dim is none of theirs; more than 8 dims; shapes differ
//   561103  out's type is none that numbers are converted to
// clang-format off
ACLNN_API aclnnStatus aclnnLogSoftmaxBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* output,
    int64_t dim, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLogSoftmaxBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LOGSOFTMAX_BACKWARD_H_
