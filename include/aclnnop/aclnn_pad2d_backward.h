// aclnnop/aclnn_pad2d_backward.h: the gradients of aclnnReflectionPad2d and of aclnnReplicationPad2d.
// SPDX-License-Identifier: Apache-2.0
//
// Every element of gradInput is the sum of those of gradOutput that the pad made of its place, from +0 on: row by row, and of each row, in
// the order of gradOutput. Float32 for float16 and BF16, rounded once. self gives its shape and type alone.
//
// Types: float32, float16, BF16, float64, complex numbers.
#ifndef PORTACL_ACLNNOP_ACLNN_PAD2D_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_PAD2D_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of the padded tensor
//   self        what was padded, 3 or 4 dims
//   padding     4 lengths, as of the pad
//   gradInput   result, of self's shape and type
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, padding or gradInput is null
//   161002  gradOutput's type is not in the list, or self's or gradInput's is another one
//   161002  a format is a private one, or they differ
//   161002  gradInput's shape is not self's; self does not have 3 or 4 dims, gradOutput another rank
//   161002  padding does not have 4 values
//   161002  a mirrored length is not less than its dim, or more is cut off than there is
//   161002  of BF16 a length is outside 0 to 7, unless those of the rows are both 0
//   161002  gradOutput's padded dims are not those of the padded self
//   161002  a dim is 0 that is not the batch; without one, a mirrored pad may have no channels
//           (here success is returned when gradOutput or self is empty)
//   161002  gradOutput's shape is not that of the padded self
// clang-format off
ACLNN_API aclnnStatus aclnnReflectionPad2dBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
    const aclIntArray* padding, aclTensor* gradInput, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnReflectionPad2dBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnReplicationPad2dBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor*
    self, const aclIntArray* padding, aclTensor* gradInput, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnReplicationPad2dBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_PAD2D_BACKWARD_H_
