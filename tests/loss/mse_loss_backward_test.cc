// aclnnMseLossBackward's numbers against an independent oracle: ((self - target) * c) * gradOutput.
// SPDX-License-Identifier: Apache-2.0
#include "operators/losses.h"

#include "support/loss_sums.h"
#include "support/numeric_suite.h"

namespace portacl::testing {
namespace {

PORTACL_NUMERIC_TESTS(MseLossBackwardNumerics, DescribeMseLossBackward());

class MseLossBackwardValues : public NumericSuite {};

// The divisor counts self before it is broadcast.
TEST_P(MseLossBackwardValues, DivisorCountsSelf) {
  const NumericDescription& op = DescribeMseLossBackward();
  struct Example {
    Shape grad_output, self, target;
    int64_t reduction;
    double expected;
  };
  for (const Example& e :
       {Example{{4, 2}, {4, 2}, {4, 2}, 0, 2 * 3 * 8}, Example{{4, 2}, {4, 2}, {4, 2}, 2, 48},
        Example{{4, 2}, {4, 2}, {4, 2}, 1, 6}, Example{{}, {2}, {4, 2}, 1, 24},
        Example{{4, 2}, {}, {}, 1, 48}, Example{{8, 4, 2}, {4, 1}, {2}, 1, 12}}) {
    NumericCase c;
    c.inputs = {{ACL_FLOAT, e.grad_output, Layout::kDense, {}},
                {ACL_FLOAT, e.self, Layout::kDense, {}},
                {ACL_FLOAT, e.target, Layout::kDense, {}}};
    c.attributes.reduction = e.reduction;
    Operands operands = MakeOperands(op, c);
    const double values[] = {8, 5, 2};
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

PORTACL_ON_EVERY_ISA(MseLossBackwardValues);

}  // namespace
}  // namespace portacl::testing
