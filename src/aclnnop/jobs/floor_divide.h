// The kernels of floored quotients, shared with aclnnDivMod and aclnnDivMods.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/dispatch.h"

namespace portacl {

// Kernels of two tensors, and of a tensor and the formula's first scalar.
const engine::KernelTable& FlooredQuotientKernels() noexcept;
const engine::KernelTable& FlooredQuotientByScalarKernels() noexcept;

}  // namespace portacl
