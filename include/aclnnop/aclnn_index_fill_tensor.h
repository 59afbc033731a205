// aclnnop/aclnn_index_fill_tensor.h: aclnnIndexFillTensor and its in-place form, the parts of a tensor that an array names become a value.
// SPDX-License-Identifier: Apache-2.0
//
// out = self, then index index[i] of out along dim becomes value. Negative indices count from the end.
//
// Types: FLOAT, FLOAT16, INT32, INT64, BOOL; BF16 on newer products; INT8, UINT8, INT16, DOUBLE on Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_INDEX_FILL_TENSOR_H_
#define PORTACL_ACLNNOP_ACLNN_INDEX_FILL_TENSOR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self, selfRef  tensor; in place written
//   dim            counted from the start or, negative, from the end
//   index          numbers of the host, read by the first phase
//   value          converted to self's type, exactly so (CANN goes through FLOAT on older products)
//   out            result, of self's type and shape
// Codes, after those that all operators share, in this order:
//   161001  self, index, value or out is null
//   161002  self's type is not in the list, or out's is not self's
//   161002  (where self has elements) out's shape is not self's; self has more than 8 dims; dim is none of them; an index is out of range
//   161002  value is complex
//           (here success is returned when self is empty; index without elements: out becomes self)
//   561103  value's type is none that converts
// clang-format off
ACLNN_API aclnnStatus aclnnIndexFillTensorGetWorkspaceSize(const aclTensor* self, int64_t dim, const aclIntArray* index, const
    aclScalar* value, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnIndexFillTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceIndexFillTensorGetWorkspaceSize(aclTensor* selfRef, int64_t dim, const aclIntArray* index, const
    aclScalar* value, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceIndexFillTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_INDEX_FILL_TENSOR_H_
