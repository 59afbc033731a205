// Products of INT8 with a scale for each block of terms, a mode of aclnnQuantMatmulV5 and WeightNz.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/phase1.h"

namespace portacl::matmul {

// Tells whether both scales of a call have blocks: it is then run by RunBlockScaled.
bool IsBlockScaled(const OperatorCall& call) noexcept;
aclnnStatus RunBlockScaled(OperatorCall& call, bool is_fractal, uint64_t* workspaceSize,
                           aclOpExecutor** executor) noexcept;

}  // namespace portacl::matmul
