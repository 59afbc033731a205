// aclnnKlDivTargetBackward's numbers against an independent oracle: with G = gradOutput * c, (G * log(t) - G * self) + (G
// * t) / t, or (G * (t - self)) * exp(t) + G * exp(t), summed where target was broadcast.
// SPDX-License-Identifier: Apache-2.0
#include "operators/losses.h"

#include <cmath>

#include "support/loss_sums.h"
#include "support/numeric_suite.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

PORTACL_NUMERIC_TESTS(KlDivTargetBackwardNumerics, DescribeKlDivTargetBackward());

class KlDivTargetBackwardValues : public NumericSuite {
 protected:
  // gradTarget's elements for one value of each operand.
  void Expect(const Shape& self, const Shape& target, double g, double x, double t,
              const Attributes& attributes, double expected) {
    const NumericDescription& op = DescribeKlDivTargetBackward();
    NumericCase c;
    c.inputs = {{ACL_FLOAT, {}, Layout::kDense, {}},
                {ACL_FLOAT, self, Layout::kDense, {}},
                {ACL_FLOAT, target, Layout::kDense, {}}};
    c.attributes = attributes;
    Operands operands = MakeOperands(op, c);
    const double values[] = {g, x, t};
    for (size_t k = 0; k < 3; ++k) {
      for (int64_t i = 0; i < operands.inputs[k].size(); ++i) {
        operands.inputs[k].Set(i, values[k]);
      }
    }
    ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
    for (int64_t i = 0; i < operands.output.front().size(); ++i) {
      const double found = operands.output.front().Real(i);
      EXPECT_EQ(std::isnan(found), std::isnan(expected)) << found;
      if (!std::isnan(expected)) {
        EXPECT_EQ(found, expected) << ToString(self) << ToString(target);
      }
    }
  }
};

TEST_P(KlDivTargetBackwardValues, WorkedOutByHand) {
  const double inf = HUGE_VAL;
  const double nan = std::nan("");
  Expect({2, 3}, {2, 3}, 2, 3, 1, {.reduction = 0}, -4);  // 2 * (0 - 3) + 2
  Expect({2, 3}, {2, 3}, 2, 3, 1, {.reduction = 2}, -4);
  Expect({2, 3}, {2, 3}, 12, 3, 1, {.reduction = 3}, -12);
  Expect({2, 4}, {2, 4}, 16, 3, 1, {.reduction = 1}, -4);
  Expect({2, 3}, {2, 3}, 2, 3, 1, {.reduction = 6}, -4);  // a number without meaning counts as none
  Expect({2, 3}, {2, 3}, 2, 3, 1, {.reduction = -1}, -4);
  Expect({2}, {2}, 2, 3, 0, {}, nan);   // 0 / 0
  Expect({2}, {2}, 2, 3, -1, {}, nan);  // no logarithm
  Expect({2}, {2}, 2, inf, 1, {}, -inf);
  Expect({2}, {2}, 0, 3, inf, {}, nan);
  Expect({2}, {2}, 2, 3, 0, {.log_target = true}, -4);  // 2 * (0 - 3) * 1 + 2 * 1
  Expect({2}, {2}, 2, 3, -inf, {.log_target = true}, nan);
  Expect({2}, {2}, 2, nan, 0, {.log_target = true}, nan);
  // Summed where target was broadcast; the divisors count R.
  Expect({4, 2}, {2}, 64, 3, 1, {.reduction = 0}, -512);
  Expect({4, 2}, {2}, 64, 3, 1, {.reduction = 1}, -64);
  Expect({4, 2}, {4, 1}, 64, 3, 1, {.reduction = 3}, -64);
  Expect({4, 2}, {}, 64, 3, 1, {.reduction = 1}, -128);
  Expect({}, {4, 2}, 64, 3, 1, {.reduction = 1}, -16);  // not numel(self)
  Expect({2}, {4, 2}, 64, 3, 1, {.reduction = 3}, -32);
}

// Bits of sums at the lengths where lanes, rows and blocks end.
TEST_P(KlDivTargetBackwardValues, SumsOfEveryShape) {
  const NumericDescription& op = DescribeKlDivTargetBackward();
  uint64_t seed = 0;
  for (const int64_t n : {1, 2, 15, 16, 17, 33, 255, 256, 257, 512, 513, 4095, 4096, 4097, 8193, 70001}) {
    for (const auto& [self, target] : {std::pair<Shape, Shape>{{n}, {}},
                                       {{n, 3}, {1, 3}},
                                       {{3, n}, {3, 1}},
                                       {{3, n}, {n}},
                                       {{2, n, 5}, {n, 1}},
                                       {{2, n, 5}, {1, 1, 5}},
                                       {{1, n}, {1}}}) {
      for (const DtypeNumber dtype : op.input_dtypes) {
        ++seed;
        NumericCase c;
        c.inputs = {{op.input_dtypes[seed % 3],
                     seed % 2 == 0 ? Shape{} : *Broadcast(self, target),
                     Layout::kDense,
                     {}},
                    {ACL_FLOAT, self, seed % 5 == 0 ? Layout::kPermuted : Layout::kDense, {}},
                    {dtype, target, Layout::kDense, {}}};
        c.attributes = op.attributes[seed % op.attributes.size()];
        c.fill = Fill::kOrdinary;
        c.seed = seed;
        ASSERT_TRUE(CheckCase(op, c, stream()));
      }
    }
  }
}

// An empty self ends the call early, also where gradTarget has elements; so does an empty target.
TEST_P(KlDivTargetBackwardValues, EmptyInputs) {
  for (const auto& [self, target] :
       {std::pair<Shape, Shape>{{0}, {1}}, {{0, 3}, {3}}, {{1}, {0}}, {{2, 1}, {0}}}) {
    RandomNumbers random(1);
    HostTensor g(ACL_FLOAT, MakeView({}, Layout::kDense, random));
    HostTensor x(ACL_FLOAT, MakeView(self, Layout::kDense, random));
    HostTensor y(ACL_FLOAT, MakeView(target, Layout::kDense, random));
    HostTensor z(ACL_FLOAT, MakeView(target, Layout::kDense, random));
    z.Remember();
    const std::vector<aclTensor*> handles = {g.Handle(), x.Handle(), y.Handle(), z.Handle()};
    const CallResult call =
        CallTwoPhase(DescribeKlDivTargetBackward().binding, handles, {.reduction = 1}, stream());
    EXPECT_TRUE(call.Succeeded()) << call.message;
    EXPECT_EQ(call.workspace_size, 0u);
    EXPECT_TRUE(z.Unchanged());
  }
}

PORTACL_ON_EVERY_ISA(KlDivTargetBackwardValues);

}  // namespace
}  // namespace portacl::testing
