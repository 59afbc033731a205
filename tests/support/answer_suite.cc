// The contract of an operator whose rules answer every call: see answer_suite.h.
// SPDX-License-Identifier: Apache-2.0
#include "answer_suite.h"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

#include "environment.h"
#include "plan_check.h"
#include "two_phase.h"

namespace portacl::testing {
namespace {

constexpr int kEnough = 5;  // one defect may fail thousands of calls
constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

// Change one tensor of a call.
using TensorChange = std::function<void(PlanArgument&)>;

TensorChange Shaped(const Shape& shape) {
  return [=](PlanArgument& one) { one.shape = shape; };
}
// To this rank, by leading dims of length 1.
TensorChange Ranked(size_t rank) {
  return [=](PlanArgument& one) {
    one.shape.insert(one.shape.begin(), rank > one.shape.size() ? rank - one.shape.size() : 0, 1);
  };
}
TensorChange Strided(const std::vector<int64_t>& strides, int64_t offset, const Shape& storage) {
  return [=](PlanArgument& one) { one.strides = {true, strides, 77, offset, storage}; };
}

// Views of [2, 3], and what they are over other shapes: 77 elements between any two, over as small a storage.
std::vector<TensorChange> Views() {
  const int64_t lowest_step = kLowest / 4;
  return {Strided({1, 2}, 0, {6}), Strided({1, 2}, 1, {6}), Strided({1, 2}, 1, {7}),
          Strided({-3, -1}, 5, {6}), Strided({-3, -1}, 4, {6}), Strided({-3, -1}, 6, {6}),
          Strided({0, 1}, 0, {3}), Strided({0, 0}, 0, {1}), Strided({0, 1}, 0, {2}), Strided({0, 1}, -1, {3}),
          Strided({4, 1}, 0, {7}), Strided({4, 1}, 0, {6}), Strided({kHighest, 1}, 0, {6}),
          Strided({kHighest, kHighest}, kHighest, {6}), Strided({kLowest, kLowest}, 0, {6}),
          Strided({4, 1}, kLowest, {7}), Strided({1, 2}, 0, {}), Strided({3, 1}, 0, {1}),
          Strided({3, 1}, 1000, {6}), Strided({lowest_step, 1}, 0, {6}), Strided({100, 7}, -5, {1}),
          // A dim of length 1 has any stride, and one element any offset.
          [](PlanArgument& one) {
            one.shape = {1, 3}, one.strides = {true, {999, 1}, 77, 0, Shape{3}};
          },
          [](PlanArgument& one) {
            one.shape = {1, 3}, one.strides = {true, {999, 1}, 77, 0, Shape{1}};
          },
          [](PlanArgument& one) {
            one.shape = {1, 1}, one.strides = {true, {-5, 7}, 77, 1000, Shape{1}};
          }};
}

// Every dtype, and numbers that are none.
std::vector<DtypeNumber> AllNumbersOfDtypes() {
  std::vector<DtypeNumber> dtypes = AllDtypes();
  dtypes.insert(dtypes.end(), {5, 14, 15, 18, 26, 28, 31, 32, 42, 99, 1000, -1, -2});
  return dtypes;
}

// Those that a scalar can have.
const std::vector<DtypeNumber>& DtypesOfScalars() {
  static const std::vector<DtypeNumber> dtypes = [] {
    std::vector<DtypeNumber> all = AllNumbersOfDtypes();
    std::erase_if(all, [](DtypeNumber dtype) {
      alignas(16) std::byte zeros[16] = {};
      const aclScalar* const scalar = aclCreateScalar(zeros, AsAclDataType(dtype));
      aclDestroyScalar(scalar);
      return scalar == nullptr;
    });
    TakeErrorMessage();
    return all;
  }();
  return dtypes;
}

std::vector<double> Reals() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {0.0,    -0.0, 0x1p-149, 1e-40,          1e-7,      0.5,
          1.0,    2.0,  65504.0,  0x1.fffffep127, kInfinity, -0x1p-149,
          -1e-30, -1.0, -1.5,     -kInfinity,     nan,       std::copysign(nan, -1.0)};
}

std::vector<TensorChange> ScalarChanges() {
  std::vector<TensorChange> changes = {[](PlanArgument& one) { one.null = true; }};
  for (const DtypeNumber dtype : DtypesOfScalars())
    changes.push_back([=](PlanArgument& one) { one.dtype = dtype; });
  for (const double value : Reals()) {
    changes.push_back([=](PlanArgument& one) {
      if (std::isfinite(value) || !IsIntegerDtype(one.dtype)) one.number = {value, 0};
    });
  }
  return changes;
}

std::vector<TensorChange> TensorChanges() {
  std::vector<TensorChange> changes = Views();
  changes.push_back([](PlanArgument& one) { one.null = !one.null; });
  for (const DtypeNumber dtype : AllNumbersOfDtypes())
    changes.push_back([=](PlanArgument& one) { one.dtype = dtype; });
  for (const Shape& shape :
       {Shape{},        Shape{0},       Shape{1},     Shape{2},          Shape{3},    Shape{6},
        Shape{7},       Shape{1, 1},    Shape{1, 3},  Shape{2, 1},       Shape{2, 3}, Shape{2, 4},
        Shape{2, 5},    Shape{3, 2},    Shape{4, 3},  Shape{0, 3},       Shape{2, 0}, Shape{1, 2, 3},
        Shape{2, 3, 1}, Shape{4, 2, 3}, Shape{-2, 3}, Shape{kLowest, 3}, Shape(9, 1), Shape(25, 1)})
    changes.push_back(Shaped(shape));
  for (const size_t rank : {8, 9, 10, 25}) changes.push_back(Ranked(rank));
  for (const int32_t format : {-1, 0,  1,    2,   3,
                               4,  12, 16,   27,  29,
                               30, 32, 33,   35,  47,
                               50, 51, 52,   53,  54,
                               5,  55, 1000, -77, std::numeric_limits<int32_t>::max()})
    changes.push_back([=](PlanArgument& one) { one.format = format; });
  return changes;
}

std::vector<TensorChange> ChangesOfAllTensors() {
  std::vector<TensorChange> changes = TensorChanges();
  constexpr int64_t kLarge = int64_t{1} << 32;
  for (size_t rank = 0; rank <= 8; ++rank) changes.push_back(Shaped(Shape(rank, 2)));
  for (const Shape& shape :
       {Shape{2, 0, 3}, Shape{0, 0}, Shape{1, 1, 1, 1, 1, 1, 1, 1, 0}, Shape{-2, -3}, Shape{kLarge, kLarge},
        Shape{kLarge, kLarge / 2}, Shape{kHighest, 4}, Shape(8, 512), Shape{1 << 20, 1 << 20},
        Shape{int64_t{1} << 40, int64_t{1} << 40, 0}, Shape{int64_t{1} << 61}})
    changes.push_back(Shaped(shape));
  return changes;
}

// Dims and other integers.
std::vector<std::vector<int64_t>> Arrays() {
  constexpr int64_t kLarge = int64_t{1} << 32;
  return {{},
          {0},
          {1},
          {2, 3},
          {-1},
          {2, -3},
          {-2, -3},
          {0, 5},
          {5, 0},
          {128},
          {129},
          {7, 18, 1},
          {kLarge, kLarge},
          {kLarge, kLarge / 2},
          {kHighest},
          {kLowest, 3},
          {kHighest, 4},
          Shape(8, 512),
          Shape(9, 1),
          Shape(25, 1)};
}

// Changes of one argument: what a tensor, a scalar or an array can be, and numbers.
std::vector<Change> ChangesOfOne(const OperatorSpec& op) {
  std::vector<Change> changes = {
      [](PlanCall&) {}, [](PlanCall& call) { call.null_workspace_size = true; },
      [](PlanCall& call) { call.null_executor = true; },
      [](PlanCall& call) { call.null_workspace_size = call.null_executor = true; }};
  for (size_t i = 0; i < op.valid.size(); ++i) {
    const ParameterKind kind = op.valid[i].kind;
    if (kind == ParameterKind::kTensor) {
      for (const TensorChange& change : TensorChanges())
        changes.push_back([=](PlanCall& call) { change(call.arguments[i]); });
    }
    if (kind == ParameterKind::kInteger) {
      for (const int64_t value : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4},
                                  int64_t{6}, int64_t{1} << 32, (int64_t{1} << 32) + 1, kLowest, kHighest})
        changes.push_back([=](PlanCall& call) { call.arguments[i].integer = value; });
    }
    if (kind == ParameterKind::kReal) {
      for (const double value : Reals())
        changes.push_back([=](PlanCall& call) { call.arguments[i].real = value; });
    }
    if (kind == ParameterKind::kScalar) {
      for (const TensorChange& change : ScalarChanges())
        changes.push_back([=](PlanCall& call) { change(call.arguments[i]); });
    }
    if (kind == ParameterKind::kArray) {
      changes.push_back([=](PlanCall& call) { call.arguments[i].null = true; });
      for (const std::vector<int64_t>& values : Arrays())
        changes.push_back([=](PlanCall& call) { call.arguments[i].values = values; });
    }
  }
  return changes;
}

