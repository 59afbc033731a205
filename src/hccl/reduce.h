// Elements of several ranks, put together in the order of ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "hccl/hccl_types.h"

namespace portacl::hccl {

// Bytes of an element, 0 for what is no type.
size_t ElementSize(HcclDataType type) noexcept;
const char* TypeName(HcclDataType type) noexcept;

// out[i] = ((inputs[0][i] op inputs[1][i]) op inputs[2][i]) ... ; 16-bit floats in float32, rounded once; integers modulo 2^n; NaN wins
// over every number in MAX and MIN. `out` may be any of the inputs, or apart from all. nullptr: the type cannot be reduced.
using ReduceFunction = void (*)(const void* const* inputs, int count, void* out, size_t elements);
ReduceFunction FindReduce(HcclDataType type, HcclReduceOp op) noexcept;

}  // namespace portacl::hccl
