// Grouped products of 8-bit and 4-bit floats on Ascend 950, for aclnnGroupedMatmulV4 and V5.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contract/checks.h"

namespace portacl::grouped {

// Tells whether a call is one of these.
bool AreCodes(const OperatorCall& call) noexcept;
aclnnStatus RunCodes(const OperatorCall& call, uint64_t* workspaceSize, aclOpExecutor** executor) noexcept;

}  // namespace portacl::grouped
