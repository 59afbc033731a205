// Codes of few bits in registers: float32 vectors become vectors of one byte for each number. codes.h says
// what the codes are.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_CODES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_CODES_INL_H_
#undef PORTACL_ENGINE_CODES_INL_H_
#else
#define PORTACL_ENGINE_CODES_INL_H_
#endif

#include <cstdint>

#include <hwy/highway.h>
#include "engine/half_precision-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DCodes = hn::Rebind<uint8_t, DU>;
using VCodes = hn::Vec<DCodes>;

// Rounds to the nearest whole number, ties to even, and saturates. kMask keeps the bits of a code.
template <int kLowest, int kGreatest, uint32_t kMask = 0xFF>
struct WholeCodes {
  static HWY_INLINE VCodes Encode(VF x) {
    const DF d;
    const VF number = hn::IfThenElseZero(hn::Eq(x, x), x);
    const VF within = hn::Min(hn::Max(number, hn::Set(d, static_cast<float>(kLowest))),
                              hn::Set(d, static_cast<float>(kGreatest)));
    return EncodeWithin(within);
  }
  // Encodes numbers that round to codes: none is NaN.
  static HWY_INLINE VCodes EncodeWithin(VF x) {
    const DU du;
    // Adds a number whose last bit is 1, so that the sum is rounded and its low bits are the integer.
    const VU sum = hn::BitCast(du, hn::Add(x, hn::Set(DF(), 12582912.0f)));
    return hn::TruncateTo(DCodes(), kMask == 0xFF ? sum : hn::And(sum, hn::Set(du, kMask)));
  }
};
using S8Codes = WholeCodes<-128, 127>;
using U8Codes = WholeCodes<0, 255>;
using S4Codes = WholeCodes<-8, 7, 0xF>;  // in the low half of a byte

// Floats of a sign, an exponent and a fraction of kFraction bits, rounded to nearest even, saturated.
template <int kFraction, int kExponentBias, uint32_t kGreatest>
struct SmallFloatCodes {
  static HWY_INLINE VCodes Encode(VF x) {
    constexpr int kBias = 127;
    constexpr int kDropped = 23 - kFraction;
    constexpr uint32_t kNormal = static_cast<uint32_t>(kBias + 1 - kExponentBias) << 23;
    constexpr uint32_t kLarge = static_cast<uint32_t>(kBias + 1 - kExponentBias - kFraction + 23) << 23;
    const DF d;
    const DU du;
    const DI di;
    const VU bits = hn::BitCast(du, x);
    const VU magnitude = hn::And(bits, hn::Set(du, 0x7FFFFFFFu));
    const VU odd = hn::And(hn::ShiftRight<kDropped>(magnitude), hn::Set(du, 1u));
    const VU rounded =
        hn::ShiftRight<kDropped>(hn::Add(magnitude, hn::Add(odd, hn::Set(du, (1u << (kDropped - 1)) - 1))));
    const VU normal =
        hn::Sub(rounded, hn::Set(du, static_cast<uint32_t>(kBias - kExponentBias) << kFraction));
    // Adds a number whose last bit has the subnormals' unit, so that the sum is rounded correctly.
    const VU large = hn::Set(du, kLarge);
    const VU subnormal =
        hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(d, magnitude), hn::BitCast(d, large))), large);
    const auto is_subnormal = hn::Lt(hn::BitCast(di, magnitude), hn::Set(di, static_cast<int32_t>(kNormal)));
    const VU code =
        hn::Min(hn::IfThenElse(hn::RebindMask(du, is_subnormal), subnormal, normal), hn::Set(du, kGreatest));
    const VU with_sign = hn::Or(code, hn::ShiftLeft<7>(hn::ShiftRight<31>(bits)));
    return hn::TruncateTo(DCodes(), hn::IfThenElseZero(hn::RebindMask(du, hn::Eq(x, x)), with_sign));
  }
};
using E4m3Codes = SmallFloatCodes<3, 7, 0x7E>;
using E5m2Codes = SmallFloatCodes<2, 15, 0x7B>;

