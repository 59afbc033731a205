// Kernels of operators over tensors that those over lists of tensors use as well.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnn/tensor.h"
#include "engine/map/dispatch.h"

namespace portacl {

// alpha * a + a number: the first and the second of the formula's.
const engine::KernelTable& LineKernels() noexcept;
const engine::KernelTable& QuotientKernels() noexcept;
const engine::KernelTable& QuotientByScalarKernels() noexcept;
const engine::KernelTable& GreaterKernels() noexcept;
const engine::KernelTable& LesserKernels() noexcept;
const engine::KernelTable& PowerKernels() noexcept;
// With a number as exponent or, as engine::Scalars says, as base.
const engine::KernelTable& PowerWithScalarKernels() noexcept;
// With this exponent: there are shorter ways to some.
const engine::KernelTable& PowerByKernels(aclDataType promoted, const aclScalar& exponent) noexcept;
const engine::KernelTable& SumWithProductKernels() noexcept;
const engine::KernelTable& SumWithQuotientKernels() noexcept;
const engine::KernelTable& BetweenKernels() noexcept;
const engine::KernelTable& BetweenByScalarKernels() noexcept;

}  // namespace portacl
