// Which kernels folds have (see fold_kernels.h): each file of them says what it has.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/fold/fold_kernels.h"

namespace portacl::engine {

const FoldKernels* FindSumFold(Isa isa, FoldOperation operation, ElementType terms) noexcept;
const FoldKernels* FindComplexFold(FoldOperation operation) noexcept;

}  // namespace portacl::engine
