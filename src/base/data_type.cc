// Table of dtypes and formats (see data_type.h).
// SPDX-License-Identifier: Apache-2.0
#include "base/data_type.h"

#include <cstddef>

namespace portacl {
namespace {

enum class Family : uint8_t { kOther, kFloating, kInteger, kComplex };

struct DtypeInfo {
  aclDataType dtype;
  const char* name;
  uint32_t bits;
  Family family;
};

constexpr DtypeInfo kDtypes[] = {
    {ACL_DT_UNDEFINED, "DT_UNDEFINED", 0, Family::kOther},
    {ACL_FLOAT, "DT_FLOAT", 32, Family::kFloating},
    {ACL_FLOAT16, "DT_FLOAT16", 16, Family::kFloating},
    {ACL_INT8, "DT_INT8", 8, Family::kInteger},
    {ACL_INT32, "DT_INT32", 32, Family::kInteger},
    {ACL_UINT8, "DT_UINT8", 8, Family::kInteger},
    {ACL_INT16, "DT_INT16", 16, Family::kInteger},
    {ACL_UINT16, "DT_UINT16", 16, Family::kInteger},
    {ACL_UINT32, "DT_UINT32", 32, Family::kInteger},
    {ACL_INT64, "DT_INT64", 64, Family::kInteger},
    {ACL_UINT64, "DT_UINT64", 64, Family::kInteger},
    {ACL_DOUBLE, "DT_DOUBLE", 64, Family::kFloating},
    {ACL_BOOL, "DT_BOOL", 8, Family::kOther},
    {ACL_STRING, "DT_STRING", 0, Family::kOther},
    {ACL_COMPLEX64, "DT_COMPLEX64", 64, Family::kComplex},
    {ACL_COMPLEX128, "DT_COMPLEX128", 128, Family::kComplex},
    {ACL_BF16, "DT_BF16", 16, Family::kFloating},
    {ACL_INT4, "DT_INT4", 4, Family::kOther},
    {ACL_UINT1, "DT_UINT1", 1, Family::kOther},
    {ACL_COMPLEX32, "DT_COMPLEX32", 32, Family::kComplex},
    {ACL_HIFLOAT8, "DT_HIFLOAT8", 8, Family::kFloating},
    {ACL_FLOAT8_E5M2, "DT_FLOAT8_E5M2", 8, Family::kFloating},
    {ACL_FLOAT8_E4M3FN, "DT_FLOAT8_E4M3FN", 8, Family::kFloating},
    {ACL_FLOAT8_E8M0, "DT_FLOAT8_E8M0", 8, Family::kFloating},
    {ACL_FLOAT6_E3M2, "DT_FLOAT6_E3M2", 6, Family::kFloating},
    {ACL_FLOAT6_E2M3, "DT_FLOAT6_E2M3", 6, Family::kFloating},
    {ACL_FLOAT4_E2M1, "DT_FLOAT4_E2M1", 4, Family::kFloating},
    {ACL_FLOAT4_E1M2, "DT_FLOAT4_E1M2", 4, Family::kFloating},
};

struct FormatInfo {
  aclFormat format;
  const char* name;
  bool is_private;
};

constexpr FormatInfo kFormats[] = {
    {ACL_FORMAT_UNDEFINED, "UNDEFINED", false},
    {ACL_FORMAT_NCHW, "NCHW", false},
    {ACL_FORMAT_NHWC, "NHWC", false},
    {ACL_FORMAT_ND, "ND", false},
    {ACL_FORMAT_NC1HWC0, "NC1HWC0", true},
    {ACL_FORMAT_FRACTAL_Z, "FRACTAL_Z", true},
    {ACL_FORMAT_NC1HWC0_C04, "NC1HWC0_C04", true},
    {ACL_FORMAT_HWCN, "HWCN", false},
    {ACL_FORMAT_NDHWC, "NDHWC", false},
    {ACL_FORMAT_FRACTAL_NZ, "FRACTAL_NZ", true},
    {ACL_FORMAT_NCDHW, "NCDHW", false},
    {ACL_FORMAT_NDC1HWC0, "NDC1HWC0", true},
    {ACL_FRACTAL_Z_3D, "FRACTAL_Z_3D", true},
    {ACL_FORMAT_NC, "NC", false},
    {ACL_FORMAT_NCL, "NCL", false},
    {ACL_FORMAT_FRACTAL_NZ_C0_16, "FRACTAL_NZ_C0_16", true},
    {ACL_FORMAT_FRACTAL_NZ_C0_32, "FRACTAL_NZ_C0_32", true},
    {ACL_FORMAT_FRACTAL_NZ_C0_2, "FRACTAL_NZ_C0_2", true},
    {ACL_FORMAT_FRACTAL_NZ_C0_4, "FRACTAL_NZ_C0_4", true},
    {ACL_FORMAT_FRACTAL_NZ_C0_8, "FRACTAL_NZ_C0_8", true},
};

// Maps a number to its index in a table, or -1. Every call needs it several times.
template <class Info, size_t kCount>
class IndexByNumber {
 public:
  template <class Number>
  constexpr IndexByNumber(const Info (&table)[kCount], Number Info::*number) {
    for (int8_t& index : index_) index = -1;
    for (size_t i = 0; i < kCount; ++i) {
      if (table[i].*number >= 0) index_[table[i].*number] = static_cast<int8_t>(i);
      if (table[i].*number == -1) undefined_ = static_cast<int8_t>(i);
    }
  }

