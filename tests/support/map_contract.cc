// The contract tests of elementwise operators: see map_suite.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "map_suite.h"
#include "plan_check.h"
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

bool IsTensor(const MapOperator& op, size_t i) { return op.valid[i].kind == ParameterKind::kTensor; }
bool IsScalar(const MapOperator& op, size_t i) { return op.valid[i].kind == ParameterKind::kScalar; }
bool IsText(const MapOperator& op, size_t i) { return op.valid[i].kind == ParameterKind::kText; }

// Lays the elements out with gaps between them.
void SpreadOut(PlanArgument& tensor) {
  tensor.strides = {true, DenseStrides(tensor.shape), 77, 0,
                    Shape{2 * std::max<int64_t>(NumElements(tensor.shape), 1)}};
  for (int64_t& stride : tensor.strides.of_dims) stride *= 2;
}

}  // namespace

void MapContract::OnEveryProduct(void (MapContract::*body)(Product)) {
  for (const Product product : kProducts) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    wrong_ = 0;
    (this->*body)(product);
  }
}

void MapContract::Check(const PlanCall& call) {
  if (wrong_ > 5) return;  // enough failures to understand the error
  wrong_ += CheckPlan(call) ? 0 : 1;
}

void MapContract::NullPointers(Product product) {
  const MapOperator& op = *GetParam();
  const PlanCall valid = ValidCall(op, product);
  Check(valid);
  for (size_t i = 0; i < op.valid.size(); ++i) {
    if (!IsTensor(op, i) && !IsScalar(op, i) && !IsText(op, i)) continue;
    for (size_t j = i; j < op.valid.size(); ++j) {
      if (!IsTensor(op, j) && !IsScalar(op, j) && !IsText(op, j)) continue;
      PlanCall call = valid;
      call.arguments[i].null = call.arguments[j].null = true;
      Check(call);
    }
  }
  // Checked before everything else.
  std::vector<Argument> arguments(op.valid.size());
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
  const PlanCall valid = ValidCall(op, product);
  for (const DtypeNumber first : tried) {
    PlanCall all = valid;
    for (size_t i = 0; i < op.valid.size(); ++i) {
      if (IsTensor(op, i)) all.arguments[i].dtype = first;
    }
    for (const auto& [name, dtype] : op.dtypes) all[name].dtype = dtype;
    Check(all);
    for (size_t i = 0; i < op.valid.size(); ++i) {
      if (!IsTensor(op, i)) continue;
      for (const DtypeNumber second : tried) {
        PlanCall call = all;
        call.arguments[i].dtype = second;
        Check(call);
        // With the shape of one value, promotion may differ.
        if (i > 0 && IsTensor(op, 0) && product == Product::k950) {
          call.arguments[i].shape = {};
          Check(call);
        }
      }
    }
  }
}

// The rules of promotion and casts let small floats pass to kernels that do not exist here, so phase 1 has to
// refuse them.
void MapContract::SmallFloats(Product product) {
  const MapOperator& op = *GetParam();
  const PlanCall valid = ValidCall(op, product);
  for (const DtypeNumber small : {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN}) {
    for (const DtypeNumber other : ConvertibleDtypes()) {
      for (size_t i = 0; i < op.valid.size(); ++i) {
        if (!IsTensor(op, i) || op.Ignores(i)) continue;
        PlanCall call = valid;
        for (size_t j = 0; j < op.valid.size(); ++j) {
          if (IsTensor(op, j)) call.arguments[j].dtype = j == i ? small : other;
        }
        const Planned planned = PlanOf(call);
        EXPECT_NE(planned.status, 0) << ProductName(product) << Describe(call);
        EXPECT_EQ(planned.executor, UntouchedExecutor());
        EXPECT_NE(planned.message, "");
      }
    }
  }
}

void MapContract::Scalars(Product product) {
  const MapOperator& op = *GetParam();
  RandomNumbers random(0x5CA1);
  for (size_t i = 0; i < op.valid.size(); ++i) {
    if (!IsScalar(op, i)) continue;
    for (const DtypeNumber scalar : ConvertibleDtypes()) {
      for (const DtypeNumber tensor : ConvertibleDtypes()) {
        for (const DtypeNumber out : {tensor, DtypeNumber{ACL_FLOAT}, DtypeNumber{ACL_DOUBLE},
                                      DtypeNumber{ACL_INT32}, DtypeNumber{ACL_BOOL}}) {
          PlanCall call = ValidCall(op, product);
          for (size_t k = 0; k < op.valid.size(); ++k) {
            if (IsTensor(op, k)) call.arguments[k].dtype = tensor;
            if (IsScalar(op, k))
              call.arguments[k].dtype = random.Chance(50) ? scalar : DtypeNumber{ACL_INT64};
          }
          for (const auto& [name, dtype] : op.dtypes) call[name].dtype = dtype;
          call.arguments[i].dtype = scalar;
          SetValue(call.arguments[i], op.values[static_cast<size_t>(random.Below(std::ssize(op.values)))]);
          call.arguments[op.Output()].dtype = out;
          Check(call);
          if (op.in_place) break;
        }
      }
    }
  }
}

