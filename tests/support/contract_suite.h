// The contract tests of every operator: wrong calls on every product, the order in which two faults are
// reported, and the rules of phase 2. A test file gives rows and writes PORTACL_CONTRACT_TESTS.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "environment.h"
#include "gtest/gtest.h"
#include "guarded_buffer.h"
#include "operator_under_test.h"
#include "products.h"

namespace portacl::testing {

// Describes an aclTensor to create, with any fault that a test needs.
struct TensorSpec {
  bool null = false;
  bool without_data = false;
  Shape shape = {2, 3};
  DtypeNumber dtype = ACL_FLOAT;
  int32_t format = ACL_FORMAT_ND;
  std::optional<std::vector<int64_t>> strides;  // nullopt: pass nullptr
  std::optional<int64_t> every_stride;          // overrides `strides`, whatever the rank
  int64_t offset = 0;
  std::optional<Shape> storage_dims;  // nullopt: the shape
};

class CallSpec {
 public:
  explicit CallSpec(const std::vector<std::string>& names)
      : output(names.size() - 1), names_(names), tensors_(names.size()) {}

  TensorSpec& operator[](const std::string& name);
  std::vector<TensorSpec>& tensors() { return tensors_; }
  const std::vector<TensorSpec>& tensors() const { return tensors_; }

  Attributes attributes;
  size_t output;  // position of the output
  bool null_workspace_size = false;
  bool null_executor = false;

 private:
  std::vector<std::string> names_;
  std::vector<TensorSpec> tensors_;
};

using Deviation = std::function<void(CallSpec&)>;

struct Answer {
  aclnnStatus code = 0;
  std::optional<std::vector<std::string>> fragments;  // nullopt: the row's
};

struct Row {
  std::string name;
  Deviation deviate;
  aclnnStatus code = 0;
  std::vector<std::string> fragments;   // expected in the message beside the operator's name
  std::map<Product, Answer> elsewhere;  // products that answer differently
};

// One fault, in a list whose order is the order of the checks.
struct Fault {
  std::string name;
  Deviation deviate;
  aclnnStatus code = 0;
  std::string token;  // appears in this fault's message, and not in those of later faults
};

struct ContractDescription {
  OperatorBinding binding;
  Deviation valid;  // makes the valid call from float32 tensors of shape [2, 3]; empty: no change
  std::vector<Row> rows;
  std::vector<Fault> faults;
};

// The same answer on all the given products.
std::map<Product, Answer> On(const std::vector<Product>& products, const Answer& answer);
inline std::map<Product, Answer> On(const std::vector<Product>& products, aclnnStatus code) {
  return On(products, Answer{code, {}});
}

// The handles of a call. Data addresses are real, or lie in a page that nobody may access.
class BuiltCall {
 public:
  enum class Data { kForbidden, kReal };

  BuiltCall(const CallSpec& spec, Data data);
  ~BuiltCall();
  BuiltCall(const BuiltCall&) = delete;
  BuiltCall& operator=(const BuiltCall&) = delete;

  const std::vector<aclTensor*>& handles() const { return handles_; }
  void DestroyHandles();
  std::vector<std::byte> OutputBytes() const;

 private:
  std::vector<aclTensor*> handles_;
  std::vector<std::unique_ptr<GuardedBuffer>> storage_;
  size_t output_;
};

// Runs phase 1 for `spec` and checks the code. Checks that a failure changes nothing, and that it reports the
// error once, with the operator's name and every fragment. Returns whether all checks passed.
bool CheckPlan(const OperatorBinding& binding, const CallSpec& spec, aclnnStatus code,
               const std::vector<std::string>& fragments, const std::string& name);

// Tells whether `message` has the envelope that belongs to `code`, followed by every fragment.
::testing::AssertionResult MessageSays(const std::string& message, aclnnStatus code,
                                       const std::vector<std::string>& fragments);

// Calls `body` on a new thread on which no device is set, and waits for it.
void OnThreadWithoutDevice(const std::function<void()>& body);

class ContractSuite : public ::testing::TestWithParam<Product> {
 protected:
  void Rows(const ContractDescription& op);
};

class PhaseTwoSuite : public ::testing::Test {
 protected:
  void SetUp() override { environment_ = std::make_unique<ScopedEnvironment>(Settings()); }
  void TearDown() override { environment_.reset(); }
  // Environment variables for the calls, if they need another product than the default one.
  virtual Variables Settings() const { return {}; }
  aclrtStream stream() const { return environment_->stream(); }

  void FirstFaultIsReported(const ContractDescription& op);
  void NullExecutor(const ContractDescription& op);
  void ExecutorThatNeverExisted(const ContractDescription& op);
  void ExecutorUsedTwice(const ContractDescription& op);
  void ConsumedExecutorBesideLiveOnes(const ContractDescription& op);
  void NullWorkspaceWithSize(const ContractDescription& op);
  void NullStreamWithoutDevice(const ContractDescription& op);
  void UnknownStream(const ContractDescription& op);
  void TensorWithoutAddress(const ContractDescription& op);
  // There is exactly one address slot for each tensor. A tensor without an address is the one that the
  // message names.
  void AddressesSetAnew(const ContractDescription& op);
  void PhasesOnDifferentThreads(const ContractDescription& op);
  void MessagesBelongToTheirThread(const ContractDescription& op);

 private:
  std::unique_ptr<ScopedEnvironment> environment_;
};

// Runs a program that calls neither aclInit nor aclFinalize.
void WorksWithoutInit(const ContractDescription& op);

}  // namespace portacl::testing

#define PORTACL_PHASE_TEST(suite, name, description) \
  TEST_F(suite##Calls, name) { name(description); }

#define PORTACL_CONTRACT_TESTS(suite, description)                                                     \
  class suite : public ::portacl::testing::ContractSuite {};                                           \
  TEST_P(suite, Rows) { Rows(description); }                                                           \
  INSTANTIATE_TEST_SUITE_P(On, suite, ::testing::ValuesIn(::portacl::testing::kAllProducts),           \
                           [](const ::testing::TestParamInfo<::portacl::testing::Product>& product) {  \
                             return std::string(::portacl::testing::ProductName(product.param));       \
                           });                                                                         \
  class suite##Calls : public ::portacl::testing::PhaseTwoSuite {};                                    \
  PORTACL_PHASE_TEST(suite, FirstFaultIsReported, description)                                         \
  PORTACL_PHASE_TEST(suite, NullExecutor, description)                                                 \
  PORTACL_PHASE_TEST(suite, ExecutorThatNeverExisted, description)                                     \
  PORTACL_PHASE_TEST(suite, ExecutorUsedTwice, description)                                            \
  PORTACL_PHASE_TEST(suite, ConsumedExecutorBesideLiveOnes, description)                               \
  PORTACL_PHASE_TEST(suite, NullWorkspaceWithSize, description)                                        \
  PORTACL_PHASE_TEST(suite, NullStreamWithoutDevice, description)                                      \
  PORTACL_PHASE_TEST(suite, UnknownStream, description)                                                \
  PORTACL_PHASE_TEST(suite, TensorWithoutAddress, description)                                         \
  PORTACL_PHASE_TEST(suite, PhasesOnDifferentThreads, description)                                     \
  PORTACL_PHASE_TEST(suite, MessagesBelongToTheirThread, description)                                  \
  TEST(suite##InFreshProcess, WorksWithoutInit) { ::portacl::testing::WorksWithoutInit(description); } \
  static_assert(true, "so that the macro ends in a semicolon")
