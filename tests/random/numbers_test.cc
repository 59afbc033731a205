// Random numbers, bit for bit: against Philox of the tests' own, on every instruction set, for several numbers of threads and layouts,
// and against committed hashes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "aclnnop/families/random.h"
#include "determinism/cases.h"
#include "gtest/gtest.h"
#include "random/philox.h"
#include "random/random_calls.h"
#include "support/numeric_suite.h"

namespace portacl::testing {
namespace {

// The published vectors: counters and keys of zeros, of ones, of digits of pi.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(Philox({0, 0, 0, 0}, {0, 0}), (Words4{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  EXPECT_EQ(Philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Words4{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
  EXPECT_EQ(Philox({0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}, {0xA4093822, 0x299F31D0}),
            (Words4{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

__extension__ typedef unsigned __int128 Wide;

constexpr int64_t kSeed = 0x1234567'89ABCDEF;
constexpr int64_t kOffset = 0x7'FFFFFFFC;  // its low half overflows within a call
constexpr Layout kLayouts[] = {Layout::kDense, Layout::kNegative, Layout::kStepped, Layout::kMixed,
                               Layout::kPermuted};

template <class T>
Element ElementOf(T value) {
  Element element(sizeof value);
  std::memcpy(element.data(), &value, sizeof value);
  return element;
}

float Unit24(int64_t element) { return static_cast<float>(WordOf(kSeed, kOffset, element) >> 8) * 0x1p-24f; }
double Unit53(int64_t element) {
  return WordOf(kSeed, kOffset, element) / 2 * 0x1p-31 + (WordOf(kSeed, kOffset, element, 1) >> 10) * 0x1p-53;
}

class RandomNumbersOn : public ::testing::TestWithParam<engine::Isa> {
 protected:
  // With each number of threads.
  void ForThreads(const std::function<void()>& body) {
    for (const int threads : {1, 2, 7}) {
      ScopedEnvironment environment(Variables{{"PORTACL_ISA", engine::IsaName(GetParam())},
                                              {"PORTACL_NUM_THREADS", std::to_string(threads)}});
      stream_ = environment.stream();
      body();
      if (HasFatalFailure()) return;
    }
  }
  void Run(const CFunction& function, const std::vector<Argument>& arguments) {
    const CallResult result = CallOf(function, arguments, stream_);
    ASSERT_TRUE(result.Succeeded()) << function.name << ": " << result.message;
    EXPECT_TRUE(result.fp_state_kept);
  }
  // Every element against what it has to be.
  void Compare(const HostTensor& found, const std::function<Element(int64_t)>& expected) {
    for (int64_t i = 0; i < found.size(); ++i) {
      ASSERT_TRUE(IsSameElement(found.dtype(), found.Element(i), expected(i)))
          << DtypeName(found.dtype()) << ToString(found.shape()) << " element " << i;
    }
    ASSERT_TRUE(found.UnchangedOutsideView());
  }

  aclrtStream stream_ = nullptr;
};

const std::vector<Shape> kShapes = {{}, {1}, {5}, {513}, {3, 5, 7}, {40, 1031}};

TEST_P(RandomNumbersOn, Uniform) {
  const std::pair<double, double> bounds[] = {{0, 1},     {-3.5, 17.25}, {0, 1e-44},        {-2, 0},
                                              {2.5, 2.5}, {-3e38, 3e38}, {1, 1.0009765625}, {0, 100}};
  ForThreads([&] {
    uint64_t number = 0;
    for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT8, ACL_UINT8,
                                    ACL_INT16, ACL_INT32, ACL_INT64}) {
      for (const auto& [from, to] : bounds) {
        if (dtype != ACL_FLOAT && dtype != ACL_BF16 && to > 1e38) continue;
        if (IsIntegerDtype(dtype) && from < -100) continue;
        ++number;
        HostTensor self = MakeTensor(dtype, kShapes[number % kShapes.size()],
                                     kLayouts[number % std::size(kLayouts)], number);
        self.Remember();
        Run(PORTACL_C_FUNCTION(aclnnInplaceUniform),
            {Tensor(self), Real(from), Real(to), Whole(kSeed), Whole(kOffset)});
        const bool is_wide = dtype == ACL_DOUBLE || IsIntegerDtype(dtype);
        const auto rounded = [&](double value) {
          return is_wide ? value
                         : static_cast<double>(
                               NumberOf(dtype, ConvertedElement(ACL_DOUBLE, ElementOf(value), dtype).data())
                                   .real);
        };
        const double low = rounded(from);
        const double high = rounded(to);
        Compare(self, [&](int64_t i) {
          Element value;
          if (is_wide) {
            const double x = std::fma(Unit53(i), high - low, low);
            value = ConvertedElement(ACL_DOUBLE, ElementOf(x >= high ? low : x), dtype);
          } else {
            const auto step = static_cast<float>(high) - static_cast<float>(low);
            float x = std::fma(Unit24(i), step, static_cast<float>(low));
            if (std::isinf(step))
              x = 2 * std::fma(Unit24(i), static_cast<float>(high) / 2 - static_cast<float>(low) / 2,
                               static_cast<float>(low) / 2);
            value = ConvertedElement(ACL_FLOAT, ElementOf(x), dtype);
            // What is rounded to the open end is the other end.
            if (static_cast<double>(NumberOf(dtype, value.data()).real) >= high)
              value = ConvertedElement(ACL_DOUBLE, ElementOf(low), dtype);
          }
          return value;
        });
      }
    }
  });
}

// Every number that f16 and bf16 have between 1 and 2 as open end: it never comes, whatever the last bits.
TEST_P(RandomNumbersOn, UniformNeverReachesItsEnd) {
  ScopedEnvironment environment(Variables{{"PORTACL_ISA", engine::IsaName(GetParam())}});
  stream_ = environment.stream();
  for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16, ACL_FLOAT}) {
    for (const double to : {1.0, 1.0078125, 1.015625, 2.0, 1e-7, 65504.0, -0.5, 0.0}) {
      HostTensor self = MakeTensor(dtype, {20000});
      const double from = to - std::max(std::abs(to), 1e-6) * 0.05;
      Run(PORTACL_C_FUNCTION(aclnnInplaceUniform), {Tensor(self), Real(from), Real(to), Whole(7), Whole(0)});
      const double end = static_cast<double>(
          NumberOf(dtype, ConvertedElement(ACL_DOUBLE, ElementOf(to), dtype).data()).real);
      for (int64_t i = 0; i < self.size(); ++i) ASSERT_LT(self.Real(i), end) << DtypeName(dtype) << " " << to;
    }
  }
}

// Normal numbers of one element, without mean and deviation, in higher precision.
double NormalOf(DtypeNumber dtype, int64_t element) {
  const int64_t even = element / 2 * 2;
  long double u;
  long double turn;
  if (dtype == ACL_DOUBLE) {
    u = WordOf(kSeed, kOffset, even) / 2 * 0x1p-31L +
        ((WordOf(kSeed, kOffset, even, 1) >> 11) + 0.5L) * 0x1p-52L;
    turn = static_cast<long double>(Unit53(even + 1)) - 0.5L;
  } else {
    u = std::fma(static_cast<float>(static_cast<int32_t>(WordOf(kSeed, kOffset, even) / 2)), 0x1p-31f,
                 0x1p-32f);
    turn = static_cast<int32_t>(WordOf(kSeed, kOffset, even + 1)) * 0x1p-32L;
  }
  const long double radius = std::sqrt(-2 * std::log(u));
  const long double angle = 2 * 3.14159265358979323846264338L * turn;
  return static_cast<double>(radius * (element % 2 == 0 ? std::sin(angle) : std::cos(angle)));
}

TEST_P(RandomNumbersOn, Normal) {
  ForThreads([&] {
    uint64_t number = 0;
    for (const DtypeNumber dtype :
         {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT8, ACL_INT32, ACL_BOOL}) {
      for (const auto& [mean, std] : {std::pair<float, float>{0, 1}, {10, 4}, {-3, 0}, {1e-30f, 1e-40f}}) {
        ++number;
        HostTensor self = MakeTensor(dtype, kShapes[number % kShapes.size()],
                                     kLayouts[number % std::size(kLayouts)], number);
        self.Remember();
        Run(PORTACL_C_FUNCTION(aclnnInplaceNormal),
            {Tensor(self), Real(mean), Real(std), Whole(kSeed), Whole(kOffset)});
        ASSERT_TRUE(self.UnchangedOutsideView());
        const double unit = dtype == ACL_DOUBLE    ? 0x1p-51
                            : dtype == ACL_FLOAT   ? 0x1p-21
                            : dtype == ACL_FLOAT16 ? 0x1p-10
                                                   : 0x1p-7;
        for (int64_t i = 0; i < self.size(); ++i) {
          const double x = static_cast<double>(mean) + static_cast<double>(std) * NormalOf(dtype, i);
          if (dtype == ACL_BOOL) {
            ASSERT_EQ(self.Integer(i), x != 0 ? 1 : 0);
          } else if (IsIntegerDtype(dtype)) {
            ASSERT_NEAR(static_cast<double>(self.Integer(i)), std::trunc(x),
                        std::abs(x - std::round(x)) < 1e-5 ? 1 : 0)
                << x;
          } else {
            ASSERT_NEAR(self.Real(i), x,
                        unit * std::abs(x) + (dtype == ACL_DOUBLE ? 0x1p-49 : 0x1p-19) * std +
                            (dtype == ACL_FLOAT16 ? 0x1p-25 : 1e-38))
                << DtypeName(dtype) << " " << i;
          }
        }
      }
    }
  });
}

// With means and deviations in tensors every element has a z of its own.
TEST_P(RandomNumbersOn, NormalOfTensors) {
  ForThreads([&] {
    for (const DtypeNumber dtype : {ACL_FLOAT, ACL_DOUBLE, ACL_FLOAT16}) {
      HostTensor plain = MakeTensor(dtype == ACL_DOUBLE ? ACL_DOUBLE : ACL_FLOAT, {30, 700});
      Run(PORTACL_C_FUNCTION(aclnnNormalFloatFloat),
          {Real(0), Real(1), Whole(kSeed), Whole(kOffset), Tensor(plain)});
      HostTensor mean = MakeTensor(dtype, {30, 1}, Layout::kStepped);
      HostTensor std = MakeTensor(dtype, {700}, Layout::kNegative);
      for (int64_t i = 0; i < mean.size(); ++i) mean.Set(i, static_cast<double>(i % 5) - 2);
      for (int64_t i = 0; i < std.size(); ++i) std.Set(i, static_cast<double>(i % 3));
      const auto expected = [&](int64_t i, bool own_mean, bool own_std) {
        const double m = own_mean ? static_cast<double>(i / 700 % 5) - 2 : -7;
        const double s = own_std ? static_cast<double>(i % 700 % 3) : 0.5;
        if (dtype == ACL_DOUBLE) return ElementOf(std::fma(plain.Real(i), s, m));
        return ConvertedElement(ACL_FLOAT,
                                ElementOf(std::fma(static_cast<float>(plain.Real(i)), static_cast<float>(s),
                                                   static_cast<float>(m))),
                                dtype);
      };
      HostTensor out = MakeTensor(dtype, {30, 700}, Layout::kMixed);
      out.Remember();
      Run(PORTACL_C_FUNCTION(aclnnNormalTensorTensor),
          {Tensor(mean), Tensor(std), Whole(kSeed), Whole(kOffset), Tensor(out)});
      Compare(out, [&](int64_t i) { return expected(i, true, true); });
      Run(PORTACL_C_FUNCTION(aclnnNormalTensorFloat),
          {Tensor(mean), Real(0.5), Whole(kSeed), Whole(kOffset), Tensor(out)});
      Compare(out, [&](int64_t i) { return expected(i, true, false); });
      HostTensor each = MakeTensor(dtype, {30, 700}, Layout::kPermuted);
      for (int64_t i = 0; i < each.size(); ++i) each.Set(i, static_cast<double>(i % 700 % 3));
      Run(PORTACL_C_FUNCTION(aclnnNormalFloatTensor),
          {Real(-7), Tensor(each), Whole(kSeed), Whole(kOffset), Tensor(out)});
      Compare(out, [&](int64_t i) { return expected(i, false, true); });
    }
  });
}

TEST_P(RandomNumbersOn, Integers) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const std::pair<int64_t, int64_t> bounds[] = {{0, 2},
                                                {0, 10},
                                                {-5, 5},
                                                {3, 4},
                                                {0, int64_t{1} << 32},
                                                {0, (int64_t{1} << 32) + 1},
                                                {kMin, kMax},
                                                {kMax - 1, kMax},
                                                {kMin, kMin + 1},
                                                {-(int64_t{1} << 40), int64_t{1} << 50}};
  ForThreads([&] {
    uint64_t number = 0;
    for (const DtypeNumber dtype :
         {ACL_INT64, ACL_INT32, ACL_UINT8, ACL_INT8, ACL_INT16, ACL_FLOAT, ACL_DOUBLE, ACL_COMPLEX64}) {
      for (const auto& [from, to] : bounds) {
        const bool has_digits = !IsIntegerDtype(dtype) && (to > 100 || from < -100);
        if (has_digits) continue;  // tested below
        ++number;
        HostTensor self = MakeTensor(dtype, kShapes[number % kShapes.size()],
                                     kLayouts[number % std::size(kLayouts)], number);
        self.Remember();
        Run(PORTACL_C_FUNCTION(aclnnInplaceRandom),
            {Tensor(self), Whole(from), Whole(to), Whole(kSeed), Whole(kOffset)});
        const auto count = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
        Compare(self, [&](int64_t i) {
          const auto word = [&](int step) { return uint64_t{WordOf(kSeed, kOffset, i, step)}; };
          uint64_t chosen = static_cast<uint64_t>(Wide{word(0) << 32 | word(1)} * count >> 64);
          if (count > uint64_t{1} << 32) {
            // 128 bits times 64, of which the highest 64 are left.
            const uint64_t low = static_cast<uint64_t>(Wide{word(2) << 32 | word(3)} * count >> 64);
            chosen = static_cast<uint64_t>((Wide{word(0) << 32 | word(1)} * count + low) >> 64);
          }
          return ConvertedElement(
              ACL_INT64, ElementOf(static_cast<int64_t>(static_cast<uint64_t>(from) + chosen)), dtype);
        });
      }
    }
  });
}

