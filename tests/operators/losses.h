// The losses of self and target and their gradients, described once: phase 1's answers, valid calls, and what they compute.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "support/operator_spec.h"
#include "support/operator_under_test.h"

namespace portacl::testing {

// What phase 1 answers to every call.
std::vector<const OperatorSpec*> LossOperators();
const OperatorSpec& LossOperator(const std::string& name);

// What they compute. A loss without a reduction is an elementwise operator, so it is described apart from its reductions.
const NumericDescription& DescribeL1Loss();
const NumericDescription& DescribeReducedL1Loss();
const NumericDescription& DescribeSmoothL1Loss();
const NumericDescription& DescribeReducedSmoothL1Loss();
const NumericDescription& DescribeKlDiv();
const NumericDescription& DescribeReducedKlDiv();
const NumericDescription& DescribeMseLoss();
const NumericDescription& DescribeReducedMseLoss();
const NumericDescription& DescribeMseLossOut();
const NumericDescription& DescribeReducedMseLossOut();
const NumericDescription& DescribeL1LossBackward();
const NumericDescription& DescribeSmoothL1LossBackward();
const NumericDescription& DescribeKlDivBackward();
const NumericDescription& DescribeKlDivTargetBackward();
const NumericDescription& DescribeMseLossBackward();

// Those whose first input is gradOutput.
std::vector<const NumericDescription*> AllGradients();
// Those of self and target alone, without a reduction.
std::vector<const NumericDescription*> AllLosses();
// The same with a reduction.
std::vector<const NumericDescription*> AllReducedLosses();
// Every operator that computes in floats once, called without a reduction.
std::vector<const NumericDescription*> AllOperators();

// The divisor of aclnnKlDivBackward's terms over R.
int64_t KlDivDivisor(const Shape& r, const Attributes& attributes);

}  // namespace portacl::testing
