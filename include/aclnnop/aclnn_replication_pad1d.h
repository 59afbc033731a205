// aclnnop/aclnn_replication_pad1d.h: aclnnReplicationPad1d, a tensor with its edge repeated around it.
// SPDX-License-Identifier: Apache-2.0
//
// padding has two lengths for the last dim: how many elements come before and behind.
// Beyond an edge the edge itself is repeated. Negative ones cut off.
//
// Types: float32, float16, BF16, float64, signed integers, uint8, complex numbers; bool, wider unsigned
//   integers and FLOAT8_E5M2, FLOAT8_E4M3FN on Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_REPLICATION_PAD1D_H_
#define PORTACL_ACLNNOP_ACLNN_REPLICATION_PAD1D_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self     tensor of 2 or 3 dims
//   padding  2 lengths
//   out      result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, padding or out is null
//   161002  self's type is not in the list, or out's is not self's
//   161002  out's format is not self's
//   161002  self does not have 2 or 3 dims, out has another rank, or padding does not have 2 values
//   161002  more is cut off than there is
//   161002  out's shape is not the result's
//   161002  self or out is empty and has no batch, or a dim besides the batch is 0
//           (here success is returned when self or out is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnReplicationPad1dGetWorkspaceSize(const aclTensor* self, const aclIntArray* padding,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnReplicationPad1d(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_REPLICATION_PAD1D_H_