// Bounds that a floating dtype does not have move inward: no number is outside of them.
TEST_P(RandomNumbersOn, IntegersOfFloatingTypesStayInside) {
  ScopedEnvironment environment(Variables{{"PORTACL_ISA", engine::IsaName(GetParam())}});
  stream_ = environment.stream();
  const std::pair<int64_t, int64_t> bounds[] = {{-4095, 4095}, {2049, 2090}, {-100001, 100001},
                                                {0, 70000},    {-70000, -1}, {257, 1000}};
  for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16, ACL_FLOAT, ACL_DOUBLE}) {
    for (const auto& [from, to] : bounds) {
      HostTensor self = MakeTensor(dtype, {5000});
      Run(PORTACL_C_FUNCTION(aclnnInplaceRandom), {Tensor(self), Whole(from), Whole(to), Whole(3), Whole(0)});
      for (int64_t i = 0; i < self.size(); ++i) {
        ASSERT_GE(self.Real(i), static_cast<double>(from)) << DtypeName(dtype);
        ASSERT_LT(self.Real(i), static_cast<double>(to)) << DtypeName(dtype);
        ASSERT_TRUE(std::isfinite(self.Real(i)));
      }
    }
  }
  // Without bounds all numbers of the type come, its greatest too; with those of random_() both truths.
  HostTensor bytes = MakeTensor(ACL_UINT8, {20000});
  Run(PORTACL_C_FUNCTION(aclnnInplaceRandomWithoutFromTo), {Tensor(bytes), Whole(3), Whole(0)});
  std::vector<int> seen(256);
  for (int64_t i = 0; i < bytes.size(); ++i) ++seen[static_cast<size_t>(bytes.Integer(i))];
  for (const int times : seen) EXPECT_GT(times, 0);
  HostTensor truths = MakeTensor(ACL_BOOL, {1000});
  for (const bool has_bounds : {true, false}) {
    if (has_bounds) {
      Run(PORTACL_C_FUNCTION(aclnnInplaceRandom), {Tensor(truths), Whole(0), Whole(1), Whole(3), Whole(0)});
    } else {
      Run(PORTACL_C_FUNCTION(aclnnInplaceRandomWithoutFromTo), {Tensor(truths), Whole(3), Whole(0)});
    }
    int64_t sum = 0;
    for (int64_t i = 0; i < truths.size(); ++i) sum += truths.Integer(i);
    EXPECT_NEAR(static_cast<double>(sum), 500, 80);
  }
}

