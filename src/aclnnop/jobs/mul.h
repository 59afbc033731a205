// The kernels of aclnnMul and aclnnMuls, shared with products of vectors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/acl_base.h"
#include "engine/map/dispatch.h"

namespace portacl {

// Return the kernels of two tensors that promote to this dtype, and of a tensor other than BOOL and the
// formula's first scalar.
const engine::KernelTable& ProductKernels(aclDataType promoted) noexcept;
const engine::KernelTable& ScaledKernels() noexcept;

}  // namespace portacl
