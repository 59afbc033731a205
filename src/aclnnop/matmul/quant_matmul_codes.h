// Products of 8-bit and 4-bit floats, of INT8 with INT4, and of INT4 with offsets, modes of aclnnQuantMatmulV5 and
// WeightNz.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/phase1.h"

namespace portacl::matmul {

// Tells whether the types of a call are those of such a mode: it is then run by RunCodes.
bool AreCodes(const OperatorCall& call) noexcept;
aclnnStatus RunCodes(OperatorCall& call, bool is_fractal, uint64_t* workspaceSize,
                     aclOpExecutor** executor) noexcept;

}  // namespace portacl::matmul
