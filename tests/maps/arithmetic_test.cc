// Arithmetic on every instruction set and every product.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_add_v3.h"
#include "support/environment.h"
#include "support/map_suite.h"
#include "support/tensor_view.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

PORTACL_MAP_NUMERICS(ArithmeticNumerics, ArithmeticOperators());
PORTACL_MAP_CONTRACT(ArithmeticContract, ArithmeticOperators());

// 2.5 + 3 * (0, 1, 5) of a dtype, into another one.
CallResult AddNumberFirst(DtypeNumber dtype, HostTensor& out, DtypeNumber scalar_dtype, aclrtStream stream) {
  RandomNumbers random(1);
  HostTensor other(dtype, MakeView({3}, Layout::kDense, random));
  for (int64_t i = 0; i < 3; ++i) other.Set(i, i == 2 ? 5 : static_cast<double>(i));
  double number = 2.5;
  bool truth = true;
  int64_t three = 3;
  void* const value = scalar_dtype == ACL_BOOL ? static_cast<void*>(&truth) : &number;
  aclScalar* const self = aclCreateScalar(value, AsAclDataType(scalar_dtype));
  aclScalar* const alpha = aclCreateScalar(&three, ACL_INT64);
  OperatorBinding binding;
  binding.name = "aclnnAddV3";
  binding.plan = [&](std::span<aclTensor* const> t, const Attributes&, uint64_t* size,
                     aclOpExecutor** executor) {
    return aclnnAddV3GetWorkspaceSize(self, t[0], alpha, t[1], size, executor);
  };
  binding.run = aclnnAddV3;
  aclTensor* const tensors[] = {other.Handle(), out.Handle()};
  const CallResult result = CallTwoPhase(binding, tensors, {}, stream);
  aclDestroyScalar(alpha);
  aclDestroyScalar(self);
  return result;
}

constexpr DtypeNumber kLeftOutByAddV3[] = {ACL_DOUBLE, ACL_INT64, ACL_INT16, ACL_UINT8, ACL_BOOL};

TEST(AddV3OfEveryDtype, IsAskedForByAVariable) {
  ScopedEnvironment environment(Variables{{"PORTACL_ADD_V3", "all"}});
  for (const DtypeNumber dtype : kLeftOutByAddV3) {
    RandomNumbers random(2);
    HostTensor out(dtype == ACL_DOUBLE ? ACL_DOUBLE : ACL_FLOAT, MakeView({3}, Layout::kDense, random));
    const CallResult result = AddNumberFirst(dtype, out, ACL_DOUBLE, environment.stream());
    ASSERT_TRUE(result.Succeeded()) << DtypeName(dtype) << ": " << result.message;
    const double last = dtype == ACL_BOOL ? 5.5 : 17.5;
    for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(out.Real(i), i == 2 ? last : 2.5 + 3 * static_cast<double>(i));
    const CallResult refused = AddNumberFirst(dtype, out, ACL_BOOL, environment.stream());
    EXPECT_EQ(refused.plan, 161002);
  }
}

TEST(AddV3OfEveryDtype, IsRefusedElse) {
  for (const char* asked : {"", "1", "ALL"}) {
    ScopedEnvironment environment(Variables{{"PORTACL_ADD_V3", asked}});
    for (const DtypeNumber dtype : kLeftOutByAddV3) {
      RandomNumbers random(2);
      HostTensor out(ACL_DOUBLE, MakeView({3}, Layout::kDense, random));
      const CallResult result = AddNumberFirst(dtype, out, ACL_DOUBLE, environment.stream());
      EXPECT_EQ(result.plan, 161002) << asked;
      EXPECT_NE(result.message.find("other"), std::string::npos) << result.message;
    }
  }
}

}  // namespace
}  // namespace portacl::testing
