// aclnnop/aclnn_index_add.h: aclnnIndexAdd, the parts of a tensor along a dim added to those of another one that an index tensor names.
// SPDX-License-Identifier: Apache-2.0
//
// out = self, then out[index[i]] += alpha * source[i], i along dim. alpha * source is rounded before it is added; integers modulo 2^n;
// BOOL adds as OR.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL; BF16 on newer products. index: INT32 or INT64. Workspace: for FLOAT16 and BF16.
#ifndef PORTACL_ACLNNOP_ACLNN_INDEX_ADD_H_
#define PORTACL_ACLNNOP_ACLNN_INDEX_ADD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; bad indices, order of sums: aclnnop/aclnn_index_select.h.
//   self    tensor
//   dim     counted from the start or, negative, from the end
//   index   at most one dim, 0 to self's length - 1 each
//   source  self's shape, but along dim as long as index
//   alpha   factor, converted to self's type, FLOAT for FLOAT16 and BF16
//   out     result, of self's type and shape; may be self
// Codes, after those that all operators share, in this order:
//   161001  self, index, source, alpha or out is null
//   161002  the type of self, index, source or out is not in its list, or source's or out's not self's
//   161002  self or source has more than 8 dims; dim is none of self's, or, of a self without dims, not 0
//   161002  source's dims are not self's; index has more than one dim, or another length than source; out's shape is not self's
//           (here success is returned when self or source is empty; out is not written)
// clang-format off
ACLNN_API aclnnStatus aclnnIndexAddGetWorkspaceSize(const aclTensor* self, const int64_t dim, const aclTensor* index, const
    aclTensor* source, const aclScalar* alpha, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnIndexAdd(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_INDEX_ADD_H_
