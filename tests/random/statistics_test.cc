// The distributions of random numbers: chi-square, Kolmogorov and Smirnov's test, correlations between neighbours, seeds and offsets.
// Seeds are fixed, so a test passes always or never; the limits, about one in a million for each, were set beforehand. The long
// tier draws 10^7 numbers of each generator, the other 2 * 10^5.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "aclnnop/families/random.h"
#include "gtest/gtest.h"
#include "random/random_calls.h"

namespace portacl::testing {
namespace {

constexpr double kDeviations = 5;    // of a normal distribution: 6e-7
constexpr double kKolmogorov = 2.7;  // of D * sqrt(n): 9e-7
constexpr int64_t kShort = 200'000;
constexpr int64_t kLong = 10'000'000;
constexpr int64_t kStep = 12;  // by which callers advance the offset

// The numbers of one call.
struct Generator {
  std::string name;
  std::function<std::vector<double>(int64_t n, int64_t seed, int64_t offset, aclrtStream stream)> draw;
  std::function<double(double)> distribution = {};  // of a continuous one
  std::vector<double> probabilities = {};           // of 0, 1, 2 ...
};

std::vector<double> Filled(DtypeNumber dtype, int64_t n, const CFunction& function,
                           std::vector<Argument> arguments, aclrtStream stream) {
  HostTensor tensor = MakeTensor(dtype, {n});
  arguments.insert(arguments.begin(), Tensor(tensor));
  const CallResult result = CallOf(function, arguments, stream);
  EXPECT_TRUE(result.Succeeded()) << result.message;
  std::vector<double> numbers(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    numbers[static_cast<size_t>(i)] =
        IsIntegerDtype(dtype) ? static_cast<double>(tensor.Integer(i)) : tensor.Real(i);
  }
  return numbers;
}

double NormalDistribution(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

std::vector<Generator> Generators() {
  std::vector<Generator> all;
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_DOUBLE}) {
    const std::string suffix = dtype == ACL_FLOAT ? "Float" : "Double";
    all.push_back({"Uniform" + suffix,
                   [=](int64_t n, int64_t seed, int64_t offset, aclrtStream stream) {
                     return Filled(dtype, n, PORTACL_C_FUNCTION(aclnnInplaceUniform),
                                   {Real(-2), Real(3), Whole(seed), Whole(offset)}, stream);
                   },
                   [](double x) { return (x + 2) / 5; }});
    all.push_back({"Normal" + suffix,
                   [=](int64_t n, int64_t seed, int64_t offset, aclrtStream stream) {
                     return Filled(dtype, n, PORTACL_C_FUNCTION(aclnnInplaceNormal),
                                   {Real(0), Real(1), Whole(seed), Whole(offset)}, stream);
                   },
                   NormalDistribution});
  }
  all.push_back({"Exponential",
                 [](int64_t n, int64_t seed, int64_t offset, aclrtStream stream) {
                   return Filled(ACL_FLOAT, n, PORTACL_C_FUNCTION(aclnnSimThreadExponential),
                                 {Whole(n), Real(0.5), Whole(seed), Whole(offset)}, stream);
                 },
                 [](double x) { return -std::expm1(-0.5 * x); }});
  all.push_back({"WideIntegers",
                 [](int64_t n, int64_t seed, int64_t offset, aclrtStream stream) {
                   return Filled(ACL_INT64, n, PORTACL_C_FUNCTION(aclnnInplaceRandom),
                                 {Whole(0), Whole(int64_t{3} << 60), Whole(seed), Whole(offset)}, stream);
                 },
                 [](double x) { return x / (3 * 0x1p60); }});
  all.push_back({"FewIntegers",
                 [](int64_t n, int64_t seed, int64_t offset, aclrtStream stream) {
                   return Filled(ACL_INT32, n, PORTACL_C_FUNCTION(aclnnInplaceRandom),
                                 {Whole(0), Whole(1000), Whole(seed), Whole(offset)}, stream);
                 },
                 {},
                 std::vector<double>(1000, 1e-3)});
  for (const double p : {0.5, 0.001}) {
    all.push_back({p == 0.5 ? "Bernoulli" : "RareBernoulli",
                   [p](int64_t n, int64_t seed, int64_t offset, aclrtStream stream) {
                     const Scalar prob(p);
                     return Filled(ACL_UINT8, n, PORTACL_C_FUNCTION(aclnnInplaceBernoulli),
                                   {prob.argument(), Whole(seed), Whole(offset)}, stream);
                   },
                   {},
                   {1 - p, p}});
  }
  all.push_back({"Mask",
                 [](int64_t n, int64_t seed, int64_t offset, aclrtStream stream) {
                   const Dims dims(Shape{n});
                   HostTensor mask = MakeTensor(ACL_UINT8, {BytesOfMask(n)});
                   const CallResult result =
                       CallOf(PORTACL_C_FUNCTION(aclnnDropoutGenMask),
                              {dims.argument(), Real(0.3), Whole(seed), Whole(offset), Tensor(mask)}, stream);
                   EXPECT_TRUE(result.Succeeded()) << result.message;
                   std::vector<double> bits(static_cast<size_t>(n));
                   for (int64_t i = 0; i < n; ++i)
                     bits[static_cast<size_t>(i)] = static_cast<double>(mask.Integer(i / 8) >> (i % 8) & 1);
                   return bits;
                 },
                 {},
                 {0.3, 0.7}});
  all.push_back({"Multinomial",
                 [](int64_t n, int64_t seed, int64_t offset, aclrtStream stream) {
                   HostTensor weights = MakeTensor(ACL_FLOAT, {7});
                   for (int64_t i = 0; i < 7; ++i) weights.Set(i, static_cast<double>(i) / 4);
                   HostTensor indices = MakeTensor(ACL_INT64, {n});
                   const CallResult result = CallOf(
                       PORTACL_C_FUNCTION(aclnnMultinomial),
                       {Tensor(weights), Whole(n), Whole(1), Whole(seed), Whole(offset), Tensor(indices)},
                       stream);
                   EXPECT_TRUE(result.Succeeded()) << result.message;
                   std::vector<double> numbers(static_cast<size_t>(n));
                   for (int64_t i = 0; i < n; ++i)
                     numbers[static_cast<size_t>(i)] = static_cast<double>(indices.Integer(i));
                   return numbers;
                 },
                 {},
                 {0, 1 / 21.0, 2 / 21.0, 3 / 21.0, 4 / 21.0, 5 / 21.0, 6 / 21.0}});
  // The best of each row: the other way to draw.
  all.push_back({"MultinomialOfRows",
                 [](int64_t n, int64_t seed, int64_t offset, aclrtStream stream) {
                   View view{{n, 4}, {0, 1}, 0, 4, {4}, true};
                   HostTensor weights(ACL_DOUBLE, view);
                   for (int64_t i = 0; i < 4; ++i) weights.Set(i, static_cast<double>(i + 1));
                   HostTensor indices = MakeTensor(ACL_INT64, {n, 1});
                   const CallResult result = CallOf(
                       PORTACL_C_FUNCTION(aclnnMultinomial),
                       {Tensor(weights), Whole(1), Whole(0), Whole(seed), Whole(offset), Tensor(indices)},
                       stream);
                   EXPECT_TRUE(result.Succeeded()) << result.message;
                   std::vector<double> numbers(static_cast<size_t>(n));
                   for (int64_t i = 0; i < n; ++i)
                     numbers[static_cast<size_t>(i)] = static_cast<double>(indices.Integer(i));
                   return numbers;
                 },
                 {},
                 {0.1, 0.2, 0.3, 0.4}});
  return all;
}

// Deviations of chi-square from its mean.
double ChiSquare(const std::vector<double>& found, const std::vector<double>& expected) {
  double sum = 0;
  double bins = -1;
  for (size_t i = 0; i < found.size(); ++i) {
    if (expected[i] == 0) {
      EXPECT_EQ(found[i], 0);
      continue;
    }
    sum += (found[i] - expected[i]) * (found[i] - expected[i]) / expected[i];
    ++bins;
  }
  return (sum - bins) / std::sqrt(2 * bins);
}

// Correlation of two series, times the root of their length.
double Correlation(const double* a, const double* b, size_t n) {
  double sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;
  for (size_t i = 0; i < n; ++i) {
    sum_a += a[i];
    sum_b += b[i];
  }
  const double mean_a = sum_a / static_cast<double>(n);
  const double mean_b = sum_b / static_cast<double>(n);
  for (size_t i = 0; i < n; ++i) {
    const double x = a[i] - mean_a;
    const double y = b[i] - mean_b;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  return ab / std::sqrt(aa * bb) * std::sqrt(static_cast<double>(n));
}

void CheckGenerator(const Generator& generator, int64_t n) {
  SCOPED_TRACE(generator.name);
  double chi_square = 0;
  double kolmogorov = 0;
  double correlation = 0;  // the largest
  const auto deviates = [&](const double* a, const double* b, size_t count) {
    const double deviations = std::abs(Correlation(a, b, count));
    correlation = std::max(correlation, deviations);
    return deviations;
  };
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "2"}});
  const std::vector<double> numbers = generator.draw(n, 12345, 48, environment.stream());
  const auto count = static_cast<double>(n);
  if (generator.distribution) {
    constexpr size_t kBins = 1000;
    std::vector<double> places(numbers.size());
    std::vector<double> found(kBins);
    for (size_t i = 0; i < numbers.size(); ++i) {
      places[i] = generator.distribution(numbers[i]);
      ++found[std::min(kBins - 1, static_cast<size_t>(places[i] * kBins))];
    }
    chi_square = ChiSquare(found, std::vector<double>(kBins, count / kBins));
    EXPECT_LT(std::abs(chi_square), kDeviations);
    std::sort(places.begin(), places.end());
    double distance = 0;
    for (size_t i = 0; i < places.size(); ++i) {
      distance = std::max({distance, std::abs(places[i] - static_cast<double>(i) / count),
                           std::abs(places[i] - static_cast<double>(i + 1) / count)});
    }
    kolmogorov = distance * std::sqrt(count);
    EXPECT_LT(kolmogorov, kKolmogorov);
  } else {
    std::vector<double> found(generator.probabilities.size());
    std::vector<double> expected;
    for (const double probability : generator.probabilities) expected.push_back(probability * count);
    for (const double number : numbers) ++found.at(static_cast<size_t>(number));
    chi_square = ChiSquare(found, expected);
    EXPECT_LT(std::abs(chi_square), kDeviations * (found.size() == 2 ? 5 : 1));
  }
  for (const size_t lag : {1, 2, 3, 4, 5, 8, 16, 512})
    EXPECT_LT(deviates(numbers.data(), numbers.data() + lag, numbers.size() - lag), kDeviations)
        << "lag " << lag;
  for (const auto& [seed, offset] : {std::pair<int64_t, int64_t>{12346, 48},
                                     {12345 ^ (int64_t{1} << 40), 48},
                                     {12345, 48 + 4},
                                     {12345, 48 + kStep},
                                     {12345, 48 + (int64_t{1} << 33)}}) {
    const std::vector<double> others = generator.draw(n, seed, offset, environment.stream());
    EXPECT_LT(deviates(numbers.data(), others.data(), numbers.size()), kDeviations) << seed << " " << offset;
    EXPECT_LT(deviates(numbers.data(), others.data() + 4, numbers.size() - 4), kDeviations)
        << seed << " " << offset;
  }
  std::printf("%-20s chi-square %5.2f, Kolmogorov %4.2f, correlation %4.2f\n", generator.name.c_str(),
              chi_square, kolmogorov, correlation);
}

