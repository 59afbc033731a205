// See float64_oracles.h.
// SPDX-License-Identifier: Apache-2.0
#include "functions/float64_oracles.h"

#include <cmath>

namespace portacl::testing {
namespace {

class Real {
 public:
  explicit Real(double value) {
    mpfr_init2(value_, kOraclePrecision);
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(value_); }

  operator mpfr_ptr() { return value_; }  // NOLINT(*-explicit-*)

 private:
  mpfr_t value_;
};

template <int (*kFunction)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)>
void One(mpfr_t result, double x, double) {
  Real argument(x);
  kFunction(result, argument, MPFR_RNDN);
}

template <int (*kFunction)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t)>
void Two(mpfr_t result, double x, double y) {
  Real first(x);
  Real second(y);
  kFunction(result, first, second, MPFR_RNDN);
}

void Sigmoid(mpfr_t result, double x, double) {
  Real e(-x);
  mpfr_exp(e, e, MPFR_RNDN);
  mpfr_add_ui(e, e, 1, MPFR_RNDN);
  mpfr_ui_div(result, 1, e, MPFR_RNDN);
}

void Rsqrt(mpfr_t result, double x, double) {
  Real root(x);
  mpfr_sqrt(root, root, MPFR_RNDN);
  mpfr_ui_div(result, 1, root, MPFR_RNDN);
}

void Lgamma(mpfr_t result, double x, double) {
  Real argument(x);
  int sign;
  mpfr_lgamma(result, &sign, argument, MPFR_RNDN);
}

void Digamma(mpfr_t result, double x, double) {
  Real argument(x);
  if (x == 0) {
    mpfr_set_inf(result, std::signbit(x) ? 1 : -1);
  } else {
    mpfr_digamma(result, argument, MPFR_RNDN);
  }
}

void Sinc(mpfr_t result, double x, double) {
  const double a = std::fabs(x);
  if (x == 0 || std::isinf(x) || std::isnan(x)) {
    mpfr_set_d(result, x == 0 ? 1 : NAN, MPFR_RNDN);
    return;
  }
  const double n = std::nearbyint(a);
  Real pi(0);
  Real angle(a - n);
  mpfr_const_pi(pi, MPFR_RNDN);
  mpfr_mul(angle, angle, pi, MPFR_RNDN);
  mpfr_sin(angle, angle, MPFR_RNDN);
  if (std::fmod(n, 2.0) != 0) mpfr_neg(angle, angle, MPFR_RNDN);
  mpfr_mul_d(pi, pi, a, MPFR_RNDN);
  mpfr_div(result, angle, pi, MPFR_RNDN);
}

// A step of Newton's method from what long double gives.
void Erfinv(mpfr_t result, double x, double) {
  const long double a = std::fabs(static_cast<long double>(x));
  if (std::isnan(x) || a >= 1 || a == 0) {
    mpfr_set_d(result, a == 0 ? x : a == 1 ? std::copysign(HUGE_VAL, x) : NAN, MPFR_RNDN);
    return;
  }
  const long double half_root_of_pi = 0.886226925452758013649083741670572591L;
  const bool is_tail = a > 0.5L;
  const long double w = -std::log((1 - a) * (1 + a));
  long double y =
      a < 0.5L ? a * half_root_of_pi : std::sqrt(w > 1 ? w - 0.5L * std::log(w * 3.14159265L) : w * 0.7L);
  for (int i = 0; i < 60; ++i) {
    const long double excess = is_tail ? (1 - a) - std::erfc(y) : std::erf(y) - a;
    long double step = excess * half_root_of_pi * std::exp(y * y);
    step = step / (1 + y * step);
    y -= step;
    if (std::fabs(step) < y * 0x1p-55L) break;
  }
  Real root(0);
  Real excess(0);
  Real slope(0);
  mpfr_set_ld(root, y, MPFR_RNDN);
  mpfr_erf(excess, root, MPFR_RNDN);
  mpfr_sub_d(excess, excess, std::fabs(x), MPFR_RNDN);
  mpfr_sqr(slope, root, MPFR_RNDN);
  mpfr_exp(slope, slope, MPFR_RNDN);
  mpfr_mul(excess, excess, slope, MPFR_RNDN);
  mpfr_const_pi(slope, MPFR_RNDN);
  mpfr_sqrt(slope, slope, MPFR_RNDN);
  mpfr_mul(excess, excess, slope, MPFR_RNDN);
  mpfr_div_ui(excess, excess, 2, MPFR_RNDN);
  mpfr_sub(result, root, excess, MPFR_RNDN);
  if (std::signbit(x)) mpfr_neg(result, result, MPFR_RNDN);
}

