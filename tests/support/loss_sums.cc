// Tests of reductions: see loss_sums.h.
// SPDX-License-Identifier: Apache-2.0
#include "loss_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "exact_sum.h"
#include "float_formats.h"
#include "loss_terms.h"
#include "ordered_sum.h"
#include "two_phase.h"

namespace portacl::testing {
namespace {

struct InputShapes {
  Shape self, target;
};

// Returns lengths at which lanes, rows, blocks and chunks begin and end, alone and as each axis of several.
std::vector<InputShapes> SumShapes() {
  std::vector<InputShapes> shapes;
  for (int64_t n = 1; n <= 40; ++n) {
    shapes.push_back({{n}, {n}});
    shapes.push_back({{n, 3}, {3}});
    shapes.push_back({{3, n}, {3, 1}});
  }
  for (const int64_t n :
       {255, 256, 257, 511, 512, 513, 769, 1025, 4095, 4096, 4097, 8191, 8192, 8193, 12289, 16385, 70001}) {
    shapes.push_back({{n}, {}});
    shapes.push_back({{n, 3}, {n, 1}});
    shapes.push_back({{3, n}, {n}});
    shapes.push_back({{1, n}, {1, n}});
    shapes.push_back({{n, 1}, {1}});
    shapes.push_back({{2, n, 5}, {n, 1}});
  }
  for (const InputShapes& shape : {
           InputShapes{{}, {}},
           InputShapes{{1, 1, 1}, {}},
           InputShapes{{3, 4096, 5}, {4096, 1}},
           InputShapes{{513, 1}, {1, 70}},
           InputShapes{{257, 3}, {257, 3}},
           InputShapes{{1 << 20}, {1 << 20}},
           InputShapes{{5, 1 << 16}, {1 << 16}},
           InputShapes{{1 << 16, 5}, {5}},
           InputShapes{{2, 3, 1, 7, 11}, {3, 2, 1, 1}},
           InputShapes{{300, 1, 7, 1, 1}, {7, 1, 1}},
           InputShapes{{2, 3, 2, 3, 2, 3, 2, 3}, {2, 3, 1, 3, 2, 1, 2, 3}},
       }) {
    shapes.push_back(shape);
  }
  return shapes;
}

NumericCase CaseOf(const NumericDescription& op, const InputShapes& shapes, uint64_t seed,
                   DtypeNumber dtype = ACL_FLOAT) {
  NumericCase c;
  c.inputs = {{dtype, shapes.self, Layout::kDense, {}}, {dtype, shapes.target, Layout::kDense, {}}};
  c.output.dtype = dtype;
  c.attributes = op.attributes[seed % op.attributes.size()];
  c.seed = seed;
  return c;
}

FloatFormat FormatOf(DtypeNumber dtype) {
  return dtype == ACL_FLOAT16 ? kFloat16 : dtype == ACL_BF16 ? kBfloat16 : kFloat32;
}

// Draws a pair for which every loss here is positive, with and without logTarget.
std::pair<double, double> PairOfOneSign(RandomNumbers& random, bool log_target) {
  const double self = -10 + 5 * random.Unit();
  return {self, log_target ? -4 * random.Unit() : 0.01 + 0.99 * random.Unit()};
}

// Returns the shape that a reduction keeps of R: all axes but the first, or none.
Shape Kept(const NumericDescription& op, const std::vector<Shape>& shapes) {
  const Shape r = *Broadcast(shapes);
  Shape kept(r.size(), 1);
  if (op.output_shape(shapes).size() + 1 == r.size() && r.size() > 1) {
    kept = r;
    kept.front() = 1;
  }
  return kept;
}

double Factor(const Shape& r, const Shape& kept, const Attributes& attributes) {
  switch (attributes.reduction) {
    case 1:
      return static_cast<double>(MeanFactor(NumElements(r) / NumElements(kept)));
    case 3:
      return static_cast<double>(MeanFactor(r.empty() ? 1 : r.front()));
    default:
      return 1.0;
  }
}

}  // namespace

void CheckLossExample(const NumericDescription& op, const LossExample& example, aclrtStream stream) {
  for (const DtypeNumber dtype : op.input_dtypes) {
    SCOPED_TRACE(DtypeName(dtype));
    const Shape shape = {std::ssize(example.self)};
    NumericCase c = CaseOf(op, {shape, shape}, 1, dtype);
    c.output.dtype = ACL_FLOAT;
    c.attributes = {.reduction = example.reduction, .beta = example.beta, .log_target = example.log_target};
    Operands operands = MakeOperands(op, c);
    for (int64_t i = 0; i < shape.front(); ++i) {
      operands.inputs[0].Set(i, example.self[static_cast<size_t>(i)]);
      operands.inputs[1].Set(i, example.target[static_cast<size_t>(i)]);
    }
    ASSERT_TRUE(CheckOperands(op, c, operands, stream));
    const HostTensor& output = operands.output.front();
    ASSERT_EQ(output.size(), std::ssize(example.expected));
    for (int64_t i = 0; i < output.size(); ++i) {
      const double found = output.Real(i);
      const double expected = example.expected[static_cast<size_t>(i)];
      EXPECT_EQ(std::isnan(found), std::isnan(expected)) << found << " element " << i;
      if (!std::isnan(expected)) {
        EXPECT_EQ(found, InFloat(expected)) << "element " << i;
        EXPECT_EQ(std::signbit(found), std::signbit(expected)) << "element " << i;
      }
    }
  }
}

NumericDescription WithOutputShape(const NumericDescription& op, const Shape& shape) {
  NumericDescription other = op;
  other.output_shape = [shape](std::span<const Shape>) { return shape; };
  other.oracle = [oracle = op.oracle, shape](std::span<const LogicalTensor> inputs, const Attributes& a) {
    Prediction result = oracle(inputs, a);
    result.shape = shape;
    return result;
  };
  return other;
}

void WideOutputsHoldFloat32(const NumericDescription& op, aclrtStream stream) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    std::vector<double> narrow;
    for (const DtypeNumber dtype : {ACL_FLOAT, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128}) {
      NumericCase c =
          CaseOf(op, {{static_cast<int64_t>(seed * 7 % 50)}, {}}, seed, op.input_dtypes[seed % 3]);
      c.output.dtype = dtype;
      Operands operands = MakeOperands(op, c);
      FillInputs(c, operands);
      std::vector<aclTensor*> handles = {operands.inputs[0].Handle(), operands.inputs[1].Handle(),
                                         operands.output[0].Handle()};
      const CallResult call = CallTwoPhase(op.binding, handles, c.attributes, stream);
      ASSERT_TRUE(call.Succeeded()) << call.message;
      const HostTensor& output = operands.output.front();
      const double found = output.Real(0);
      if (dtype == ACL_FLOAT) {
        narrow = {found};
      }
      if (std::isnan(narrow[0])) {
        EXPECT_TRUE(std::isnan(found));
      } else {
        EXPECT_EQ(found, narrow[0]) << DtypeName(dtype);
      }
      if (IsComplexDtype(dtype)) {  // the imaginary part is +0
        const auto half = static_cast<size_t>(ElementSize(dtype) / 2);
        const std::vector<std::byte> zeros(half);
        EXPECT_EQ(std::memcmp(output.Element(0) + half, zeros.data(), half), 0);
      }
    }
  }
}

