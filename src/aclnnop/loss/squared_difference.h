// The formula (self - target)^2, shared by aclnnMseLoss and aclnnMseLossOut, which differ in the axes that
// they sum.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/isa.h"
#include "engine/map/formula.h"

namespace portacl {

engine::Kernels SquaredDifferenceKernels(Isa isa) noexcept;

}  // namespace portacl
