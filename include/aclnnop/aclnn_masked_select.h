// aclnnop/aclnn_masked_select.h: aclnnMaskedSelect, the elements of a tensor where a mask is true.
// SPDX-License-Identifier: Apache-2.0
//
// self and mask broadcast together (NumPy's rules); what is chosen follows in row-major order of that, converted to out's type, also
// where no cast of it is allowed elsewhere. UINT8 masks are true where they are not 0.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL; BF16 on newer products; unsigned on Ascend 950; out any of them. mask: UINT8 or BOOL.
// Workspace: a byte for each element, and self where it is not dense or of another type than out.
#ifndef PORTACL_ACLNNOP_ACLNN_MASKED_SELECT_H_
#define PORTACL_ACLNNOP_ACLNN_MASKED_SELECT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h, but: phase 2 waits for the stream, and then sets the view and storage shape
// of out and its strides to what was written, dense; aclGetViewShape tells it. out must live until then.
//   self  tensor
//   mask  which elements
//   out   one dim, made for as many as self and mask broadcast to. Taken as dense
// Codes, after those that all operators share, in this order:
//   161001  self, mask or out is null
//   161002  the type of self, mask or out is not in its list
//   161002  self or mask has more than 8 dims; they do not broadcast; out has not one dim of as many elements
//           (here success is returned when one of them is empty: out's shape stays)
// clang-format off
ACLNN_API aclnnStatus aclnnMaskedSelectGetWorkspaceSize(const aclTensor* self, const aclTensor* mask, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMaskedSelect(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MASKED_SELECT_H_