void LossSumSuite::SumsOfEveryShape(const NumericDescription& op) {
  uint64_t seed = 0;
  for (const InputShapes& shapes : SumShapes()) {
    const bool large = NumElements(*Broadcast(shapes.self, shapes.target)) > 100000;
    for (const DtypeNumber output : op.output_dtypes) {
      ++seed;
      if (large && output != ACL_FLOAT) {
        continue;
      }
      NumericCase c = CaseOf(op, shapes, seed, op.input_dtypes[seed / 2 % 3]);
      c.output.dtype = output;
      if (seed % 2 == 0) {
        std::swap(c.inputs[0], c.inputs[1]);
      }
      ASSERT_TRUE(CheckCase(op, c, stream()));
    }
  }
}

void LossSumSuite::SumsInEveryLayout(const NumericDescription& op) {
  uint64_t seed = 0;
  for (const InputShapes& shapes :
       {InputShapes{{33, 7}, {33, 7}}, InputShapes{{600}, {600}}, InputShapes{{300, 40}, {40}},
        InputShapes{{2, 530, 5}, {530, 1}}, InputShapes{{6, 3, 4, 5}, {3, 1, 5}},
        InputShapes{{3, 4, 65}, {3, 4, 65}}}) {
    for (const Layout first : kInputLayouts) {
      for (const Layout second : kInputLayouts) {
        ++seed;
        NumericCase c = CaseOf(op, shapes, seed, op.input_dtypes[seed % 3]);
        c.output.dtype = op.output_dtypes[seed / 3 % op.output_dtypes.size()];
        c.inputs[0].layout = first;
        c.inputs[1].layout = second;
        c.output.layout = kOutputLayouts[seed % std::size(kOutputLayouts)];
        c.output.placement.guard = seed % 2 == 0 ? Guard::kEnd : Guard::kStart;
        ASSERT_TRUE(CheckCase(op, c, stream()));
      }
    }
  }
}

