// Passes over rows that become codes (see code_rows.h). Which lane a number is in changes nothing, so that bits
// are the same for every instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "engine/quantise/code_rows.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/quantise/code_rows.cc"
#include "base/foreach_target.h"

#include <hwy/cache_control.h>
#include <hwy/highway.h>
#include "engine/codes-inl.h"
#include "engine/half_precision-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace code_rows {

namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kCodesAtATime = 2048;

// The bits of infinity without a sign. Greater ones are NaN.
template <class Elements>
constexpr int64_t kInfinityBits = std::is_same_v<Elements, F16Elements>    ? 0x7C00
                                  : std::is_same_v<Elements, Bf16Elements> ? 0x7F80
                                                                           : 0x7F800000;

// Returns the greatest of magnitudes as integers, whose order is that of the numbers: all of them, or those that are
// not NaN.
template <class Elements, bool kSkipsNan, class Bits>
Bits GreatestBits(const typename Elements::Type* x, size_t n) {
  const hn::ScalableTag<Bits> d;
  const hn::ScalableTag<typename Elements::Type> numbers;
  constexpr Bits kMagnitude = static_cast<Bits>(sizeof(Bits) == 2 ? 0x7FFF : 0x7FFFFFFF);
  constexpr auto kInfinite = static_cast<Bits>(kInfinityBits<Elements>);
  const size_t lanes = hn::Lanes(d);
  const auto magnitude = hn::Set(d, kMagnitude);
  const auto with = [&](auto greatest, size_t i) HWY_ATTR {
    auto size = hn::And(hn::BitCast(d, hn::LoadU(numbers, x + i)), magnitude);
    if (kSkipsNan) size = hn::IfThenZeroElse(hn::Gt(size, hn::Set(d, kInfinite)), size);
    return hn::Max(greatest, size);
  };
  auto first = hn::Zero(d);
  auto second = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    first = with(first, i);
    second = with(second, i + lanes);
  }
  for (; i + lanes <= n; i += lanes) first = with(first, i);
  Bits greatest = hn::GetLane(hn::MaxOfLanes(d, hn::Max(first, second)));
  for (; i < n; ++i) {
    Bits size;
    std::memcpy(&size, x + i, sizeof size);
    size = static_cast<Bits>(size & kMagnitude);
    if (!kSkipsNan || size <= kInfinite) greatest = HWY_MAX(greatest, size);
  }
  return greatest;
}
template <class Elements>
float GreatestOfBits(const typename Elements::Type* x, size_t n, bool* has_nan) {
  using Bits = std::conditional_t<sizeof(typename Elements::Type) == 2, int16_t, int32_t>;
  Bits greatest = GreatestBits<Elements, false, Bits>(x, n);
  *has_nan = greatest > static_cast<Bits>(kInfinityBits<Elements>);
  if (*has_nan) greatest = GreatestBits<Elements, true, Bits>(x, n);
  if constexpr (std::is_same_v<Elements, F16Elements>) {
    HWY_ALIGN typename Elements::Type one[HWY_MAX_BYTES / sizeof(float)] = {};
    std::memcpy(one, &greatest, sizeof greatest);
    return hn::GetLane(Elements::Load(DF(), one));
  } else {
    // The bits of BF16 are the upper ones of a float32; a vector would wait for the number to reach memory.
    const uint32_t bits = static_cast<uint32_t>(greatest) << (32 - 8 * sizeof greatest);
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
  }
}

// Calls each(number) for vectors of numbers, times their factors. Lanes behind the end are copies of the last
// number.
template <class Elements, class Each>
HWY_INLINE void ForEachProduct(const typename Elements::Type* x, const float* factors, size_t n,
                               const Each& each) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  if (factors == nullptr) {
    for (; i + lanes <= n; i += lanes) each(Elements::Load(d, x + i));
  } else {
    for (; i + lanes <= n; i += lanes) each(hn::Mul(Elements::Load(d, x + i), hn::LoadU(d, factors + i)));
  }
  if (i == n) return;
  HWY_ALIGN typename Elements::Type numbers[HWY_MAX_BYTES / sizeof(float)];
  HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)];
  for (size_t lane = 0; lane < lanes; ++lane) {
    const size_t at = HWY_MIN(i + lane, n - 1);
    std::memcpy(numbers + lane, x + at, sizeof *x);
    rest[lane] = factors == nullptr ? 1.0f : factors[at];
  }
  each(hn::Mul(Elements::Load(d, numbers), hn::Load(d, rest)));
}