TEST_P(RandomNumbersOn, Bernoulli) {
  ForThreads([&] {
    uint64_t number = 0;
    for (const DtypeNumber dtype :
         {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT8, ACL_UINT8, ACL_INT64, ACL_BOOL}) {
      for (const double p : {0.0, 1e-17, 1e-9, 0.25, 0.3, 0.999999, 1 - 1e-17, 1.0, std::nan("")}) {
        ++number;
        HostTensor self = MakeTensor(dtype, kShapes[number % kShapes.size()],
                                     kLayouts[number % std::size(kLayouts)], number);
        HostTensor out = MakeTensor(dtype, self.shape(), kLayouts[number / 3 % std::size(kLayouts)], number);
        const bool in_place = number % 2 == 0;
        HostTensor& drawn = in_place ? self : out;
        drawn.Remember();
        const Scalar prob(p);
        const auto expected = [&](double probability) {
          return [&, probability](int64_t i) {
            const bool is_one = WordOf(kSeed, kOffset, i) * 0x1p-32 < probability;
            return ConvertedElement(ACL_BOOL, ElementOf(is_one), dtype);
          };
        };
        if (in_place) {
          Run(PORTACL_C_FUNCTION(aclnnInplaceBernoulli),
              {Tensor(self), prob.argument(), Whole(kSeed), Whole(kOffset)});
        } else {
          Run(PORTACL_C_FUNCTION(aclnnBernoulli),
              {Tensor(self), prob.argument(), Whole(kSeed), Whole(kOffset), Tensor(out)});
        }
        Compare(drawn, expected(p < 1e-16 ? 0 : p));
        if (in_place) continue;
        // The same in a tensor of one element; of CANN's, one probability for all.
        HostTensor one = MakeTensor(ACL_DOUBLE, {1});
        one.Set(0, p);
        Run(PORTACL_C_FUNCTION(aclnnBernoulliTensor),
            {Tensor(self), Tensor(one), Whole(kSeed), Whole(kOffset), Tensor(out)});
        Compare(out, expected(p));
      }
    }
    HostTensor each = MakeTensor(ACL_FLOAT, {100, 70}, Layout::kPermuted);
    for (int64_t i = 0; i < each.size(); ++i) each.Set(i, static_cast<double>(i % 11) / 8 - 0.125);
    HostTensor self = MakeTensor(ACL_INT32, {100, 70}, Layout::kStepped);
    self.Remember();
    Run(PORTACL_C_FUNCTION(aclnnInplaceBernoulliTensor),
        {Tensor(self), Tensor(each), Whole(kSeed), Whole(kOffset)});
    Compare(self,
            [&](int64_t i) { return ElementOf(WordOf(kSeed, kOffset, i) * 0x1p-32 < each.Real(i) ? 1 : 0); });
  });
}

