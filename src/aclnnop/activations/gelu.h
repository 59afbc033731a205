// The kernels of GELU, which aclnnGeGlu uses as well.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/dispatch.h"

namespace portacl {

const engine::KernelTable& GeluKernels(bool tanh) noexcept;

}  // namespace portacl
