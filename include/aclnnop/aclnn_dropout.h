// aclnnop/aclnn_dropout.h: aclnnDropout, which zeroes elements at random and keeps the mask.
// SPDX-License-Identifier: Apache-2.0
//
//   out[i] = input[i] / (1 - p) with probability 1 - p, else 0
//
// Values: input[i] * c in float32, rounded once, c = fl(1 / k), k = 1 - p rounded to input's type. Elements that are not kept give 0,
//   whatever they are. With p within 2^-52 of 0, or without train, out is input; with p within 2^-52 of 1, or NaN, it is 0;
//   then maskOut is not written.
// Types
//   input    floats; on Ascend 950 without BF16.
//   out      any floating type.
//   maskOut  UINT8; bit i % 8 of byte i / 8, the least significant first, is that of element i: 1 keeps it. Padding bits are 0.
#ifndef PORTACL_ACLNNOP_ACLNN_DROPOUT_H_
#define PORTACL_ACLNNOP_ACLNN_DROPOUT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   input         tensor of n elements
//   p             the probability of zeroing
//   train         false: nothing is zeroed
//   seed, offset  where the numbers begin: "Random numbers" in aclnnop/aclnn_util.h
//   out           result
//   maskOut       the mask, of (n + 127) / 128 * 16 bytes
// Codes, after those that all operators share, in this order:
//   161001  input, out or maskOut is null
//   161002  input's type does not cast to out's; input's type is not in the list; maskOut is not UINT8
//   161002  p is below 0 or above 1
//   161002  input has more than 8 dimensions
//   161002  out's shape is not input's
//   161002  maskOut has another number of elements
//           (here success is returned when input is empty)
//   561103  input or maskOut reaches outside its storage; maskOut has more than 8 dimensions; out's type is none that is
//           computed
ACLNN_API aclnnStatus aclnnDropoutGetWorkspaceSize(const aclTensor* input, double p, bool train, int64_t seed,
                                                   int64_t offset, aclTensor* out, aclTensor* maskOut,
                                                   uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnDropout(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                   aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_DROPOUT_H_
