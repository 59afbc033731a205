// The tests of operators that are described with an oracle for every output: see operator_spec.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "contract_suite.h"
#include "environment.h"
#include "gtest/gtest.h"
#include "guarded_buffer.h"
#include "numeric_suite.h"
#include "plan_check.h"
#include "two_phase.h"

template class std::vector<portacl::testing::OperatorSpec>;

namespace portacl::testing {

OperatorSpec::OperatorSpec() = default;
OperatorSpec::OperatorSpec(const OperatorSpec& other) = default;
OperatorSpec::OperatorSpec(OperatorSpec&& other) noexcept = default;
OperatorSpec& OperatorSpec::operator=(const OperatorSpec& other) = default;
OperatorSpec& OperatorSpec::operator=(OperatorSpec&& other) noexcept = default;
OperatorSpec::~OperatorSpec() = default;

namespace {

constexpr Product kProducts[] = {Product::kA2,   Product::kA3,   Product::k950,
                                 Product::k310B, Product::k310P, Product::k910};

// Makes a call's tensors with memory, views and random bytes.
std::vector<HostTensor> MakeTensors(const PlanCall& call, RandomNumbers& random, bool dense) {
  std::vector<HostTensor> tensors;
  for (const PlanArgument* one : TensorsOf(call)) {
    const auto& layouts = one->is_output || one->is_distinct
                              ? std::vector<Layout>(std::begin(kOutputLayouts), std::end(kOutputLayouts))
                              : std::vector<Layout>(std::begin(kInputLayouts), std::end(kInputLayouts));
    const Layout layout = dense || one->is_contiguous
                              ? Layout::kDense
                              : layouts[static_cast<size_t>(random.Below(std::ssize(layouts)))];
    tensors.emplace_back(one->dtype, MakeView(one->shape, layout, random));
    HostTensor& tensor = tensors.back();
    const std::vector<Element> elements = TestElements(one->dtype, 40, random);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const Element& element = elements[static_cast<size_t>(random.Below(std::ssize(elements)))];
      std::memcpy(tensor.Element(i), element.data(), element.size());
    }
  }
  return tensors;
}

void SetIndex(HostTensor& tensor, int64_t position, int64_t value) {
  if (IsIntegerDtype(tensor.dtype()) || tensor.dtype() == ACL_BOOL)
    EncodeIntegerElement(tensor.dtype(), value, tensor.Element(position));
  else
    EncodeElement(tensor.dtype(), static_cast<double>(value), tensor.Element(position));
}

// Fills the tensors that hold indices.
void FillIndices(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  if (call.op->fill) call.op->fill(call, tensors, random);
  for (size_t k = 0; call.op->range && k < tensors.size(); ++k) {
    const std::optional<IndexRange> range = call.op->range(call, k);
    for (int64_t i = 0; range && i < tensors[k].size(); ++i) {
      const int64_t value = range->below > range->low ? random.Between(range->low, range->below - 1) : 0;
      SetIndex(tensors[k], i, tensors[k].dtype() == ACL_BOOL ? random.Below(2) : value);
    }
  }
}

// Makes one in eight indices bad. Returns the possible texts of the message: any bad index or, if one tensor
// holds all indices, the first.
std::vector<std::string> SpoilIndices(const PlanCall& call, std::vector<HostTensor>& tensors,
                                      RandomNumbers& random) {
  std::vector<std::string> bad_ones;
  int index_tensors = 0;
  for (size_t k = 0; k < tensors.size(); ++k) {
    const std::optional<IndexRange> range = call.op->range(call, k);
    index_tensors += range ? 1 : 0;
    for (int64_t i = 0; range && i < tensors[k].size(); ++i) {
      if (!random.Chance(12)) continue;
      std::vector<int64_t> bad = {range->below, range->low - 1, range->below + 100, -100};
      if (ElementSize(tensors[k].dtype()) >= 4 && IsIntegerDtype(tensors[k].dtype()))
        bad.insert(bad.end(), {INT32_MAX, INT32_MIN, range->below + (1 << 20)});
      if (ElementSize(tensors[k].dtype()) == 8)
        bad.insert(bad.end(),
                   {INT64_MAX, INT64_MIN, int64_t{1} << 32, -(int64_t{1} << 32), int64_t{1} << 62});
      const int64_t value = bad[static_cast<size_t>(random.Below(std::ssize(bad)))];
      if (value >= range->low && value < range->below) continue;
      SetIndex(tensors[k], i, value);
    }
    // Elements of an expanded tensor share memory, so their values are known only when all are set.
    for (int64_t i = 0; range && i < tensors[k].size(); ++i) {
      const bool is_whole = IsIntegerDtype(tensors[k].dtype());
      const int64_t value = is_whole ? tensors[k].Integer(i) : static_cast<int64_t>(tensors[k].Real(i));
      if (tensors[k].dtype() == ACL_BOOL || (value >= range->low && value < range->below)) continue;
      bad_ones.push_back(" has the value " + std::to_string(value) + " at element " + std::to_string(i) +
                         ", accepted: " + std::to_string(range->low) + " to " +
                         std::to_string(range->below - 1) + ".");
    }
  }
  if (index_tensors == 1 && bad_ones.size() > 1) bad_ones.resize(1);
  return bad_ones;
}

std::vector<TensorValues> ValuesOf(const std::vector<HostTensor>& tensors) {
  std::vector<TensorValues> all;
  for (const HostTensor& tensor : tensors) {
    TensorValues values{tensor.dtype(), tensor.shape(), {}};
    const auto size = static_cast<size_t>(ElementSize(tensor.dtype()));
    for (int64_t i = 0; i < tensor.size(); ++i)
      values.elements.emplace_back(tensor.Element(i), tensor.Element(i) + size);
    all.push_back(std::move(values));
  }
  return all;
}

// Prints bytes in memory order.
std::string ToHex(const std::byte* bytes, size_t size) {
  std::string text = "0x";
  for (size_t i = size; i-- > 0;) {
    for (const int shift : {4, 0}) text += "0123456789abcdef"[std::to_integer<int>(bytes[i]) >> shift & 15];
  }
  return text;
}

// Tells whether a call has no float32, so that its results must be those of float64.
bool IsInDouble(const std::vector<const PlanArgument*>& arguments) {
  return std::none_of(arguments.begin(), arguments.end(), [](const PlanArgument* one) {
    return one->dtype == ACL_FLOAT || one->dtype == ACL_FLOAT16 || one->dtype == ACL_BF16 ||
           one->dtype == ACL_COMPLEX64;
  });
}

bool IsNear(double tolerance, DtypeNumber dtype, const std::byte* found, const Element& expected) {
  const bool is_code = IsFloatingDtype(dtype) && ElementSize(dtype) < 2;  // has its exact bits
  if (tolerance == 0 || is_code) return false;
  if (dtype == ACL_FLOAT16) tolerance = std::max(tolerance, 1e-3);
  if (dtype == ACL_BF16) tolerance = std::max(tolerance, 8e-3);
  const Number x = NumberOf(dtype, found);
  const Number y = NumberOf(dtype, expected.data());
  const auto are_near = [&](long double a, long double b) {
    return std::fabs(a - b) <= tolerance * (1 + std::fabs(b));
  };
  return are_near(x.real, y.real) && are_near(x.imaginary, y.imaginary);
}

// Tells whether an INT8 lies between two that an oracle names: it is rounded from a number that may be off a little.
bool IsBetween(DtypeNumber dtype, const std::byte* found, const Element& expected) {
  if (dtype != ACL_INT8 || expected.size() != 2) return false;
  const int64_t code = DecodeInteger(dtype, found);
  return DecodeInteger(dtype, &expected[0]) <= code && code <= DecodeInteger(dtype, &expected[1]);
}

// Compares the tensors with the oracle's outcome for their earlier values. Returns a description of the first
// difference.
std::string Difference(const PlanCall& call, const std::vector<TensorValues>& before,
                       const std::vector<HostTensor>& tensors) {
  const std::vector<const PlanArgument*> arguments = TensorsOf(call);
  std::vector<Outcome> outcomes = call.op->oracle(call, before);
  size_t output = 0;
  const double tolerance = IsInDouble(arguments) ? std::min(call.op->tolerance, 1e-12) : call.op->tolerance;
  const bool is_converted = std::any_of(arguments.begin(), arguments.end(),
                                        [&](auto* one) { return one->dtype != arguments[0]->dtype; });
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!arguments[i]->is_output || arguments[i]->null) {
      if (arguments[i]->is_output) ++output;
      if (!tensors[i].Unchanged()) return arguments[i]->name + " was written";
      continue;
    }
    const Outcome& outcome = outcomes[output++];
    if (!tensors[i].UnchangedOutsideView()) return arguments[i]->name + " was written outside its view";
    for (int64_t k = 0; k < tensors[i].size(); ++k) {
      const auto place = static_cast<size_t>(k);
      const bool stays = place >= outcome.size() || !outcome[place].has_value();
      const Element& expected = stays ? before[i].elements[place] : *outcome[place];
      if (IsBetween(tensors[i].dtype(), tensors[i].Element(k), expected)) continue;
      const bool same = call.op->is_inexact
                            ? IsSameElement(tensors[i].dtype(), tensors[i].Element(k), expected)
                            : std::memcmp(tensors[i].Element(k), expected.data(), expected.size()) == 0;
      const bool is_near = !stays && IsNear(tolerance, tensors[i].dtype(), tensors[i].Element(k), expected);
      const bool is_nan =
          !stays && is_converted && IsSameElement(tensors[i].dtype(), tensors[i].Element(k), expected);
      if (!same && !is_nan && !is_near)
        return arguments[i]->name + " at " + std::to_string(k) + (stays ? " was written" : "") + ": " +
               ToHex(tensors[i].Element(k), expected.size()) + ", expected " +
               ToHex(expected.data(), expected.size());
    }
  }
  return "";
}

