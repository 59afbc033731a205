// The tests of every elementwise operator, driven by its description.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contract_suite.h"
#include "environment.h"
#include "gtest/gtest.h"
#include "map_operator.h"
#include "numeric_suite.h"
#include "tensor_view.h"

namespace portacl::testing {

// Binds the operator for tests that know nothing of scalars. It is called with the scalars of its
// description.
OperatorBinding BindingOf(const MapOperator& op);

// Compares every result element with the oracle, on every instruction set.
class MapNumerics : public ::testing::TestWithParam<const MapOperator*> {
 protected:
  void EveryDtype();
  void EveryShapeAndLayout();
  void EveryLength();
  void LongRows();
  void LargeSizes();
  void EmptyTensors();

 private:
  struct Options {
    std::vector<Layout> layouts = {};  // of the tensors in order; empty: dense
    bool aliased = false;              // the output is the first input
    bool misaligned = false;
    int threads = 2;
  };
  bool Check(PlanCall& call, const Options& options, RandomNumbers& random);
  // Draws the dtypes and scalars of an accepted call.
  bool DrawDtypes(PlanCall& call, RandomNumbers& random) const;
  // Draws shapes that broadcast by the description's rules.
  bool DrawShapes(PlanCall& call, int max_rank, RandomNumbers& random) const;
  void OnEveryIsa(const std::function<void(engine::Isa)>& body);

  aclrtStream stream_ = nullptr;
  const char* isa_ = "";
};

// Checks the answers of phase 1 to every kind of call, on every product.
class MapContract : public ::testing::TestWithParam<const MapOperator*> {
 public:
  void NullPointers(Product product);
  void Dtypes(Product product);
  void SmallFloats(Product product);
  void Scalars(Product product);
  void ShapesAndFormats(Product product);
  void PairsOfFaults(Product product);
  void OnEveryProduct(void (MapContract::*body)(Product));

 protected:
  // Runs phase 1 and compares code and message with Expected.
  void Check(const PlanCall& call);

 private:
  int wrong_ = 0;
};

// Checks phase 2.
class MapPhaseTwo : public PhaseTwoSuite, public ::testing::WithParamInterface<const MapOperator*> {
 protected:
  Variables Settings() const override { return {{"PORTACL_SOC", SocNameOf(GetParam()->numbers_on)}}; }
  ContractDescription Description() const;
};

std::vector<const MapOperator*> Pointers(const std::vector<MapOperator>& operators);
std::string MapTestName(const ::testing::TestParamInfo<const MapOperator*>& info);

}  // namespace portacl::testing

#define PORTACL_MAP_NUMERICS(suite, operators)                                                      \
  class suite : public ::portacl::testing::MapNumerics {};                                          \
  TEST_P(suite, EveryDtype) { EveryDtype(); }                                                       \
  TEST_P(suite, EveryShapeAndLayout) { EveryShapeAndLayout(); }                                     \
  TEST_P(suite, EveryLength) { EveryLength(); }                                                     \
  TEST_P(suite, LongRows) { LongRows(); }                                                           \
  TEST_P(suite, LargeSizes) { LargeSizes(); }                                                       \
  TEST_P(suite, EmptyTensors) { EmptyTensors(); }                                                   \
  INSTANTIATE_TEST_SUITE_P(Of, suite, ::testing::ValuesIn(::portacl::testing::Pointers(operators)), \
                           ::portacl::testing::MapTestName)

#define PORTACL_MAP_CONTRACT(suite, operators)                                                      \
  class suite : public ::portacl::testing::MapContract {};                                          \
  TEST_P(suite, NullPointers) { OnEveryProduct(&suite::NullPointers); }                             \
  TEST_P(suite, Dtypes) { OnEveryProduct(&suite::Dtypes); }                                         \
  TEST_P(suite, SmallFloats) { OnEveryProduct(&suite::SmallFloats); }                               \
  TEST_P(suite, Scalars) { OnEveryProduct(&suite::Scalars); }                                       \
  TEST_P(suite, ShapesAndFormats) { OnEveryProduct(&suite::ShapesAndFormats); }                     \
  TEST_P(suite, PairsOfFaults) { OnEveryProduct(&suite::PairsOfFaults); }                           \
  INSTANTIATE_TEST_SUITE_P(Of, suite, ::testing::ValuesIn(::portacl::testing::Pointers(operators)), \
                           ::portacl::testing::MapTestName);                                        \
  class suite##PhaseTwo : public ::portacl::testing::MapPhaseTwo {};                                \
  TEST_P(suite##PhaseTwo, Executors) {                                                              \
    NullExecutor(Description());                                                                    \
    ExecutorUsedTwice(Description());                                                               \
    NullWorkspaceWithSize(Description());                                                           \
    UnknownStream(Description());                                                                   \
    TensorWithoutAddress(Description());                                                            \
    AddressesSetAnew(Description());                                                                \
    PhasesOnDifferentThreads(Description());                                                        \
  }                                                                                                 \
  INSTANTIATE_TEST_SUITE_P(Of, suite##PhaseTwo,                                                     \
                           ::testing::ValuesIn(::portacl::testing::Pointers(operators)),            \
                           ::portacl::testing::MapTestName)
