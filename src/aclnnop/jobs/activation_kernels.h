// The kernels of activations that other operators have as a part.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/dispatch.h"

namespace portacl {

// GELU by tanh, or by the error function (src/aclnnop/activations/gelu.cc).
const engine::KernelTable& GeluKernels(bool tanh) noexcept;
// GELU of the second input, by tanh or by the error function, times the first one (src/aclnnop/activations/gated.cc).
const engine::KernelTable& GeGluKernels(bool tanh) noexcept;
// ReLU (src/aclnnop/activations/relu.cc).
const engine::KernelTable& ReluKernels() noexcept;

}  // namespace portacl
