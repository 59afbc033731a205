// aclnnSmoothL1LossBackward's numbers against an independent oracle: gradInput = (f * gradOut) * c, where f is sign(d)
// outside beta and d / beta inside.
// SPDX-License-Identifier: Apache-2.0
#include "operators/losses.h"

#include <cmath>
#include <limits>

#include "support/numeric_suite.h"

namespace portacl::testing {
namespace {

PORTACL_NUMERIC_TESTS(SmoothL1LossBackwardNumerics, DescribeSmoothL1LossBackward());

class SmoothL1LossBackwardValues : public NumericSuite {
 protected:
  // One value of each input, repeated over a few elements; what the middle one gives.
  double ResultFor(DtypeNumber dtype, double g, double x, double y, const Attributes& attributes) {
    const NumericDescription& op = DescribeSmoothL1LossBackward();
    NumericCase c;
    c.inputs.assign(3, {dtype, {3}, Layout::kDense, {}});
    c.output.dtype = dtype;
    c.attributes = attributes;
    Operands operands = MakeOperands(op, c);
    for (int64_t i = 0; i < 3; ++i) {
      operands.inputs[0].Set(i, g);
      operands.inputs[1].Set(i, x);
      operands.inputs[2].Set(i, y);
    }
    EXPECT_TRUE(CheckOperands(op, c, operands, stream()));
    return operands.output.front().Real(1);
  }
};

void ExpectSame(double found, double expected) {
  EXPECT_EQ(std::isnan(found), std::isnan(expected)) << found;
  if (!std::isnan(expected)) {
    EXPECT_EQ(found, expected);
    EXPECT_EQ(std::signbit(found), std::signbit(expected)) << found;
  }
}

// A few results worked out by hand, so that an error shared by oracle and library cannot hide.
TEST_P(SmoothL1LossBackwardValues, WorkedOutByHand) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const double inf = HUGE_VAL;
  const double nan = std::nan("");
  struct Example {
    double g, x, y;
    float beta;
    int64_t reduction;
    double expected;
  };
  for (const Example& e : {
           Example{2, 3, 1, 1, 0, 2},  // outside
           Example{2, 1, 3, 1, 2, -2},
           Example{2, 1.25, 1, 1, 0, 0.5},  // inside
           Example{2, 1, 1.25, 2, 0, -0.25},
           Example{6, 3, 1, 1, 1, 2},       // the mean over three elements
           Example{2, 1.5, 1, 0.5f, 0, 2},  // |d| == beta: exactly the sign
           Example{2, 1, 1.5, 0.5f, 0, -2},
           Example{2, 1, 1, 1, 0, 0.0},  // d == 0
           Example{-2, 1, 1, 1, 0, -0.0},
           Example{2, 0.0, -0.0, 1, 0, 0.0},
           Example{2, 1, 1, 0, 0, 0.0},  // beta == 0: the sign, and 0 where d is 0
           Example{-2, 1, 1, 0, 0, -0.0},
           Example{2, 1, 1, -0.0f, 0, 0.0},
           Example{2, 1.25, 1, 0, 0, 2},
           Example{2, 1, 1.25, -0.0f, 0, -2},
           Example{2, 5, 1, kInfinity, 0, 0.0},  // beta == inf: 0 for every finite d, with its sign
           Example{2, 1, 5, kInfinity, 0, -0.0},
           Example{2, inf, 5, kInfinity, 0, 2},
           Example{2, -inf, 5, kInfinity, 0, -2},
           Example{2, inf, 5, 1, 0, 2},  // infinite d
           Example{2, 1, inf, 1, 0, -2},
           Example{2, inf, inf, 1, 0, nan},  // d is NaN
           Example{2, nan, 1, 1, 0, nan},
           Example{2, 1, nan, 0, 0, nan},
           Example{0, nan, 1, 1, 0, nan},
           Example{inf, 1, 1, 1, 0, nan},  // 0 * inf
           Example{inf, 1, 3, 1, 0, -inf},
           Example{nan, 3, 1, 1, 0, nan},
           Example{2, 1, 1, 1e-40f, 0, 0.0},  // a denormal beta
           Example{2, 1, 0, 1e-40f, 0, 2},
       }) {
    for (const DtypeNumber dtype : DescribeSmoothL1LossBackward().input_dtypes) {
      SCOPED_TRACE(::testing::Message() << DtypeName(dtype) << " g " << e.g << " self " << e.x << " target "
                                        << e.y << " beta " << e.beta << " reduction " << e.reduction);
      ExpectSame(ResultFor(dtype, e.g, e.x, e.y, {.reduction = e.reduction, .beta = e.beta}), e.expected);
    }
  }
}

TEST_P(SmoothL1LossBackwardValues, WorkedOutByHandInFloat32) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr double kTiny = 0x1p-149;
  // d overflows: it counts as infinite.
  ExpectSame(ResultFor(ACL_FLOAT, 2, 3e38, -3e38, {.beta = 1}), 2);
  ExpectSame(ResultFor(ACL_FLOAT, 2, 3e38, -3e38, {.beta = std::numeric_limits<float>::max()}), 2);
  ExpectSame(ResultFor(ACL_FLOAT, 2, 3e38, -3e38, {.beta = kInfinity}), 2);
  // Denormal d and beta are not flushed.
  ExpectSame(ResultFor(ACL_FLOAT, 2, kTiny, 0, {.beta = 0x1p-149f}), 2);
  ExpectSame(ResultFor(ACL_FLOAT, 2, kTiny, 0, {.beta = 0x1p-148f}), 1);
  ExpectSame(ResultFor(ACL_FLOAT, 2, kTiny, 0, {.beta = 0}), 2);
  // f underflows before gradOut multiplies.
  ExpectSame(ResultFor(ACL_FLOAT, 0x1p100, kTiny, 0, {.beta = 0x1p50f}), 0.0);
  // One eighth under the boundary of one: a true division, then the product with gradOut, then c.
  const float third = 1.0f / 3.0f;
  const float f = 0.1f / 0.3f;
  const float expected = (f * 0.7f) * third;
  ExpectSame(ResultFor(ACL_FLOAT, static_cast<double>(0.7f), static_cast<double>(0.1f), 0,
                       {.reduction = 1, .beta = 0.3f}),
             static_cast<double>(expected));
}