TEST_P(RandomNumbersOn, Exponential) {
  ForThreads([&] {
    uint64_t number = 0;
    for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
      for (const double lambda : {1.0, 0.3, 1e30, 1e38, std::numeric_limits<double>::infinity()}) {
        ++number;
        HostTensor self = MakeTensor(dtype, kShapes[number % kShapes.size()],
                                     kLayouts[number % std::size(kLayouts)], number);
        Run(PORTACL_C_FUNCTION(aclnnSimThreadExponential),
            {Tensor(self), Whole(self.size()), Real(lambda), Whole(kSeed), Whole(kOffset)});
        const double unit = dtype == ACL_FLOAT ? 0x1p-23 : dtype == ACL_FLOAT16 ? 0x1p-11 : 0x1p-8;
        const double least = dtype == ACL_FLOAT ? 0x1p-149 : dtype == ACL_FLOAT16 ? 0x1p-24 : 0x1p-133;
        for (int64_t i = 0; i < self.size(); ++i) {
          const double u = WordOf(kSeed, kOffset, i) / 2 * 0x1p-31 +
                           ((WordOf(kSeed, kOffset, i, 1) >> 11) + 0.5) * 0x1p-52;
          const double x = -std::log(u) / static_cast<double>(static_cast<float>(lambda));
          if (std::isinf(lambda)) {
            ASSERT_EQ(self.Real(i), 0);
          } else {
            ASSERT_GE(self.Real(i), least);
            ASSERT_NEAR(self.Real(i), x, x * unit + least);
          }
        }
      }
    }
  });
}

