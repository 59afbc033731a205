// Promotion with scalars (see scalar_promotion.h).
// SPDX-License-Identifier: Apache-2.0
#include "contract/scalar_promotion.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/data_type.h"
#include "contract/promotion.h"

namespace portacl {
namespace {

// A scalar counts as represented in a narrower dtype if rounding changes it by no more than this.
constexpr double kRepresented = 0x1p-23;

bool IsNarrow(aclDataType dtype) { return dtype == ACL_FLOAT16 || dtype == ACL_BF16; }
bool IsIntegerOrBool(aclDataType dtype) { return IsInteger(dtype) || dtype == ACL_BOOL; }

template <class Number>
Number Stored(const aclScalar& scalar) {
  Number number;
  std::memcpy(&number, scalar.value, sizeof number);
  return number;
}

// Returns the value of a 16-bit float, given its storage bits and its number of fraction bits.
double WidenedHalf(uint16_t bits, int fraction_bits) {
  const int exponent_bits = 15 - fraction_bits;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  double magnitude = 0;
  if (exponent == (1 << exponent_bits) - 1) {
    magnitude =
        fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, 1 - bias - fraction_bits);
  } else {
    magnitude = std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// Returns 0 for complex numbers, as CANN converts them, and for dtypes that no scalar of these operators has.
double Value(const aclScalar& scalar) {
  switch (scalar.dtype) {
    case ACL_FLOAT:
      return static_cast<double>(Stored<float>(scalar));
    case ACL_FLOAT16:
      return WidenedHalf(Stored<uint16_t>(scalar), 10);
    case ACL_BF16:
      return WidenedHalf(Stored<uint16_t>(scalar), 7);
    case ACL_DOUBLE:
      return Stored<double>(scalar);
    case ACL_INT8:
      return Stored<int8_t>(scalar);
    case ACL_UINT8:
      return Stored<uint8_t>(scalar);
    case ACL_INT16:
      return Stored<int16_t>(scalar);
    case ACL_UINT16:
      return Stored<uint16_t>(scalar);
    case ACL_INT32:
      return Stored<int32_t>(scalar);
    case ACL_UINT32:
      return Stored<uint32_t>(scalar);
    case ACL_INT64:
      return static_cast<double>(Stored<int64_t>(scalar));
    case ACL_UINT64:
      return static_cast<double>(Stored<uint64_t>(scalar));
    case ACL_BOOL:
      return scalar.value[0] != 0 ? 1.0 : 0.0;
    default:
      return 0.0;
  }
}

// Rounds to the nearest value of a floating dtype, ties to even, without a lower limit on exponents. Gradual
// underflow would change the result by far less than kRepresented.
double RoundedTo(aclDataType dtype, double value) {
  if (dtype == ACL_FLOAT) return static_cast<double>(static_cast<float>(value));
  if (!IsNarrow(dtype) || value == 0 || !std::isfinite(value)) return value;
  const int precision = dtype == ACL_FLOAT16 ? 11 : 8;
  const double limit = dtype == ACL_FLOAT16 ? 0x1p16 : 0x1p128;
  const int step = std::ilogb(value) - (precision - 1);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
  return std::fabs(rounded) < limit ? rounded : std::copysign(std::numeric_limits<double>::infinity(), value);
}

// Tells whether conversion to a narrow dtype changes the scalar's float value. Never true for a null scalar.
bool IsChangedBy(aclDataType dtype, const aclScalar* scalar) {
  if (scalar == nullptr) return false;
  const double value = RoundedTo(ACL_FLOAT, Value(*scalar));
  return std::fabs(RoundedTo(dtype, value) - value) > kRepresented;
}

aclDataType OnAscend950(aclDataType tensor, aclDataType scalar) {
  const aclDataType combined = CombineDtypes(tensor, CategoryDtype(scalar));
  return combined == ACL_COMPLEX32 ? ACL_COMPLEX64 : combined;
}

// Returns FLOAT where the narrow dtype would change one of the scalars, else the dtype.
aclDataType KeepingScalars(aclDataType dtype, const aclScalar& scalar, const aclScalar* second) {
  const bool changed = IsNarrow(dtype) && (IsChangedBy(dtype, &scalar) || IsChangedBy(dtype, second));
  return changed ? ACL_FLOAT : dtype;
}

// The part of Adds and AddV3 for tensors that are neither complex nor floating.
aclDataType WithOutput(aclDataType tensor, aclDataType scalar, aclDataType out) {
  if (scalar == ACL_DOUBLE && out == ACL_FLOAT) return ACL_FLOAT;
  return IsFloating(scalar) || tensor == ACL_BOOL ? PromoteType(tensor, scalar) : tensor;
}

aclDataType BeforeAscend950(ScalarRule rule, aclDataType tensor, const aclScalar& value, aclDataType out) {
  const aclDataType scalar = value.dtype;
  const bool complex = IsComplex(tensor) || IsComplex(scalar);
  const aclDataType as_tensors = PromoteType(tensor, scalar);
  const aclDataType floating_first = IsFloating(scalar) || tensor == ACL_BOOL ? as_tensors : tensor;
  switch (rule) {
    case ScalarRule::kAsTensors:
    case ScalarRule::kFloorDivides:
    case ScalarRule::kFmodScalar:
    case ScalarRule::kBitwiseAndScalar:
      return as_tensors;
    case ScalarRule::kAdds:
      if (complex) return as_tensors;
      return IsFloating(tensor) ? tensor : WithOutput(tensor, scalar, out);
    case ScalarRule::kAddV3:
      if (complex) return as_tensors;
      return IsFloating(tensor) ? ACL_FLOAT : WithOutput(tensor, scalar, out);
    case ScalarRule::kRsubs:
      return !IsFloating(tensor) && IsFloating(scalar) ? as_tensors : tensor;
    case ScalarRule::kMuls:
      if (complex) return as_tensors;
      if (IsFloating(tensor)) return tensor == ACL_BF16 ? ACL_FLOAT : tensor;
      return scalar == ACL_DOUBLE && tensor == ACL_BOOL ? ACL_FLOAT : WithOutput(tensor, scalar, out);
    case ScalarRule::kDivsResult:
    case ScalarRule::kDivModsFloorResult:
    case ScalarRule::kRemainderScalarTensor:
      return tensor;
    case ScalarRule::kDivs:
    case ScalarRule::kDivModsTrue:
      if (IsComplex(scalar)) return as_tensors;
      if (IsIntegerOrBool(tensor)) return ACL_FLOAT;
      return tensor == ACL_DOUBLE && rule == ScalarRule::kDivModsTrue ? ACL_FLOAT : tensor;
    case ScalarRule::kDivModsTruncate:
      if (complex) return as_tensors;
      return IsNarrow(tensor) || (tensor == ACL_INT32 && scalar == ACL_INT32) ? tensor : ACL_FLOAT;
    case ScalarRule::kDivModsFloor:
      if (IsFloating(tensor) && !IsComplex(scalar)) return tensor;
      return as_tensors == ACL_BOOL ? ACL_FLOAT : as_tensors;
    case ScalarRule::kPowTensorScalar:
      if (scalar == ACL_DOUBLE && out == ACL_FLOAT) return ACL_FLOAT;
      if (IsComplex(scalar)) return as_tensors;
      return IsFloating(tensor) ? tensor : floating_first;
    case ScalarRule::kPowScalarTensor:
      if (tensor == ACL_DOUBLE && out == ACL_FLOAT) return ACL_FLOAT;
      if (IsComplex(scalar)) return PromoteType(scalar, tensor);
      if (IsFloating(tensor)) return tensor;
      return IsFloating(scalar) || tensor == ACL_BOOL ? PromoteType(scalar, tensor) : tensor;
    case ScalarRule::kRemainderTensorScalar:
      return IsFloating(tensor) ? tensor : floating_first;
    case ScalarRule::kEqScalar:
      if (IsComplex(tensor) || (IsFloating(tensor) && !IsComplex(scalar))) return tensor;
      return IsComplex(scalar) ? as_tensors : floating_first;
    case ScalarRule::kGtScalar:
      if (!IsFloating(tensor) || scalar != ACL_DOUBLE) return as_tensors;
      return std::fabs(RoundedTo(tensor, Value(value)) - Value(value)) <= kRepresented ? tensor : ACL_DOUBLE;
    case ScalarRule::kLtScalar:
      if (IsFloating(tensor)) return tensor;
      return scalar == ACL_DOUBLE ? PromoteType(tensor, ACL_FLOAT) : as_tensors;
    case ScalarRule::kLeScalar:
      if (IsFloating(tensor)) return tensor;
      return scalar == ACL_DOUBLE ? ACL_FLOAT : as_tensors;
    case ScalarRule::kBitwiseOrScalar: {
      if (scalar != ACL_INT64) return as_tensors;
      const auto integer = Stored<int64_t>(value);
      const bool fits =
          integer >= std::numeric_limits<int32_t>::min() && integer <= std::numeric_limits<int32_t>::max();
      return fits ? PromoteType(tensor, ACL_INT32) : as_tensors;
    }
    case ScalarRule::kClamp:
      return out;
  }
  return ACL_DT_UNDEFINED;
}

aclDataType SinceAscend950(ScalarRule rule, aclDataType tensor, const aclScalar& value,
                           const aclScalar* second) {
  const aclDataType scalar = value.dtype;
  const aclDataType combined = OnAscend950(tensor, scalar);
  const aclDataType widened = IsNarrow(combined) ? ACL_FLOAT : combined;
  switch (rule) {
    case ScalarRule::kAsTensors:
      return PromoteType(tensor, scalar);
    case ScalarRule::kAdds:
    case ScalarRule::kRsubs:
      return KeepingScalars(combined, value, second);
    case ScalarRule::kMuls:
      return KeepingScalars(combined, value, nullptr);
    case ScalarRule::kDivsResult:
      return IsIntegerOrBool(combined) ? ACL_FLOAT : combined;
    case ScalarRule::kDivs:
    case ScalarRule::kDivModsTrue:
      return IsIntegerOrBool(widened) ? ACL_FLOAT : widened;
    case ScalarRule::kDivModsTruncate:
    case ScalarRule::kDivModsFloor:
      return widened == ACL_BOOL ? ACL_FLOAT : widened;
    case ScalarRule::kFloorDivides:
      return widened;
    case ScalarRule::kDivModsFloorResult:
    case ScalarRule::kPowTensorScalar:
    case ScalarRule::kPowScalarTensor:
    case ScalarRule::kEqScalar:
      return combined;
    case ScalarRule::kRemainderTensorScalar:
    case ScalarRule::kRemainderScalarTensor:
    case ScalarRule::kFmodScalar:
    case ScalarRule::kBitwiseAndScalar:
    case ScalarRule::kBitwiseOrScalar:
      return CombineDtypes(tensor, scalar);
    case ScalarRule::kGtScalar:
    case ScalarRule::kLtScalar:
    case ScalarRule::kLeScalar:
      return CombineDtypes(tensor, CategoryDtype(scalar));
    case ScalarRule::kClamp: {
      if (second == nullptr) return CombineDtypes(tensor, CategoryDtype(scalar));
      const aclDataType bounds = PromoteType(CategoryDtype(scalar), CategoryDtype(second->dtype));
      return bounds == ACL_DT_UNDEFINED ? bounds : CombineDtypes(tensor, bounds);
    }
    case ScalarRule::kAddV3:
      break;  // the same on every product
  }
  return ACL_DT_UNDEFINED;
}

}  // namespace

aclDataType CombineDtypes(aclDataType high, aclDataType low) noexcept {
  if (IsComplex(high)) return high;
  if (IsComplex(low)) {
    if (!IsFloating(high)) return low;
    return high == ACL_FLOAT16 ? ACL_COMPLEX32 : high == ACL_DOUBLE ? ACL_COMPLEX128 : ACL_COMPLEX64;
  }
  if (IsFloating(high)) return high;
  return high == ACL_BOOL || IsFloating(low) ? PromoteType(high, low) : high;
}

aclDataType CategoryDtype(aclDataType scalar) noexcept {
  return IsComplex(scalar) ? ACL_COMPLEX64 : IsFloating(scalar) ? ACL_FLOAT : scalar;
}

aclDataType PromoteByRank(Product product, const aclTensor& a, const aclTensor& b) noexcept {
  const bool one_has_dims = (a.shape.rank == 0) != (b.shape.rank == 0);
  if (product != Product::kAscend950 || !one_has_dims) return PromoteType(a.dtype, b.dtype);
  return a.shape.rank == 0 ? CombineDtypes(b.dtype, a.dtype) : CombineDtypes(a.dtype, b.dtype);
}

aclDataType PromoteScalar(ScalarRule rule, Product product, aclDataType tensor, const aclScalar& scalar,
                          aclDataType out, const aclScalar* second) noexcept {
  const bool is_950 = product == Product::kAscend950 && rule != ScalarRule::kAddV3;
  return is_950 ? SinceAscend950(rule, tensor, scalar, second) : BeforeAscend950(rule, tensor, scalar, out);
}

}  // namespace portacl