void MapContract::ShapesAndFormats(Product product) {
  const MapOperator& op = *GetParam();
  const PlanCall valid = ValidCall(op, product);
  const std::vector<Shape> shapes = {{},        {1},       {3},    {1, 3}, {2, 1}, {2, 3}, {4},    {2, 4},
                                     {2, 2, 3}, {1, 2, 3}, {0, 3}, {2, 0}, {0},    {1, 0}, {1, 1}, {2, 3, 1}};
  const auto set_all = [&](PlanCall& call, const Shape& shape) {
    for (size_t i = 0; i < op.valid.size(); ++i) {
      if (IsTensor(op, i)) call.arguments[i].shape = shape;
    }
    for (const auto& [name, fixed] : op.shapes) call[name].shape = fixed;
  };
  for (const Shape& all : shapes) {
    for (size_t i = 0; i < op.valid.size(); ++i) {
      if (!IsTensor(op, i)) continue;
      for (const Shape& one : shapes) {
        PlanCall call = valid;
        set_all(call, all);
        call.arguments[i].shape = one;
        Check(call);
      }
    }
  }
  for (size_t rank = 0; rank <= 10; ++rank) {
    for (size_t i = 0; i <= op.valid.size(); ++i) {
      for (const bool contiguous : {true, false}) {
        if (i < op.valid.size() && !IsTensor(op, i)) continue;
        PlanCall call = valid;
        Shape shape(rank, 1);
        if (rank > 0) shape.back() = 3;
        if (i == op.valid.size())
          set_all(call, shape);
        else
          call.arguments[i].shape = shape;
        for (PlanArgument& one : call.arguments) {
          if (!contiguous && rank != 0) SpreadOut(one);
        }
        Check(call);
      }
    }
  }
  for (const int32_t format :
       {ACL_FORMAT_NCHW, ACL_FORMAT_NC1HWC0, ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_NDHWC}) {
    PlanCall all = valid;
    for (PlanArgument& one : all.arguments) one.format = format;
    Check(all);
    for (size_t i = 0; i < op.valid.size(); ++i) {
      PlanCall call = valid;
      call.arguments[i].format = format;
      if (IsTensor(op, i)) Check(call);
    }
  }
}

// Combines any two changes: the first check that fails decides.
void MapContract::PairsOfFaults(Product product) {
  const MapOperator& op = *GetParam();
  std::vector<Change> changes;
  for (size_t i = 0; i < op.valid.size(); ++i) {
    const auto add = [&](const std::function<void(PlanArgument&)>& change) {
      changes.push_back([=](PlanCall& call) { change(call.arguments[i]); });
    };
    if (!IsTensor(op, i) && !IsScalar(op, i)) {
      for (const long double value : {-1.0L, 3.0L})
        add([=](PlanArgument& one) { SetValue(one, {value, 0}); });
      continue;
    }
    add([](PlanArgument& one) { one.null = true; });
    for (const DtypeNumber dtype : {ACL_COMPLEX64, ACL_BOOL, ACL_INT32, ACL_DOUBLE, ACL_UINT32})
      add([=](PlanArgument& one) { one.dtype = dtype; });
    if (!IsTensor(op, i)) continue;
    add([](PlanArgument& one) { one.dtype = ACL_STRING; });
    for (const Shape& shape : {Shape{5}, Shape{0}, Shape{1}, Shape{1, 1, 1, 1, 1, 1, 1, 2, 3}})
      add([=](PlanArgument& one) { one.shape = shape; });
    for (const int32_t format : {ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_NCHW})
      add([=](PlanArgument& one) { one.format = format; });
  }
  for (const Change& first : changes) {
    for (const Change& second : changes) {
      PlanCall call = ValidCall(op, product);
      first(call);
      second(call);
      Check(call);
    }
  }
}

ContractDescription MapPhaseTwo::Description() const {
  const MapOperator& op = *GetParam();
  ContractDescription description;
  description.binding = BindingOf(op);
  description.valid = [&op](CallSpec& spec) {
    for (const PlanArgument& one : op.valid) {
      if (one.kind != ParameterKind::kTensor) continue;
      spec[one.name].dtype = one.dtype;
      spec[one.name].shape = one.shape;
    }
  };
  return description;
}

}  // namespace portacl::testing
