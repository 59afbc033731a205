// aclnnKlDivBackward's numbers against an independent oracle: -(t * gradOutput) * c with t = target or exp(target),
// summed where self was broadcast.
// SPDX-License-Identifier: Apache-2.0
#include "operators/losses.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "support/exact_sum.h"
#include "support/float_formats.h"
#include "support/loss_sums.h"
#include "support/numeric_suite.h"
#include "support/ordered_sum.h"
#include "support/random_numbers.h"
#include "support/special_values.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

PORTACL_NUMERIC_TESTS(KlDivBackwardNumerics, DescribeKlDivBackward());

NumericCase CaseOf(const Shape& grad_output, const Shape& self, const Shape& target,
                   const Attributes& attributes, DtypeNumber dtype = ACL_FLOAT) {
  NumericCase c;
  c.inputs = {{dtype, grad_output, Layout::kDense, {}},
              {dtype, self, Layout::kDense, {}},
              {dtype, target, Layout::kDense, {}}};
  c.output.dtype = dtype;
  c.attributes = attributes;
  c.fill = Fill::kOrdinary;
  return c;
}

void Set(HostTensor& tensor, const std::vector<double>& values) {
  ASSERT_EQ(tensor.size(), std::ssize(values));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    tensor.Set(i, values[static_cast<size_t>(i)]);
  }
}

void ExpectSame(double found, double expected) {
  EXPECT_EQ(std::isnan(found), std::isnan(expected)) << found;
  if (!std::isnan(expected)) {
    EXPECT_EQ(found, expected);
    EXPECT_EQ(std::signbit(found), std::signbit(expected)) << found;
  }
}

class KlDivBackwardValues : public NumericSuite {
 protected:
  // The sums of -(targets * gradients) * c into a self of one element, of the given output type.
  double SumOf(const std::vector<double>& targets, const std::vector<double>& gradients, DtypeNumber inputs,
               DtypeNumber output, const Attributes& attributes = {}) {
    const NumericDescription& op = DescribeKlDivBackward();
    const Shape shape = {std::ssize(targets)};
    NumericCase c = CaseOf(shape, {1}, shape, attributes, inputs);
    c.output.dtype = output;
    Operands operands = MakeOperands(op, c);
    Set(operands.inputs[0], gradients);
    Set(operands.inputs[1], {0});
    Set(operands.inputs[2], targets);
    EXPECT_TRUE(CheckOperands(op, c, operands, stream()));
    return operands.output.front().Real(0);
  }
};

// A few results worked out by hand, so that an error shared by oracle and library cannot hide.
TEST_P(KlDivBackwardValues, WorkedOutByHand) {
  const NumericDescription& op = DescribeKlDivBackward();
  const double inf = HUGE_VAL;
  const double nan = std::nan("");
  struct Example {
    double g, t;
    int64_t reduction;
    bool log_target;
    double expected;
  };
  for (const Example& e : {
           Example{2, 3, 0, false, -6},
           Example{2, 3, 2, false, -6},
           Example{2, 3, 1, false, -1},  // six elements
           Example{2, 3, 3, false, -3},  // two rows
           Example{2, 3, 4, false, -6},  // a number without meaning counts as none
           Example{2, 3, -1, false, -6},
           Example{3, -2, 0, false, 6},  // negative targets are not masked
           Example{2, 0.0, 0, false, -0.0},
           Example{-2, 0.0, 0, false, 0.0},
           Example{2, -0.0, 0, false, 0.0},
           Example{0, inf, 0, false, nan},
           Example{1, inf, 0, false, -inf},
           Example{inf, 0, 0, false, nan},
           Example{nan, 1, 0, false, nan},
           Example{1, nan, 0, false, nan},
           Example{2, 0, 0, true, -2},  // exp(0) is 1
           Example{2, -0.0, 1, true, -2.0 / 6},
           Example{3, 0, 3, true, -1.5},
           Example{2, -inf, 0, true, -0.0},
           Example{-2, -inf, 0, true, 0.0},
           Example{2, inf, 0, true, -inf},
           Example{0, inf, 0, true, nan},
           Example{1, 89, 0, true, -inf},  // exp overflows
           Example{0, 89, 0, true, nan},
           Example{1, -104, 0, true, -0.0},  // and underflows
           Example{2, nan, 0, true, nan},
       }) {
    for (const DtypeNumber dtype : op.input_dtypes) {
      SCOPED_TRACE(::testing::Message() << DtypeName(dtype) << " g " << e.g << " t " << e.t << " reduction "
                                        << e.reduction << " logTarget " << e.log_target);
      NumericCase c =
          CaseOf({2, 3}, {2, 3}, {2, 3}, {.reduction = e.reduction, .log_target = e.log_target}, dtype);
      c.output.dtype = ACL_FLOAT;
      Operands operands = MakeOperands(op, c);
      Set(operands.inputs[0], std::vector<double>(6, e.g));
      Set(operands.inputs[1], std::vector<double>(6, nan));
      Set(operands.inputs[2], std::vector<double>(6, e.t));
      ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
      ExpectSame(operands.output.front().Real(4), static_cast<double>(static_cast<float>(e.expected)));
    }
  }
}

