// The contract tests of elementwise operators: see map_suite.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "guarded_buffer.h"
#include "map_rules.h"
#include "map_suite.h"
#include "map_values.h"
#include "numeric_counts.h"
#include "two_phase.h"

namespace portacl::testing {
namespace {

constexpr Product kProducts[] = {Product::kA2,   Product::kA3,   Product::k950,
                                 Product::k310B, Product::k310P, Product::k910};

// Returns dtypes that tensors may have, and a few that they may not.
std::vector<DtypeNumber> TriedDtypes() {
  std::vector<DtypeNumber> dtypes = ConvertibleDtypes();
  dtypes.insert(dtypes.end(), {ACL_COMPLEX32, ACL_INT4, ACL_STRING});
  return dtypes;
}

bool IsTensor(const MapOperator& op, size_t i) { return op.function.parameters[i] == ParameterKind::kTensor; }
bool IsScalar(const MapOperator& op, size_t i) { return op.function.parameters[i] == ParameterKind::kScalar; }
bool IsText(const MapOperator& op, size_t i) { return op.function.parameters[i] == ParameterKind::kText; }

aclTensor* MakeTensor(const Operand& operand) {
  std::vector<int64_t> strides = DenseStrides(operand.shape);
  int64_t elements = std::max<int64_t>(NumElements(operand.shape), 1);
  Shape storage = operand.shape;
  if (!operand.contiguous) {
    for (int64_t& stride : strides) stride *= 2;
    storage = {2 * elements};
  }
  return aclCreateTensor(operand.shape.data(), operand.shape.size(), AsAclDataType(operand.dtype),
                         strides.data(), 0, static_cast<aclFormat>(operand.format), storage.data(),
                         storage.size(), ForbiddenAddress());
}

// Tells whether a message names a parameter. "self", "out" and "value" also occur elsewhere in messages.
bool NamesParameter(const std::string& message, aclnnStatus code, const std::string& name) {
  const std::string places[] = {"parameter " + name, "parameters " + name, "and " + name,
                                name + " with dtype"};
  return std::any_of(std::begin(places), std::end(places),
                     [&](const std::string& place) { return bool{MessageSays(message, code, {place})}; });
}

struct Change {
  std::string name;
  std::function<void(MapCall&)> apply;
};

}  // namespace

void MapContract::OnEveryProduct(void (MapContract::*body)(Product)) {
  for (const Product product : kProducts) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    wrong_ = 0;
    (this->*body)(product);
  }
}

void MapContract::Check(MapCall call, const std::string& what) {
  if (wrong_ > 5) return;  // enough failures to understand the error
  const MapOperator& op = *call.op;
  const Verdict expected = Expected(call);
  if (expected.code == kUndetermined) return;
  std::vector<aclTensor*> tensors(call.operands.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (IsTensor(op, i) && !call.operands[i].null) tensors[i] = MakeTensor(call.operands[i]);
  }
  uint64_t size = 0xDEADBEEFCAFEF00D;
  aclOpExecutor* executor = nullptr;
  aclnnStatus status = 0;
  {
    const MapArguments arguments(call, tensors);
    status = op.function.plan(arguments.arguments(), &size, &executor);
  }
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  const std::string message = TakeErrorMessage();
  bool right = status == expected.code;
  if (right && status == 0) {
    right = size == 0 && executor != nullptr && message.empty();
  } else if (right) {
    right = size == 0xDEADBEEFCAFEF00D && executor == nullptr &&
            MessageSays(message, expected.code, {op.function.name}) &&
            (expected.names.empty() ||
             std::any_of(expected.names.begin(), expected.names.end(), [&](const std::string& name) {
               return NamesParameter(message, expected.code, name);
             }));
  }
  if (executor != nullptr) aclDestroyAclOpExecutor(executor);
  ++CountsOfThisProcess().cases;
  if (right) return;
  ++wrong_;
  std::string names;
  for (const std::string& name : expected.names) names += " " + name;
  ADD_FAILURE() << ProductName(call.product) << ", " << what << ": " << status << ", expected "
                << expected.code << names << "; " << message;
}

void MapContract::NullPointers(Product product) {
  const MapOperator& op = *GetParam();
  const MapCall valid(op, product);
  Check(valid, "the valid call");
  for (size_t i = 0; i < op.names.size(); ++i) {
    if (!IsTensor(op, i) && !IsScalar(op, i) && !IsText(op, i)) continue;
    for (size_t j = i; j < op.names.size(); ++j) {
      if (!IsTensor(op, j) && !IsScalar(op, j) && !IsText(op, j)) continue;
      MapCall call = valid;
      call.operands[i].null = call.operands[j].null = true;
      Check(call, op.names[i] + " and " + op.names[j] + " null");
    }
  }
  // Checked before everything else.
  std::vector<Argument> arguments(op.names.size());
  uint64_t size = 1;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(op.function.plan(arguments, nullptr, &executor), 161001);
  EXPECT_TRUE(MessageSays(TakeErrorMessage(), 161001, {"workspaceSize"}));
  EXPECT_EQ(op.function.plan(arguments, &size, nullptr), 161001);
  EXPECT_TRUE(MessageSays(TakeErrorMessage(), 161001, {"executor"}));
  EXPECT_EQ(size, 1u);
}

