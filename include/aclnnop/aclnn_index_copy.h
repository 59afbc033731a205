// aclnnop/aclnn_index_copy.h: aclnnIndexCopy and aclnnInplaceIndexCopy, parts of a tensor written over those of another that an index names.
// SPDX-License-Identifier: Apache-2.0
//
// outRef = selfRef, then outRef[index[i]] = source[i], i along dim. aclnnIndexCopy leaves selfRef as it is.
//
// Types: arithmetic without BF16; BF16 on newer products; UINT32, UINT64 on Ascend 950. index: INT32 or INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_INDEX_COPY_H_
#define PORTACL_ACLNNOP_ACLNN_INDEX_COPY_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; bad indices, order of sums: aclnnop/aclnn_index_select.h.
//   selfRef  tensor; in place written
//   dim      counted from the start or, negative, from the end
//   index    at most one dim, 0 to selfRef's length - 1 each
//   source   selfRef's shape, but along dim as long as index; without dims it is one part
//   outRef   result, of selfRef's type and shape
// Codes, after those that all operators share, in this order:
//   161001  selfRef, index, source or outRef is null
//   161002  selfRef's type is not in the list; index's is not in its list; source's or outRef's is not selfRef's
//   161002  more than 8 dims; index has more than one; outRef's shape is not selfRef's
//   161002  index has not one element where source has no dims; source and selfRef differ in rank; dim is none of selfRef's
//   161002  source's dims are not selfRef's, or not as long as index along dim; outRef's format is not selfRef's
//           (here success is returned when selfRef or index is empty; outRef is not written)
// clang-format off
ACLNN_API aclnnStatus aclnnIndexCopyGetWorkspaceSize(aclTensor* selfRef, int64_t dim, const aclTensor* index, const
    aclTensor* source, aclTensor* outRef, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnIndexCopy(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceIndexCopyGetWorkspaceSize(aclTensor* selfRef, int64_t dim, const aclTensor* index, const
    aclTensor* source, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceIndexCopy(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_INDEX_COPY_H_
