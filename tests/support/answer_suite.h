// The contract of an operator whose rules answer every call: also numbers that are no dtype, views outside their storage, sizes past
// 2^63 bytes. Runs on every product, and on a thread on which no device is set; then the rules of phase 2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>
#include <vector>

#include "contract_suite.h"
#include "operator_spec.h"

namespace portacl::testing {

using Answered = std::tuple<const OperatorSpec*, Product>;

class AnswerSuite : public ::testing::TestWithParam<Answered> {
 protected:
  const OperatorSpec& op() const { return *std::get<0>(GetParam()); }
  Product product() const { return std::get<1>(GetParam()); }
  // Whether this product has every call; the others have a part of those that do not depend on products.
  bool IsWhole() const { return product() == Product::kA2; }

  // Everything that one argument can be, in every base of the operator; all tensors changed alike; drawn calls with a change.
  void EveryChange();
  // Any two faults together: the first one in the order of the rules is reported.
  void EveryTwoFaults();
  // Every combination of dtypes: of three tensors and scalars, the fourth has one of three.
  void EveryDtype();

 private:
  void OnProduct(const std::function<void()>& body);
};

// Binds the operator for suites that know tensors, and attributes by their names.
OperatorBinding BindingOf(const OperatorSpec& op);

// Shapes and dtypes of a call's tensors.
struct TensorTypes {
  std::vector<Shape> shapes;  // of the inputs
  Shape output_shape;
  std::vector<DtypeNumber> dtypes;  // of the inputs
  DtypeNumber output;
};
// Tells whether the rules accept a call.
bool Accepts(const OperatorSpec& op, const TensorTypes& types, const Attributes& attributes,
             Product product = Product::kA2);
// Adds to the description of what an operator computes how it is called, and which dtypes go together by its rules.
void Describe(NumericDescription& description, const OperatorSpec& op);

// The valid call, for the rules of phase 2.
ContractDescription PhaseTwoOf(const OperatorSpec& op);

class AnswerPhaseTwo : public PhaseTwoSuite, public ::testing::WithParamInterface<const OperatorSpec*> {
 protected:
  Variables Settings() const override { return Description().settings; }
  ContractDescription Description() const { return PhaseTwoOf(*GetParam()); }
};

}  // namespace portacl::testing

#define PORTACL_ANSWER_TESTS(suite, operators)                                                               \
  class suite : public ::portacl::testing::AnswerSuite {};                                                   \
  TEST_P(suite, EveryChange) { EveryChange(); }                                                              \
  TEST_P(suite, EveryTwoFaults) { EveryTwoFaults(); }                                                        \
  TEST_P(suite, EveryDtype) { EveryDtype(); }                                                                \
  INSTANTIATE_TEST_SUITE_P(Of, suite,                                                                        \
                           ::testing::Combine(::testing::ValuesIn(operators),                                \
                                              ::testing::ValuesIn(::portacl::testing::kAllProducts)),        \
                           [](const auto& parameter) {                                                       \
                             return std::string(std::get<0>(parameter.param)->function.name) + "On" +        \
                                    ::portacl::testing::ProductName(std::get<1>(parameter.param));           \
                           });                                                                               \
  class suite##PhaseTwo : public ::portacl::testing::AnswerPhaseTwo {};                                      \
  TEST_P(suite##PhaseTwo, Executors) {                                                                       \
    NullExecutor(Description());                                                                             \
    ExecutorThatNeverExisted(Description());                                                                 \
    ExecutorUsedTwice(Description());                                                                        \
    ConsumedExecutorBesideLiveOnes(Description());                                                           \
  }                                                                                                          \
  TEST_P(suite##PhaseTwo, WorkspacesAndStreams) {                                                            \
    NullWorkspaceWithSize(Description());                                                                    \
    NullStreamWithoutDevice(Description());                                                                  \
    UnknownStream(Description());                                                                            \
  }                                                                                                          \
  TEST_P(suite##PhaseTwo, Addresses) {                                                                       \
    TensorWithoutAddress(Description());                                                                     \
    AddressesSetAnew(Description());                                                                         \
  }                                                                                                          \
  TEST_P(suite##PhaseTwo, Threads) {                                                                         \
    PhasesOnDifferentThreads(Description());                                                                 \
    MessagesBelongToTheirThread(Description());                                                              \
  }                                                                                                          \
  class suite##InFreshProcess : public ::testing::TestWithParam<const ::portacl::testing::OperatorSpec*> {}; \
  TEST_P(suite##InFreshProcess, WorksWithoutInit) {                                                          \
    ::portacl::testing::WorksWithoutInit(::portacl::testing::PhaseTwoOf(*GetParam()));                       \
  }                                                                                                          \
  INSTANTIATE_TEST_SUITE_P(Of, suite##PhaseTwo, ::testing::ValuesIn(operators), [](const auto& parameter) {  \
    return std::string(parameter.param->function.name);                                                      \
  });                                                                                                        \
  INSTANTIATE_TEST_SUITE_P(                                                                                  \
      Of, suite##InFreshProcess, ::testing::ValuesIn(operators),                                             \
      [](const auto& parameter) { return std::string(parameter.param->function.name); })
