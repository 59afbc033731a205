// What the tests of quantisers share: codes as elements of a tensor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "aclnnop/families/quantisation.h"
#include "codes_by_definition.h"
#include "moe/moe_calls.h"

namespace portacl::testing {

inline const DtypeList kHalfDtypes = {ACL_FLOAT16, ACL_BF16};
inline bool IsSinceA2(const PlanCall& call) { return IsOnA2OrA3(call) || IsOn950(call); }
inline bool IsFloat8(DtypeNumber dtype) {
  return dtype == ACL_HIFLOAT8 || dtype == ACL_FLOAT8_E5M2 || dtype == ACL_FLOAT8_E4M3FN;
}
inline bool IsOneOfCodes(const PlanCall& call, DtypeNumber dtype) {
  if (dtype == ACL_INT8) return true;
  if (dtype == ACL_INT4 || dtype == ACL_INT32) return IsSinceA2(call);
  return IsOn950(call) && IsFloat8(dtype);
}
// Of INT32 eight codes of 4 bits.
inline DtypeNumber CodeDtype(DtypeNumber y) { return y == ACL_INT32 ? DtypeNumber{ACL_INT4} : y; }

// The shape of codes of a tensor; false where there is none.
inline bool IsShapeOfCodes(const Shape& x, const PlanArgument& y) {
  Shape shape = x;
  if (y.dtype == ACL_INT32 || y.dtype == ACL_INT4) {
    if (x.empty()) return false;
    if (y.dtype == ACL_INT4) return x.back() % 2 == 0 && y.shape == shape;
    if (x.back() % 8 != 0) return false;
    shape.back() /= 8;
  }
  return y.shape == shape;
}

// Codes in the order of their elements, as a tensor of this dtype has them.
inline Outcome OutcomeOfCodes(DtypeNumber y, const std::vector<std::optional<uint32_t>>& codes) {
  Outcome outcome;
  if (y == ACL_INT32) {
    for (size_t i = 0; i < codes.size(); i += 8) {
      if (!codes[i].has_value()) {
        outcome.emplace_back(std::nullopt);
        continue;
      }
      uint32_t word = 0;
      for (size_t k = 0; k < 8; ++k) word |= *codes[i + k] << (4 * k);
      Element element(sizeof word);
      std::memcpy(element.data(), &word, sizeof word);
      outcome.emplace_back(element);
    }
    return outcome;
  }
  for (const std::optional<uint32_t>& code : codes) {
    if (code.has_value())
      outcome.emplace_back(Element{static_cast<std::byte>(*code)});
    else
      outcome.emplace_back(std::nullopt);
  }
  return outcome;
}

inline float FloatAt(const Numbers& numbers, int64_t i) {
  return IsIntegerDtype(numbers.dtype()) ? static_cast<float>(numbers.Integer(i))
                                         : static_cast<float>(numbers[i]);
}

inline float GreatestCode(DtypeNumber dtype) {
  switch (dtype) {
    case ACL_INT8:
      return 127;
    case ACL_INT4:
      return 7;
    case ACL_FLOAT8_E4M3FN:
      return 448;
    case ACL_FLOAT8_E5M2:
      return 57344;
    default:
      return 32768;
  }
}

// What numbers of a row make of themselves, step by step in float32 as the products have it.
struct RowCodes {
  std::vector<uint32_t> codes;
  float scale = 0;
  float offset = 0;
};
inline RowCodes DynamicRow(const std::vector<float>& row, DtypeNumber dtype, bool is_950, bool has_offset,
                           float most) {
  RowCodes result;
  float least = std::numeric_limits<float>::infinity();
  float greatest = -least;
  for (const float t : row) {
    if (std::isnan(t)) continue;
    least = std::min(least, t);
    greatest = std::max(greatest, t);
  }
  if (least > greatest) least = greatest = 0;
  const bool is_integer = dtype == ACL_INT8 || dtype == ACL_INT4;
  float factor = 0;
  if (has_offset) {
    result.scale = (greatest - least) / (is_integer ? 2 * most + 1 : 2 * most);
    if (!is_950) result.scale = std::max(result.scale, 1e-12f);
    result.offset = result.scale == 0 ? 0 : most - greatest / result.scale;
    factor = 1.0f / result.scale;
  } else {
    const float size = std::max(std::fabs(least), std::fabs(greatest));
    if (is_950) {
      const float step = 1.0f / most;
      result.scale = size * step;
    } else {
      factor = most / size;
      result.scale = 1.0f / factor;
    }
  }
  for (const float t : row) {
    float y = is_950 ? t / result.scale : t * factor;
    if (has_offset) y = y + result.offset;
    if (has_offset && is_950 && result.scale == 0) y = 0;
    result.codes.push_back(QuantisedCode(dtype, y));
  }
  return result;
}

}  // namespace portacl::testing