// ---- Permutations ----

std::vector<int64_t> Permutation(int64_t n, int64_t seed, int64_t offset, aclrtStream stream) {
  HostTensor out = MakeTensor(ACL_INT64, {n});
  const CallResult result =
      CallOf(PORTACL_C_FUNCTION(aclnnRandperm), {Whole(n), Whole(seed), Whole(offset), Tensor(out)}, stream);
  EXPECT_TRUE(result.Succeeded()) << result.message;
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < n; ++i) numbers.push_back(out.Integer(i));
  return numbers;
}

void CheckPermutations(int64_t n) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "2"}});
  // All orders of four.
  std::map<std::vector<int64_t>, double> orders;
  const int64_t calls = std::min<int64_t>(n / 20, 100'000);
  for (int64_t i = 0; i < calls; ++i) ++orders[Permutation(4, 99, i * kStep, environment.stream())];
  ASSERT_EQ(orders.size(), 24u);
  std::vector<double> found;
  for (const auto& [order, times] : orders) found.push_back(times);
  EXPECT_LT(std::abs(ChiSquare(found, std::vector<double>(24, static_cast<double>(calls) / 24))),
            kDeviations);
  // A long one: every number once; where from and where to are independent.
  const std::vector<int64_t> numbers = Permutation(n, 5, 0, environment.stream());
  std::vector<bool> seen(numbers.size());
  constexpr int64_t kCells = 30;
  std::vector<double> cells(kCells * kCells);
  std::vector<double> places;
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t number = numbers[static_cast<size_t>(i)];
    ASSERT_FALSE(seen.at(static_cast<size_t>(number)));
    seen[static_cast<size_t>(number)] = true;
    ++cells[static_cast<size_t>(i * kCells / n * kCells + number * kCells / n)];
    places.push_back(static_cast<double>(i));
    values.push_back(static_cast<double>(number));
  }
  // Rows and columns are as long as they are: fewer degrees of freedom, which the limit allows for.
  EXPECT_LT(std::abs(ChiSquare(
                cells, std::vector<double>(cells.size(), static_cast<double>(n) / (kCells * kCells)))),
            kDeviations + 2);
  EXPECT_LT(std::abs(Correlation(places.data(), values.data(), places.size())), kDeviations);
  EXPECT_LT(std::abs(Correlation(values.data(), values.data() + 1, values.size() - 1)), kDeviations);
}

