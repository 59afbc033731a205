// aclnnop/aclnn_cumsum.h: aclnnCumsum and aclnnCumsumV2, sums of what has come so far along a dim.
// SPDX-License-Identifier: Apache-2.0
//
// out[i] = self[0] + ... + self[i] along dim, of elements converted to out's type first. aclnnCumsumV2: exclusive leaves
// self[i] out, reverse goes from the end. Scans go from the first element along dim to the last, in float64 or modulo 2^n;
// every result is rounded once.
//
// Types of out: FLOAT, FLOAT16, DOUBLE, integers, complex; BF16 on newer products. self: any; aclnnCumsumV2: out's.
#ifndef PORTACL_ACLNNOP_ACLNN_CUMSUM_H_
#define PORTACL_ACLNNOP_ACLNN_CUMSUM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self       tensor
//   dim        counted from the start or, negative, from the end
//   dtype      out's type
//   exclusive  see above
//   reverse    see above
//   out        result, of self's shape
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  out's type is not in the list, or not dtype; aclnnCumsumV2: self's is not in the list, or out's is not self's
//   161002  out's shape is not self's; self has more than 8 dims; dim is none
//           (here success is returned when self is empty: nothing is written)
//   561103  self is not dense and reaches outside its storage; no conversion from self's type exists
// clang-format off
ACLNN_API aclnnStatus aclnnCumsumGetWorkspaceSize(const aclTensor* self, int64_t dim, aclDataType dtype, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnCumsum(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnCumsumV2GetWorkspaceSize(const aclTensor* self, int64_t dim, bool exclusive, bool reverse,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnCumsumV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_CUMSUM_H_
