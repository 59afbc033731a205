// What holds for every operator, whatever its formula: how the same data is laid out, expanded, permuted or cut changes
// no bit. A gradient is the derivative of its loss and linear in gradOutput; a distance does not depend on the order of
// its two operands.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "operators/all_operators.h"
#include "support/environment.h"
#include "support/numeric_case.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

using Bytes = std::vector<std::byte>;

class Properties : public ::testing::TestWithParam<const NumericDescription*> {
 protected:
  void SetUp() override {
    environment_ = std::make_unique<ScopedEnvironment>(Variables{{"PORTACL_NUM_THREADS", "2"}});
    ASSERT_EQ(environment_->init_status(), ACL_SUCCESS);
  }
  void TearDown() override { environment_.reset(); }

  const NumericDescription& op() const { return *GetParam(); }
  size_t input_count() const { return op().binding.tensors.size() - 1; }

  // The output, dense, for these inputs.
  HostTensor Result(std::vector<HostTensor>& inputs, DtypeNumber dtype, const Attributes& attributes,
                    Layout layout = Layout::kDense) {
    RandomNumbers random(99);
    std::vector<Shape> shapes;
    std::vector<aclTensor*> handles;
    for (HostTensor& input : inputs) {
      shapes.push_back(input.shape());
      handles.push_back(input.Handle());
    }
    HostTensor output(dtype, MakeView(op().output_shape(shapes), layout, random));
    handles.push_back(output.Handle());
    const CallResult call = CallTwoPhase(op().binding, handles, attributes, environment_->stream());
    EXPECT_TRUE(call.Succeeded()) << call.message;
    return output;
  }

 private:
  std::unique_ptr<ScopedEnvironment> environment_;
};

// The elements' bits; every NaN counts as the same one.
Bytes ElementsOf(const HostTensor& tensor) {
  const auto bytes = static_cast<size_t>(ElementSize(tensor.dtype()));
  Bytes elements(static_cast<size_t>(tensor.size()) * bytes);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    std::byte* const to = &elements[static_cast<size_t>(i) * bytes];
    if (std::isnan(tensor.Real(i))) {
      std::memset(to, 0xFF, bytes);
    } else {
      std::memcpy(to, tensor.Element(i), bytes);
    }
  }
  return elements;
}

void CopyElement(const HostTensor& from, int64_t from_position, const HostTensor& to, int64_t to_position) {
  std::memcpy(to.Element(to_position), from.Element(from_position),
              static_cast<size_t>(ElementSize(from.dtype())));
}

HostTensor DenseTensor(DtypeNumber dtype, const Shape& shape) {
  RandomNumbers random(1);
  return HostTensor(dtype, MakeView(shape, Layout::kDense, random));
}

// The values of a tensor expanded to `shape`, each written out.
HostTensor WrittenOut(const HostTensor& tensor, const Shape& shape) {
  HostTensor dense = DenseTensor(tensor.dtype(), shape);
  const std::vector<int64_t> positions = BroadcastPositions(tensor.shape(), shape);
  for (int64_t i = 0; i < dense.size(); ++i) {
    CopyElement(tensor, positions[static_cast<size_t>(i)], dense, i);
  }
  return dense;
}

std::vector<HostTensor> Copies(const std::vector<HostTensor>& tensors) {
  std::vector<HostTensor> copies;
  for (const HostTensor& tensor : tensors) {
    copies.push_back(WrittenOut(tensor, tensor.shape()));
  }
  return copies;
}

// Ordinary numbers: nothing overflows or becomes subnormal on the way.
void FillOrdinary(HostTensor& tensor, RandomNumbers& random) {
  for (int64_t i = 0; i < tensor.size(); ++i) {
    tensor.Set(i,
               random.Chance(30) ? static_cast<double>(random.Between(-4, 4)) * 0.5 : random.Unit() * 6 - 3);
  }
}