namespace {

// The exact sums of the float32 terms, which reduction none computes, and the sums of their magnitudes.
struct SumsOfTerms {
  std::vector<ExactSum> exact;
  std::vector<double> magnitude;
};

SumsOfTerms SumTerms(const NumericDescription& op, std::vector<HostTensor>& inputs, Attributes attributes,
                     const Shape& kept, aclrtStream stream) {
  const Shape r = *Broadcast(inputs[0].shape(), inputs[1].shape());
  RandomNumbers unused(1);
  HostTensor terms(ACL_FLOAT, MakeView(r, Layout::kDense, unused));
  attributes.reduction = 0;
  const std::vector<aclTensor*> handles = {inputs[0].Handle(), inputs[1].Handle(), terms.Handle()};
  const CallResult call = CallTwoPhase(op.binding, handles, attributes, stream);
  EXPECT_TRUE(call.Succeeded()) << call.message;
  SumsOfTerms sums;
  sums.exact.resize(static_cast<size_t>(NumElements(kept)));
  sums.magnitude.assign(sums.exact.size(), 0.0);
  const std::vector<int64_t> position = OutputPositions(r, kept);
  for (size_t i = 0; i < position.size(); ++i) {
    const double term = terms.Real(static_cast<int64_t>(i));
    EXPECT_TRUE(std::isfinite(term));
    sums.exact[static_cast<size_t>(position[i])].Add(static_cast<float>(term));
    sums.magnitude[static_cast<size_t>(position[i])] += std::fabs(term);
  }
  return sums;
}

HostTensor Reduce(const NumericDescription& op, std::vector<HostTensor>& inputs, const Attributes& attributes,
                  DtypeNumber dtype, aclrtStream stream) {
  RandomNumbers unused(1);
  const std::vector<Shape> shapes = {inputs[0].shape(), inputs[1].shape()};
  HostTensor output(dtype, MakeView(op.output_shape(shapes), Layout::kDense, unused));
  const std::vector<aclTensor*> handles = {inputs[0].Handle(), inputs[1].Handle(), output.Handle()};
  const CallResult call = CallTwoPhase(op.binding, handles, attributes, stream);
  EXPECT_TRUE(call.Succeeded()) << call.message;
  return output;
}

}  // namespace

