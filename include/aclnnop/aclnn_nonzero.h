// aclnnop/aclnn_nonzero.h: aclnnNonzero, the indices of the elements that are not 0.
// SPDX-License-Identifier: Apache-2.0
//
// out has a row for each element that is not 0, in row-major order of self: its index in every dim. NaN is not 0, -0 is.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL; BF16 on newer products; unsigned on Ascend 950. out: INT64. Workspace: a byte for each element.
#ifndef PORTACL_ACLNNOP_ACLNN_NONZERO_H_
#define PORTACL_ACLNNOP_ACLNN_NONZERO_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h, but: phase 2 waits for the stream, and then sets the view and storage shape
// of out and its strides to what was written, dense; aclGetViewShape tells it. out must live until then.
//   self  tensor
//   out   made for as many as self has elements: [elements, dims]. Taken as dense; no more is written than it has room for
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's type is not in the list, or out's is not INT64
//   161002  self or out has more than 8 dims; a dim of self is beyond 2^31 - 1
//           (here success is returned when self or out is empty: out's shape stays)
// clang-format off
ACLNN_API aclnnStatus aclnnNonzeroGetWorkspaceSize(const aclTensor* self, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnNonzero(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_NONZERO_H_
