// The kernels of aclnnMul and aclnnMuls, which products of vectors use as well.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/acl_base.h"
#include "engine/map/dispatch.h"

namespace portacl {

// Of two tensors that promote to this dtype; of a tensor, that is not BOOL, and a number, the first of the formula's.
const engine::KernelTable& ProductKernels(aclDataType promoted) noexcept;
const engine::KernelTable& ScaledKernels() noexcept;

}  // namespace portacl
