// aclnnop/aclnn_range.h: aclnnRange, evenly spaced numbers of a closed range.
// SPDX-License-Identifier: Apache-2.0
//
//   out[i] = start + i * step
//
// Values: one fused step in float64, rounded once, or truncated to INT32; of INT64 exact, from scalars cut to integers. From
//   start up to end, end included, there are floor((end - start) / step) + 1; the size of out is not compared with that.
// Types
//   start, end, step  FLOAT, FLOAT16, DOUBLE, INT8, UINT8, INT16, INT32, INT64, BOOL; BF16 on newer products.
//   out               FLOAT, FLOAT16, DOUBLE, INT32, INT64; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_RANGE_H_
#define PORTACL_ACLNNOP_ACLNN_RANGE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   start, end  first number, and the last one if step meets it
//   step        distance of neighbours; negative counts down
//   out         result, of one dimension or more
// Codes, after those that all operators share, in this order:
//   561103  start, end, step or out is null (not 161001)
//   161002  the type of start, end, step or out is not in its list
//   161002  out has no dimensions
//   161002  step is 0 or NaN; this and the next in float32 or float64 for a floating out; for integers after truncation, so
//           0.5 is 0
//   161002  end is below start with a positive step, above it with a negative one (equal ones pass)
ACLNN_API aclnnStatus aclnnRangeGetWorkspaceSize(const aclScalar* start, const aclScalar* end,
                                                 const aclScalar* step, aclTensor* out,
                                                 uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRange(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_RANGE_H_
