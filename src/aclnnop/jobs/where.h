// The masked fill of aclnnInplaceMaskedFillTensor, shared with aclnnIndexPutImpl for one mask and one value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnn/executor.h"
#include "contract/arguments.h"

namespace portacl {

enum MaskTensors { kFilled, kMask, kValue };

// Sets the executor's job: sets elements to the value, of the same dtype, where the mask is true. The call's
// operands are these three tensors; their shapes broadcast to that of the filled one.
void SetMaskedFillJob(const OperatorCall& call, Executor& executor) noexcept;

}  // namespace portacl
