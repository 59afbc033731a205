// aclnnop/aclnn_split_with_size.h: aclnnSplitWithSize, a tensor cut along a dim into parts of given lengths.
// SPDX-License-Identifier: Apache-2.0
//
// Parts follow each other along dim. Each is converted to the type of its entry in out, also where no cast of it is allowed
// elsewhere.
//
// Types: arithmetic and BF16, on every product; unsigned on Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_SPLIT_WITH_SIZE_H_
#define PORTACL_ACLNNOP_ACLNN_SPLIT_WITH_SIZE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self       tensor
//   splitSize  lengths of the parts
//   dim        counted from the start or, negative, from the end
//   out        parts
// Codes, after those that all operators share, in this order:
//   161001  self, splitSize, out or an entry of out is null
//   161002  self's type or that of an entry of out is not in the list
//   161002  self has no dims or more than 8; dim is none of them
//   161002  a length is negative, or they do not add up to dim's; out has not as many tensors
//           (here success is returned when self is empty)
//   561103  the shape of an entry is not its part's, be it that both have one element
// clang-format off
ACLNN_API aclnnStatus aclnnSplitWithSizeGetWorkspaceSize(const aclTensor* self, const aclIntArray* splitSize, int64_t dim,
    aclTensorList* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSplitWithSize(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SPLIT_WITH_SIZE_H_