// The divisors count R = broadcast(self, target), not self; the first dim of a scalar is 1.
TEST_P(KlDivBackwardValues, DivisorsCountTheBroadcast) {
  const NumericDescription& op = DescribeKlDivBackward();
  struct Example {
    Shape self, target;
    double mean, batchmean;  // -64 * 3 summed over what self was broadcast along, then divided
  };
  for (const Example& e :
       {Example{{4, 2}, {4, 2}, -24, -48}, Example{{2}, {4, 2}, -96, -192},
        Example{{1, 2}, {4, 2}, -96, -192}, Example{{4, 1}, {4, 2}, -48, -96},
        Example{{}, {4, 2}, -192, -384}, Example{{4, 2}, {}, -24, -48}, Example{{4, 2}, {2}, -24, -48},
        Example{{}, {}, -192, -192}, Example{{1}, {1}, -192, -192}, Example{{8}, {1, 8}, -24, -192}}) {
    for (const int64_t reduction : {1, 3}) {
      NumericCase c = CaseOf({}, e.self, e.target, {.reduction = reduction});
      Operands operands = MakeOperands(op, c);
      Set(operands.inputs[0], {64});
      Set(operands.inputs[2], std::vector<double>(static_cast<size_t>(NumElements(e.target)), 3.0));
      ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
      for (int64_t i = 0; i < operands.output.front().size(); ++i) {
        EXPECT_EQ(operands.output.front().Real(i), reduction == 1 ? e.mean : e.batchmean)
            << ToString(e.self) << ToString(e.target);
      }
    }
  }
}

// The data of self may be anything, or not be there at all.
TEST_P(KlDivBackwardValues, SelfIsNeverRead) {
  const NumericDescription& op = DescribeKlDivBackward();
  for (const Shape& self : {Shape{40, 50}, Shape{1, 50}, Shape{40, 1}, Shape{}}) {
    for (const DtypeNumber dtype : op.input_dtypes) {
      NumericCase c = CaseOf({40, 50}, self, {40, 50}, {.reduction = 1, .log_target = dtype == ACL_BF16});
      c.inputs[1].dtype = dtype;
      Operands operands = MakeOperands(op, c);
      FillInputs(c, operands);
      Set(operands.inputs[1], std::vector<double>(static_cast<size_t>(NumElements(self)), std::nan("")));
      ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
      const HostTensor& output = operands.output.front();
      const std::vector<std::byte> expected(output.Element(0), output.Element(0) + output.size() * 4);

      for (void* address : {static_cast<void*>(nullptr), ForbiddenAddress()}) {
        const std::vector<int64_t> strides = DenseStrides(self);
        aclTensor* handle = aclCreateTensor(self.data(), self.size(), AsAclDataType(dtype), strides.data(), 0,
                                            ACL_FORMAT_ND, self.data(), self.size(), address);
        std::memset(output.Element(0), 0x5A, expected.size());
        const std::vector<aclTensor*> handles = {operands.inputs[0].Handle(), handle,
                                                 operands.inputs[2].Handle(),
                                                 operands.output.front().Handle()};
        const CallResult call = CallTwoPhase(op.binding, handles, c.attributes, stream());
        EXPECT_TRUE(call.Succeeded()) << call.message;
        EXPECT_EQ(std::memcmp(output.Element(0), expected.data(), expected.size()), 0);
        aclDestroyTensor(handle);
      }
    }
  }
}