void LossSumSuite::SumsAreExact(const NumericDescription& op) {
  uint64_t seed = 0;
  int64_t sums = 0;
  RandomNumbers random(0x5E5);
  for (const InputShapes& shapes : SumShapes()) {
    const std::vector<Shape> both = {shapes.self, shapes.target};
    const Shape kept = Kept(op, both);
    NumericCase c = CaseOf(op, shapes, ++seed);
    Operands operands = MakeOperands(op, c);
    for (size_t k = 0; k < 2; ++k) {
      for (int64_t i = 0; i < operands.inputs[k].size(); ++i) {
        const auto [self, target] = PairOfOneSign(random, c.attributes.log_target);
        operands.inputs[k].Set(i, k == 0 ? self : target);
      }
    }
    const SumsOfTerms terms = SumTerms(op, operands.inputs, c.attributes, kept, stream());
    const double factor = Factor(*Broadcast(both), kept, c.attributes);
    for (const DtypeNumber dtype : op.output_dtypes) {
      if (dtype == ACL_COMPLEX64) {
        continue;
      }
      const HostTensor output = Reduce(op, operands.inputs, c.attributes, dtype, stream());
      const FloatFormat format = FormatOf(dtype);
      for (int64_t i = 0; i < output.size(); ++i) {
        ++sums;
        const ExactSum& sum = terms.exact[static_cast<size_t>(i)];
        const double magnitude = terms.magnitude[static_cast<size_t>(i)];
        ASSERT_NEAR(sum.ToDouble(), magnitude, 1e-9 * magnitude) << "terms of one sign";
        const uint32_t bits = c.attributes.reduction == 2 ? sum.RoundedTo(format)
                                                          : EncodeFloat(format, sum.ToDouble() * factor);
        ASSERT_EQ(output.Real(i), DecodeFloat(format, bits)) << Describe(op, c) << " element " << i;
      }
    }
  }
  EXPECT_GT(sums, 500);
}

void LossSumSuite::SumsAreBoundedByTheirTerms(const NumericDescription& op) {
  uint64_t seed = 0;
  int64_t cancelled = 0;
  for (const InputShapes& shapes : SumShapes()) {
    const std::vector<Shape> both = {shapes.self, shapes.target};
    const Shape r = *Broadcast(both);
    const Shape kept = Kept(op, both);
    NumericCase c = CaseOf(op, shapes, ++seed);
    Operands operands = MakeOperands(op, c);
    RandomNumbers random(seed);
    for (HostTensor& input : operands.inputs) {
      for (int64_t i = 0; i < input.size(); ++i) {
        // Values of every magnitude; not negative for logarithms.
        const double value = std::ldexp(1 + random.Unit(), static_cast<int>(random.Between(-20, 4)));
        const bool negative = &input == &operands.inputs[0] && random.Chance(50);
        input.Set(i, negative ? -value : value);
      }
    }
    const SumsOfTerms terms = SumTerms(op, operands.inputs, c.attributes, kept, stream());
    const HostTensor output = Reduce(op, operands.inputs, c.attributes, ACL_FLOAT, stream());
    const double factor = Factor(r, kept, c.attributes);
    const auto blocks = static_cast<uint64_t>(NumElements(r) / NumElements(kept) / 256 + 1);
    for (int64_t i = 0; i < output.size(); ++i) {
      const auto at = static_cast<size_t>(i);
      const double exact = terms.exact[at].ToDouble() * factor;
      cancelled += std::fabs(terms.exact[at].ToDouble()) < terms.magnitude[at] / 2 ? 1 : 0;
      // The bound of docs/numerics.md, plus one last place of float64 each for the exact sum here, for its
      // product with the factor here, and for that product in the library.
      const auto additions = static_cast<double>(260 + std::bit_width(blocks) + 3);
      const double bound = additions * 0x1p-53 * terms.magnitude[at] * factor + FloatUlp(exact) / 2;
      ASSERT_LE(std::fabs(output.Real(i) - exact), bound) << Describe(op, c) << " element " << i;
    }
  }
  if (op.binding.name == "aclnnKlDiv") {
    EXPECT_GT(cancelled, 20) << "terms of both signs";
  }
}

