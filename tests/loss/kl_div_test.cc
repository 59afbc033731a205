// aclnnKlDiv's numbers against an independent oracle: t * (log(t) - self) or exp(t) * (t - self), or its sum times c.
// SPDX-License-Identifier: Apache-2.0
#include "operators/losses.h"

#include <cmath>

#include "support/loss_sums.h"
#include "support/numeric_suite.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

PORTACL_NUMERIC_TESTS(KlDivNumerics, DescribeKlDiv());
PORTACL_NUMERIC_TESTS(ReducedKlDivNumerics, DescribeReducedKlDiv());
PORTACL_LOSS_SUM_TESTS(KlDivSums, DescribeReducedKlDiv());

class KlDivValues : public NumericSuite {};

TEST_P(KlDivValues, WorkedOutByHand) {
  const double inf = HUGE_VAL;
  const double nan = std::nan("");
  struct Example {
    LossExample loss;
    bool log_target;
  };
  for (const Example& e : {
           Example{{{-2, -3, 0.5}, {1, 1, 1}, 0, {2, 3, -0.5}}, false},
           Example{{{-2, -3}, {1, 1}, 2, {5}}, false},
           Example{{{-2, -3}, {1, 1}, 1, {2.5}}, false},
           Example{{{-2, -3}, {1, 1}, 3, {2.5}}, false},
           // A zero target has no share, whatever its sign; with an infinite or NaN self it is NaN.
           Example{{{-2, 3}, {0.0, 0.0}, 0, {0.0, -0.0}}, false},
           Example{{{-2, 3}, {-0.0, -0.0}, 0, {-0.0, 0.0}}, false},
           Example{{{3, 3}, {0.0, 0.0}, 2, {0.0}}, false},  // two times -0
           Example{{{inf, -inf, nan}, {0.0, 0.0, 0.0}, 0, {nan, nan, nan}}, false},
           Example{{{-1, 1}, {-1, -0.5}, 0, {nan, nan}}, false},  // negative: no logarithm
           Example{{{-1, inf, nan}, {inf, 1, 1}, 0, {inf, -inf, nan}}, false},
           Example{{{1, -2}, {0, -0.0}, 0, {-1, 2}}, true},  // exp(0) is 1
           Example{{{1, -inf}, {-inf, 0}, 0, {nan, inf}}, true},
           Example{{{1, 1}, {inf, nan}, 0, {inf, nan}}, true},
       }) {
    LossExample loss = e.loss;
    loss.log_target = e.log_target;
    CheckLossExample(loss.reduction == 0 ? DescribeKlDiv() : DescribeReducedKlDiv(), loss, stream());
  }
}

// The divisors count R; the first dim of a scalar is 1.
TEST_P(KlDivValues, DivisorsCountTheBroadcast) {
  const NumericDescription& op = DescribeReducedKlDiv();
  struct Example {
    Shape self, target;
    double mean, batchmean;
  };
  for (const Example& e : {Example{{4, 2}, {4, 2}, 3, 6}, Example{{2}, {4, 2}, 3, 6},
                           Example{{4, 1}, {2}, 3, 6}, Example{{}, {}, 3, 3}, Example{{1}, {8}, 3, 3},
                           Example{{8, 1}, {}, 3, 3}, Example{{1, 8}, {8, 1}, 3, 24}}) {
    for (const int64_t reduction : {1, 3}) {
      NumericCase c;
      c.inputs = {{ACL_FLOAT, e.self, Layout::kDense, {}}, {ACL_FLOAT, e.target, Layout::kDense, {}}};
      c.attributes.reduction = reduction;
      Operands operands = MakeOperands(op, c);
      for (int64_t i = 0; i < operands.inputs[0].size(); ++i) {
        operands.inputs[0].Set(i, -3);
      }
      for (int64_t i = 0; i < operands.inputs[1].size(); ++i) {
        operands.inputs[1].Set(i, 1);
      }
      ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
      EXPECT_EQ(operands.output.front().Real(0), reduction == 1 ? e.mean : e.batchmean)
          << ToString(e.self) << ToString(e.target);
    }
  }
}

// Empty inputs, whether or not they broadcast: untouched, NaN, 0, and for batchmean what self's first dim says.
TEST_P(KlDivValues, EmptyInputs) {
  const double nan = std::nan("");
  struct Example {
    Shape self, target;
    double batchmean;
  };
  for (const Example& e : {Example{{0, 3}, {0, 3}, nan}, Example{{3, 0}, {3, 0}, 0}, Example{{0}, {}, nan},
                           Example{{}, {0}, 0}, Example{{1}, {0}, 0}, Example{{0, 3}, {5, 7}, nan},
                           Example{{5, 7}, {2, 0}, 0}, Example{{2, 0}, {3, 4}, 0}}) {
    for (const int64_t reduction : {0, 1, 2, 3}) {
      for (const Shape& out : {Shape{}, Shape{1, 1}, Shape(25, 1)}) {
        RandomNumbers random(1);
        HostTensor x(ACL_FLOAT, MakeView(e.self, Layout::kDense, random));
        HostTensor y(ACL_FLOAT16, MakeView(e.target, Layout::kDense, random));
        HostTensor z(ACL_BF16, MakeView(out, Layout::kDense, random));
        z.Set(0, 7);
        const std::vector<aclTensor*> handles = {x.Handle(), y.Handle(), z.Handle()};
        const CallResult call =
            CallTwoPhase(DescribeKlDiv().binding, handles, {.reduction = reduction}, stream());
        ASSERT_TRUE(call.Succeeded()) << call.message << ToString(e.self) << ToString(e.target);
        EXPECT_EQ(call.workspace_size, 0u);
        const double expected = reduction == 0 ? 7 : reduction == 1 ? nan : reduction == 2 ? 0 : e.batchmean;
        EXPECT_EQ(std::isnan(z.Real(0)), std::isnan(expected)) << ToString(e.self) << " " << reduction;
        if (!std::isnan(expected)) {
          EXPECT_EQ(z.Real(0), expected);
          EXPECT_FALSE(std::signbit(z.Real(0)));
        }
      }
    }
  }
}

TEST_P(KlDivValues, AnyShapeOfOneElement) {
  for (const Shape& shape : {Shape{1}, Shape{1, 1}, Shape(8, 1), Shape(25, 1)}) {
    const NumericDescription op = WithOutputShape(DescribeReducedKlDiv(), shape);
    for (const Layout layout : kOutputLayouts) {
      NumericCase c;
      c.inputs = {{ACL_BF16, {7, 300}, Layout::kDense, {}}, {ACL_FLOAT, {300}, Layout::kDense, {}}};
      c.output.layout = layout;
      c.attributes = {.reduction = 3};
      ASSERT_TRUE(CheckCase(op, c, stream()));
    }
  }
}

// Without a reduction, two scalars may go to [1] as well as to [].
TEST_P(KlDivValues, ScalarsIntoOneElement) {
  const NumericDescription op = WithOutputShape(DescribeKlDiv(), {1});
  for (const bool log_target : {false, true}) {
    for (const Layout layout : kOutputLayouts) {
      NumericCase c;
      c.inputs = {{ACL_FLOAT16, {}, Layout::kDense, {}}, {ACL_FLOAT, {}, Layout::kDense, {}}};
      c.output.layout = layout;
      c.attributes.log_target = log_target;
      c.fill = Fill::kOrdinary;
      ASSERT_TRUE(CheckCase(op, c, stream()));
    }
  }
}

PORTACL_ON_EVERY_ISA(KlDivValues);

}  // namespace
}  // namespace portacl::testing
