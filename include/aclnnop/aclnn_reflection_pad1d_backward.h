// aclnnop/aclnn_reflection_pad1d_backward.h: aclnnReflectionPad1dBackward, the gradient of aclnnReflectionPad1d.
// SPDX-License-Identifier: Apache-2.0
//
// Every element of gradInput is the sum of those of gradOutput that the pad made of its place, from +0 on: row by row, and of each row, in
// the order of gradOutput. Float32 for float16 and BF16, rounded once. self gives its shape and type alone.
//
// Types: float32, float16, BF16, float64, complex numbers.
#ifndef PORTACL_ACLNNOP_ACLNN_REFLECTION_PAD1D_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_REFLECTION_PAD1D_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of the padded tensor
//   self        what was padded, 2 or 3 dims
//   padding     2 lengths, as of the pad
//   gradInput   result, of self's shape and type
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, padding or gradInput is null
//   161002  gradOutput's type is not in the list, or self's or gradInput's is another one
//   161002  a format is a private one, or they differ
//   161002  gradInput's shape is not self's; self does not have 2 or 3 dims, gradOutput another rank
//   161002  padding does not have 2 values
//   161002  a length is not less than its dim, or more is cut off than there is
//   161002  gradOutput's padded dims are not those of the padded self
//   161002  a dim is 0 that is neither the batch nor, without one, the channels
//           (here success is returned when gradOutput or self is empty)
//   161002  gradOutput's shape is not that of the padded self
// clang-format off
ACLNN_API aclnnStatus aclnnReflectionPad1dBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
    const aclIntArray* padding, aclTensor* gradInput, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnReflectionPad1dBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_REFLECTION_PAD1D_BACKWARD_H_
