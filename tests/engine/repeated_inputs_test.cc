// Inputs that are repeated, where a formula takes a costly function of them: the same bits as the same values give when
// they are all there in memory, and what oracles of the operators predict.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/isa.h"
#include "gtest/gtest.h"
#include "operators/losses.h"
#include "support/environment.h"
#include "support/loss_sums.h"
#include "support/numeric_case.h"
#include "support/numeric_suite.h"
#include "support/random_numbers.h"
#include "support/special_values.h"
#include "support/tensor_view.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

View Dense(const Shape& shape) {
  const int64_t elements = NumElements(shape);
  return {shape, DenseStrides(shape), 0, elements, {elements}};
}

enum class Values { kForSums, kAny };

// For sums, numbers that have a logarithm, and zeros; else also NaN, infinities, negative numbers, and some whose
// exponential is 0 or infinite.
void Fill(HostTensor& tensor, Values values, RandomNumbers& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const double special[] = {0.0, -0.0, 1.0, kNaN, kInfinity, -kInfinity, 89.0, -110.0};
  const bool any = values == Values::kAny;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const double number = static_cast<double>(random.Between(any ? -400 : 1, 400)) / 64;
    tensor.Set(i, random.Chance(5) ? special[random.Below(any ? 8 : 3)] : number);
  }
}

// A NaN is a NaN: its sign and payload are not promised.
std::vector<double> Numbers(const HostTensor& tensor) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const double number = tensor.Real(i);
    numbers.push_back(std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number);
  }
  return numbers;
}

bool SameBits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// The same tensor over `shape`, each element in a place of its own.
HostTensor Materialised(const HostTensor& from, const Shape& shape) {
  HostTensor to(from.dtype(), Dense(shape));
  const std::vector<int64_t> position = BroadcastPositions(from.shape(), shape);
  for (int64_t i = 0; i < to.size(); ++i) to.Set(i, from.Real(position[static_cast<size_t>(i)]));
  return to;
}

CallResult Call(const OperatorBinding& binding, std::initializer_list<HostTensor*> tensors,
                const Attributes& attributes) {
  std::vector<aclTensor*> handles;
  for (HostTensor* tensor : tensors) handles.push_back(tensor->Handle());
  CallResult call = CallTwoPhase(binding, handles, attributes, nullptr);
  EXPECT_TRUE(call.Succeeded()) << call.message;
  return call;
}

// The numbers in out for the first operand (gradOutput, or self of the divergence) and target.
std::vector<double> Gradient(HostTensor& grad_output, HostTensor& target, const Shape& self_shape,
                             bool log_target) {
  HostTensor self(target.dtype(), Dense(self_shape));
  HostTensor out(grad_output.dtype(), Dense(self_shape));
  Call(DescribeKlDivBackward().binding, {&grad_output, &self, &target, &out},
       {.reduction = 1, .log_target = log_target});
  return Numbers(out);
}

std::vector<double> Divergence(HostTensor& self, HostTensor& target, const Attributes& attributes) {
  HostTensor out(self.dtype(), Dense(attributes.reduction == 0 ? self.shape() : Shape{}));
  Call(DescribeKlDiv().binding, {&self, &target, &out}, attributes);
  return Numbers(out);
}

struct Types {
  DtypeNumber target;
  DtypeNumber other;
};

// `selfs`: shapes of self, to which the gradient's terms are summed where they are not `shape`.
void ExpectSameBits(const Shape& shape, const View& target_view, const Types& types,
                    const std::vector<Shape>& selfs, RandomNumbers& random) {
  HostTensor first(types.other, Dense(shape));
  HostTensor target(types.target, target_view);
  for (const Values values : {Values::kForSums, Values::kAny}) {
    Fill(first, values, random);
    Fill(target, values, random);
    HostTensor all = Materialised(target, shape);
    for (const bool log_target : {true, false}) {
      for (const Shape& self : selfs) {
        if (values == Values::kAny && self != shape) continue;
        EXPECT_TRUE(
            SameBits(Gradient(first, target, self, log_target), Gradient(first, all, self, log_target)))
            << "gradient, self " << ToString(self) << " log " << log_target;
      }
      for (int64_t reduction = 0; reduction <= (values == Values::kAny ? 0 : 3); ++reduction) {
        const Attributes attributes = {.reduction = reduction, .log_target = log_target};
        EXPECT_TRUE(SameBits(Divergence(first, target, attributes), Divergence(first, all, attributes)))
            << "divergence, reduction " << reduction << " log " << log_target;
      }
    }
  }
}

constexpr Types kTypes[] = {{ACL_FLOAT, ACL_FLOAT},   {ACL_BF16, ACL_BF16},  {ACL_FLOAT16, ACL_FLOAT16},
                            {ACL_FLOAT16, ACL_FLOAT}, {ACL_BF16, ACL_FLOAT}, {ACL_FLOAT, ACL_BF16},
                            {ACL_BF16, ACL_FLOAT16}};

