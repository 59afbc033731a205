// Hooks with which tests observe the kernels' instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/isa.h"

namespace portacl::engine {

using portacl::Isa;
using portacl::IsaName;
using portacl::SupportedIsas;

// Returns the choice of the configuration in force.
Isa IsaInUse() noexcept;

// The instruction set of the vector kernel that ran last in this process, as the kernel reports it.
Isa IsaThatRanLast() noexcept;
void ReportIsaThatRan(Isa isa) noexcept;

}  // namespace portacl::engine
