// aclnnop/aclnn_histc.h: aclnnHistc, how many elements lie in each of several bins of one width.
// SPDX-License-Identifier: Apache-2.0
//
// x with min <= x <= max belongs to bin trunc((x - min) * bins / (max - min)), max itself to the last one; others, and NaN, to none.
// FLOAT and FLOAT16 are computed in FLOAT, in that order; integers exactly. min and max are converted to FLOAT, and then to self's
// type. Where they are the same (floats: less than 1e-6 apart, or one infinity), self's least and greatest element are taken, without
// NaN, and where these are the same, too, one less and one more.
//
// Types: FLOAT, FLOAT16, integers. Workspace: yes.
#ifndef PORTACL_ACLNNOP_ACLNN_HISTC_H_
#define PORTACL_ACLNNOP_ACLNN_HISTC_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self      tensor
//   bins      1 or more
//   min, max  numbers
//   out       [bins], of a type of the list that casts to self's. Counts are converted to it
// Codes, after those that all operators share, in this order:
//   161001  self, out, max or min is null
//   161002  self's type is not in the list; out's is not
//   161002  min or max is NaN, or infinite, but for both the same infinity
//   161002  bins is less than 1; min is greater than max: of integers, as INT32
//   161002  out's type does not cast to self's; out has not one dim; self has more than 8; out's length is not bins
//           (here an empty self makes out 0)
//   561103  min or max is of a type that does not convert; self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnHistcGetWorkspaceSize(const aclTensor* self, int64_t bins, const aclScalar* min,
    const aclScalar* max, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnHistc(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_HISTC_H_
