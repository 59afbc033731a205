// aclnnop/aclnn_dropout_gen_mask.h: aclnnDropoutGenMask, which draws a dropout mask.
// SPDX-License-Identifier: Apache-2.0
//
//   bit i of out = 1 with probability 1 - prob, else 0
//
// Values: bit i is bit i % 8 of byte i / 8, the least significant first; 1 keeps an element. The bits behind the last element are
//   0, but with prob within 2^-52 of 0, which sets all bytes to 255. Within 2^-52 of 1, and of NaN, all are 0.
// Types
//   out  UINT8.
#ifndef PORTACL_ACLNNOP_ACLNN_DROPOUT_GEN_MASK_H_
#define PORTACL_ACLNNOP_ACLNN_DROPOUT_GEN_MASK_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_dropout_gen_mask_v2.h"  // CANN declares aclnnDropoutGenMaskV2 and V2Tensor here, too
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   shape         dims of the tensor that the mask is for; their product is n
//   prob          the probability of zeroing; NaN passes
//   seed, offset  where the numbers begin: "Random numbers" in aclnnop/aclnn_util.h
//   out           the mask, of (n + 127) / 128 * 16 bytes
// Codes, after those that all operators share, in this order:
//   161001  shape or out is null
//   161002  out is not UINT8
//   161002  prob is below 0 or above 1
//   161002  out has another number of elements
//           (here success is returned when out is empty)
//   561103  out has more than 8 dimensions
ACLNN_API aclnnStatus aclnnDropoutGenMaskGetWorkspaceSize(const aclIntArray* shape, double prob, int64_t seed,
                                                          int64_t offset, aclTensor* out,
                                                          uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnDropoutGenMask(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                          aclrtStream stream);

#ifdef __cplusplus
}
#endif

// CANN declares aclnnDropoutGenMaskV2 and aclnnDropoutGenMaskV2Tensor here, too.
#include "aclnn_dropout_gen_mask_v2.h"

#endif  // PORTACL_ACLNNOP_ACLNN_DROPOUT_GEN_MASK_H_