// Faults that go together with any other one: none of them depends on another argument.
std::vector<Change> Faults(const OperatorSpec& op) {
  std::vector<Change> faults = ChangesOf(op);
  faults.push_back([](PlanCall& call) { call.null_workspace_size = true; });
  for (size_t i = 0; i < op.valid.size(); ++i) {
    const auto add = [&](const std::function<void(PlanArgument&)>& change) {
      faults.push_back([=](PlanCall& call) { change(call.arguments[i]); });
    };
    switch (op.valid[i].kind) {
      case ParameterKind::kTensor:
        if (op.valid[i].null) add([](PlanArgument& one) { one.null = false; });
        add([](PlanArgument& one) { one.strides = {true, {}, 77, 0, Shape{1}}; });
        for (const size_t rank : {size_t{9}, 10 + i}) add(Ranked(rank));
        add([=](PlanArgument& one) {
          if (!one.shape.empty()) one.shape.back() = 50001 + static_cast<int64_t>(i) * 10000;
        });
        for (const DtypeNumber dtype : {ACL_UINT32, ACL_UINT64, ACL_INT4, ACL_UINT1})
          add([=](PlanArgument& one) { one.dtype = dtype; });
        break;
      case ParameterKind::kInteger:
        add([](PlanArgument& one) { one.integer = 987654321012; });
        break;
      case ParameterKind::kReal:
        add([](PlanArgument& one) { one.real = -0.375; });
        break;
      case ParameterKind::kScalar:
        for (const double value : {-0.375, 1.5, std::numeric_limits<double>::quiet_NaN()})
          add([=](PlanArgument& one) { one.number = {value, 0}; });
        break;
      default:
        break;
    }
  }
  return faults;
}

}  // namespace

