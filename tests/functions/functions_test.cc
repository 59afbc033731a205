// The functions of src/engine/functions for float32 against the C library's for float64: the stated bounds, and the
// same bits on every instruction set.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/isa.h"
#include "functions/estimates.h"
#include "functions/function_loops.h"
#include "functions/oracles.h"
#include "gtest/gtest.h"
#include "support/float_formats.h"
#include "support/random_numbers.h"

namespace portacl::testing {
namespace {

// In ulp at the exact result; or, where a bound is given, absolute.
struct Bound {
  const char* name;
  double ulp;
  double absolute = 0;
};

constexpr Bound kBounds[] = {
    {"Exp", 0.92},
    {"FusedExp", 1.02},
    {"Exp2", 0.92},
    {"Expm1", 0.501},
    {"Log", 0.501},
    {"Log2", 0.501},
    {"Log10", 0.501},
    {"Log1p", 0.501},
    {"Sin", 0.9},
    {"Cos", 0.9},
    {"Tan", 0.501},
    {"Asin", 0.66},
    {"Acos", 0.66},
    {"Atan", 0.501},
    {"Sinh", 0.501},
    {"Cosh", 0.501},
    {"Tanh", 0.9},
    {"Asinh", 0.501},
    {"Acosh", 0.501},
    {"Atanh", 0.501},
    {"Erf", 0.95},
    {"Erfc", 0.501},
    {"Erfinv", 0.52},
    {"Sigmoid", 0.95},
    {"Sinc", 0.501},
    {"Rsqrt", 1.0},
    {"Atan2", 0.501},
    {"Pow", 0.501},
    {"Floor", 0},
    {"Ceil", 0},
    {"Trunc", 0},
    {"NearestEven", 0},
    {"Fmod", 0},
    {"Remainder", 0.5},
    {"LogAddExp", 0.501},
    {"LogAddExp2", 0.501},
    {"Lgamma", 0.502, 1e-12},
    {"Digamma", 0.501, 1e-12},
};

constexpr size_t kBatch = 4096;

struct Errors {
  double worst_ulp = 0;
  float worst_x = 0;
  float worst_y = 0;
  int64_t results = 0;
  int64_t wrong = 0;

