// aclnnop/aclnn_quant_matmul_v3.h: aclnnQuantMatmulV3, a product of matrices of 8 or 4 bits, scaled by columns.
// SPDX-License-Identifier: Apache-2.0
//
// out = (x1 @ x2 + bias) * scale + offset, or, with a bias of another type than INT32, (x1 @ x2) * scale + bias: sums exact modulo 2^32, then
// FLOAT, each operation rounded, and once to out's type, INT8 saturated. out of INT32 is x1 @ x2 + bias.
//
// Types: x1, x2 INT8, or INT4, or INT32 of eight INT4 each, the lowest bits first, along the one of the last two dims that lies side by side; both
// the same. On Atlas inference products INT8.
// scale, out, bias: UINT64 or INT64 (aclnn_trans_quant_param_v2.h), FLOAT16, INT32; of INT8 also: the same, INT8, INT32, with an offset of
// FLOAT; FLOAT or BF16, BF16, INT32, BF16 or FLOAT; FLOAT or BF16, INT32, INT32. Of those, on Atlas inference products, what has 64 bits.
#ifndef PORTACL_ACLNNOP_ACLNN_QUANT_MATMUL_V3_H_
#define PORTACL_ACLNNOP_ACLNN_QUANT_MATMUL_V3_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   x1           [..., m, k], 2 to 6 dims; with transposeX1 [..., k, m]
//   x2           [..., k, n], the same; batches broadcast
//   scale        [1] or [n], or the same behind dims of 1, as many dims as x2
//   offset       [1] or [n], or null: of scales of 64 bits their own is added for INT8
//   bias         [n], or [b, 1, n] with b matrices of results, or null
//   out          result [..., m, n]; of two matrices [m, 1, n] too
// Codes, after those that all operators share, in this order:
//   161001  x1, x2, scale or out is null
//   361001  the product is none of the above
//   161002  types do not go together; x1 or x2 has not 2 to 6 dims, or, but for INT8 with a scale of FLOAT or BF16 on Atlas A2 and A3, more than
//           65535 elements along the dim that lies side by side; INT32 lies otherwise; terms, batches or another shape do not fit; a private
//           format; an input has no elements, on Ascend 950 no terms; the workspace would have more
//           than 2^63 bytes
// clang-format off
ACLNN_API aclnnStatus aclnnQuantMatmulV3GetWorkspaceSize(const aclTensor* x1, const aclTensor* x2, const aclTensor* scale,
    const aclTensor* offset, const aclTensor* bias, bool transposeX1, bool transposeX2, const aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnQuantMatmulV3(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_QUANT_MATMUL_V3_H_
