// aclnnop/aclnn_arange.h: aclnnArange, evenly spaced numbers of a half-open range.
// SPDX-License-Identifier: Apache-2.0
//
//   out[i] = start + i * step
//
// Values: floating types are computed in float32 (DOUBLE: float64) as one fused multiply-add of the rounded start and step,
//   and rounded once; integers exactly. All of out is written, however many elements it has: its shape and size are not
//   compared with the range. From start up to end without end there are ceil((end - start) / step).
// Types
//   start, end, step  FLOAT, FLOAT16, DOUBLE, INT8, UINT8, INT16, INT32, INT64, BOOL; BF16 on newer products.
//   out               FLOAT, FLOAT16, DOUBLE, INT32, INT64; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_ARANGE_H_
#define PORTACL_ACLNNOP_ACLNN_ARANGE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   start, end  first number, and the bound that is not reached
//   step        distance of neighbours; negative counts down
//   out         result, of any shape
// Codes, after those that all operators share, in this order:
//   161001  start, end, step or out is null
//   161002  the type of start, end, step or out is not in its list
//   161002  step is 0 or NaN; this and the next in float32 or float64 for a floating out; for integers after truncation, so
//           0.5 is 0
//   161002  end is below start with a positive step, above it with a negative one (equal ones pass)
ACLNN_API aclnnStatus aclnnArangeGetWorkspaceSize(const aclScalar* start, const aclScalar* end,
                                                  const aclScalar* step, aclTensor* out,
                                                  uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnArange(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                  aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ARANGE_H_
