// Functions over float64 vectors: those of SLEEF, and others composed of them.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_FLOAT64_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_FLOAT64_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_FLOAT64_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_FLOAT64_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>
#include "engine/functions/error_function-inl.h"
#include "engine/functions/gamma-inl.h"
#include "engine/functions/primitives-inl.h"
#include "engine/functions/sleef.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace functions {

#if HWY_TARGET == HWY_AVX3
constexpr Isa kSleefIsa = Isa::kAvx512;
#elif HWY_TARGET == HWY_AVX2
constexpr Isa kSleefIsa = Isa::kAvx2;
#elif HWY_TARGET == HWY_SVE
constexpr Isa kSleefIsa = Isa::kSve;
#elif HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
constexpr Isa kSleefIsa = Isa::kPortable;
#else
constexpr Isa kSleefIsa = Isa::kNeon;
#endif

// Call only after LoadSleef has found the functions.
template <SleefFunction kFunction>
HWY_INLINE void* SleefAddress() {
  return LoadedSleef(kSleefIsa)->functions[static_cast<size_t>(kFunction)];
}

#if PORTACL_LANE_BY_LANE
template <SleefFunction kFunction, class V>
HWY_INLINE V FromSleef(V x) {
  return LaneByLane(hn::DFromV<V>(), reinterpret_cast<double (*)(double)>(SleefAddress<kFunction>()), x);
}

template <SleefFunction kFunction, class V>
HWY_INLINE V FromSleef(V x, V y) {
  return LaneByLane(hn::DFromV<V>(), reinterpret_cast<double (*)(double, double)>(SleefAddress<kFunction>()),
                    x, y);
}
#elif defined(__clang__) && (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)
template <SleefFunction kFunction, class V>
HWY_INLINE V FromSleef(V x) {
  const hn::DFromV<V> d;
  HWY_ALIGN double values[hn::MaxLanes(d)];
  hn::Store(x, d, values);
  CallSleef(SleefAddress<kFunction>(), values, nullptr);
  return hn::Load(d, values);
}

template <SleefFunction kFunction, class V>
HWY_INLINE V FromSleef(V x, V y) {
  const hn::DFromV<V> d;
  HWY_ALIGN double values[hn::MaxLanes(d)];
  HWY_ALIGN double others[hn::MaxLanes(d)];
  hn::Store(x, d, values);
  hn::Store(y, d, others);
  CallSleef(SleefAddress<kFunction>(), values, others);
  return hn::Load(d, values);
}
#else
// Converts to the full vector that SLEEF's functions take, and back.
#if HWY_TARGET == HWY_SVE
using SleefVector = svfloat64_t;
HWY_INLINE SleefVector Raw(svfloat64_t x) { return x; }
HWY_INLINE svfloat64_t FromRaw(SleefVector x) { return x; }
#else
using FullVector = hn::Vec<hn::ScalableTag<double>>;
using SleefVector = decltype(FullVector::raw);
HWY_INLINE SleefVector Raw(FullVector x) { return x.raw; }
HWY_INLINE FullVector FromRaw(SleefVector x) { return FullVector{x}; }
#endif

template <SleefFunction kFunction, class V>
HWY_INLINE V FromSleef(V x) {
  using Function = SleefVector (*)(SleefVector);
  return FromRaw(reinterpret_cast<Function>(SleefAddress<kFunction>())(Raw(x)));
}

template <SleefFunction kFunction, class V>
HWY_INLINE V FromSleef(V x, V y) {
  using Function = SleefVector (*)(SleefVector, SleefVector);
  return FromRaw(reinterpret_cast<Function>(SleefAddress<kFunction>())(Raw(x), Raw(y)));
}
#endif

// SLEEF's exponentials overflow a little early. From 709 on the result is that of x - 1 times e, which is
// given in two parts.
template <class D, class V>
HWY_INLINE V ExpOfLarge(D d, V x, double factor, double rest) {
  const V below = FromSleef<SleefFunction::kExp>(hn::Sub(x, hn::Set(d, 1.0)));
  const V result = Fma(d, below, hn::Set(d, factor), hn::Mul(below, hn::Set(d, rest)));
  return OrNan(result, below);
}

template <Float64Lanes D, class V>
HWY_INLINE V Exp(D d, V x) {
  const V result = FromSleef<SleefFunction::kExp>(x);
  const auto is_large = hn::Gt(x, hn::Set(d, 709.0));
  if (HWY_LIKELY(hn::AllFalse(d, is_large))) return result;
  return hn::IfThenElse(is_large, ExpOfLarge(d, x, 0x1.5bf0a8b145769p+1, 0x1.4d57ee2b1013ap-53), result);
}