std::vector<Shape> DrawShapes(const NumericDescription& op, int max_rank, RandomNumbers& random) {
  for (;;) {
    std::vector<Shape> shapes =
        RandomBroadcastShapes(static_cast<int>(op.binding.tensors.size()) - 1, max_rank, random);
    if (op.accepts(shapes)) {
      return shapes;
    }
  }
}

template <typename T>
const T& Draw(const std::vector<T>& values, RandomNumbers& random) {
  return values[static_cast<size_t>(random.Below(std::ssize(values)))];
}

std::vector<DtypeNumber> DrawDtypes(const NumericDescription& op, RandomNumbers& random) {
  for (;;) {
    std::vector<DtypeNumber> dtypes;
    for (size_t k = 0; k + 1 < op.binding.tensors.size(); ++k) {
      dtypes.push_back(Draw(op.input_dtypes, random));
    }
    if (op.accepts_dtypes(dtypes)) {
      return dtypes;
    }
  }
}

DtypeNumber DrawOutputDtype(const NumericDescription& op, const std::vector<DtypeNumber>& inputs,
                            RandomNumbers& random) {
  const DtypeNumber any = Draw(op.output_dtypes, random);
  return op.output_has_dtype_of < 0 ? any : inputs[static_cast<size_t>(op.output_has_dtype_of)];
}

std::string Describe(const std::vector<HostTensor>& inputs, const Attributes& attributes) {
  std::string text;
  for (const HostTensor& input : inputs) {
    text += DtypeName(input.dtype());
    text += ToString(input.shape());
    text += " ";
  }
  return text + "reduction " + std::to_string(attributes.reduction) + ", beta " +
         std::to_string(attributes.beta) + ", logTarget " + std::to_string(attributes.log_target);
}

class Gradients : public Properties {};

// The derivative by each element of an input, self for most, of c * sum(gradOutput * loss(self, target)), by central differences in
// float64. An operator whose output is larger than that input has the derivative of each expanded element by itself.
TEST_P(Gradients, DerivativeOfTheLoss) {
  ASSERT_TRUE(op().loss);
  RandomNumbers random(0xD1FFE7);
  int compared = 0;
  for (int repeat = 0; repeat < 400; ++repeat) {
    const std::vector<Shape> shapes = DrawShapes(op(), 4, random);
    const Attributes& attributes = op().attributes[static_cast<size_t>(repeat) % op().attributes.size()];
    std::vector<HostTensor> inputs;
    for (const Shape& shape : shapes) {
      inputs.push_back(DenseTensor(ACL_FLOAT, shape));
      FillOrdinary(inputs.back(), random);
    }
    const HostTensor output = Result(inputs, ACL_FLOAT, attributes);

    const Shape full = *Broadcast(shapes);
    const std::vector<int64_t> grad_at = BroadcastPositions(shapes[0], full);
    const std::vector<int64_t> self_at = BroadcastPositions(shapes[1], full);
    const std::vector<int64_t> target_at = BroadcastPositions(shapes[2], full);
    const std::vector<int64_t> output_at = BroadcastPositions(output.shape(), full);
    const double divisor = op().loss_divisor(shapes, attributes);
    constexpr double kStep = 0x1p-12;
    std::vector<double> derivative(static_cast<size_t>(output.size()), 0.0);
    std::vector<double> magnitude(derivative.size(), 0.0);
    std::vector<bool> smooth(derivative.size(), true);
    for (size_t i = 0; i < output_at.size(); ++i) {
      const auto at = static_cast<size_t>(output_at[i]);
      const double g = inputs[0].Real(grad_at[i]);
      const double x = inputs[1].Real(self_at[i]);
      const double y = inputs[2].Real(target_at[i]);
      const double by_self = op().gradient_by == 1 ? kStep : 0;
      const double by_target = kStep - by_self;
      const double slope = (op().loss(x + by_self, y + by_target, attributes) -
                            op().loss(x - by_self, y - by_target, attributes)) /
                           (2 * kStep);
      derivative[at] += g * slope / divisor;
      magnitude[at] += std::fabs(g / divisor) * (std::fabs(slope) + op().derivative_parts(x, y, attributes));
      smooth[at] = smooth[at] && op().kink_distance(x, y, attributes) > 2 * kStep;
    }
    for (size_t at = 0; at < derivative.size(); ++at) {
      if (!smooth[at]) {
        continue;
      }
      ++compared;
      const double found = output.Real(static_cast<int64_t>(at));
      ASSERT_NEAR(found, derivative[at], 1e-6 * magnitude[at] + 1e-9) << Describe(inputs, attributes);
    }
  }
  EXPECT_GT(compared, 5000);
}

