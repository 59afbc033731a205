// Tests that every reduction of a loss goes through: lengths and shapes at which sums split, exactness, determinism.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "numeric_suite.h"

namespace portacl::testing {

// self and target given, and what must come out, worked out by hand. Values are the same in every floating type.
struct LossExample {
  std::vector<double> self, target;
  int64_t reduction = 0;
  std::vector<double> expected;
  float beta = 1.0f;
  bool log_target = false;
};

void CheckLossExample(const NumericDescription& op, const LossExample& example, aclrtStream stream);

// The description with another output shape of one element.
NumericDescription WithOutputShape(const NumericDescription& op, const Shape& shape);

// Reductions into float64 and complex outputs give the float32 result, widened.
void WideOutputsHoldFloat32(const NumericDescription& op, aclrtStream stream);

class LossSumSuite : public NumericSuite {
 protected:
  // Bit for bit in the promised order, at every length and shape where lanes, blocks and chunks begin and end.
  void SumsOfEveryShape(const NumericDescription& op);
  // The same terms in every layout of the operands give the same bits.
  void SumsInEveryLayout(const NumericDescription& op);
  // On data of one sign, equal to the exact sum of the float32 terms, which reduction none gives, rounded once.
  void SumsAreExact(const NumericDescription& op);
  // On data of any sign and magnitude, within the documented bound of the exact sum of the same terms.
  void SumsAreBoundedByTheirTerms(const NumericDescription& op);
  // The mean is the sum times the rounded reciprocal of the divisor, within one unit in the last place; the sum over
  // the divisor within two, and exactly where the divisor is a power of two.
  void MeansAreSumsOverTheDivisor(const NumericDescription& op);
};

// The same bits on every instruction set and for every number of threads, where threads share one sum.
void SumsHaveSameBitsEverywhere(const NumericDescription& op);

// The exact sum of `count` terms, dense in float32, against each reduction: for the test of large sums.
void CheckLargeSum(const NumericDescription& op, int64_t count, aclrtStream stream);

}  // namespace portacl::testing

#define PORTACL_LOSS_SUM_TESTS(suite, description)                                                   \
  class suite : public ::portacl::testing::LossSumSuite {};                                          \
  TEST_P(suite, SumsOfEveryShape) { SumsOfEveryShape(description); }                                 \
  TEST_P(suite, SumsInEveryLayout) { SumsInEveryLayout(description); }                               \
  TEST_P(suite, SumsAreExact) { SumsAreExact(description); }                                         \
  TEST_P(suite, SumsAreBoundedByTheirTerms) { SumsAreBoundedByTheirTerms(description); }             \
  TEST_P(suite, MeansAreSumsOverTheDivisor) { MeansAreSumsOverTheDivisor(description); }             \
  TEST_P(suite, LargeSum) { CheckLargeSum(description, 1 << 20, stream()); }                         \
  PORTACL_ON_EVERY_ISA(suite);                                                                       \
  TEST(suite##Everywhere, SameBits) { ::portacl::testing::SumsHaveSameBitsEverywhere(description); } \
  TEST(suite##Long, LargeSum) {                                                                      \
    const ::portacl::testing::ScopedEnvironment environment(::portacl::testing::Variables{});        \
    ::portacl::testing::CheckLargeSum(description, int64_t{1} << 26, environment.stream());          \
  }                                                                                                  \
  static_assert(true, "so that the macro ends in a semicolon")
