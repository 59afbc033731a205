// Hooks by which tests see which instruction set the kernels run on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/isa.h"

namespace portacl::engine {

using portacl::Isa;
using portacl::IsaName;
using portacl::SupportedIsas;

// What the configuration in force chose.
Isa IsaInUse() noexcept;

// The instruction set of the vector kernel that ran last in this process, as the kernel itself reports it.
Isa IsaThatRanLast() noexcept;
void ReportIsaThatRan(Isa isa) noexcept;

}  // namespace portacl::engine
