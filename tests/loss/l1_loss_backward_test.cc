// aclnnL1LossBackward's numbers against an independent oracle: gradInput = sign(self - target) * (gradOutput
// * c).
// SPDX-License-Identifier: Apache-2.0
#include "operators/losses.h"

#include <cmath>

#include "support/numeric_suite.h"

namespace portacl::testing {
namespace {

PORTACL_NUMERIC_TESTS(L1LossBackwardNumerics, DescribeL1LossBackward());

class L1LossBackwardValues : public NumericSuite {};

// A few results worked out by hand, so that an error shared by oracle and library cannot hide.
TEST_P(L1LossBackwardValues, WorkedOutByHand) {
  const NumericDescription& op = DescribeL1LossBackward();
  struct Example {
    double g, x, y;
    int64_t reduction;
    double expected;
  };
  const double inf = HUGE_VAL;
  const double nan = std::nan("");
  for (const Example& e :
       {Example{2, 3, 1, 0, 2}, Example{2, 1, 3, 0, -2}, Example{2, 1, 1, 0, 0.0}, Example{-2, 1, 1, 2, -0.0},
        Example{-0.0, 3, 1, 0, -0.0}, Example{2, inf, 1, 0, 2}, Example{2, inf, inf, 0, 0},
        Example{2, -inf, inf, 0, -2}, Example{2, nan, 1, 0, 0}, Example{-2, 1, nan, 0, -0.0},
        Example{inf, 1, 1, 0, nan}, Example{inf, 1, 2, 0, -inf}, Example{nan, 1, 2, 0, nan},
        Example{0, 0.0, -0.0, 1, 0}, Example{6, 65504, -65504, 1, 2}}) {
    for (const DtypeNumber dtype : op.input_dtypes) {
      NumericCase c;
      c.inputs = {{dtype, {3}, Layout::kDense, {}},
                  {dtype, {3}, Layout::kDense, {}},
                  {dtype, {3}, Layout::kDense, {}}};
      c.output.dtype = dtype;
      c.attributes.reduction = e.reduction;
      Operands operands = MakeOperands(op, c);
      for (int64_t i = 0; i < 3; ++i) {
        operands.inputs[0].Set(i, e.g);
        operands.inputs[1].Set(i, e.x);
        operands.inputs[2].Set(i, e.y);
      }
      ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
      const double found = operands.output.front().Real(2);
      EXPECT_EQ(std::isnan(found), std::isnan(e.expected)) << found;
      if (!std::isnan(e.expected)) {
        EXPECT_EQ(found, e.expected);
        EXPECT_EQ(std::signbit(found), std::signbit(e.expected));
      }
    }
  }
}

// The mean divides by the elements of the whole broadcast, also where only gradOutput is that large.
TEST_P(L1LossBackwardValues, MeanCountsTheBroadcast) {
  const NumericDescription& op = DescribeL1LossBackward();
  NumericCase c;
  c.inputs = {{ACL_FLOAT, {4, 8}, Layout::kDense, {}},
              {ACL_FLOAT, {8}, Layout::kDense, {}},
              {ACL_FLOAT, {}, Layout::kDense, {}}};
  c.attributes.reduction = 1;
  Operands operands = MakeOperands(op, c);
  for (int64_t i = 0; i < 32; ++i) {
    operands.inputs[0].Set(i, 64);
  }
  for (int64_t i = 0; i < 8; ++i) {
    operands.inputs[1].Set(i, 1);
  }
  operands.inputs[2].Set(0, 0);
  ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
  for (int64_t i = 0; i < 32; ++i) {
    EXPECT_EQ(operands.output.front().Real(i), 2);
  }
}

INSTANTIATE_TEST_SUITE_P(On, L1LossBackwardValues, ::testing::ValuesIn(IsasToTest()),
                         [](const ::testing::TestParamInfo<engine::Isa>& isa) {
                           return std::string(engine::IsaName(isa.param));
                         });

}  // namespace
}  // namespace portacl::testing
