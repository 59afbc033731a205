// Codes that share powers of two, by their definition in float64, and the rules of operators that write them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "quant_calls.h"

namespace portacl::testing {

inline const DtypeList kMxBytes = {ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2};
inline bool IsFloat4(DtypeNumber dtype) { return dtype == ACL_FLOAT4_E2M1 || dtype == ACL_FLOAT4_E1M2; }
inline bool IsMxCode(DtypeNumber dtype) {
  return dtype == ACL_FLOAT8_E4M3FN || dtype == ACL_FLOAT8_E5M2 || IsFloat4(dtype);
}
inline Rule DtypeOn950(const std::string& name, std::function<bool(DtypeNumber)> takes) {
  return RefusedDtype(name,
                      [=](const PlanCall& call, DtypeNumber dtype) { return IsOn950(call) && takes(dtype); });
}
inline bool IsHalf(DtypeNumber dtype) { return dtype == ACL_FLOAT16 || dtype == ACL_BF16; }
inline bool IsFloatOrHalf(DtypeNumber dtype) { return dtype == ACL_FLOAT || IsHalf(dtype); }
inline bool IsPower(DtypeNumber dtype) { return dtype == ACL_FLOAT8_E8M0; }

// Numbers of many sizes, some of them none.
inline void SetMany(HostTensor& tensor, RandomNumbers& random) {
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const double value =
        std::ldexp(static_cast<double>(random.Between(-255, 255)), static_cast<int>(random.Between(-14, 2)));
    tensor.Set(i, random.Chance(1)   ? std::numeric_limits<double>::quiet_NaN()
                  : random.Chance(1) ? std::numeric_limits<double>::infinity()
                  : random.Chance(8) ? 0
                                     : value);
  }
}

// ---- powers of two ----

struct Power {
  bool is_there = true;
  int exponent = -127;
  uint8_t code() const { return is_there ? static_cast<uint8_t>(exponent + 127) : 0xFF; }
};
inline int CeilOfLog2(double x) {
  int exponent = 0;
  return std::frexp(x, &exponent) == 0.5 ? exponent - 1 : exponent;
}
inline Power PowerOf(const std::vector<double>& block, DtypeNumber dtype, int64_t algorithm, double most,
                     double least) {
  double greatest = 0;
  for (const double x : block) {
    if (!std::isfinite(x)) return {false, 0};
    greatest = std::max(greatest, std::fabs(x));
  }
  if (algorithm == 1) greatest = std::max(greatest, least);
  if (greatest == 0) return {};
  int exponent = 0;
  if (algorithm == 0) {
    const int own = dtype == ACL_FLOAT8_E4M3FN ? 8
                    : dtype == ACL_FLOAT8_E5M2 ? 15
                    : dtype == ACL_FLOAT4_E2M1 ? 2
                                               : 0;
    exponent = std::ilogb(greatest) - own;
  } else if (algorithm == 1) {
    const float quotient = static_cast<float>(greatest) / GreatestCode(dtype);
    exponent = CeilOfLog2(static_cast<double>(quotient));
  } else if (most != 0 && most != 6 && most != 7) {
    // A quotient below the normal numbers of float32 counts as 2^-127.
    const float quotient = static_cast<float>(greatest) / static_cast<float>(most);
    exponent = std::fpclassify(quotient) == FP_NORMAL ? CeilOfLog2(static_cast<double>(quotient)) : -127;
  } else {
    const Element rounded = Encoded(ACL_BF16, greatest);
    const double number = DecodeReal(ACL_BF16, rounded.data());
    const double fraction = std::ldexp(number, -std::ilogb(number)) - 1;
    exponent = std::ilogb(number) - 2 + (fraction > (most == 7 ? 0.75 : 0.5) ? 1 : 0);
  }
  return {true, std::max(exponent, -127)};
}
inline uint32_t MxCode(DtypeNumber dtype, double x, const Power& power, char rounding = 'n') {
  if (!power.is_there) return 0;
  return CodeOfNumber(dtype, std::ldexp(x, -power.exponent), true, rounding);
}

inline Shape PairsShape(Shape shape, size_t axis, int64_t block = 32) {
  const int64_t blocks = (shape[axis] + block - 1) / block;
  shape[axis] = (blocks + 1) / 2;
  shape.push_back(2);
  return shape;
}

// Codes and scales of a tensor along an axis.
struct MxResult {
  std::vector<std::optional<uint32_t>> codes;
  Outcome scales;
};
inline MxResult AlongAxis(const Numbers& x, DtypeNumber dtype, size_t axis, int64_t block, int64_t algorithm,
                          double most, double least) {
  const Shape& shape = x.shape();
  MxResult result;
  result.codes.resize(static_cast<size_t>(x.size()));
  const Shape pairs = PairsShape(shape, axis, block);
  result.scales.assign(static_cast<size_t>(NumElements(pairs)), Element{std::byte{0}});
  // The members of each block by the place of its scale.
  std::vector<std::vector<int64_t>> members(result.scales.size());
  for (int64_t i = 0; i < x.size(); ++i) {
    std::vector<int64_t> index = IndexAt(shape, i);
    const int64_t number = index[axis] / block;
    index[axis] = number / 2;
    index.push_back(number % 2);
    members[static_cast<size_t>(PositionOf(pairs, index))].push_back(i);
  }
  for (size_t place = 0; place < members.size(); ++place) {
    std::vector<double> numbers;
    for (const int64_t i : members[place]) numbers.push_back(x[i]);
    if (numbers.empty()) continue;
    const Power power = PowerOf(numbers, dtype, algorithm, most, least);
    result.scales[place] = Element{static_cast<std::byte>(power.code())};
    for (const int64_t i : members[place]) result.codes[static_cast<size_t>(i)] = MxCode(dtype, x[i], power);
  }
  return result;
}

inline bool HasAlgorithm(DtypeNumber y, int64_t algorithm) {
  if (algorithm == 0) return true;
  return algorithm == 1 ? y == ACL_FLOAT8_E4M3FN || y == ACL_FLOAT8_E5M2
                        : algorithm == 2 && y == ACL_FLOAT4_E2M1;
}
inline bool IsMxRound(const PlanArgument& round, DtypeNumber y) {
  if (round.null || round.text == "rint") return true;
  return IsFloat4(y) && (round.text == "round" || round.text == "floor");
}
inline bool ModesWrong(PlanCall& call, const std::string& y, const std::string& round, bool has_algorithm,
                       bool has_most) {
  const DtypeNumber dtype = call[y].dtype;
  if (!IsMxRound(call[round], dtype) || call["dstType"].integer != dtype) return true;
  const int64_t algorithm = has_algorithm ? call["scaleAlg"].integer : 0;
  if (!HasAlgorithm(dtype, algorithm)) return true;
  const double most = has_most ? call["dstTypeMax"].real : 0;
  return most != 0 && !(algorithm == 2 && most >= 6 && most <= 12);
}
inline bool CodesWrong(const Shape& x, const PlanArgument& y) {
  return y.shape != x || (IsFloat4(y.dtype) && x.back() % 2 != 0);
}

}  // namespace portacl::testing
