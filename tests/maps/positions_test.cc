// What depends on where an element stands: sequences, the unit matrix, triangles.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>

#include "aclnnop/families/creation.h"
#include "aclnnop/families/shape.h"
#include "support/c_function.h"
#include "support/map_suite.h"
#include "support/map_values.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

class Positions : public ::testing::TestWithParam<engine::Isa> {
 protected:
  void SetUp() override {
    environment_ = std::make_unique<ScopedEnvironment>(
        Variables{{"PORTACL_ISA", engine::IsaName(GetParam())}, {"PORTACL_NUM_THREADS", "2"}});
  }
  void TearDown() override { environment_.reset(); }

  CallResult Call(const CFunction& function, const std::vector<Argument>& arguments) {
    OperatorBinding binding;
    binding.name = function.name;
    binding.plan = [&](std::span<aclTensor* const>, const Attributes&, uint64_t* size,
                       aclOpExecutor** executor) { return function.plan(arguments, size, executor); };
    binding.run = function.run;
    return CallTwoPhase(binding, {}, {}, environment_->stream());
  }

  std::unique_ptr<ScopedEnvironment> environment_;
};

Argument Tensor(HostTensor& tensor) { return {.tensor = tensor.Handle()}; }
Argument Whole(int64_t number) { return {.integer = number}; }

class Scalar {
 public:
  explicit Scalar(double value) : scalar_(aclCreateScalar(&value, ACL_DOUBLE)) {}
  explicit Scalar(int64_t value) : scalar_(aclCreateScalar(&value, ACL_INT64)) {}
  ~Scalar() { aclDestroyScalar(scalar_); }
  Scalar(const Scalar&) = delete;
  Scalar& operator=(const Scalar&) = delete;
  Argument argument() const { return {.scalar = scalar_}; }

 private:
  aclScalar* scalar_;
};

constexpr Layout kLayouts[] = {Layout::kDense, Layout::kNegative, Layout::kStepped, Layout::kMixed};

TEST_P(Positions, SequencesFollowTheIndexWhateverTheStrides) {
  RandomNumbers random(0x5E);
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT32, ACL_INT64}) {
    for (const int64_t length : {1, 2, 3, 17, 64, 1001}) {
      for (const Layout layout : kLayouts) {
        for (const double step : {2.0, 0.3, -3.0}) {
          if (IsIntegerDtype(dtype) && step != std::trunc(step)) continue;
          HostTensor out(dtype, MakeView({length}, layout, random));
          out.Remember();
          const Scalar start(5.0);
          const Scalar end(5.0 + step * static_cast<double>(length));
          const Scalar by(step);
          const CallResult result = Call(PORTACL_C_FUNCTION(aclnnArange),
                                         {start.argument(), end.argument(), by.argument(), Tensor(out)});
          ASSERT_TRUE(result.Succeeded()) << result.message;
          for (int64_t i = 0; i < length; ++i) {
            // One fused step of the rounded numbers, in float32 or float64.
            const double value =
                dtype == ACL_DOUBLE || IsIntegerDtype(dtype)
                    ? std::fma(static_cast<double>(i), step, 5.0)
                    : static_cast<double>(std::fma(static_cast<float>(i), static_cast<float>(step), 5.0f));
            const Element expected = ElementOfNumber(dtype, {static_cast<long double>(value), 0});
            ASSERT_TRUE(IsSameElement(dtype, out.Element(i), expected))
                << DtypeName(dtype) << " " << i << " of " << length << ", " << LayoutName(layout);
          }
          ASSERT_TRUE(out.UnchangedOutsideView());
        }
      }
    }
  }
}

