// What descriptions of reductions cannot say: long tensors, the same bits for every layout and number of threads, results that
// are not exact, and the two operators of logarithms.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/families/reductions.h"
#include "engine/isa_in_use.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/random_numbers.h"

namespace portacl::testing {
namespace {

using Dims = std::vector<int64_t>;

template <class T>
constexpr aclDataType kDtypeOf = std::is_same_v<T, float>      ? ACL_FLOAT
                                 : std::is_same_v<T, double>   ? ACL_DOUBLE
                                 : std::is_same_v<T, uint16_t> ? ACL_BF16
                                                               : ACL_INT64;

// A tensor of numbers, dense or with the given strides.
template <class T>
struct Held {
  std::vector<T> values;
  Dims shape;
  Dims strides = {};

  aclTensor* Make() {
    if (strides.empty()) {
      strides.resize(shape.size());
      int64_t stride = 1;
      for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
    }
    const auto size = static_cast<int64_t>(values.size());
    return aclCreateTensor(shape.data(), shape.size(), kDtypeOf<T>, strides.data(), 0, ACL_FORMAT_ND, &size,
                           1, values.data());
  }
};

class Call {
 public:
  explicit Call(const char* threads = "1", const char* isa = nullptr)
      : environment_(VariablesFor(threads, isa)) {}

  template <class Plan, class Run>
  void operator()(const Plan& plan, const Run& run) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(plan(&size, &executor), 0) << aclGetRecentErrMsg();
    const GuardedBuffer workspace(size);
    ASSERT_EQ(run(size == 0 ? nullptr : workspace.device(), size, executor, environment_.stream()), 0);
    ASSERT_EQ(aclrtSynchronizeStream(environment_.stream()), 0);
  }

 private:
  static Variables VariablesFor(const char* threads, const char* isa) {
    Variables variables = {{"PORTACL_NUM_THREADS", threads}, {"PORTACL_SOC", "Ascend910B1"}};
    if (isa != nullptr) variables.emplace_back("PORTACL_ISA", isa);
    return variables;
  }