void AnswerSuite::OnProduct(const std::function<void()>& body) {
  const bool no_device = product() == Product::kNoDevice;
  const ScopedEnvironment environment(
      Variables{{"PORTACL_SOC", SocNameOf(product())}},
      no_device ? ScopedEnvironment::Start::kWithoutDevice : ScopedEnvironment::Start::kWithDevice);
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  if (no_device) {
    OnThreadWithoutDevice(body);
  } else {
    body();
  }
}

void AnswerSuite::EveryChange() {
  int rows = 0;
  int answered_otherwise = 0;
  int wrong = 0;
  const auto check = [&](PlanCall call) {
    ++rows;
    PlanCall elsewhere = call;
    elsewhere.product = Product::kA2;
    answered_otherwise += Expected(elsewhere).code != Expected(call).code ? 1 : 0;
    wrong += CheckPlan(call) ? 0 : 1;
    return wrong < kEnough;
  };
  OnProduct([&] {
    std::vector<Change> bases = op().bases;
    bases.insert(bases.begin(), [](PlanCall&) {});
    const std::vector<Change> changes = ChangesOfOne(op());
    for (size_t i = 0; i < bases.size(); i += IsWhole() ? 1 : 7) {
      const Change& base = bases[i];
      for (const Change& change : changes) {
        PlanCall call = ValidCall(op(), product());
        base(call);
        change(call);
        if (!check(call)) return;
      }
      for (const TensorChange& change : ChangesOfAllTensors()) {
        for (size_t first = 0; first < op().valid.size(); ++first) {  // of all tensors from one on
          PlanCall call = ValidCall(op(), product());
          base(call);
          for (size_t k = first; k < call.arguments.size(); ++k) {
            if (call.arguments[k].kind == ParameterKind::kTensor) change(call.arguments[k]);
          }
          if (!check(call)) return;
        }
      }
    }
    RandomNumbers random(0xD2A3);
    for (int i = 0; i < (IsWhole() ? 4000 : 1000); ++i) {
      PlanCall call = ValidCall(op(), product());
      op().draw(call, random);
      if (i % 2 == 1) changes[static_cast<size_t>(random.Below(std::ssize(changes)))](call);
      if (!check(call)) return;
    }
  });
  // docs/conformance.md is made of these properties.
  PlanCall valid = ValidCall(op(), product());
  RecordProperty("contract_rows", rows);
  RecordProperty("answered_otherwise", answered_otherwise);
  RecordProperty("valid_call", static_cast<int>(Expected(valid).code));
}

