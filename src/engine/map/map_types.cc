// Types of maps (see map_types.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/map/map_types.h"

#include <initializer_list>

#include "engine/move/conversion.h"

namespace portacl::engine {
namespace {

using enum ElementType;

bool IsFloat32OrHalf(aclDataType dtype) {
  return dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16;
}

bool IsComplex(aclDataType dtype) { return dtype == ACL_COMPLEX64 || dtype == ACL_COMPLEX128; }

// Returns the size of the real part if a cast keeps only that part of a complex number, else 0.
int RealSize(aclDataType from, aclDataType to) {
  if (!IsComplex(from) || IsComplex(to) || to == ACL_BOOL) return 0;
  return from == ACL_COMPLEX64 ? sizeof(float) : sizeof(double);
}

// Returns nullptr if the bytes stay as they are.
const Conversion* Between(Isa isa, aclDataType from, aclDataType to) {
  if (from == to) return nullptr;
  const Conversion& conversion = ConversionBetween(isa, from, to);
  return conversion.KeepsBytes() && RealSize(from, to) == 0 ? nullptr : &conversion;
}

}  // namespace

ElementType ComputedType(aclDataType dtype, ElementTypes takes) noexcept {
  const auto first = [&](std::initializer_list<ElementType> types) {
    for (const ElementType type : types) {
      if ((takes & SetOf(type)) != 0) return type;
    }
    return kOther;
  };
  switch (dtype) {
    case ACL_FLOAT:
    case ACL_FLOAT16:
    case ACL_BF16:
      return first({kF32});
    case ACL_DOUBLE:
      return first({kF64});
    case ACL_BOOL:
      return first({kBool, kI32, kI64});
    case ACL_INT8:
      return first({kI8, kI32, kI64});
    case ACL_UINT8:
      return first({kU8, kI32, kI64});
    case ACL_INT16:
      return first({kI16, kI32, kI64});
    case ACL_UINT16:
      return first({kU16, kI32, kI64});
    case ACL_INT32:
      return first({kI32, kI64});
    case ACL_UINT32:
      return first({kU32, kI64});
    case ACL_INT64:
      return first({kI64});
    case ACL_UINT64:
      return first({kU64, kI64});
    case ACL_COMPLEX64:
      return first({kC64, kC128});
    case ACL_COMPLEX128:
      return first({kC128});
    default:
      return kOther;
  }
}

aclDataType DtypeOf(ElementType computed) noexcept {
  switch (computed) {
    case kF32:
      return ACL_FLOAT;
    case kBf16:
      return ACL_BF16;
    case kF16:
      return ACL_FLOAT16;
    case kF64:
      return ACL_DOUBLE;
    case kI8:
      return ACL_INT8;
    case kU8:
      return ACL_UINT8;
    case kI16:
      return ACL_INT16;
    case kU16:
      return ACL_UINT16;
    case kI32:
      return ACL_INT32;
    case kU32:
      return ACL_UINT32;
    case kI64:
      return ACL_INT64;
    case kU64:
      return ACL_UINT64;
    case kBool:
      return ACL_BOOL;
    case kC64:
      return ACL_COMPLEX64;
    case kC128:
      return ACL_COMPLEX128;
    default:
      return ACL_DT_UNDEFINED;
  }
}

ElementLoad MapTypes::LoadFor(aclDataType dtype, aclDataType cast, ElementType* type) const noexcept {
  const aclDataType lanes = DtypeOf(computed);
  *type = kOther;
  if (computed == kF32 && IsFloat32OrHalf(dtype) && (cast == dtype || cast == ACL_FLOAT)) {
    *type = ElementTypeOf(dtype);
    return ElementLoad(FindLoad(isa, dtype, ACL_FLOAT));
  }
  // Lanes of bools are loaded as 0 or 1, whatever the byte is.
  if (computed == kBool && cast == ACL_BOOL && (dtype == ACL_INT8 || dtype == ACL_UINT8)) dtype = ACL_BOOL;
  const Conversion* first = Between(isa, dtype, cast);
  const Conversion* const second = Between(isa, cast, lanes);
  if (first == nullptr && second == nullptr) {
    *type = computed;
    return ElementLoad();
  }
  // A cast to bool yields 1 or keeps the byte; bytes of other dtypes are not looked at.
  return ElementLoad(first, second, RealSize(dtype, cast));
}

ElementStore MapTypes::StoreFor(aclDataType dtype, ElementType* type) const noexcept {
  *type = kOther;
  const ElementType written = writes_bool ? kBool : computed;
  const aclDataType from = DtypeOf(written);
  if (written == kF32 && IsFloat32OrHalf(dtype)) {
    *type = ElementTypeOf(dtype);
    return ElementStore(FindStore(isa, dtype));
  }
  const bool wraps = written != kBool && written != kF32 && written != kF64 && written != kC64 &&
                     written != kC128 && promoted != dtype;
  const Conversion* const first = wraps ? Between(isa, from, promoted) : nullptr;
  // Wrapped numbers may need a change of dtype only.
  const Conversion* const second = Between(isa, wraps ? promoted : from, dtype);
  if (first == nullptr && second == nullptr) {
    *type = written;
    return ElementStore();
  }
  return ElementStore(first, second, RealSize(from, dtype));
}

bool MapTypes::IsWide(aclDataType dtype) const noexcept {
  return dtype == ACL_COMPLEX128 || promoted == ACL_COMPLEX128 || computed == kC128;
}

}  // namespace portacl::engine
