// The numeric tests of every operator: see numeric_suite.h.
// SPDX-License-Identifier: Apache-2.0
#include "numeric_suite.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "numeric_counts.h"
#include "special_values.h"
#include "two_phase.h"

namespace portacl::testing {
namespace {

constexpr int kMaxFailures = 5;  // one defect may fail thousands of cases: the first few are enough

bool Enough() {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return test->result()->total_part_count() >= kMaxFailures;
}

// A mixed-radix counter: calls `visit` with every combination of one choice per position.
template <typename T, typename Visit>
void ForEachCombination(const std::vector<T>& choices, size_t positions, const Visit& visit) {
  std::vector<size_t> index(positions, 0);
  for (;;) {
    std::vector<T> combination;
    for (const size_t i : index) {
      combination.push_back(choices[i]);
    }
    visit(combination);
    size_t at = 0;
    while (at < positions && ++index[at] == choices.size()) {
      index[at++] = 0;
    }
    if (at == positions) {
      return;
    }
  }
}

NumericCase PlainCase(const NumericDescription& op, const Shape& shape, DtypeNumber dtype = ACL_FLOAT) {
  NumericCase c;
  for (size_t i = 0; i + 1 < op.binding.tensors.size(); ++i) {
    c.inputs.push_back({dtype, shape, Layout::kDense, {}});
  }
  c.output.dtype = dtype;
  c.attributes = op.attributes.front();
  return c;
}

// Tells whether a call's floating and integer types promote to the operator's floating types.
bool PromotesToFloating(const NumericDescription& op, const std::vector<DtypeNumber>& dtypes) {
  DtypeNumber promoted = dtypes.front();
  for (size_t i = 1; i < dtypes.size(); ++i) {
    promoted = PromoteDtypes(dtypes[i], promoted);
  }
  return std::find(op.input_dtypes.begin(), op.input_dtypes.end(), promoted) != op.input_dtypes.end();
}

template <typename T>
const T& Cycle(const std::vector<T>& values, size_t i) {
  return values[i % values.size()];
}

// Returns a sample of small and large cases, for comparing runs with each other.
std::vector<NumericCase> CrossSection(const NumericDescription& op, int small_cases,
                                      const std::vector<Shape>& large_shapes) {
  std::vector<NumericCase> cases;
  RandomNumbers random(0xC0FFEE);
  const auto inputs = static_cast<int>(op.binding.tensors.size()) - 1;
  while (static_cast<int>(cases.size()) < small_cases) {
    const std::vector<Shape> shapes = RandomBroadcastShapes(inputs, 4, random);
    if (!op.accepts(shapes)) {
      continue;
    }
    NumericCase c = PlainCase(op, {});
    for (size_t i = 0; i < shapes.size(); ++i) {
      c.inputs[i].shape = shapes[i];
      c.inputs[i].dtype = Cycle(op.input_dtypes, static_cast<size_t>(random.Below(100)));
      c.inputs[i].layout = kInputLayouts[random.Below(std::ssize(kInputLayouts))];
    }
    c.output.dtype = Cycle(op.output_dtypes, static_cast<size_t>(random.Below(100)));
    c.output.layout = kOutputLayouts[random.Below(std::ssize(kOutputLayouts))];
    c.attributes = Cycle(op.attributes, cases.size());
    c.seed = random.Bits() % 1000000 + 1;
    cases.push_back(c);
  }
  for (const Shape& shape : large_shapes) {
    for (const DtypeNumber dtype : op.input_dtypes) {
      NumericCase c = PlainCase(op, shape, dtype);
      c.attributes = Cycle(op.attributes, cases.size());
      c.seed = cases.size();
      cases.push_back(c);
      c.inputs.back().layout = Layout::kPermuted;
      cases.push_back(c);
    }
  }
  return cases;
}

}  // namespace

std::vector<engine::Isa> IsasToTest() {
  const auto isas = engine::SupportedIsas();
  return {isas.begin(), isas.end()};
}

void NumericSuite::SetUp() {
  Variables variables = {{"PORTACL_ISA", engine::IsaName(GetParam())}, {"PORTACL_NUM_THREADS", "2"}};
  if (const char* product = std::getenv("PORTACL_TEST_SOC")) {
    variables.push_back({"PORTACL_SOC", product});
  }
  environment_ = std::make_unique<ScopedEnvironment>(variables);
  ASSERT_EQ(environment_->init_status(), ACL_SUCCESS);
}

void NumericSuite::TearDown() {
  environment_.reset();
  RecordNumericCounts();
}

void RecordNumericCounts() {
  NumericCounts& counts = CountsOfThisProcess();
  static int64_t cases_before = 0;
  static int64_t refused_before = 0;
  static int64_t special_values_before = 0;
  const auto record = [](const char* name, const std::atomic<int64_t>& count, int64_t& before) {
    ::testing::Test::RecordProperty(name, std::to_string(count - before));
    before = count;
  };
  record("numeric_cases", counts.cases, cases_before);
  record("refused_cases", counts.refused, refused_before);
  record("special_value_cases", counts.special_values, special_values_before);
}

void NumericSuite::ForcedIsaRuns(const NumericDescription& op) {
  EXPECT_EQ(engine::IsaInUse(), GetParam()) << engine::IsaName(engine::IsaInUse());
  for (const Shape& shape : {Shape{1}, Shape{1000}, Shape{200003}}) {
    CheckCase(op, PlainCase(op, shape), stream());
    EXPECT_EQ(engine::IsaThatRanLast(), GetParam())
        << engine::IsaName(engine::IsaThatRanLast()) << " ran for " << ToString(shape);
  }
}

void NumericSuite::DtypeMixes(const NumericDescription& op) {
  uint64_t seed = 0;
  ForEachCombination(op.input_dtypes, op.binding.tensors.size() - 1,
                     [&](const std::vector<DtypeNumber>& dtypes) {
                       for (const DtypeNumber output : op.output_dtypes) {
                         for (const Attributes& attributes : op.attributes) {
                           for (const Shape& shape : {Shape{83}, Shape{3, 5, 7}, Shape{}}) {
                             if (Enough()) {
                               return;
                             }
                             NumericCase c = PlainCase(op, shape);
                             for (size_t i = 0; i < dtypes.size(); ++i) {
                               c.inputs[i].dtype = dtypes[i];
                             }
                             c.output.dtype = output;
                             c.attributes = attributes;
                             c.seed = ++seed;
                             CheckCase(op, c, stream());
                           }
                         }
                       }
                     });
}

void NumericSuite::IntegersAreRefused(const NumericDescription& description) {
  NumericDescription op = description;
  op.accepts_dtypes = [](std::span<const DtypeNumber>) { return true; };  // keeps the dtypes of this test
  for (const DtypeNumber dtype : {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL}) {
    for (size_t operand = 0; operand + 1 < op.binding.tensors.size(); ++operand) {
      NumericCase c = PlainCase(op, {5});
      c.inputs[operand].dtype = dtype;
      Operands operands = MakeOperands(op, c);
      std::vector<aclTensor*> handles;
      for (HostTensor& input : operands.inputs) {
        handles.push_back(input.Handle());
      }
      handles.push_back(operands.output.front().Handle());
      EXPECT_NE(CallTwoPhase(op.binding, handles, c.attributes, stream()).plan, 0) << Describe(op, c);
    }
  }
}

void NumericSuite::IntegerInputs(const NumericDescription& op) {
  if (op.integer_dtypes.empty()) {
    IntegersAreRefused(op);
    return;
  }
  std::vector<DtypeNumber> all = op.input_dtypes;
  all.insert(all.end(), op.integer_dtypes.begin(), op.integer_dtypes.end());
  uint64_t seed = 0;
  ForEachCombination(all, op.binding.tensors.size() - 1, [&](const std::vector<DtypeNumber>& dtypes) {
    const bool any_integer =
        std::any_of(dtypes.begin(), dtypes.end(), [](DtypeNumber d) { return !IsFloatingDtype(d); });
    if (!any_integer || !PromotesToFloating(op, dtypes) || !op.accepts_dtypes(dtypes)) {
      return;
    }
    for (const DtypeNumber output : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
      if (Enough()) {
        return;
      }
      ++seed;
      NumericCase c = PlainCase(op, {seed % 2 == 0 ? 211 : 89});
      for (size_t i = 0; i < dtypes.size(); ++i) {
        c.inputs[i].dtype = dtypes[i];
        c.inputs[i].layout = kInputLayouts[(seed + i) % std::size(kInputLayouts)];
      }
      c.output.dtype = output;
      c.attributes = Cycle(op.attributes, seed);
      c.seed = seed;
      CheckCase(op, c, stream());
    }
  });
}

void NumericSuite::Broadcasts(const NumericDescription& op) {
  const Shape full = {2, 3, 4, 37};
  const std::vector<Shape> partial = {full,
                                      {2, 3, 4, 1},
                                      {2, 3, 1, 37},
                                      {2, 1, 4, 37},
                                      {1, 3, 4, 37},
                                      {1, 3, 1, 37},
                                      {2, 1, 4, 1},
                                      {1, 1, 1, 1},
                                      {3, 4, 37},
                                      {3, 1, 37},
                                      {1, 4, 1},
                                      {4, 37},
                                      {4, 1},
                                      {1, 37},
                                      {37},
                                      {1},
                                      {}};
  const size_t inputs = op.binding.tensors.size() - 1;
  std::vector<std::vector<Shape>> groups;
  for (size_t operand = 0; operand < inputs; ++operand) {  // each operand in turn
    for (const Shape& shape : partial) {
      std::vector<Shape> group(inputs, full);
      group[operand] = shape;
      groups.push_back(group);
    }
  }
  for (size_t i = 0; i < partial.size();
       ++i) {  // all operands but one in the same way, so that the rest decides
    for (size_t operand = 0; operand < inputs; ++operand) {
      std::vector<Shape> group(inputs, partial[i]);
      group[operand] = full;
      groups.push_back(group);
    }
  }
  ForEachCombination(partial, inputs,
                     [&](const std::vector<Shape>& group) {  // all at once, in different axes
                       groups.push_back(group);
                     });
  for (const Shape& shape : {Shape{100, 1}, Shape{1, 100}, Shape{100}, Shape{1}, Shape{}}) {
    std::vector<Shape> group(inputs, Shape{100, 100});
    group.back() = shape;
    groups.push_back(group);
    group.front() = shape;
    groups.push_back(group);
  }

  uint64_t seed = 0;
  for (const std::vector<Shape>& group : groups) {
    if (Enough()) {
      return;
    }
    ++seed;
    if (!op.accepts(group)) {
      continue;
    }
    NumericCase c = PlainCase(op, {}, Cycle(op.input_dtypes, seed));
    for (size_t i = 0; i < inputs; ++i) {
      c.inputs[i].shape = group[i];
      c.inputs[i].dtype = seed % 3 == 0 ? Cycle(op.input_dtypes, seed / 3 + i) : c.output.dtype;
    }
    c.attributes = Cycle(op.attributes, seed);
    c.seed = seed;
    CheckCase(op, c, stream());
  }
}

void NumericSuite::RandomShapes(const NumericDescription& op) {
  RandomNumbers random(0xB40ADCA5);
  const size_t inputs = op.binding.tensors.size() - 1;
  int checked = 0;
  while (checked < 4000 && !Enough()) {
    const std::vector<Shape> shapes = RandomBroadcastShapes(static_cast<int>(inputs), 8, random);
    if (!op.accepts(shapes)) {
      continue;
    }
    NumericCase c = PlainCase(op, {});
    const bool one_dtype = random.Chance(50);
    const auto first = static_cast<size_t>(random.Below(100));
    for (size_t i = 0; i < inputs; ++i) {
      c.inputs[i].shape = shapes[i];
      c.inputs[i].dtype =
          Cycle(op.input_dtypes, one_dtype ? first : first + static_cast<size_t>(random.Below(100)));
    }
    c.output.dtype = Cycle(op.output_dtypes, static_cast<size_t>(random.Below(100)));
    c.attributes = Cycle(op.attributes, static_cast<size_t>(random.Below(100)));
    c.seed = random.Bits() % 1000000 + 1;
    CheckCase(op, c, stream());
    ++checked;
  }
}

void NumericSuite::LayoutsOneByOne(const NumericDescription& op) {
  const std::vector<Shape> shapes = {{},
                                     {1},
                                     {61},
                                     {7, 33},
                                     {33, 7},
                                     {3, 4, 19},
                                     {2, 3, 4, 5},
                                     {2, 1, 3, 2, 2, 3},
                                     {2, 2, 1, 2, 2, 2, 2, 3}};
  uint64_t seed = 0;
  for (const Shape& shape : shapes) {
    for (const DtypeNumber dtype : op.input_dtypes) {
      for (size_t operand = 0; operand < op.binding.tensors.size(); ++operand) {
        const bool is_output = operand + 1 == op.binding.tensors.size();
        const size_t layouts = is_output ? std::size(kOutputLayouts) : std::size(kInputLayouts);
        for (size_t layout = 0; layout < layouts; ++layout) {
          for (int repeat = 0; repeat < 2; ++repeat) {
            if (Enough()) {
              return;
            }
            NumericCase c = PlainCase(op, shape, dtype);
            (is_output ? c.output : c.inputs[operand]).layout =
                is_output ? kOutputLayouts[layout] : kInputLayouts[layout];
            c.output.placement.guard = repeat == 0 ? Guard::kEnd : Guard::kStart;
            for (OperandPlan& input : c.inputs) {
              input.placement.guard = c.output.placement.guard;
            }
            c.seed = ++seed;
            c.attributes = Cycle(op.attributes, seed);
            CheckCase(op, c, stream());
          }
        }
      }
    }
  }
}

void NumericSuite::LayoutsTogether(const NumericDescription& op) {
  RandomNumbers random(0x1A70075);
  const size_t inputs = op.binding.tensors.size() - 1;
  int checked = 0;
  while (checked < 4000 && !Enough()) {
    const std::vector<Shape> shapes = RandomBroadcastShapes(static_cast<int>(inputs), 6, random);
    if (!op.accepts(shapes)) {
      continue;
    }
    NumericCase c = PlainCase(op, {});
    const bool alike = random.Chance(30);  // all operands of one shape, transposed or reversed alike
    const Layout shared = kOutputLayouts[random.Below(std::ssize(kOutputLayouts))];
    for (size_t i = 0; i < inputs; ++i) {
      c.inputs[i].shape = alike ? shapes[0] : shapes[i];
      c.inputs[i].layout = alike ? shared : kInputLayouts[random.Below(std::ssize(kInputLayouts))];
      c.inputs[i].dtype = Cycle(op.input_dtypes, static_cast<size_t>(random.Below(100)));
      c.inputs[i].placement.guard = random.Chance(70) ? Guard::kEnd : Guard::kStart;
    }
    c.output.layout = alike ? shared : kOutputLayouts[random.Below(std::ssize(kOutputLayouts))];
    c.output.dtype = Cycle(op.output_dtypes, static_cast<size_t>(random.Below(100)));
    c.output.placement.guard = random.Chance(70) ? Guard::kEnd : Guard::kStart;
    c.attributes = Cycle(op.attributes, static_cast<size_t>(random.Below(100)));
    c.seed = random.Bits() % 1000000 + 1;
    CheckCase(op, c, stream());
    ++checked;
  }
}

void NumericSuite::InPlace(const NumericDescription& op) {
  uint64_t seed = 0;
  const size_t inputs = op.binding.tensors.size() - 1;
  for (const Shape& shape :
       {Shape{}, Shape{1}, Shape{3}, Shape{16}, Shape{1000}, Shape{13, 29}, Shape{4, 5, 33}, Shape{5003}}) {
    for (const DtypeNumber dtype : op.input_dtypes) {
      for (size_t operand = 0; operand < inputs; ++operand) {
        for (const Layout layout : kOutputLayouts) {
          for (const bool others_broadcast : {false, true}) {
            if (Enough()) {
              return;
            }
            NumericCase c = PlainCase(op, shape, dtype);
            c.seed = ++seed;
            c.attributes = Cycle(op.attributes, seed);
            c.in_place = static_cast<int>(operand);
            c.inputs[operand].layout = layout;
            if (others_broadcast) {
              for (size_t i = 0; i < inputs; ++i) {
                if (i != operand) {
                  c.inputs[i].shape.assign(shape.size(), 1);
                  c.inputs[i].dtype = Cycle(op.input_dtypes, seed + i);
                }
              }
            }
            std::vector<Shape> shapes;
            for (const OperandPlan& input : c.inputs) {
              shapes.push_back(input.shape);
            }
            if (op.accepts(shapes) && op.output_shape(shapes) == shape) {
              CheckCase(op, c, stream());
            }
          }
        }
        if (shape.empty()) {
          continue;
        }
        const std::vector<Shape> large_shapes(inputs, Shape{50021});  // more than one block
        if (op.output_shape(large_shapes) != large_shapes.front()) {
          continue;
        }
        NumericCase large = PlainCase(op, large_shapes.front(), dtype);
        large.in_place = static_cast<int>(operand);
        large.seed = ++seed;
        CheckCase(op, large, stream());
      }
    }
  }
}

void NumericSuite::SpecialValueProduct(const NumericDescription& op) {
  const size_t inputs = op.binding.tensors.size() - 1;
  for (const DtypeNumber dtype : op.input_dtypes) {
    const std::vector<uint32_t> bits = SpecialBits(dtype);
    const auto count = static_cast<int64_t>(bits.size());
    // Each input runs through its values along its own axis. This gives the full product by broadcasting, and
    // once more with every operand written out in full.
    for (const bool written_out : {false, true}) {
      for (const Attributes& attributes : op.attributes) {
        for (const DtypeNumber output : op.output_dtypes) {
          if (Enough() || (written_out && output != dtype)) {
            continue;
          }
          NumericCase c = PlainCase(op, Shape(inputs, count), dtype);
          c.output.dtype = output;
          c.attributes = attributes;
          if (!written_out) {
            for (size_t i = 0; i < inputs; ++i) {
              c.inputs[i].shape.assign(inputs, 1);
              c.inputs[i].shape[i] = count;
            }
          }
          std::vector<Shape> shapes;
          for (const OperandPlan& input : c.inputs) {
            shapes.push_back(input.shape);
          }
          if (!op.accepts(shapes)) {
            continue;
          }
          Operands operands = MakeOperands(op, c);
          for (size_t i = 0; i < inputs; ++i) {
            HostTensor& tensor = operands.inputs[i];
            int64_t step = 1;  // how many logical positions share an index along axis i
            for (size_t axis = i + 1; axis < tensor.shape().size(); ++axis) {
              step *= tensor.shape()[axis];
            }
            for (int64_t position = 0; position < tensor.size(); ++position) {
              std::memcpy(tensor.Element(position), &bits[static_cast<size_t>(position / step % count)],
                          static_cast<size_t>(ElementSize(dtype)));
            }
          }
          const int64_t refused_before = CountsOfThisProcess().refused;
          CheckOperands(op, c, operands, stream());
          if (CountsOfThisProcess().refused == refused_before) {
            CountsOfThisProcess().special_values += NumElements(Shape(inputs, count));
          }
        }
      }
    }
  }
}

void NumericSuite::LengthsAndMisalignments(const NumericDescription& op) {
  const size_t inputs = op.binding.tensors.size() - 1;
  uint64_t seed = 0;
  for (const DtypeNumber dtype : op.input_dtypes) {
    const auto element_bytes = static_cast<int>(ElementSize(dtype));
    const int per_vector = 64 / element_bytes;
    for (int64_t length = 0; length <= 3 * per_vector + 2; ++length) {
      if (!op.accepts(std::vector<Shape>(inputs, Shape{length}))) {
        continue;
      }
      for (int misalignment = 0; misalignment < per_vector; ++misalignment) {
        if (Enough()) {
          return;
        }
        NumericCase c = PlainCase(op, {length}, dtype);
        c.seed = ++seed;
        c.attributes = Cycle(op.attributes, seed);
        // Half of the cases misalign all operands alike, the others each differently. Other tests have the
        // natural misalignment, where the last byte touches the guard page.
        const int spread = seed % 2 == 0 ? 0 : 5;
        for (size_t i = 0; i < c.inputs.size(); ++i) {
          c.inputs[i].placement.misalignment_bytes =
              (misalignment + spread * (static_cast<int>(i) + 1)) % per_vector * element_bytes;
        }
        c.output.placement.misalignment_bytes = misalignment * element_bytes;
        CheckCase(op, c, stream());
        if (misalignment < 2) {  // exact guards at the end, then at the start
          NumericCase guarded = PlainCase(op, {length}, dtype);
          guarded.seed = seed;
          guarded.attributes = c.attributes;
          guarded.output.placement.guard = misalignment == 0 ? Guard::kEnd : Guard::kStart;
          for (OperandPlan& input : guarded.inputs) {
            input.placement.guard = guarded.output.placement.guard;
          }
          CheckCase(op, guarded, stream());
        }
      }
    }
  }
}

void NumericSuite::OddAddresses(const NumericDescription& op) {
  // Any valid address may hold tensor data, even if it is not a multiple of the element's size.
  uint64_t seed = 0;
  for (const DtypeNumber output : op.output_dtypes) {
    for (const DtypeNumber dtype : op.input_dtypes) {
      for (const Layout layout : {Layout::kDense, Layout::kStepped, Layout::kPermuted}) {
        for (const int odd : {1, 2, 3}) {
          if (Enough()) {
            return;
          }
          NumericCase c = PlainCase(op, {7, 31}, dtype);
          c.seed = ++seed;
          c.output.dtype = output;
          c.output.layout = layout;
          c.output.placement.misalignment_bytes = odd;
          for (OperandPlan& input : c.inputs) {
            input.layout = layout;
            input.placement.misalignment_bytes = odd + static_cast<int>(seed % 3);
          }
          CheckCase(op, c, stream());
        }
      }
    }
  }
}

void NumericSuite::LargeSizes(const NumericDescription& op) {
  CheckCase(op, PlainCase(op, {(1 << 20) + 1}), stream());
  struct Large {
    Shape shape;
    Layout input;
    Layout output;
  };
  const std::vector<Large> sizes = {{{100003}, Layout::kDense, Layout::kDense},
                                    {{1 << 18}, Layout::kNegative, Layout::kDense},
                                    {{517, 401}, Layout::kPermuted, Layout::kDense},
                                    {{401, 517}, Layout::kDense, Layout::kPermuted},
                                    {{3, 301, 211}, Layout::kMixed, Layout::kMixed},
                                    {{100003}, Layout::kStepped, Layout::kStepped},
                                    {{2, 100003}, Layout::kDenseOffset, Layout::kDenseOffset},
                                    {{100003, 2}, Layout::kPermuted, Layout::kPermuted}};
  uint64_t seed = 0;
  for (const Large& large : sizes) {
    for (const DtypeNumber dtype : op.input_dtypes) {
      if (Enough()) {
        return;
      }
      NumericCase c = PlainCase(op, large.shape, dtype);
      c.seed = ++seed;
      c.attributes = Cycle(op.attributes, seed);
      c.output.layout = large.output;
      for (OperandPlan& input : c.inputs) {
        input.layout = large.input;
      }
      if (seed % 2 == 0) {
        c.inputs.back().dtype = Cycle(op.input_dtypes, seed);
      }
      CheckCase(op, c, stream());
    }
  }
  // Tries long rows against one row, one column and one value.
  for (const Shape& shape : {Shape{1, 1709}, Shape{173, 1}, Shape{}}) {
    for (size_t operand = 0; operand < op.binding.tensors.size() - 1; ++operand) {
      if (Enough()) {
        return;
      }
      NumericCase c = PlainCase(op, {173, 1709}, Cycle(op.input_dtypes, seed));
      c.seed = ++seed;
      c.attributes = Cycle(op.attributes, seed);
      c.inputs[operand].shape = shape;
      std::vector<Shape> shapes;
      for (const OperandPlan& input : c.inputs) {
        shapes.push_back(input.shape);
      }
      if (op.accepts(shapes)) {
        CheckCase(op, c, stream());
      }
    }
  }
}

void NumericSuite::EmptyTensors(const NumericDescription& op) {
  const size_t inputs = op.binding.tensors.size() - 1;
  std::vector<std::vector<Shape>> groups;
  for (const Shape& shape :
       {Shape{0}, Shape{0, 3}, Shape{3, 0}, Shape{2, 0, 3}, Shape{0, 0}, Shape{1, 2, 3, 4, 5, 6, 7, 0}}) {
    groups.emplace_back(inputs, shape);
    for (size_t operand = 0; operand < inputs; ++operand) {
      std::vector<Shape> group(inputs, shape);
      for (int64_t& dim : group[operand]) {
        dim = 1;  // 1 with 0 gives 0
      }
      groups.push_back(group);
      group[operand] = {};
      groups.push_back(group);
      group.assign(inputs, Shape(shape.size(), 1));
      group[operand] = shape;
      groups.push_back(group);
    }
  }
  uint64_t seed = 0;
  for (const std::vector<Shape>& group : groups) {
    for (const DtypeNumber dtype : op.input_dtypes) {
      for (const Layout layout : kOutputLayouts) {
        if (Enough() || !op.accepts(group)) {
          continue;
        }
        NumericCase c = PlainCase(op, {}, dtype);
        for (size_t i = 0; i < inputs; ++i) {
          c.inputs[i].shape = group[i];
          c.inputs[i].layout = layout;
        }
        c.output.layout = layout;
        c.seed = ++seed;
        c.attributes = Cycle(op.attributes, seed);
        CheckCase(op, c, stream());
      }
    }
  }
}

void NumericSuite::OverlapStaysInside(const NumericDescription& op) {
  // The results of such calls are undefined, but they must not access memory outside their operands. The
  // guard pages would crash the process, and the bytes around the operands are compared.
  for (const DtypeNumber dtype : op.input_dtypes) {
    for (const int64_t length : {5, 64, 1000}) {
      const std::vector<Shape> shapes(op.binding.tensors.size() - 1, Shape{length});
      if (op.output_shape(shapes) != shapes.front()) {
        continue;  // the sum of everything overlaps nothing but an input's first element
      }
      if (!op.takes(ProductInUse(), std::vector<DtypeNumber>(op.binding.tensors.size() - 1, dtype), dtype)) {
        continue;
      }
      const View dense{{length}, {1}, 0, length, {length}, true};
      View overlapping_itself{{length}, {0}, 0, 1, {1}, true};
      View shifted{{length}, {1}, 3, length + 3, {length + 3}, true};
      View reversed{{length}, {-1}, length - 1, length, {length}, true};
      const size_t inputs = op.binding.tensors.size() - 1;
      for (int kind = 0; kind < 3; ++kind) {
        std::vector<HostTensor> tensors;
        for (size_t i = 0; i < inputs; ++i) {
          View view = dense;
          if (kind == 1 && i == 0) {
            view.storage_elements = length + 3;  // so that the output can lie three elements further on
          }
          tensors.emplace_back(dtype, view);
          for (int64_t at = 0; at < length; ++at) {
            tensors.back().Set(at, static_cast<double>(at % 7) - static_cast<double>(i));
          }
        }
        if (kind == 0) {
          tensors.emplace_back(dtype, overlapping_itself);
        } else {
          tensors.push_back(HostTensor::SharingStorageOf(tensors[0], kind == 1 ? shifted : reversed));
        }
        std::vector<aclTensor*> handles;
        for (HostTensor& tensor : tensors) {
          handles.push_back(tensor.Handle());
          tensor.Remember();
        }
        const CallResult call = CallTwoPhase(op.binding, handles, op.attributes.front(), stream());
        EXPECT_TRUE(call.Succeeded()) << call.message;
        for (size_t i = 1; i < inputs; ++i) {
          EXPECT_TRUE(tensors[i].Unchanged());
        }
        EXPECT_TRUE(tensors.back().UnchangedOutsideView());
      }
    }
  }
}

void NumericSuite::CallersFloatingPointEnvironment(const NumericDescription& op) {
  const std::vector<NumericCase> cases = CrossSection(op, 100, {{70001}});
  for (const FpMode& mode : UnusualFpModes()) {
    for (NumericCase c : cases) {
      if (Enough()) {
        return;
      }
      c.fp_mode = &mode;
      CheckCase(op, c, stream());
    }
  }
  // Runs a program in such an environment from its start: worker threads inherit it when they are created.
  for (const FpMode& mode : UnusualFpModes()) {
    const FpState before = FpState::Read();
    environment_.reset();
    StateOf(mode).Apply();
    SetUp();
    before.Apply();
    for (NumericCase c : cases) {
      if (Enough()) {
        return;
      }
      c.fp_mode = &mode;
      CheckCase(op, c, stream());
    }
  }
}

void SameBitsEverywhere(const NumericDescription& op) {
  const std::vector<NumericCase> cases = CrossSection(op, 300, {{70001}, {301, 257}, {5, 64, 211}});
  std::vector<std::vector<std::byte>> first;
  std::string first_name;
  for (const engine::Isa isa : IsasToTest()) {
    for (const char* threads : {"1", "2", "7"}) {
      const ScopedEnvironment environment(
          Variables{{"PORTACL_ISA", engine::IsaName(isa)}, {"PORTACL_NUM_THREADS", threads}});
      ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
      const std::string name = std::string(engine::IsaName(isa)) + " with " + threads + " threads";
      std::vector<std::vector<std::byte>> results;
      for (const NumericCase& c : cases) {
        results.push_back(ComputeBytes(op, c, environment.stream()));
        ASSERT_EQ(engine::IsaThatRanLast(), isa) << Describe(op, c);
      }
      if (first.empty()) {
        first = std::move(results);
        first_name = name;
        continue;
      }
      for (size_t i = 0; i < cases.size(); ++i) {
        ASSERT_TRUE(results[i] == first[i])
            << name << " differs from " << first_name << " in " << Describe(op, cases[i]);
      }
    }
  }
}

void UnknownIsaIsRefused() {
  const std::vector<engine::Isa> supported = IsasToTest();
  const auto expect_refusal = [&](const ScopedEnvironment& environment, const std::string& name) {
    EXPECT_EQ(environment.init_status(), ACL_ERROR_INVALID_PARAM) << name;
    const std::string message = TakeErrorMessage();
    std::vector<std::string> fragments = {"PORTACL_ISA", name};
    for (const engine::Isa isa : supported) {
      fragments.emplace_back(engine::IsaName(isa));
    }
    for (const std::string& fragment : fragments) {
      EXPECT_NE(message.find(fragment), std::string::npos) << fragment << " is missing in: " << message;
    }
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE) << "a failing aclInit initialises nothing";
  };
  for (const char* name : {"avx1024", "fastest", "avx2 "}) {
    expect_refusal(ScopedEnvironment(Variables{{"PORTACL_ISA", name}}), name);
  }
  // These names are known, but this machine does not have all of them.
  for (const engine::Isa isa : {engine::Isa::kPortable, engine::Isa::kAvx2, engine::Isa::kAvx512,
                                engine::Isa::kNeon, engine::Isa::kSve}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_ISA", engine::IsaName(isa)}});
    if (std::find(supported.begin(), supported.end(), isa) != supported.end()) {
      EXPECT_EQ(environment.init_status(), ACL_SUCCESS) << TakeErrorMessage();
    } else {
      expect_refusal(environment, engine::IsaName(isa));
    }
  }
}

}  // namespace portacl::testing