void BitsAreTheSameEverywhere(const NumericDescription& op, const std::vector<NumericCase>& cases) {
  std::vector<std::vector<std::byte>> first;
  for (const engine::Isa isa : IsasToTest()) {
    for (const char* threads : {"1", "2", "3", "7", "16"}) {
      const ScopedEnvironment environment(
          Variables{{"PORTACL_ISA", engine::IsaName(isa)}, {"PORTACL_NUM_THREADS", threads}});
      ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
      std::vector<std::vector<std::byte>> results;
      for (const NumericCase& c : cases) {
        results.push_back(ComputeBytes(op, c, environment.stream()));
      }
      if (first.empty()) {
        first = std::move(results);
        continue;
      }
      for (size_t i = 0; i < cases.size(); ++i) {
        ASSERT_TRUE(results[i] == first[i])
            << engine::IsaName(isa) << " with " << threads << " threads: " << Describe(op, cases[i]);
      }
    }
  }
}

void LossSumSuite::MeansAreSumsOverTheDivisor(const NumericDescription& op) {
  uint64_t seed = 0;
  for (const InputShapes& shapes : SumShapes()) {
    const std::vector<Shape> both = {shapes.self, shapes.target};
    const Shape r = *Broadcast(both);
    ++seed;
    for (Attributes attributes : op.attributes) {
      if (attributes.reduction == 2) {
        continue;
      }
      std::vector<std::vector<float>> results;
      for (const int64_t reduction : {int64_t{2}, attributes.reduction}) {
        NumericCase c = CaseOf(op, shapes, seed);
        c.fill = Fill::kOrdinary;
        c.attributes = attributes;
        c.attributes.reduction = reduction;
        const std::vector<std::byte> bytes = ComputeBytes(op, c, stream());
        results.emplace_back(bytes.size() / sizeof(float));
        std::memcpy(results.back().data(), bytes.data(), bytes.size());
      }
      const Shape kept = Kept(op, both);
      const int64_t n = attributes.reduction == 1 ? NumElements(r) / NumElements(kept) : r.empty() ? 1 : r[0];
      for (size_t i = 0; i < results[0].size(); ++i) {
        const auto sum = static_cast<double>(results[0][i]);
        const auto found = static_cast<double>(results[1][i]);
        const double product = InFloat(sum * static_cast<double>(MeanFactor(n)));
        const double quotient = InFloat(sum / static_cast<double>(n));
        if (std::isnan(sum)) {
          ASSERT_TRUE(std::isnan(found));
          continue;
        }
        // The library rounds once, after the multiplication. Here the sum was rounded before it, which moves
        // the result by less than two last places, and so by one at most. The factor's own rounding moves it
        // by one more.
        const double ulp = std::max(FloatUlp(product), FloatUlp(found));
        const double from_quotient = std::has_single_bit(static_cast<uint64_t>(n)) ? 0 : 2;
        ASSERT_LE(std::fabs(found - product), ulp) << ToString(shapes.self) << ToString(shapes.target);
        ASSERT_LE(std::fabs(found - quotient), from_quotient * ulp)
            << ToString(shapes.self) << ToString(shapes.target) << " element " << i;
      }
    }
  }
}

void SumsHaveSameBitsEverywhere(const NumericDescription& op) {
  std::vector<NumericCase> cases;
  for (const InputShapes& shapes : SumShapes()) {
    const uint64_t seed = cases.size() + 1;
    NumericCase c = CaseOf(op, shapes, seed, op.input_dtypes[seed % 3]);
    c.output.dtype = op.output_dtypes[seed / 3 % op.output_dtypes.size()];
    c.inputs[0].layout = seed % 4 == 0 ? Layout::kPermuted : Layout::kDense;
    cases.push_back(c);
  }
  BitsAreTheSameEverywhere(op, cases);
}

