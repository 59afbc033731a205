// The contract of an operator whose rules answer every call: see index_answers.h.
// SPDX-License-Identifier: Apache-2.0
#include "index_answers.h"

#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "environment.h"
#include "index_call.h"

namespace portacl::testing {
namespace {

constexpr int kEnough = 5;  // one defect may fail thousands of calls
constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

// Change one tensor of a call.
using TensorChange = std::function<void(IndexArgument&)>;

TensorChange Shaped(const Shape& shape) {
  return [=](IndexArgument& one) { one.shape = shape; };
}
// To this rank, by leading dims of length 1.
TensorChange Ranked(size_t rank) {
  return [=](IndexArgument& one) {
    one.shape.insert(one.shape.begin(), rank > one.shape.size() ? rank - one.shape.size() : 0, 1);
  };
}
TensorChange Strided(const std::vector<int64_t>& strides, int64_t offset, const Shape& storage) {
  return [=](IndexArgument& one) { one.strides = {true, strides, 77, offset, storage}; };
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
          [](IndexArgument& one) {
            one.shape = {1, 3}, one.strides = {true, {999, 1}, 77, 0, Shape{3}};
          },
          [](IndexArgument& one) {
            one.shape = {1, 3}, one.strides = {true, {999, 1}, 77, 0, Shape{1}};
          },
          [](IndexArgument& one) {
            one.shape = {1, 1}, one.strides = {true, {-5, 7}, 77, 1000, Shape{1}};
          }};
}

std::vector<TensorChange> TensorChanges() {
  std::vector<TensorChange> changes = Views();
  changes.push_back([](IndexArgument& one) { one.null = true; });
  std::vector<DtypeNumber> dtypes = AllDtypes();
  dtypes.insert(dtypes.end(), {5, 14, 15, 18, 26, 28, 31, 32, 42, 99, 1000, -1, -2});
  for (const DtypeNumber dtype : dtypes) changes.push_back([=](IndexArgument& one) { one.dtype = dtype; });
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
    changes.push_back([=](IndexArgument& one) { one.format = format; });
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

// Changes of one argument: what a tensor can be, and numbers.
std::vector<Change> ChangesOfOne(const IndexOperator& op) {
  std::vector<Change> changes = {
      [](IndexCall&) {}, [](IndexCall& call) { call.null_workspace_size = true; },
      [](IndexCall& call) { call.null_executor = true; },
      [](IndexCall& call) { call.null_workspace_size = call.null_executor = true; }};
  for (size_t i = 0; i < op.valid.size(); ++i) {
    const ParameterKind kind = op.valid[i].kind;
    if (kind == ParameterKind::kTensor) {
      for (const TensorChange& change : TensorChanges())
        changes.push_back([=](IndexCall& call) { change(call.arguments[i]); });
    }
    if (kind == ParameterKind::kInteger) {
      for (const int64_t value : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4},
                                  int64_t{6}, int64_t{1} << 32, (int64_t{1} << 32) + 1, kLowest, kHighest})
        changes.push_back([=](IndexCall& call) { call.arguments[i].integer = value; });
    }
    if (kind == ParameterKind::kReal) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      const double nan = std::numeric_limits<double>::quiet_NaN();
      for (const double value :
           {0.0, -0.0, 0x1p-149, 1e-40, 1e-7, 0.5, 1.0, 2.0, 65504.0, 0x1.fffffep127, kInfinity, -0x1p-149,
            -1e-30, -1.0, -1.5, -kInfinity, nan, std::copysign(nan, -1.0)})
        changes.push_back([=](IndexCall& call) { call.arguments[i].real = value; });
    }
  }
  return changes;
}