template <class Elements>
float Greatest(const void* x, const float* factors, size_t n, bool* has_nan) {
  const auto* const from = static_cast<const typename Elements::Type*>(x);
  if (factors == nullptr) return GreatestOfBits<Elements>(from, n, has_nan);
  *has_nan = true;  // is not looked for
  const DF d;
  VF greatest = hn::Zero(d);
  ForEachProduct<Elements>(from, factors, n, [&](VF t) HWY_ATTR {
    const VF size = hn::Abs(t);
    greatest = hn::IfThenElse(hn::Gt(size, greatest), size, greatest);
  });
  return hn::GetLane(hn::MaxOfLanes(d, greatest));
}

template <class Elements>
void Range(const void* x, const float* factors, size_t n, float* least, float* greatest) {
  const DF d;
  VF low = hn::Set(d, *least);
  VF high = hn::Set(d, *greatest);
  ForEachProduct<Elements>(static_cast<const typename Elements::Type*>(x), factors, n, [&](VF t) HWY_ATTR {
    low = hn::IfThenElse(hn::Lt(t, low), t, low);
    high = hn::IfThenElse(hn::Gt(t, high), t, high);
  });
  *least = hn::GetLane(hn::MinOfLanes(d, low));
  *greatest = hn::GetLane(hn::MaxOfLanes(d, high));
}

// Encodes whole vectors of numbers times a factor, two at a time, and returns how many numbers these are. `next` is
// brought to the cache meanwhile.
template <class Elements, class Encoded>
HWY_INLINE size_t EncodeProducts(const typename Elements::Type* x, VF factor, size_t n, const char* next,
                                 uint8_t* codes, const Encoded& encoded) {
  constexpr size_t kLine = 64;
  const DF d;
  const size_t lanes = hn::Lanes(d);
  const auto encode = [&](size_t i) HWY_ATTR {
    hn::StoreU(encoded(hn::Mul(Elements::Load(d, x + i), factor)), DCodes(), codes + i);
  };
  const size_t bytes = lanes * sizeof(*x);
  size_t i = 0;
  for (; next != nullptr && i + 2 * lanes <= n; i += 2 * lanes) {
    hwy::Prefetch(next + i * sizeof(*x));
    if (2 * bytes > kLine) hwy::Prefetch(next + i * sizeof(*x) + bytes);
    encode(i);
    encode(i + lanes);
  }
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    encode(i);
    encode(i + lanes);
  }
  for (; i + lanes <= n; i += lanes) encode(i);
  return i;
}

template <class Codes>
struct IsWhole : std::false_type {};
template <int kLowest, int kGreatest, uint32_t kMask>
struct IsWhole<WholeCodes<kLowest, kGreatest, kMask>> : std::true_type {};

// Encodes numbers [first, first + n) of a row, a byte for each.
template <class Elements, class Codes>
HWY_INLINE void EncodeSome(const typename Elements::Type* x, const CodeSteps& steps, size_t first, size_t n,
                           const char* next, uint8_t* codes) {
  using Type = typename Elements::Type;
  const DF d;
  const size_t lanes = hn::Lanes(d);
  const VF factor = hn::Set(d, steps.factor);
  const VF divisor = hn::Set(d, steps.divisor);
  const VF term = hn::Set(d, steps.term);
  const bool is_product = steps.multiplies && steps.factors == nullptr && steps.divisors == nullptr &&
                          steps.terms == nullptr && !steps.divides && !steps.adds;
  x += first;
  size_t i = 0;
  if (is_product) {
    const char* const ahead = next == nullptr ? nullptr : next + first * sizeof(Type);
    if constexpr (IsWhole<Codes>::value) {
      if (steps.is_within)
        i = EncodeProducts<Elements>(x, factor, n, ahead, codes,
                                     [](VF t) HWY_ATTR { return Codes::EncodeWithin(t); });
    }
    if (i == 0)
      i = EncodeProducts<Elements>(x, factor, n, ahead, codes,
                                   [](VF t) HWY_ATTR { return Codes::Encode(t); });
  }
  const auto stepped = [&](VF t, const float* factors, const float* divisors, const float* terms) HWY_ATTR {
    if (factors != nullptr) t = hn::Mul(t, hn::LoadU(d, factors));
    if (steps.multiplies) t = hn::Mul(t, factor);
    if (divisors != nullptr) t = hn::Div(t, hn::LoadU(d, divisors));
    if (steps.divides) t = hn::Div(t, divisor);
    if (terms != nullptr) t = hn::Add(t, hn::LoadU(d, terms));
    if (steps.adds) t = hn::Add(t, term);
    return Codes::Encode(t);
  };
  const auto at = [&](const float* row) { return row == nullptr ? nullptr : row + first + i; };
  for (; i + lanes <= n; i += lanes) {
    if (next != nullptr) hwy::Prefetch(next + (first + i) * sizeof(Type));
    hn::StoreU(stepped(Elements::Load(d, x + i), at(steps.factors), at(steps.divisors), at(steps.terms)),
               DCodes(), codes + i);
  }
  if (i == n) return;
  // The last, partial vector passes through buffers.
  constexpr size_t kMost = HWY_MAX_BYTES / sizeof(float);
  HWY_ALIGN Type numbers[kMost] = {};
  HWY_ALIGN float rows[3][kMost] = {};
  HWY_ALIGN uint8_t rest[kMost];
  const size_t many = n - i;
  std::memcpy(numbers, x + i, many * sizeof(Type));
  const auto padded = [&](const float* row, float* to) -> const float* {
    if (row == nullptr) return nullptr;
    std::memcpy(to, row + first + i, many * sizeof(float));
    return to;
  };
  hn::StoreU(stepped(Elements::Load(d, numbers), padded(steps.factors, rows[0]),
                     padded(steps.divisors, rows[1]), padded(steps.terms, rows[2])),
             DCodes(), rest);
  std::memcpy(codes + i, rest, many);
}

