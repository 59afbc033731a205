// The kernels of aclnnClamp, shared with aclnnHardtanh.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/dispatch.h"

namespace portacl {

// Kernels of a tensor and two scalars, the lower and the upper bound, of the type of the computation.
const engine::KernelTable& ClampKernels() noexcept;

}  // namespace portacl