namespace {

// A dense tensor over the test's own memory, without the bookkeeping, which would be too slow for large
// tensors.
class PlainTensor {
 public:
  PlainTensor(const Shape& shape, void* data)
      : handle_(aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                shape.data(), shape.size(), data)) {}
  ~PlainTensor() { aclDestroyTensor(handle_); }
  PlainTensor(const PlainTensor&) = delete;
  PlainTensor& operator=(const PlainTensor&) = delete;
  aclTensor* handle() const { return handle_; }

 private:
  aclTensor* handle_;
};

}  // namespace

void CheckLargeSum(const NumericDescription& op, int64_t count, aclrtStream stream) {
  constexpr int64_t kColumns = 8192;
  constexpr int64_t kRowsAtOnce = 64;
  const int64_t rows = count / kColumns;
  std::vector<float> self(static_cast<size_t>(count));
  std::vector<float> target(kColumns);
  std::vector<float> terms(kRowsAtOnce * kColumns);
  const Shape shape = {rows, kColumns};
  const std::vector<Shape> both = {shape, {kColumns}};
  const Shape kept = Kept(op, both);
  const bool each_column = NumElements(kept) > 1;
  const auto outputs = static_cast<size_t>(NumElements(kept));

  for (const bool log_target : {false, true}) {
    std::vector<Attributes> reductions;
    for (const Attributes& attributes : op.attributes) {
      if (attributes.log_target == log_target) {
        reductions.push_back(attributes);
      }
    }
    if (reductions.empty()) {
      continue;
    }
    RandomNumbers random(0xB16);
    for (float& value : self) {
      value = static_cast<float>(PairOfOneSign(random, log_target).first);
    }
    for (float& value : target) {
      value = static_cast<float>(PairOfOneSign(random, log_target).second);
    }
    const PlainTensor target_tensor({kColumns}, target.data());
    const PlainTensor self_tensor(shape, self.data());

    for (size_t at = 0; at < reductions.size() && at < 3; ++at) {
      const Attributes& attributes = reductions[at];
      std::vector<ExactSum> exact(outputs);
      Attributes none = attributes;
      none.reduction = 0;
      for (int64_t row = 0; row < rows; row += kRowsAtOnce) {
        const Shape slice = {kRowsAtOnce, kColumns};
        const PlainTensor self_slice(slice, self.data() + row * kColumns);
        const PlainTensor term_tensor(slice, terms.data());
        const std::vector<aclTensor*> handles = {self_slice.handle(), target_tensor.handle(),
                                                 term_tensor.handle()};
        const CallResult call = CallTwoPhase(op.binding, handles, none, stream);
        ASSERT_TRUE(call.Succeeded()) << call.message;
        for (size_t i = 0; i < terms.size(); ++i) {
          exact[each_column ? i % kColumns : 0].Add(terms[i]);
        }
      }

      std::vector<float> result(outputs);
      const PlainTensor result_tensor(op.output_shape(both), result.data());
      const std::vector<aclTensor*> handles = {self_tensor.handle(), target_tensor.handle(),
                                               result_tensor.handle()};
      const CallResult call = CallTwoPhase(op.binding, handles, attributes, stream);
      ASSERT_TRUE(call.Succeeded()) << call.message;
      const double factor = Factor(shape, kept, attributes);
      for (size_t i = 0; i < outputs; ++i) {
        const uint32_t bits = attributes.reduction == 2 ? exact[i].RoundedTo(kFloat32)
                                                        : EncodeFloat(kFloat32, exact[i].ToDouble() * factor);
        ASSERT_EQ(std::bit_cast<uint32_t>(result[i]), bits)
            << op.binding.name << ", reduction " << attributes.reduction << ", logTarget " << log_target
            << ", beta " << attributes.beta << ", output " << i;
      }
    }
  }
}

}  // namespace portacl::testing
