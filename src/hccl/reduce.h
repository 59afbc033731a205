// Reductions of elements of several ranks, in the order of ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "hccl/hccl_types.h"

namespace portacl::hccl {

// Returns the bytes of an element, or 0 if the type is invalid.
size_t ElementSize(HcclDataType type) noexcept;
const char* TypeName(HcclDataType type) noexcept;

// out[i] = ((inputs[0][i] op inputs[1][i]) op inputs[2][i]) ... 16-bit floats are computed in float32 and
// rounded once; integers are modulo 2^n; NaN wins over every number in MAX and MIN. `out` may be one of the
// inputs, or separate from all. Returns nullptr if the type cannot be reduced.
using ReduceFunction = void (*)(const void* const* inputs, int count, void* out, size_t elements);
ReduceFunction FindReduce(HcclDataType type, HcclReduceOp op) noexcept;

}  // namespace portacl::hccl
