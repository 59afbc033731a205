// Lists the dtypes that operators accept on the current product, for numeric tests that run on several
// products. Written from CANN's checks, independently of the library under test.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dtype_rules.h"

namespace portacl::testing {

// Tells whether the product of PORTACL_SOC (or the default product) accepts an otherwise correct call with
// these dtypes.
bool ProductTakes(const std::string& op, const std::vector<DtypeNumber>& inputs, DtypeNumber output);

}  // namespace portacl::testing
