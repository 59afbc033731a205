// Which bytes a tensor's view covers, for checks of what programs do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnn/tensor.h"
#include "check/strided_bytes.h"

namespace portacl {

// Behind the tensor's data address. Without *is_exact they are not known: of private formats, elements of less than a byte, and
// views that cannot be counted.
sanitizer::StridedBytes BytesOf(const aclTensor& tensor, bool* is_exact) noexcept;

}  // namespace portacl