// Faults that go together with any other one: none of them depends on another argument.
std::vector<Change> Faults(const IndexOperator& op) {
  std::vector<Change> faults = ChangesOf(op);
  faults.push_back([](IndexCall& call) { call.null_workspace_size = true; });
  for (size_t i = 0; i < op.valid.size(); ++i) {
    const auto add = [&](const std::function<void(IndexArgument&)>& change) {
      faults.push_back([=](IndexCall& call) { change(call.arguments[i]); });
    };
    switch (op.valid[i].kind) {
      case ParameterKind::kTensor:
        add([](IndexArgument& one) { one.strides = {true, {}, 77, 0, Shape{1}}; });
        for (const size_t rank : {size_t{9}, 10 + i}) add(Ranked(rank));
        add([=](IndexArgument& one) {
          if (!one.shape.empty()) one.shape.back() = 50001 + static_cast<int64_t>(i) * 10000;
        });
        for (const DtypeNumber dtype : {ACL_UINT32, ACL_UINT64, ACL_INT4, ACL_UINT1})
          add([=](IndexArgument& one) { one.dtype = dtype; });
        break;
      case ParameterKind::kInteger:
        add([](IndexArgument& one) { one.integer = 987654321012; });
        break;
      case ParameterKind::kReal:
        add([](IndexArgument& one) { one.real = -0.375; });
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
  const auto check = [&](IndexCall call) {
    ++rows;
    IndexCall elsewhere = call;
    elsewhere.product = Product::kA2;
    answered_otherwise += Expected(elsewhere).code != Expected(call).code ? 1 : 0;
    wrong += CheckPlan(call) ? 0 : 1;
    return wrong < kEnough;
  };
  OnProduct([&] {
    std::vector<Change> bases = op().bases;
    bases.insert(bases.begin(), [](IndexCall&) {});
    const std::vector<Change> changes = ChangesOfOne(op());
    for (size_t i = 0; i < bases.size(); i += IsWhole() ? 1 : 7) {
      const Change& base = bases[i];
      for (const Change& change : changes) {
        IndexCall call = ValidCall(op(), product());
        base(call);
        change(call);
        if (!check(call)) return;
      }
      for (const TensorChange& change : ChangesOfAllTensors()) {
        for (size_t first = 0; first < op().valid.size(); ++first) {  // of all tensors from one on
          IndexCall call = ValidCall(op(), product());
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
      IndexCall call = ValidCall(op(), product());
      op().draw(call, random);
      if (i % 2 == 1) changes[static_cast<size_t>(random.Below(std::ssize(changes)))](call);
      if (!check(call)) return;
    }
  });
  // docs/conformance.md is made of these properties.
  IndexCall valid = ValidCall(op(), product());
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
        IndexCall call = ValidCall(op(), product());
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
  OnProduct([&] {
    std::vector<size_t> tensors;
    for (size_t i = 0; i < op().valid.size(); ++i) {
      if (op().valid[i].kind == ParameterKind::kTensor) tensors.push_back(i);
    }
    const std::vector<DtypeNumber>& all = AllDtypes();
    const auto count = static_cast<int>(all.size());
    std::vector<Change> bases = op().bases;
    bases.insert(bases.begin(), [](IndexCall&) {});
    int wrong = 0;
    size_t turn = 0;
    for (int first = 0; first < count; ++first) {
      for (int second = 0; second < count; ++second) {
        for (int third = 0; third < count; ++third) {
          if (!IsWhole() && (first + second + third) % 4 != static_cast<int>(product()) % 4) continue;
          for (int i = 0; i < (tensors.size() < 4 && IsWhole() ? 5 : 1); ++i, ++turn) {  // bases in turn
            IndexCall call = ValidCall(op(), product());
            bases[turn % bases.size()](call);
            const int chosen[] = {first, second, third};
            for (size_t k = 0; k < tensors.size() && k < 3; ++k)
              call.arguments[tensors[k]].dtype = all[static_cast<size_t>(chosen[k])];
            if (tensors.size() > 3) {
              constexpr DtypeNumber kOthers[] = {ACL_FLOAT, ACL_BF16, ACL_COMPLEX64};
              call.arguments[tensors[3]].dtype = kOthers[turn % 3];
            }
            if (!CheckPlan(call) && ++wrong >= kEnough) return;
          }
        }
      }
    }
  });
}

namespace {

// What a parameter says that names the output's dtype.
int64_t DtypeOfTensor(const aclTensor* tensor) {
  aclDataType dtype = ACL_FLOAT;
  if (tensor != nullptr) aclGetDataType(tensor, &dtype);
  return dtype;
}

}  // namespace

OperatorBinding BindingOf(const IndexOperator& op) {
  OperatorBinding binding;
  binding.name = op.function.name;
  for (const IndexArgument& one : op.valid) {
    if (one.kind != ParameterKind::kTensor) continue;
    if (one.is_output) binding.output = static_cast<int>(binding.tensors.size());
    if (one.is_unread) binding.unread_inputs.push_back(one.name);
    binding.tensors.push_back(one.name);
  }
  // Scalars live as long as the process. The call allocates nothing: some tests count allocations. A scalar has the output's dtype where its
  // own does not promote with that.
  const aclScalar* scalar = nullptr;
  std::map<int64_t, const aclScalar*> of_output;
  for (const IndexArgument& one : op.valid) {
    if (one.kind != ParameterKind::kScalar) continue;
    const auto create = [&one](DtypeNumber dtype) {
      Element element = ElementOfNumber(dtype, one.number);
      element.resize(16);  // dtypes without numbers have zeros
      return aclCreateScalar(element.data(), AsAclDataType(dtype));
    };
    scalar = create(one.dtype);
    for (const DtypeNumber dtype : AllDtypes()) {
      if (PromoteDtypes(dtype, one.dtype) == kUndefinedDtype) of_output[dtype] = create(dtype);
    }
  }
  // Takes the messages about dtypes that no scalar has, which a test would read as those of its own call.
  aclGetRecentErrMsg();
  binding.plan = [&op, scalar, of_output, output = binding.output](std::span<aclTensor* const> tensors,
                                                                   const Attributes& attributes,
                                                                   uint64_t* size, aclOpExecutor** executor) {
    std::array<Argument, 8> arguments;
    size_t count = 0;
    size_t next = 0;
    for (const IndexArgument& one : op.valid) {
      Argument& argument = arguments.at(count++);
      if (one.kind == ParameterKind::kTensor) argument.tensor = tensors[next++];
      if (one.kind == ParameterKind::kScalar) {
        const auto own = of_output.find(DtypeOfTensor(tensors[static_cast<size_t>(output)]));
        argument.scalar = own == of_output.end() ? scalar : own->second;
      }
      argument.integer = one.name == "reduction"   ? attributes.reduction
                         : one.name == "logTarget" ? int64_t{attributes.log_target}
                                                   : one.integer;
      if (one.name == "beta") argument.single = attributes.beta;
      if (one.name == "dtype") argument.integer = DtypeOfTensor(tensors[static_cast<size_t>(output)]);
    }
    return op.function.plan(std::span(arguments).first(count), size, executor);
  };
  binding.run = op.function.run;
  return binding;
}

bool Accepts(const IndexOperator& op, const TensorTypes& types, const Attributes& attributes,
             Product product) {
  IndexCall call = ValidCall(op, product);
  size_t next = 0;
  for (IndexArgument& one : call.arguments) {
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

void Describe(NumericDescription& description, const IndexOperator& op) {
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

ContractDescription AnswerPhaseTwo::Description() const {
  const IndexOperator& op = *GetParam();
  ContractDescription description;
  description.binding = BindingOf(op);
  description.valid = [&op](CallSpec& spec) {
    for (const IndexArgument& one : op.valid) {
      if (one.kind != ParameterKind::kTensor) continue;
      spec[one.name].shape = one.shape;
      spec[one.name].dtype = one.dtype;
    }
  };
  return description;
}

}  // namespace portacl::testing