TEST(RepeatedInputs, SameBitsAsValuesInMemory) {
  RandomNumbers random(5);
  for (const Isa isa : SupportedIsas()) {
    const ScopedEnvironment environment({{"PORTACL_ISA", IsaName(isa)}, {"PORTACL_NUM_THREADS", "2"}});
    for (const Types& types : kTypes) {
      const auto check = [&](const Shape& shape, const View& target, const std::vector<Shape>& selfs) {
        SCOPED_TRACE(std::string(IsaName(isa)) + " types " + DtypeName(types.target) + " " +
                     DtypeName(types.other) + " target " + ToString(target.shape) + " of " + ToString(shape));
        ExpectSameBits(shape, target, types, selfs, random);
      };
      // Rows, short and long; columns; one value; axes in the middle, and on both sides.
      check({70, 263}, Dense({263}), {{70, 263}, {70, 1}});
      check({600, 5}, Dense({1, 5}), {{600, 5}});
      check({9, 5000}, Dense({5000}), {{9, 5000}, {9, 1}});
      check({263, 70}, Dense({263, 1}), {{263, 70}, {70}});
      check({70, 70}, Dense({}), {{70, 70}});
      check({17, 9, 33}, Dense({17, 1, 33}), {{17, 9, 33}, {1, 9, 1}});
      check({5, 33, 2, 17}, Dense({33, 1, 17}), {{5, 33, 2, 17}});
      check({5, 33, 9, 3}, Dense({5, 1, 9, 1}), {{5, 33, 9, 3}, {1, 33, 1, 3}});
      // Every second element of a row, from the fourth on; backwards; across the rows.
      check({40, 131}, {{131}, {2}, 3, 300, {300}}, {{40, 131}});
      check({40, 131}, {{131}, {-2}, 290, 300, {300}}, {{40, 131}});
      check({11, 19, 21}, {{19, 21}, {1, 19}, 0, 399, {399}}, {{11, 19, 21}, {11, 1, 1}});
      // A tensor that repeats its elements by strides of 0.
      check({50, 77}, {{50, 77}, {0, 1}, 0, 77, {77}}, {{50, 77}});
      if (HasFailure()) return;
    }
  }
}

// The last that fits a thread's memory, and the first that does not; too few repeats; too few elements.
TEST(RepeatedInputs, SameBitsWhateverIsWorthwhile) {
  const ScopedEnvironment environment(Variables{Variable{"PORTACL_NUM_THREADS", "2"}});
  RandomNumbers random(6);
  for (const int64_t length : {int64_t{1} << 18, (int64_t{1} << 18) + 1}) {
    ExpectSameBits({4, length}, Dense({length}), {ACL_FLOAT, ACL_FLOAT}, {{4, length}}, random);
  }
  for (const Shape& shape : {Shape{3, 4000}, Shape{4, 512}, Shape{4, 511}}) {
    ExpectSameBits(shape, Dense({shape[1]}), {ACL_BF16, ACL_BF16}, {shape}, random);
  }
}

// Results may go where gradOutput is.
TEST(RepeatedInputs, InPlace) {
  const ScopedEnvironment environment(Variables{Variable{"PORTACL_NUM_THREADS", "2"}});
  RandomNumbers random(8);
  HostTensor target(ACL_FLOAT, Dense({300}));
  HostTensor grad_output(ACL_FLOAT, Dense({40, 300}));
  Fill(target, Values::kAny, random);
  Fill(grad_output, Values::kAny, random);
  const std::vector<double> expected = Gradient(grad_output, target, grad_output.shape(), true);
  HostTensor self(ACL_FLOAT, Dense({40, 300}));
  HostTensor out = HostTensor::SharingStorageOf(grad_output, grad_output.view());
  const CallResult call = Call(DescribeKlDivBackward().binding, {&grad_output, &self, &target, &out},
                               {.reduction = 1, .log_target = true});
  EXPECT_EQ(call.workspace_size, 0u);
  EXPECT_TRUE(SameBits(Numbers(out), expected));
}

// ---- against oracles ----

class RepeatedInputsNumerics : public NumericSuite {
 protected:
  // The operator's first operand has `shape`, its target `target`, which is repeated.
  static NumericCase CaseOf(const NumericDescription& op, const Shape& shape, const Shape& target,
                            const Types& types, const Attributes& attributes) {
    NumericCase c;
    c.inputs.assign(op.binding.tensors.size() - 1, {types.other, shape, Layout::kDense, {}});
    c.inputs.back() = {types.target, target, Layout::kDense, {}};
    c.output.dtype = types.other;
    c.attributes = attributes;
    c.fill = Fill::kOrdinary;
    return c;
  }
};

