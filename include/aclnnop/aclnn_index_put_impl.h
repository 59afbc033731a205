// aclnnop/aclnn_index_put_impl.h: aclnnIndexPutImpl, values written to, or added to, the elements that a list of index tensors and masks names.
// SPDX-License-Identifier: Apache-2.0
//
// selfRef[indices] = values, or += values, values broadcast; what indices name is as in aclnnIndex. An entry without elements stands for
// a whole dim where it has selfRef's type or the shape [0].
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL; BF16 but on Atlas training. indices: INT32, INT64 or BOOL. BOOL adds as OR.
// Workspace: for masks, and for sums of FLOAT16 and BF16.
#ifndef PORTACL_ACLNNOP_ACLNN_INDEX_PUT_IMPL_H_
#define PORTACL_ACLNNOP_ACLNN_INDEX_PUT_IMPL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; bad indices, order of sums: aclnnop/aclnn_index_select.h.
//   selfRef     written
//   indices     list
//   values      of selfRef's type
//   accumulate  adds
//   unsafe      changes nothing, as in CANN
// Codes, after those that all operators share, in this order:
//   161001  selfRef, values, indices or an entry is null
//   161002  the type of selfRef or values is not in the list; that of an entry with elements is not in its list
//   161002  values' type is not selfRef's; selfRef has more than 8 dims; there are more entries than dims
//   161002  a mask is there, and an entry with elements, be it an index tensor, has other dims than those of selfRef from its own on
//           (here success is returned when selfRef or values is empty, or every entry stands for a whole dim)
//   161002  index tensors do not broadcast, or name more than 8 dims
//   561103  values do not broadcast to what indices name
// clang-format off
ACLNN_API aclnnStatus aclnnIndexPutImplGetWorkspaceSize(aclTensor* selfRef, const aclTensorList* indices, const aclTensor*
    values, const bool accumulate, const bool unsafe, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnIndexPutImpl(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_INDEX_PUT_IMPL_H_
