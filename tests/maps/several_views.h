// What tests of operators that are maps over views of their tensors share: calls on an instruction set, numbers, layouts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "support/c_function.h"
#include "support/map_suite.h"
#include "support/map_values.h"
#include "support/numeric_suite.h"
#include "support/two_phase.h"

namespace portacl::testing {

class OnEveryIsa : public ::testing::TestWithParam<engine::Isa> {
 protected:
  void SetUp() override {
    environment_ = std::make_unique<ScopedEnvironment>(
        Variables{{"PORTACL_ISA", engine::IsaName(GetParam())}, {"PORTACL_NUM_THREADS", "2"}});
  }
  void TearDown() override { environment_.reset(); }

  void Call(const CFunction& function, const std::vector<Argument>& arguments) {
    OperatorBinding binding;
    binding.name = function.name;
    binding.plan = [&](std::span<aclTensor* const>, const Attributes&, uint64_t* size,
                       aclOpExecutor** executor) { return function.plan(arguments, size, executor); };
    binding.run = function.run;
    const CallResult result = CallTwoPhase(binding, {}, {}, environment_->stream());
    EXPECT_TRUE(result.Succeeded()) << function.name << ": " << result.message;
  }

 private:
  std::unique_ptr<ScopedEnvironment> environment_;
};

inline Argument Tensor(HostTensor& tensor) { return {.tensor = tensor.Handle()}; }
inline Argument Whole(int64_t number) { return {.integer = number}; }

inline constexpr Layout kLayouts[] = {Layout::kDense, Layout::kNegative, Layout::kStepped, Layout::kPermuted};

inline double NumberAt(const HostTensor& tensor, int64_t i) {
  return static_cast<double>(NumberOf(tensor.dtype(), tensor.Element(i)).real);
}
inline void SetNumber(HostTensor& tensor, int64_t i, double number) {
  const Element element = ElementOfNumber(tensor.dtype(), {number, 0});
  std::memcpy(tensor.Element(i), element.data(), element.size());
}
// Numbers between -6 and 6.
inline void Fill(HostTensor& tensor, RandomNumbers& random) {
  for (int64_t i = 0; i < tensor.size(); ++i) SetNumber(tensor, i, (random.Unit() - 0.5) * 12);
}
// `terms`: the size of what the number is the sum of.
inline void ExpectNear(const HostTensor& tensor, int64_t i, double expected, const char* what,
                       double terms = 0) {
  const double unit = tensor.dtype() == ACL_BF16 ? 0x1p-8 : tensor.dtype() == ACL_FLOAT16 ? 0x1p-11 : 0x1p-22;
  EXPECT_NEAR(NumberAt(tensor, i), expected, unit * std::fabs(expected) + 0x1p-24 * terms + 1e-7)
      << what << " of element " << i;
}

// Codes: what phase 1 answers, and tensors without data for it.
inline aclnnStatus PlanOf(const CFunction& function, const std::vector<Argument>& arguments) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const aclnnStatus status = function.plan(arguments, &size, &executor);
  if (executor != nullptr) aclDestroyAclOpExecutor(executor);
  return status;
}
inline aclTensor* TensorWithoutData(const Shape& shape, DtypeNumber dtype) {
  return aclCreateTensor(shape.data(), shape.size(), AsAclDataType(dtype), nullptr, 0, ACL_FORMAT_ND,
                         shape.data(), shape.size(), nullptr);
}
// A call that would pass does not, without any of its tensors.
inline void ExpectNullsRefused(const CFunction& function, const std::vector<Argument>& arguments) {
  EXPECT_EQ(PlanOf(function, arguments), 0) << function.name;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].tensor == nullptr) continue;
    std::vector<Argument> without = arguments;
    without[i].tensor = nullptr;
    EXPECT_EQ(PlanOf(function, without), 161001) << function.name << ", argument " << i;
  }
}

}  // namespace portacl::testing