// ---- Dropout ----

bool BitOf(const HostTensor& mask, int64_t i) { return (mask.Integer(i / 8) >> (i % 8) & 1) != 0; }

TEST_P(RandomNumbersOn, MasksAreDrawn) {
  ForThreads([&] {
    uint64_t number = 0;
    for (const int64_t n : {1, 127, 128, 129, 5000, 70001}) {
      for (const double p : {0.0, 0.1, 0.5, 0.999, 1.0}) {
        ++number;
        HostTensor mask = MakeTensor(ACL_UINT8, {BytesOfMask(n)}, kLayouts[number % 4], number);
        mask.Remember();
        const Dims dims(n == 5000 ? Shape{50, 2, 50} : Shape{n});
        const bool is_second = number % 2 == 0;
        const DtypeNumber dtype = number % 4 == 0 ? ACL_BF16 : ACL_FLOAT;
        if (is_second) {
          Run(PORTACL_C_FUNCTION(aclnnDropoutGenMaskV2),
              {dims.argument(), Real(p), Whole(kSeed), Whole(kOffset), Whole(dtype), Tensor(mask)});
        } else {
          Run(PORTACL_C_FUNCTION(aclnnDropoutGenMask),
              {dims.argument(), Real(p), Whole(kSeed), Whole(kOffset), Tensor(mask)});
        }
        ASSERT_TRUE(mask.UnchangedOutsideView());
        const double zeroed =
            is_second ? static_cast<double>(
                            NumberOf(dtype, ConvertedElement(ACL_DOUBLE, ElementOf(p), dtype).data()).real)
                      : p;
        for (int64_t i = 0; i < 8 * mask.size(); ++i) {
          const bool kept = p == 0 || (i < n && WordOf(kSeed, kOffset, i) * 0x1p-32 < 1 - zeroed);
          ASSERT_EQ(BitOf(mask, i), kept) << n << " " << p << " " << i;
        }
      }
    }
  });
}

TEST_P(RandomNumbersOn, MasksAreApplied) {
  ForThreads([&] {
    uint64_t number = 0;
    for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
      for (const Shape& shape : {Shape{1}, Shape{257}, Shape{40, 1031}}) {
        for (const double p : {0.0, 0.1, 0.75, 1.0}) {
          ++number;
          RandomNumbers random(number);
          HostTensor in = MakeTensor(dtype, shape, kLayouts[number % std::size(kLayouts)], number);
          FillWithNumbers(in, false, random);
          in.Set(0, std::numeric_limits<double>::infinity());
          HostTensor mask = MakeTensor(ACL_UINT8, {BytesOfMask(in.size())}, kLayouts[number % 4], number);
          for (int64_t i = 0; i < mask.size(); ++i) mask.Set(i, static_cast<double>(random.Below(256)));
          const std::vector<std::byte> before = ElementsOf(in);
          const bool in_place = number % 3 == 0;
          HostTensor other = MakeTensor(dtype, shape, kLayouts[number / 2 % std::size(kLayouts)], number);
          HostTensor& out = in_place ? in : other;
          out.Remember();
          const bool is_backward = number % 2 == 0;
          if (is_backward) {
            const double scale = p == 1 ? 0 : 1 / (1 - p);
            Run(PORTACL_C_FUNCTION(aclnnDropoutBackward),
                {Tensor(in), Tensor(mask), Real(scale), Tensor(out)});
          } else {
            Run(PORTACL_C_FUNCTION(aclnnDropoutDoMask), {Tensor(in), Tensor(mask), Real(p), Tensor(out)});
          }
          const auto size = static_cast<size_t>(ElementSize(dtype));
          const auto kept_element = ConvertedElement(ACL_FLOAT, ElementOf(static_cast<float>(1 - p)), dtype);
          const float scale = 1 / static_cast<float>(NumberOf(dtype, kept_element.data()).real);
          Compare(out, [&](int64_t i) {
            const std::byte* const at = before.data() + static_cast<size_t>(i) * size;
            const auto x = static_cast<float>(NumberOf(dtype, at).real);
            if (p == 0) return Element(at, at + size);
            const bool kept = p < 1 && BitOf(mask, i);
            return ConvertedElement(ACL_FLOAT, ElementOf(kept ? x * scale : 0.0f), dtype);
          });
        }
      }
    }
  });
}