TEST_P(Gradients, ScalingGradOutputScalesTheResult) {
  RandomNumbers random(0x5CA1E);
  for (int repeat = 0; repeat < 400; ++repeat) {
    const std::vector<Shape> shapes = DrawShapes(op(), 5, random);
    const Attributes& attributes = op().attributes[static_cast<size_t>(repeat) % op().attributes.size()];
    const DtypeNumber dtype = Draw(op().input_dtypes, random);
    const DtypeNumber output_dtype =
        DrawOutputDtype(op(), std::vector<DtypeNumber>(input_count(), dtype), random);
    const int power = static_cast<int>(random.Between(-4, 4));
    std::vector<HostTensor> inputs;
    for (const Shape& shape : shapes) {
      inputs.push_back(DenseTensor(dtype, shape));
      FillOrdinary(inputs.back(), random);
    }
    HostTensor& gradient = inputs[0];
    for (int64_t i = 0; i < gradient.size(); ++i) {
      if (std::fabs(gradient.Real(i)) < 0x1p-8) {
        gradient.Set(i, 0);  // so that none becomes subnormal
      }
    }
    const HostTensor plain = Result(inputs, output_dtype, attributes);
    for (int64_t i = 0; i < gradient.size(); ++i) {
      gradient.Set(i, std::ldexp(gradient.Real(i), power));
    }
    const HostTensor scaled = Result(inputs, output_dtype, attributes);
    for (int64_t i = 0; i < plain.size(); ++i) {
      const double expected = std::ldexp(plain.Real(i), power);
      const double largest = std::max(std::fabs(plain.Real(i)), std::fabs(scaled.Real(i)));
      if (largest != 0 && largest < 0x1p-10) {
        continue;  // one of the two may be subnormal in float16, or have been on the way
      }
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(scaled.Real(i))) << Describe(inputs, attributes);
        continue;
      }
      ASSERT_EQ(scaled.Real(i), expected) << Describe(inputs, attributes);
      ASSERT_EQ(std::signbit(scaled.Real(i)), std::signbit(expected)) << Describe(inputs, attributes);
    }
  }
}

// Operands in any layout, and the same values dense.
TEST_P(Properties, LayoutChangesNoBit) {
  RandomNumbers random(0x1A707);
  for (int repeat = 0; repeat < 1500; ++repeat) {
    const std::vector<Shape> shapes = DrawShapes(op(), 6, random);
    const Attributes& attributes = Draw(op().attributes, random);
    const std::vector<DtypeNumber> dtypes = DrawDtypes(op(), random);
    std::vector<HostTensor> inputs;
    for (size_t k = 0; k < shapes.size(); ++k) {
      const Layout layout = kInputLayouts[random.Below(std::ssize(kInputLayouts))];
      inputs.emplace_back(dtypes[k], MakeView(shapes[k], layout, random));
      FillOrdinary(inputs.back(), random);
    }
    std::vector<HostTensor> dense = Copies(inputs);
    const DtypeNumber dtype = DrawOutputDtype(op(), dtypes, random);
    const Layout layout = kOutputLayouts[random.Below(std::ssize(kOutputLayouts))];
    ASSERT_TRUE(ElementsOf(Result(inputs, dtype, attributes, layout)) ==
                ElementsOf(Result(dense, dtype, attributes)))
        << Describe(inputs, attributes);
  }
}

