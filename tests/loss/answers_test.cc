// What phase 1 of the losses answers to every call, in which order, on every product; the rules of phase 2, and of a workspace.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <optional>

#include "operators/losses.h"
#include "support/answer_suite.h"
#include "support/environment.h"
#include "support/plan_check.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

PORTACL_ANSWER_TESTS(LossAnswers, LossOperators());

// A full name without a digit is the older product, which lacks bfloat16 although its name resembles the newer one.
TEST(LossProducts, ByTheirNames) {
  struct Example {
    const char* name;
    Product product;
  };
  for (const Example& e : {Example{"Ascend910B", Product::k910}, Example{"Ascend910A", Product::k910},
                           Example{"Ascend910ProB", Product::k910}, Example{"Ascend910B1", Product::kA2},
                           Example{"Ascend910B4-1", Product::kA2}, Example{"Ascend910B2C", Product::kA2},
                           Example{"Ascend910_9362", Product::kA3}, Example{"Ascend910_9391", Product::kA3},
                           Example{"Ascend950PR_9599", Product::k950},
                           Example{"Ascend950DT_9571", Product::k950}, Example{"Ascend310", Product::k310B},
                           Example{"Ascend310P3", Product::k310P}, Example{"Ascend310P7", Product::k310P},
                           Example{"Ascend310B1", Product::k310B}, Example{"Ascend310B4", Product::k310B}}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", e.name}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS) << e.name;
    for (const OperatorSpec* op : LossOperators()) {
      for (const DtypeNumber dtype : {ACL_FLOAT, ACL_BF16}) {
        PlanCall call = ValidCall(*op, e.product);
        for (PlanArgument& one : call.arguments) one.dtype = dtype;
        EXPECT_TRUE(CheckPlan(call)) << e.name;
      }
    }
  }
}

// A call whose sum needs a workspace. The library decides which do; a long sum into one element must.
class KlDivBackwardWorkspace : public PhaseTwoSuite {
 protected:
  static const OperatorBinding& Binding() { return DescribeKlDivBackward().binding; }
  void SetUp() override {
    PhaseTwoSuite::SetUp();
    CallSpec spec(Binding().tensors);
    const Shape shapes[] = {{}, {1}, {1 << 20}, {1}};
    for (size_t i = 0; i < 4; ++i) spec.tensors()[i].shape = shapes[i];
    call_.emplace(spec);
    before_ = call_->OutputBytes();
  }
  void TearDown() override {
    call_.reset();
    PhaseTwoSuite::TearDown();
  }

  aclOpExecutor* Plan(uint64_t& size) {
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(Binding().plan(call_->handles(), {}, &size, &executor), 0) << TakeErrorMessage();
    EXPECT_GT(size, 0u);
    return executor;
  }

  void ExpectRefused(void* workspace, uint64_t given, uint64_t size, aclnnStatus code) {
    SCOPED_TRACE(::testing::Message() << given << " of " << size);
    uint64_t needed = 0;
    aclOpExecutor* executor = Plan(needed);
    EXPECT_EQ(needed, size);
    const auto& run = Binding().run;
    EXPECT_EQ(run(workspace, given, executor, stream()), code);
    std::vector<std::string> fragments = {"aclnnKlDivBackward", "workspace"};
    if (code == 161002) {
      fragments = {"aclnnKlDivBackward", "workspaceSize", std::to_string(given), std::to_string(size)};
    }
    EXPECT_TRUE(MessageSays(TakeErrorMessage(), code, fragments));
    // A failing phase 2 consumes the executor too.
    EXPECT_EQ(run(workspace, given, executor, stream()), 561000);
    TakeErrorMessage();
    EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
    EXPECT_EQ(call_->OutputBytes(), before_);
  }

  std::optional<BuiltCall> call_;
  std::vector<std::byte> before_;
};

TEST_F(KlDivBackwardWorkspace, Rules) {
  uint64_t size = 0;
  EXPECT_EQ(aclDestroyAclOpExecutor(Plan(size)), 0);
  const GuardedBuffer workspace(size + 64);
  std::memset(workspace.data(), 0x5A, workspace.size());
  const std::vector<std::byte> untouched(workspace.data(), workspace.data() + workspace.size());

  ExpectRefused(nullptr, size, size, 161001);
  ExpectRefused(nullptr, 0, size, 161001);
  ExpectRefused(nullptr, size - 1, size, 161001);
  ExpectRefused(workspace.data(), 0, size, 161002);
  ExpectRefused(workspace.data(), 1, size, 161002);
  ExpectRefused(workspace.data(), size - 1, size, 161002);
  EXPECT_EQ(std::memcmp(workspace.data(), untouched.data(), untouched.size()), 0);

  // Workspaces as large as requested, and larger, with any contents.
  for (const uint64_t given : {size, size + 64}) {
    for (const int content : {0x00, 0xFF, 0x7F}) {
      std::memset(workspace.data(), content, workspace.size());
      uint64_t needed = 0;
      aclOpExecutor* executor = Plan(needed);
      EXPECT_EQ(Binding().run(workspace.data(), given, executor, stream()), 0) << TakeErrorMessage();
      EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
      const std::vector<std::byte> found = call_->OutputBytes();
      ASSERT_EQ(found.size(), sizeof(float));
      EXPECT_NE(found, before_);
      float value = 0;
      std::memcpy(&value, found.data(), sizeof value);
      // gradOutput is 1 * -0.25, target counts -0.25 * (1 + ... + 2^20).
      EXPECT_EQ(value, static_cast<float>(-0.0625 * (524288.0 * 1048577.0)));
      for (size_t i = size; i < workspace.size(); ++i) {
        EXPECT_EQ(workspace.data()[i], static_cast<std::byte>(content)) << "past the workspace";
      }
    }
  }
}

}  // namespace
}  // namespace portacl::testing
