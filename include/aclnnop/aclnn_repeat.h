// aclnnop/aclnn_repeat.h: aclnnRepeat, a tensor several times along each dim.
// SPDX-License-Identifier: Apache-2.0
//
// out is self repeats[i] times along dim i; where repeats has more values than self dims, self has dims of length 1 in front.
//
// Types: arithmetic, BF16, UINT32, UINT64; UINT16 on newer products and Atlas inference; 8-bit floats on Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_REPEAT_H_
#define PORTACL_ACLNNOP_ACLNN_REPEAT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self     tensor
//   repeats  at least 0 each
//   out      result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, repeats or out is null
//   161002  self's type is not in the list, or out's is not self's
//   161002  repeats has fewer values than self dims, or a negative one; self has more than 8 dims, or repeats more values
//           (here success is returned when self or out is empty, or a value of repeats is 0)
//   161002  out's shape is not the result's
// clang-format off
ACLNN_API aclnnStatus aclnnRepeatGetWorkspaceSize(const aclTensor* self, const aclIntArray* repeats, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRepeat(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_REPEAT_H_
