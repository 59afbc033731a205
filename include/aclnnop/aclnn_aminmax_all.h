// aclnnop/aclnn_aminmax_all.h: aclnnAminmaxAll, the least and the largest of all elements.
// SPDX-License-Identifier: Apache-2.0
//
// minOut, maxOut = the least and the largest element of self.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_AMINMAX_ALL_H_
#define PORTACL_ACLNNOP_ACLNN_AMINMAX_ALL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self    tensor
//   minOut  result, of self's type
//   maxOut  result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, minOut or maxOut is null
//   161002  self's type is not in the list, minOut's or maxOut's is not self's, or one of them has more than 8 dims
//           (here success is returned when self is empty: nothing is written)
//   161002  minOut or maxOut has not one element
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnAminmaxAllGetWorkspaceSize(const aclTensor* self, aclTensor* minOut, aclTensor* maxOut, uint64_t*
    workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAminmaxAll(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_AMINMAX_ALL_H_