// Operands smaller than the shape that they are broadcast to, and written out in full. (The one by which a gradient is
// stays: its own shape may count.)
TEST_P(Properties, BroadcastingIsWritingOut) {
  RandomNumbers random(0xB40AD);
  int expanded = 0;
  for (int repeat = 0; repeat < 3000; ++repeat) {
    const std::vector<Shape> shapes = DrawShapes(op(), 6, random);
    const Attributes& attributes = Draw(op().attributes, random);
    const std::vector<DtypeNumber> dtypes = DrawDtypes(op(), random);
    std::vector<HostTensor> inputs;
    for (size_t k = 0; k < shapes.size(); ++k) {
      inputs.push_back(DenseTensor(dtypes[k], shapes[k]));
      FillOrdinary(inputs.back(), random);
    }
    const DtypeNumber dtype = DrawOutputDtype(op(), dtypes, random);
    const Bytes expected = ElementsOf(Result(inputs, dtype, attributes));
    const Shape full = *Broadcast(shapes);
    for (size_t operand = 0; operand < input_count(); ++operand) {
      if (shapes[operand] == full || (op().loss && operand == op().gradient_by)) {
        continue;
      }
      ++expanded;
      std::vector<HostTensor> written = Copies(inputs);
      written[operand] = WrittenOut(inputs[operand], full);
      ASSERT_TRUE(ElementsOf(Result(written, dtype, attributes)) == expected)
          << Describe(inputs, attributes) << ", operand " << operand;
    }
  }
  EXPECT_GT(expanded, 1000);
}

class Elementwise : public Properties {};

// With reduction none and operands of one shape, every element is by itself: permuting the axes of all operands permutes
// the result.
TEST_P(Elementwise, PermutingPermutes) {
  RandomNumbers random(0x9E48);
  for (int repeat = 0; repeat < 500; ++repeat) {
    const Shape shape = RandomBroadcastShapes(1, 5, random)[0];
    const size_t rank = shape.size();
    Attributes attributes = Draw(op().attributes, random);
    attributes.reduction = 0;
    const std::vector<DtypeNumber> dtypes = DrawDtypes(op(), random);
    const DtypeNumber dtype = DrawOutputDtype(op(), dtypes, random);

    std::vector<size_t> order(rank);  // axis `a` of the permuted tensor is axis order[a] of the original
    Shape permuted_shape(rank);
    for (size_t i = 0; i < rank; ++i) {
      order[i] = i;
    }
    for (size_t i = rank; i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<size_t>(random.Below(static_cast<int64_t>(i)))]);
    }
    const std::vector<int64_t> dense = DenseStrides(shape);
    std::vector<int64_t> strides(rank);
    for (size_t i = 0; i < rank; ++i) {
      permuted_shape[i] = shape[order[i]];
      strides[i] = dense[order[i]];
    }
    const std::vector<int64_t> original_at = StridedOffsets(permuted_shape, strides);

    std::vector<HostTensor> inputs;
    std::vector<HostTensor> permuted;
    for (size_t k = 0; k < input_count(); ++k) {
      inputs.push_back(DenseTensor(dtypes[k], shape));
      FillOrdinary(inputs.back(), random);
      permuted.push_back(DenseTensor(inputs.back().dtype(), permuted_shape));
      for (int64_t i = 0; i < permuted.back().size(); ++i) {
        CopyElement(inputs.back(), original_at[static_cast<size_t>(i)], permuted.back(), i);
      }
    }
    const HostTensor whole = Result(inputs, dtype, attributes);
    const HostTensor found = Result(permuted, dtype, attributes);
    HostTensor expected = DenseTensor(dtype, permuted_shape);
    for (int64_t i = 0; i < expected.size(); ++i) {
      CopyElement(whole, original_at[static_cast<size_t>(i)], expected, i);
    }
    ASSERT_TRUE(ElementsOf(found) == ElementsOf(expected)) << Describe(inputs, attributes);
  }
}

