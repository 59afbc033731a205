// Kernels of rounding that operators over lists of tensors use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/dispatch.h"

namespace portacl {

// x rounded as its number says (RoundOff in rounding.cc).
const engine::KernelTable& RoundOffKernels() noexcept;

}  // namespace portacl
