// See estimates.h. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "functions/estimates.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "functions/estimates.cc"
#include <hwy/foreach_target.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <hwy/highway.h>
#include "engine/isa_table.h"

#ifndef PORTACL_TESTS_FUNCTIONS_ESTIMATES_ONCE
#define PORTACL_TESTS_FUNCTIONS_ESTIMATES_ONCE
namespace portacl::testing {

struct NamedEstimate {
  const char* name;
  Estimate estimate;
};

}  // namespace portacl::testing
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl::testing {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
using OfFloats = hn::Rebind<float, D>;

inline V Real(double value) { return hn::Set(D(), value); }
inline V Widened(const float* from) { return hn::PromoteTo(D(), hn::LoadU(OfFloats(), from)); }

float BoundsOfErrors(const float* results, const double* truths, float* bounds, size_t n) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  constexpr double kSlack = 0x1p-40;
  constexpr double kBeyond = 0x1p128;
  const V infinity = Real(std::numeric_limits<double>::infinity());
  V greatest = hn::Zero(d);
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V result = Widened(results + i);
    const V truth = hn::LoadU(d, truths + i);
    const V magnitude = hn::Abs(truth);
    // Of the exponents that the exact result may have the smaller one.
    const auto exponent =
        hn::And(hn::BitCast(du, hn::Mul(magnitude, Real(1 - kSlack))), hn::Set(du, uint64_t{0x7FF} << 52));
    const V ulp = hn::Max(hn::Mul(hn::BitCast(d, exponent), Real(0x1p-23)), Real(0x1p-149));
    const V error = hn::Add(hn::Div(hn::Abs(hn::Sub(result, truth)), ulp), Real(kSlack * 0x1p24));
    const auto has_sign = hn::Eq(hn::CopySign(Real(1), result), hn::CopySign(Real(1), truth));
    const auto is_finite =
        hn::And(hn::Lt(magnitude, Real(kBeyond * (1 - kSlack))),
                hn::And(hn::Gt(magnitude, hn::Zero(d)), hn::Lt(hn::Abs(result), infinity)));
    const auto is_infinite =
        hn::And(hn::Gt(magnitude, Real(kBeyond * (1 + kSlack))), hn::Eq(hn::Abs(result), infinity));
    const auto is_zero = hn::And(hn::Eq(truth, hn::Zero(d)), hn::Eq(result, hn::Zero(d)));
    const auto is_nan = hn::And(hn::IsNaN(truth), hn::IsNaN(result));
    const V bound = hn::IfThenElse(
        is_nan, hn::Zero(d),
        hn::IfThenElse(
            hn::And(has_sign, is_finite), error,
            hn::IfThenElse(hn::And(has_sign, hn::Or(is_infinite, is_zero)), hn::Zero(d), infinity)));
    greatest = hn::Max(greatest, bound);
    hn::StoreU(hn::DemoteTo(OfFloats(), bound), OfFloats(), bounds + i);
  }
  return static_cast<float>(hn::GetLane(hn::MaxOfLanes(d, greatest)));
}

// glibc's vector functions (libmvec), within 4 ulp of float64.
#if defined(__x86_64__) && defined(__GLIBC__) && (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)
#if __GLIBC_PREREQ(2, 35)
#define PORTACL_HAS_ESTIMATES
#endif
#endif

#ifdef PORTACL_HAS_ESTIMATES
#undef PORTACL_HAS_ESTIMATES

#if HWY_TARGET == HWY_AVX3
#define LIBRARY_NAME(name) _ZGVeN8v_##name
#else
#define LIBRARY_NAME(name) _ZGVdN4v_##name
#endif
#define LIBRARY(name)                                               \
  extern "C" decltype(V::raw) LIBRARY_NAME(name)(decltype(V::raw)); \
  inline V library_##name(V x) { return V{LIBRARY_NAME(name)(x.raw)}; }
LIBRARY(acos)
LIBRARY(acosh)
LIBRARY(asin)
LIBRARY(asinh)
LIBRARY(atan)
LIBRARY(atanh)
LIBRARY(cos)
LIBRARY(cosh)
LIBRARY(erf)
LIBRARY(erfc)
LIBRARY(exp)
LIBRARY(exp2)
LIBRARY(expm1)
LIBRARY(log)
LIBRARY(log10)
LIBRARY(log1p)
LIBRARY(log2)
LIBRARY(sin)
LIBRARY(sinh)
LIBRARY(tan)
LIBRARY(tanh)
#undef LIBRARY
#undef LIBRARY_NAME