// The result of both phases of a call, and the difference from the oracle.
struct Ran {
  aclnnStatus status = 0;
  aclError synchronized = 0;
  std::string message;
  std::string difference;
};
Ran Run(const PlanCall& call, std::vector<HostTensor>& tensors, aclrtStream stream) {
  for (HostTensor& tensor : tensors) tensor.Remember();
  const std::vector<TensorValues> before = ValuesOf(tensors);
  std::vector<aclTensor*> handles;
  const std::vector<const PlanArgument*> arguments = TensorsOf(call);
  for (size_t k = 0; k < tensors.size(); ++k) handles.push_back(HandleOf(*arguments[k], tensors[k]));
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  Ran ran;
  std::optional<GuardedBuffer> workspace;
  {
    const CArguments c_arguments(call, handles);
    ran.status = call.op->function.plan(c_arguments.all(), &size, &executor);
    workspace.emplace(size);
    if (ran.status == 0)
      ran.status = call.op->function.run(size == 0 ? nullptr : workspace->device(), size, executor, stream);
  }
  DestroySingles(call, handles);
  ran.synchronized = aclrtSynchronizeStream(stream);
  if (ran.status != 0 || ran.synchronized != 0) ran.message = TakeErrorMessage();
  if (ran.status == 0) ran.difference = Difference(call, before, tensors);
  return ran;
}

}  // namespace