// HIFLOAT8: rounded to nearest with ties away from zero, saturated. A code has a prefix that tells the bits of
// the exponent, the exponent with its sign in place of its leading one, and the fraction.
struct HiFloatCodes {
  static HWY_INLINE VCodes Encode(VF x) {
    const DU du;
    const DI di;
    const auto zero = hn::Zero(di);
    const auto one = hn::Set(di, 1);
    const auto is_above = [&](auto a, int b) HWY_ATTR { return hn::Gt(a, hn::Set(di, b)); };
    const auto counts = [&](auto mask) HWY_ATTR { return hn::IfThenElseZero(mask, one); };

    const VU bits = hn::BitCast(du, x);
    const VU magnitude = hn::And(bits, hn::Set(du, 0x7FFFFFFFu));
    // Infinity is saturated like any number that is too large; NaN is cleared at the end.
    const VU finite = hn::Min(magnitude, hn::Set(du, 0x7F000000u));
    const auto before = hn::Abs(hn::Sub(Exponent(finite), hn::Set(di, 127)));
    const auto more = hn::Add(counts(is_above(before, 3)),
                              hn::Add(counts(is_above(before, 7)), counts(is_above(before, 15))));
    const VU dropped = hn::BitCast(du, hn::Add(more, hn::Set(di, 20)));
    const VU half = hn::Shl(hn::Set(du, 1u), hn::Sub(dropped, hn::Set(du, 1u)));
    const VU rounded = hn::Shl(hn::Shr(hn::Add(finite, half), dropped), dropped);

    const auto exponent = hn::Sub(Exponent(rounded), hn::Set(di, 127));
    const auto size = hn::Abs(exponent);
    const auto above_3 = counts(is_above(size, 3));
    const auto above_7 = counts(is_above(size, 7));
    const auto exponent_bits =
        hn::Add(hn::Add(counts(is_above(size, 0)), counts(is_above(size, 1))), hn::Add(above_3, above_7));
    const auto fraction_bits = hn::Sub(hn::Set(di, 3), hn::Add(above_3, above_7));
    // Half of 2 to the number of the exponent's bits is its leading one; without bits it is 0.
    const auto leading =
        hn::BitCast(di, hn::ShiftRight<1>(hn::Shl(hn::Set(du, 1u), hn::BitCast(du, exponent_bits))));
    const auto field = hn::IfThenElse(hn::Lt(exponent, zero), size, hn::Sub(size, leading));
    const VU fraction_shift = hn::BitCast(du, fraction_bits);
    const VU fraction = hn::Shr(hn::And(rounded, hn::Set(du, 0x007FFFFFu)),
                                hn::BitCast(du, hn::Sub(hn::Set(di, 23), fraction_bits)));
    const auto long_prefix = hn::ShiftLeft<5>(hn::Sub(exponent_bits, one));
    const auto short_prefix =
        hn::IfThenElse(hn::Eq(exponent_bits, one), hn::Set(di, 0x10), hn::Set(di, 0x08));
    const auto prefix = hn::IfThenElse(is_above(exponent_bits, 1), long_prefix, short_prefix);
    const VU normal =
        hn::Or(hn::BitCast(du, prefix), hn::Or(hn::Shl(hn::BitCast(du, field), fraction_shift), fraction));

    const VU subnormal = hn::BitCast(du, hn::Max(hn::Add(exponent, hn::Set(di, 23)), zero));
    VU code = hn::IfThenElse(hn::RebindMask(du, hn::Lt(exponent, hn::Set(di, -15))), subnormal, normal);
    code = hn::IfThenElse(hn::RebindMask(du, is_above(exponent, 15)), hn::Set(du, 0x6Eu), code);
    // 1.5 * 2^15 has the code of infinity; those above it are of small numbers.
    code = hn::IfThenElse(hn::Eq(code, hn::Set(du, 0x6Fu)), hn::Set(du, 0x6Eu), code);
    // The least number takes all from half of it on.
    const auto is_half = hn::Eq(hn::Sub(Exponent(finite), hn::Set(di, 127)), hn::Set(di, -23));
    code = hn::IfThenElse(hn::RebindMask(du, is_half), hn::Set(du, 1u), code);
    const auto is_below = hn::Lt(hn::Sub(Exponent(finite), hn::Set(di, 127)), hn::Set(di, -23));
    const auto keeps = hn::AndNot(hn::RebindMask(du, is_below), hn::RebindMask(du, hn::Eq(x, x)));
    code = hn::IfThenElseZero(keeps, code);
    // There is no negative zero.
    const VU sign =
        hn::IfThenZeroElse(hn::Eq(code, hn::Zero(du)), hn::ShiftLeft<7>(hn::ShiftRight<31>(bits)));
    return hn::TruncateTo(DCodes(), hn::Or(code, sign));
  }

 private:
  static HWY_INLINE hn::Vec<DI> Exponent(VU magnitude) {
    return hn::BitCast(DI(), hn::ShiftRight<23>(magnitude));
  }
};

// Encodes n numbers as bytes. The last, partial vector passes through buffers on the stack.
template <class Codes>
HWY_INLINE void EncodeAll(const float* from, uint8_t* to, size_t n) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(Codes::Encode(hn::LoadU(d, from + i)), DCodes(), to + i);
  if (i == n) return;
  HWY_ALIGN float values[HWY_MAX_BYTES / sizeof(float)] = {};
  HWY_ALIGN uint8_t rest[HWY_MAX_BYTES / sizeof(float)];
  for (size_t k = i; k < n; ++k) values[k - i] = from[k];
  hn::StoreU(Codes::Encode(hn::LoadU(d, values)), DCodes(), rest);
  for (size_t k = i; k < n; ++k) to[k] = rest[k - i];
}

// Packs 2 * n codes of 4 bits into n bytes; the first of a pair is the low half.
HWY_INLINE void PackPairs(const uint8_t* from, uint8_t* to, size_t n) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint16_t> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const hn::Repartition<uint8_t, decltype(d)> pairs;
  const size_t lanes = hn::Lanes(d);
  for (; i + lanes <= n; i += lanes) {
    const auto pair = hn::BitCast(d, hn::LoadU(pairs, from + 2 * i));
    const auto low = hn::And(pair, hn::Set(d, uint16_t{0x0F}));
    const auto high = hn::And(hn::ShiftRight<4>(pair), hn::Set(d, uint16_t{0xF0}));
    hn::StoreU(hn::TruncateTo(bytes, hn::Or(low, high)), bytes, to + i);
  }
#endif
  for (; i < n; ++i) to[i] = static_cast<uint8_t>((from[2 * i] & 0xF) | from[2 * i + 1] << 4);
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
