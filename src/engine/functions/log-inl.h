// log over Highway vectors: at most 1 ulp, nearly always the nearest float32, and the same bits on every
// instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_LOG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_LOG_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_LOG_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_LOG_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <limits>

#include <hwy/highway.h>
#include "engine/functions/primitives-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// x = 2^n m, where m runs from 0.698 to twice that in 16 intervals of equally many floats. `inverse` is near
// 1 / c, with c in the middle of an interval, and log(c) = -log(inverse). The interval around 1 is symmetric
// and has c = 1, so that nothing cancels there. Each `inverse` is the float near 1 / c for which log(c) lies
// within 2^-63 of a float64.
constexpr int32_t kLogStart = 0x3F32AAAB;
constexpr size_t kLogIntervals = 16;
constexpr int kLogIntervalBits = 19;  // bits of a float within an interval

alignas(64) constexpr double kLogInverse[kLogIntervals] = {
    0x1.66c8bap+0, 0x1.57bd38p+0, 0x1.49dbdcp+0, 0x1.3d1ba6p+0, 0x1.315178p+0, 0x1.264d76p+0,
    0x1.1c1b74p+0, 0x1.128ceap+0, 0x1.09acd0p+0, 0x1.000000p+0, 0x1.e6ad38p-1, 0x1.cb56dap-1,
    0x1.b2f8d8p-1, 0x1.9d09e2p-1, 0x1.8938c4p-1, 0x1.773a18p-1};
alignas(64) constexpr double kLogOfCentre[kLogIntervals] = {-0x1.59a4f5ea4011cp-2, -0x1.2dc74df4b0c16p-2,
                                                            -0x1.03922dea4493cp-2, -0x1.b667b2056ba8ap-3,
                                                            -0x1.68cf960e072d9p-3, -0x1.1d8dfdcc977f0p-3,
                                                            -0x1.aab2b216a2a14p-4, -0x1.1e8bd4c4d0a80p-4,
                                                            -0x1.2fe4fdf1cc943p-5, 0.0,
                                                            0x1.9f896fe71a6d6p-5,  0x1.bc8fc61b7594cp-4,
                                                            0x1.4de96a02955c0p-3,  0x1.b7e071c58ed68p-3,
                                                            0x1.0e49282c59a20p-2,  0x1.3e40b00aecacap-2};

// Looks up a table of 16 numbers by the low 4 bits of unsigned 64-bit lanes.
template <class D, class VI>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> EntryOf16(D d, VI index, const double* table) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_AVX3
  // The instruction reads only those bits.
  return hn::Vec<D>{_mm512_permutex2var_pd(_mm512_load_pd(table), index.raw, _mm512_load_pd(table + 8))};
#else
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> ds;
  return hn::GatherIndex(d, table, hn::BitCast(ds, hn::And(index, hn::Set(du, 15))));
#endif
}

// Returns `scale` times the logarithm of 2^n m, in 64-bit lanes. `m` holds a float64's bits. The low 4 bits
// of `parts` are the number of m's interval, the 9 bits above are n + 150, and the others are ignored.
//
// The logarithm is n ln2 + log(c) + log(1 + r) with r = m / c - 1, |r| <= 0.0298. r is exact, since m times
// `inverse` has 48 bits. log(1 + r) = r + r^2 q(r), where q is a minimax polynomial of degree 5 (2^-50.2 in
// all). n ln2 is by far the largest term and is added last, so that only its rounding and the one to float32
// matter.
template <class DI, class VI>
HWY_INLINE auto LogOfParts(DI di, VI parts, VI m, double scale) {
  namespace hn = hwy::HWY_NAMESPACE;
  using functions::Fma;
  const hn::RebindToFloat<DI> d;
  using V = hn::Vec<decltype(d)>;
  const auto entry = [&](const double* table) HWY_ATTR { return EntryOf16(d, parts, table); };
  const V r = Fma(d, hn::BitCast(d, m), entry(kLogInverse), hn::Set(d, -1.0));
  const V r2 = hn::Mul(r, r);

  // Turns the bits of 2^52 + 16 (n + 150) into 16 n.
  const VI shifted = hn::OrAnd(hn::Set(di, 0x4330000000000000), parts, hn::Set(di, 0x1FF0));
  const V n = hn::Sub(hn::BitCast(d, shifted), hn::Set(d, 0x1p52 + 16 * 150));
  // ln2 in two parts. The first has 42 bits, so that n times it is exact.
  const V rest = hn::Add(r, Fma(d, n, hn::Set(d, 0x1.ef35793c76730p-49), entry(kLogOfCentre)));
  const V q01 = Fma(d, r, hn::Set(d, 0x1.55555555d9a31p-2), hn::Set(d, -0x1.000000001f89dp-1));
  const V q23 = Fma(d, r, hn::Set(d, 0x1.999985c22105cp-3), hn::Set(d, -0x1.fffff20b8b6b1p-3));
  const V q45 = Fma(d, r, hn::Set(d, 0x1.25095306a9f0cp-3), hn::Set(d, -0x1.55c2cb58edda0p-3));
  const V q = Fma(d, r2, Fma(d, r2, q45, q23), q01);
  const V log = Fma(d, n, hn::Set(d, 0x1.62e42fefa3800p-5), Fma(d, r2, q, rest));
  return scale == 1 ? log : hn::Mul(log, hn::Set(d, scale));
}

