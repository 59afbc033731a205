// aclnnSmoothL1Loss's numbers against an independent oracle: with d = self - target, (d / 2) * (d / beta) where |d| <
// beta, else |d| - beta / 2, or its sum times c.
// SPDX-License-Identifier: Apache-2.0
#include "operators/losses.h"

#include <cmath>

#include "support/loss_sums.h"
#include "support/numeric_suite.h"

namespace portacl::testing {
namespace {

PORTACL_NUMERIC_TESTS(SmoothL1LossNumerics, DescribeSmoothL1Loss());
PORTACL_NUMERIC_TESTS(ReducedSmoothL1LossNumerics, DescribeReducedSmoothL1Loss());
PORTACL_LOSS_SUM_TESTS(SmoothL1LossSums, DescribeReducedSmoothL1Loss());

class SmoothL1LossValues : public NumericSuite {};

TEST_P(SmoothL1LossValues, WorkedOutByHand) {
  const double inf = HUGE_VAL;
  const double nan = std::nan("");
  for (const LossExample& e : {
           LossExample{{3, 1, 0.5, -2}, {1, 1, 1, 2}, 0, {1.5, 0, 0.125, 3.5}},
           LossExample{{3, 1, 0.5, -2}, {1, 1, 1, 2}, 2, {5.125}},
           LossExample{{3, 1, 0.5, -2}, {1, 1, 1, 2}, 1, {1.28125}},
           LossExample{{2, -2}, {0, 0}, 0, {1, 1}, 2},               // |d| is beta: half of it
           LossExample{{2, 0, -0.5}, {0, 0, 0}, 0, {2, 0, 0.5}, 0},  // the L1 loss
           LossExample{{2, 0, -0.5}, {0, 0, 0}, 0, {2, 0, 0.5}, -0.0f},
           LossExample{{2, -3}, {0, 0}, 0, {0, 0}, HUGE_VALF},
           LossExample{{inf, 1}, {1, -inf}, 0, {inf, inf}},
           LossExample{{inf}, {1}, 0, {nan}, HUGE_VALF},
           LossExample{{inf, nan}, {inf, 1}, 0, {nan, nan}},
           LossExample{{nan, 1}, {1, 1}, 1, {nan}},
           // Neither the square nor 1 / beta is ever needed.
           LossExample{{0x1p-14, 0}, {0, 0}, 0, {0x1p-16, 0}, 0x1p-13f},
           LossExample{{32768, 0}, {0, 0}, 0, {0x1p-71, 0}, 0x1p100f},
       }) {
    SCOPED_TRACE(e.beta);
    CheckLossExample(e.reduction == 0 ? DescribeSmoothL1Loss() : DescribeReducedSmoothL1Loss(), e, stream());
  }
}

// Squares that float32 cannot hold, and betas whose reciprocal it cannot.
TEST_P(SmoothL1LossValues, ExtremeBetas) {
  const NumericDescription& op = DescribeSmoothL1Loss();
  RandomNumbers random(0xBE7A);
  for (int i = 0; i < 3000; ++i) {
    const int exponent = static_cast<int>(random.Between(-148, 126));
    const auto beta = std::ldexp(1.0f + static_cast<float>(random.Unit()), exponent);
    NumericCase c;
    c.inputs = {{ACL_FLOAT, {8}, Layout::kDense, {}}, {ACL_FLOAT, {8}, Layout::kDense, {}}};
    c.output.dtype = ACL_FLOAT;
    c.attributes = {.reduction = 0, .beta = beta};
    Operands operands = MakeOperands(op, c);
    for (int64_t at = 0; at < 8; ++at) {
      operands.inputs[0].Set(
          at, static_cast<double>(beta) * (0.25 * static_cast<double>(at) + random.Unit() * 0.01));
      operands.inputs[1].Set(at, at % 3 == 0 ? 0.0 : static_cast<double>(beta) * random.Unit() * 0.25);
    }
    ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
  }
}

TEST_P(SmoothL1LossValues, WideOutputs) { WideOutputsHoldFloat32(DescribeReducedSmoothL1Loss(), stream()); }

// A reduced result may have any shape of one element, of any rank.
TEST_P(SmoothL1LossValues, AnyShapeOfOneElement) {
  for (const Shape& shape : {Shape{1}, Shape{1, 1}, Shape(8, 1), Shape(9, 1), Shape(25, 1)}) {
    const NumericDescription op = WithOutputShape(DescribeReducedSmoothL1Loss(), shape);
    for (const Layout layout : kOutputLayouts) {
      NumericCase c;
      c.inputs = {{ACL_FLOAT16, {7, 300}, Layout::kDense, {}}, {ACL_FLOAT, {300}, Layout::kDense, {}}};
      c.output.layout = layout;
      c.attributes = {.reduction = 1};
      ASSERT_TRUE(CheckCase(op, c, stream()));
      c.inputs[0].shape = {0, 300};  // NaN
      ASSERT_TRUE(CheckCase(op, c, stream()));
    }
  }
}

PORTACL_ON_EVERY_ISA(SmoothL1LossValues);

}  // namespace
}  // namespace portacl::testing
