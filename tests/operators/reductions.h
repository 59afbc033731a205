// Reductions and scans, described once: what phase 1 answers, valid calls, and the value of every result.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "support/operator_spec.h"

namespace portacl::testing {

const std::vector<OperatorSpec>& ReductionOperators();

// Which elements become one result: those of some dims, of one dim, all, a diagonal, or those of a line up to a place.
enum class ReducedOver : uint8_t { kDims, kDim, kAll, kDiagonal, kLine };
ReducedOver OverOf(const OperatorSpec& op);
// The valid call over these dims, or over the first where it takes one, with every flag set. `order` is a norm's.
PlanCall CallOver(const OperatorSpec& op, const Shape& dims, int64_t order = 2);

}  // namespace portacl::testing
