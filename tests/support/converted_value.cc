// The oracle of conversions (see converted_value.h): long double holds every 64-bit integer and every double exactly.
// SPDX-License-Identifier: Apache-2.0
#include "converted_value.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "float_formats.h"

namespace portacl::testing {
namespace {

static_assert(std::numeric_limits<long double>::digits >= 64);

template <typename T>
T Load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void Append(Element& element, T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  element.insert(element.end(), bytes, bytes + sizeof value);
}

DtypeNumber PartOf(DtypeNumber dtype) {
  return dtype == ACL_COMPLEX64 ? ACL_FLOAT : dtype == ACL_COMPLEX128 ? ACL_DOUBLE : dtype;
}

// Returns the value of one real number.
long double ValueOf(DtypeNumber dtype, const std::byte* at) {
  switch (dtype) {
    case ACL_FLOAT:
      return Load<float>(at);
    case ACL_DOUBLE:
      return Load<double>(at);
    case ACL_FLOAT16:
      return DecodeFloat(kFloat16, Load<uint16_t>(at));
    case ACL_BF16:
      return DecodeFloat(kBfloat16, Load<uint16_t>(at));
    case ACL_UINT64:
      return static_cast<long double>(Load<uint64_t>(at));
    default:
      return static_cast<long double>(DecodeInteger(dtype, at));
  }
}

uint32_t EncodeExactly(FloatFormat format, long double value) {
  if (std::isnan(value)) return format.QuietNanBits();
  const bool negative = std::signbit(value);
  if (std::isinf(value)) return format.InfinityBits() | (negative ? format.SignBit() : 0);
  int exponent = 0;
  const long double fraction = std::frexp(std::fabs(value), &exponent);
  return RoundToFormat(format, negative, static_cast<uint64_t>(std::ldexp(fraction, 64)), exponent - 64);
}

uint64_t IntegerOf(DtypeNumber dtype, long double value) {
  if (std::isnan(value)) return 0;
  const auto clamped = [&](long double low, long double high) {
    return value <= low ? low : value >= high ? high : std::trunc(value);
  };
  switch (dtype) {
    case ACL_INT32:
      return static_cast<uint64_t>(static_cast<int64_t>(clamped(-0x1p31L, 0x1p31L - 1)));
    case ACL_UINT64:
      if (value >= 0) return static_cast<uint64_t>(clamped(0, 0x1p64L - 1));
      [[fallthrough]];
    default:
      return static_cast<uint64_t>(static_cast<int64_t>(clamped(-0x1p63L, 0x1p63L - 1)));
  }
}

void AppendLow(Element& element, uint64_t value, int64_t bytes) {
  for (int64_t i = 0; i < bytes; ++i) element.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void AppendNumber(Element& element, DtypeNumber dtype, long double value) {
  switch (dtype) {
    case ACL_FLOAT:
      return Append(element, EncodeExactly(kFloat32, value));
    case ACL_FLOAT16:
      return Append(element, static_cast<uint16_t>(EncodeExactly(kFloat16, value)));
    case ACL_BF16:
      return Append(element, static_cast<uint16_t>(EncodeExactly(kBfloat16, value)));
    case ACL_DOUBLE:
      return Append(element, static_cast<double>(value));
    case ACL_BOOL:
      return AppendLow(element, value != 0 ? 1 : 0, 1);
    default:
      return AppendLow(element, IntegerOf(dtype, value), ElementSize(dtype));
  }
}

Element ElementOf(DtypeNumber dtype, long double real, long double imaginary) {
  Element element;
  AppendNumber(element, PartOf(dtype), real);
  if (IsComplexDtype(dtype)) AppendNumber(element, PartOf(dtype), imaginary);
  return element;
}

bool IsNan(DtypeNumber part, const std::byte* at) {
  // Compares numbers of 8 bits as bytes.
  return IsFloatingDtype(part) && ElementSize(part) > 1 && std::isnan(ValueOf(part, at));
}

}  // namespace

const std::vector<DtypeNumber>& ConvertibleDtypes() {
  static const std::vector<DtypeNumber> dtypes = {
      ACL_INT8,    ACL_UINT8, ACL_INT16, ACL_UINT16, ACL_INT32, ACL_UINT32,    ACL_INT64,     ACL_UINT64,
      ACL_FLOAT16, ACL_BF16,  ACL_FLOAT, ACL_DOUBLE, ACL_BOOL,  ACL_COMPLEX64, ACL_COMPLEX128};
  return dtypes;
}

Element ConvertedElement(DtypeNumber from, const Element& element, DtypeNumber to) {
  if (from == to) return element;
  if ((IsIntegerDtype(from) || from == ACL_BOOL) && IsIntegerDtype(to)) {
    Element low;
    AppendLow(low, static_cast<uint64_t>(DecodeInteger(from, element.data())), ElementSize(to));
    return low;
  }
  const DtypeNumber part = PartOf(from);
  const long double real = ValueOf(part, element.data());
  const long double imaginary = part == from ? 0 : ValueOf(part, element.data() + ElementSize(part));
  if (to == ACL_BOOL) return ElementOf(to, real != 0 || imaginary != 0 ? 1 : 0, 0);
  return ElementOf(to, real, imaginary);
}

bool IsSameElement(DtypeNumber dtype, const std::byte* found, const Element& expected) {
  const DtypeNumber part = PartOf(dtype);
  const auto size = static_cast<size_t>(ElementSize(part));
  for (size_t at = 0; at < expected.size(); at += size) {
    if (IsNan(part, &expected[at]) && IsNan(part, found + at)) continue;
    if (std::memcmp(&expected[at], found + at, size) != 0) return false;
  }
  return true;
}

std::vector<Element> TestElements(DtypeNumber dtype, int random_count, RandomNumbers& random) {
  std::vector<long double> values = {0.0L,
                                     -0.0L,
                                     0.5L,
                                     1.0L,
                                     1.5L,
                                     2.5L,
                                     0.999999L,
                                     65504.0L,
                                     65519.99L,
                                     65520.0L,
                                     1e-5L,
                                     5.9604644775390625e-08L,
                                     2.98e-08L,
                                     1e-40L,
                                     1e-45L,
                                     1e-46L,
                                     1e-310L,
                                     3.4028235e38L,
                                     3.3961775e38L,
                                     3.4e38L,
                                     1e300L,
                                     1e39L,
                                     std::numeric_limits<long double>::infinity(),
                                     std::numeric_limits<long double>::quiet_NaN()};
  for (const int bits : {7, 8, 11, 15, 16, 24, 25, 31, 32, 33, 52, 53, 54, 62, 63, 64}) {
    for (const int delta : {-1, 0, 1, 3}) {
      values.push_back(std::ldexp(1.0L, bits) + static_cast<long double>(delta));
      values.push_back(std::ldexp(1.0L, bits) * (1 + std::ldexp(static_cast<long double>(delta), -12)));
      values.push_back(std::ldexp(1.0L, bits) *
                       (1 + std::ldexp(1.0L, -9) + std::ldexp(static_cast<long double>(delta), -50)));
      values.push_back(std::ldexp(1.0L, bits) *
                       (1 + std::ldexp(1.0L, -12) + std::ldexp(static_cast<long double>(delta), -62)));
    }
    values.push_back(std::ldexp(1.0L, bits) - 0.5L);
  }
  std::vector<Element> elements;
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) {
    elements.push_back(ElementOf(dtype, values[i], values[(i * 7 + 3) % count]));
    elements.push_back(ElementOf(dtype, -values[i], values[(i * 5 + 1) % count]));
  }
  if (IsComplexDtype(dtype)) {
    elements.push_back(ElementOf(dtype, 0, 1));
    elements.push_back(ElementOf(dtype, -0.0L, -0.0L));
  }
  for (int i = 0; i < random_count; ++i) {
    if (random.Chance(50)) {
      Element bits;
      while (bits.size() < static_cast<size_t>(ElementSize(dtype)))
        bits.push_back(static_cast<std::byte>(random.Bits()));
      elements.push_back(bits);
    } else {
      const auto number = [&] {
        const auto whole = static_cast<long double>(static_cast<int64_t>(random.Bits()));
        return std::ldexp(whole, static_cast<int>(random.Between(-90, 4)));
      };
      const long double real = number();
      elements.push_back(ElementOf(dtype, real, number()));
    }
  }
  return elements;
}

}  // namespace portacl::testing