void AnswerSuite::EveryTwoFaults() {
  int pairs = 0;
  OnProduct([&] {
    int wrong = 0;
    const std::vector<Change> faults = Faults(op());
    for (size_t first = 0; first < faults.size(); ++first) {
      for (size_t second = first; second < faults.size(); ++second) {
        if (!IsWhole() && (first + second) % 8 != static_cast<size_t>(product())) continue;
        PlanCall call = ValidCall(op(), product());
        faults[second](call);
        faults[first](call);
        ++pairs;
        if (!CheckPlan(call) && ++wrong >= kEnough) return;
      }
    }
  });
  RecordProperty("fault_pairs", pairs);
}

void AnswerSuite::EveryDtype() {
  size_t turn = 0;
  OnProduct([&] {
    std::vector<size_t> typed;
    std::vector<std::vector<DtypeNumber>> all(3, {ACL_FLOAT});  // of the first three
    for (size_t i = 0; i < op().valid.size(); ++i) {
      const bool is_scalar = op().valid[i].kind == ParameterKind::kScalar;
      if (!is_scalar && op().valid[i].kind != ParameterKind::kTensor) continue;
      if (typed.size() < 3) all[typed.size()] = is_scalar ? DtypesOfScalars() : AllDtypes();
      typed.push_back(i);
    }
    std::vector<Change> bases = op().bases;
    bases.insert(bases.begin(), [](PlanCall&) {});
    // The bases in turn; every one of them where the combinations are few.
    const size_t times = typed.size() < 3 ? bases.size() : typed.size() == 3 && IsWhole() ? 5 : 1;
    int wrong = 0;
    for (size_t first = 0; first < all[0].size(); ++first) {
      for (size_t second = 0; second < all[1].size(); ++second) {
        for (size_t third = 0; third < all[2].size(); ++third) {
          const bool is_here =
              typed.size() < 2 || (first + second + third) % 4 == static_cast<size_t>(product()) % 4;
          if (!IsWhole() && !is_here) continue;
          for (size_t i = 0; i < times; ++i, ++turn) {
            PlanCall call = ValidCall(op(), product());
            bases[turn % bases.size()](call);
            const DtypeNumber chosen[] = {all[0][first], all[1][second], all[2][third]};
            for (size_t k = 0; k < typed.size() && k < 3; ++k) call.arguments[typed[k]].dtype = chosen[k];
            if (typed.size() > 3) {
              constexpr DtypeNumber kOthers[] = {ACL_FLOAT, ACL_BF16, ACL_COMPLEX64};
              call.arguments[typed[3]].dtype = kOthers[turn % 3];
            }
            if (!CheckPlan(call) && ++wrong >= kEnough) return;
          }
        }
      }
    }
  });
  RecordProperty("dtype_combinations", static_cast<int>(turn));
}

