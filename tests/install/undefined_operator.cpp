// Must not link: it declares an operator itself that no library defines. `./dev demo` on it must name that operator.
// SPDX-License-Identifier: Apache-2.0
#include "acl/acl.h"
#include "aclnn/acl_meta.h"

extern "C" aclnnStatus aclnnUndefinedLoss(void* workspace, uint64_t size, aclOpExecutor* executor,
                                          aclrtStream stream);

int main() { return aclnnUndefinedLoss(nullptr, 0, nullptr, nullptr) == ACL_SUCCESS ? aclFinalize() : 1; }
