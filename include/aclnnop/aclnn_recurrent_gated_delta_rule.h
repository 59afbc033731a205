// aclnnop/aclnn_recurrent_gated_delta_rule.h: declares nothing: aclnnRecurrentGatedDeltaRule is absent.
// SPDX-License-Identifier: Apache-2.0
//
// It is there because programs include it that do not call what CANN declares in it. One that does fails to compile at the call.
#ifndef PORTACL_ACLNNOP_ACLNN_RECURRENT_GATED_DELTA_RULE_H_
#define PORTACL_ACLNNOP_ACLNN_RECURRENT_GATED_DELTA_RULE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#endif  // PORTACL_ACLNNOP_ACLNN_RECURRENT_GATED_DELTA_RULE_H_
