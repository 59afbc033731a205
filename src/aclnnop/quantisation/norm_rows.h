// Shared code of operators that divide rows by their root mean square and quantise them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/quantisation/coded.h"

namespace portacl::quantisation {

// Sets the rows of a job: those of x, each as long as gamma.
void SetRowsOf(const OperatorCall& call, int x, int gamma, engine::QuantiseNormed& job);

// Adds the job as the last step.
void AddNormed(DenseOpList& ops, engine::QuantiseNormed& job);

}  // namespace portacl::quantisation
