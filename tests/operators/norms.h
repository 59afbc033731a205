// Softmax, norms and losses over classes, described once: what phase 1 answers, valid calls, and the value of every element.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "support/operator_spec.h"

namespace portacl::testing {

const std::vector<OperatorSpec>& RowOperators();
const std::vector<OperatorSpec>& FusedRowOperators();
const std::vector<OperatorSpec>& AffineOperators();
const std::vector<OperatorSpec>& ChannelOperators();
const std::vector<OperatorSpec>& SyncBatchNormOperators();
const std::vector<OperatorSpec>& ClassOperators();
const std::vector<OperatorSpec>& BinaryLossOperators();
const std::vector<OperatorSpec>& CtcOperators();
const std::vector<OperatorSpec>& LinearCrossEntropyOperators();

}  // namespace portacl::testing
