// The masked fill of aclnnInplaceMaskedFillTensor, which writing by one mask and one value is as well.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnn/executor.h"
#include "contract/arguments.h"

namespace portacl {

enum MaskTensors { kFilled, kMask, kValue };

// Sets the executor's job: where the mask is true, elements become the value, of the same dtype. The call has these three tensors as its
// operands; shapes broadcast to that of what is filled.
void SetMaskedFillJob(const OperatorCall& call, Executor& executor) noexcept;

}  // namespace portacl
