// Chooses the type in which a map computes, and converts operands of every dtype to and from it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/acl_base.h"
#include "base/isa.h"
#include "engine/map/formula.h"

namespace portacl::engine {

// Returns the type in which a formula with kernels for `takes` computes values of a dtype. FLOAT, FLOAT16 and
// BF16 use float32. Integers and BOOL use their own type if there is a kernel for it, else int32, else int64,
// modulo 2^n. DOUBLE and complex numbers use their own. The result is kOther if there is none.
ElementType ComputedType(aclDataType dtype, ElementTypes takes) noexcept;

// Returns the dtype of computed elements.
aclDataType DtypeOf(ElementType computed) noexcept;

// The types of one map.
struct MapTypes {
  Isa isa;
  aclDataType promoted;  // the inputs are cast to it before computing
  ElementType computed;
  bool writes_bool;

  // Returns the load of elements of a dtype, which are first cast to `cast`. Sets `type` to the type in which
  // kernels read the operand: its own if nothing has to be converted, else kOther.
  ElementLoad LoadFor(aclDataType dtype, aclDataType cast, ElementType* type) const noexcept;
  // Returns the store. Floating results are rounded once; integers wrap to `promoted` first.
  ElementStore StoreFor(aclDataType dtype, ElementType* type) const noexcept;
  // Tells whether tiles of an operand of this dtype hold half as many elements.
  bool IsWide(aclDataType dtype) const noexcept;
};

}  // namespace portacl::engine
