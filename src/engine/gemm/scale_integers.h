// Integers as scaled float32.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"

namespace portacl::engine {

// values[j] = sums[j] * scales[j], or sums[j] * scales[0] if there is only one scale. An int32 is converted to float32
// with one rounding. Numbers may begin at any byte; none overlap.
using ScaleIntegersFunction = void (*)(const char* sums, const char* scales, bool is_one_scale, int64_t count,
                                       float* values);
ScaleIntegersFunction FindScaleIntegers(Isa isa) noexcept;

}  // namespace portacl::engine