constexpr double kPi = 3.14159265358979323846;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The vector functions leave unusual arguments to the C library, one by one: they get usual ones that give as much.
inline V Within(double most, V x) { return hn::Clamp(x, Real(-most), Real(most)); }
template <V (*kFunction)(V)>
V Where(hn::Mask<D> is_defined, V x) {
  return hn::IfThenElse(is_defined, kFunction(hn::IfThenElse(is_defined, x, Real(1))), Real(kNan));
}
inline V Horner(V, V sum) { return sum; }
template <class... More>
V Horner(V x, V sum, double next, More... more) {
  return Horner(x, hn::MulAdd(sum, x, Real(next)), more...);
}
// x^0 last.
template <class... More>
V Polynomial(V x, double first, More... more) {
  return Horner(x, Real(first), more...);
}

V Exp(V x) { return library_exp(Within(200, x)); }
V FusedExp(V x) { return Exp(x); }
V Exp2(V x) { return library_exp2(Within(300, x)); }
V Expm1(V x) { return library_expm1(Within(200, x)); }
V Log(V x) { return Where<library_log>(hn::Ge(x, Real(0)), x); }
V Log2(V x) { return Where<library_log2>(hn::Ge(x, Real(0)), x); }
V Log10(V x) { return Where<library_log10>(hn::Ge(x, Real(0)), x); }
V Log1p(V x) { return Where<library_log1p>(hn::Ge(x, Real(-1)), x); }
V Asin(V x) { return Where<library_asin>(hn::Le(hn::Abs(x), Real(1)), x); }
V Acos(V x) { return Where<library_acos>(hn::Le(hn::Abs(x), Real(1)), x); }
V Atan(V x) { return library_atan(x); }
V Sinh(V x) { return library_sinh(Within(200, x)); }
V Cosh(V x) { return library_cosh(Within(200, x)); }
V Tanh(V x) { return library_tanh(Within(40, x)); }
V Asinh(V x) { return library_asinh(x); }
V Acosh(V x) { return Where<library_acosh>(hn::Ge(x, Real(1)), x); }
V Atanh(V x) { return Where<library_atanh>(hn::Le(hn::Abs(x), Real(1)), x); }
V Erf(V x) { return library_erf(Within(10, x)); }
V Erfc(V x) { return library_erfc(Within(20, x)); }
V Sigmoid(V x) { return hn::Div(Real(1), hn::Add(Real(1), library_exp(Within(200, hn::Neg(x))))); }
V Rsqrt(V x) { return hn::Div(Real(1), hn::Sqrt(x)); }
V Floor(V x) { return hn::Floor(x); }
V Ceil(V x) { return hn::Ceil(x); }
V Trunc(V x) { return hn::Trunc(x); }
V NearestEven(V x) { return hn::Round(x); }

V Sinc(V x) {
  const V a = hn::Abs(x);
  const V n = hn::Round(a);
  const V half = hn::Mul(n, Real(0.5));
  const V sign = hn::IfThenElse(hn::Eq(half, hn::Floor(half)), Real(1), Real(-1));
  const V sine = library_sin(hn::Mul(Real(kPi), hn::Sub(a, n)));
  return hn::Div(hn::Mul(sign, sine), hn::Mul(Real(kPi), a));
}

// Small arguments; others are left to the oracle.
V Erfinv(V x) {
  const V series =
      hn::Mul(hn::Mul(x, Real(0.88622692545275801365)),
              Polynomial(hn::Mul(x, x), 127 * kPi * kPi * kPi / 40320, 7 * kPi * kPi / 480, kPi / 12, 1));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), Real(0x1p-9)), series, Real(kNan));
}

// Distance to the nearest integer, with its sign, times pi.
inline V Angle(V x) { return hn::Mul(Real(kPi), hn::Sub(x, hn::Round(x))); }
inline V OneForZero(V x) { return hn::IfThenElse(hn::Eq(x, Real(0)), Real(1), x); }

