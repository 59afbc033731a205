// Rounding kernels, shared with operators on lists of tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/dispatch.h"

namespace portacl {

// Kernels that round x as the formula's scalar says (RoundOff in rounding.cc).
const engine::KernelTable& RoundOffKernels() noexcept;

}  // namespace portacl
