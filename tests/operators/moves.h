// Copies, casts and fills, described once: phase 1's answers and how they are called.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "support/operator_spec.h"

namespace portacl::testing {

// aclnnInplaceCopy, aclnnCast, aclnnInplaceFillScalar, aclnnInplaceFillTensor, aclnnInplaceZero, aclnnInplaceOne.
std::vector<const OperatorSpec*> MoveOperators();
const OperatorSpec& MoveOperatorNamed(const std::string& name);

}  // namespace portacl::testing
