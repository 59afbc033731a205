// What powers of tensors and of scalars share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/phase1.h"
#include "contract/checks.h"
#include "engine/functions/sleef.h"

namespace portacl {

// The functions that DOUBLE and complex powers are made of.
inline bool PowerFunctionsAreThere(const OperatorCall&) noexcept { return engine::SleefIsThere(JobIsa()); }
inline constexpr Check kPowerFunctionsThere = FunctionsThere(kDouble | kComplex, PowerFunctionsAreThere);

}  // namespace portacl
