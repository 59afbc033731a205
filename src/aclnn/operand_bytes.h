// Computes the bytes that a tensor's view covers, for checks of programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnn/tensor.h"
#include "base/sanitizer_hooks.h"

namespace portacl {

// Describes an operand's bytes, from the tensor's data address on. Sets nothing for private formats. For elements of less
// than a byte, and of views that cannot be counted, no more than their bounds.
void SetBytes(const aclTensor& tensor, sanitizer::OperandInfo* operand) noexcept;

}  // namespace portacl