TEST_P(KlDivBackwardValues, ZerosOfSums) {
  for (const size_t count : {2u, 15u, 16u, 64u, 300u, 4096u, 5000u}) {
    const std::vector<double> ones(count, 1.0);
    const std::vector<double> zeros(count, 0.0);
    ExpectSame(SumOf(zeros, ones, ACL_FLOAT, ACL_FLOAT), 0.0);  // all terms are -0
    ExpectSame(SumOf(zeros, std::vector<double>(count, -1.0), ACL_BF16, ACL_FLOAT16), 0.0);
  }
  ExpectSame(SumOf({1, -1}, {1, 1}, ACL_FLOAT, ACL_FLOAT), 0.0);
  // Each of many outputs.
  const NumericDescription& op = DescribeKlDivBackward();
  NumericCase c = CaseOf({}, {1, 70}, {3, 70}, {});
  Operands operands = MakeOperands(op, c);
  Set(operands.inputs[0], {1});
  Set(operands.inputs[2], std::vector<double>(210, 0.0));
  ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
  for (int64_t i = 0; i < 70; ++i) {
    ExpectSame(operands.output.front().Real(i), 0.0);
  }
}

TEST_P(KlDivBackwardValues, OnlyTheLastRoundingOverflows) {
  const double inf = HUGE_VAL;
  const double largest = static_cast<double>(std::numeric_limits<float>::max());
  ExpectSame(SumOf({-3e38, -3e38, 3e38}, {1, 1, 1}, ACL_FLOAT, ACL_FLOAT), static_cast<double>(3e38f));
  ExpectSame(SumOf({-3e38, -3e38}, {1, 1}, ACL_FLOAT, ACL_FLOAT), inf);
  ExpectSame(SumOf({3e38, 3e38}, {1, 1}, ACL_FLOAT, ACL_BF16), -inf);
  const double half_unit = 0x1p103;  // of the last place of the largest float
  ExpectSame(SumOf({-largest, -half_unit, 0x1p80}, {1, 1, 1}, ACL_FLOAT, ACL_FLOAT), largest);
  ExpectSame(SumOf({-largest, -half_unit, 0x1p60}, {1, 1, 1}, ACL_FLOAT, ACL_FLOAT), inf);  // lost in float64
  ExpectSame(SumOf({-largest, -half_unit}, {1, 1}, ACL_FLOAT, ACL_FLOAT), inf);
  ExpectSame(SumOf({60000, 60000, -60000}, {-1, -1, -1}, ACL_FLOAT16, ACL_FLOAT16), 60000);
  ExpectSame(SumOf({-65504, -15}, {1, 1}, ACL_FLOAT, ACL_FLOAT16), 65504);
  ExpectSame(SumOf({-65504, -16}, {1, 1}, ACL_FLOAT, ACL_FLOAT16), inf);
  ExpectSame(SumOf({-65504, -16, 0x1p-30}, {1, 1, 1}, ACL_FLOAT, ACL_FLOAT16), 65504);
  // A term that overflows is infinite already.
  ExpectSame(SumOf({3e38, -3e38}, {2, 1}, ACL_FLOAT, ACL_FLOAT), -inf);
  ExpectSame(SumOf({3e38, -3e38}, {2, 2}, ACL_FLOAT, ACL_FLOAT), std::nan(""));
  // Small terms add up to what none of them is.
  ExpectSame(
      SumOf(std::vector<double>(4096, 0x1p-149), std::vector<double>(4096, -1.0), ACL_FLOAT, ACL_FLOAT),
      0x1p-137);
}

