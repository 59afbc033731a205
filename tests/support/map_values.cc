// Elements, numbers and oracles: see map_values.h.
// SPDX-License-Identifier: Apache-2.0
#include "map_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "float_formats.h"
#include "scalar_dtypes.h"

namespace portacl::testing {
namespace {

using Complex = std::complex<long double>;

template <class T>
T Load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
Element Bytes(T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  return {bytes, bytes + sizeof value};
}

long double RealOf(DtypeNumber dtype, const std::byte* at) {
  if (dtype == ACL_UINT64) return static_cast<long double>(Load<uint64_t>(at));
  if (IsIntegral(dtype)) return static_cast<long double>(DecodeInteger(dtype, at));
  return DecodeReal(dtype, at);
}

// FLOAT16 and BF16 are computed in float32.
bool IsSingle(DtypeNumber dtype) { return dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16; }

template <class T>
long double UlpOf(long double value) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  constexpr int kLowest = std::numeric_limits<T>::min_exponent - 1;
  const int exponent = value == 0 ? kLowest : std::max(std::ilogb(value), kLowest);
  return std::ldexp(1.0L, std::min(exponent, std::numeric_limits<T>::max_exponent - 1) - (kDigits - 1));
}

// Returns the values of T in [value - ulp, value + ulp] that are nearest to its ends.
template <class T>
std::pair<T, T> Interval(long double value, double ulp) {
  if (!std::isfinite(value)) return {static_cast<T>(value), static_cast<T>(value)};
  const long double slack = static_cast<long double>(ulp) * UlpOf<T>(value) * (1 + 0x1p-20L);
  T low = static_cast<T>(value - slack);
  T high = static_cast<T>(value + slack);
  const T infinity = std::numeric_limits<T>::infinity();
  if (low < value - slack && ulp >= 0.5 && std::isfinite(low)) low = std::nextafter(low, infinity);
  if (high > value + slack && ulp >= 0.5 && std::isfinite(high)) high = std::nextafter(high, -infinity);
  if (value != 0 && low == 0 && value < 0) low = -low;  // keeps the sign
  return {low, high};
}

std::string Text(DtypeNumber dtype, const std::byte* at) {
  std::ostringstream text;
  text.precision(20);
  const Number number = NumberOf(dtype, at);
  text << number.real;
  if (IsComplexDtype(dtype)) text << (number.imaginary < 0 ? "" : "+") << number.imaginary << "i";
  return text.str();
}

}  // namespace

Number NumberOf(DtypeNumber dtype, const std::byte* element) {
  if (dtype == ACL_COMPLEX64) return {Load<float>(element), Load<float>(element + 4)};
  if (dtype == ACL_COMPLEX128) return {Load<double>(element), Load<double>(element + 8)};
  return {RealOf(dtype, element), 0};
}

Int IntegerOf(DtypeNumber dtype, const std::byte* element) {
  if (dtype == ACL_UINT64) return Load<uint64_t>(element);
  return DecodeInteger(dtype, element);
}

Element ElementOfNumber(DtypeNumber dtype, Number value) {
  if (dtype == ACL_COMPLEX64) {
    const std::complex<float> z(static_cast<float>(value.real), static_cast<float>(value.imaginary));
    return Bytes(z);
  }
  if (dtype == ACL_COMPLEX128) {
    const std::complex<double> z(static_cast<double>(value.real), static_cast<double>(value.imaginary));
    return Bytes(z);
  }
  if (IsIntegerDtype(dtype) && std::fabs(value.real) >= 0x1p53L) {
    Element all =
        value.real < 0 ? Bytes(static_cast<int64_t>(value.real)) : Bytes(static_cast<uint64_t>(value.real));
    all.resize(static_cast<size_t>(ElementSize(dtype)));
    return all;
  }
  return ConvertedElement(ACL_DOUBLE, Bytes(static_cast<double>(value.real)), dtype);
}

