// aclnnMseLossOut's numbers against an independent oracle: (self - target)^2, or its sum over the first axis times c.
// SPDX-License-Identifier: Apache-2.0
#include "operators/losses.h"

#include "support/loss_sums.h"
#include "support/numeric_suite.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

PORTACL_NUMERIC_TESTS(MseLossOutNumerics, DescribeMseLossOut());
PORTACL_NUMERIC_TESTS(ReducedMseLossOutNumerics, DescribeReducedMseLossOut());
PORTACL_LOSS_SUM_TESTS(MseLossOutSums, DescribeReducedMseLossOut());

class MseLossOutValues : public NumericSuite {};

TEST_P(MseLossOutValues, ReducesTheFirstAxisAlone) {
  const NumericDescription& op = DescribeReducedMseLossOut();
  for (const int64_t reduction : {1, 2}) {
    NumericCase c;
    c.inputs = {{ACL_FLOAT, {2, 3}, Layout::kPermuted, {}}, {ACL_FLOAT, {}, Layout::kDense, {}}};
    c.attributes.reduction = reduction;
    Operands operands = MakeOperands(op, c);
    for (int64_t i = 0; i < 6; ++i) {
      operands.inputs[0].Set(i, static_cast<double>(i));
    }
    operands.inputs[1].Set(0, 0);
    ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
    for (int64_t i = 0; i < 3; ++i) {
      const auto value = static_cast<double>(i);
      const double sum = value * value + (value + 3) * (value + 3);
      EXPECT_EQ(operands.output.front().Real(i), reduction == 1 ? sum / 2 : sum);
    }
  }
}

// The terms keep their float32 digits until they are summed.
TEST_P(MseLossOutValues, SixteenBitSumsRoundOnce) {
  const NumericDescription& op = DescribeReducedMseLossOut();
  NumericCase c;
  c.inputs = {{ACL_FLOAT16, {4, 1}, Layout::kDense, {}}, {ACL_FLOAT16, {}, Layout::kDense, {}}};
  c.output.dtype = ACL_FLOAT16;
  c.attributes.reduction = 2;
  Operands operands = MakeOperands(op, c);
  for (int64_t i = 0; i < 4; ++i) {
    operands.inputs[0].Set(i, 1 + 0x1p-10);  // squared: 1 + 2^-9 + 2^-20, which float16 cannot hold
  }
  operands.inputs[1].Set(0, 0);
  ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
  operands.inputs[0].Set(0, 0);
  operands.inputs[0].Set(1, 1);
  operands.inputs[0].Set(2, 0x1p-6);  // 2^-12
  operands.inputs[0].Set(3,
                         0x1p-12);  // 2^-24: above the tie between 1 and 1 + 2^-10 only with two more of them
  ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
}

// Empty inputs: success, and out keeps what it holds, also where it has elements.
TEST_P(MseLossOutValues, EmptyInputsLeaveOutUntouched) {
  const NumericDescription& op = DescribeReducedMseLossOut();
  for (const auto& [self, target, out] : {std::tuple<Shape, Shape, Shape>{{0, 3}, {0, 3}, {3}},
                                          {{0, 3}, {1, 3}, {3}},
                                          {{0}, {1}, {}},
                                          {{2, 0}, {}, {0}}}) {
    for (const int64_t reduction : {1, 2}) {
      RandomNumbers random(1);
      HostTensor x(ACL_FLOAT, MakeView(self, Layout::kDense, random));
      HostTensor y(ACL_FLOAT, MakeView(target, Layout::kDense, random));
      HostTensor z(ACL_FLOAT16, MakeView(out, Layout::kDense, random));
      z.Remember();
      const std::vector<aclTensor*> handles = {x.Handle(), y.Handle(), z.Handle()};
      const CallResult call = CallTwoPhase(op.binding, handles, {.reduction = reduction}, stream());
      EXPECT_TRUE(call.Succeeded()) << call.message;
      EXPECT_EQ(call.workspace_size, 0u);
      EXPECT_TRUE(z.Unchanged());
    }
  }
}

PORTACL_ON_EVERY_ISA(MseLossOutValues);

}  // namespace
}  // namespace portacl::testing