// Stirling's series from 8 on, reflected below -16, the power series next to 0; the rest is left to the oracle.
V Lgamma(V x) {
  const V a = hn::Abs(x);
  const V log = library_log(OneForZero(a));
  const V inverse = hn::Div(Real(1), a);
  const V correction =
      hn::Mul(inverse, Polynomial(hn::Mul(inverse, inverse), 1.0 / 156, -691.0 / 360360, 1.0 / 1188,
                                  -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12));
  const V stirling = hn::Add(hn::Sub(hn::Mul(hn::Sub(a, Real(0.5)), log), a),
                             hn::Add(Real(0.91893853320467274178), correction));
  const V angle = Angle(x);
  const V sine = hn::Abs(library_sin(angle));
  V reflected = hn::Sub(hn::Sub(library_log(hn::Div(Real(kPi), OneForZero(sine))), log), stirling);
  reflected = hn::IfThenElse(hn::Lt(reflected, Real(-1)), reflected, Real(kNan));
  reflected =
      hn::IfThenElse(hn::Eq(angle, Real(0)), Real(std::numeric_limits<double>::infinity()), reflected);
  const V series =
      hn::Sub(Polynomial(x, -1.00834927738192282684 / 7, 1.01734306198444913971 / 6,
                         -1.03692775514336992633 / 5, 1.08232323371113819152 / 4, -1.20205690315959428540 / 3,
                         1.64493406684822643647 / 2, -0.57721566490153286061, 0),
              log);
  const V unknown = Real(kNan);
  return hn::IfThenElse(
      hn::Ge(x, Real(8)), stirling,
      hn::IfThenElse(hn::Le(x, Real(-16)), reflected,
                     hn::IfThenElse(hn::And(hn::Lt(a, Real(0x1p-7)), hn::Gt(a, Real(0))), series, unknown)));
}

V Digamma(V x) {
  const V a = hn::IfThenElse(hn::Lt(x, Real(0)), hn::Sub(Real(1), x), x);
  const V inverse = hn::Div(Real(1), a);
  const V square = hn::Mul(inverse, inverse);
  const V correction = hn::Mul(square, Polynomial(square, 1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240,
                                                  1.0 / 252, -1.0 / 120, 1.0 / 12));
  const V asymptotic = hn::Sub(library_log(OneForZero(a)), hn::Add(hn::Mul(Real(0.5), inverse), correction));
  const V angle = Angle(x);
  const V cotangent = hn::Div(library_cos(angle), library_sin(angle));
  V reflected = hn::Sub(asymptotic, hn::Mul(Real(kPi), cotangent));
  const auto keeps = hn::Gt(hn::Abs(reflected), hn::Mul(Real(0x1p-8), asymptotic));
  reflected = hn::IfThenElse(hn::And(keeps, hn::Ne(angle, Real(0))), reflected, Real(kNan));
  const V series =
      hn::Sub(Polynomial(x, 1.01734306198444913971, -1.03692775514336992633, 1.08232323371113819152,
                         -1.20205690315959428540, 1.64493406684822643647, -0.57721566490153286061),
              hn::Div(Real(1), x));
  const V unknown = Real(kNan);
  return hn::IfThenElse(hn::Ge(x, Real(8)), asymptotic,
                        hn::IfThenElse(hn::Le(x, Real(-8)), reflected,
                                       hn::IfThenElse(hn::Lt(hn::Abs(x), Real(0x1p-7)), series, unknown)));
}

// Where the sum cancels, or an argument is infinite, that is left to the oracle.
inline V Sum(V greater, V power) {
  const V sum = hn::Add(greater, power);
  return hn::IfThenElse(hn::Gt(hn::Abs(sum), hn::Mul(Real(0x1p-8), hn::Abs(greater))), sum, Real(kNan));
}
V LogAddExp(V x, V y) {
  const V power = library_exp(Within(200, hn::Neg(hn::Abs(hn::Sub(x, y)))));
  return Sum(hn::Max(x, y), library_log1p(power));
}
V LogAddExp2(V x, V y) {
  const V power = library_exp2(Within(300, hn::Neg(hn::Abs(hn::Sub(x, y)))));
  return Sum(hn::Max(x, y), hn::Mul(library_log1p(power), Real(1.44269504088896340736)));
}

struct Angles {
  double step = 0;
  std::vector<double> sines;
  std::vector<double> cosines;

  // Those of 0, step, 2 step, ...
  void Make(double new_step, size_t n) {
    if (step == new_step && sines.size() == n) return;
    step = new_step;
    sines.resize(n);
    cosines.resize(n);
    for (size_t i = 0; i < n; ++i) {
      sines[i] = std::sin(static_cast<double>(i) * step);
      cosines[i] = std::cos(static_cast<double>(i) * step);
    }
  }
};