TEST_P(RandomNumbersOn, DropoutDrawsAndApplies) {
  ForThreads([&] {
    uint64_t number = 0;
    for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
      for (const Shape& shape : {Shape{3}, Shape{40, 1031}}) {
        for (const double p : {0.0, 0.1, 1.0}) {
          for (const bool is_third : {false, true}) {
            ++number;
            RandomNumbers random(number);
            HostTensor in = MakeTensor(dtype, shape, kLayouts[number % std::size(kLayouts)], number);
            FillWithNumbers(in, false, random);
            HostTensor out = MakeTensor(dtype, shape, kLayouts[number / 2 % std::size(kLayouts)], number);
            HostTensor mask = MakeTensor(ACL_UINT8, {BytesOfMask(in.size())}, kLayouts[number % 4], number);
            mask.Remember();
            out.Remember();
            if (is_third) {
              Run(PORTACL_C_FUNCTION(aclnnDropoutV3),
                  {Tensor(in), NoTensor(), Real(p), Whole(kSeed), Whole(kOffset), Tensor(out), Tensor(mask)});
            } else {
              Run(PORTACL_C_FUNCTION(aclnnDropout),
                  {Tensor(in), Real(p), Whole(1), Whole(kSeed), Whole(kOffset), Tensor(out), Tensor(mask)});
            }
            ASSERT_TRUE(mask.UnchangedOutsideView());
            if (!is_third && p != 0.1) {
              ASSERT_TRUE(mask.Unchanged());
            } else {
              for (int64_t i = 0; i < 8 * mask.size(); ++i)
                ASSERT_EQ(BitOf(mask, i),
                          p == 0 || (i < in.size() && WordOf(kSeed, kOffset, i) * 0x1p-32 < 1 - p))
                    << i;
            }
            const auto kept_element = ConvertedElement(ACL_FLOAT, ElementOf(static_cast<float>(1 - p)),
                                                       is_third ? ACL_FLOAT : dtype);
            const float scale =
                1 / static_cast<float>(NumberOf(is_third ? ACL_FLOAT : dtype, kept_element.data()).real);
            Compare(out, [&](int64_t i) {
              const auto x = static_cast<float>(NumberOf(dtype, in.Element(i)).real);
              const bool kept = p == 0 || (p < 1 && BitOf(mask, i));
              const float zero = is_third && p < 1 ? x * 0.0f : 0.0f;
              return ConvertedElement(ACL_FLOAT, ElementOf(kept ? x * (p == 0 ? 1 : scale) : zero), dtype);
            });
          }
        }
      }
    }
  });
}

TEST_P(RandomNumbersOn, GradientOfTheThirdForm) {
  const ScopedEnvironment environment(
      Variables{{"PORTACL_ISA", engine::IsaName(GetParam())}, {"PORTACL_SOC", "Ascend950PR_9589"}});
  stream_ = environment.stream();
  HostTensor in = MakeTensor(ACL_FLOAT, {1000});
  for (int64_t i = 0; i < in.size(); ++i)
    in.Set(i, i % 7 == 0 ? std::numeric_limits<double>::infinity() : static_cast<double>(i));
  HostTensor mask = MakeTensor(ACL_UINT8, {BytesOfMask(1000)});
  for (int64_t i = 0; i < mask.size(); ++i) mask.Set(i, static_cast<double>(i * 37 % 256));
  HostTensor out = MakeTensor(ACL_FLOAT, {1000}, Layout::kNegative);
  out.Remember();
  Run(PORTACL_C_FUNCTION(aclnnDropoutV3Grad), {Tensor(in), Tensor(mask), Real(-1.5), Tensor(out)});
  Compare(out, [&](int64_t i) {
    return ElementOf(static_cast<float>(in.Real(i)) * (BitOf(mask, i) ? 1.0f : 0.0f) * -1.5f);
  });
}

// ---- Permutations and samples ----

TEST_P(RandomNumbersOn, Permutations) {
  ForThreads([&] {
    uint64_t number = 0;
    for (const DtypeNumber dtype : {ACL_INT64, ACL_INT32, ACL_FLOAT, ACL_FLOAT16, ACL_UINT8}) {
      for (const int64_t n : {0, 1, 2, 7, 513, 40001}) {
        ++number;
        HostTensor out = MakeTensor(dtype, {n}, kLayouts[number % 4], number);
        out.Remember();
        Run(PORTACL_C_FUNCTION(aclnnRandperm), {Whole(n), Whole(kSeed), Whole(kOffset), Tensor(out)});
        std::vector<int64_t> expected(static_cast<size_t>(n));
        std::iota(expected.begin(), expected.end(), 0);
        for (int64_t i = 0; i < n; ++i) {
          const uint64_t word = uint64_t{WordOf(kSeed, kOffset, i)} << 32 | WordOf(kSeed, kOffset, i, 1);
          const auto step = static_cast<int64_t>(Wide{word} * static_cast<uint64_t>(n - i) >> 64);
          std::swap(expected[static_cast<size_t>(i)], expected[static_cast<size_t>(i + step)]);
        }
        Compare(out, [&](int64_t i) {
          return ConvertedElement(ACL_INT64, ElementOf(expected[static_cast<size_t>(i)]), dtype);
        });
      }
    }
  });
}