// x is a positive normal number. The result grows by ln2 for each 2^23 by which `bias` exceeds kLogBias.
constexpr int32_t kLogBias = 0x3F800000 - kLogStart + (23 << 23);
template <class D, class V, class VI>
HWY_INLINE V LogOfNormal(D d, V x, VI bias, double scale) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<D> di;
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(di, x);
  // The upper 9 bits become n + 150, the next 4 the interval.
  const auto parts = hn::BitCast(du, hn::Add(bits, bias));
  const auto offset = hn::Sub(bits, hn::Set(di, kLogStart));
  const auto m = hn::BitCast(du, hn::Sub(bits, hn::And(offset, hn::Set(di, -0x00800000))));
  // m's exponent is that of 1 or 1/2. As float64 it begins with three more bits of 1.
#if HWY_TARGET == HWY_SCALAR
  const hn::Rebind<uint64_t, D> wide;
  const auto wide_m = hn::Or(hn::Set(wide, 0x3FE0000000000000), hn::ShiftLeft<29>(hn::PromoteTo(wide, m)));
  return hn::DemoteTo(
      d, LogOfParts(wide, hn::ShiftRight<kLogIntervalBits>(hn::PromoteTo(wide, parts)), wide_m, scale));
#else
  // Even and odd elements stay where they are, as the low and high halves of 64-bit lanes.
  const hn::RepartitionToWide<decltype(du)> wide;
  const auto mantissa = hn::Set(wide, 0x1FFFFFFFE0000000);
  const auto exponent = hn::Set(wide, 0x3FE0000000000000);
  const auto pairs = hn::BitCast(wide, m);
  const auto even_m = hn::OrAnd(exponent, hn::ShiftLeft<29>(pairs), mantissa);
  const auto odd_m = hn::OrAnd(exponent, hn::ShiftRight<3>(pairs), mantissa);
  const auto even_parts = hn::BitCast(wide, hn::ShiftRight<kLogIntervalBits>(parts));
  const auto odd_parts = hn::ShiftRight<32 + kLogIntervalBits>(hn::BitCast(wide, parts));
  const auto even = LogOfParts(wide, even_parts, even_m, scale);
  const auto odd = LogOfParts(wide, odd_parts, odd_m, scale);
#if HWY_TARGET == HWY_AVX3
  const __m512i order = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return V{_mm512_permutex2var_ps(_mm512_castps256_ps512(_mm512_cvtpd_ps(even.raw)), order,
                                  _mm512_castps256_ps512(_mm512_cvtpd_ps(odd.raw)))};
#else
  const hn::Half<D> half;
  const hn::RebindToUnsigned<decltype(half)> half_bits;
  const auto widened = [&](auto result) HWY_ATTR {
    return hn::PromoteTo(wide, hn::BitCast(half_bits, hn::DemoteTo(half, result)));
  };
  return hn::BitCast(d, hn::Or(widened(even), hn::ShiftLeft<32>(widened(odd))));
#endif
#endif
}

// Vectors that contain anything but positive normal numbers take a branch. The common steps follow it inline,
// since a call would spill the constants. The logarithm is multiplied by `scale` before it is rounded.
template <class D, class V>
HWY_INLINE V ScaledLog(D d, V x, double scale) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<D> di;
#if HWY_TARGET == HWY_AVX3
  // The mask selects every class but positive normal numbers.
  const bool is_usual = _mm512_fpclass_ps_mask(x.raw, 0xFF) == 0;
#else
  // Adds an offset after which positive normal numbers have the smallest bits of all.
  const auto turned = hn::Add(hn::BitCast(di, x), hn::Set(di, 0x7F800000));
  const bool is_usual = hn::AllTrue(di, hn::Lt(turned, hn::Set(di, -0x01000000)));
#endif
  V normal = x;
  auto bias = hn::Set(di, kLogBias);
  if (HWY_UNLIKELY(!is_usual)) {
    // Subnormal numbers are scaled to normal ones first.
    const auto is_small = hn::Lt(x, hn::Set(d, std::numeric_limits<float>::min()));
    normal = hn::IfThenElse(is_small, hn::Mul(x, hn::Set(d, 0x1p23f)), x);
    const auto less = hn::IfThenElseZero(is_small, hn::BitCast(d, hn::Set(di, 23 << 23)));
    bias = hn::Sub(bias, hn::BitCast(di, less));
  }
  V result = LogOfNormal(d, normal, bias, scale);
  if (HWY_LIKELY(is_usual)) return result;

  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), result);
  result =
      hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), result);
  result = hn::IfThenElse(hn::Eq(x, infinity), infinity, result);
  // NaN stays NaN. (Highway's Ne calls NaN equal to itself on some targets; Eq is ordered on all.)
  return hn::IfThenElse(hn::Eq(x, x), result, x);
}

template <class D, class V>
HWY_INLINE V Log(D d, V x) {
  return ScaledLog(d, x, 1.0);
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
