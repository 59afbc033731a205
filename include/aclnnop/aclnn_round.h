// aclnnop/aclnn_round.h: aclnnRound, aclnnRoundDecimals and their in-place forms: rounding to integers, or to decimals.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self rounded to the nearest integer, halves to the even one
//
//   RoundDecimals, d = decimals:  round(self)                  d = 0
//                                 round(self * 10^d) / 10^d    d > 0
//                                 round(self / 10^-d) * 10^-d  d < 0
//
// Values: Round is exact and keeps the sign, that of a zero result too. RoundDecimals computes the three steps in float32
//   (DOUBLE: float64), each rounded; where |d| > 38 every FLOAT, FLOAT16 or BF16 is NaN, as on Ascend 950. Integers stay for
//   d >= 0; for d < 0 they are rounded to a multiple of 10^-d in exact integers, halves to even, modulo 2^n, and are 0 where
//   10^-d has more digits than the type.
// Types
//   self     floats, DOUBLE, INT32, INT64; BF16 on every product but Atlas 910.
//   out      self's type.
//   selfRef  self's types, integers included.
#ifndef PORTACL_ACLNNOP_ACLNN_ROUND_H_
#define PORTACL_ACLNNOP_ACLNN_ROUND_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self      operand
//   decimals  digits after the point; any number, negative ones too
//   out       result
//   selfRef   operand and result
// The format that is refused: a private storage format of self or out.
ACLNN_API aclnnStatus aclnnRoundGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                 uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRound(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceRoundGetWorkspaceSize(const aclTensor* selfRef, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceRound(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);
ACLNN_API aclnnStatus aclnnRoundDecimalsGetWorkspaceSize(const aclTensor* self, int64_t decimals,
                                                         aclTensor* out, uint64_t* workspaceSize,
                                                         aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRoundDecimals(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                         aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceRoundDecimalsGetWorkspaceSize(aclTensor* selfRef, int64_t decimals,
                                                                uint64_t* workspaceSize,
                                                                aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceRoundDecimals(void* workspace, uint64_t workspaceSize,
                                                aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ROUND_H_
