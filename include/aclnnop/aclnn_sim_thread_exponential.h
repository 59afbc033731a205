// aclnnop/aclnn_sim_thread_exponential.h: aclnnSimThreadExponential, exponentially distributed numbers.
// SPDX-License-Identifier: Apache-2.0
//
//   selfRef[i] = -ln(u) / lambda, u between 0 and 1
//
// Values: u has 53 bits; computed in float64 with lambda rounded to float32, and rounded once. Never 0, but 0 alone with an
//   infinite lambda: what would be rounded to 0 becomes the least number of the type.
// Types
//   selfRef  floats, on newer products alone.
#ifndef PORTACL_ACLNNOP_ACLNN_SIM_THREAD_EXPONENTIAL_H_
#define PORTACL_ACLNNOP_ACLNN_SIM_THREAD_EXPONENTIAL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   selfRef       result, of any strides
//   count         the number of its elements
//   lambda        1 over the mean
//   seed, offset  where the numbers begin: "Random numbers" in aclnnop/aclnn_util.h
// Codes, after those that all operators share, in this order:
//   161001  selfRef is null
//   161002  selfRef's type is not in the list
//   561002  count is not the number of elements
//   561002  lambda is not above 0
//   161002  selfRef has more than 8 dimensions
//           (here success is returned when selfRef is empty)
//   561103  selfRef reaches outside its storage
ACLNN_API aclnnStatus aclnnSimThreadExponentialGetWorkspaceSize(aclTensor* selfRef, int64_t count,
                                                                double lambda, int64_t seed, int64_t offset,
                                                                uint64_t* workspaceSize,
                                                                aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSimThreadExponential(void* workspace, uint64_t workspaceSize,
                                                aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SIM_THREAD_EXPONENTIAL_H_
