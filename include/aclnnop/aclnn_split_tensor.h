// aclnnop/aclnn_split_tensor.h: aclnnSplitTensor, a tensor cut along a dim into parts of one length.
// SPDX-License-Identifier: Apache-2.0
//
// Part i has the elements from i * splitSections on, splitSections of them; the last one may have fewer. What out has more than
// there are parts is left alone. Parts are converted to out's type, also where no cast of it is allowed elsewhere.
//
// Types: arithmetic and BF16, on every product; unsigned on Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_SPLIT_TENSOR_H_
#define PORTACL_ACLNNOP_ACLNN_SPLIT_TENSOR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self           tensor
//   splitSections  length of a part
//   dim            counted from the start or, negative, from the end
//   out            parts, all of one type
// Codes, after those that all operators share, in this order:
//   161001  self, out or an entry of out (CANN crashes) is null
//   161002  self's type or that of an entry of out is not in the list; the entries' types differ
//   161002  self has no dims or more than 8, or an entry of out more than 8; dim is none of self's
//   161002  splitSections is 0 where dim is longer, or is not 0 where dim has length 0
//   161002  out has too few tensors
//           (here success is returned when self is empty)
//   161002  the shape of an entry is not its part's, be it that both have one element; 561103 where splitSections is the
//           whole length, or there are more than 32 parts (512 on Ascend 950)
// clang-format off
ACLNN_API aclnnStatus aclnnSplitTensorGetWorkspaceSize(const aclTensor* self, uint64_t splitSections, int64_t dim,
    aclTensorList* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSplitTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SPLIT_TENSOR_H_