// Without replacement: the first and the second of each row, by the weights of what is left.
void CheckSamplesWithoutReplacement(int64_t rows) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "2"}});
  const double weights[] = {1, 2, 3, 4};
  HostTensor self(ACL_FLOAT, {{rows, 4}, {0, 1}, 0, 4, {4}, true});
  for (int64_t i = 0; i < 4; ++i) self.Set(i, weights[i]);
  HostTensor out = MakeTensor(ACL_INT64, {rows, 2});
  const CallResult result =
      CallOf(PORTACL_C_FUNCTION(aclnnMultinomial),
             {Tensor(self), Whole(2), Whole(0), Whole(17), Whole(0), Tensor(out)}, environment.stream());
  ASSERT_TRUE(result.Succeeded()) << result.message;
  std::vector<double> found(16);
  std::vector<double> expected(16);
  for (int64_t row = 0; row < rows; ++row)
    ++found.at(static_cast<size_t>(out.Integer(2 * row) * 4 + out.Integer(2 * row + 1)));
  for (size_t a = 0; a < 4; ++a) {
    for (size_t b = 0; b < 4; ++b)
      expected[4 * a + b] =
          a == b ? 0 : static_cast<double>(rows) * weights[a] / 10 * weights[b] / (10 - weights[a]);
  }
  EXPECT_LT(std::abs(ChiSquare(found, expected)), kDeviations);
}

TEST(Statistics, Generators) {
  for (const Generator& generator : Generators()) CheckGenerator(generator, kShort);
}
TEST(Statistics, Permutations) { CheckPermutations(kShort); }
TEST(Statistics, SamplesWithoutReplacement) { CheckSamplesWithoutReplacement(kShort); }
TEST(StatisticsLong, Generators) {
  for (const Generator& generator : Generators()) CheckGenerator(generator, kLong);
}
TEST(StatisticsLong, Permutations) { CheckPermutations(kLong); }
TEST(StatisticsLong, SamplesWithoutReplacement) { CheckSamplesWithoutReplacement(kLong / 4); }

}  // namespace
}  // namespace portacl::testing
