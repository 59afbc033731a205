// In which type a map computes, and how operands of every dtype become elements of that type and back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/acl_base.h"
#include "acl/isa.h"
#include "engine/map/formula.h"

namespace portacl::engine {

// The type that values of a dtype are computed in by a formula with kernels for `takes`: float32 for FLOAT, FLOAT16 and BF16;
// for integers and BOOL their own type where there is a kernel for it, else int32, else int64, modulo 2^n; DOUBLE and complex
// numbers their own. kOther where there is none.
ElementType ComputedType(aclDataType dtype, ElementTypes takes) noexcept;

// The dtype of elements as they are computed.
aclDataType DtypeOf(ElementType computed) noexcept;

// The types of one map.
struct MapTypes {
  Isa isa;
  aclDataType promoted;  // what the inputs are cast to, before they are computed
  ElementType computed;
  bool writes_bool;

  // Reads elements of a dtype, cast to `cast` first. `type` becomes what kernels take the operand as: its own type where
  // nothing has to be converted, else kOther.
  ElementLoad LoadFor(aclDataType dtype, aclDataType cast, ElementType* type) const noexcept;
  // Writes them: floating results are rounded once; integers wrap to `promoted` first.
  ElementStore StoreFor(aclDataType dtype, ElementType* type) const noexcept;
  // Whether tiles for an operand of this dtype are half as long.
  bool IsWide(aclDataType dtype) const noexcept;
};

}  // namespace portacl::engine
