// aclnnop/aclnn_put.h: aclnnInplacePut, elements of a tensor taken as one row that an index tensor names are written, or added to.
// SPDX-License-Identifier: Apache-2.0
//
// selfRef, flattened: element index[i] becomes source[i], or has it added, where accumulate is true. Negative indices count from the end.
//
// Types: arithmetic; BF16 on newer products, where nothing is added. index: INT32 or INT64. Workspace: where selfRef is not dense,
// FLOAT16 is added to, or index and source are of two shapes and not dense.
#ifndef PORTACL_ACLNNOP_ACLNN_PUT_H_
#define PORTACL_ACLNNOP_ACLNN_PUT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; bad indices, order of sums: aclnnop/aclnn_index_select.h.
//   selfRef  tensor, written
//   index    any shape, -n to n - 1 each for n elements of selfRef
//   source   as many elements as index, of selfRef's type
// Codes, after those that all operators share, in this order:
//   161001  selfRef, index or source is null
//   161002  selfRef's type is not in the list; index's is not in its own; source's is not selfRef's
//   161002  selfRef or index has more than 8 dims; index has not as many elements as source
//           (here success is returned when index is empty)
//   161002  selfRef is empty
// clang-format off
ACLNN_API aclnnStatus aclnnInplacePutGetWorkspaceSize(aclTensor* selfRef, const aclTensor* index, const aclTensor* source, bool
    accumulate, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplacePut(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_PUT_H_
