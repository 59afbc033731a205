// The kernels of reductions (see reduction_kernels.h), by the files that define them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/reduction/reduction_kernels.h"

namespace portacl::engine {

const ReductionKernels* FindSumReduction(Isa isa, ReductionOperation operation, ElementType terms) noexcept;
const ReductionKernels* FindComplexReduction(ReductionOperation operation) noexcept;

}  // namespace portacl::engine