template <Float64Lanes D, class V>
HWY_INLINE V Sinh(D d, V x) {
  const V result = FromSleef<SleefFunction::kSinh>(x);
  const V a = hn::Abs(x);
  const auto is_large = hn::Gt(a, hn::Set(d, 709.0));
  if (HWY_LIKELY(hn::AllFalse(d, is_large))) return result;
  const V large = ExpOfLarge(d, a, 0x1.5bf0a8b145769p+0, 0x1.4d57ee2b1013ap-54);
  return hn::IfThenElse(is_large, WithSignOf(d, large, x), result);
}

template <Float64Lanes D, class V>
HWY_INLINE V Cosh(D d, V x) {
  const V result = FromSleef<SleefFunction::kCosh>(x);
  const V a = hn::Abs(x);
  const auto is_large = hn::Gt(a, hn::Set(d, 709.0));
  if (HWY_LIKELY(hn::AllFalse(d, is_large))) return result;
  return hn::IfThenElse(is_large, ExpOfLarge(d, a, 0x1.5bf0a8b145769p+0, 0x1.4d57ee2b1013ap-54), result);
}

// Returns x itself near 0. Some of SLEEF's functions lose the sign of the smallest numbers there.
template <class D, class V>
HWY_INLINE V OrTiny(D d, V result, V x) {
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-60)), x, result);
}

template <Float64Lanes D, class V>
HWY_INLINE V Tan(D d, V x) {
  return OrTiny(d, FromSleef<SleefFunction::kTan>(x), x);
}

// SLEEF's pow overflows a little early. Where its result for finite numbers is infinite, the square of
// x^(y/2) replaces it.
template <Float64Lanes D, class V>
HWY_INLINE V Pow(D d, V x, V y) {
  const V result = FromSleef<SleefFunction::kPow>(x, y);
  const V infinity = Infinity(d);
  const V a = hn::Abs(x);
  const auto is_suspect = hn::And(hn::And(hn::Eq(hn::Abs(result), infinity), hn::Not(hn::Eq(x, hn::Zero(d)))),
                                  hn::And(hn::Lt(a, infinity), hn::Lt(hn::Abs(y), infinity)));
  if (HWY_LIKELY(hn::AllFalse(d, is_suspect))) return result;
  const V root = FromSleef<SleefFunction::kPow>(a, hn::Mul(y, hn::Set(d, 0.5)));
  return hn::IfThenElse(is_suspect, WithSignOf(d, hn::Mul(root, root), result), result);
}

