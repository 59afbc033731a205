// The kernels of ReLU, for operators that have it as a stage.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/dispatch.h"

namespace portacl {

const engine::KernelTable& ReluKernels() noexcept;

}  // namespace portacl
