// See oracles.h.
// SPDX-License-Identifier: Apache-2.0
#include "functions/oracles.h"

#include <cmath>
#include <limits>

namespace portacl::testing {
namespace {

constexpr long double kPi = 3.14159265358979323846264338327950288L;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Rsqrt(double x) { return 1 / std::sqrt(x); }
double Acosh(double x) { return x < 1 ? kNan : std::acosh(x); }

// sin(pi f) from |f| <= 1/2, exact at integers.
long double SinPi(long double x) {
  const long double n = std::nearbyint(x);
  const long double sine = std::sin(kPi * (x - n));
  return std::fmod(n, 2.0L) == 0 ? sine : -sine;
}

double Sinc(double x) {
  if (x == 0) return 1;
  if (std::isinf(x)) return kNan;
  const double a = std::fabs(x);
  const double sine = static_cast<double>(SinPi(a));
  // At integers a zero of the sign that the sine of a slightly greater angle has.
  if (sine == 0) return std::fmod(a, 2.0) == 0 ? 0.0 : -0.0;
  return static_cast<double>(SinPi(a) / (kPi * static_cast<long double>(a)));
}

// Recurrence and asymptotic series, in long double.
double Digamma(double argument) {
  long double x = argument;
  if (x == 0) return std::signbit(argument) ? HUGE_VAL : -HUGE_VAL;
  if (std::isnan(argument)) return argument;
  if (std::isinf(argument)) return argument > 0 ? argument : kNan;
  long double sum = 0;
  if (x < 0) {
    if (x == std::floor(x)) return kNan;
    const long double f = x - std::nearbyint(x);
    sum -= kPi * std::cos(kPi * f) / std::sin(kPi * f);
    x = 1 - x;
  }
  while (x < 24) {
    sum -= 1 / x;
    x += 1;
  }
  const long double z = 1 / (x * x);
  const long double series =
      z * (1.0L / 12 -
           z * (1.0L / 120 -
                z * (1.0L / 252 - z * (1.0L / 240 - z * (1.0L / 132 - z * (691.0L / 32760 - z / 12))))));
  return static_cast<double>(sum + std::log(x) - 0.5L / x - series);
}

double Lgamma(double x) {
  if (x <= 0 && x == std::floor(x)) return HUGE_VAL;
  int sign;
  return static_cast<double>(lgammal_r(x, &sign));
}

// Newton's method on the complement where that is small.
double Erfinv(double x) {
  const long double a = std::fabs(static_cast<long double>(x));
  if (std::isnan(x) || a > 1) return kNan;
  if (a == 1) return std::copysign(HUGE_VAL, x);
  if (a == 0) return x;
  const long double half_root_of_pi = 0.886226925452758013649083741670572591L;
  const bool is_tail = a > 0.5L;
  const long double w = -std::log((1 - a) * (1 + a));
  long double y = a < 0.5L ? a * half_root_of_pi : std::sqrt(w > 1 ? w - 0.5L * std::log(w * kPi) : w * 0.7L);
  for (int i = 0; i < 60; ++i) {
    const long double excess = is_tail ? (1 - a) - std::erfc(y) : std::erf(y) - a;
    long double step = excess * half_root_of_pi * std::exp(y * y);
    step = step / (1 + y * step);
    y -= step;
    if (std::fabs(step) < y * 0x1p-55L) break;
  }
  return static_cast<double>(std::copysign(y, static_cast<long double>(x)));
}

double LogAddExp(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return kNan;
  if (x == y) return static_cast<double>(x + std::log(2.0L));
  const long double greater = std::fmax(x, y);
  return static_cast<double>(greater + std::log1p(std::exp(std::fmin(x, y) - greater)));
}

double LogAddExp2(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return kNan;
  if (x == y) return x + 1;
  const long double greater = std::fmax(x, y);
  return static_cast<double>(greater + std::log1p(std::exp2(std::fmin(x, y) - greater)) *
                                           1.44269504088896340735992468100189214L);
}

double Remainder(double x, double y) {
  const double rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

constexpr Oracle kAll[] = {
    {"Exp", std::exp, nullptr},        {"FusedExp", std::exp, nullptr},
    {"Exp2", std::exp2, nullptr},      {"Expm1", std::expm1, nullptr},
    {"Log", std::log, nullptr},        {"Log2", std::log2, nullptr},
    {"Log10", std::log10, nullptr},    {"Log1p", std::log1p, nullptr},
    {"Sin", std::sin, nullptr},        {"Cos", std::cos, nullptr},
    {"Tan", std::tan, nullptr},        {"Asin", std::asin, nullptr},
    {"Acos", std::acos, nullptr},      {"Atan", std::atan, nullptr},
    {"Sinh", std::sinh, nullptr},      {"Cosh", std::cosh, nullptr},
    {"Tanh", std::tanh, nullptr},      {"Asinh", std::asinh, nullptr},
    {"Acosh", Acosh, nullptr},         {"Atanh", std::atanh, nullptr},
    {"Erf", std::erf, nullptr},        {"Erfc", std::erfc, nullptr},
    {"Erfinv", Erfinv, nullptr},       {"Sigmoid", Sigmoid, nullptr},
    {"Lgamma", Lgamma, nullptr},       {"Digamma", Digamma, nullptr},
    {"Sinc", Sinc, nullptr},           {"Rsqrt", Rsqrt, nullptr},
    {"Floor", std::floor, nullptr},    {"Ceil", std::ceil, nullptr},
    {"Trunc", std::trunc, nullptr},    {"NearestEven", std::nearbyint, nullptr},
    {"Atan2", nullptr, std::atan2},    {"Pow", nullptr, std::pow},
    {"LogAddExp", nullptr, LogAddExp}, {"LogAddExp2", nullptr, LogAddExp2},
    {"Fmod", nullptr, std::fmod},      {"Remainder", nullptr, Remainder},
};

}  // namespace

std::span<const Oracle> AllOracles() { return kAll; }

}  // namespace portacl::testing
