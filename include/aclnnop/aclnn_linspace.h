// aclnnop/aclnn_linspace.h: aclnnLinspace, a number of evenly spaced numbers.
// SPDX-License-Identifier: Apache-2.0
//
//   d = (end - start) / (steps - 1)
//   out[i] = start + i * d in the first half, end - (steps - 1 - i) * d in the second
//   one step: out = start
//
// Values: floats are computed in float32, DOUBLE and integers in float64, each as one fused multiply-add; the last element is
//   exactly end. For an integer out
//   start and end are first converted to its type, and the results truncated toward zero.
// Types
//   start, end  any real type.
//   out         FLOAT, FLOAT16, DOUBLE, INT8, UINT8, INT32 on Atlas 910 and 310P; newer products also BF16, INT16, INT64;
//               nothing on others.
#ifndef PORTACL_ACLNNOP_ACLNN_LINSPACE_H_
#define PORTACL_ACLNNOP_ACLNN_LINSPACE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   start, end  first and last number
//   steps       how many
//   out         result, of one dimension
// Codes, after those that all operators share, in this order:
//   561103  start, end or out is null (not 161001)
//   161002  start or end is complex
//   161002  out's type is not in its list
//   161002  steps is negative, or out has not as many elements
//           (here success is returned when steps is 0)
//   561103  steps is above 1 and out has another shape than (steps)
ACLNN_API aclnnStatus aclnnLinspaceGetWorkspaceSize(const aclScalar* start, const aclScalar* end,
                                                    int64_t steps, aclTensor* out, uint64_t* workspaceSize,
                                                    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLinspace(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                    aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LINSPACE_H_
