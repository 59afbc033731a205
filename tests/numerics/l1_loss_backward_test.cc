// aclnnL1LossBackward's numbers against an independent oracle: gradInput = sign(self - target) * (gradOutput
// * c).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_l1_loss_backward.h"

#include "support/float_formats.h"
#include "support/numeric_suite.h"

namespace portacl::testing {
namespace {

// The value of an element as the operator sees it: integers go to the common type of all inputs by one
// rounding, floating values are exact in float32 as they are.
double ValueOf(const LogicalTensor& tensor, int64_t position, DtypeNumber promoted) {
  const auto at = static_cast<size_t>(position);
  return tensor.IsFloating() ? tensor.reals[at] : IntegerConvertedTo(promoted, tensor.integers[at]);
}

Prediction Oracle(std::span<const LogicalTensor> inputs, const Attributes& attributes) {
  const LogicalTensor& grad_output = inputs[0];
  const LogicalTensor& self = inputs[1];
  const LogicalTensor& target = inputs[2];
  const DtypeNumber promoted = PromoteDtypes(target.dtype, PromoteDtypes(grad_output.dtype, self.dtype));

  Prediction result;
  result.shape = *Broadcast(*Broadcast(self.shape, grad_output.shape), target.shape);
  const int64_t count = NumElements(result.shape);
  const bool mean = attributes.reduction == 1;
  const double c =
      mean && count > 0 ? static_cast<double>(NearestFloat(1.0 / static_cast<double>(count))) : 1.0;

  const std::vector<int64_t> grad_at = BroadcastPositions(grad_output.shape, result.shape);
  const std::vector<int64_t> self_at = BroadcastPositions(self.shape, result.shape);
  const std::vector<int64_t> target_at = BroadcastPositions(target.shape, result.shape);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const double g = ValueOf(grad_output, grad_at[i], promoted);
    const double x = ValueOf(self, self_at[i], promoted);
    const double y = ValueOf(target, target_at[i], promoted);
    const double s = x > y ? 1.0 : x < y ? -1.0 : 0.0;
    // Both factors are float32, so the product is exact in float64 and rounds once; s is 1, 0 or -1 and exact
    // again.
    const double product = static_cast<double>(NearestFloat(g * c));
    result.float32.push_back(static_cast<float>(s * product));
    result.truth.push_back(s * (mean ? g / static_cast<double>(count) : g));
  }
  return result;
}

const NumericDescription& L1LossBackward() {
  static const NumericDescription description = [] {
    NumericDescription op;
    op.binding.name = "aclnnL1LossBackward";
    op.binding.tensors = {"gradOutput", "self", "target", "gradInput"};
    op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                         aclOpExecutor** executor) {
      return aclnnL1LossBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, t[3], size, executor);
    };
    op.binding.run = aclnnL1LossBackward;
    op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
    op.integer_dtypes = {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL};
    op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};
    op.attributes = {{.reduction = 0}, {.reduction = 1}, {.reduction = 2}};
    op.oracle = Oracle;
    return op;
  }();
  return description;
}

PORTACL_NUMERIC_TESTS(L1LossBackwardNumerics, L1LossBackward());

class L1LossBackwardValues : public NumericSuite {};

// A few results worked out by hand, so that an error shared by oracle and library cannot hide.
TEST_P(L1LossBackwardValues, WorkedOutByHand) {
  const NumericDescription& op = L1LossBackward();
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
  const NumericDescription& op = L1LossBackward();
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
