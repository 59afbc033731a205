// aclnnMseLoss's numbers against an independent oracle: (self - target)^2, or its sum times c.
// SPDX-License-Identifier: Apache-2.0
#include "operators/losses.h"

#include <cmath>

#include "support/loss_sums.h"
#include "support/numeric_suite.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

PORTACL_NUMERIC_TESTS(MseLossNumerics, DescribeMseLoss());
PORTACL_NUMERIC_TESTS(ReducedMseLossNumerics, DescribeReducedMseLoss());
PORTACL_LOSS_SUM_TESTS(MseLossSums, DescribeReducedMseLoss());

class MseLossValues : public NumericSuite {};

TEST_P(MseLossValues, WorkedOutByHand) {
  const double inf = HUGE_VAL;
  const double nan = std::nan("");
  for (const LossExample& e :
       {LossExample{{3, 1, -2}, {1, 1, 2}, 0, {4, 0, 16}}, LossExample{{3, 1, -2, 1}, {1, 1, 2, 1}, 1, {5}},
        LossExample{{3, 1, -2}, {1, 1, 2}, 2, {20}}, LossExample{{inf, 1}, {1, -inf}, 0, {inf, inf}},
        LossExample{{inf, nan}, {inf, 1}, 0, {nan, nan}}, LossExample{{nan, 1}, {1, 1}, 2, {nan}},
        LossExample{{0.0, -0.0}, {-0.0, 0.0}, 0, {0.0, 0.0}}}) {
    CheckLossExample(e.reduction == 0 ? DescribeMseLoss() : DescribeReducedMseLoss(), e, stream());
  }
}

// Only the last rounding may overflow: squares and sums beyond float16 and means within it.
TEST_P(MseLossValues, OnlyTheLastRoundingOverflows) {
  const NumericDescription& op = DescribeReducedMseLoss();
  for (const int64_t reduction : {1, 2}) {
    NumericCase c;
    c.inputs = {{ACL_FLOAT16, {4}, Layout::kDense, {}}, {ACL_FLOAT16, {}, Layout::kDense, {}}};
    c.output.dtype = ACL_FLOAT16;
    c.attributes.reduction = reduction;
    Operands operands = MakeOperands(op, c);
    for (int64_t i = 0; i < 4; ++i) {
      operands.inputs[0].Set(i, i == 0 ? 400 : 0);
    }
    operands.inputs[1].Set(0, 0);
    ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
    EXPECT_EQ(operands.output.front().Real(0), reduction == 1 ? 40000 : HUGE_VAL);
  }
}

// The divisor of a mean is not rounded to float32 before 1 is divided by it: the mean of as many ones as float32 cannot
// count is 1, and would be less by one unit.
TEST_P(MseLossValues, MeanOfMoreThanFloatsCount) {
  constexpr int64_t kCount = (int64_t{1} << 24) + 3;
  const float one = 1;
  const float zero = 0;
  float mean = 0;
  const int64_t repeated = 0;
  const auto tensor = [](const int64_t* dims, uint64_t rank, const int64_t* strides, const float* data) {
    return aclCreateTensor(dims, rank, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, nullptr, 0,
                           const_cast<float*>(data));
  };
  const std::vector<aclTensor*> tensors = {tensor(&kCount, 1, &repeated, &one),
                                           tensor(nullptr, 0, nullptr, &zero),
                                           tensor(nullptr, 0, nullptr, &mean)};
  const CallResult call = CallTwoPhase(DescribeReducedMseLoss().binding, tensors, {.reduction = 1}, stream());
  EXPECT_TRUE(call.Succeeded()) << call.message;
  EXPECT_EQ(mean, 1.0f);
  for (const aclTensor* each : tensors) {
    aclDestroyTensor(each);
  }
}

PORTACL_ON_EVERY_ISA(MseLossValues);

}  // namespace
}  // namespace portacl::testing