// Tries every dtype in each tensor alone, in two tensors together, and in all at once.
void MapContract::Dtypes(Product product) {
  const MapOperator& op = *GetParam();
  const std::vector<DtypeNumber> tried = TriedDtypes();
  const MapCall valid(op, product);
  for (const DtypeNumber first : tried) {
    MapCall all = valid;
    for (size_t i = 0; i < op.names.size(); ++i) {
      if (IsTensor(op, i)) all.operands[i].dtype = first;
    }
    for (const auto& [name, dtype] : op.dtypes) all[name].dtype = dtype;
    Check(all, "everything " + DtypeName(first));
    for (size_t i = 0; i < op.names.size(); ++i) {
      if (!IsTensor(op, i)) continue;
      for (const DtypeNumber second : tried) {
        MapCall call = all;
        call.operands[i].dtype = second;
        Check(call, op.names[i] + " " + DtypeName(second) + " among " + DtypeName(first));
        // With the shape of one value, promotion may differ.
        if (i > 0 && IsTensor(op, 0) && product == Product::k950) {
          call.operands[i].shape = {};
          Check(call, op.names[i] + " " + DtypeName(second) + " value among " + DtypeName(first));
        }
      }
    }
  }
}

// The rules of promotion and casts let small floats pass to kernels that do not exist here, so phase 1 has to
// refuse them.
void MapContract::SmallFloats(Product product) {
  const MapOperator& op = *GetParam();
  const MapCall valid(op, product);
  for (const DtypeNumber small : {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN}) {
    for (const DtypeNumber other : ConvertibleDtypes()) {
      for (size_t i = 0; i < op.names.size(); ++i) {
        if (!IsTensor(op, i) || op.names[i] == "buffer") continue;  // it is never read
        MapCall call = valid;
        for (size_t j = 0; j < op.names.size(); ++j) {
          if (IsTensor(op, j)) call.operands[j].dtype = j == i ? small : other;
        }
        std::vector<aclTensor*> tensors(call.operands.size());
        for (size_t j = 0; j < tensors.size(); ++j) {
          if (IsTensor(op, j)) tensors[j] = MakeTensor(call.operands[j]);
        }
        uint64_t size = 1;
        aclOpExecutor* executor = nullptr;
        const MapArguments arguments(call, tensors);
        EXPECT_NE(op.function.plan(arguments.arguments(), &size, &executor), 0)
            << ProductName(product) << ", " << op.names[i] << " " << DtypeName(small) << " among "
            << DtypeName(other);
        EXPECT_EQ(executor, nullptr);
        EXPECT_NE(TakeErrorMessage(), "");
        for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
      }
    }
  }
}

void MapContract::Scalars(Product product) {
  const MapOperator& op = *GetParam();
  RandomNumbers random(0x5CA1);
  for (size_t i = 0; i < op.names.size(); ++i) {
    if (!IsScalar(op, i)) continue;
    for (const DtypeNumber scalar : ConvertibleDtypes()) {
      for (const DtypeNumber tensor : ConvertibleDtypes()) {
        for (const DtypeNumber out : {tensor, DtypeNumber{ACL_FLOAT}, DtypeNumber{ACL_DOUBLE},
                                      DtypeNumber{ACL_INT32}, DtypeNumber{ACL_BOOL}}) {
          MapCall call(op, product);
          for (size_t k = 0; k < op.names.size(); ++k) {
            if (IsTensor(op, k)) call.operands[k].dtype = tensor;
            if (IsScalar(op, k)) call.operands[k].dtype = random.Chance(50) ? scalar : DtypeNumber{ACL_INT64};
          }
          for (const auto& [name, dtype] : op.dtypes) call[name].dtype = dtype;
          call.operands[i].dtype = scalar;
          call.operands[i].value = op.values[static_cast<size_t>(random.Below(std::ssize(op.values)))];
          call.operands[op.Output()].dtype = out;
          Check(call, op.names[i] + " " + DtypeName(scalar) + " among " + DtypeName(tensor) + " into " +
                          DtypeName(out));
          if (op.in_place) break;
        }
      }
    }
  }
}