// From the float64 sum to a 16-bit type in one rounding: by way of float32 these would go the other way.
TEST_P(KlDivBackwardValues, SixteenBitSumsRoundOnce) {
  for (const double sign : {1.0, -1.0}) {
    const std::vector<double> g(3, -sign);
    ExpectSame(SumOf({1, 0x1p-11, 0x1p-40}, g, ACL_FLOAT, ACL_FLOAT16), sign * (1 + 0x1p-10));
    ExpectSame(SumOf({1, 3 * 0x1p-11, -0x1p-40}, g, ACL_FLOAT, ACL_FLOAT16), sign * (1 + 0x1p-10));
    ExpectSame(SumOf({1, 0x1p-8, 0x1p-40}, g, ACL_FLOAT, ACL_BF16), sign * (1 + 0x1p-7));
    ExpectSame(SumOf({1, 3 * 0x1p-8, -0x1p-40}, g, ACL_FLOAT, ACL_BF16), sign * (1 + 0x1p-7));
    // Subnormal results too.
    ExpectSame(SumOf({0x1p-24, 0x1p-25, 0x1p-60}, g, ACL_FLOAT, ACL_FLOAT16), sign * 0x1p-23);
    ExpectSame(SumOf({0x1p-24, 0x1p-25, 0}, g, ACL_FLOAT, ACL_FLOAT16), sign * 0x1p-23);
    ExpectSame(SumOf({0, 0x1p-25, 0}, g, ACL_FLOAT, ACL_FLOAT16), sign > 0 ? 0.0 : -0.0);
    ExpectSame(SumOf({0, 0x1p-25, 0x1p-70}, g, ACL_FLOAT, ACL_FLOAT16), sign * 0x1p-24);
    ExpectSame(SumOf({0x1p-133, 0x1p-134, 0x1p-149}, g, ACL_FLOAT, ACL_BF16), sign * 0x1p-132);
    ExpectSame(SumOf({0, 0x1p-134, 0x1p-149}, g, ACL_FLOAT, ACL_BF16), sign * 0x1p-133);
  }
}

struct SumShape {
  Shape self, target;
};

// Every length at which lanes, blocks and chunks of the sum begin and end, and sums over leading, middle, trailing,
// several and missing axes.
std::vector<SumShape> SumShapes() {
  std::vector<SumShape> shapes;
  for (int64_t n = 1; n <= 40; ++n) {
    shapes.push_back({{1}, {n}});
    shapes.push_back({{n}, {3, n}});
    shapes.push_back({{1, n}, {n, n}});
    shapes.push_back({{n, 1}, {n, n}});
  }
  for (const int64_t n : {255,  256,  257,  511,  512,  513,  767,   768,   769,   1024, 1025,
                          4095, 4096, 4097, 8191, 8192, 8193, 12289, 16384, 16385, 70001}) {
    shapes.push_back({{}, {n}});
    shapes.push_back({{3, 1}, {3, n}});
    shapes.push_back({{1, 3}, {n, 3}});
    shapes.push_back({{n, 1}, {n, 3}});
    shapes.push_back({{n}, {3, n}});
    shapes.push_back({{2, 1, 5}, {2, n, 5}});
    if (n < 10000) {
      shapes.push_back({{1, 3, 1}, {7, 3, n}});
      shapes.push_back({{1, n, 1}, {5, n, 3}});
    }
  }
  for (const SumShape& shape : {
           SumShape{{1, 4096, 1}, {3, 4096, 5}},
           SumShape{{3, 1, 5}, {3, 4096, 5}},
           SumShape{{3, 1, 1}, {3, 4096, 5}},
           SumShape{{5}, {3, 4096, 5}},
           SumShape{{4096, 5}, {3, 4096, 5}},
           SumShape{{3}, {257, 3}},
           SumShape{{257, 1}, {257, 3}},
           SumShape{{1, 70}, {513, 70}},
           SumShape{{513, 1}, {513, 70}},
           SumShape{{1, 1}, {513, 70}},
           SumShape{{1}, {1 << 20}},
           SumShape{{5, 1}, {5, 1 << 16}},
           SumShape{{1 << 16}, {5, 1 << 16}},
           SumShape{{1, 5}, {1 << 16, 5}},
           SumShape{{1 << 16, 1}, {1 << 16, 5}},
           SumShape{{2, 1, 1, 7, 1}, {2, 3, 1, 7, 11}},  // axes of length 1 among the others
           SumShape{{2, 1, 1, 7, 1}, {2, 3, 5, 7, 1}},
           SumShape{{1, 1, 7, 1, 1}, {300, 1, 7, 1, 1}},
           SumShape{{1, 1, 7, 1, 13}, {3, 5, 7, 11, 13}},
           SumShape{{3, 1, 7, 1, 13}, {3, 5, 7, 11, 13}},
           SumShape{{3, 1, 7, 1}, {1, 3, 5, 7, 11}},
           SumShape{{7}, {1, 7}},  // nothing but an axis of length 1 is missing
           SumShape{{7}, {1, 1, 7}},
           SumShape{{1, 1, 2, 1, 2, 1, 2, 1}, {2, 3, 2, 3, 2, 3, 2, 3}},
       }) {
    shapes.push_back(shape);
  }
  return shapes;
}

