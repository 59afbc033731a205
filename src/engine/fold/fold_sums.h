// The kernels of reductions (see fold_kernels.h), by the files that define them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/fold/fold_kernels.h"

namespace portacl::engine {

const FoldKernels* FindSumFold(Isa isa, FoldOperation operation, ElementType terms) noexcept;
const FoldKernels* FindComplexFold(FoldOperation operation) noexcept;

}  // namespace portacl::engine
