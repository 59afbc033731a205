// Lists of awkward values: see special_values.h.
// SPDX-License-Identifier: Apache-2.0
#include "special_values.h"

#include <limits>

#include "float_formats.h"

namespace portacl::testing {

std::vector<uint32_t> SpecialBits(DtypeNumber dtype) {
  const FloatFormat format = dtype == ACL_FLOAT16 ? kFloat16 : dtype == ACL_BF16 ? kBfloat16 : kFloat32;
  const uint32_t infinity = format.InfinityBits();
  const uint32_t smallest_normal = uint32_t{1} << format.fraction_bits;
  const uint32_t one = EncodeFloat(format, 1.0);
  std::vector<uint32_t> bits = {0,  // zero
                                1,  // smallest subnormal
                                2,
                                smallest_normal / 2,  // a subnormal in the middle
                                smallest_normal - 1,  // largest subnormal
                                smallest_normal,
                                smallest_normal + 1,
                                one - 1,
                                one,
                                one + 1,
                                EncodeFloat(format, 3.25),
                                EncodeFloat(format, 1e-3),
                                infinity - 1,  // largest finite
                                infinity,
                                infinity + 1,  // signalling NaN
                                format.QuietNanBits(),
                                format.SignBit() - 1};  // NaN, all ones
  const size_t positive = bits.size();
  for (size_t i = 0; i < positive; ++i) {
    bits.push_back(bits[i] | format.SignBit());
  }
  return bits;
}

std::vector<int64_t> SpecialIntegers(DtypeNumber dtype) {
  if (dtype == ACL_BOOL) {
    return {0, 1, 2, 127, 128, 255};  // any byte that is not zero counts as true
  }
  std::vector<int64_t> magnitudes = {0, 1, 2, 3, 100, 127, 128, 200, 255, 256, 257, 32767, 32768, 65535};
  // Around the f16 limits, and ties of its 11 bits.
  for (const int64_t value :
       {2047, 2048, 2049, 2050, 2051, 4097, 4098, 4099, 65503, 65504, 65505, 65519, 65520, 65521}) {
    magnitudes.push_back(value);
  }
  // Ties of 8 and 24 bits, with the sticky part one below and one above. Where the tie bit lies far above the
  // last bit, a detour through float32 drops the sticky bit and rounds wrongly.
  for (int top = 8; top < 63; ++top) {
    for (const int precision : {8, 11, 24}) {
      if (top >= precision) {
        const int64_t base = int64_t{1} << top;
        const int64_t half = int64_t{1} << (top - precision);
        for (const int64_t sticky : {-1, 0, 1}) {
          magnitudes.push_back(base + half + sticky);
          magnitudes.push_back(base + 3 * half + sticky);
        }
      }
    }
  }
  magnitudes.push_back(std::numeric_limits<int64_t>::max());
  magnitudes.push_back(std::numeric_limits<int32_t>::max());

  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();
  switch (dtype) {
    case ACL_INT8:
      low = -128;
      high = 127;
      break;
    case ACL_UINT8:
      low = 0;
      high = 255;
      break;
    case ACL_INT16:
      low = -32768;
      high = 32767;
      break;
    case ACL_INT32:
      low = std::numeric_limits<int32_t>::min();
      high = std::numeric_limits<int32_t>::max();
      break;
    default:
      break;
  }
  std::vector<int64_t> values = {low, high};
  for (const int64_t magnitude : magnitudes) {
    if (magnitude <= high) {
      values.push_back(magnitude);
    }
    if (-magnitude >= low) {
      values.push_back(-magnitude);
    }
  }
  return values;
}

}  // namespace portacl::testing