template <Float64Lanes D, class V>
HWY_INLINE V Acos(D, V x) {
  return FromSleef<SleefFunction::kAcos>(x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Asin(D, V x) {
  return FromSleef<SleefFunction::kAsin>(x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Atan(D, V x) {
  return FromSleef<SleefFunction::kAtan>(x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Atanh(D, V x) {
  return FromSleef<SleefFunction::kAtanh>(x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Cos(D, V x) {
  return FromSleef<SleefFunction::kCos>(x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Erf(D, V x) {
  return FromSleef<SleefFunction::kErf>(x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Erfc(D, V x) {
  return FromSleef<SleefFunction::kErfc>(x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Exp2(D, V x) {
  return FromSleef<SleefFunction::kExp2>(x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Expm1(D, V x) {
  return FromSleef<SleefFunction::kExpm1>(x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Lgamma(D, V x) {
  return FromSleef<SleefFunction::kLgamma>(x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Log(D, V x) {
  return FromSleef<SleefFunction::kLog>(x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Log10(D, V x) {
  return FromSleef<SleefFunction::kLog10>(x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Log2(D, V x) {
  return FromSleef<SleefFunction::kLog2>(x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Sin(D, V x) {
  return FromSleef<SleefFunction::kSin>(x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Tanh(D, V x) {
  return FromSleef<SleefFunction::kTanh>(x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Atan2(D, V y, V x) {
  return FromSleef<SleefFunction::kAtan2>(y, x);
}

// Returns log(2x) for large x. SLEEF's asinh and acosh overflow where x^2 or 2x does.
template <Float64Lanes D, class V>
HWY_INLINE V LogOfTwice(D d, V x) {
  return hn::Add(Log(d, x), hn::Set(d, 0x1.62e42fefa39efp-1));
}

template <Float64Lanes D, class V>
HWY_INLINE V Log1p(D d, V x) {
  const V result = OrTiny(d, FromSleef<SleefFunction::kLog1p>(x), x);
  const auto is_large = hn::Gt(x, hn::Set(d, 0x1p500));
  if (HWY_LIKELY(hn::AllFalse(d, is_large))) return result;
  return hn::IfThenElse(is_large, Log(d, x), result);
}

template <Float64Lanes D, class V>
HWY_INLINE V Asinh(D d, V x) {
  const V result = OrTiny(d, FromSleef<SleefFunction::kAsinh>(x), x);
  const auto is_large = hn::Gt(hn::Abs(x), hn::Set(d, 0x1p500));
  if (HWY_LIKELY(hn::AllFalse(d, is_large))) return result;
  return hn::IfThenElse(is_large, WithSignOf(d, LogOfTwice(d, hn::Abs(x)), x), result);
}

template <Float64Lanes D, class V>
HWY_INLINE V Acosh(D d, V x) {
  const V result = FromSleef<SleefFunction::kAcosh>(x);
  const auto is_large = hn::Gt(x, hn::Set(d, 0x1p500));
  if (HWY_LIKELY(hn::AllFalse(d, is_large))) return result;
  return hn::IfThenElse(is_large, LogOfTwice(d, x), result);
}

template <Float64Lanes D, class V>
HWY_INLINE V Sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0);
  const V e = Exp(d, hn::Neg(hn::Abs(x)));
  const V numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
  return OrNan(hn::Div(numerator, hn::Add(one, e)), x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Sinc(D d, V x) {
  const V a = hn::Abs(x);
  const V n = NearestEven(d, a);
  const V sine = FromSleef<SleefFunction::kSinPi>(hn::Sub(a, n));
  const V quotient =
      hn::Div(hn::IfThenElse(IsOdd(d, n), hn::Neg(sine), sine),
              Fma(d, a, hn::Set(d, 0x1.921fb54442d18p+1), hn::Mul(a, hn::Set(d, 0x1.1a62633145c07p-53))));
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, 1.0), quotient);
}

template <Float64Lanes D, class V>
HWY_INLINE V LogAddExp(D d, V x, V y) {
  const V greater = hn::IfThenElse(hn::Lt(x, y), y, x);
  const V lesser = hn::IfThenElse(hn::Lt(x, y), x, y);
  const V distance = hn::IfThenElseZero(hn::Not(hn::Eq(x, y)), hn::Sub(lesser, greater));
  return OrNan(OrNan(hn::Add(greater, Log1p(d, Exp(d, distance))), x), y);
}

template <Float64Lanes D, class V>
HWY_INLINE V LogAddExp2(D d, V x, V y) {
  const V greater = hn::IfThenElse(hn::Lt(x, y), y, x);
  const V lesser = hn::IfThenElse(hn::Lt(x, y), x, y);
  const V distance = hn::IfThenElseZero(hn::Not(hn::Eq(x, y)), hn::Sub(lesser, greater));
  const V log = hn::Mul(Log1p(d, Exp2(d, distance)), hn::Set(d, 0x1.71547652b82fep+0));
  return OrNan(OrNan(hn::Add(greater, log), x), y);
}

// Half of the digits come from polynomials, the others from one step of Halley's method. The step uses the
// complement where that is small.
template <Float64Lanes D, class V>
HWY_INLINE V Erfinv(D d, V x) {
  const V a = hn::Abs(x);
  const V one = hn::Set(d, 1.0);
  const V y = ErfinvInDouble<true>(d, a);
  const auto is_tail = hn::Gt(a, hn::Set(d, 0.5));
  const V excess = hn::IfThenElse(is_tail, hn::Sub(hn::Sub(one, a), Erfc(d, y)), hn::Sub(Erf(d, y), a));
  const V slope = ExpInDouble(d, hn::Neg(hn::Mul(y, y)));
  const V newton = hn::Div(hn::Mul(excess, hn::Set(d, 0x1.c5bf891b4ef6bp-1)), slope);
  const V exact = hn::Sub(y, hn::Div(newton, Fma(d, y, newton, one)));
  const V limited =
      hn::IfThenElse(hn::Lt(a, one), exact, hn::IfThenElse(hn::Eq(a, one), Infinity(d), NotANumber(d)));
  return OrNan(WithSignOf(d, limited, x), x);
}

template <Float64Lanes D, class V>
HWY_INLINE V Digamma(D d, V x) {
  const V result = DigammaInDouble<true>(d, x, [](auto wide, auto z) HWY_ATTR { return Log(wide, z); });
  return WithLimitsOfDigamma(d, result, x);
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