TEST_P(Positions, RangesAreOfFloat64) {
  RandomNumbers random(0xC105);
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT32}) {
    for (const Shape& shape :
         {Shape{1}, Shape{3}, Shape{64}, Shape{1001}, Shape{3, 5, 7}, Shape{2, 1, 130, 2}}) {
      for (const Layout layout : kLayouts) {
        for (const auto& [first, step] :
             {std::pair{5.0, 2.0}, std::pair{0.1, 0.3}, std::pair{-0.7, -0.7}, std::pair{-9.5, 0.26},
              // More digits than float32 has.
              std::pair{16777216.5, 1.0}, std::pair{-268435457.0, 0.75}, std::pair{1 + 0x1p-40, 0x1p-26}}) {
          const bool leads = dtype != ACL_INT32 || std::trunc(step) != 0;
          if (!leads) continue;  // of integers that is no step
          HostTensor out(dtype, MakeView(shape, layout, random));
          out.Remember();
          const Scalar start(first);
          const Scalar end(first + step * static_cast<double>(out.size()));
          const Scalar by(step);
          const CallResult result = Call(PORTACL_C_FUNCTION(aclnnRange),
                                         {start.argument(), end.argument(), by.argument(), Tensor(out)});
          ASSERT_TRUE(result.Succeeded()) << result.message;
          for (int64_t i = 0; i < out.size(); ++i) {
            // Rounded or truncated once.
            const double value = std::fma(static_cast<double>(i), step, first);
            const Element expected = ElementOfNumber(dtype, {static_cast<long double>(value), 0});
            ASSERT_TRUE(IsSameElement(dtype, out.Element(i), expected))
                << DtypeName(dtype) << ToString(shape) << " " << i << " from " << first << " by " << step
                << ", " << LayoutName(layout);
          }
          ASSERT_TRUE(out.UnchangedOutsideView());
        }
      }
    }
  }
}

TEST_P(Positions, IntegersOfRangesAreCutAfterTheStep) {
  RandomNumbers random(0xC07);
  HostTensor out(ACL_INT32, MakeView({9}, Layout::kNegative, random));
  const Scalar start(-5.75);
  const Scalar end(10.0);
  const Scalar by(1.5);
  const CallResult result =
      Call(PORTACL_C_FUNCTION(aclnnRange), {start.argument(), end.argument(), by.argument(), Tensor(out)});
  ASSERT_TRUE(result.Succeeded()) << result.message;
  constexpr int64_t kExpected[] = {-5, -4, -2, -1, 0, 1, 3, 4, 6};
  for (int64_t i = 0; i < 9; ++i) EXPECT_EQ(out.Integer(i), kExpected[i]);
}

TEST_P(Positions, WholeNumbersAreExact) {
  RandomNumbers random(0x1234);
  const int64_t far = (int64_t{1} << 62) + 12345;
  for (const bool closed : {true, false}) {
    for (const Layout layout : kLayouts) {
      for (const auto& [first, step] :
           {std::pair{far, int64_t{3}}, std::pair{-far, int64_t{-7}}, std::pair{int64_t{1} << 53, int64_t{1}},
            std::pair{int64_t{-3}, (int64_t{1} << 52) + 1}}) {
        HostTensor out(ACL_INT64, MakeView({301}, layout, random));
        out.Remember();
        const Scalar start(first);
        const Scalar end(step > 0 ? std::numeric_limits<int64_t>::max()
                                  : std::numeric_limits<int64_t>::min());
        const Scalar by(step);
        const CallResult result =
            Call(closed ? PORTACL_C_FUNCTION(aclnnRange) : PORTACL_C_FUNCTION(aclnnArange),
                 {start.argument(), end.argument(), by.argument(), Tensor(out)});
        ASSERT_TRUE(result.Succeeded()) << result.message;
        for (int64_t i = 0; i < 301; ++i)
          ASSERT_EQ(out.Integer(i), first + i * step) << i << LayoutName(layout);
        ASSERT_TRUE(out.UnchangedOutsideView());
      }
    }
    // Scalars that are none are cut first.
    HostTensor out(ACL_INT64, MakeView({50}, Layout::kStepped, random));
    const Scalar start(-2.9);
    const Scalar end(100.0);
    const Scalar by(1.9);
    const CallResult result = Call(closed ? PORTACL_C_FUNCTION(aclnnRange) : PORTACL_C_FUNCTION(aclnnArange),
                                   {start.argument(), end.argument(), by.argument(), Tensor(out)});
    ASSERT_TRUE(result.Succeeded()) << result.message;
    for (int64_t i = 0; i < 50; ++i) ASSERT_EQ(out.Integer(i), i - 2);
  }
}