  ScopedEnvironment environment_;
};

std::vector<float> Numbers(size_t n, uint64_t seed) {
  RandomNumbers random(seed);
  std::vector<float> numbers(n);
  for (float& number : numbers)
    number = static_cast<float>(random.Between(-(1 << 23), 1 << 23)) *
             std::ldexp(1.0f, static_cast<int>(random.Between(-26, -20)));
  return numbers;
}

aclIntArray* ArrayOf(const Dims& dims) { return aclCreateIntArray(dims.data(), dims.size()); }

std::vector<float> SumOf(Held<float> self, const Dims& dims, const Dims& out_shape, const char* threads,
                         const char* isa) {
  Held<float> out{std::vector<float>(static_cast<size_t>(
                      std::accumulate(out_shape.begin(), out_shape.end(), int64_t{1}, std::multiplies<>()))),
                  out_shape};
  Call call(threads, isa);
  aclTensor* const in = self.Make();
  aclTensor* const result = out.Make();
  aclIntArray* const array = ArrayOf(dims);
  call(
      [&](auto* size, auto* executor) {
        return aclnnReduceSumGetWorkspaceSize(in, array, false, ACL_FLOAT, result, size, executor);
      },
      aclnnReduceSum);
  aclDestroyIntArray(array);
  aclDestroyTensor(in);
  aclDestroyTensor(result);
  return out.values;
}

// Their bits, for NaN is equal to none.
std::vector<uint32_t> BitsOf(const std::vector<float>& numbers) {
  std::vector<uint32_t> bits(numbers.size());
  std::transform(numbers.begin(), numbers.end(), bits.begin(),
                 [](float x) { return std::bit_cast<uint32_t>(x); });
  return bits;
}

// Variances and means of every row, from whichever layout.
std::vector<float> VarMeanOf(Held<float> self, int64_t dim, int64_t outputs, const char* threads,
                             const char* isa) {
  Held<float> var{std::vector<float>(static_cast<size_t>(outputs)), {outputs}};
  Held<float> mean = var;
  Call call(threads, isa);
  aclTensor* const in = self.Make();
  aclTensor* const var_out = var.Make();
  aclTensor* const mean_out = mean.Make();
  aclIntArray* const array = ArrayOf({dim});
  call(
      [&](auto* size, auto* executor) {
        return aclnnVarMeanGetWorkspaceSize(in, array, 1, false, var_out, mean_out, size, executor);
      },
      aclnnVarMean);
  aclDestroyIntArray(array);
  aclDestroyTensor(in);
  aclDestroyTensor(var_out);
  aclDestroyTensor(mean_out);
  var.values.insert(var.values.end(), mean.values.begin(), mean.values.end());
  return var.values;
}

Held<float> Transposed(const Held<float>& matrix) {
  Held<float> other{std::vector<float>(matrix.values.size()), matrix.shape, {1, matrix.shape[0]}};
  for (int64_t i = 0; i < matrix.shape[0]; ++i) {
    for (int64_t k = 0; k < matrix.shape[1]; ++k)
      other.values[static_cast<size_t>(k * matrix.shape[0] + i)] =
          matrix.values[static_cast<size_t>(i * matrix.shape[1] + k)];
  }
  return other;
}

TEST(ReductionOrders, TheSameBitsForEveryLayoutThreadCountAndInstructionSet) {
  for (const Dims& shape :
       {Dims{3, 70001}, Dims{70001, 3}, Dims{513, 129}, Dims{1, 400000}, Dims{2000, 40}}) {
    const Held<float> matrix{Numbers(static_cast<size_t>(shape[0] * shape[1]), 5), shape};
    for (const int64_t dim : {0, 1}) {
      const int64_t outputs = shape[static_cast<size_t>(1 - dim)];
      const std::vector<float> sums = SumOf(matrix, {dim}, {outputs}, "1", nullptr);
      const std::vector<float> variances = VarMeanOf(matrix, dim, outputs, "1", nullptr);
      for (const char* threads : {"1", "4"}) {
        for (const engine::Isa each : engine::SupportedIsas()) {
          const char* const isa = engine::IsaName(each);
          EXPECT_EQ(BitsOf(SumOf(matrix, {dim}, {outputs}, threads, isa)), BitsOf(sums)) << threads << isa;
          EXPECT_EQ(BitsOf(VarMeanOf(matrix, dim, outputs, threads, isa)), BitsOf(variances))
              << threads << isa;
          EXPECT_EQ(BitsOf(VarMeanOf(Transposed(matrix), dim, outputs, threads, isa)), BitsOf(variances))
              << threads << isa;
        }
      }
      // Means are sums in float64, divided and rounded once; variances within 2 units of what more bits give.
      for (int64_t i = 0; i < outputs; ++i) {
        const int64_t n = shape[static_cast<size_t>(dim)];
        long double sum = 0;
        long double squares = 0;
        const auto at = [&](int64_t k) {
          return static_cast<long double>(
              matrix.values[static_cast<size_t>(dim == 0 ? k * shape[1] + i : i * shape[1] + k)]);
        };
        for (int64_t k = 0; k < n; ++k) sum += at(k);
        for (int64_t k = 0; k < n; ++k) squares += (at(k) - sum / n) * (at(k) - sum / n);
        const auto place = static_cast<size_t>(i);
        EXPECT_NEAR(static_cast<double>(sums[place]), static_cast<double>(sum),
                    1e-7 * std::abs(static_cast<double>(sum)));
        if (n > 1) {
          EXPECT_NEAR(static_cast<double>(variances[place]), static_cast<double>(squares / (n - 1)),
                      1e-7 * static_cast<double>(squares / (n - 1)));
        }
      }
    }
  }
}

TEST(ReductionOrders, TheFirstOfTheLargestOfALongRowIsFound) {
  std::vector<int64_t> values(300000, 7);
  values[123456] = values[200000] = 9;
  Held<int64_t> self{values, {300000}};
  Held<int64_t> out{{0}, {1}};
  Held<int64_t> place{{0}, {1}};
  Call call("4");
  aclTensor* const in = self.Make();
  aclTensor* const largest = out.Make();
  aclTensor* const index = place.Make();
  call(
      [&](auto* size, auto* executor) {
        return aclnnMaxDimGetWorkspaceSize(in, 0, true, largest, index, size, executor);
      },
      aclnnMaxDim);
  EXPECT_EQ(out.values[0], 9);
  EXPECT_EQ(place.values[0], 123456);
  aclDestroyTensor(in);
  aclDestroyTensor(largest);
  aclDestroyTensor(index);
}

// bf16's bits of the number nearest to x, the even one of two.
uint16_t NearestBf16(double x) {
  if (std::isnan(x)) return 0x7FC0;
  const int unit = std::max(std::ilogb(std::fabs(x) + 0x1p-140) - 7, -133);
  const auto rounded = static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit));
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(std::copysign(rounded, static_cast<float>(x))) >> 16);
}
double NumberOf(float x) { return static_cast<double>(x); }
double NumberOf(uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
}
template <class T>
T Stored(double x) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(x);
  } else {
    return NearestBf16(x);
  }
}
bool AreSame(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}
bool AreSame(uint16_t a, uint16_t b) {
  return (std::isnan(NumberOf(a)) && std::isnan(NumberOf(b))) || a == b;
}