TEST_P(KlDivBackwardValues, SumsOfEveryShape) {
  const NumericDescription& op = DescribeKlDivBackward();
  uint64_t seed = 0;
  for (const SumShape& shape : SumShapes()) {
    const Shape r = *Broadcast(shape.self, shape.target);
    const bool large = NumElements(r) > 100000;
    for (const DtypeNumber output : op.output_dtypes) {
      ++seed;
      const DtypeNumber input = op.input_dtypes[seed / 2 % 3];
      if (large && output != ACL_FLOAT) {
        continue;
      }
      const bool scalar_gradient = seed % 2 == 0;
      NumericCase c =
          CaseOf(scalar_gradient ? Shape{} : r, shape.self, shape.target,
                 {.reduction = static_cast<int64_t>(seed % 4), .log_target = seed % 5 == 0}, input);
      c.output.dtype = output;
      c.seed = seed;
      ASSERT_TRUE(CheckCase(op, c, stream()));
    }
  }
}

// Terms that cancel but for what float64 loses, which depends on the order in which they are added: in any other order
// most of these sums would have other bits, in float32 too.
TEST_P(KlDivBackwardValues, SumsAreInThePromisedOrder) {
  const NumericDescription& op = DescribeKlDivBackward();
  RandomNumbers random(0x0DE5);
  int64_t inexact = 0;
  for (const SumShape& shape : SumShapes()) {
    const Shape r = *Broadcast(shape.self, shape.target);
    NumericCase c = CaseOf(r, shape.self, shape.target, {.reduction = 2});
    Operands operands = MakeOperands(op, c);
    Set(operands.inputs[2], std::vector<double>(static_cast<size_t>(NumElements(shape.target)), 1.0));
    // The terms of each output, in a random order, are pairs of opposites.
    std::vector<std::vector<int64_t>> terms(static_cast<size_t>(NumElements(shape.self)));
    const std::vector<int64_t> position = OutputPositions(r, shape.self);
    for (size_t i = 0; i < position.size(); ++i) {
      terms[static_cast<size_t>(position[i])].push_back(static_cast<int64_t>(i));
    }
    for (std::vector<int64_t>& places : terms) {
      for (size_t i = places.size(); i > 1; --i) {
        std::swap(places[i - 1], places[static_cast<size_t>(random.Below(static_cast<int64_t>(i)))]);
      }
      double value = 0;
      for (size_t i = 0; i < places.size(); ++i) {
        const double next = std::ldexp(1 + random.Unit(), static_cast<int>(random.Between(-30, 30)));
        value = i % 2 == 0 ? static_cast<double>(static_cast<float>(next)) : -value;
        const bool is_alone = i % 2 == 0 && i + 1 == places.size();
        operands.inputs[0].Set(places[i], is_alone ? 0x1p-60 : value);
      }
    }
    ASSERT_TRUE(CheckOperands(op, c, operands, stream())) << ToString(shape.self) << ToString(shape.target);
    for (int64_t i = 0; i < operands.output.front().size(); ++i) {
      const double exact = terms[static_cast<size_t>(i)].size() % 2 == 0 ? 0 : -0x1p-60;
      inexact += operands.output.front().Real(i) != exact ? 1 : 0;
    }
  }
  EXPECT_GT(inexact, 100000);
}