// At |d| == beta the factor is exactly 1, also where beta times its reciprocal is not, and just inside it is d /
// beta.
TEST_P(SmoothL1LossBackwardValues, Boundary) {
  RandomNumbers random(0xBE7A);
  int reciprocal_inexact = 0;
  for (int i = 0; i < 300; ++i) {
    const float beta = static_cast<float>(random.Unit() * 3 + 0.01);
    reciprocal_inexact += beta * (1.0f / beta) != 1.0f ? 1 : 0;
    const double d = static_cast<double>(beta);
    ExpectSame(ResultFor(ACL_FLOAT, 1, d, 0, {.beta = beta}), 1);
    ExpectSame(ResultFor(ACL_FLOAT, 1, 0, d, {.beta = beta}), -1);
    const float inside = std::nextafter(beta, 0.0f);
    ExpectSame(ResultFor(ACL_FLOAT, 1, static_cast<double>(inside), 0, {.beta = beta}),
               static_cast<double>(inside / beta));
    ExpectSame(ResultFor(ACL_FLOAT, 1, static_cast<double>(std::nextafter(beta, 9.0f)), 0, {.beta = beta}),
               1);
  }
  EXPECT_GT(reciprocal_inexact, 10);
}

// The mean divides by self's own elements, whatever it is broadcast to; a scalar counts 1.
TEST_P(SmoothL1LossBackwardValues, MeanCountsSelf) {
  const NumericDescription& op = DescribeSmoothL1LossBackward();
  struct Example {
    Shape grad_out, self, target;
    double expected;
  };
  for (const Example& e :
       {Example{{4, 8}, {8}, {}, 8}, Example{{4, 8}, {4, 8}, {8}, 2}, Example{{4, 8}, {}, {8}, 64},
        Example{{}, {1}, {4, 8}, 64}, Example{{8}, {4, 1}, {4, 8}, 16}, Example{{}, {}, {}, 64}}) {
    NumericCase c;
    for (const Shape& shape : {e.grad_out, e.self, e.target}) {
      c.inputs.push_back({ACL_FLOAT, shape, Layout::kDense, {}});
    }
    c.attributes = {.reduction = 1, .beta = 1};
    Operands operands = MakeOperands(op, c);
    const double values[] = {64, 3, 0};
    for (size_t k = 0; k < 3; ++k) {
      for (int64_t i = 0; i < operands.inputs[k].size(); ++i) {
        operands.inputs[k].Set(i, values[k]);
      }
    }
    ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
    for (int64_t i = 0; i < operands.output.front().size(); ++i) {
      EXPECT_EQ(operands.output.front().Real(i), e.expected) << ToString(e.self);
    }
  }
}

// Self and target that are awkward beside the beta they meet: around it, and at the ends of the range.
TEST_P(SmoothL1LossBackwardValues, BetasAgainstDifferences) {
  const NumericDescription& op = DescribeSmoothL1LossBackward();
  for (const float beta :
       {0x1p-149f, 1e-42f, 0x1p-126f, 1e-6f, 0.1f, 0.7f, 1.0f, 3.0f, 65504.0f, 1e30f, 0x1.fffffep127f}) {
    for (const int64_t reduction : {0, 1}) {
      NumericCase c;
      constexpr int64_t kPairs = 4099;
      c.inputs.assign(3, {ACL_FLOAT, {kPairs}, Layout::kDense, {}});
      c.attributes = {.reduction = reduction, .beta = beta};
      Operands operands = MakeOperands(op, c);
      RandomNumbers random(0xD1FF);
      for (int64_t i = 0; i < kPairs; ++i) {
        const double scale = std::ldexp(1.0, static_cast<int>(random.Between(-6, 2)));
        const double d = static_cast<double>(beta) *
                         (random.Chance(50) ? 1 + 0x1p-22 * (random.Unit() - 0.5) : scale * random.Unit());
        const double y = random.Chance(50) ? 0 : static_cast<double>(beta) * random.Unit();
        operands.inputs[0].Set(i, random.Unit() * 4 - 2);
        operands.inputs[1].Set(i, random.Chance(50) ? y + d : y - d);
        operands.inputs[2].Set(i, y);
      }
      ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, SmoothL1LossBackwardValues, ::testing::ValuesIn(IsasToTest()),
                         [](const ::testing::TestParamInfo<engine::Isa>& isa) {
                           return std::string(engine::IsaName(isa.param));
                         });

}  // namespace
}  // namespace portacl::testing
