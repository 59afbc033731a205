// aclnnop/aclnn_util.h: marks the operator functions as exported, wherever they are compiled.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTACL_ACLNNOP_ACLNN_UTIL_H_
#define PORTACL_ACLNNOP_ACLNN_UTIL_H_

#ifndef ACLNN_API
#define ACLNN_API __attribute__((visibility("default")))
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_UTIL_H_
