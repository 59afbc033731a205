// aclnnop/aclnn_foreach_non_finite_check_and_unscale.h: gradients of a list scaled back, and whether they are finite.
// SPDX-License-Identifier: Apache-2.0
//
// Every element becomes itself times invScale, in float32, rounded once. foundInf becomes 1 where an element was not finite before;
// else it is left alone.
//
// Types: FLOAT, FLOAT16, BF16, one for the list; on Atlas A2, Atlas A3 and Ascend 950, and without BF16 on Atlas inference products.
#ifndef PORTACL_ACLNNOP_ACLNN_FOREACH_NON_FINITE_CHECK_AND_UNSCALE_H_
#define PORTACL_ACLNNOP_ACLNN_FOREACH_NON_FINITE_CHECK_AND_UNSCALE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   scaledGrads  gradients, rewritten; 1 to 256 tensors
//   foundInf     FLOAT, one element, rewritten
//   invScale     FLOAT, one element, read when phase 2 runs
// Codes, after those that all operators share, in this order:
//   161001  an argument or an entry is null
//   161002  the product has no type for it; the type of the first entry is not in the list; foundInf or invScale is not FLOAT
//   561002  an entry of another type, of more than 8 dims, of a private format; foundInf or invScale has not one element
//   561002  no tensor, or more than 256
//   561103  an entry reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnForeachNonFiniteCheckAndUnscaleGetWorkspaceSize(const aclTensorList* scaledGrads,
    const aclTensor* foundInf, const aclTensor* invScale, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnForeachNonFiniteCheckAndUnscale(void* workspace, uint64_t workspaceSize,
    aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FOREACH_NON_FINITE_CHECK_AND_UNSCALE_H_