// Copies bytes; whole lines go past the caches.
HWY_INLINE void StreamBytes(const uint8_t* from, uint8_t* to, size_t n) {
  if constexpr (kCanStream) {
    const hn::ScalableTag<uint8_t> d;
    const size_t lanes = hn::Lanes(d);
    const size_t head = ElementsToLine(to, 1, n);
    std::memcpy(to, from, head);
    size_t i = head;
    for (; i + 64 <= n; i += 64) {
      for (size_t j = i; j < i + 64; j += lanes) hn::Stream(hn::LoadU(d, from + j), d, to + j);
    }
    std::memcpy(to + i, from + i, n - i);
  } else {
    std::memcpy(to, from, n);
  }
}

template <class Elements, class Codes>
void Encode(const void* x, const CodeSteps& steps, size_t n, const void* next, void* codes, bool stream) {
  constexpr bool kIsPacked = std::is_same_v<Codes, S4Codes>;
  const auto* const from = static_cast<const typename Elements::Type*>(x);
  const auto* const ahead = static_cast<const char*>(next);
  auto* const to = static_cast<uint8_t*>(codes);
  stream = stream && kCanStream;
  if (!kIsPacked && !stream) return EncodeSome<Elements, Codes>(from, steps, 0, n, ahead, to);
  HWY_ALIGN uint8_t bytes[kCodesAtATime];
  HWY_ALIGN uint8_t pairs[kCodesAtATime / 2];
  for (size_t first = 0; first < n; first += kCodesAtATime) {
    const size_t some = HWY_MIN(kCodesAtATime, n - first);
    EncodeSome<Elements, Codes>(from, steps, first, some, ahead, bytes);
    if (!kIsPacked) {
      StreamBytes(bytes, to + first, some);
    } else if (!stream) {
      PackPairs(bytes, to + first / 2, some / 2);
    } else {
      PackPairs(bytes, pairs, some / 2);
      StreamBytes(pairs, to + first / 2, some / 2);
    }
  }
}

template <class Elements>
CodeRowFunctions FunctionsOf(aclDataType codes) {
  CodeRowFunctions functions{ThisIsa(), Greatest<Elements>, Range<Elements>, nullptr};
  switch (codes) {
    case ACL_INT8:
      functions.encode = Encode<Elements, S8Codes>;
      break;
    case ACL_UINT8:
      functions.encode = Encode<Elements, U8Codes>;
      break;
    case ACL_INT4:
      functions.encode = Encode<Elements, S4Codes>;
      break;
    case ACL_FLOAT8_E4M3FN:
      functions.encode = Encode<Elements, E4m3Codes>;
      break;
    case ACL_FLOAT8_E5M2:
      functions.encode = Encode<Elements, E5m2Codes>;
      break;
    case ACL_HIFLOAT8:
      functions.encode = Encode<Elements, HiFloatCodes>;
      break;
    default:
      return {};
  }
  return functions;
}

CodeRowFunctions FunctionsHere(aclDataType numbers, aclDataType codes) {
  switch (numbers) {
    case ACL_FLOAT:
      return FunctionsOf<F32Elements>(codes);
    case ACL_FLOAT16:
      return FunctionsOf<F16Elements>(codes);
    case ACL_BF16:
      return FunctionsOf<Bf16Elements>(codes);
    default:
      return {};
  }
}

}  // namespace code_rows
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_in_use.h"
#include "engine/isa_table.h"

namespace portacl::engine {
namespace {

constexpr auto kFunctions = PORTACL_ISA_TABLE(code_rows::FunctionsHere);

}  // namespace

CodeRowFunctions FindCodeRows(Isa isa, aclDataType numbers, aclDataType codes) noexcept {
  const CodeRowFunctions functions = kFunctions.For(isa)(numbers, codes);
  if (functions.encode != nullptr) ReportIsaThatRan(functions.isa);
  return functions;
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
