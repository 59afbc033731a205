// Which dtypes the operators take on the product in force, for numeric tests that run on several products. Written down
// from CANN's checks, independently of the library under test.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dtype_rules.h"

namespace portacl::testing {

// Whether the product that PORTACL_SOC names (the default product if it is not set) takes a call, right in every other
// way, with these dtypes.
bool ProductTakes(const std::string& op, const std::vector<DtypeNumber>& inputs, DtypeNumber output);

}  // namespace portacl::testing
