// Kernels of operators on tensors, shared with the operators on lists of tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnn/tensor.h"
#include "engine/map/dispatch.h"

namespace portacl {

// alpha * a + number: the formula's first and second scalar.
const engine::KernelTable& LineKernels() noexcept;
const engine::KernelTable& QuotientKernels() noexcept;
const engine::KernelTable& QuotientByScalarKernels() noexcept;
const engine::KernelTable& GreaterKernels() noexcept;
const engine::KernelTable& LesserKernels() noexcept;
const engine::KernelTable& PowerKernels() noexcept;
// The scalar is the exponent, or the base, as engine::Scalars says.
const engine::KernelTable& PowerWithScalarKernels() noexcept;
// Returns the kernels for this exponent; some exponents have faster ones.
const engine::KernelTable& PowerByKernels(aclDataType promoted, const aclScalar& exponent) noexcept;
const engine::KernelTable& SumWithProductKernels() noexcept;
const engine::KernelTable& SumWithQuotientKernels() noexcept;
const engine::KernelTable& BetweenKernels() noexcept;
const engine::KernelTable& BetweenByScalarKernels() noexcept;

}  // namespace portacl