void FillWithNumbers(HostTensor& tensor, bool unary_domain, RandomNumbers& random) {
  const DtypeNumber dtype = tensor.dtype();
  const auto bytes = static_cast<size_t>(ElementSize(dtype));
  static std::vector<std::pair<DtypeNumber, std::vector<Element>>> specials;
  auto found =
      std::find_if(specials.begin(), specials.end(), [&](const auto& entry) { return entry.first == dtype; });
  if (found == specials.end()) {
    RandomNumbers own(0x5BEC);
    specials.emplace_back(dtype, TestElements(dtype, 100, own));
    found = specials.end() - 1;
  }
  const std::vector<Element>& special = found->second;
  const auto real = [&]() -> long double {
    const int64_t draw = random.Below(100);
    if (draw < 25) return static_cast<long double>(random.Between(-4, 4)) / (random.Chance(60) ? 1 : 2);
    const long double unit = static_cast<long double>(random.Unit());
    if (draw < 50) return (unit - 0.5L) * 2;
    if (draw < 80) return (unit - 0.5L) * 40;
    const int range = unary_domain ? 8 : 30;
    return std::ldexp(unit - 0.5L, static_cast<int>(random.Between(-range, range)));
  };
  for (int64_t i = 0; i < tensor.size(); ++i) {
    Element element;
    if (dtype == ACL_BOOL) {
      element = {static_cast<std::byte>(random.Chance(45)   ? 0
                                        : random.Chance(90) ? 1
                                                            : random.Between(2, 255))};
    } else if (random.Chance(15)) {
      element = special[static_cast<size_t>(random.Below(std::ssize(special)))];
    } else if (IsIntegerDtype(dtype)) {
      const bool small = random.Chance(50);
      const uint64_t bits = small ? static_cast<uint64_t>(random.Between(-5, 5)) : random.Bits();
      element = Bytes(small ? bits : bits >> random.Below(64));
      element.resize(bytes);
    } else {
      const long double first = real();
      element = ElementOfNumber(dtype, {first, real()});
    }
    std::memcpy(tensor.Element(i), element.data(), bytes);
  }
}

std::vector<std::byte> ElementsOf(const HostTensor& tensor) {
  const auto bytes = static_cast<size_t>(ElementSize(tensor.dtype()));
  std::vector<std::byte> elements(static_cast<size_t>(tensor.size()) * bytes);
  for (int64_t i = 0; i < tensor.size(); ++i)
    std::memcpy(&elements[static_cast<size_t>(i) * bytes], tensor.Element(i), bytes);
  return elements;
}

