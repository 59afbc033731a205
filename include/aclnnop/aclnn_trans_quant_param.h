// aclnnop/aclnn_trans_quant_param.h: aclnnTransQuantParam, which the header of aclnnTransQuantParamV2 declares.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTACL_ACLNNOP_ACLNN_TRANS_QUANT_PARAM_H_
#define PORTACL_ACLNNOP_ACLNN_TRANS_QUANT_PARAM_H_

#include "aclnn_trans_quant_param_v2.h"

#endif  // PORTACL_ACLNNOP_ACLNN_TRANS_QUANT_PARAM_H_