TEST_P(RandomNumbersOn, Samples) {
  ForThreads([&] {
    uint64_t number = 0;
    for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE}) {
      for (const auto& [rows, categories] :
           {std::pair<int64_t, int64_t>{1, 1}, {3, 10}, {5, 700}, {2, 5000}}) {
        for (const int64_t samples : {int64_t{1}, int64_t{3}, categories, int64_t{600}}) {
          for (const bool replaces : {false, true}) {
            if (!replaces && samples > categories) continue;
            ++number;
            const bool is_row = rows == 1 && number % 2 == 0;
            HostTensor self = MakeTensor(dtype, is_row ? Shape{categories} : Shape{rows, categories},
                                         kLayouts[number % std::size(kLayouts)], number);
            HostTensor out = MakeTensor(ACL_INT64, is_row ? Shape{samples} : Shape{rows, samples},
                                        kLayouts[number / 2 % std::size(kLayouts)], number);
            for (int64_t i = 0; i < self.size(); ++i)
              self.Set(i, i % 7 == 3 ? -0.5 : i % 5 == 4 ? 0 : static_cast<double>(i % 13 + 1) / 4);
            out.Remember();
            Run(PORTACL_C_FUNCTION(aclnnMultinomial), {Tensor(self), Whole(samples), Whole(replaces ? 1 : 0),
                                                       Whole(kSeed), Whole(kOffset), Tensor(out)});
            ASSERT_TRUE(out.UnchangedOutsideView());
            for (int64_t row = 0; row < rows; ++row) {
              std::vector<double> weights;
              for (int64_t i = 0; i < categories; ++i)
                weights.push_back(std::max(0.0, self.Real(row * categories + i)));
              std::vector<int64_t> expected(static_cast<size_t>(categories));
              std::iota(expected.begin(), expected.end(), 0);
              const int64_t of_row = row * ((categories + 511) / 512 * 512);
              if (!replaces || samples == 1) {
                std::vector<double> keys;
                for (int64_t i = 0; i < categories; ++i) {
                  const int64_t element = of_row + i;
                  const long double u = WordOf(kSeed, kOffset, element) / 2 * 0x1p-31L +
                                        ((WordOf(kSeed, kOffset, element, 1) >> 11) + 0.5L) * 0x1p-52L;
                  keys.push_back(static_cast<double>(
                      static_cast<long double>(weights[static_cast<size_t>(i)]) / -std::log(u)));
                }
                std::stable_sort(expected.begin(), expected.end(), [&](int64_t a, int64_t b) {
                  return keys[static_cast<size_t>(a)] > keys[static_cast<size_t>(b)];
                });
              } else {
                std::vector<double> sums(weights.size());
                std::partial_sum(weights.begin(), weights.end(), sums.begin());
                expected.clear();
                for (int64_t k = 0; k < samples; ++k) {
                  const double target = Unit53(row * ((samples + 511) / 512 * 512) + k) * sums.back();
                  int64_t index = 0;
                  while (index < categories - 1 && sums[static_cast<size_t>(index)] <= target) ++index;
                  expected.push_back(index);
                }
              }
              for (int64_t k = 0; k < samples; ++k)
                ASSERT_EQ(out.Integer(row * samples + k), expected[static_cast<size_t>(k)])
                    << DtypeName(dtype) << " " << categories << " " << samples << " row " << row << " sample "
                    << k;
            }
          }
        }
      }
    }
  });
}

// Callers advance the offset by at least four for each call, whatever its size.
TEST_P(RandomNumbersOn, CallsShareNoNumbers) {
  ScopedEnvironment environment(Variables{{"PORTACL_ISA", engine::IsaName(GetParam())}});
  stream_ = environment.stream();
  std::set<int64_t> seen;
  int64_t drawn = 0;
  for (const int64_t offset : {0, 4, 8, 12, 24}) {
    for (const int64_t count : {20000, 4097}) {
      if (count != 20000 && offset != 0) continue;
      HostTensor self = MakeTensor(ACL_INT64, {count});
      Run(PORTACL_C_FUNCTION(aclnnInplaceRandom),
          {Tensor(self), Whole(std::numeric_limits<int64_t>::min()),
           Whole(std::numeric_limits<int64_t>::max()), Whole(kSeed), Whole(offset)});
      for (int64_t i = 0; i < count; ++i) seen.insert(self.Integer(i));
      if (count == 20000) drawn += count;  // the shorter one begins with the same
    }
  }
  EXPECT_EQ(static_cast<int64_t>(seen.size()), drawn);
}

// ---- Hashes: what the numbers are, from version to version ----

struct Hashed {
  const char* name;
  uint64_t hash;
  DtypeNumber dtype;
  CFunction function;
  std::vector<Argument> before;  // seed and offset
  std::vector<Argument> behind = {};
  bool in_place = true;
};