// max + log(1 + base^-|x - y|) / log(base).
template <bool kBase2>
void LogOfSum(mpfr_t result, double x, double y) {
  if (std::isnan(x) || std::isnan(y) || std::isinf(x) || std::isinf(y)) {
    mpfr_set_d(result, std::isnan(x) || std::isnan(y) ? NAN : std::fmax(x, y), MPFR_RNDN);
    return;
  }
  Real power(std::fmin(x, y));
  mpfr_sub_d(power, power, std::fmax(x, y), MPFR_RNDN);
  kBase2 ? mpfr_exp2(power, power, MPFR_RNDN) : mpfr_exp(power, power, MPFR_RNDN);
  mpfr_log1p(power, power, MPFR_RNDN);
  if constexpr (kBase2) {
    Real two(0);
    mpfr_const_log2(two, MPFR_RNDN);
    mpfr_div(power, power, two, MPFR_RNDN);
  }
  mpfr_add_d(result, power, std::fmax(x, y), MPFR_RNDN);
}

void Remainder(mpfr_t result, double x, double y) {
  Two<mpfr_fmod>(result, x, y);
  if (!mpfr_nan_p(result) && !mpfr_zero_p(result) && (mpfr_sgn(result) < 0) != (y < 0)) {
    mpfr_set_prec(result, 2200);
    Two<mpfr_fmod>(result, x, y);
    mpfr_add_d(result, result, y, MPFR_RNDN);
  }
}

template <int (*kFunction)(mpfr_ptr, mpfr_srcptr)>
void Integer(mpfr_t result, double x, double) {
  Real argument(x);
  kFunction(result, argument);
}

int NearestEven(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t) { return mpfr_rint(result, x, MPFR_RNDN); }

constexpr Float64Oracle kAll[] = {
    {"Exp", One<mpfr_exp>},
    {"FusedExp", One<mpfr_exp>},
    {"Exp2", One<mpfr_exp2>},
    {"Expm1", One<mpfr_expm1>},
    {"Log", One<mpfr_log>},
    {"Log2", One<mpfr_log2>},
    {"Log10", One<mpfr_log10>},
    {"Log1p", One<mpfr_log1p>},
    {"Sin", One<mpfr_sin>},
    {"Cos", One<mpfr_cos>},
    {"Tan", One<mpfr_tan>},
    {"Asin", One<mpfr_asin>},
    {"Acos", One<mpfr_acos>},
    {"Atan", One<mpfr_atan>},
    {"Sinh", One<mpfr_sinh>},
    {"Cosh", One<mpfr_cosh>},
    {"Tanh", One<mpfr_tanh>},
    {"Asinh", One<mpfr_asinh>},
    {"Acosh", One<mpfr_acosh>},
    {"Atanh", One<mpfr_atanh>},
    {"Erf", One<mpfr_erf>},
    {"Erfc", One<mpfr_erfc>},
    {"Erfinv", Erfinv},
    {"Sigmoid", Sigmoid},
    {"Lgamma", Lgamma},
    {"Digamma", Digamma},
    {"Sinc", Sinc},
    {"Rsqrt", Rsqrt},
    {"Floor", Integer<mpfr_floor>},
    {"Ceil", Integer<mpfr_ceil>},
    {"Trunc", Integer<mpfr_trunc>},
    {"NearestEven", One<NearestEven>},
    {"Atan2", Two<mpfr_atan2>},
    {"Pow", Two<mpfr_pow>},
    {"LogAddExp", LogOfSum<false>},
    {"LogAddExp2", LogOfSum<true>},
    {"Fmod", Two<mpfr_fmod>},
    {"Remainder", Remainder},
};

}  // namespace

std::span<const Float64Oracle> AllFloat64Oracles() { return kAll; }

}  // namespace portacl::testing
