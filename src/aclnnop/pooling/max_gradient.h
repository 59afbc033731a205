// The gradient of max pools: adds each element at the position that its index gives.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnn/executor.h"
#include "aclnnop/jobs/op_list.h"
#include "contract/checks.h"

namespace portacl {

struct MaxGradientOperands {
  int gradient;
  int indices;
  int result;
  int axes;
};

// Sets the executor's job. `indices` holds INT32 or INT64 indices in the five dims of PoolView, beginning at
// its operand's storage base. Sums are float32, in the order of the windows, and rounded once.
void SetMaxGradient(const OperatorCall& call, const MaxGradientOperands& operands, const StridedView& indices,
                    Executor& executor);

// Sets the executor's job for windows of one element that are `steps` apart.
void SetGradientOfElements(const OperatorCall& call, const MaxGradientOperands& operands,
                           const int64_t* steps, Executor& executor);

}  // namespace portacl
