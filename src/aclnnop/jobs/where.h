// The masked fill of aclnnInplaceMaskedFillTensor, shared with aclnnIndexPutImpl for one mask and one value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnn/executor.h"
#include "contract/arguments.h"
#include "engine/map/map_job.h"

namespace portacl {

// Sets the executor's job: sets elements to the value where the mask is true. Mask and value broadcast to the
// filled view. A value of another dtype is cast to that of the filled view.
void SetMaskedFillJob(const OperatorCall& call, const engine::ViewOperand& filled,
                      const engine::ViewOperand& mask, const engine::ViewOperand& value,
                      Executor& executor) noexcept;

}  // namespace portacl