void MapContract::ShapesAndFormats(Product product) {
  const MapOperator& op = *GetParam();
  const MapCall valid(op, product);
  const std::vector<Shape> shapes = {{},        {1},       {3},    {1, 3}, {2, 1}, {2, 3}, {4},    {2, 4},
                                     {2, 2, 3}, {1, 2, 3}, {0, 3}, {2, 0}, {0},    {1, 0}, {1, 1}, {2, 3, 1}};
  const auto set_all = [&](MapCall& call, const Shape& shape) {
    for (size_t i = 0; i < op.names.size(); ++i) {
      if (IsTensor(op, i)) call.operands[i].shape = shape;
    }
    for (const auto& [name, fixed] : op.shapes) call[name].shape = fixed;
  };
  for (const Shape& all : shapes) {
    for (size_t i = 0; i < op.names.size(); ++i) {
      if (!IsTensor(op, i)) continue;
      for (const Shape& one : shapes) {
        MapCall call = valid;
        set_all(call, all);
        call.operands[i].shape = one;
        Check(call, op.names[i] + " " + ToString(one) + " among " + ToString(all));
      }
    }
  }
  for (size_t rank = 0; rank <= 10; ++rank) {
    for (size_t i = 0; i <= op.names.size(); ++i) {
      for (const bool contiguous : {true, false}) {
        if (i < op.names.size() && !IsTensor(op, i)) continue;
        MapCall call = valid;
        Shape shape(rank, 1);
        if (rank > 0) shape.back() = 3;
        if (i == op.names.size())
          set_all(call, shape);
        else
          call.operands[i].shape = shape;
        for (Operand& operand : call.operands) operand.contiguous = contiguous || rank == 0;
        Check(call, (i < op.names.size() ? op.names[i] : "all") + " of rank " + std::to_string(rank) +
                        (contiguous ? "" : ", strided"));
      }
    }
  }
  for (const int32_t format :
       {ACL_FORMAT_NCHW, ACL_FORMAT_NC1HWC0, ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_NDHWC}) {
    MapCall all = valid;
    for (Operand& operand : all.operands) operand.format = format;
    Check(all, "format " + std::to_string(format));
    for (size_t i = 0; i < op.names.size(); ++i) {
      MapCall call = valid;
      call.operands[i].format = format;
      if (IsTensor(op, i)) Check(call, op.names[i] + " of format " + std::to_string(format));
    }
  }
}

// Combines any two changes: the first check that fails decides.
void MapContract::PairsOfFaults(Product product) {
  const MapOperator& op = *GetParam();
  std::vector<Change> changes;
  for (size_t i = 0; i < op.names.size(); ++i) {
    const std::string& name = op.names[i];
    if (!IsTensor(op, i) && !IsScalar(op, i)) {
      for (const long double value : {-1.0L, 3.0L})
        changes.push_back({name + " other", [=](MapCall& call) { call.operands[i].value = {value, 0}; }});
      continue;
    }
    changes.push_back({name + " null", [=](MapCall& call) { call.operands[i].null = true; }});
    for (const DtypeNumber dtype : {ACL_COMPLEX64, ACL_BOOL, ACL_INT32, ACL_DOUBLE, ACL_UINT32})
      changes.push_back(
          {name + " " + DtypeName(dtype), [=](MapCall& call) { call.operands[i].dtype = dtype; }});
    if (!IsTensor(op, i)) continue;
    changes.push_back({name + " string", [=](MapCall& call) { call.operands[i].dtype = ACL_STRING; }});
    for (const Shape& shape : {Shape{5}, Shape{0}, Shape{1}, Shape{1, 1, 1, 1, 1, 1, 1, 2, 3}})
      changes.push_back(
          {name + " " + ToString(shape), [=](MapCall& call) { call.operands[i].shape = shape; }});
    changes.push_back(
        {name + " private", [=](MapCall& call) { call.operands[i].format = ACL_FORMAT_FRACTAL_NZ; }});
    changes.push_back({name + " NCHW", [=](MapCall& call) { call.operands[i].format = ACL_FORMAT_NCHW; }});
  }
  for (const Change& first : changes) {
    for (const Change& second : changes) {
      MapCall call(op, product);
      first.apply(call);
      second.apply(call);
      Check(call, first.name + ", " + second.name);
    }
  }
}

ContractDescription MapPhaseTwo::Description() const {
  const MapOperator& op = *GetParam();
  ContractDescription description;
  description.binding = BindingOf(op);
  const OperatorBinding& binding = description.binding;
  const MapCall valid(op, op.product);
  std::vector<Operand> tensors;
  for (size_t i = 0; i < op.names.size(); ++i) {
    if (IsTensor(op, i)) tensors.push_back(valid.operands[i]);
  }
  description.valid = [tensors, names = binding.tensors](CallSpec& spec) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      spec[names[i]].dtype = tensors[i].dtype;
      spec[names[i]].shape = tensors[i].shape;
    }
  };
  return description;
}

}  // namespace portacl::testing
