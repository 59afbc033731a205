// The functions of src/engine/functions for float64 against MPFR: the stated bounds, and the same bits on every
// instruction set.
// SPDX-License-Identifier: Apache-2.0
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/isa.h"
#include "engine/functions/sleef.h"
#include "functions/float64_oracles.h"
#include "functions/function_loops.h"
#include "gtest/gtest.h"
#include "support/random_numbers.h"

namespace portacl::testing {
namespace {

// In ulp at the exact result; or, where a bound is given, absolute, in units of 2^-53 of the greatest of 1 and the
// arguments that are two or negative. Digamma's: below 0,
// pi cos / sin is within 4.4 * 2^-53 of itself (two functions, pi, a product, a quotient), which is as many ulp of a
// result a little below a power of two; the other summand and the difference add less than 1.5.
struct Bound {
  const char* name;
  double ulp;
  double absolute = 0;
};

constexpr Bound kBounds[] = {
    {"Exp", 2.0},           {"FusedExp", 2.0},  {"Exp2", 1.0},      {"Expm1", 1.0},   {"Log", 1.0},
    {"Log2", 1.0},          {"Log10", 1.0},     {"Log1p", 1.0},     {"Sin", 1.0},     {"Cos", 1.0},
    {"Tan", 1.0},           {"Asin", 1.0},      {"Acos", 1.0},      {"Atan", 1.0},    {"Sinh", 2.0},
    {"Cosh", 2.0},          {"Tanh", 1.0},      {"Asinh", 1.0},     {"Acosh", 1.0},   {"Atanh", 1.0},
    {"Erf", 1.0},           {"Erfc", 1.5},      {"Erfinv", 4.0},    {"Sigmoid", 2.5}, {"Lgamma", 1.0, 8},
    {"Digamma", 6.0, 16},   {"Sinc", 2.5},      {"Rsqrt", 0.51},    {"Floor", 0},     {"Ceil", 0},
    {"Trunc", 0},           {"NearestEven", 0}, {"Atan2", 1.0},     {"Pow", 3.0},     {"LogAddExp", 2.0, 2},
    {"LogAddExp2", 2.0, 2}, {"Fmod", 0},        {"Remainder", 0.5},
};

constexpr size_t kBatch = 512;

bool SameOrNan(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

// Distance in ulp at the exact result, which may be changed; infinity is what follows the largest number.
double ErrorInUlp(double result, mpfr_t truth) {
  if (mpfr_nan_p(truth) || std::isnan(result)) return mpfr_nan_p(truth) && std::isnan(result) ? 0 : HUGE_VAL;
  if (mpfr_inf_p(truth))
    return std::isinf(result) && std::signbit(result) == (mpfr_sgn(truth) < 0) ? 0 : HUGE_VAL;
  if (mpfr_zero_p(truth)) {
    return result == 0 && std::signbit(result) == (mpfr_signbit(truth) != 0) ? 0 : HUGE_VAL;
  }
  if (std::signbit(result) != (mpfr_sgn(truth) < 0)) return HUGE_VAL;
  const mpfr_exp_t exponent = mpfr_get_exp(truth);
  if (exponent > 1024) return std::isinf(result) ? 0 : HUGE_VAL;
  const mpfr_exp_t ulp = std::max<mpfr_exp_t>(exponent - 53, -1074);
  mpfr_mul_2si(truth, truth, -ulp, MPFR_RNDN);
  mpfr_t value;
  mpfr_init2(value, kOraclePrecision);
  if (std::isinf(result)) {
    mpfr_set_d(value, std::signbit(result) ? -1 : 1, MPFR_RNDN);
    mpfr_mul_2si(value, value, 1024, MPFR_RNDN);
  } else {
    mpfr_set_d(value, result, MPFR_RNDN);
  }
  mpfr_mul_2si(value, value, -ulp, MPFR_RNDN);
  mpfr_sub(value, value, truth, MPFR_RNDN);
  const double error = std::fabs(mpfr_get_d(value, MPFR_RNDN));
  mpfr_clear(value);
  return error;
}

constexpr double kSpecial[] = {0.0,
                               -0.0,
                               1.0,
                               -1.0,
                               0.5,
                               -0.5,
                               2.0,
                               -2.0,
                               3.0,
                               -3.0,
                               INFINITY,
                               -INFINITY,
                               NAN,
                               0x1p-1074,
                               -0x1p-1074,
                               0x1p-1022,
                               -0x1p-1022,
                               0x1.fffffffffffffp1023,
                               -0x1.fffffffffffffp1023,
                               0x1.fffffffffffffp-1,
                               0x1.0000000000001p0,
                               -0x1.fffffffffffffp-1,
                               1e300,
                               -1e300,
                               0x1p52,
                               0x1p53,
                               1.5,
                               -1.5,
                               4.0,
                               1e10,
                               -1e10};
constexpr double kThresholds[] = {1.0,
                                  0.5,
                                  0.25,
                                  709.782712893384,
                                  745.13321910194122,
                                  710.47586007394386,
                                  1024.0,
                                  1074.0,
                                  1.5707963267948966,
                                  3.1415926535897931,
                                  0.78539816339744828,
                                  26.543258454250983,
                                  27.226017111108366,
                                  2.0,
                                  1.4616321449683623,
                                  8.0,
                                  5.92,
                                  0.9999999,
                                  0x1p500,
                                  1.3407807929942596e154};

std::vector<double> Sample(size_t count) {
  std::vector<double> sample(std::begin(kSpecial), std::end(kSpecial));
  RandomNumbers random(0xD05);
  for (uint64_t exponent = 0; exponent < 4096; ++exponent) {
    sample.push_back(std::bit_cast<double>(exponent << 52));
    sample.push_back(std::bit_cast<double>(exponent << 52 | random.Bits() >> 12));
    sample.push_back(std::bit_cast<double>(exponent << 52 | (~uint64_t{0} >> 12)));
  }
  for (const double threshold : kThresholds) {
    for (int64_t distance = -20; distance <= 20; ++distance) {
      const double near =
          std::bit_cast<double>(std::bit_cast<uint64_t>(threshold) + static_cast<uint64_t>(distance));
      sample.push_back(near);
      sample.push_back(-near);
    }
  }
  for (int i = 1; i < 2000; ++i) {
    sample.push_back(i * 0.78539816339744830962);
    sample.push_back(-i * 0.25);
  }
  while (sample.size() < count) {
    const double unit = 2 * random.Unit() - 1;
    sample.push_back(std::bit_cast<double>(random.Bits()));
    sample.push_back(unit);
    sample.push_back(std::ldexp(unit, static_cast<int>(random.Below(64)) - 32));
    sample.push_back(10 * unit);
    sample.push_back(100 * unit);
    sample.push_back(700 * unit);
  }
  sample.resize(count / kBatch * kBatch);
  return sample;
}

std::vector<double> SecondSample(std::vector<double>& first) {
  RandomNumbers random(0x5EC);
  std::vector<double> second = first;
  for (size_t i = second.size() - 1; i > 0; --i) std::swap(second[i], second[random.Bits() % i]);
  for (size_t i = 0; i + 1 < second.size(); i += 4) {
    second[i] = 16 * random.Unit() - 8;
    second[i + 1] = first[i + 1] * random.Unit() * 4;
  }
  size_t at = 0;
  for (const double x : kSpecial) {
    for (const double y : kSpecial) {
      first[at] = x;
      second[at++] = y;
    }
  }
  return second;
}

void Check(const FunctionLoops& loops, size_t count) {
  for (const Isa isa : SupportedIsas()) {
    if (!engine::SleefIsThere(isa)) GTEST_SKIP() << IsaName(isa) << ": " << engine::WhySleefIsMissing(isa);
  }
  const auto is_named = [&](const auto& entry) { return std::string(entry.name) == loops.name; };
  const Bound& bound = *std::find_if(std::begin(kBounds), std::end(kBounds), is_named);
  const auto oracles = AllFloat64Oracles();
  const Float64Oracle& oracle = *std::find_if(oracles.begin(), oracles.end(), is_named);
  std::vector<double> x = Sample(count);
  const std::vector<double> y = loops.has_two ? SecondSample(x) : x;
  std::vector<double> results(x.size());
  loops.float64(SupportedIsas().back())(x.data(), y.data(), results.data(), x.size());
  int64_t wrong = 0;
  for (const Isa isa : SupportedIsas()) {
    std::vector<double> others(x.size());
    loops.float64(isa)(x.data(), y.data(), others.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      if (SameOrNan(results[i], others[i]) || ++wrong > 4) continue;
      ADD_FAILURE() << loops.name << ": " << IsaName(isa) << " gives " << std::hexfloat << others[i]
                    << ", not " << results[i] << ", for " << x[i] << ", " << y[i];
    }
  }
  double worst = 0;
  size_t worst_at = 0;
  mpfr_t truth;
  mpfr_init2(truth, kOraclePrecision);
  for (size_t i = 0; i < x.size(); ++i) {
    oracle.of(truth, x[i], y[i]);
    const double scale = std::max(
        {1.0, loops.has_two || x[i] < 0 ? std::fabs(x[i]) : 0.0, loops.has_two ? std::fabs(y[i]) : 0.0});
    const bool is_near =
        bound.absolute > 0 && std::isfinite(results[i]) &&
        std::fabs(results[i] - mpfr_get_d(truth, MPFR_RNDN)) <= bound.absolute * 0x1p-53 * scale;
    const double ulp = is_near ? 0 : ErrorInUlp(results[i], truth);
    if (ulp > worst) {
      worst = ulp;
      worst_at = i;
    }
    if (ulp <= bound.ulp || ++wrong > 8) continue;
    ADD_FAILURE() << loops.name << "(" << std::hexfloat << x[i] << ", " << y[i] << ") is " << results[i]
                  << ": " << std::defaultfloat << ulp << " ulp";
  }
  mpfr_clear(truth);
  mpfr_free_cache();
  std::printf("%-12s %.4f %zu   (%a, %a)\n", loops.name, worst, x.size(), x[worst_at], y[worst_at]);
  EXPECT_EQ(wrong, 0) << loops.name;
}

std::string NameOf(const ::testing::TestParamInfo<size_t>& info) {
  return AllFunctionLoops()[info.param].name;
}

TEST(Sleef, IsThereOrSaysWhy) {
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512, Isa::kNeon, Isa::kSve}) {
    EXPECT_EQ(engine::SleefIsThere(isa), std::string(engine::WhySleefIsMissing(isa)).empty()) << IsaName(isa);
    EXPECT_EQ(engine::LoadSleef(isa), engine::LoadedSleef(isa)) << IsaName(isa);
  }
}

class Float64Functions : public ::testing::TestWithParam<size_t> {};
TEST_P(Float64Functions, Sampled) { Check(AllFunctionLoops()[GetParam()], 100000); }
INSTANTIATE_TEST_SUITE_P(All, Float64Functions, ::testing::Range(size_t{0}, AllFunctionLoops().size()),
                         NameOf);

class Float64FunctionsLong : public ::testing::TestWithParam<size_t> {};
TEST_P(Float64FunctionsLong, ManyMore) { Check(AllFunctionLoops()[GetParam()], 10000000); }
INSTANTIATE_TEST_SUITE_P(All, Float64FunctionsLong, ::testing::Range(size_t{0}, AllFunctionLoops().size()),
                         NameOf);

}  // namespace
}  // namespace portacl::testing
