// aclnnop/aclnn_grouped_matmul_v3.h: declares nothing: aclnnGroupedMatmulV3 is absent.
// SPDX-License-Identifier: Apache-2.0
//
// It is there because programs include it that do not call what CANN declares in it. One that does fails to compile at the call.
#ifndef PORTACL_ACLNNOP_ACLNN_GROUPED_MATMUL_V3_H_
#define PORTACL_ACLNNOP_ACLNN_GROUPED_MATMUL_V3_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#endif  // PORTACL_ACLNNOP_ACLNN_GROUPED_MATMUL_V3_H_
