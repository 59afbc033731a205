// aclnnop/aclnn_bincount.h: aclnnBincount, how often each number is there.
// SPDX-License-Identifier: Apache-2.0
//
// out[i] = how often self has the number i, or the sum of the weights of those places, added in their order: in FLOAT where weights
// are FLOAT, else in DOUBLE; then converted to out's type ("Conversions"). Counts are exact.
//
// Types: self: integers; weights: FLOAT, FLOAT16, DOUBLE, integers, BOOL; out: FLOAT, DOUBLE, INT32, INT64. Workspace: yes.
#ifndef PORTACL_ACLNNOP_ACLNN_BINCOUNT_H_
#define PORTACL_ACLNNOP_ACLNN_BINCOUNT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self       one dim. A number that is negative or not less than out's length is left out, and fails the stream ("Indices" in
//              aclnnop/aclnn_index_select.h)
//   weights    may be null; else self's shape
//   minlength  at most out's length
//   out        one dim
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's type is not in its list; out's is not; weights' is not
//   161002  a private format; self has not one dim; weights' format or shape is not self's
//           (here success is returned when self is empty; out becomes 0 where minlength is positive, else stays)
//   161002  minlength or out's length is more than 2^31 - 1
//   561103  out has not one dim, or fewer elements than minlength; an input is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnBincountGetWorkspaceSize(const aclTensor* self, const aclTensor* weights,
    int64_t minlength, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnBincount(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_BINCOUNT_H_
