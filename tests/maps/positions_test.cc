// What depends on where an element stands: sequences, the unit matrix, triangles.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "aclnnop/aclnn_arange.h"
#include "aclnnop/aclnn_eye.h"
#include "aclnnop/aclnn_linspace.h"
#include "aclnnop/aclnn_range.h"
#include "aclnnop/aclnn_tril.h"
#include "aclnnop/aclnn_triu.h"
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
  explicit Scalar(double value) : value_(value), scalar_(aclCreateScalar(&value_, ACL_DOUBLE)) {}
  ~Scalar() { aclDestroyScalar(scalar_); }
  Scalar(const Scalar&) = delete;
  Scalar& operator=(const Scalar&) = delete;
  Argument argument() const { return {.scalar = scalar_}; }

 private:
  double value_;
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
          const Scalar start(5);
          const Scalar end(5 + step * static_cast<double>(length));
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

TEST_P(Positions, LinspaceWorksFromBothEnds) {
  RandomNumbers random(0x11);
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE}) {
    for (const int64_t steps : {1, 2, 3, 10, 101, 1000}) {
      for (const Layout layout : kLayouts) {
        HostTensor out(dtype, MakeView({steps}, layout, random));
        const Scalar start(-3.7);
        const Scalar end(11.3);
        const CallResult result = Call(PORTACL_C_FUNCTION(aclnnLinspace),
                                       {start.argument(), end.argument(), Whole(steps), Tensor(out)});
        ASSERT_TRUE(result.Succeeded()) << result.message;
        const double unit = dtype == ACL_DOUBLE    ? 0x1p-52
                            : dtype == ACL_FLOAT   ? 0x1p-23
                            : dtype == ACL_FLOAT16 ? 0x1p-10
                                                   : 0x1p-7;
        for (int64_t i = 0; i < steps; ++i) {
          const double value =
              steps == 1 ? -3.7 : -3.7 + 15.0 * static_cast<double>(i) / static_cast<double>(steps - 1);
          const double found = static_cast<double>(NumberOf(dtype, out.Element(i)).real);
          ASSERT_NEAR(found, value, unit * 12) << DtypeName(dtype) << " " << i << " of " << steps;
        }
        if (steps > 1) {
          ASSERT_TRUE(IsSameElement(dtype, out.Element(0), ElementOfNumber(dtype, {-3.7, 0})));
          ASSERT_TRUE(IsSameElement(dtype, out.Element(steps - 1), ElementOfNumber(dtype, {11.3, 0})));
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
           {int64_t{0}, int64_t{1}, int64_t{-2}, int64_t{5}, int64_t{1} << 40, -(int64_t{1} << 62)}) {
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
