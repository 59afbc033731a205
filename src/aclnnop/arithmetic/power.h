// Checks shared by powers of tensors and of scalars.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/phase1.h"
#include "contract/checks.h"

namespace portacl {

// Refuses DOUBLE and complex powers on a machine without their functions.
inline constexpr Check kPowerFunctionsThere = FunctionsThere(kDouble | kComplex, WhyFunctionsAreMissing);

}  // namespace portacl
