// (self - target)^2, the formula of aclnnMseLoss and aclnnMseLossOut, which differ in what they sum.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/isa.h"
#include "engine/map/formula.h"

namespace portacl {

engine::Kernels SquaredDifferenceKernels(Isa isa) noexcept;

}  // namespace portacl
