// Operands of which every second element is used, which some instruction sets' kernels take as they are: against the
// operators' oracles, up to the last element before a page that nobody may access, and no byte between elements written.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "base/isa.h"
#include "gtest/gtest.h"
#include "operators/losses.h"
#include "support/numeric_case.h"
#include "support/numeric_suite.h"
#include "support/special_values.h"
#include "support/tensor_view.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

constexpr DtypeNumber kDtypes[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

// Every second element of each row; rows are `gap` elements apart.
View EverySecond(const Shape& shape, int64_t gap = 0) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 2;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = step;
    step = step * shape[axis] + gap;
  }
  int64_t last = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) last += (shape[axis] - 1) * strides[axis];
  return {shape, strides, 0, last + 1, {last + 1}};
}

class EverySecondNumerics : public NumericSuite {
 protected:
  // Inputs of these shapes and an output of `shape`, all of them of every second element; `guard` says where storage ends.
  bool Check(const NumericDescription& op, DtypeNumber dtype, const Shape& shape, std::vector<Shape> inputs,
             int64_t gap, Guard guard, const Attributes& attributes, int in_place = -1) {
    NumericCase c;
    for (const Shape& input : inputs) c.inputs.push_back({dtype, input, Layout::kDense, {.guard = guard}});
    c.output.dtype = dtype;
    c.attributes = attributes;
    c.seed = ++seed_;
    c.in_place = in_place;
    Operands operands = MakeOperands(op, c);
    for (size_t k = 0; k < inputs.size(); ++k)
      operands.inputs[k] = HostTensor(dtype, EverySecond(inputs[k], gap), {.guard = guard});
    FillInputs(c, operands);
    if (in_place < 0) {
      operands.output[0] = HostTensor(dtype, EverySecond(shape, gap), {.guard = guard});
    } else {
      const HostTensor& input = operands.inputs[static_cast<size_t>(in_place)];
      operands.output[0] = HostTensor::SharingStorageOf(input, input.view());
    }
    return CheckOperands(op, c, operands, stream());
  }

  // With every operator that has another count of inputs, or another formula.
  template <class F>
  static void ForEachOperator(F&& f) {
    for (const NumericDescription* op : {&DescribeL1LossBackward(), &DescribeSmoothL1LossBackward(),
                                         &DescribeKlDivBackward(), &DescribeL1Loss(), &DescribeKlDiv()}) {
      for (const DtypeNumber dtype : kDtypes) {
        for (const Attributes& attributes : op->attributes)
          f(*op, op->binding.tensors.size() - 1, dtype, attributes);
      }
    }
  }

 private:
  uint64_t seed_ = 0;
};

TEST_P(EverySecondNumerics, EveryLength) {
  ForEachOperator(
      [&](const NumericDescription& op, size_t inputs, DtypeNumber dtype, const Attributes& attributes) {
        for (int64_t n = 1; n <= 70; ++n) {
          for (const Guard guard : {Guard::kEnd, Guard::kStart})
            ASSERT_TRUE(Check(op, dtype, {n}, std::vector<Shape>(inputs, Shape{n}), 0, guard, attributes));
        }
        ASSERT_TRUE(
            Check(op, dtype, {40001}, std::vector<Shape>(inputs, Shape{40001}), 0, Guard::kEnd, attributes));
      });
}

// Rows with gaps between them; inputs that are one value, one value per row, and a row that is repeated.
TEST_P(EverySecondNumerics, Rows) {
  ForEachOperator(
      [&](const NumericDescription& op, size_t inputs, DtypeNumber dtype, const Attributes& attributes) {
        for (const int64_t columns : {2, 63, 64, 65, 80, 97, 300}) {
          const Shape shape = {5, columns};
          for (size_t other = 0; other < inputs; ++other) {
            for (const Shape& repeated : {shape, Shape{}, Shape{5, 1}, Shape{columns}}) {
              std::vector<Shape> shapes(inputs, shape);
              shapes[other] = repeated;
              // The gradient's sums have tests of their own.
              if (&op == &DescribeKlDivBackward() && other == 1 && repeated != shape) continue;
              ASSERT_TRUE(Check(op, dtype, shape, shapes, 7, Guard::kEnd, attributes));
            }
          }
        }
      });
}

TEST_P(EverySecondNumerics, InPlace) {
  ForEachOperator(
      [&](const NumericDescription& op, size_t inputs, DtypeNumber dtype, const Attributes& attributes) {
        for (const int64_t n : {5, 64, 500, 33000}) {
          for (int input = 0; input < static_cast<int>(inputs); ++input) {
            ASSERT_TRUE(Check(op, dtype, {n}, std::vector<Shape>(inputs, Shape{n}), 0, Guard::kEnd,
                              attributes, input));
          }
        }
      });
}

// Every value that is special to a type.
TEST_P(EverySecondNumerics, SpecialValues) {
  ForEachOperator(
      [&](const NumericDescription& op, size_t inputs, DtypeNumber dtype, const Attributes& attributes) {
        const std::vector<uint32_t> bits = SpecialBits(dtype);
        const auto count = std::ssize(bits);
        NumericCase c;
        c.inputs.assign(inputs, {dtype, {count * count}, Layout::kDense, {}});
        c.output.dtype = dtype;
        c.attributes = attributes;
        Operands operands = MakeOperands(op, c);
        for (HostTensor& input : operands.inputs) input = HostTensor(dtype, EverySecond({count * count}));
        FillInputs(c, operands);
        operands.output[0] = HostTensor(dtype, EverySecond({count * count}));
        for (int64_t i = 0; i < count * count; ++i) {
          const uint32_t first = bits[static_cast<size_t>(i / count)];
          const uint32_t last = bits[static_cast<size_t>(i % count)];
          std::memcpy(operands.inputs.front().Element(i), &first, static_cast<size_t>(ElementSize(dtype)));
          std::memcpy(operands.inputs.back().Element(i), &last, static_cast<size_t>(ElementSize(dtype)));
        }
        ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
      });
}

// Results may lie between the elements of an input.
TEST_P(EverySecondNumerics, BetweenAnInputsElements) {
  for (const DtypeNumber dtype : kDtypes) {
    for (const int64_t n : {7, 64, 333, 40000}) {
      const View even = {{n}, {2}, 0, 2 * n, {2 * n}};
      const View odd = {{n}, {2}, 1, 2 * n, {2 * n}};
      HostTensor grad_output(dtype, even);
      HostTensor self(dtype, even);
      HostTensor target(dtype, even);
      HostTensor out = HostTensor::SharingStorageOf(self, odd);
      for (int64_t i = 0; i < n; ++i) {
        grad_output.Set(i, static_cast<double>(i % 61 + 1) / 4);
        self.Set(i, static_cast<double>(i % 7));
        target.Set(i, static_cast<double>(i % 5));
      }
      aclTensor* const tensors[] = {grad_output.Handle(), self.Handle(), target.Handle(), out.Handle()};
      const CallResult call =
          CallTwoPhase(DescribeL1LossBackward().binding, tensors, {.reduction = 0}, stream());
      ASSERT_TRUE(call.Succeeded()) << call.message;
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(self.Real(i), static_cast<double>(i % 7)) << i;
        const int sign = (i % 7 > i % 5) - (i % 7 < i % 5);
        ASSERT_EQ(out.Real(i), sign * (static_cast<double>(i % 61 + 1) / 4)) << i;
      }
    }
  }
}

PORTACL_ON_EVERY_ISA(EverySecondNumerics);

}  // namespace
}  // namespace portacl::testing
