// aclnnop/aclnn_index_fill.h: aclnnIndexFill and its in-place form, the parts of a tensor that an index tensor names become one value.
// SPDX-License-Identifier: Apache-2.0
//
// out = self, then index index[i] of out along dim becomes value. Negative indices count from the end; those out of range are passed over,
// and fail nothing.
//
// Types: FLOAT, FLOAT16, BF16, INT32, INT64, BOOL on newer products; INT8, UINT8, INT16, DOUBLE on Ascend 950; none on older ones.
// index: INT32 or INT64. Workspace: for an index of several dims that is not dense.
#ifndef PORTACL_ACLNNOP_ACLNN_INDEX_FILL_H_
#define PORTACL_ACLNNOP_ACLNN_INDEX_FILL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; other indices: aclnnop/aclnn_index_select.h.
//   self, selfRef  tensor; in place written
//   dim            counted from the start or, negative, from the end
//   index          any shape
//   value          converted to self's type; of a complex one nothing is left
//   out            result, of self's type and shape
// Codes, after those that all operators share, in this order:
//   161001  self, index, value or out is null
//   161002  self's type is not in the list, or out's is not self's; index's is not in its list
//           (self without elements: the next line is left out, and success is returned; index without elements: out becomes self)
//   161002  out's shape is not self's; self has more than 8 dims; dim is none of them
//   561103  value's type is none that converts
// clang-format off
ACLNN_API aclnnStatus aclnnIndexFillGetWorkspaceSize(const aclTensor* self, int64_t dim, const aclTensor* index, const aclScalar*
    value, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnIndexFill(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceIndexFillGetWorkspaceSize(aclTensor* selfRef, int64_t dim, const aclTensor* index, const aclScalar*
    value, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceIndexFill(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_INDEX_FILL_H_
