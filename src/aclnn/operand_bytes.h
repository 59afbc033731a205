// Computes the bytes that a tensor's view covers, for checks of programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnn/tensor.h"
#include "base/strided_bytes.h"

namespace portacl {

// Returns bytes relative to the tensor's data address. *is_exact is false where the bytes are unknown:
// private formats, elements of less than a byte, and views that cannot be counted.
sanitizer::StridedBytes BytesOf(const aclTensor& tensor, bool* is_exact) noexcept;

}  // namespace portacl
