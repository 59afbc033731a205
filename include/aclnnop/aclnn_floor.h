// aclnnop/aclnn_floor.h: aclnnFloor and aclnnInplaceFloor, rounding down.
// SPDX-License-Identifier: Apache-2.0
//
//   out = the largest integer that is not above self
//
// Values: exact; the sign of zero stays; integers are copied.
// Types
//   self     floats, DOUBLE, INT8, INT16, INT32, INT64, UINT8, unsigned.
//   out      self's type.
//   selfRef  self's types, integers included.
#ifndef PORTACL_ACLNNOP_ACLNN_FLOOR_H_
#define PORTACL_ACLNNOP_ACLNN_FLOOR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
// The format that is refused: a private storage format of self or out.
ACLNN_API aclnnStatus aclnnFloorGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                 uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFloor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceFloorGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceFloor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FLOOR_H_