namespace {

// What a parameter says that names the output's dtype.
int64_t DtypeOfTensor(const aclTensor* tensor) {
  aclDataType dtype = ACL_FLOAT;
  if (tensor != nullptr) aclGetDataType(tensor, &dtype);
  return dtype;
}

// The arguments of a description's calls that are no tensors: those of the valid call, and scalars for outputs whose dtype does not
// promote with that of the scalar, by this dtype.
struct Constants {
  std::vector<Argument> own;
  std::map<int64_t, const aclScalar*> of_output;
};

// Tells whether a scalar may have the dtype of the output, if this is the only tensor of that dtype.
bool GoesWithOutput(const OperatorSpec& op, const std::string& scalar, DtypeNumber dtype) {
  PlanCall call = ValidCall(op, op.numbers_on);
  for (PlanArgument& one : call.arguments) {
    if (one.is_output || one.name == scalar) one.dtype = dtype;
  }
  return Expected(call).code == 0;
}

Constants MakeConstants(const OperatorSpec& op) {
  const DtypeList without = {ACL_STRING, ACL_DT_UNDEFINED, ACL_COMPLEX32, ACL_INT4, ACL_UINT1};
  Constants constants;
  for (const PlanArgument& one : op.valid) {
    Argument& argument = constants.own.emplace_back();
    argument.integer = one.integer;
    argument.real = one.real;
    argument.text = one.null ? nullptr : one.text.c_str();
    if (one.kind == ParameterKind::kArray)
      argument.array = aclCreateIntArray(one.values.data(), one.values.size());
    if (one.kind != ParameterKind::kScalar) continue;
    const auto create = [&one](DtypeNumber dtype) {
      Element element = ElementOfNumber(dtype, one.number);
      element.resize(16);  // dtypes without numbers have zeros
      return aclCreateScalar(element.data(), AsAclDataType(dtype));
    };
    argument.scalar = create(one.dtype);
    for (const DtypeNumber dtype : AllDtypes()) {
      const bool promotes = PromoteDtypes(dtype, one.dtype) != kUndefinedDtype;
      if (!promotes && !IsOneOf(dtype, without) && GoesWithOutput(op, one.name, dtype))
        constants.of_output[dtype] = create(dtype);
    }
  }
  return constants;
}

// Returns handles that are never destroyed: programs call operators until they have ended. The calls make none, since some tests count
// allocations.
const Constants& ConstantsOf(const OperatorSpec& op) {
  static std::mutex mutex;
  static auto& all = *new std::map<const OperatorSpec*, Constants>;
  const std::lock_guard lock(mutex);
  const auto found = all.find(&op);
  return found != all.end() ? found->second : all.emplace(&op, MakeConstants(op)).first->second;
}

}  // namespace

OperatorBinding BindingOf(const OperatorSpec& op) {
  OperatorBinding binding;
  binding.name = op.function.name;
  for (const PlanArgument& one : op.valid) {
    if (one.kind != ParameterKind::kTensor) continue;
    if (one.is_output) binding.output = static_cast<int>(binding.tensors.size());
    if (one.is_unread) binding.unread_inputs.push_back(one.name);
    binding.tensors.push_back(one.name);
  }
  const Constants& constants = ConstantsOf(op);
  binding.plan = [&op, &constants, output = binding.output](std::span<aclTensor* const> tensors,
                                                            const Attributes& attributes, uint64_t* size,
                                                            aclOpExecutor** executor) {
    std::array<Argument, 8> arguments;
    size_t count = 0;
    size_t next = 0;
    for (const PlanArgument& one : op.valid) {
      Argument& argument = arguments.at(count);
      argument = constants.own[count++];
      if (one.kind == ParameterKind::kTensor) argument.tensor = tensors[next++];
      if (one.kind == ParameterKind::kScalar) {
        const auto found = constants.of_output.find(DtypeOfTensor(tensors[static_cast<size_t>(output)]));
        if (found != constants.of_output.end()) argument.scalar = found->second;
      }
      if (one.name == "reduction") argument.integer = attributes.reduction;
      if (one.name == "logTarget") argument.integer = int64_t{attributes.log_target};
      if (one.name == "beta") argument.single = attributes.beta;
      if (one.name == "dtype") argument.integer = DtypeOfTensor(tensors[static_cast<size_t>(output)]);
    }
    return op.function.plan(std::span(arguments).first(count), size, executor);
  };
  binding.run = op.function.run;
  return binding;
}