// Lines enough to be scanned together, of numbers that are hard to round: subnormal, around the largest ones, ties.
template <class T>
void CheckRunningNumbers(bool is_product, bool is_exclusive, bool is_in_place, const char* isa) {
  constexpr int64_t kLines = 14;
  constexpr int64_t kLength = 293;
  RandomNumbers random(static_cast<uint64_t>(is_product) * 2 + sizeof(T));
  std::vector<T> values;
  for (int64_t i = 0; i < kLines * kLength; ++i) {
    const int64_t line = i / kLength;
    const double unit =
        is_product      ? std::ldexp(1.0, static_cast<int>(random.Between(-8, -5)) - (line % 4 == 0 ? 2 : 0))
        : line % 4 == 0 ? 0x1p-141
        : line % 4 == 1 ? 0x1p119
        : line % 4 == 2 ? std::ldexp(1.0, static_cast<int>(random.Between(-16, 0)))
                        : 0x1p-133;
    const auto digits = static_cast<double>(random.Between(-255, 255));
    double x = digits * unit;
    if (is_product && digits == 0) x = 1;
    if (line == 7 && i % kLength == 200) x = std::numeric_limits<double>::infinity();
    if (line == 9 && i % kLength == 50) x = std::numeric_limits<double>::quiet_NaN();
    if (line == 10) x = -0.0;
    values.push_back(Stored<T>(x));
  }
  Held<T> self{values, {kLines, kLength}};
  Held<T> out{std::vector<T>(values.size()), {kLines, kLength}};
  std::vector<T>& results = is_in_place ? self.values : out.values;
  Call call("2", isa);
  aclTensor* const in = self.Make();
  aclTensor* const result = out.Make();
  int64_t one = 1;
  aclScalar* const dim = aclCreateScalar(&one, ACL_INT64);
  if (is_product && is_in_place) {
    call([&](auto* size,
             auto* executor) { return aclnnInplaceCumprodGetWorkspaceSize(in, dim, size, executor); },
         aclnnInplaceCumprod);
  } else if (is_product) {
    call(
        [&](auto* size, auto* executor) {
          return aclnnCumprodGetWorkspaceSize(in, dim, kDtypeOf<T>, result, size, executor);
        },
        aclnnCumprod);
  } else {
    call(
        [&](auto* size, auto* executor) {
          return aclnnCumsumV2GetWorkspaceSize(in, 1, is_exclusive, false, is_in_place ? in : result, size,
                                               executor);
        },
        aclnnCumsumV2);
  }
  aclDestroyScalar(dim);
  aclDestroyTensor(in);
  aclDestroyTensor(result);
  for (int64_t line = 0; line < kLines; ++line) {
    double running = is_product ? 1 : 0;
    for (int64_t i = 0; i < kLength; ++i) {
      const auto at = static_cast<size_t>(line * kLength + i);
      const double before = running;
      const double x = NumberOf(values[at]);
      running = is_product ? running * x : running + x;
      const T expected = Stored<T>(is_exclusive ? before : running);
      ASSERT_TRUE(AreSame(results[at], expected))
          << "line " << line << ", term " << i << ": " << NumberOf(results[at]) << ", expected "
          << NumberOf(expected);
    }
  }
}