std::string FirstDifference(const MapOperator& op, const PlanCall& call,
                            const std::vector<std::vector<std::byte>>& inputs,
                            const std::vector<std::vector<int64_t>>& positions,
                            const std::vector<std::byte>& found) {
  const Oracle& oracle = op.formula;
  const DtypeNumber out = call.arguments[op.Output()].dtype;
  const DtypeNumber computed = call.promoted;
  const auto out_bytes = static_cast<size_t>(ElementSize(out));
  const bool is_complex = IsComplexDtype(computed);
  const bool is_integer = IsIntegral(computed);
  const bool is_single = IsSingle(computed);

  // Tensor operands are read for each element; the others are constant.
  struct Source {
    size_t parameter;
    bool is_tensor;
    DtypeNumber cast;
  };
  std::vector<Source> sources;
  std::vector<Number> numbers;
  std::vector<Int> integers;
  for (size_t k = 0; k < call.arguments.size(); ++k) {
    if (!op.IsInput(k)) continue;
    const ParameterKind kind = op.function.parameters[k];
    DtypeNumber cast = CastOf(op, call, k);
    Number number = ValueOf(call.arguments[k]);
    Int integer = 0;
    if (kind == ParameterKind::kScalar && !call.arguments[k].null) {
      const bool is_half = cast == ACL_FLOAT16 || cast == ACL_BF16;
      if (is_half && !oracle.rounds_scalars) cast = ACL_FLOAT;
      number = ScalarIn(call.arguments[k], cast);
      // Integers wrap, whatever their size.
      if (IsIntegral(cast)) {
        const Element own = ElementOfNumber(call.arguments[k].dtype, call.arguments[k].number);
        const Element converted = IsComplexDtype(call.arguments[k].dtype) || cast == ACL_BOOL
                                      ? ElementOfNumber(cast, number)
                                      : ConvertedElement(call.arguments[k].dtype, own, cast);
        integer = IntegerOf(cast, converted.data());
      }
    } else if (kind != ParameterKind::kTensor) {
      integer = static_cast<Int>(number.real);
    }
    if (kind == ParameterKind::kScalar && !IsIntegral(cast)) {
      const long double bounded = std::fmin(std::fmax(number.real, -0x1p100L), 0x1p100L);  // NaN: the lowest
      integer = static_cast<Int>(std::floor(bounded));
    }
    sources.push_back({k, kind == ParameterKind::kTensor && !call.arguments[k].null, cast});
    numbers.push_back(number);
    integers.push_back(integer);
  }

  const size_t count = found.size() / out_bytes;
  const size_t n = sources.size();
  std::vector<float> x32(n);
  std::vector<double> x64(n);
  std::vector<long double> x80(n);
  std::vector<Complex> xc(n);
  for (size_t i = 0; i < count; ++i) {
    for (size_t s = 0; s < n; ++s) {
      const size_t k = sources[s].parameter;
      if (sources[s].is_tensor) {
        const DtypeNumber from = call.arguments[k].dtype;
        const auto bytes = static_cast<size_t>(ElementSize(from));
        const std::byte* at = &inputs[k][static_cast<size_t>(positions[k][i]) * bytes];
        const Element converted = ConvertedElement(from, Element(at, at + bytes), sources[s].cast);
        numbers[s] = NumberOf(sources[s].cast, converted.data());
        if (IsIntegral(sources[s].cast)) integers[s] = IntegerOf(sources[s].cast, converted.data());
      }
      x32[s] = static_cast<float>(numbers[s].real);
      x64[s] = static_cast<double>(numbers[s].real);
      x80[s] = numbers[s].real;
      xc[s] = {numbers[s].real, numbers[s].imaginary};
    }
    const std::byte* const result = &found[i * out_bytes];
    const auto describe = [&](const std::string& expected) {
      std::ostringstream text;
      text.precision(20);
      text << "element " << i << " of " << DtypeName(out) << ", computed in " << DtypeName(computed)
           << ": f(";
      for (size_t s = 0; s < n; ++s) {
        text << (s == 0 ? "" : ", ") << numbers[s].real;
        if (is_complex) text << "+" << numbers[s].imaginary << "i";
      }
      text << ") is " << Text(out, result) << ", expected " << expected;
      return text.str();
    };
    const auto check_exact = [&](DtypeNumber dtype, const Element& value) -> bool {
      const Element expected = ConvertedElement(dtype, value, out);
      if (IsSameElement(out, result, expected)) return true;
      // Selected or copied BOOL elements keep their byte, whatever nonzero value it has.
      if (out == ACL_BOOL && !oracle.truth && (expected[0] != std::byte{0}) == (*result != std::byte{0}))
        return true;
      return oracle.zero_sign_free && NumberOf(out, expected.data()).real == 0 &&
             NumberOf(out, result).real == 0;
    };

    if (is_complex) {
      const bool finite = std::all_of(xc.begin(), xc.end(), [](const Complex& z) {
        const auto moderate = [](long double part) {
          return std::fabs(part) < 1e15L && (part == 0 || std::fabs(part) > 1e-15L);
        };
        return moderate(z.real()) && moderate(z.imag());
      });
      if (!oracle.complex || (!finite && !oracle.truth)) continue;
      const Complex value = oracle.complex(xc.data());
      if (oracle.truth) {
        if (!check_exact(ACL_BOOL, {static_cast<std::byte>(value.real() != 0)}))
          return describe(value.real() != 0 ? "1" : "0");
        continue;
      }
      const long double size = std::abs(value);
      if (!(size < 1e30L) || !IsComplexDtype(out) == !oracle.complex_to_real) continue;
      const long double scale = oracle.scale ? oracle.scale(xc.data()) : size;
      const bool narrow = computed == ACL_COMPLEX64 || out == ACL_COMPLEX64 || out == ACL_FLOAT;
      const long double unit = narrow ? 0x1p-23L : 0x1p-52L;
      const Number number = NumberOf(out, result);
      const long double distance = std::abs(value - Complex(number.real, number.imaginary));
      if (!(distance <= static_cast<long double>(oracle.ulp_complex) * unit * scale + 1e-37L)) {
        std::ostringstream text;
        text.precision(20);
        text << value.real() << "+" << value.imag() << "i";
        return describe(text.str());
      }
      continue;
    }
    if (is_integer) {
      if (!oracle.integer) continue;
      if (oracle.any_integer && oracle.any_integer(integers.data())) continue;
      const Int value = oracle.integer(integers.data());
      const DtypeNumber dtype = oracle.truth ? DtypeNumber{ACL_BOOL} : computed;
      Element wrapped = Bytes(static_cast<uint64_t>(value));
      wrapped.resize(static_cast<size_t>(ElementSize(dtype)));
      if (dtype == ACL_BOOL) wrapped[0] = static_cast<std::byte>(value != 0);
      if (dtype == ACL_BOOL && oracle.flips_bool) wrapped[0] = static_cast<std::byte>(integers[0] == 0);
      if (!check_exact(dtype, wrapped)) return describe(Text(dtype, wrapped.data()));
      continue;
    }
    if (oracle.any_real && oracle.any_real(x80.data())) continue;
    if (oracle.single || oracle.twofold) {
      if (is_single ? !oracle.single : !oracle.twofold) continue;
      const double value =
          is_single ? static_cast<double>(oracle.single(x32.data())) : oracle.twofold(x64.data());
      const Element exact = oracle.truth ? Element{static_cast<std::byte>(value != 0)} : Bytes(value);
      if (!check_exact(oracle.truth ? ACL_BOOL : ACL_DOUBLE, exact))
        return describe(Text(ACL_DOUBLE, Bytes(value).data()));
      continue;
    }
    if (!oracle.real) continue;
    const long double value = oracle.real(x80.data());
    std::pair<double, double> ends;
    if (is_single)
      ends = Interval<float>(value, oracle.ulp32);
    else
      ends = Interval<double>(value, oracle.ulp64);
    if (oracle.slack && std::isfinite(value)) {
      const auto slack = static_cast<double>(oracle.slack(x80.data()));
      ends = {ends.first - slack, ends.second + slack};
      if (is_single) {  // the possible results
        const auto low = static_cast<float>(ends.first);
        const auto high = static_cast<float>(ends.second);
        ends.first =
            static_cast<double>(static_cast<double>(low) < ends.first ? std::nextafter(low, INFINITY) : low);
        ends.second = static_cast<double>(
            static_cast<double>(high) > ends.second ? std::nextafter(high, -INFINITY) : high);
      }
    }
    const Element low = ConvertedElement(ACL_DOUBLE, Bytes(ends.first), out);
    const Element high = ConvertedElement(ACL_DOUBLE, Bytes(ends.second), out);
    const Number number = NumberOf(out, result);
    bool right = std::isnan(value)
                     ? IsSameElement(out, result, low)
                     : number.real >= NumberOf(out, low.data()).real &&
                           number.real <= NumberOf(out, high.data()).real && number.imaginary == 0;
    if (!right && !IsFloatingDtype(out) && !IsComplexDtype(out)) {
      right =
          IsSameElement(out, result, ConvertedElement(ACL_DOUBLE, Bytes(static_cast<double>(value)), out)) ||
          IsSameElement(out, result, high) || (number.real == 0 && ends.first <= 0 && ends.second >= 0);
      // Results that wrap may be any number between the ends.
      double between = ends.first;
      for (int tries = 0; tries < 1000 && !right && between <= ends.second; ++tries) {
        right = IsSameElement(out, result, ConvertedElement(ACL_DOUBLE, Bytes(between), out));
        between = is_single ? static_cast<double>(std::nextafter(static_cast<float>(between), INFINITY))
                            : std::nextafter(between, static_cast<double>(INFINITY));
      }
    }
    if (value == 0 && IsFloatingDtype(out) && !oracle.zero_sign_free && number.real == 0)
      right = right && std::signbit(number.real) == std::signbit(value);
    if (!right) {
      std::ostringstream text;
      text.precision(20);
      text << value << " (" << ends.first << " to " << ends.second << ")";
      return describe(text.str());
    }
  }
  return "";
}

}  // namespace portacl::testing
