// Instructions that multiply words of four INT8 terms, in addition to the instruction set of all other kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/isa.h"

namespace portacl {

// Tells whether this machine has them in vectors of an instruction set: AVX512-VNNI, AVX-VNNI or SDOT.
bool MachineHasByteDot(Isa isa) noexcept;
// Tells whether it has them in AMX's tiles, which the operating system may still refuse.
bool MachineHasByteTiles() noexcept;

}  // namespace portacl