  void Add(const Errors& other) {
    if (other.worst_ulp > worst_ulp) {
      worst_ulp = other.worst_ulp;
      worst_x = other.worst_x;
      worst_y = other.worst_y;
    }
    results += other.results;
    wrong += other.wrong;
  }
};

bool SameOrNan(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

// Distance in ulp at the exact result; infinity is what follows the largest number.
double ErrorInUlp(float result, double truth) {
  if (std::isnan(truth) || std::isnan(result)) return std::isnan(truth) && std::isnan(result) ? 0 : HUGE_VAL;
  if (std::isinf(truth) && result == truth) return 0;
  if (truth == 0) return result == 0 && std::signbit(result) == std::signbit(truth) ? 0 : HUGE_VAL;
  if (std::signbit(result) != std::signbit(truth)) return HUGE_VAL;
  const double most = 0x1p128;
  if (std::fabs(truth) >= most) return std::isinf(result) ? 0 : HUGE_VAL;
  const double value = std::isinf(result) ? std::copysign(most, result) : static_cast<double>(result);
  return std::fabs(value - truth) / FloatUlp(truth);
}

// How much of the work a check spares where that cannot change what it finds.
enum class Depth {
  kWhole,  // every result is compared with the oracle's, and bounds of errors with the errors
  kFiltered,  // only those that may be the worst so far, or too far off, and portable code runs for one batch in 64
};

class Checker {
 public:
  Checker(const FunctionLoops& loops, Depth depth)
      : loops_(loops),
        depth_(depth),
        best_(SupportedIsas().back()),
        estimate_(EstimateOf(loops.name, best_)) {
    for (const Bound& bound : kBounds) {
      if (std::string(bound.name) == loops.name) bound_ = &bound;
    }
    for (const Oracle& oracle : AllOracles()) {
      if (std::string(oracle.name) == loops.name) oracle_ = &oracle;
    }
  }

  // x has kBatch elements, and so has y; `number` counts the batches.
  void Check(const float* x, const float* y, uint64_t number, Errors& errors) const {
    float results[kBatch];
    loops_.float32(best_)(x, y, results, kBatch);
    for (const Isa isa : SupportedIsas()) {
      const bool runs = depth_ == Depth::kWhole || isa != Isa::kPortable || number % 64 == 0;
      if (isa != best_ && runs) CheckIsa(isa, x, y, results, errors);
    }
    double truths[kBatch];
    float bounds[kBatch];
    if (estimate_ != nullptr) {
      estimate_(x, y, truths, kBatch);
    } else {
      for (size_t i = 0; i < kBatch; ++i) truths[i] = Truth(x[i], y[i]);
    }
    const float greatest = BoundErrors(best_, results, truths, bounds, kBatch);
    errors.results += kBatch;
    if (depth_ == Depth::kWhole) {
      for (size_t i = 0; i < kBatch; ++i) {
        const double ulp = CheckResult(x[i], y[i], results[i], errors);
        if (ulp <= static_cast<double>(bounds[i]) || ++errors.wrong > 3) continue;
        ADD_FAILURE() << loops_.name << "(" << std::hexfloat << x[i] << ", " << y[i] << "), " << results[i]
                      << ", has an error of " << std::defaultfloat << ulp << ", not " << bounds[i];
      }
      return;
    }
    const auto is_of_interest = [&](float bound) {
      return static_cast<double>(bound) > std::min(errors.worst_ulp, bound_->ulp);
    };
    if (!is_of_interest(greatest)) return;
    for (size_t i = 0; i < kBatch; ++i) {
      if (is_of_interest(bounds[i])) CheckResult(x[i], y[i], results[i], errors);
    }
  }

 private:
  double Truth(float x, float y) const { return loops_.has_two ? oracle_->of_two(x, y) : oracle_->of_one(x); }

  void CheckIsa(Isa isa, const float* x, const float* y, const float* results, Errors& errors) const {
    float out[kBatch];
    loops_.float32(isa)(x, y, out, kBatch);
    if (std::memcmp(out, results, sizeof out) == 0) return;
    for (size_t i = 0; i < kBatch; ++i) {
      if (SameOrNan(out[i], results[i]) || ++errors.wrong > 3) continue;
      ADD_FAILURE() << loops_.name << ": " << IsaName(isa) << " gives " << std::hexfloat << out[i] << ", not "
                    << results[i] << ", for " << x[i] << ", " << y[i];
    }
  }

  // Returns the error in ulp.
  double CheckResult(float x, float y, float result, Errors& errors) const {
    const double truth = Truth(x, y);
    const double ulp = ErrorInUlp(result, truth);
    const bool is_near = std::fabs(result - truth) <= bound_->absolute;
    if (!is_near && ulp > errors.worst_ulp) {
      errors.worst_ulp = ulp;
      errors.worst_x = x;
      errors.worst_y = y;
    }
    if (ulp <= bound_->ulp || is_near || ++errors.wrong > 3) return ulp;
    ADD_FAILURE() << loops_.name << "(" << std::hexfloat << x << ", " << y << ") is " << result
                  << ", exactly " << truth << ": " << std::defaultfloat << ulp << " ulp";
    return ulp;
  }

  const FunctionLoops& loops_;
  Depth depth_;
  Isa best_;
  Estimate estimate_;
  const Bound* bound_ = nullptr;
  const Oracle* oracle_ = nullptr;
};

constexpr float kSpecial[] = {0.0f,
                              -0.0f,
                              1.0f,
                              -1.0f,
                              0.5f,
                              -0.5f,
                              2.0f,
                              -2.0f,
                              3.0f,
                              -3.0f,
                              INFINITY,
                              -INFINITY,
                              NAN,
                              0x1p-149f,
                              -0x1p-149f,
                              0x1p-126f,
                              -0x1p-126f,
                              0x1.fffffep127f,
                              -0x1.fffffep127f,
                              0x1.fffffep-1f,
                              0x1.000002p0f,
                              -0x1.fffffep-1f,
                              -0x1.000002p0f,
                              1e10f,
                              -1e10f,
                              0x1p23f,
                              0x1.fffffep22f,
                              0x1p24f,
                              -0x1.000002p23f,
                              1.5f,
                              -1.5f,
                              4.0f};

// Where some function changes its way, or its result its nature.
constexpr float kThresholds[] = {
    1.0f,        0.5f,       0.25f,      0.55f,     0.95f,       4.0f,     88.722839f,  87.336548f,
    103.97208f,  104.0f,     127.0f,     128.0f,    149.0f,      150.0f,   126.0f,      89.415988f,
    0.34657359f, 0x1p-11f,   0x1p-149f,  0x1p-126f, 0x1p15f,     0x1p26f,  8.0f,        10.05f,
    10.2f,       0x1p23f,    0x1p22f,    0x1p24f,   0.70710677f, 0.99663f, 1.5707964f,  3.1415927f,
    0.78539819f, 2.3561945f, 1.4616321f, 2.0f,      3.0f,        9.0109f,  0.69813669f, 16.635532f};

// All exponents, thresholds on both sides, usual numbers, multiples of pi / 4, random bits.
std::vector<float> Sample(size_t count) {
  std::vector<float> sample(std::begin(kSpecial), std::end(kSpecial));
  const auto push = [&](uint32_t bits) { sample.push_back(std::bit_cast<float>(bits)); };
  RandomNumbers random(0xF05);
  for (uint32_t exponent = 0; exponent < 512; ++exponent) {
    for (const uint32_t fraction : {0x0u, 0x1u, 0x3504F3u, 0x400000u, 0x7FFFFEu, 0x7FFFFFu}) {
      push(exponent << 23 | fraction);
    }
    for (int i = 0; i < 500; ++i) push(exponent << 23 | (static_cast<uint32_t>(random.Bits()) & 0x7FFFFF));
  }
  for (const float threshold : kThresholds) {
    for (int32_t distance = -1000; distance <= 1000; ++distance) {
      const uint32_t bits = std::bit_cast<uint32_t>(threshold) + static_cast<uint32_t>(distance);
      push(bits);
      push(bits ^ 0x80000000);
    }
  }
  for (int i = 1; i < 40000; ++i) {
    sample.push_back(static_cast<float>(i * 0.78539816339744830962));
    sample.push_back(static_cast<float>(-i * 0.25));
  }
  while (sample.size() < count) {
    const auto bits = static_cast<uint32_t>(random.Bits());
    const auto unit = static_cast<float>(static_cast<double>(bits) * 0x1p-31 - 1);
    push(static_cast<uint32_t>(random.Bits()));
    sample.push_back(unit);
    sample.push_back(10 * unit);
    sample.push_back(100 * unit);
  }
  sample.resize(count / kBatch * kBatch);
  return sample;
}

// The second arguments that go with them: independent ones, near ones, usual ones and all pairs of special values.
std::vector<float> SecondSample(std::vector<float>& first) {
  RandomNumbers random(0x5EC);
  std::vector<float> second = first;
  for (size_t i = second.size() - 1; i > 0; --i) std::swap(second[i], second[random.Bits() % i]);
  for (size_t i = 0; i < second.size(); i += 4) {
    const auto bits = static_cast<uint32_t>(random.Bits());
    second[i] = static_cast<float>(static_cast<double>(bits) * 0x1p-28 - 8);
    second[i + 1] = first[i + 1] * static_cast<float>(static_cast<double>(bits >> 8) * 0x1p-20);
  }
  size_t at = 0;
  for (const float x : kSpecial) {
    for (const float y : kSpecial) {
      first[at] = x;
      second[at++] = y;
    }
  }
  return second;
}

void Report(const FunctionLoops& loops, const Errors& errors) {
  std::printf("%-12s %.7f %lld   (%a, %a)\n", loops.name, errors.worst_ulp,
              static_cast<long long>(errors.results), static_cast<double>(errors.worst_x),
              static_cast<double>(errors.worst_y));
  EXPECT_EQ(errors.wrong, 0) << loops.name;
}

class Float32Functions : public ::testing::TestWithParam<size_t> {};

TEST_P(Float32Functions, Sampled) {
  const FunctionLoops& loops = AllFunctionLoops()[GetParam()];
  std::vector<float> x = Sample(size_t{1} << 21);
  const std::vector<float> y = loops.has_two ? SecondSample(x) : x;
  const Checker checker(loops, Depth::kWhole);
  Errors errors;
  for (size_t at = 0; at < x.size(); at += kBatch) checker.Check(&x[at], &y[at], at / kBatch, errors);
  Report(loops, errors);
}

// As the long test has them: rows of neighbours.
TEST_P(Float32Functions, Neighbours) {
  const FunctionLoops& loops = AllFunctionLoops()[GetParam()];
  const Checker checker(loops, Depth::kWhole);
  Errors errors;
  std::vector<float> x(kBatch);
  for (uint32_t at = 0; at < 256; ++at) {
    const uint32_t first = at << 24 | (at % 2 << 23) | (at * 0x9E5000 & 0x7FF000);
    for (uint32_t i = 0; i < kBatch; ++i) x[i] = std::bit_cast<float>(first + i);
    checker.Check(x.data(), x.data(), at, errors);
  }
  Report(loops, errors);
}

std::string NameOf(const ::testing::TestParamInfo<size_t>& info) {
  return AllFunctionLoops()[info.param].name;
}

INSTANTIATE_TEST_SUITE_P(All, Float32Functions, ::testing::Range(size_t{0}, AllFunctionLoops().size()),
                         NameOf);

// Every float32 for functions of one argument, 2^28 pairs for those of two. The worst error is the oracle's even so:
// only what certainly is no greater is not looked at.
class Float32FunctionsLong : public ::testing::TestWithParam<size_t> {};

TEST_P(Float32FunctionsLong, EveryFloat) {
  const FunctionLoops& loops = AllFunctionLoops()[GetParam()];
  const Checker checker(loops, Depth::kFiltered);
  std::atomic<uint64_t> next{0};
  const uint64_t all = uint64_t{1} << (loops.has_two ? 28 : 32);
  const auto work = [&](Errors& errors) {
    std::vector<float> x(kBatch);
    std::vector<float> y(kBatch);
    for (uint64_t at; (at = next.fetch_add(kBatch)) < all;) {
      RandomNumbers random(at);
      for (size_t i = 0; i < kBatch; ++i) {
        const uint64_t bits = loops.has_two ? random.Bits() : at + i;
        x[i] = std::bit_cast<float>(static_cast<uint32_t>(bits));
        y[i] = std::bit_cast<float>(static_cast<uint32_t>(bits >> 32));
      }
      checker.Check(x.data(), y.data(), at / kBatch, errors);
    }
  };
  std::vector<Errors> errors(std::max(2u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (Errors& one : errors) threads.emplace_back(work, std::ref(one));
  for (std::thread& thread : threads) thread.join();
  Errors total;
  for (const Errors& one : errors) total.Add(one);
  Report(loops, total);
}

INSTANTIATE_TEST_SUITE_P(All, Float32FunctionsLong, ::testing::Range(size_t{0}, AllFunctionLoops().size()),
                         NameOf);

}  // namespace
}  // namespace portacl::testing