// Terms of one sign: the sum in float64 is the exactly rounded one. (Nothing promises it for every sum; the data is
// fixed, and none of it comes as close to a tie as float64's own error.)
TEST_P(KlDivBackwardValues, WellConditionedSumsAreExactlyRounded) {
  const NumericDescription& op = DescribeKlDivBackward();
  int64_t sums = 0;
  for (const SumShape& shape : SumShapes()) {
    const Shape r = *Broadcast(shape.self, shape.target);
    if (NumElements(r) > 100000 || NumElements(r) == NumElements(shape.self)) {
      continue;
    }
    for (const DtypeNumber output : op.output_dtypes) {
      NumericCase c = CaseOf({}, shape.self, shape.target, {.reduction = 3});
      c.output.dtype = output;
      Operands operands = MakeOperands(op, c);
      RandomNumbers random(static_cast<uint64_t>(NumElements(r)));
      Set(operands.inputs[0], {random.Unit() + 0.5});
      for (int64_t i = 0; i < operands.inputs[2].size(); ++i) {
        operands.inputs[2].Set(i, random.Unit() + 0.01);
      }
      ASSERT_TRUE(CheckOperands(op, c, operands, stream()));

      const auto n = static_cast<float>(r.empty() ? 1 : r.front());
      const auto g = static_cast<float>(operands.inputs[0].Real(0));
      const std::vector<int64_t> position = OutputPositions(r, shape.self);
      std::vector<ExactSum> exact(static_cast<size_t>(NumElements(shape.self)));
      const std::vector<int64_t> target_at = BroadcastPositions(shape.target, r);
      for (size_t i = 0; i < position.size(); ++i) {
        const auto t = static_cast<float>(operands.inputs[2].Real(target_at[i]));
        exact[static_cast<size_t>(position[i])].Add(-(t * g) * (1.0f / n));
      }
      const FloatFormat format = output == ACL_FLOAT16 ? kFloat16 : output == ACL_BF16 ? kBfloat16 : kFloat32;
      for (int64_t i = 0; i < operands.output.front().size(); ++i) {
        ++sums;
        ASSERT_EQ(operands.output.front().Real(i),
                  DecodeFloat(format, exact[static_cast<size_t>(i)].RoundedTo(format)))
            << ToString(shape.self) << ToString(shape.target) << " " << DtypeName(output) << " element " << i;
      }
    }
  }
  EXPECT_GT(sums, 10000);
}

// Layouts of every operand around a sum: the order of the terms is logical, so none of them changes a bit.
TEST_P(KlDivBackwardValues, SumsInEveryLayout) {
  const NumericDescription& op = DescribeKlDivBackward();
  const std::vector<SumShape> shapes = {
      {{1, 33}, {7, 33}},           {{33, 1}, {33, 7}},       {{}, {600}},
      {{1, 40}, {300, 40}},         {{2, 1, 5}, {2, 530, 5}}, {{1, 6, 1}, {9, 6, 5}},
      {{6, 1, 4, 1}, {6, 3, 4, 5}}, {{4, 1}, {3, 4, 65}}};
  uint64_t seed = 0;
  for (const SumShape& shape : shapes) {
    const Shape r = *Broadcast(shape.self, shape.target);
    for (const Layout input : kInputLayouts) {
      for (const Layout output : kOutputLayouts) {
        for (const DtypeNumber dtype : op.input_dtypes) {
          ++seed;
          NumericCase c =
              CaseOf(r, shape.self, shape.target,
                     {.reduction = static_cast<int64_t>(seed % 4), .log_target = seed % 7 == 0}, dtype);
          c.inputs[0].layout = input;
          c.inputs[1].layout = kInputLayouts[seed % std::size(kInputLayouts)];
          c.inputs[2].layout = kInputLayouts[seed / 3 % std::size(kInputLayouts)];
          c.inputs[2].dtype = op.input_dtypes[seed / 5 % 3];
          c.output.layout = output;
          c.seed = seed;
          for (OperandPlan* operand : {&c.inputs[0], &c.inputs[2], &c.output}) {
            operand->placement.guard = seed % 2 == 0 ? Guard::kEnd : Guard::kStart;
          }
          ASSERT_TRUE(CheckCase(op, c, stream()));
        }
      }
    }
  }
}

