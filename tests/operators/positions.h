// Operators whose elements depend on their places, and the comparison of whole tensors, described once: phase 1's answers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "support/operator_spec.h"

namespace portacl::testing {

// aclnnArange, aclnnRange, aclnnLinspace, aclnnEye, aclnnTriu, aclnnTril with their in-place forms, aclnnEqual.
std::vector<const OperatorSpec*> PositionOperators();
const OperatorSpec& PositionOperatorNamed(const std::string& name);

}  // namespace portacl::testing
