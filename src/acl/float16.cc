// The scalar 16-bit float conversions of acl_base_rt.h, in integer arithmetic.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstdint>

#include "acl/acl_base.h"

aclFloat16 aclFloatToFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  // CANN saturates: infinities become the largest finite number, and so does NaN, which also loses its sign.
  if (magnitude > 0x7F800000) return 0x7BFF;
  if (magnitude >= 0x477FE000) return static_cast<aclFloat16>(sign | 0x7BFF);
  if (magnitude < 0x33000000) return sign;  // below half of the smallest subnormal
  uint32_t significand = (magnitude & 0x7FFFFF) | 0x800000;
  const uint32_t exponent = magnitude >> 23;
  // Drops 13 bits for a normal result, and more for smaller subnormals.
  const uint32_t dropped = exponent >= 113 ? 13 : 126 - exponent;
  const uint32_t half = 1u << (dropped - 1);
  const uint32_t rest = significand & ((1u << dropped) - 1);
  significand >>= dropped;
  if (rest > half || (rest == half && (significand & 1) != 0)) ++significand;
  // A carry out of the significand increments the exponent, which is rounding up to the next power of two.
  const uint32_t result = exponent >= 113 ? ((exponent - 113) << 10) + significand : significand;
  return static_cast<aclFloat16>(sign | result);
}

float aclFloat16ToFloat(aclFloat16 value) {
  const float sign = (value & 0x8000) != 0 ? -1.0f : 1.0f;
  const uint32_t exponent = value >> 10 & 0x1F;
  const uint32_t fraction = value & 0x3FF;
  if (exponent == 0) return sign * static_cast<float>(fraction) * 0x1p-24f;
  // Treats exponent 31 as one more power of two, as CANN documents: infinity reads as 65536, NaN as a number
  // between 65536 and 131072.
  const uint32_t bits = static_cast<uint32_t>(value & 0x8000) << 16 | (exponent + 112) << 23 | fraction << 13;
  return std::bit_cast<float>(bits);
}

size_t aclDataTypeSize(aclDataType dataType) {
  switch (dataType) {
    case ACL_STRING:
    case ACL_DT_UNDEFINED:
      return 0;
    case ACL_INT4:
    case ACL_UINT1:
    case ACL_BOOL:
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
      return 4;
    case ACL_COMPLEX128:
      return 16;
    default:
      return 8;  // the 64-bit types, and those that CANN's function does not list
  }
}
