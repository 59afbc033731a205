// What powers of tensors and of scalars share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/phase1.h"
#include "contract/checks.h"

namespace portacl {

// The functions that DOUBLE and complex powers are made of.
inline constexpr Check kPowerFunctionsThere = FunctionsThere(kDouble | kComplex, WhyFunctionsAreMissing);

}  // namespace portacl
