// The numeric tests of copies, casts and fills, on every instruction set that this machine can run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "converted_value.h"
#include "environment.h"
#include "numeric_suite.h"
#include "tensor_view.h"

namespace portacl::testing {

// An operator that writes one tensor from another.
struct MoveDescription {
  OperatorBinding binding;
  size_t source = 0;  // position among the binding's tensors
  size_t destination = 1;
  bool broadcasts = false;
};

class MoveSuite : public ::testing::TestWithParam<engine::Isa> {
 protected:
  void SetUp() override;
  void TearDown() override;
  aclrtStream stream() const { return environment_->stream(); }

  void EveryPair(const MoveDescription& op);
  void EverySizeInEveryLayout(const MoveDescription& op);
  void BroadcastSources(const MoveDescription& op);
  void LengthsAndMisalignments(const MoveDescription& op);
  void RowsAndColumns(const MoveDescription& op);
  void LargeSizes(const MoveDescription& op);
  void EmptyTensors(const MoveDescription& op);
  void CallersFloatingPointEnvironment(const MoveDescription& op);

 private:
  std::unique_ptr<ScopedEnvironment> environment_;
};

// Fills a tensor's elements with TestElements, over and over.
void FillWithTestElements(HostTensor& tensor, RandomNumbers& random);

// Calls the operator and compares every element of the destination with the converted source. Nothing else
// may change. Returns whether all checks passed; otherwise the failure includes `what`.
bool CheckMove(const MoveDescription& op, HostTensor& source, HostTensor& destination, aclrtStream stream,
               const std::string& what, const FpMode* fp_mode = nullptr);

// The same for an operator that sets every element of `destination` to `expected`.
bool CheckFill(const OperatorBinding& binding, std::vector<aclTensor*> tensors, HostTensor& destination,
               const Element& expected, aclrtStream stream, const std::string& what);

}  // namespace portacl::testing

#define PORTACL_MOVE_TEST(suite, name, description) \
  TEST_P(suite, name) { name(description); }

#define PORTACL_MOVE_TESTS(suite, description)                           \
  class suite : public ::portacl::testing::MoveSuite {};                 \
  PORTACL_MOVE_TEST(suite, EveryPair, description)                       \
  PORTACL_MOVE_TEST(suite, EverySizeInEveryLayout, description)          \
  PORTACL_MOVE_TEST(suite, BroadcastSources, description)                \
  PORTACL_MOVE_TEST(suite, LengthsAndMisalignments, description)         \
  PORTACL_MOVE_TEST(suite, RowsAndColumns, description)                  \
  PORTACL_MOVE_TEST(suite, LargeSizes, description)                      \
  PORTACL_MOVE_TEST(suite, EmptyTensors, description)                    \
  PORTACL_MOVE_TEST(suite, CallersFloatingPointEnvironment, description) \
  PORTACL_ON_EVERY_ISA(suite);                                           \
  static_assert(true, "so that the macro ends in a semicolon")
