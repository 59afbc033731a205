// Tests of every reduction of a loss: lengths and shapes at which sums split, exactness, determinism.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "numeric_suite.h"

namespace portacl::testing {

// self and target, and the result worked out by hand. Values are the same in every floating type.
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

// Checks that reductions to float64 and complex outputs give the float32 result, widened.
void WideOutputsHoldFloat32(const NumericDescription& op, aclrtStream stream);

// Checks that the cases have the same bits on every instruction set, with 1, 2, 3, 7 and 16 threads.
void BitsAreTheSameEverywhere(const NumericDescription& op, const std::vector<NumericCase>& cases);

class LossSumSuite : public NumericSuite {
 protected:
  // Compares bits in the promised order, at every length and shape where lanes, blocks and chunks begin and
  // end.
  void SumsOfEveryShape(const NumericDescription& op);
  // Checks that the same terms give the same bits in every layout of the operands.
  void SumsInEveryLayout(const NumericDescription& op);
  // Checks that sums of data of one sign equal the exact sum of the float32 terms, rounded once.
  void SumsAreExact(const NumericDescription& op);
  // Checks that sums of any data lie within the documented bound of the exact sum of the same terms.
  void SumsAreBoundedByTheirTerms(const NumericDescription& op);
  // Checks that a mean is the sum times the rounded reciprocal of the divisor, within one unit in the last
  // place. It is the sum over the divisor within two, and exactly if the divisor is a power of two.
  void MeansAreSumsOverTheDivisor(const NumericDescription& op);
};

// Checks for equal bits on every instruction set and for every number of threads that work on one sum.
void SumsHaveSameBitsEverywhere(const NumericDescription& op);

// Compares the exact sum of `count` dense float32 terms with each reduction, for the test of large sums.
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