PlanCall ValidCall(const OperatorSpec& op, Product product) {
  PlanCall call;
  call.op = &op;
  call.product = product;
  call.arguments = op.valid;
  return call;
}

Verdict Expected(PlanCall& call) {
  call.promoted = kUndefinedDtype;
  call.result = {};
  for (const Rule& rule : call.op->rules) {
    if (const std::optional<Verdict> verdict = rule(call)) return *verdict;
  }
  return {};
}

bool IsDimOf(int64_t dim, const Shape& shape) {
  const auto rank = std::max<int64_t>(std::ssize(shape), 1);
  return dim >= -rank && dim < rank;
}
size_t Wrapped(int64_t dim, const Shape& shape) {
  const auto rank = std::max<int64_t>(std::ssize(shape), 1);
  return static_cast<size_t>(dim < 0 ? dim + rank : dim);
}

Shape DrawShape(RandomNumbers& random, size_t least_rank, size_t most_rank, int64_t most) {
  Shape shape(least_rank +
              static_cast<size_t>(random.Below(static_cast<int64_t>(most_rank - least_rank + 1))));
  for (int64_t& dim : shape) dim = random.Chance(15) ? 1 : random.Between(1, most);
  if (!shape.empty() && random.Chance(8)) shape.back() = random.Between(20, 300);
  return shape;
}
DtypeNumber DrawDtype(RandomNumbers& random, const DtypeList& dtypes) {
  return dtypes[static_cast<size_t>(random.Below(std::ssize(dtypes)))];
}

