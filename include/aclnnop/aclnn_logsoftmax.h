// aclnnop/aclnn_logsoftmax.h: aclnnLogSoftmax, logarithms of shares along a dim.
// SPDX-License-Identifier: Apache-2.0
//
// out = (self - m) - log(sum(exp(self - m))) along dim, m the greatest element there. NaN throughout where one is NaN or +infinity,
// or all are -infinity.
//
// Types: FLOAT, FLOAT16, DOUBLE; BF16 on newer products. Each of self and out has one of them.
#ifndef PORTACL_ACLNNOP_ACLNN_LOGSOFTMAX_H_
#define PORTACL_ACLNNOP_ACLNN_LOGSOFTMAX_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT, in DOUBLE where out is DOUBLE.
//   self  tensor
//   dim   counted from the start or, negative, from the end
//   out   result, of self's shape; may be self
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  a type is not in the list; dim is none of self's; more than 8 dims; out's shape is not self's
//           (here success is returned when self is empty)
//   561103  DOUBLE, where its functions are missing
// clang-format off
ACLNN_API aclnnStatus aclnnLogSoftmaxGetWorkspaceSize(const aclTensor* self, int64_t dim, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLogSoftmax(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LOGSOFTMAX_H_
