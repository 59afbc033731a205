// aclnnop/aclnn_s_where.h: aclnnSWhere, a choice between two elements.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self where condition is true, else other
//
// Values: chosen, so what is not chosen has no influence; it may be NaN.
// Types
//   condition    BOOL, UINT8 (what is not 0 is true).
//   self, other  the arithmetic types, unsigned; BF16 on every product but Atlas 910.
//   P            promotion of two tensors.
//   out          the same list, whether P casts to it or not: FLOAT into INT32 is truncated.
#ifndef PORTACL_ACLNNOP_ACLNN_S_WHERE_H_
#define PORTACL_ACLNNOP_ACLNN_S_WHERE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   condition    which one
//   self, other  the choices
//   out          result
// Codes, after those that all operators share, in this order:
//   161001  self, other, condition or out is null
//   161002  the type of self, other, out or condition is not in its list
//   161002  self, other or condition has more than 8 dimensions
//   161002  the three do not broadcast, or out's shape is not R
//           (here success is returned when condition, self or other is empty)
//   561103  self and other do not promote, or both are BOOL and out is not
ACLNN_API aclnnStatus aclnnSWhereGetWorkspaceSize(const aclTensor* condition, const aclTensor* self,
                                                  const aclTensor* other, aclTensor* out,
                                                  uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSWhere(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                  aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_S_WHERE_H_