TEST_P(Positions, SequencesGoOnWherePlacesAreNoFloats) {
  RandomNumbers unused(0);
  const int64_t length = (int64_t{1} << 24) + 2001;
  for (const bool closed : {true, false}) {
    const DtypeNumber dtype = closed ? ACL_BF16 : ACL_FLOAT;
    HostTensor out(dtype, MakeView({length}, Layout::kDense, unused));
    const double first = 0.3;
    const double step = 0x1.8p-3;
    const Scalar start(first);
    const Scalar end(1e9);
    const Scalar by(step);
    const CallResult result = Call(closed ? PORTACL_C_FUNCTION(aclnnRange) : PORTACL_C_FUNCTION(aclnnArange),
                                   {start.argument(), end.argument(), by.argument(), Tensor(out)});
    ASSERT_TRUE(result.Succeeded()) << result.message;
    const double from = closed ? first : static_cast<double>(static_cast<float>(first));
    for (int64_t i = length - 5000; i < length; ++i) {
      // The product is exact, and the sum has less than 64 digits.
      const long double value =
          static_cast<long double>(i) * static_cast<long double>(step) + static_cast<long double>(from);
      const long double rounded = closed ? static_cast<long double>(static_cast<double>(value))
                                         : static_cast<long double>(static_cast<float>(value));
      ASSERT_TRUE(IsSameElement(dtype, out.Element(i), ElementOfNumber(dtype, {rounded, 0}))) << i;
    }
  }
}

TEST_P(Positions, LinspaceWorksFromBothEnds) {
  RandomNumbers random(0x11);
  for (const DtypeNumber dtype :
       {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64}) {
    for (const int64_t steps : {1, 2, 3, 10, 101, 1000}) {
      for (const Layout layout : kLayouts) {
        for (const auto& [first, last] :
             {std::pair{-3.7, 11.3}, std::pair{120.9, 3.2}, std::pair{2.0, 2.0}}) {
          if (dtype == ACL_UINT8 && first < 0) continue;
          HostTensor out(dtype, MakeView({steps}, layout, random));
          out.Remember();
          const Scalar start(first);
          const Scalar end(last);
          const CallResult result = Call(PORTACL_C_FUNCTION(aclnnLinspace),
                                         {start.argument(), end.argument(), Whole(steps), Tensor(out)});
          ASSERT_TRUE(result.Succeeded()) << result.message;
          // One fused step from the nearer end, of float32 or float64; of integers between whole bounds, and cut.
          const auto number = [&](auto zero, int64_t i) {
            using T = decltype(zero);
            const bool is_whole = IsIntegerDtype(dtype);
            const T a = static_cast<T>(is_whole ? std::trunc(first) : first);
            const T b = static_cast<T>(is_whole ? std::trunc(last) : last);
            if (steps == 1) return static_cast<double>(a);
            const T step = (b - a) / static_cast<T>(steps - 1);
            return static_cast<double>(i < steps / 2 ? std::fma(static_cast<T>(i), step, a)
                                                     : std::fma(static_cast<T>(i + 1 - steps), step, b));
          };
          const bool is_single = dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16;
          for (int64_t i = 0; i < steps; ++i) {
            const double value = is_single ? number(0.0f, i) : number(0.0, i);
            const Element expected = ElementOfNumber(dtype, {static_cast<long double>(value), 0});
            ASSERT_TRUE(IsSameElement(dtype, out.Element(i), expected))
                << DtypeName(dtype) << " " << i << " of " << steps << " from " << first;
          }
          ASSERT_TRUE(out.UnchangedOutsideView());
        }
      }
    }
  }
}

