// The descriptions in operators/, by the names of their functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "support/operator_spec.h"

namespace portacl::testing {

const OperatorSpec& OperatorNamed(const std::string& function);

}  // namespace portacl::testing