bool Accepts(const OperatorSpec& op, const TensorTypes& types, const Attributes& attributes,
             Product product) {
  PlanCall call = ValidCall(op, product);
  size_t next = 0;
  for (PlanArgument& one : call.arguments) {
    if (one.name == "reduction") one.integer = attributes.reduction;
    if (one.name == "logTarget") one.integer = attributes.log_target ? 1 : 0;
    if (one.name == "beta") one.real = static_cast<double>(attributes.beta);
    if (one.kind != ParameterKind::kTensor) continue;
    one.shape = one.is_output ? types.output_shape : types.shapes[next];
    one.dtype = one.is_output ? types.output : types.dtypes[next];
    next += one.is_output ? 0 : 1;
  }
  return Expected(call).code == 0;
}

void Describe(NumericDescription& description, const OperatorSpec& op) {
  description.binding = BindingOf(op);
  const size_t inputs = description.binding.tensors.size() - 1;
  const Attributes attributes = description.attributes.front();
  const std::vector<Shape> shapes(inputs, Shape{2, 3});
  const Shape output = description.output_shape(shapes);
  const int same = description.output_has_dtype_of;
  description.accepts_dtypes = [=, &op](std::span<const DtypeNumber> dtypes) {
    const DtypeNumber result = same < 0 ? DtypeNumber{ACL_FLOAT} : dtypes[static_cast<size_t>(same)];
    return Accepts(op, {shapes, output, {dtypes.begin(), dtypes.end()}, result}, attributes);
  };
  description.takes = [=, &op](Product product, const std::vector<DtypeNumber>& dtypes, DtypeNumber result) {
    return Accepts(op, {shapes, output, dtypes, result}, attributes, product);
  };
}

namespace {

void SetTensors(CallSpec& spec, const PlanCall& call) {
  for (const PlanArgument& one : call.arguments) {
    if (one.kind != ParameterKind::kTensor) continue;
    TensorSpec& tensor = spec[one.name];
    tensor.null = one.null;
    tensor.shape = one.shape;
    tensor.dtype = one.dtype;
    // A tensor of one value has it when others are empty.
    tensor.without_data = NumElements(one.shape) == 0;
  }
}

// Makes the valid call one without elements, in a way that the rules accept: all tensors are alike, but those of one value keep it, or each
// has no rows. nullopt if there is none.
std::optional<PlanCall> EmptyCall(const OperatorSpec& op) {
  enum Way { kAlike, kBesideValues, kWithoutRows };
  for (const Way way : {kAlike, kBesideValues, kWithoutRows}) {
    PlanCall call = ValidCall(op, op.numbers_on);
    for (PlanArgument& one : call.arguments) {
      // A tensor without dims cannot be empty.
      if (one.kind != ParameterKind::kTensor || one.shape.empty()) continue;
      if (way != kAlike && one.shape == Shape{1}) continue;
      if (way == kWithoutRows) {
        one.shape.front() = 0;
      } else {
        one.shape = {0, 3};
      }
    }
    if (Expected(call).code == 0) return call;
  }
  return std::nullopt;
}

}  // namespace

ContractDescription PhaseTwoOf(const OperatorSpec& op) {
  ContractDescription description;
  description.binding = BindingOf(op);
  description.settings = {{"PORTACL_SOC", SocNameOf(op.numbers_on)}};
  description.takes_workspace = op.valid_takes_workspace;
  description.valid = [&op](CallSpec& spec) { SetTensors(spec, ValidCall(op, op.numbers_on)); };
  description.empty = nullptr;
  if (const std::optional<PlanCall> empty = EmptyCall(op))
    description.empty = [empty = *empty](CallSpec& spec) { SetTensors(spec, empty); };
  return description;
}

}  // namespace portacl::testing
