// aclnnop/aclnn_linalg_qr.h: aclnnLinalgQr, orthogonal and triangular factors of matrices.
// SPDX-License-Identifier: Apache-2.0
//
// self = Q R, Q with orthonormal columns, R zero below its diagonal; by reflections, as LAPACK makes them. FLOAT16 in float32. Q and R
// of another type than self's are cast at the end: of complex numbers the real part.
//
// Types: FLOAT, FLOAT16, DOUBLE, COMPLEX64, COMPLEX128, each tensor by itself.
#ifndef PORTACL_ACLNNOP_ACLNN_LINALG_QR_H_
#define PORTACL_ACLNNOP_ACLNN_LINALG_QR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. k is the lesser of m and n.
//   self  [..., m, n]
//   mode  1: complete; 2: R alone; else reduced
//   Q     [..., m, k], complete [..., m, m], of R alone [0]
//   R     [..., k, n], complete [..., m, n]
// Codes, after those that all operators share, in this order:
//   561103  self, Q or R is null
//   161002  a type is not in the list
//   161002  self's rank is not 2 to 8; Q's or R's shape is another
//           (here success is returned when Q and R are empty)
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnLinalgQrGetWorkspaceSize(const aclTensor* self, int64_t mode, aclTensor* Q, aclTensor* R, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLinalgQr(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LINALG_QR_H_