TEST_P(Positions, UnitMatrix) {
  RandomNumbers random(0xE1E);
  for (const DtypeNumber dtype :
       {ACL_FLOAT, ACL_INT32, ACL_FLOAT16, ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT64, ACL_BOOL, ACL_BF16}) {
    for (const Shape& shape : {Shape{1, 1}, Shape{5, 9}, Shape{70, 33}}) {
      for (const Layout layout : kLayouts) {
        HostTensor out(dtype, MakeView(shape, layout, random));
        out.Remember();
        const CallResult result =
            Call(PORTACL_C_FUNCTION(aclnnEye), {Whole(shape[0]), Whole(shape[1]), Tensor(out)});
        ASSERT_TRUE(result.Succeeded()) << result.message;
        for (int64_t i = 0; i < out.size(); ++i)
          ASSERT_EQ(NumberOf(dtype, out.Element(i)).real, i / shape[1] == i % shape[1] ? 1 : 0)
              << DtypeName(dtype);
        ASSERT_TRUE(out.UnchangedOutsideView());
      }
    }
  }
}

TEST_P(Positions, TrianglesKeepTheirHalfAndClearTheOther) {
  RandomNumbers random(0x7217);
  for (const DtypeNumber dtype :
       {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT8, ACL_INT64, ACL_UINT16, ACL_BOOL}) {
    for (const Shape& shape : {Shape{1, 1}, Shape{4, 7}, Shape{2, 3, 40, 9}, Shape{65, 70}, Shape{3, 0}}) {
      for (const int64_t diagonal :
           {int64_t{0}, int64_t{1}, int64_t{-2}, int64_t{5}, int64_t{1} << 40, -(int64_t{1} << 62),
            std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
        for (const bool is_upper : {true, false}) {
          const bool in_place = random.Chance(30);
          HostTensor self(dtype,
                          MakeView(shape, in_place ? Layout::kMixed : kLayouts[random.Below(4)], random));
          HostTensor other(dtype, MakeView(shape, kLayouts[random.Below(4)], random));
          HostTensor& out = in_place ? self : other;
          FillWithNumbers(self, false, random);
          const std::vector<std::byte> before = ElementsOf(self);
          out.Remember();
          std::vector<Argument> arguments = {Tensor(self), Whole(diagonal)};
          if (!in_place) arguments.push_back(Tensor(out));
          const CFunction function =
              in_place
                  ? (is_upper ? PORTACL_C_FUNCTION(aclnnInplaceTriu) : PORTACL_C_FUNCTION(aclnnInplaceTril))
                  : (is_upper ? PORTACL_C_FUNCTION(aclnnTriu) : PORTACL_C_FUNCTION(aclnnTril));
          const CallResult result = Call(function, arguments);
          ASSERT_TRUE(result.Succeeded()) << result.message;
          const auto bytes = static_cast<size_t>(ElementSize(dtype));
          const std::vector<std::byte> zero(bytes);
          for (int64_t i = 0; i < out.size(); ++i) {
            const int64_t column = i % shape.back();
            const int64_t row = i / shape.back() % shape[shape.size() - 2];
            const bool kept = is_upper ? column - row >= diagonal : column - row <= diagonal;
            const std::byte* expected = kept ? &before[static_cast<size_t>(i) * bytes] : zero.data();
            ASSERT_EQ(std::memcmp(out.Element(i), expected, bytes), 0)
                << function.name << " " << DtypeName(dtype) << ToString(shape) << " diagonal " << diagonal
                << ", element " << i;
          }
          ASSERT_TRUE(out.UnchangedOutsideView());
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, Positions, ::testing::ValuesIn(IsasToTest()),
                         [](const ::testing::TestParamInfo<engine::Isa>& isa) {
                           return std::string(engine::IsaName(isa.param));
                         });

}  // namespace
}  // namespace portacl::testing
