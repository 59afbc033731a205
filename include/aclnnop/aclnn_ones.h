// aclnnop/aclnn_ones.h: aclnnInplaceOne, which aclnn_one.h declares.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTACL_ACLNNOP_ACLNN_ONES_H_
#define PORTACL_ACLNNOP_ACLNN_ONES_H_

#include "aclnn_one.h"

#endif  // PORTACL_ACLNNOP_ACLNN_ONES_H_