// ... and computing the parts of all operands by themselves gives the parts of the result.
TEST_P(Elementwise, SplittingSplits) {
  RandomNumbers random(0x5B117);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const int64_t count = repeat < 280 ? random.Between(1, 3000) : random.Between(60000, 150000);
    Attributes attributes = Draw(op().attributes, random);
    attributes.reduction = 0;
    const std::vector<DtypeNumber> dtypes = DrawDtypes(op(), random);
    const DtypeNumber dtype = DrawOutputDtype(op(), dtypes, random);
    std::vector<HostTensor> inputs;
    for (size_t k = 0; k < input_count(); ++k) {
      inputs.push_back(DenseTensor(dtypes[k], {count}));
      FillOrdinary(inputs.back(), random);
    }
    const Bytes whole = ElementsOf(Result(inputs, dtype, attributes));
    Bytes together;
    for (int64_t start = 0; start < count;) {
      const int64_t length = std::min(count - start, random.Between(1, std::max<int64_t>(count / 3, 1)));
      std::vector<HostTensor> part;
      for (const HostTensor& input : inputs) {
        part.push_back(DenseTensor(input.dtype(), {length}));
        for (int64_t i = 0; i < length; ++i) {
          CopyElement(input, start + i, part.back(), i);
        }
      }
      const Bytes elements = ElementsOf(Result(part, dtype, attributes));
      together.insert(together.end(), elements.begin(), elements.end());
      start += length;
    }
    ASSERT_TRUE(together == whole) << Describe(inputs, attributes);
  }
}

class Distances : public Properties {};

TEST_P(Distances, SelfAndTargetMayBeSwapped) {
  RandomNumbers random(0x54A9);
  for (int repeat = 0; repeat < 500; ++repeat) {
    const std::vector<Shape> shapes = DrawShapes(op(), 6, random);
    const Attributes& attributes = Draw(op().attributes, random);
    const std::vector<DtypeNumber> dtypes = DrawDtypes(op(), random);
    std::vector<HostTensor> inputs;
    for (size_t k = 0; k < shapes.size(); ++k) {
      inputs.push_back(DenseTensor(dtypes[k], shapes[k]));
      FillOrdinary(inputs.back(), random);
    }
    const DtypeNumber dtype = DrawOutputDtype(op(), dtypes, random);
    const HostTensor distance = Result(inputs, dtype, attributes);
    for (int64_t i = 0; i < distance.size(); ++i) {
      ASSERT_FALSE(std::signbit(distance.Real(i))) << Describe(inputs, attributes);
    }
    std::swap(inputs[0], inputs[1]);
    ASSERT_TRUE(ElementsOf(Result(inputs, dtype, attributes)) == ElementsOf(distance))
        << Describe(inputs, attributes);
  }
}

std::vector<const NumericDescription*> AllDistances() {
  return {&DescribeL1Loss(), &DescribeSmoothL1Loss(), &DescribeMseLoss(), &DescribeMseLossOut()};
}

std::vector<const NumericDescription*> AllReducedDistances() {
  return {&DescribeReducedL1Loss(), &DescribeReducedSmoothL1Loss(), &DescribeReducedMseLoss(),
          &DescribeReducedMseLossOut()};
}

std::string NameOf(const ::testing::TestParamInfo<const NumericDescription*>& op) {
  return op.param->binding.name;
}

INSTANTIATE_TEST_SUITE_P(Of, Properties, ::testing::ValuesIn(AllOperators()), NameOf);
INSTANTIATE_TEST_SUITE_P(OfReduced, Properties, ::testing::ValuesIn(AllReducedLosses()), NameOf);
INSTANTIATE_TEST_SUITE_P(Of, Gradients, ::testing::ValuesIn(AllGradients()), NameOf);
INSTANTIATE_TEST_SUITE_P(Of, Elementwise, ::testing::ValuesIn(AllOperators()), NameOf);
INSTANTIATE_TEST_SUITE_P(Of, Distances, ::testing::ValuesIn(AllDistances()), NameOf);
INSTANTIATE_TEST_SUITE_P(OfReduced, Distances, ::testing::ValuesIn(AllReducedDistances()), NameOf);

}  // namespace
}  // namespace portacl::testing
