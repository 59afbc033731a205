// Shared code of operators that divide rows by their root mean square and quantise them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/quantisation/coded.h"

namespace portacl::quantisation {

// Sets what all jobs read: the rows of x, each as long as gamma, by which they are multiplied, and epsilon.
void SetRowsOf(DenseOpList& ops, const OperatorCall& call, int x, int gamma, int epsilon,
               engine::QuantiseNormed& job);

// Adds the job as the last op.
void AddNormed(DenseOpList& ops, engine::QuantiseNormed& job);

}  // namespace portacl::quantisation
