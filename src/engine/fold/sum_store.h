// How sums leave float64: rounded once to the output's dtype.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "acl/acl_base.h"

namespace portacl::engine {

// Rounds n float64 sums once, to nearest even, and stores them densely.
using SumStoreFunction = void (*)(const double* source, void* destination, size_t n);

// f32, f16, bf16; f64, c64 and c128 get what f32 would, widened, as elementwise results do. nullptr for any
// other dtype.
SumStoreFunction FindSumStore(aclDataType dtype) noexcept;

}  // namespace portacl::engine
