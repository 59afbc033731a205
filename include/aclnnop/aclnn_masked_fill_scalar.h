// aclnnop/aclnn_masked_fill_scalar.h: aclnnInplaceMaskedFillScalar, which fills a tensor where a mask is true.
// SPDX-License-Identifier: Apache-2.0
//
//   selfRef = value where mask is true; elsewhere it stays
//
// Values: value is converted to selfRef's type ("Conversions" in aclnnop/aclnn_util.h), whether it casts to it or not: 1.5
//   into INT32 is 1. A complex one becomes 0.
// Types
//   selfRef  FLOAT, FLOAT16, INT8, INT32, INT64, BOOL; BF16 on newer products.
//   mask     BOOL.
//   value    any.
#ifndef PORTACL_ACLNNOP_ACLNN_MASKED_FILL_SCALAR_H_
#define PORTACL_ACLNNOP_ACLNN_MASKED_FILL_SCALAR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   selfRef  tensor to fill
//   mask     where; broadcasts to selfRef's shape
//   value    with what, scalar
// Codes, after those that all operators share, in this order:
//   161001  selfRef, mask or value is null
//   161002  the type of selfRef or mask is not in its list
//   161002  selfRef or mask has more than 8 dimensions
//   161002  mask does not broadcast to selfRef's shape
//           (here success is returned when selfRef or mask is empty)
ACLNN_API aclnnStatus aclnnInplaceMaskedFillScalarGetWorkspaceSize(aclTensor* selfRef, const aclTensor* mask,
                                                                   const aclScalar* value,
                                                                   uint64_t* workspaceSize,
                                                                   aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceMaskedFillScalar(void* workspace, uint64_t workspaceSize,
                                                   aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MASKED_FILL_SCALAR_H_