std::vector<int64_t> IndexAt(const Shape& shape, int64_t position) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = position % shape[i];
    position /= shape[i];
  }
  return index;
}
int64_t PositionOf(const Shape& shape, const std::vector<int64_t>& index) {
  int64_t position = 0;
  for (size_t i = 0; i < shape.size(); ++i) position = position * shape[i] + index[i];
  return position;
}
Outcome ForEachElement(const Shape& shape,
                       const std::function<std::optional<Element>(std::vector<int64_t>& index)>& f) {
  Outcome outcome;
  for (int64_t i = 0; i < NumElements(shape); ++i) {
    std::vector<int64_t> index = IndexAt(shape, i);
    outcome.push_back(f(index));
  }
  return outcome;
}

void CheckContract(const OperatorSpec& op) {
  const std::vector<Change> changes = ChangesOf(op);
  for (const Product product : kProducts) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    RandomNumbers random(0x1DE);
    int wrong = CheckPlan(ValidCall(op, product)) ? 0 : 1;
    for (const Change& change : changes) {
      PlanCall call = ValidCall(op, product);
      change(call);
      if (!CheckPlan(call) && ++wrong > 5) return;
    }
    for (int i = 0; i < 3000; ++i) {
      PlanCall call = ValidCall(op, product);
      if (random.Chance(30)) op.draw(call, random);
      for (int k = random.Chance(70) ? 2 : 3; k > 0; --k)
        changes[static_cast<size_t>(random.Below(std::ssize(changes)))](call);
      if (!CheckPlan(call) && ++wrong > 5) return;
    }
  }
}

void CheckNumbers(const OperatorSpec& op, int calls) {
  for (const engine::Isa isa : IsasToTest()) {
    const ScopedEnvironment environment(
        Variables{{"PORTACL_ISA", engine::IsaName(isa)},
                  {"PORTACL_NUM_THREADS", isa == IsasToTest().front() ? "1" : "3"},
                  {"PORTACL_SOC", SocNameOf(op.numbers_on)}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    RandomNumbers random(0xE1E);
    int done = 0;
    for (int i = 0; i < calls; ++i) {
      PlanCall call = ValidCall(op, op.numbers_on);
      if (i > 0) op.draw(call, random);
      if (Expected(call).code != 0) continue;
      ++done;
      std::vector<HostTensor> tensors = MakeTensors(call, random, i == 0);
      FillIndices(call, tensors, random);
      const Ran ran = Run(call, tensors, environment.stream());
      ASSERT_TRUE(ran.status == 0 && ran.synchronized == 0 && ran.difference.empty())
          << op.function.name << " call " << i << Describe(call) << ": " << ran.status << " "
          << ran.synchronized << " " << ran.message << ran.difference;
    }
    EXPECT_GT(done, calls / 5) << "too few of the drawn calls are valid";
  }
}

void CheckBadIndices(const OperatorSpec& op) {
  int failures = 0;
  for (const char* threads : {"1", "3"}) {
    for (const bool raises : {true, false}) {
      const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads},
                                                    {"PORTACL_INDEX_ERRORS", raises ? "raise" : "ignore"},
                                                    {"PORTACL_SOC", SocNameOf(op.numbers_on)}});
      ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
      RandomNumbers random(0xBAD);
      for (int i = 0; i < 150; ++i) {
        PlanCall call = ValidCall(op, op.numbers_on);
        if (i > 0) op.draw(call, random);
        if (Expected(call).code != 0) continue;
        std::vector<HostTensor> tensors = MakeTensors(call, random, i == 0);
        FillIndices(call, tensors, random);
        const std::vector<std::string> bad_ones = SpoilIndices(call, tensors, random);
        const Ran ran = Run(call, tensors, environment.stream());
        const bool fails = raises && !bad_ones.empty();
        failures += fails ? 1 : 0;
        const bool is_named =
            ran.message.find(op.function.name + std::string(": ind")) != std::string::npos &&
            std::any_of(bad_ones.begin(), bad_ones.end(),
                        [&](auto& one) { return ran.message.find(one) != std::string::npos; });
        ASSERT_TRUE(ran.status == 0 && ran.synchronized == (fails ? 507015 : 0) && ran.difference.empty() &&
                    is_named == fails)
            << op.function.name << " call " << i << Describe(call) << ": " << ran.status << " "
            << ran.synchronized << " " << ran.message << ran.difference
            << (bad_ones.empty() ? "" : "; expected:" + bad_ones[0]);
        ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0) << "it is told once";
      }
    }
  }
  EXPECT_GT(failures, 50) << "too few of the drawn calls have bad indices";
}

