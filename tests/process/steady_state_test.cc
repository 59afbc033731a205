// Calls of every operator, with reductions and without, small and shared among threads: once a program has made a few,
// the next ones allocate nothing.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "operators/all_operators.h"
#include "process/allocation_hook.h"
#include "support/environment.h"
#include "support/map_suite.h"

namespace portacl::testing {
namespace {

struct Path {
  const NumericDescription* op;
  bool reduced;
};

void PrintTo(const Path& path, std::ostream* out) {
  *out << path.op->binding.name << (path.reduced ? ", reduced" : "");
}

class SteadyState : public ::testing::TestWithParam<Path> {};

std::vector<Path> Paths() {
  std::vector<Path> paths;
  for (const NumericDescription* op : AllOperators()) paths.push_back({op, false});
  for (const NumericDescription* op : AllReducedLosses()) paths.push_back({op, true});
  return paths;
}

TEST_P(SteadyState, AllocatesNothing) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  const NumericDescription& op = *GetParam().op;
  bool needed_workspace = false;
  for (const int64_t n : {4, 1 << 18, (1 << 20) + 1}) {
    const size_t operands = op.binding.tensors.size();
    std::vector<std::vector<float>> data(operands, std::vector<float>(static_cast<size_t>(n), 0.5f));
    const Shape shape = {n};
    std::vector<aclTensor*> tensors;
    for (size_t k = 0; k < operands; ++k) {
      const Shape dims = k + 1 == operands ? op.output_shape(std::vector<Shape>(operands - 1, shape)) : shape;
      tensors.push_back(aclCreateTensor(dims.data(), dims.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                        dims.data(), dims.size(), data[k].data()));
    }
    std::vector<std::byte> workspace(1 << 20);
    const Attributes& attributes = op.attributes.front();
    const auto run = [&](int times) {
      int failures = 0;
      for (int i = 0; i < times; ++i) {
        uint64_t size = 0;
        aclOpExecutor* executor = nullptr;
        failures += op.binding.plan(tensors, attributes, &size, &executor) != 0;
        needed_workspace = needed_workspace || size > 0;
        failures += size > workspace.size() || op.binding.run(size > 0 ? workspace.data() : nullptr, size,
                                                              executor, environment.stream()) != 0;
        failures += aclrtSynchronizeStream(environment.stream()) != 0;
      }
      return failures;
    };
    ASSERT_EQ(run(20), 0);
    // Threads that help come when they like, and the first time each of them makes what it keeps.
    long made = 1;
    for (int attempt = 0; attempt < 10 && made != 0; ++attempt) {
      const long before = AllocationsMade();
      const int failures = run(100);
      made = AllocationsMade() - before;
      ASSERT_EQ(failures, 0);
    }
    EXPECT_EQ(made, 0) << n << " elements";
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  }
  EXPECT_EQ(needed_workspace, GetParam().reduced);
}

INSTANTIATE_TEST_SUITE_P(Of, SteadyState, ::testing::ValuesIn(Paths()),
                         [](const ::testing::TestParamInfo<Path>& path) {
                           return path.param.op->binding.name + (path.param.reduced ? "_reduced" : "");
                         });

// The same for the elementwise operators: what they compute in depends on the dtype.
class SteadyMaps : public ::testing::TestWithParam<const MapOperator*> {};

TEST_P(SteadyMaps, AllocateNothing) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_BF16, ACL_DOUBLE, ACL_INT64, ACL_COMPLEX64}) {
    const MapOperator op = OfDtype(*GetParam(), dtype);
    PlanCall call = ValidCall(op, Product::kA2);
    if (Expected(call).code != 0) continue;
    const OperatorBinding binding = BindingOf(op);
    for (const int64_t n : {4, (1 << 20) + 1}) {
      std::vector<std::vector<std::byte>> data;
      std::vector<aclTensor*> tensors;
      for (size_t i = 0; i < op.valid.size(); ++i) {
        if (op.valid[i].kind != ParameterKind::kTensor) continue;
        const Shape dims = call.arguments[i].shape.size() == 2 ? Shape{n} : call.arguments[i].shape;
        data.emplace_back(static_cast<size_t>(n) * 16, std::byte{1});
        tensors.push_back(aclCreateTensor(dims.data(), dims.size(),
                                          static_cast<aclDataType>(call.arguments[i].dtype), nullptr, 0,
                                          ACL_FORMAT_ND, dims.data(), dims.size(), data.back().data()));
      }
      const auto run = [&](int times) {
        int failures = 0;
        for (int i = 0; i < times; ++i) {
          uint64_t size = 0;
          aclOpExecutor* executor = nullptr;
          failures += binding.plan(tensors, Attributes{}, &size, &executor) != 0;
          failures += binding.run(nullptr, size, executor, environment.stream()) != 0;
          failures += aclrtSynchronizeStream(environment.stream()) != 0;
        }
        return failures;
      };
      ASSERT_EQ(run(5), 0) << aclGetRecentErrMsg();
      // The binding's own list of arguments is made for every call.
      long made = 2;
      for (int attempt = 0; attempt < 10 && made > 1; ++attempt) {
        const long before = AllocationsMade();
        const int failures = run(1);
        made = AllocationsMade() - before;
        ASSERT_EQ(failures, 0);
      }
      EXPECT_LE(made, 1) << DtypeName(dtype) << ", " << n << " elements";
      for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
    }
  }
}

std::vector<const MapOperator*> EveryMap() {
  std::vector<const MapOperator*> all;
  for (const auto* family :
       {&ArithmeticOperators(), &SelectionOperators(), &UnaryOperators(), &ActivationOperators()}) {
    for (const MapOperator* op : Pointers(*family)) all.push_back(op);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Of, SteadyMaps, ::testing::ValuesIn(EveryMap()), MapTestName);

}  // namespace
}  // namespace portacl::testing
