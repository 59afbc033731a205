// aclnnop/aclnn_index_select.h: aclnnIndexSelect, the parts of a tensor along a dim that an index tensor names.
// SPDX-License-Identifier: Apache-2.0
//
// Index i of out along dim is index index[i] of self.
//
// Types: arithmetic without BF16, unsigned; BF16 on newer products. index: INT32 or INT64.
//
// Indices, for all operators that have them: what is out of range is known in the stream alone. No byte outside an operand is ever
// read or written: what a bad index names is 0 where it is read, and left out where it is written. Besides, the next synchronisation
// of the stream returns 507015 once and says which index it was, unless PORTACL_INDEX_ERRORS is ignore when the library starts. Where
// elements are named more than once, the last one in row-major order is what is written; sums are added in that order, as float32
// where they are 16-bit floats, and rounded once.
#ifndef PORTACL_ACLNNOP_ACLNN_INDEX_SELECT_H_
#define PORTACL_ACLNNOP_ACLNN_INDEX_SELECT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self   tensor
//   dim    counted from the start or, negative, from the end
//   index  at most one dim, 0 to the length of dim - 1 each
//   out    result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, index or out is null
//   161002  self's type is not in the list, or out's is not self's; index's is not in its list
//   161002  a private format; self has no dims and out has some; self has more than 8 dims; dim is none; index has more than one
//           (here success is returned when self or index is empty)
//   161002  out's shape is not the result's
// clang-format off
ACLNN_API aclnnStatus aclnnIndexSelectGetWorkspaceSize(const aclTensor* self, int64_t dim, const aclTensor* index, aclTensor*
    out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnIndexSelect(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_INDEX_SELECT_H_
