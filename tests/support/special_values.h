// Values at which floating-point code typically fails, for each data type.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "dtype_rules.h"

namespace portacl::testing {

// Returns bit patterns of f32, f16 or bf16: NaNs of both signs, quiet and signalling, infinities, zeros, the
// ends of the subnormal and normal ranges, 1 and its neighbours, and a few ordinary numbers.
std::vector<uint32_t> SpecialBits(DtypeNumber dtype);

// Returns integers at which a conversion to f16, bf16 or f32 ties, overflows, or would round twice if it went
// through f32, as far as they fit the integer type.
std::vector<int64_t> SpecialIntegers(DtypeNumber dtype);

}  // namespace portacl::testing
