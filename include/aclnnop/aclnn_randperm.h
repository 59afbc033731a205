// aclnnop/aclnn_randperm.h: aclnnRandperm, a random permutation.
// SPDX-License-Identifier: Apache-2.0
//
//   out = the numbers 0 to n - 1 in random order
//
// Values: every order as likely as any other, as far as the seed allows. The numbers are converted to out's type, whether it has
//   them or not.
// Types
//   out  FLOAT, FLOAT16, DOUBLE, INT8, UINT8, INT16, INT32, INT64; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_RANDPERM_H_
#define PORTACL_ACLNNOP_ACLNN_RANDPERM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. The workspace is 4 bytes for each number, 8 from 2^32 on.
//   n             how many numbers
//   seed, offset  where the numbers begin: "Random numbers" in aclnnop/aclnn_util.h
//   out           result, of shape [n]
// Codes, after those that all operators share, in this order:
//   561103  out is null
//   161002  out's type is not in the list
//   161002  out's shape is not [n]
//   161002  n is negative
//           (here success is returned when n is 0)
ACLNN_API aclnnStatus aclnnRandpermGetWorkspaceSize(int64_t n, int64_t seed, int64_t offset, aclTensor* out,
                                                    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRandperm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                    aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_RANDPERM_H_