TEST_P(RandomNumbersOn, Hashes) {
  const Dims dims(Shape{1'120'000});
  const Scalar prob(0.3);
  const Hashed rows[] = {
#include "random/hashes.inc"
  };
  for (const Hashed& row : rows) {
    std::vector<uint64_t> hashes;
    for (const int threads : {1, 2, 7}) {
      ScopedEnvironment environment(Variables{{"PORTACL_ISA", engine::IsaName(GetParam())},
                                              {"PORTACL_NUM_THREADS", std::to_string(threads)}});
      stream_ = environment.stream();
      HostTensor out = MakeTensor(row.dtype, {200, 700}, threads == 1 ? Layout::kDense : Layout::kMixed,
                                  static_cast<uint64_t>(threads));
      if (std::string(row.name) == "Randperm")
        out = MakeTensor(row.dtype, {140000}, threads == 1 ? Layout::kDense : Layout::kStepped);
      std::vector<Argument> arguments = row.before;
      arguments.insert(arguments.end(), {Whole(kSeed), Whole(kOffset)});
      arguments.insert(arguments.end(), row.behind.begin(), row.behind.end());
      arguments.insert(row.in_place ? arguments.begin() : arguments.end(), Tensor(out));
      Run(row.function, arguments);
      hashes.push_back(HashElements(row.dtype, ElementsOf(out)));
    }
    for (const uint64_t hash : hashes) EXPECT_EQ(hash, row.hash) << row.name << std::hex << ": 0x" << hash;
  }
}

// ---- Seeds in tensors ----

TEST_P(RandomNumbersOn, SeedsInTensorsGiveTheSameNumbers) {
  ScopedEnvironment environment(Variables{{"PORTACL_ISA", engine::IsaName(GetParam())}});
  stream_ = environment.stream();
  HostTensor seed = IntegerTensor(ACL_INT64, kSeed);
  HostTensor offset = IntegerTensor(ACL_INT64, kOffset - 400);
  const auto same = [&](const CFunction& plain, const CFunction& by_tensor, DtypeNumber dtype,
                        const Shape& shape, const std::vector<Argument>& first,
                        const std::vector<Argument>& behind, bool in_place) {
    HostTensor one = MakeTensor(dtype, shape, Layout::kStepped);
    HostTensor other = MakeTensor(dtype, shape, Layout::kNegative);
    std::vector<Argument> arguments = first;
    std::vector<Argument> tensor_arguments = first;
    arguments.insert(arguments.end(), {Whole(kSeed), Whole(kOffset)});
    tensor_arguments.insert(tensor_arguments.end(), {Tensor(seed), Tensor(offset), Whole(400)});
    for (auto* list : {&arguments, &tensor_arguments})
      list->insert(list->end(), behind.begin(), behind.end());
    arguments.insert(in_place ? arguments.begin() : arguments.end(), Tensor(one));
    tensor_arguments.insert(in_place ? tensor_arguments.begin() : tensor_arguments.end(), Tensor(other));
    one.Remember();
    Run(plain, arguments);
    Run(by_tensor, tensor_arguments);
    Compare(one, [&](int64_t i) { return Element(other.Element(i), other.Element(i) + ElementSize(dtype)); });
  };
  const Dims dims(Shape{5000});
  same(PORTACL_C_FUNCTION(aclnnInplaceUniform), PORTACL_C_FUNCTION(aclnnInplaceUniformTensor), ACL_FLOAT,
       {5000}, {Real(0), Real(1)}, {}, true);
  same(PORTACL_C_FUNCTION(aclnnInplaceNormal), PORTACL_C_FUNCTION(aclnnInplaceNormalTensor), ACL_FLOAT16,
       {5000}, {Real(0), Real(1)}, {}, true);
  same(PORTACL_C_FUNCTION(aclnnInplaceRandom), PORTACL_C_FUNCTION(aclnnInplaceRandomTensor), ACL_INT32,
       {5000}, {Whole(0), Whole(1000000)}, {}, true);
  same(PORTACL_C_FUNCTION(aclnnInplaceRandomWithoutFromTo),
       PORTACL_C_FUNCTION(aclnnInplaceRandomWithoutFromToTensor), ACL_INT32, {5000}, {}, {}, true);
  HostTensor weights = MakeTensor(ACL_FLOAT, {5000});
  for (int64_t i = 0; i < weights.size(); ++i) weights.Set(i, static_cast<double>(i % 7));
  for (const int64_t replaces : {0, 1})
    same(PORTACL_C_FUNCTION(aclnnMultinomial), PORTACL_C_FUNCTION(aclnnMultinomialTensor), ACL_INT64, {50},
         {Tensor(weights), Whole(50), Whole(replaces)}, {}, false);
  same(PORTACL_C_FUNCTION(aclnnDropoutGenMaskV2), PORTACL_C_FUNCTION(aclnnDropoutGenMaskV2Tensor), ACL_UINT8,
       {BytesOfMask(5000)}, {dims.argument(), Real(0.3)}, {Whole(ACL_FLOAT)}, false);
}

INSTANTIATE_TEST_SUITE_P(On, RandomNumbersOn, ::testing::ValuesIn(IsasToTest()),
                         [](const ::testing::TestParamInfo<engine::Isa>& isa) {
                           return std::string(engine::IsaName(isa.param));
                         });

}  // namespace
}  // namespace portacl::testing
