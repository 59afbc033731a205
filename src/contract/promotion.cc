// The promotion table and the cast rule of CANN (source: opbase's data type rules, as of the emulated
// version).
// SPDX-License-Identifier: Apache-2.0
#include "contract/promotion.h"

#include <cstdint>

#include "base/data_type.h"

namespace portacl {
namespace {

constexpr int kClasses = 16;

// Returns the row and column of a dtype in the table, or -1 for a dtype that promotes only with itself.
int ClassOf(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_FLOAT:
      return 0;
    case ACL_FLOAT16:
      return 1;
    case ACL_DOUBLE:
      return 2;
    case ACL_BF16:
      return 3;
    case ACL_INT8:
      return 4;
    case ACL_UINT8:
      return 5;
    case ACL_INT16:
      return 6;
    case ACL_INT32:
      return 7;
    case ACL_INT64:
      return 8;
    case ACL_BOOL:
      return 9;
    case ACL_UINT16:
      return 10;
    case ACL_UINT32:
      return 11;
    case ACL_UINT64:
      return 12;
    case ACL_COMPLEX32:
      return 13;
    case ACL_COMPLEX64:
      return 14;
    case ACL_COMPLEX128:
      return 15;
    default:
      return -1;
  }
}

constexpr aclDataType kF32 = ACL_FLOAT, kF16 = ACL_FLOAT16, kF64 = ACL_DOUBLE, kBf = ACL_BF16, kS8 = ACL_INT8,
                      kU8 = ACL_UINT8, kS16 = ACL_INT16, kS32 = ACL_INT32, kS64 = ACL_INT64, kBool = ACL_BOOL,
                      kU16 = ACL_UINT16, kU32 = ACL_UINT32, kU64 = ACL_UINT64, kC32 = ACL_COMPLEX32,
                      kC64 = ACL_COMPLEX64, kC128 = ACL_COMPLEX128, kNone = ACL_DT_UNDEFINED;

// clang-format off
constexpr aclDataType kTable[kClasses][kClasses] = {
    // f32   f16    f64    bf16   s8     u8     s16    s32    s64    bool   u16    u32    u64    c32    c64
    // c128
    {kF32,  kF32,  kF64,  kF32,  kF32,  kF32,  kF32,  kF32,  kF32,  kF32,  kNone, kNone, kNone, kC64,  kC64,  kC128},  // f32
    {kF32,  kF16,  kF64,  kF32,  kF16,  kF16,  kF16,  kF16,  kF16,  kF16,  kNone, kNone, kNone, kC32,  kC64,  kC128},  // f16
    {kF64,  kF64,  kF64,  kF64,  kF64,  kF64,  kF64,  kF64,  kF64,  kF64,  kNone, kNone, kNone, kC128, kC128, kC128},  // f64
    {kF32,  kF32,  kF64,  kBf,   kBf,   kBf,   kBf,   kBf,   kBf,   kBf,   kNone, kNone, kNone, kC64,  kC64,  kC128},  // bf16
    {kF32,  kF16,  kF64,  kBf,   kS8,   kS16,  kS16,  kS32,  kS64,  kS8,   kNone, kNone, kNone, kC32,  kC64,  kC128},  // s8
    {kF32,  kF16,  kF64,  kBf,   kS16,  kU8,   kS16,  kS32,  kS64,  kU8,   kNone, kNone, kNone, kC32,  kC64,  kC128},  // u8
    {kF32,  kF16,  kF64,  kBf,   kS16,  kS16,  kS16,  kS32,  kS64,  kS16,  kNone, kNone, kNone, kC32,  kC64,  kC128},  // s16
    {kF32,  kF16,  kF64,  kBf,   kS32,  kS32,  kS32,  kS32,  kS64,  kS32,  kNone, kNone, kNone, kC32,  kC64,  kC128},  // s32
    {kF32,  kF16,  kF64,  kBf,   kS64,  kS64,  kS64,  kS64,  kS64,  kS64,  kNone, kNone, kNone, kC32,  kC64,  kC128},  // s64
    {kF32,  kF16,  kF64,  kBf,   kS8,   kU8,   kS16,  kS32,  kS64,  kBool, kNone, kNone, kNone, kC32,  kC64,  kC128},  // bool
    {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kU16,  kNone, kNone, kNone, kC64,  kC128},  // u16
    {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kU32,  kNone, kNone, kC64,  kC128},  // u32
    {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kU64,  kNone, kC128, kC128},  // u64
    {kC64,  kC32,  kC128, kC64,  kC32,  kC32,  kC32,  kC32,  kC32,  kC32,  kNone, kNone, kNone, kC32,  kC64,  kC128},  // c32
    {kC64,  kC64,  kC128, kC64,  kC64,  kC64,  kC64,  kC64,  kC64,  kC64,  kNone, kNone, kNone, kC64,  kC64,  kC128},  // c64
    {kC128, kC128, kC128, kC128, kC128, kC128, kC128, kC128, kC128, kC128, kNone, kNone, kNone, kC128, kC128, kC128},  // c128
};
// clang-format on

// CANN's table has a row for every dtype below this number. It leaves the other entries zero, which reads as
// FLOAT.
constexpr int kTabulated = 34;
constexpr int kDtypeLimit = 42;

}  // namespace

aclDataType PromoteType(aclDataType a, aclDataType b) noexcept {
  const int low = a < b ? a : b;
  const int high = a < b ? b : a;
  if (low < ACL_DT_UNDEFINED || high >= kDtypeLimit) return ACL_DT_UNDEFINED;
  if (a == b) return IsKnownDtype(a) ? a : ACL_DT_UNDEFINED;
  if (high >= kTabulated) return ACL_FLOAT;
  const int row = ClassOf(a);
  const int column = ClassOf(b);
  return row < 0 || column < 0 ? ACL_DT_UNDEFINED : kTable[row][column];
}

bool CanCast(aclDataType from, aclDataType to) noexcept {
  if (IsComplex(from) && !IsComplex(to)) return false;
  if (IsFloating(from) && IsInteger(to)) return false;
  if (from != ACL_BOOL && to == ACL_BOOL) return false;
  return true;
}

Text& AddCannotCast(Text& message, aclDataType from, aclDataType to) {
  AddDtypeName(message.Add(": result type "), from);
  AddDtypeName(message.Add(" can't be cast to the desired output type "), to);
  return message;
}

}  // namespace portacl
