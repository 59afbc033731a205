// aclnnop/aclnn_index.h: aclnnIndex, the elements of a tensor that a list of index tensors and masks names.
// SPDX-License-Identifier: Apache-2.0
//
// As tensor[indices] in PyTorch: entry i takes dim i of self, or, a mask, as many dims as it has. An entry without elements stands for
// a whole dim; so does what the list leaves out at the end. Index tensors broadcast together. Their dims come where those of self that
// they take were, or first where others lie between them. Negative indices count from the end.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL; BF16 but on Atlas training; COMPLEX64 on Ascend 950. indices: INT32, INT64 or BOOL.
// Workspace: for masks. How many elements a mask names is known in the stream alone: where out was made for another number, the next
// synchronisation of the stream returns 507015, and what is missing becomes 0.
#ifndef PORTACL_ACLNNOP_ACLNN_INDEX_H_
#define PORTACL_ACLNNOP_ACLNN_INDEX_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; bad indices, order of sums: aclnnop/aclnn_index_select.h.
//   self     tensor
//   indices  list
//   out      result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, out, indices or an entry is null
//   161002  out's type is not self's, or is not in the list; that of an entry with elements is not in its list
//   161002  self, out or an entry with elements has a private format; self or an entry has more than 8 dims
//           (here success is returned when self or out is empty)
//   161002  the result would have more than 8 dims; a mask's dims are not self's; entries take more dims than self has or do not
//           broadcast; out's shape is not the result's (CANN goes by out's shape)
//   561103  COMPLEX64 with a mask, or with index tensors of several shapes
// clang-format off
ACLNN_API aclnnStatus aclnnIndexGetWorkspaceSize(const aclTensor* self, const aclTensorList* indices, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnIndex(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_INDEX_H_
