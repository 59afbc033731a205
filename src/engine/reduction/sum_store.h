// Stores float64 sums: rounded once to the output's dtype.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "acl/acl_base.h"

namespace portacl::engine {

// Rounds n float64 sums once, to nearest even, and stores them densely.
using SumStoreFunction = void (*)(const double* source, void* destination, size_t n);

// Supports f32, f16 and bf16; f64, c64 and c128 get the widened f32 result, like elementwise results. nullptr
// for other dtypes.
SumStoreFunction FindSumStore(aclDataType dtype) noexcept;

}  // namespace portacl::engine
