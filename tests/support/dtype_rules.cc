// Data type facts for the oracle: see dtype_rules.h.
// SPDX-License-Identifier: Apache-2.0
#include "dtype_rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <map>

#include "float_formats.h"

namespace portacl::testing {
namespace {

constexpr DtypeNumber kF32 = ACL_FLOAT;
constexpr DtypeNumber kF16 = ACL_FLOAT16;
constexpr DtypeNumber kF64 = ACL_DOUBLE;
constexpr DtypeNumber kBF16 = ACL_BF16;
constexpr DtypeNumber kS8 = ACL_INT8;
constexpr DtypeNumber kU8 = ACL_UINT8;
constexpr DtypeNumber kS16 = ACL_INT16;
constexpr DtypeNumber kS32 = ACL_INT32;
constexpr DtypeNumber kS64 = ACL_INT64;
constexpr DtypeNumber kBool = ACL_BOOL;
constexpr DtypeNumber kC32 = ACL_COMPLEX32;
constexpr DtypeNumber kC64 = ACL_COMPLEX64;
constexpr DtypeNumber kC128 = ACL_COMPLEX128;

constexpr DtypeNumber kFirstUnwritten =
    34;  // the upstream table has entries for pairs below this number only
constexpr DtypeNumber kLastDtype = 41;

constexpr std::array<DtypeNumber, 13> kOrder = {kF32, kF16, kF64,  kBF16, kS8,  kU8,  kS16,
                                                kS32, kS64, kBool, kC32,  kC64, kC128};

// Row: first operand, column: second, both in kOrder.
constexpr DtypeNumber kPromotion[13][13] = {
    {kF32, kF32, kF64, kF32, kF32, kF32, kF32, kF32, kF32, kF32, kC64, kC64, kC128},
    {kF32, kF16, kF64, kF32, kF16, kF16, kF16, kF16, kF16, kF16, kC32, kC64, kC128},
    {kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64, kC128, kC128, kC128},
    {kF32, kF32, kF64, kBF16, kBF16, kBF16, kBF16, kBF16, kBF16, kBF16, kC64, kC64, kC128},
    {kF32, kF16, kF64, kBF16, kS8, kS16, kS16, kS32, kS64, kS8, kC32, kC64, kC128},
    {kF32, kF16, kF64, kBF16, kS16, kU8, kS16, kS32, kS64, kU8, kC32, kC64, kC128},
    {kF32, kF16, kF64, kBF16, kS16, kS16, kS16, kS32, kS64, kS16, kC32, kC64, kC128},
    {kF32, kF16, kF64, kBF16, kS32, kS32, kS32, kS32, kS64, kS32, kC32, kC64, kC128},
    {kF32, kF16, kF64, kBF16, kS64, kS64, kS64, kS64, kS64, kS64, kC32, kC64, kC128},
    {kF32, kF16, kF64, kBF16, kS8, kU8, kS16, kS32, kS64, kBool, kC32, kC64, kC128},
    {kC64, kC32, kC128, kC64, kC32, kC32, kC32, kC32, kC32, kC32, kC32, kC64, kC128},
    {kC64, kC64, kC128, kC64, kC64, kC64, kC64, kC64, kC64, kC64, kC64, kC64, kC128},
    {kC128, kC128, kC128, kC128, kC128, kC128, kC128, kC128, kC128, kC128, kC128, kC128, kC128},
};

const std::map<DtypeNumber, std::string>& Names() {
  static const std::map<DtypeNumber, std::string> names = {
      {ACL_DT_UNDEFINED, "DT_UNDEFINED"},
      {kUndefinedDtype, "DT_UNDEFINED"},
      {ACL_FLOAT, "DT_FLOAT"},
      {ACL_FLOAT16, "DT_FLOAT16"},
      {ACL_INT8, "DT_INT8"},
      {ACL_INT32, "DT_INT32"},
      {ACL_UINT8, "DT_UINT8"},
      {ACL_INT16, "DT_INT16"},
      {ACL_UINT16, "DT_UINT16"},
      {ACL_UINT32, "DT_UINT32"},
      {ACL_INT64, "DT_INT64"},
      {ACL_UINT64, "DT_UINT64"},
      {ACL_DOUBLE, "DT_DOUBLE"},
      {ACL_BOOL, "DT_BOOL"},
      {ACL_STRING, "DT_STRING"},
      {ACL_COMPLEX64, "DT_COMPLEX64"},
      {ACL_COMPLEX128, "DT_COMPLEX128"},
      {ACL_BF16, "DT_BF16"},
      {ACL_INT4, "DT_INT4"},
      {ACL_UINT1, "DT_UINT1"},
      {ACL_COMPLEX32, "DT_COMPLEX32"},
      {ACL_HIFLOAT8, "DT_HIFLOAT8"},
      {ACL_FLOAT8_E5M2, "DT_FLOAT8_E5M2"},
      {ACL_FLOAT8_E4M3FN, "DT_FLOAT8_E4M3FN"},
      {ACL_FLOAT8_E8M0, "DT_FLOAT8_E8M0"},
      {ACL_FLOAT6_E3M2, "DT_FLOAT6_E3M2"},
      {ACL_FLOAT6_E2M3, "DT_FLOAT6_E2M3"},
      {ACL_FLOAT4_E2M1, "DT_FLOAT4_E2M1"},
      {ACL_FLOAT4_E1M2, "DT_FLOAT4_E1M2"},
  };
  return names;
}

int OrderOf(DtypeNumber dtype) {
  for (size_t i = 0; i < kOrder.size(); ++i) {
    if (kOrder[i] == dtype) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

template <typename T>
T Load(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <typename T>
void Store(T value, void* element) {
  std::memcpy(element, &value, sizeof value);
}

template <typename T>
int64_t Clamped(double value) {
  // Comparing against the exact powers of two keeps 64-bit limits right, which double cannot represent.
  if (std::isnan(value)) {
    return 0;
  }
  const double high = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (value >= high) {
    return static_cast<int64_t>(std::numeric_limits<T>::max());
  }
  if (value <= (std::numeric_limits<T>::is_signed ? -high : 0.0)) {
    return static_cast<int64_t>(std::numeric_limits<T>::min());
  }
  return static_cast<int64_t>(value);
}

}  // namespace

const std::vector<DtypeNumber>& AllDtypes() {
  static const std::vector<DtypeNumber> all = [] {
    std::vector<DtypeNumber> numbers;
    for (const auto& [number, name] : Names()) {
      if (number >= 0 && number != kUndefinedDtype) {
        numbers.push_back(number);
      }
    }
    return numbers;
  }();
  return all;
}

std::string DtypeName(DtypeNumber dtype) {
  const auto found = Names().find(dtype);
  return found != Names().end() ? found->second : std::to_string(dtype);
}

int64_t ElementSize(DtypeNumber dtype) {
  switch (dtype) {
    case ACL_COMPLEX128:
      return 16;
    case ACL_DOUBLE:
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_COMPLEX64:
      return 8;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
      return 4;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
      return 1;
    default:
      return 0;
  }
}

bool IsComplexDtype(DtypeNumber dtype) { return dtype == kC32 || dtype == kC64 || dtype == kC128; }

bool IsFloatingDtype(DtypeNumber dtype) {
  return dtype == kF64 || dtype == kF32 || dtype == kF16 || dtype == kBF16 ||
         (dtype >= ACL_HIFLOAT8 && dtype <= ACL_FLOAT4_E1M2);
}

bool IsIntegerDtype(DtypeNumber dtype) {
  return dtype == kS8 || dtype == kS16 || dtype == kS32 || dtype == kS64 || dtype == kU8 ||
         dtype == ACL_UINT16 || dtype == ACL_UINT32 || dtype == ACL_UINT64;
}

DtypeNumber PromoteDtypes(DtypeNumber first, DtypeNumber second) {
  const auto in_range = [](DtypeNumber dtype) { return dtype >= 0 && dtype <= kLastDtype; };
  if (!in_range(first) || !in_range(second)) {
    return kUndefinedDtype;
  }
  if (first == second) {
    return first;
  }
  if (first >= kFirstUnwritten || second >= kFirstUnwritten) {
    return kF32;  // upstream reads an entry that was never written: zero, which is float32
  }
  const bool first_unsigned = first == ACL_UINT16 || first == ACL_UINT32 || first == ACL_UINT64;
  if (first_unsigned && second == kC64) {
    return first == ACL_UINT64 ? kC128 : kC64;
  }
  if (first_unsigned && second == kC128) {
    return kC128;
  }
  const int row = OrderOf(first);
  const int column = OrderOf(second);
  return row < 0 || column < 0 ? kUndefinedDtype : kPromotion[row][column];
}

bool CanCastDtype(DtypeNumber from, DtypeNumber to) {
  if (IsComplexDtype(from) && !IsComplexDtype(to)) {
    return false;
  }
  if (IsFloatingDtype(from) && IsIntegerDtype(to)) {
    return false;
  }
  return from == kBool || to != kBool;
}

double DecodeReal(DtypeNumber dtype, const void* element) {
  switch (dtype) {
    case ACL_FLOAT:
    case ACL_COMPLEX64:
      return static_cast<double>(Load<float>(element));
    case ACL_FLOAT16:
      return DecodeFloat(kFloat16, Load<uint16_t>(element));
    case ACL_BF16:
      return DecodeFloat(kBfloat16, Load<uint16_t>(element));
    default:
      return Load<double>(element);
  }
}

int64_t DecodeInteger(DtypeNumber dtype, const void* element) {
  switch (dtype) {
    case ACL_INT8:
      return Load<int8_t>(element);
    case ACL_UINT8:
      return Load<uint8_t>(element);
    case ACL_INT16:
      return Load<int16_t>(element);
    case ACL_UINT16:
      return Load<uint16_t>(element);
    case ACL_INT32:
      return Load<int32_t>(element);
    case ACL_UINT32:
      return Load<uint32_t>(element);
    case ACL_BOOL:
      return Load<uint8_t>(element) != 0 ? 1 : 0;
    default:
      return Load<int64_t>(element);
  }
}

void EncodeElement(DtypeNumber dtype, double value, void* element) {
  switch (dtype) {
    case ACL_FLOAT:
      Store(NearestFloat(value), element);
      break;
    case ACL_FLOAT16:
      Store(static_cast<uint16_t>(EncodeFloat(kFloat16, value)), element);
      break;
    case ACL_BF16:
      Store(static_cast<uint16_t>(EncodeFloat(kBfloat16, value)), element);
      break;
    case ACL_DOUBLE:
      Store(value, element);
      break;
    case ACL_COMPLEX64:
      Store(std::array<float, 2>{NearestFloat(value), 0.0f}, element);
      break;
    case ACL_COMPLEX128:
      Store(std::array<double, 2>{value, 0.0}, element);
      break;
    case ACL_INT8:
      EncodeIntegerElement(dtype, Clamped<int8_t>(value), element);
      break;
    case ACL_UINT8:
      EncodeIntegerElement(dtype, Clamped<uint8_t>(value), element);
      break;
    case ACL_INT16:
      EncodeIntegerElement(dtype, Clamped<int16_t>(value), element);
      break;
    case ACL_INT32:
      EncodeIntegerElement(dtype, Clamped<int32_t>(value), element);
      break;
    case ACL_BOOL:
      EncodeIntegerElement(dtype, value != 0 ? 1 : 0, element);
      break;
    default:
      EncodeIntegerElement(dtype, Clamped<int64_t>(value), element);
      break;
  }
}

void EncodeIntegerElement(DtypeNumber dtype, int64_t value, void* element) {
  switch (ElementSize(dtype)) {
    case 1:
      Store(static_cast<uint8_t>(value), element);
      break;
    case 2:
      Store(static_cast<uint16_t>(value), element);
      break;
    case 4:
      Store(static_cast<uint32_t>(value), element);
      break;
    default:
      Store(static_cast<uint64_t>(value), element);
      break;
  }
}

double IntegerConvertedTo(DtypeNumber dtype, int64_t value) {
  const FloatFormat format = dtype == ACL_FLOAT16 ? kFloat16 : dtype == ACL_BF16 ? kBfloat16 : kFloat32;
  return DecodeFloat(format, EncodeInteger(format, value));
}

}  // namespace portacl::testing