  constexpr int operator[](int number) const {
    if (number == -1) return undefined_;
    return number >= 0 && number < kNumbers ? index_[number] : -1;
  }

 private:
  static constexpr int kNumbers = 64;
  int8_t index_[kNumbers] = {};
  int8_t undefined_ = -1;
};

constexpr IndexByNumber kDtypeIndices(kDtypes, &DtypeInfo::dtype);
constexpr IndexByNumber kFormatIndices(kFormats, &FormatInfo::format);

const DtypeInfo* Find(aclDataType dtype) noexcept {
  const int index = kDtypeIndices[dtype];
  return index < 0 ? nullptr : &kDtypes[index];
}

const FormatInfo* Find(aclFormat format) noexcept {
  const int index = kFormatIndices[format];
  return index < 0 ? nullptr : &kFormats[index];
}

Family FamilyOf(aclDataType dtype) noexcept {
  const DtypeInfo* info = Find(dtype);
  return info == nullptr ? Family::kOther : info->family;
}

}  // namespace

void AddDtypeName(Text& text, aclDataType dtype) noexcept {
  const DtypeInfo* info = Find(dtype);
  if (info != nullptr) {
    text.Add(info->name);
  } else {
    text.Add("UNKNOWN(").Add(static_cast<int>(dtype)).Add(")");
  }
}

void AddFormatName(Text& text, aclFormat format) noexcept {
  const FormatInfo* info = Find(format);
  if (info != nullptr) {
    text.Add(info->name);
  } else {
    text.Add("UNKNOWN(").Add(static_cast<int>(format)).Add(")");
  }
}

bool IsKnownDtype(aclDataType dtype) noexcept { return Find(dtype) != nullptr; }
bool IsKnownFormat(aclFormat format) noexcept { return Find(format) != nullptr; }

uint32_t StorageBits(aclDataType dtype) noexcept {
  const DtypeInfo* info = Find(dtype);
  return info == nullptr ? 0 : info->bits;
}

bool IsComplex(aclDataType dtype) noexcept { return FamilyOf(dtype) == Family::kComplex; }
bool IsFloating(aclDataType dtype) noexcept { return FamilyOf(dtype) == Family::kFloating; }
bool IsInteger(aclDataType dtype) noexcept { return FamilyOf(dtype) == Family::kInteger; }

bool IsPrivateFormat(aclFormat format) noexcept {
  const FormatInfo* info = Find(format);
  return info != nullptr && info->is_private;
}

}  // namespace portacl