TEST(ReductionOrders, RunningSumsAndProductsOfLines) {
  for (const engine::Isa each : engine::SupportedIsas()) {
    const char* const isa = engine::IsaName(each);
    for (const int what : {0, 1, 2, 3, 4, 5}) {
      SCOPED_TRACE(std::string(isa) + ", call " + std::to_string(what));
      CheckRunningNumbers<float>(what >= 4, what == 1 || what == 3, what == 2 || what == 3 || what == 5, isa);
      CheckRunningNumbers<uint16_t>(what >= 4, what == 1 || what == 3, what == 2 || what == 3 || what == 5,
                                    isa);
    }
  }
}

double LogSumExpOf(std::vector<float> values) {
  Held<float> self{std::move(values), {}};
  self.shape = {static_cast<int64_t>(self.values.size())};
  Held<float> out{{0}, {}};
  Call call;
  aclTensor* const in = self.Make();
  aclTensor* const result = out.Make();
  aclIntArray* const array = ArrayOf({0});
  call(
      [&](auto* size, auto* executor) {
        return aclnnLogSumExpGetWorkspaceSize(in, array, false, result, size, executor);
      },
      aclnnLogSumExp);
  aclDestroyIntArray(array);
  aclDestroyTensor(in);
  aclDestroyTensor(result);
  return static_cast<double>(out.values[0]);
}

TEST(ReductionOrders, LogSumExp) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(LogSumExpOf({3.0f}), 3);
  EXPECT_NEAR(LogSumExpOf({1.0f, 2.0f, 3.0f}), 3.4076059644443806, 5e-7);
  EXPECT_NEAR(LogSumExpOf({1000.0f, 1000.0f}), 1000.6931471805599, 1e-4);
  EXPECT_EQ(LogSumExpOf({-kInfinity, -kInfinity}), -static_cast<double>(kInfinity));
  EXPECT_EQ(LogSumExpOf({-kInfinity, 2.0f}), 2);
  EXPECT_EQ(LogSumExpOf({1.0f, kInfinity}), static_cast<double>(kInfinity));
  EXPECT_TRUE(std::isnan(LogSumExpOf({1.0f, std::numeric_limits<float>::quiet_NaN()})));
  const std::vector<float> many(100000, 0.5f);
  EXPECT_NEAR(LogSumExpOf(many), 0.5 + std::log(1e5), 2e-6);
}

TEST(ReductionOrders, PowersOfNorms) {
  const std::vector<float> values = Numbers(1000, 9);
  for (const double order : {3.0, 0.5, -1.0, 1.5}) {
    Held<float> self{values, {1000}};
    Held<float> out{{0}, {}};
    Call call;
    aclTensor* const in = self.Make();
    aclTensor* const result = out.Make();
    aclIntArray* const array = ArrayOf({});
    double given = order;
    aclScalar* const ord = aclCreateScalar(&given, ACL_DOUBLE);
    call(
        [&](auto* size, auto* executor) {
          return aclnnLinalgVectorNormGetWorkspaceSize(in, ord, array, false, ACL_FLOAT, result, size,
                                                       executor);
        },
        aclnnLinalgVectorNorm);
    long double sum = 0;
    for (const float value : values)
      sum += std::pow(static_cast<long double>(std::fabs(value)), static_cast<long double>(order));
    const auto expected = static_cast<double>(std::pow(sum, 1 / static_cast<long double>(order)));
    EXPECT_NEAR(static_cast<double>(out.values[0]), expected, 1e-6 * expected) << order;
    aclDestroyScalar(ord);
    aclDestroyIntArray(array);
    aclDestroyTensor(in);
    aclDestroyTensor(result);
  }
}

TEST(ReductionOrders, LogarithmsOfSums) {
  Held<float> self{{1, 2, 4, -1, 1, 0, -3, 1, 1}, {3, 3}};
  Held<float> out{{5, 5, 5}, {3}};
  Call call;
  aclTensor* const in = self.Make();
  aclTensor* const result = out.Make();
  aclIntArray* const array = ArrayOf({1});
  call(
      [&](auto* size, auto* executor) {
        return aclnnReduceLogSumGetWorkspaceSize(in, array, false, false, result, size, executor);
      },
      aclnnReduceLogSum);
  EXPECT_FLOAT_EQ(out.values[0], std::log(7.0f));
  EXPECT_EQ(out.values[1], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(out.values[2]));
  aclDestroyIntArray(array);
  aclDestroyTensor(in);
  aclDestroyTensor(result);
}

}  // namespace
}  // namespace portacl::testing
