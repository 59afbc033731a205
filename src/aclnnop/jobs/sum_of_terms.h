// The formula x. aclnnReduceSum and aclnnMean sum it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/isa.h"
#include "engine/map/formula.h"

namespace portacl {

engine::Kernels TermKernels(Isa isa) noexcept;

}  // namespace portacl
