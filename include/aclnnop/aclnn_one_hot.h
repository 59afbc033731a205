// aclnnop/aclnn_one_hot.h: aclnnOneHot, a row for each element of a tensor of classes: on at its class, off elsewhere.
// SPDX-License-Identifier: Apache-2.0
//
// out along axis: onValue at the place that self's element says, else offValue. An element that is no class has a row that is off.
//
// Types: self INT32, INT64, UINT8 on Ascend 950; values and out INT32, INT64, FLOAT, FLOAT16, INT8 and UINT8 on Ascend 950. Workspace: for
// UINT8.
#ifndef PORTACL_ACLNNOP_ACLNN_ONE_HOT_H_
#define PORTACL_ACLNNOP_ACLNN_ONE_HOT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self                tensor of classes, 0 to numClasses - 1
//   numClasses          length of the new dim
//   onValue, offValue   their first elements count
//   axis                where the new dim is; -1: behind the last one
//   out                 result
// Codes, after those that all operators share, in this order:
//   161001  self, onValue, offValue or out is null
//   161002  self's type is not in its list, or out's in its own; onValue's or offValue's is not out's
//   161002  more than 8 dims (self on Ascend 950: 7); numClasses is negative, or 0 and self is empty; axis is below -1 or beyond the last
//   161002  out's shape is not the result's
//           (here success is returned when self is empty or numClasses is 0)
//   561103  onValue or offValue has no element
// clang-format off
ACLNN_API aclnnStatus aclnnOneHotGetWorkspaceSize(const aclTensor* self, int numClasses, const aclTensor* onValue, const aclTensor*
    offValue, int64_t axis, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnOneHot(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ONE_HOT_H_