// Of large arguments that are a row of neighbours: from the first one's sine and cosine, and those of the distances to
// it. Others, and those near a zero or a pole, are left to the oracle.
template <V (*kOfAngle)(V), V (*kOfParts)(V, V)>
void Periodic(const float* x, const float*, double* truths, size_t n) {
  bool is_row = std::fabs(x[0]) >= 0x1p20f && std::isfinite(x[n - 1]);
  const double first = static_cast<double>(x[0]);
  const double step = static_cast<double>(x[1]) - first;
  for (size_t i = 1; i < n; ++i) {
    is_row = is_row && static_cast<double>(x[i]) == first + static_cast<double>(i) * step;
  }
  if (!is_row) {
    for (size_t i = 0; i < n; i += hn::Lanes(D())) {
      const V argument = Widened(x + i);
      const auto is_small = hn::Lt(hn::Abs(argument), Real(0x1p20));
      const V value = kOfAngle(hn::IfThenElse(is_small, argument, Real(1)));
      const V nan = Real(kNan);
      hn::StoreU(hn::IfThenElse(is_small, value, nan), D(), truths + i);
    }
    return;
  }
  static thread_local Angles angles;
  angles.Make(step, n);
  const V sine_of_first = Real(std::sin(first));
  const V cosine_of_first = Real(std::cos(first));
  for (size_t i = 0; i < n; i += hn::Lanes(D())) {
    const V sine = hn::LoadU(D(), &angles.sines[i]);
    const V cosine = hn::LoadU(D(), &angles.cosines[i]);
    const V s = hn::MulAdd(sine_of_first, cosine, hn::Mul(cosine_of_first, sine));
    const V c = hn::MulSub(cosine_of_first, cosine, hn::Mul(sine_of_first, sine));
    const auto keeps = hn::Gt(hn::Min(hn::Abs(s), hn::Abs(c)), Real(0x1p-8));
    hn::StoreU(hn::IfThenElse(keeps, kOfParts(s, c), Real(kNan)), D(), truths + i);
  }
}
V SineOf(V sine, V) { return sine; }
V CosineOf(V, V cosine) { return cosine; }
V TangentOf(V sine, V cosine) { return hn::Div(sine, cosine); }

template <V (*kFunction)(V)>
void One(const float* x, const float*, double* truths, size_t n) {
  for (size_t i = 0; i < n; i += hn::Lanes(D())) {
    const V argument = Widened(x + i);
    hn::StoreU(hn::IfThenElse(hn::IsNaN(argument), argument, kFunction(argument)), D(), truths + i);
  }
}

template <V (*kFunction)(V, V)>
void Two(const float* x, const float* y, double* truths, size_t n) {
  for (size_t i = 0; i < n; i += hn::Lanes(D())) {
    const V first = Widened(x + i);
    const V second = Widened(y + i);
    const V nan = Real(kNan);
    const auto is_nan = hn::Or(hn::IsNaN(first), hn::IsNaN(second));
    hn::StoreU(hn::IfThenElse(is_nan, nan, kFunction(first, second)), D(), truths + i);
  }
}

#define ONE(name) {#name, One<name>},
#define TWO(name) {#name, Two<name>},
constexpr NamedEstimate kEstimates[] = {
    {"Sin", Periodic<library_sin, SineOf>},
    {"Cos", Periodic<library_cos, CosineOf>},
    {"Tan", Periodic<library_tan, TangentOf>},
    ONE(Exp) ONE(FusedExp) ONE(Exp2) ONE(Expm1) ONE(Log) ONE(Log2) ONE(Log10) ONE(Log1p) ONE(Asin) ONE(Acos)
        ONE(Atan) ONE(Sinh) ONE(Cosh) ONE(Tanh) ONE(Asinh) ONE(Acosh) ONE(Atanh) ONE(Erf) ONE(Erfc)
            ONE(Erfinv) ONE(Sigmoid) ONE(Lgamma) ONE(Digamma) ONE(Sinc) ONE(Rsqrt) ONE(Floor) ONE(Ceil)
                ONE(Trunc) ONE(NearestEven) TWO(LogAddExp) TWO(LogAddExp2)};
#undef ONE
#undef TWO

std::span<const NamedEstimate> Estimates() { return kEstimates; }

#else

std::span<const NamedEstimate> Estimates() { return {}; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace portacl::testing
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <string_view>

namespace portacl::testing {
namespace {

constexpr engine::IsaTable<std::span<const NamedEstimate> (*)()> kEstimatesOf = PORTACL_ISA_TABLE(Estimates);
constexpr engine::IsaTable<float (*)(const float*, const double*, float*, size_t)> kBoundsOfErrors =
    PORTACL_ISA_TABLE(BoundsOfErrors);

}  // namespace

Estimate EstimateOf(const char* name, Isa isa) {
  for (const NamedEstimate& entry : kEstimatesOf.For(isa)()) {
    if (std::string_view(entry.name) == name) return entry.estimate;
  }
  return nullptr;
}

float BoundErrors(Isa isa, const float* results, const double* truths, float* bounds, size_t n) {
  return kBoundsOfErrors.For(isa)(results, truths, bounds, n);
}

}  // namespace portacl::testing

#endif  // HWY_ONCE
