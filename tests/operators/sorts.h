// Operators that sort, select, search and count, described once: what phase 1 answers, valid calls, and the value of every element.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "support/operator_spec.h"

namespace portacl::testing {

const std::vector<OperatorSpec>& OrderedOperators();
const std::vector<OperatorSpec>& SearchedOperators();
const std::vector<OperatorSpec>& CountedOperators();
const std::vector<OperatorSpec>& MembershipOperators();

}  // namespace portacl::testing
