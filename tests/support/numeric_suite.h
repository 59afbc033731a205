// The numeric tests of every operator, on every instruction set that this machine can run. A test file
// describes its operator and writes PORTACL_NUMERIC_TESTS(SuiteName, Description()).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "engine/isa_in_use.h"
#include "environment.h"
#include "gtest/gtest.h"
#include "numeric_case.h"
#include "operator_under_test.h"

namespace portacl {

// Lets GoogleTest name the parameter of a test; found by the type's namespace.
inline void PrintTo(Isa isa, std::ostream* out) { *out << IsaName(isa); }

}  // namespace portacl

namespace portacl::testing {

std::vector<engine::Isa> IsasToTest();

// Runs a test on one instruction set, with two threads.
class NumericSuite : public ::testing::TestWithParam<engine::Isa> {
 protected:
  void SetUp() override;
  void TearDown() override;

  aclrtStream stream() const { return environment_->stream(); }

  // Checks that the requested instruction set was chosen, and runs.
  void ForcedIsaRuns(const NumericDescription& op);
  void DtypeMixes(const NumericDescription& op);
  void IntegerInputs(const NumericDescription& op);  // or that none are taken
  void Broadcasts(const NumericDescription& op);
  void RandomShapes(const NumericDescription& op);
  void LayoutsOneByOne(const NumericDescription& op);
  void LayoutsTogether(const NumericDescription& op);
  void InPlace(const NumericDescription& op);
  void SpecialValueProduct(const NumericDescription& op);
  void LengthsAndMisalignments(const NumericDescription& op);
  void OddAddresses(const NumericDescription& op);
  void LargeSizes(const NumericDescription& op);
  void EmptyTensors(const NumericDescription& op);
  void OverlapStaysInside(const NumericDescription& op);
  void CallersFloatingPointEnvironment(const NumericDescription& op);

 private:
  void IntegersAreRefused(const NumericDescription& description);

  std::unique_ptr<ScopedEnvironment> environment_;
};

// Checks for equal bits on every instruction set and for every thread count.
void SameBitsEverywhere(const NumericDescription& op);

// Checks that aclInit refuses an impossible configuration, and lists the possible ones.
void UnknownIsaIsRefused();

}  // namespace portacl::testing

// Runs the tests of a NumericSuite.
#define PORTACL_ON_EVERY_ISA(suite)                                                          \
  INSTANTIATE_TEST_SUITE_P(On, suite, ::testing::ValuesIn(::portacl::testing::IsasToTest()), \
                           [](const ::testing::TestParamInfo<::portacl::engine::Isa>& isa) { \
                             return std::string(::portacl::engine::IsaName(isa.param));      \
                           })

#define PORTACL_NUMERIC_TEST(suite, name, description) \
  TEST_P(suite, name) { name(description); }

#define PORTACL_NUMERIC_TESTS(suite, description)                                             \
  class suite : public ::portacl::testing::NumericSuite {};                                   \
  PORTACL_NUMERIC_TEST(suite, ForcedIsaRuns, description)                                     \
  PORTACL_NUMERIC_TEST(suite, DtypeMixes, description)                                        \
  PORTACL_NUMERIC_TEST(suite, IntegerInputs, description)                                     \
  PORTACL_NUMERIC_TEST(suite, Broadcasts, description)                                        \
  PORTACL_NUMERIC_TEST(suite, RandomShapes, description)                                      \
  PORTACL_NUMERIC_TEST(suite, LayoutsOneByOne, description)                                   \
  PORTACL_NUMERIC_TEST(suite, LayoutsTogether, description)                                   \
  PORTACL_NUMERIC_TEST(suite, InPlace, description)                                           \
  PORTACL_NUMERIC_TEST(suite, SpecialValueProduct, description)                               \
  PORTACL_NUMERIC_TEST(suite, LengthsAndMisalignments, description)                           \
  PORTACL_NUMERIC_TEST(suite, OddAddresses, description)                                      \
  PORTACL_NUMERIC_TEST(suite, LargeSizes, description)                                        \
  PORTACL_NUMERIC_TEST(suite, EmptyTensors, description)                                      \
  PORTACL_NUMERIC_TEST(suite, OverlapStaysInside, description)                                \
  PORTACL_NUMERIC_TEST(suite, CallersFloatingPointEnvironment, description)                   \
  PORTACL_ON_EVERY_ISA(suite);                                                                \
  TEST(suite##Everywhere, SameBits) { ::portacl::testing::SameBitsEverywhere(description); }  \
  TEST(suite##Everywhere, UnknownIsaIsRefused) { ::portacl::testing::UnknownIsaIsRefused(); } \
  static_assert(true, "so that the macro ends in a semicolon")
