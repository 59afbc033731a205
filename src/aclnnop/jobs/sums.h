// Shared code of sums and differences of two tensors, and of a tensor and a scalar.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "aclnnop/phase1.h"
#include "base/data_type.h"
#include "engine/map/map_types.h"

namespace portacl {

inline constexpr DtypeRule kRsubDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble | kIntegers | kComplex);

inline bool IsIntegral(aclDataType dtype) { return !IsFloating(dtype) && !IsComplex(dtype); }

// Returns the kernels that add two tensors which promote to this dtype. Kernels of integers and bool take no
// factor. Others take the factor of the second tensor as the formula's first scalar.
const engine::KernelTable& SumKernels(aclDataType promoted) noexcept;

// Negates scalar i, in the type in which call.promoted is computed.
inline void Negate(const OperatorCall& call, const engine::KernelTable& kernels, engine::Scalars& scalars,
                   int i) {
  unsigned char* const bytes = scalars.bytes[i];
  if (IsIntegral(call.promoted)) {
    uint64_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    value = 0 - value;
    std::memcpy(bytes, &value, sizeof value);
    return;
  }
  const engine::ElementType computed = engine::ComputedType(call.promoted, kernels.takes);
  const bool is_wide = computed == engine::ElementType::kF64 || computed == engine::ElementType::kC128;
  for (int part = 0; part < 2; ++part) bytes[is_wide ? part * 8 + 7 : part * 4 + 3] ^= 0x80;
}

}  // namespace portacl
