// aclnnop/aclnn_constant_pad_nd.h: aclnnConstantPadNd, a tensor with a value around it.
// SPDX-License-Identifier: Apache-2.0
//
// pad has two lengths for each of the last dims, the last dim's first: how many elements come before and behind. Negative ones cut
// off. value is converted to self's type.
//
// Types: arithmetic without BF16, unsigned; BF16 on newer products; 8-bit floats on Ascend 950 (value 0, nothing cut off).
#ifndef PORTACL_ACLNNOP_ACLNN_CONSTANT_PAD_ND_H_
#define PORTACL_ACLNNOP_ACLNN_CONSTANT_PAD_ND_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self   tensor
//   pad    an even number of lengths
//   value  scalar
//   out    result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, pad, value or out is null
//   161002  out's type is not self's, or is not in the list; of an 8-bit float value is not 0 or a length is negative
//   161002  out's format is not self's, where that is not ND; self has more than 8 dims; out has another rank
//   161002  pad has an odd number of values, or more than two for each dim
//   161002  a dim is cut off more than it has, by either length alone too; one that pad covers has length 0 afterwards and
//           any length is positive
//   161002  out's shape is not the result's
//           (here success is returned when out is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnConstantPadNdGetWorkspaceSize(const aclTensor* self, const aclIntArray* pad, const aclScalar*
    value, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnConstantPadNd(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_CONSTANT_PAD_ND_H_