// Tells whether a tensor that stands before inputs is written without being read. Such tensors count behind the inputs.
bool IsOnlyWritten(const std::string& function, const std::string& tensor) {
  return function == "aclnnQkvRmsNormRopeCache" && tensor == "qOut";
}

// Returns where the tensors of a call count: those that are read first, then those that are only written, each
// in the order of the C function. Entries of lists are tensors.
std::vector<size_t> PositionsOf(const OperatorSpec& op, const std::vector<const PlanArgument*>& tensors) {
  const auto last_input = std::find_if(tensors.rbegin(), tensors.rend(), [](const PlanArgument* one) {
                            return !one->is_output;
                          }).base();
  std::vector<size_t> positions(tensors.size());
  size_t position = 0;
  for (const bool inputs : {true, false}) {
    for (size_t k = 0; k < tensors.size(); ++k) {
      const bool is_before_inputs = tensors.begin() + static_cast<std::ptrdiff_t>(k) < last_input;
      if ((is_before_inputs && !IsOnlyWritten(op.function.name, tensors[k]->name)) == inputs)
        positions[k] = position++;
    }
  }
  return positions;
}

// Runs a repeatable executor, made for one set of storages, on another set.
void CheckAddressesSetAnew(const OperatorSpec& op) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(op.numbers_on)}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  RandomNumbers random(0xADD);
  for (int i = 0; i < 20; ++i) {
    PlanCall call = ValidCall(op, op.numbers_on);
    if (i > 0) op.draw(call, random);
    if (Expected(call).code != 0) continue;
    const auto all = TensorsOf(call);
    if (std::any_of(all.begin(), all.end(), [](const PlanArgument* one) { return one->null; })) continue;
    std::vector<HostTensor> first = MakeTensors(call, random, true);
    std::vector<HostTensor> second = MakeTensors(call, random, true);
    FillIndices(call, first, random);
    FillIndices(call, second, random);
    for (HostTensor& tensor : first) tensor.Remember();
    for (HostTensor& tensor : second) tensor.Remember();
    const std::vector<TensorValues> before = ValuesOf(second);
    const std::vector<const PlanArgument*> arguments = TensorsOf(call);
    std::vector<aclTensor*> handles;
    for (size_t k = 0; k < first.size(); ++k) handles.push_back(HandleOf(*arguments[k], first[k]));
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const CArguments c_arguments(call, handles);
    ASSERT_EQ(op.function.plan(c_arguments.all(), &size, &executor), 0);
    const GuardedBuffer workspace(size);
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
    // Entries of a list count by their position in it, single tensors among all tensors.
    const std::vector<size_t> positions = PositionsOf(op, arguments);
    size_t tensor = 0;
    size_t parameter = 0;
    for (size_t position = 0; position < call.arguments.size(); ++position) {
      const PlanArgument& one = call.arguments[position];
      if (one.kind != ParameterKind::kTensor && one.kind != ParameterKind::kList) continue;
      if (one.kind == ParameterKind::kList) {
        for (size_t entry = 0; entry < one.entries.size(); ++entry, ++tensor)
          EXPECT_EQ(aclSetDynamicTensorAddr(executor, parameter, entry, c_arguments.all()[position].list,
                                            second[tensor].buffer().device()),
                    0)
              << TakeErrorMessage();
      } else {
        // An omitted tensor has no address.
        EXPECT_EQ(
            aclSetTensorAddr(executor, positions[tensor], handles[tensor], second[tensor].buffer().device()),
            one.null ? 561103 : 0);
        if (one.null) TakeErrorMessage();
        EXPECT_NE(aclSetDynamicTensorAddr(executor, parameter, 0, c_arguments.FirstList(), nullptr), 0);
        ++tensor;
      }
      ++parameter;
    }
    EXPECT_EQ(aclSetTensorAddr(executor, tensor, handles[0], nullptr), 161002);
    TakeErrorMessage();
    for (int run = 0; run < 2; ++run)
      ASSERT_EQ(
          op.function.run(size == 0 ? nullptr : workspace.device(), size, executor, environment.stream()), 0)
          << TakeErrorMessage();
    ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
    aclDestroyAclOpExecutor(executor);
    for (const HostTensor& one : first) EXPECT_TRUE(one.Unchanged());
    if (!op.updates && !arguments[0]->is_output) {
      EXPECT_EQ(Difference(call, before, second), "") << Describe(call);
    }
    DestroySingles(call, handles);
  }
}

}  // namespace portacl::testing
