// The kernels of aclnnClamp, which aclnnHardtanh uses as well.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/dispatch.h"

namespace portacl {

// Of a tensor and the lower and upper bound, scalars of the type that is computed in.
const engine::KernelTable& ClampKernels() noexcept;

}  // namespace portacl