// Special values; numbers about where the exponential overflows and vanishes, and far beyond; ordinary ones.
std::vector<uint32_t> BitsToTry(DtypeNumber dtype) {
  std::vector<uint32_t> all = SpecialBits(dtype);
  const auto add = [&](double value) {
    uint32_t bits = 0;
    EncodeElement(dtype, value, &bits);
    all.push_back(bits);
  };
  for (const double value : {88.0, 88.7, 88.72283, 88.72284, 89.0, 1000.0, 60000.0, 1e30, -87.0, -87.5, -95.0,
                             -103.0, -103.2, -104.0, -105.0, -1000.0, -60000.0, -1e30}) {
    add(value);
  }
  for (int i = -6; i <= 6; ++i) add(i * 0.37);
  return all;
}

void Put(HostTensor& tensor, int64_t position, uint32_t bits) {
  std::memcpy(tensor.Element(position), &bits, static_cast<size_t>(ElementSize(tensor.dtype())));
}

// Each value of target with each of the first operand, target being a row or a column of it.
TEST_P(RepeatedInputsNumerics, SpecialValues) {
  for (const NumericDescription* op : {&DescribeKlDivBackward(), &DescribeKlDiv()}) {
    for (const Types& types : kTypes) {
      const std::vector<uint32_t> targets = BitsToTry(types.target);
      const std::vector<uint32_t> others = BitsToTry(types.other);
      const auto n = std::ssize(targets);
      const auto m = std::ssize(others);
      for (const bool is_row : {true, false}) {
        for (const Attributes& attributes : op->attributes) {
          const NumericCase c = CaseOf(*op, is_row ? Shape{m, n} : Shape{n, m},
                                       is_row ? Shape{n} : Shape{n, 1}, types, attributes);
          Operands operands = MakeOperands(*op, c);
          for (int64_t i = 0; i < n; ++i) Put(operands.inputs.back(), i, targets[static_cast<size_t>(i)]);
          for (int64_t i = 0; i < n * m; ++i)
            Put(operands.inputs.front(), i, others[static_cast<size_t>(is_row ? i / n : i % m)]);
          ASSERT_TRUE(CheckOperands(*op, c, operands, stream()));
        }
      }
    }
  }
}

// A gradient's sums across the elements of target; and for each of them, whatever it is, where a target of all elements
// repeats some of them by strides of 0.
TEST_P(RepeatedInputsNumerics, SumsOfGradients) {
  const NumericDescription& op = DescribeKlDivBackward();
  uint64_t seed = 0;
  for (const Types& types : kTypes) {
    const std::vector<uint32_t> bits = BitsToTry(types.target);
    const auto n = std::ssize(bits);
    const Shape row = {300, n};
    const Shape column = {n, 300};
    struct Sum {
      Shape shape, self;
      View target;
    };
    for (const Sum& sum :
         {Sum{row, {300, 1}, Dense({n})}, Sum{column, {1, 300}, Dense({n, 1})},
          Sum{row, {1, n}, {row, {0, 1}, 0, n, {n}}}, Sum{column, {n, 1}, {column, {1, 0}, 0, n, {n}}}}) {
      for (const Attributes& attributes : op.attributes) {
        NumericCase c = CaseOf(op, sum.shape, sum.target.shape, types, attributes);
        c.inputs[1].shape = sum.self;
        c.seed = ++seed;
        Operands operands = MakeOperands(op, c);
        HostTensor& target = operands.inputs.back();
        target = HostTensor(types.target, sum.target);
        FillInputs(c, operands);
        if (sum.target.shape == sum.shape) {
          for (int64_t i = 0; i < target.size(); ++i)
            Put(target, i, bits[static_cast<size_t>(sum.self == Shape{1, n} ? i % n : i / 300)]);
        }
        ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
      }
    }
  }
}

TEST_P(RepeatedInputsNumerics, SumsOfDivergences) {
  const NumericDescription& op = DescribeReducedKlDiv();
  uint64_t seed = 0;
  for (const Types& types : kTypes) {
    for (const Attributes& attributes : op.attributes) {
      for (const auto& [shape, target] :
           {std::pair<Shape, Shape>{{60, 70}, {70}}, {{70, 60}, {70, 1}}, {{5, 33, 18}, {33, 1}}}) {
        NumericCase c = CaseOf(op, shape, target, types, attributes);
        c.seed = ++seed;
        Operands operands = MakeOperands(op, c);
        FillInputs(c, operands);
        // Of a negative number there is no logarithm.
        HostTensor& of = operands.inputs.back();
        for (int64_t i = 0; !attributes.log_target && i < of.size(); ++i) of.Set(i, std::fabs(of.Real(i)));
        ASSERT_TRUE(CheckOperands(op, c, operands, stream()));
      }
    }
  }
}

PORTACL_ON_EVERY_ISA(RepeatedInputsNumerics);

}  // namespace
}  // namespace portacl::testing
