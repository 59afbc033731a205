// The rules of phase 2, for any operator: executors, workspaces, streams, addresses, threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "environment.h"
#include "gtest/gtest.h"
#include "guarded_buffer.h"
#include "operator_under_test.h"
#include "products.h"

namespace portacl::testing {

// Describes an aclTensor to create.
struct TensorSpec {
  bool null = false;
  bool without_data = false;
  Shape shape = {2, 3};
  DtypeNumber dtype = ACL_FLOAT;
};

class CallSpec {
 public:
  explicit CallSpec(const std::vector<std::string>& names)
      : output(names.size() - 1), names_(names), tensors_(names.size()) {}

  TensorSpec& operator[](const std::string& name);
  std::vector<TensorSpec>& tensors() { return tensors_; }
  const std::vector<TensorSpec>& tensors() const { return tensors_; }

  size_t output;  // position of the output

 private:
  std::vector<std::string> names_;
  std::vector<TensorSpec> tensors_;
};

using CallChange = std::function<void(CallSpec&)>;

// Gives every tensor that has dims no elements, and no address.
void MakeEmpty(CallSpec& call);

struct ContractDescription {
  OperatorBinding binding;
  CallChange valid = {};  // makes the valid call from float32 tensors of shape [2, 3]; empty: no change
  CallChange empty = MakeEmpty;  // makes a call without elements of the valid one; empty: there is none
  bool takes_workspace = false;  // of the valid call
  Variables settings = {};       // environment variables that its product needs
};

// The handles of a call with memory.
class BuiltCall {
 public:
  explicit BuiltCall(const CallSpec& spec);
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

// Tells whether `message` has the envelope that belongs to `code`, followed by every fragment.
::testing::AssertionResult MessageSays(const std::string& message, aclnnStatus code,
                                       const std::vector<std::string>& fragments);

// Calls `body` on a new thread on which no device is set, and waits for it.
void OnThreadWithoutDevice(const std::function<void()>& body);

class PhaseTwoSuite : public ::testing::Test {
 protected:
  void SetUp() override { environment_ = std::make_unique<ScopedEnvironment>(Settings()); }
  void TearDown() override { environment_.reset(); }
  // Environment variables for the calls, if they need another product than the default one.
  virtual Variables Settings() const { return {}; }
  aclrtStream stream() const { return environment_->stream(); }

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

// Runs a program that calls neither aclInit nor aclFinalize, in a process that has not either.
void WorksWithoutInit(const ContractDescription& op);

}  // namespace portacl::testing
