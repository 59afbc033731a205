// aclnnop/aclnn_sum.h: declares nothing: aclnnSum is absent.
// SPDX-License-Identifier: Apache-2.0
//
// It is there because programs include it that do not call what CANN declares in it. One that does fails to compile at the call.
// Sums of a tensor along dims are aclnnReduceSum (aclnnop/aclnn_reduce_sum.h).
#ifndef PORTACL_ACLNNOP_ACLNN_SUM_H_
#define PORTACL_ACLNNOP_ACLNN_SUM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#endif  // PORTACL_ACLNNOP_ACLNN_SUM_H_
