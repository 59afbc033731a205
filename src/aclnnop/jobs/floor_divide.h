// The kernels of quotients that are rounded down, which aclnnDivMod and aclnnDivMods use as well.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/dispatch.h"

namespace portacl {

// Of two tensors; of a tensor and a scalar, the first of the formula's.
const engine::KernelTable& FlooredQuotientKernels() noexcept;
const engine::KernelTable& FlooredQuotientByScalarKernels() noexcept;

}  // namespace portacl
