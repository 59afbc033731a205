// The kernels of GELU, shared with aclnnGeGlu.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/dispatch.h"

namespace portacl {

const engine::KernelTable& GeluKernels(bool tanh) noexcept;

}  // namespace portacl