// Special values of gradOutput and target against each other, as results and as sums of pairs and of rows.
TEST_P(KlDivBackwardValues, SpecialValues) {
  const NumericDescription& op = DescribeKlDivBackward();
  for (const DtypeNumber dtype : op.input_dtypes) {
    const std::vector<uint32_t> bits = SpecialBits(dtype);
    const auto count = static_cast<int64_t>(bits.size());
    for (const Shape& self : {Shape{count, count}, Shape{count, 1}, Shape{1, count}, Shape{}}) {
      for (const Attributes& attributes : op.attributes) {
        for (const DtypeNumber output : op.output_dtypes) {
          NumericCase c = CaseOf({count, 1}, self, {count, count}, attributes, dtype);
          c.output.dtype = output;
          Operands operands = MakeOperands(op, c);
          const auto bytes = static_cast<size_t>(ElementSize(dtype));
          for (int64_t i = 0; i < count; ++i) {
            std::memcpy(operands.inputs[0].Element(i), &bits[static_cast<size_t>(i)], bytes);
          }
          for (int64_t i = 0; i < count * count; ++i) {
            std::memcpy(operands.inputs[2].Element(i), &bits[static_cast<size_t>(i % count)], bytes);
          }
          ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
        }
      }
    }
  }
}

// Targets over the whole range in which exp is neither 0 nor infinite, and a little beyond.
TEST_P(KlDivBackwardValues, ExpOverItsRange) {
  const NumericDescription& op = DescribeKlDivBackward();
  constexpr int64_t kCount = 200003;
  for (const int64_t reduction : {0, 1}) {
    NumericCase c = CaseOf({}, {kCount}, {kCount}, {.reduction = reduction, .log_target = true});
    Operands operands = MakeOperands(op, c);
    Set(operands.inputs[0], {-1});
    for (int64_t i = 0; i < kCount; ++i) {
      operands.inputs[2].Set(i, -106.0 + 196.0 * static_cast<double>(i) / static_cast<double>(kCount));
    }
    ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
  }
}

// The workspace of a sum is small beside the terms.
TEST_P(KlDivBackwardValues, WorkspaceIsBounded) {
  const NumericDescription& op = DescribeKlDivBackward();
  for (const SumShape& shape : SumShapes()) {
    const int64_t terms = NumElements(*Broadcast(shape.self, shape.target));
    NumericCase c = CaseOf({}, shape.self, shape.target, {});
    Operands operands = MakeOperands(op, c);
    std::vector<aclTensor*> handles;
    for (HostTensor& input : operands.inputs) {
      handles.push_back(input.Handle());
    }
    handles.push_back(operands.output.front().Handle());
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(op.binding.plan(handles, {}, &size, &executor), 0);
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    EXPECT_LE(size, static_cast<uint64_t>(terms) * sizeof(float) / 8)
        << ToString(shape.self) << ToString(shape.target);
  }
}

INSTANTIATE_TEST_SUITE_P(On, KlDivBackwardValues, ::testing::ValuesIn(IsasToTest()),
                         [](const ::testing::TestParamInfo<engine::Isa>& isa) {
                           return std::string(engine::IsaName(isa.param));
                         });

// The same bits on every instruction set, and for every number of threads, also where threads share one sum.
TEST(KlDivBackwardSums, SameBitsEverywhere) {
  const NumericDescription& op = DescribeKlDivBackward();
  std::vector<NumericCase> cases;
  for (const SumShape& shape : SumShapes()) {
    const Shape r = *Broadcast(shape.self, shape.target);
    const uint64_t seed = cases.size() + 1;
    NumericCase c = CaseOf(r, shape.self, shape.target,
                           {.reduction = static_cast<int64_t>(seed % 4), .log_target = seed % 2 == 0},
                           op.input_dtypes[seed % 3]);
    c.output.dtype = op.output_dtypes[seed / 3 % 3];
    c.seed = seed;
    cases.push_back(c);
  }
  BitsAreTheSameEverywhere(op, cases);
}

}  // namespace
}  // namespace portacl::testing
