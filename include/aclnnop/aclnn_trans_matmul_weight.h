// aclnnop/aclnn_trans_matmul_weight.h: aclnnTransMatmulWeight, the layout of a weight for matrix products, and its size.
// SPDX-License-Identifier: Apache-2.0
//
// On an NPU the weight's elements are put into the order of FRACTAL_NZ, padded. Here the bytes stay as they are: what has that format
// lies as its view's strides say, for every matrix product. Phase 1 gives the tensor the format and the storage's shape that it has
// on an NPU, [..., columns / c0, rows / 16, 16, c0] with quotients rounded up and c0 = 32 bytes; its view stays. The sizes are those
// of the padded form, in elements: the last two dims rounded up to multiples of 16 and 16, of other types than FLOAT16 and BF16 of 16
// and 32. A program may allocate as much.
//
// Types: FLOAT16; INT8 too on Atlas inference; BF16, INT8, uint8, FLOAT8_E4M3FN, HIFLOAT8 too on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_TRANS_MATMUL_WEIGHT_H_
#define PORTACL_ACLNNOP_ACLNN_TRANS_MATMUL_WEIGHT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h, but for the sizes, which are there at once.
//   mmWeightRef  weight
// Codes, after those that all operators share, in this order:
//   161001  mmWeightRef is null
//   161002  its type is not in the list, its format is not ND, or it has more than 8 dims
//           (here success is returned when it is empty)
//   161002  it does not have 2 to 6 dims, 2 on products other than Atlas A2 and A3 but of INT8
//   tensorShape       the weight's shape
//   weightTensorSize  result
// Codes: 361001 on Atlas training and Atlas 200I/500 A2 (V2 alone); 161001 a pointer is null; 161002 tensorShape does not have 2 to 6
// values (2 on products other than Atlas A2 and A3, not V2), or one is negative (V2: less than 1).
// clang-format off
ACLNN_API aclnnStatus aclnnTransMatmulWeightGetWorkspaceSize(aclTensor* mmWeightRef, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnTransMatmulWeight(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray* tensorShape, uint64_t* weightTensorSize);
ACLNN_API aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray* tensorShape, aclDataType dataType,
    uint64_t* weightTensorSize);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_TRANS_MATMUL_WEIGHT_H_
